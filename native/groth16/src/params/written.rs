//! Writing a parameter file, whole or not at all; `file` has its format.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, BufWriter, ErrorKind as IoKind, Write};
use std::path::Path;

use rayon::prelude::*;
use sha2::{Digest, Sha256};

use super::file::{Encoded, BLOCK};
use super::{remembered, Params};
use crate::{Error, ErrorKind};

fn write_points<A: Encoded>(points: &[A], out: &mut dyn Write) -> io::Result<()> {
    let pieces = rayon::current_num_threads();
    for points in points.chunks(BLOCK) {
        let encoded: Vec<Vec<u8>> = points
            .par_chunks(points.len().div_ceil(pieces))
            .map(|points| {
                let mut bytes = Vec::with_capacity(A::BYTES * points.len());
                points.iter().for_each(|point| point.encode(&mut bytes));
                bytes
            })
            .collect();
        for bytes in encoded {
            out.write_all(&bytes)?;
        }
    }
    Ok(())
}

fn write_section<A: Encoded>(points: &[A], out: &mut dyn Write) -> io::Result<()> {
    let count = u32::try_from(points.len()).map_err(|_| {
        io::Error::new(
            IoKind::InvalidInput,
            "more points than the format can count",
        )
    })?;
    out.write_all(&count.to_be_bytes())?;
    write_points(points, out)
}

pub(super) fn write(params: &Params, out: &mut dyn Write) -> io::Result<()> {
    let vk = &params.vk;
    write_points(&[vk.alpha_g1, vk.beta_g1], out)?;
    write_points(&[vk.beta_g2, vk.gamma_g2], out)?;
    write_points(&[vk.delta_g1], out)?;
    write_points(&[vk.delta_g2], out)?;
    for points in [&vk.ic, &params.h, &params.l, &params.a, &params.b_g1] {
        write_section(points, out)?;
    }
    write_section(&params.b_g2, out)
}

pub(super) fn save(params: &Params, path: &Path) -> Result<(), Error> {
    let unwritable = |error: io::Error| {
        Error::new(
            ErrorKind::ParamsUnwritable,
            format!(
                "{} cannot be written ({error}); look at the folder's space and permissions",
                path.display()
            ),
        )
    };
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(unwritable(io::Error::new(
            IoKind::InvalidInput,
            "no file name",
        )));
    };
    let folder = if folder.as_os_str().is_empty() {
        Path::new(".")
    } else {
        folder
    };
    let mut partial = OsString::from(".");
    partial.push(name);
    partial.push(format!(".partial-{}", std::process::id()));
    let partial = folder.join(partial);

    let written = File::create(&partial).and_then(|file| {
        let mut out = BufWriter::with_capacity(1 << 20, file);
        write(params, &mut out)?;
        out.flush()?;
        out.get_ref().sync_all()?;
        // A link, unlike a rename, fails if the name is taken.
        match fs::hard_link(&partial, path) {
            Err(error) if error.kind() != IoKind::AlreadyExists && !path.exists() => {
                // A file system without links.
                fs::rename(&partial, path)?;
            }
            linked => linked?,
        }
        File::open(folder)?.sync_all()
    });
    let _ = fs::remove_file(&partial);
    written.map_err(unwritable)?;
    let length = fs::metadata(path).map_err(unwritable)?.len();
    remembered::remember(path, &params.digest, length);
    Ok(())
}

/// The digest that the file of `params` has or would have.
pub(super) fn digest(params: &Params) -> io::Result<[u8; 32]> {
    let mut hash = Sha256::new();
    write(params, &mut hash)?;
    Ok(hash.finalize().into())
}
