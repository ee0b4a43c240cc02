//! A Groth16 proof and its 192 bytes.

use blstrs::{G1Affine, G2Affine};
use group::prime::PrimeCurveAffine;

use crate::{Error, ErrorKind};

/// The length of a proof: A and C compressed in G1 (48 bytes each), B compressed in G2 (96).
pub const PROOF_BYTES: usize = 192;

/// A proof: A and C in G1, B in G2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Proof {
    /// A.
    pub a: G1Affine,
    /// B.
    pub b: G2Affine,
    /// C.
    pub c: G1Affine,
}

impl Proof {
    /// The proof as bellperson and Filecoin write it: `A ‖ B ‖ C`, compressed, big-endian.
    pub fn to_bytes(&self) -> [u8; PROOF_BYTES] {
        let mut bytes = [0; PROOF_BYTES];
        bytes[..48].copy_from_slice(&self.a.to_compressed());
        bytes[48..144].copy_from_slice(&self.b.to_compressed());
        bytes[144..].copy_from_slice(&self.c.to_compressed());
        bytes
    }

    /// Decodes untrusted bytes.
    ///
    /// Errors: `MalformedProof` if the length is not [`PROOF_BYTES`] or a point is badly
    /// encoded, at infinity, off the curve or outside the prime-order group.
    pub fn from_bytes(bytes: &[u8]) -> Result<Proof, Error> {
        let bytes: &[u8; PROOF_BYTES] = bytes.try_into().map_err(|_| {
            malformed(format!(
                "a proof has {PROOF_BYTES} bytes, these are {}",
                bytes.len()
            ))
        })?;
        Ok(Proof {
            a: decode_g1(&bytes[..48], "A")?,
            b: decode_g2(&bytes[48..144])?,
            c: decode_g1(&bytes[144..], "C")?,
        })
    }
}

fn malformed(message: String) -> Error {
    Error::new(ErrorKind::MalformedProof, message)
}

fn decode_g1(bytes: &[u8], name: &str) -> Result<G1Affine, Error> {
    let point = bytes
        .try_into()
        .ok()
        .and_then(|bytes| Option::<G1Affine>::from(G1Affine::from_compressed(bytes)))
        .ok_or_else(|| malformed(format!("{name} of the proof is no point of the G1 group")))?;
    if bool::from(point.is_identity()) {
        return Err(malformed(format!(
            "{name} of the proof is the point at infinity"
        )));
    }
    Ok(point)
}

fn decode_g2(bytes: &[u8]) -> Result<G2Affine, Error> {
    let point = bytes
        .try_into()
        .ok()
        .and_then(|bytes| Option::<G2Affine>::from(G2Affine::from_compressed(bytes)))
        .ok_or_else(|| malformed("B of the proof is no point of the G2 group".into()))?;
    if bool::from(point.is_identity()) {
        return Err(malformed("B of the proof is the point at infinity".into()));
    }
    Ok(point)
}
