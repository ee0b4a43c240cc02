//! Parameter generation.
use bellpepper_core::Circuit;
use blstrs::{G1Projective, G2Projective, Scalar};

use crate::{Error, ErrorKind, Params};

/// The secret scalars of a setup.
pub struct Toxic {
    #[allow(dead_code)]
    tau: Scalar,
}

impl Toxic {
    /// Fresh from the operating system.
    pub fn random() -> Result<Toxic, Error> {
        Err(Error::new(ErrorKind::Randomness, "unfinished"))
    }
}

/// Generates.
pub fn generate<C: Circuit<Scalar>>(
    _circuit: C,
    _toxic: Toxic,
    _progress: &(dyn Fn(f64) + Sync),
) -> Result<Params, Error> {
    let _: Option<(G1Projective, G2Projective)> = None;
    Err(Error::new(ErrorKind::Randomness, "unfinished"))
}
