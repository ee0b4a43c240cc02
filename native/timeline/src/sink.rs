//! The file under the journal, as little of it as the journal needs.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Where bytes end up. Tests put a faulty one in its place.
pub(crate) trait Sink: Send + 'static {
    /// Writes some of the bytes at an offset.
    fn write_at(&mut self, bytes: &[u8], offset: u64) -> io::Result<usize>;
    /// Reads some bytes at an offset.
    fn read_at(&mut self, bytes: &mut [u8], offset: u64) -> io::Result<usize>;
    /// Cuts the file.
    fn truncate(&mut self, length: u64) -> io::Result<()>;
    /// fsync.
    fn sync(&mut self) -> io::Result<()>;
    /// fsync of the folder.
    fn sync_folder(&mut self) -> io::Result<()>;
}

/// A file on a disk.
pub(crate) struct Disk {
    file: File,
    folder: PathBuf,
}

impl Disk {
    /// Creates the file (0600). It must not exist: a journal has one process.
    pub(crate) fn create(path: &Path) -> io::Result<Disk> {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(path)?;
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
            _ => PathBuf::from("."),
        };
        Ok(Disk { file, folder })
    }
}

impl Sink for Disk {
    fn write_at(&mut self, bytes: &[u8], offset: u64) -> io::Result<usize> {
        self.file.write_at(bytes, offset)
    }

    fn read_at(&mut self, bytes: &mut [u8], offset: u64) -> io::Result<usize> {
        self.file.read_at(bytes, offset)
    }

    fn truncate(&mut self, length: u64) -> io::Result<()> {
        self.file.set_len(length)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.file.sync_all()
    }

    fn sync_folder(&mut self) -> io::Result<()> {
        File::open(&self.folder)?.sync_all()
    }
}
