//! The parameter file, in bellperson's format, and how it is read; `written` writes it.
//!
//! ```text
//! α₁ β₁  β₂ γ₂  δ₁ δ₂ │ n IC₁… │ n H₁… │ n L₁… │ n A₁… │ n B₁… │ n B₂…
//! ```
//!
//! Points are uncompressed and big-endian, 96 bytes in G1 (₁) and 192 in G2 (₂); the counts `n`
//! are 32-bit big-endian. Nothing follows.

use std::fs::File;
use std::io::{self, ErrorKind as IoKind};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::slice::from_ref;

use blstrs::{G1Affine, G2Affine};
use group::prime::PrimeCurveAffine;
use rayon::prelude::*;
use sha2::{Digest, Sha256};

use super::{remembered, Params, VerifyingKey};
use crate::{Error, ErrorKind};

/// Points read, hashed and decoded at a time.
pub(super) const BLOCK: usize = 1 << 15;

/// α₁ β₁ β₂ γ₂ δ₁ δ₂.
const KEY_BYTES: u64 = 3 * 96 + 3 * 192;

/// The way out of a file that is there but wrong.
const WAY_OUT: &str = "move it away, then fetch or generate it again";

/// A group's points in the file.
pub(super) trait Encoded: PrimeCurveAffine + Send + Sync {
    const BYTES: usize;
    /// Checks the encoding and the curve, not the group.
    fn decode(bytes: &[u8]) -> Option<Self>;
    fn encode(&self, out: &mut Vec<u8>);
    fn is_in_group(&self) -> bool;
}

impl Encoded for G1Affine {
    const BYTES: usize = 96;

    fn decode(bytes: &[u8]) -> Option<G1Affine> {
        G1Affine::from_uncompressed_unchecked(bytes.try_into().ok()?).into()
    }

    fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.to_uncompressed());
    }

    fn is_in_group(&self) -> bool {
        self.is_torsion_free().into()
    }
}

impl Encoded for G2Affine {
    const BYTES: usize = 192;

    fn decode(bytes: &[u8]) -> Option<G2Affine> {
        G2Affine::from_uncompressed_unchecked(bytes.try_into().ok()?).into()
    }

    fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.to_uncompressed());
    }

    fn is_in_group(&self) -> bool {
        self.is_torsion_free().into()
    }
}

/// The file while it is read from its start to its end.
struct Reader<'a> {
    path: &'a Path,
    file: File,
    length: u64,
    offset: u64,
    hash: Sha256,
    /// Hears the part of the file that is read.
    progress: &'a dyn Fn(f64),
}

impl Reader<'_> {
    fn read_at(&self, offset: u64, bytes: &mut [u8]) -> Result<(), Error> {
        self.file
            .read_exact_at(bytes, offset)
            .map_err(|error| match error.kind() {
                IoKind::UnexpectedEof => Error::new(
                    ErrorKind::ParamsTruncated,
                    format!(
                        "{} became shorter while it was read; {WAY_OUT}",
                        self.path.display()
                    ),
                ),
                _ => unreadable(self.path, &error),
            })
    }

    /// Follows the counts to the end of the file and checks that it is there, before any point
    /// is looked at.
    fn check_length(&self) -> Result<(), Error> {
        let mut end = KEY_BYTES;
        let sections = [
            ("IC", 96),
            ("H", 96),
            ("L", 96),
            ("A", 96),
            ("B in G1", 96),
            ("B in G2", 192),
        ];
        for (section, point_bytes) in sections {
            let truncated = |need: u64| {
                Error::new(
                    ErrorKind::ParamsTruncated,
                    format!(
                        "{} is truncated: it ends after {} bytes, in section {section}, and that \
                         section needs {need}; {WAY_OUT}",
                        self.path.display(),
                        self.length
                    ),
                )
            };
            if end + 4 > self.length {
                return Err(truncated(end + 4));
            }
            let mut count = [0; 4];
            self.read_at(end, &mut count)?;
            end += 4 + point_bytes * u64::from(u32::from_be_bytes(count));
            if end > self.length {
                return Err(truncated(end));
            }
        }
        if end < self.length {
            return Err(Error::new(
                ErrorKind::ParamsTrailing,
                format!(
                    "{} goes on for {} bytes after its last point, so it is no parameter file or \
                     was joined with something else; {WAY_OUT}",
                    self.path.display(),
                    self.length - end
                ),
            ));
        }
        Ok(())
    }

    fn points<A: Encoded>(&mut self, section: &str, count: usize) -> Result<Vec<A>, Error> {
        let mut points = Vec::with_capacity(count);
        let mut bytes = vec![0; A::BYTES * count.min(BLOCK)];
        while points.len() < count {
            let bytes = &mut bytes[..A::BYTES * (count - points.len()).min(BLOCK)];
            self.read_at(self.offset, bytes)?;
            self.offset += bytes.len() as u64;
            let (hash, bytes) = (&mut self.hash, &*bytes);
            let ((), decoded) = rayon::join(
                || hash.update(bytes),
                || {
                    bytes
                        .par_chunks(A::BYTES)
                        .map(|bytes| {
                            A::decode(bytes).filter(|point| !bool::from(point.is_identity()))
                        })
                        .collect::<Vec<_>>()
                },
            );
            for point in decoded {
                let point = point.ok_or_else(|| {
                    bad_point(
                        self.path,
                        section,
                        points.len(),
                        "is at infinity or off the curve",
                    )
                })?;
                points.push(point);
            }
            (self.progress)(self.offset as f64 / self.length as f64);
        }
        Ok(points)
    }

    fn section<A: Encoded>(&mut self, section: &str) -> Result<Vec<A>, Error> {
        let mut count = [0; 4];
        self.read_at(self.offset, &mut count)?;
        self.offset += 4;
        self.hash.update(count);
        self.points(section, u32::from_be_bytes(count) as usize)
    }

    fn one<A: Encoded>(&mut self, name: &str) -> Result<A, Error> {
        let point = self.points(name, 1)?;
        point
            .first()
            .copied()
            .ok_or_else(|| bad_point(self.path, name, 0, "is missing"))
    }
}

fn unreadable(path: &Path, error: &io::Error) -> Error {
    Error::new(
        ErrorKind::ParamsUnreadable,
        format!(
            "{} cannot be read ({error}); mend its permissions or its disk",
            path.display()
        ),
    )
}

fn bad_point(path: &Path, section: &str, index: usize, what: &str) -> Error {
    Error::new(
        ErrorKind::ParamsBadPoint,
        format!(
            "point {index} of {section} in {} {what}; {WAY_OUT}",
            path.display()
        ),
    )
}

pub(super) fn open(path: &Path, progress: &(dyn Fn(f64) + Sync)) -> Result<Params, Error> {
    let file = File::open(path).map_err(|error| match error.kind() {
        IoKind::NotFound => Error::new(
            ErrorKind::ParamsMissing,
            format!(
                "there is no file {}; generate the parameters or name their folder",
                path.display()
            ),
        ),
        _ => unreadable(path, &error),
    })?;
    let metadata = file.metadata().map_err(|error| unreadable(path, &error))?;
    if !metadata.is_file() {
        return Err(unreadable(path, &io::Error::other("not a regular file")));
    }
    let length = metadata.len();
    // Decoding takes about a tenth of the time of decoding and checking.
    let decoding = if remembered::expects(path, length) {
        1.0
    } else {
        0.1
    };
    let mut reader = Reader {
        path,
        file,
        length,
        offset: 0,
        hash: Sha256::new(),
        progress: &|part| progress(part * decoding),
    };
    reader.check_length()?;
    let alpha_g1 = reader.one("α")?;
    let beta_g1 = reader.one("β")?;
    let beta_g2 = reader.one("β in G2")?;
    let gamma_g2 = reader.one("γ in G2")?;
    let delta_g1 = reader.one("δ")?;
    let delta_g2 = reader.one("δ in G2")?;
    let ic = reader.section("IC")?;
    let params = Params {
        vk: VerifyingKey {
            alpha_g1,
            beta_g1,
            beta_g2,
            gamma_g2,
            delta_g1,
            delta_g2,
            ic,
        },
        h: reader.section("H")?,
        l: reader.section("L")?,
        a: reader.section("A")?,
        b_g1: reader.section("B in G1")?,
        b_g2: reader.section("B in G2")?,
        digest: reader.hash.finalize().into(),
        path: Some(path.to_path_buf()),
    };
    if !remembered::knows(path, &params.digest, length) {
        check_groups(&params, path, &|part| {
            progress(decoding + part * (1.0 - decoding))
        })?;
        remembered::remember(path, &params.digest, length);
    }
    progress(1.0);
    Ok(params)
}

/// Checks that every point is in the prime-order group.
fn check_groups(params: &Params, path: &Path, progress: &dyn Fn(f64)) -> Result<(), Error> {
    let vk = &params.vk;
    // A point of G2 takes about two points' time.
    let total = (params.bytes() / 96) as f64;
    let mut done = 0.0;
    let mut check = |part: usize| {
        done += part as f64;
        progress((done / total).min(1.0));
    };
    let g1 = [
        ("α", from_ref(&vk.alpha_g1)),
        ("β", from_ref(&vk.beta_g1)),
        ("δ", from_ref(&vk.delta_g1)),
        ("IC", &vk.ic),
        ("H", &params.h),
        ("L", &params.l),
        ("A", &params.a),
        ("B in G1", &params.b_g1),
    ];
    for (section, points) in g1 {
        check_group(section, points, path, &mut check)?;
    }
    let g2 = [
        ("β in G2", from_ref(&vk.beta_g2)),
        ("γ in G2", from_ref(&vk.gamma_g2)),
        ("δ in G2", from_ref(&vk.delta_g2)),
        ("B in G2", &params.b_g2),
    ];
    for (section, points) in g2 {
        check_group(section, points, path, &mut |part| check(2 * part))?;
    }
    Ok(())
}

fn check_group<A: Encoded>(
    section: &str,
    points: &[A],
    path: &Path,
    done: &mut dyn FnMut(usize),
) -> Result<(), Error> {
    for (block, points) in points.chunks(BLOCK / 4).enumerate() {
        if let Some(i) = points
            .par_iter()
            .position_first(|point| !point.is_in_group())
        {
            let index = block * (BLOCK / 4) + i;
            return Err(bad_point(
                path,
                section,
                index,
                "is outside the prime-order group",
            ));
        }
        done(points.len());
    }
    Ok(())
}
