//! Groth16 parameters (the SRS of one circuit), decoded and in memory.
//!
//! Owns what parameters are and whether they fit a circuit. `file` reads them, `written`
//! writes them,
//! `remembered` knows which files were checked before.

mod file;
mod remembered;
mod written;

use std::fmt;
use std::io::Write;
use std::path::{Path, PathBuf};

use blstrs::{G1Affine, G2Affine};

use crate::{Error, ErrorKind, Shape};

/// The part of the parameters that a verifier needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifyingKey {
    /// α in G1.
    pub alpha_g1: G1Affine,
    /// β in G1 (the prover's).
    pub beta_g1: G1Affine,
    /// β in G2.
    pub beta_g2: G2Affine,
    /// γ in G2.
    pub gamma_g2: G2Affine,
    /// δ in G1 (the prover's).
    pub delta_g1: G1Affine,
    /// δ in G2.
    pub delta_g2: G2Affine,
    /// One point for each public variable, the constant one first.
    pub ic: Vec<G1Affine>,
}

/// The parameters of one circuit. Points are affine, in Montgomery form, ready for
/// multi-scalar multiplication; none but those of the verifying key can be at infinity.
pub struct Params {
    pub(crate) vk: VerifyingKey,
    pub(crate) h: Vec<G1Affine>,
    pub(crate) l: Vec<G1Affine>,
    pub(crate) a: Vec<G1Affine>,
    pub(crate) b_g1: Vec<G1Affine>,
    pub(crate) b_g2: Vec<G2Affine>,
    pub(crate) digest: [u8; 32],
    pub(crate) path: Option<PathBuf>,
}

impl Params {
    /// Reads a parameter file in bellperson's format (Filecoin's `.params`) and checks all of
    /// it: its length against its counts, each point's encoding, curve and group.
    ///
    /// The group check is the costly part (some 25 µs a point) and is made once for a content:
    /// its SHA-256 is then remembered in `<file>.checked` beside the file. Every opening hashes
    /// the whole file, so a changed byte is noticed whatever its time stamp says. If the folder
    /// is not writable nothing is remembered and the next opening checks again. The parameter
    /// file itself is never written, moved or removed.
    ///
    /// Computes on the current rayon pool. The file is read, not mapped: its points are decoded
    /// into memory in any case, and a mapping would turn a file that shrinks meanwhile into a
    /// fatal signal.
    ///
    /// Errors: `ParamsMissing`, `ParamsUnreadable`, `ParamsTruncated`, `ParamsTrailing`,
    /// `ParamsBadPoint`; each message names the file and the way out.
    pub fn open(path: &Path) -> Result<Params, Error> {
        Params::open_with(path, &|_| {})
    }

    /// As [`Params::open`]; `progress` hears the fraction done, 0 to 1, never falling.
    pub fn open_with(path: &Path, progress: &(dyn Fn(f64) + Sync)) -> Result<Params, Error> {
        file::open(path, progress)
    }

    /// Generated parameters.
    pub(crate) fn from_parts(
        vk: VerifyingKey,
        h: Vec<G1Affine>,
        l: Vec<G1Affine>,
        a: Vec<G1Affine>,
        b_g1: Vec<G1Affine>,
        b_g2: Vec<G2Affine>,
    ) -> Result<Params, Error> {
        let mut params = Params {
            vk,
            h,
            l,
            a,
            b_g1,
            b_g2,
            digest: [0; 32],
            path: None,
        };
        params.digest = written::digest(&params)
            .map_err(|error| Error::new(ErrorKind::TooLarge, error.to_string()))?;
        Ok(params)
    }

    /// Writes the parameters in bellperson's format.
    pub fn write_to(&self, out: &mut dyn Write) -> std::io::Result<()> {
        written::write(self, out)
    }

    /// Writes the parameters to a new file at `path`, whole or not at all (a temporary file
    /// beside it named `.<file>.partial-<pid>`, fsync, a link to the final name, fsync of the
    /// folder), and remembers them as checked. An existing file is never overwritten.
    ///
    /// Errors: `ParamsUnwritable`.
    pub fn save(&self, path: &Path) -> Result<(), Error> {
        written::save(self, path)
    }

    /// The verifying key.
    pub fn vk(&self) -> &VerifyingKey {
        &self.vk
    }

    /// SHA-256 of the file's bytes.
    pub fn digest(&self) -> &[u8; 32] {
        &self.digest
    }

    /// The file that the parameters were read from, or `None` if they were generated.
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// Bytes that the points hold in memory.
    pub fn bytes(&self) -> u64 {
        let g1 = self.vk.ic.len() + self.h.len() + self.l.len() + self.a.len() + self.b_g1.len();
        96 * g1 as u64 + 192 * self.b_g2.len() as u64
    }

    /// Whether these are the parameters of a circuit of this shape.
    ///
    /// Errors: `ParamsMismatch`, naming the file and the first query that differs.
    pub fn check_fits(&self, shape: &Shape) -> Result<(), Error> {
        let queries = [
            ("public variables", self.vk.ic.len(), shape.inputs),
            ("private variables", self.l.len(), shape.aux),
            (
                "points in H",
                self.h.len(),
                shape.domain().saturating_sub(1),
            ),
            ("points in A", self.a.len(), shape.inputs + shape.a_aux),
            ("points in B", self.b_g1.len(), shape.b_inputs + shape.b_aux),
            (
                "points in B (G2)",
                self.b_g2.len(),
                shape.b_inputs + shape.b_aux,
            ),
        ];
        for (what, have, want) in queries {
            if have != want {
                return Err(Error::new(
                    ErrorKind::ParamsMismatch,
                    format!(
                        "{} belongs to another circuit: it has {have} {what}, this circuit needs \
                         {want}; choose the parameters made for this circuit",
                        self.place()
                    ),
                ));
            }
        }
        Ok(())
    }

    /// The file's name for messages.
    pub(crate) fn place(&self) -> String {
        match &self.path {
            Some(path) => path.display().to_string(),
            None => "the generated parameters".into(),
        }
    }
}

impl fmt::Debug for Params {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Params")
            .field("path", &self.path)
            .field("inputs", &self.vk.ic.len())
            .field("aux", &self.l.len())
            .field("h", &self.h.len())
            .field("a", &self.a.len())
            .field("b", &self.b_g2.len())
            .finish_non_exhaustive()
    }
}
