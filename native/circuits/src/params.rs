//! The parameters of the built-in circuits: one file a circuit, generated once.
//!
//! In the folder of parameters a circuit has up to four files:
//!
//! ```text
//! sha256-62500.params           the parameters; never overwritten, moved or removed
//! sha256-62500.params.sha256    their digest, as `sha256sum` writes it
//! sha256-62500.params.checked   that this content passed the full check (interlock-groth16)
//! sha256-62500.lock             held by the process that generates them
//! ```

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use interlock_groth16::{setup, synthesise, Params};

use crate::{CircuitSpec, Error, ErrorKind, Partition};

/// Where the parameters of `spec` live: `<dir>/<kind>-<constraints>.params`.
pub fn params_path(dir: &Path, spec: &CircuitSpec) -> PathBuf {
    dir.join(format!("{spec}.params"))
}

/// Opens the parameters of `spec` in `dir`, or generates them there if the file is missing.
///
/// A process that generates holds a lock, so that a second one waits and then opens what the
/// first has made. The file appears whole or not at all: a process that dies meanwhile leaves a
/// hidden partial file that the next one removes. A file that is present but bad is an error and
/// is left as it is.
///
/// `progress` hears what is being done (`waiting`, `generating`, `writing`, `checking`) and the
/// fraction of that, 0 to 1. Computes on the current rayon pool.
///
/// Errors: `FolderUnusable`, `ParamsAltered` if the digest beside the file is another one's, and
/// `Groth16` with each kind of [`Params::open`], `ParamsMismatch` and those of
/// [`setup::generate`].
pub fn params_for(
    dir: &Path,
    spec: &CircuitSpec,
    progress: &(dyn Fn(&str, f64) + Sync),
) -> Result<Params, Error> {
    let path = params_path(dir, spec);
    if is_present(&path)? {
        return open(&path, spec, progress);
    }
    fs::create_dir_all(dir).map_err(|error| unusable(dir, &error))?;
    let _lock = lock(dir, spec, progress)?;
    // Another process may have made it while this one waited.
    if is_present(&path)? {
        return open(&path, spec, progress);
    }
    remove_partials(dir, spec).map_err(|error| unusable(dir, &error))?;
    generate(&path, spec, progress)
}

fn unusable(dir: &Path, error: &io::Error) -> Error {
    Error::new(
        ErrorKind::FolderUnusable,
        format!(
            "the folder of parameters {} cannot be used ({error}); mend its permissions, make \
             room, or choose another",
            dir.display()
        ),
    )
}

/// Whether anything has the name, a dangling link included: such a thing is not ours to replace.
fn is_present(path: &Path) -> Result<bool, Error> {
    match fs::symlink_metadata(path) {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(unusable(path.parent().unwrap_or(path), &error)),
    }
}

fn open(
    path: &Path,
    spec: &CircuitSpec,
    progress: &(dyn Fn(&str, f64) + Sync),
) -> Result<Params, Error> {
    let params = Params::open_with(path, &|part| progress("checking", part))?;
    let shape = synthesise(Partition::new(*spec, [0; 32], 0))?.shape();
    params.check_fits(&shape)?;
    // Without a digest beside it the file stands on its own.
    if let Ok(line) = fs::read_to_string(digest_path(path)) {
        let expected = line.split_whitespace().next().unwrap_or_default();
        if expected != hex(params.digest()) {
            return Err(Error::new(
                ErrorKind::ParamsAltered,
                format!(
                    "{} has the digest {}, but {expected} was written beside it when it was \
                     made; move both away to have it generated again, or restore it",
                    path.display(),
                    hex(params.digest())
                ),
            ));
        }
    }
    Ok(params)
}

fn generate(
    path: &Path,
    spec: &CircuitSpec,
    progress: &(dyn Fn(&str, f64) + Sync),
) -> Result<Params, Error> {
    let circuit = Partition::new(*spec, [0; 32], 0);
    let params = setup::generate(circuit, setup::Toxic::random()?, &|part| {
        progress("generating", part);
    })?;
    progress("writing", 0.0);
    params.save(path)?;
    let dir = path.parent().unwrap_or(path);
    write_digest(path, &params).map_err(|error| unusable(dir, &error))?;
    progress("writing", 1.0);
    Ok(params)
}

fn digest_path(path: &Path) -> PathBuf {
    path.with_extension("params.sha256")
}

fn hex(digest: &[u8; 32]) -> String {
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Writes the digest beside the parameters, whole or not at all.
fn write_digest(path: &Path, params: &Params) -> io::Result<()> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let partial = path.with_extension(format!("params.sha256.partial-{}", std::process::id()));
    let written = File::create(&partial).and_then(|mut file| {
        writeln!(file, "{}  {name}", hex(params.digest()))?;
        file.sync_all()?;
        fs::rename(&partial, digest_path(path))
    });
    if written.is_err() {
        let _ = fs::remove_file(&partial);
    }
    written
}

/// Takes the lock of a circuit, waiting for whoever has it. It ends with the returned file, or
/// with the process.
fn lock(
    dir: &Path,
    spec: &CircuitSpec,
    progress: &(dyn Fn(&str, f64) + Sync),
) -> Result<File, Error> {
    let file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o644)
        .open(dir.join(format!("{spec}.lock")))
        .map_err(|error| unusable(dir, &error))?;
    let flock = |operation| {
        // SAFETY: a valid descriptor that lives through the call.
        match unsafe { libc::flock(file.as_raw_fd(), operation) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    };
    match flock(libc::LOCK_EX | libc::LOCK_NB) {
        Ok(()) => return Ok(file),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => progress("waiting", 0.0),
        Err(error) => return Err(unusable(dir, &error)),
    }
    loop {
        match flock(libc::LOCK_EX) {
            Ok(()) => break,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(unusable(dir, &error)),
        }
    }
    progress("waiting", 1.0);
    Ok(file)
}

/// Removes what processes that died while writing have left. Only called under the lock.
fn remove_partials(dir: &Path, spec: &CircuitSpec) -> io::Result<()> {
    let prefix = format!(".{spec}.params.partial-");
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with(&prefix) {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}
