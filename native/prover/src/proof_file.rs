//! The proof file: what the spool holds and `verify` reads. FORMAT.md, section 5.

use interlock_pipeline::{hex, PartitionProof};
use serde::{Deserialize, Serialize};

/// The value of `format`.
pub const FORMAT: &str = "interlock-proof-1";

/// A proof with all its partitions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProofFile {
    /// [`FORMAT`].
    pub format: String,
    /// The host's id.
    pub proof: String,
    /// The circuit.
    pub circuit: String,
    /// SHA-256 of the params file.
    pub params_digest: String,
    /// Who made it, and when.
    pub made: Made,
    /// Its partitions, from 0.
    pub partitions: Vec<Part>,
}

/// Who made a proof, and when.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Made {
    /// The process's UUID.
    pub process: String,
    /// The prover's version.
    pub version: String,
    /// Kind of device.
    pub backend: String,
    /// The wall clock, a label.
    pub wall_ns: String,
}

/// One partition's proof.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// Its number.
    pub partition: u32,
    /// Little-endian scalars, hex.
    pub public_inputs: Vec<String>,
    /// 192 bytes, hex.
    pub proof: String,
}

impl Part {
    /// From what the pipeline made.
    pub fn new(partition: u32, made: &PartitionProof) -> Part {
        Part {
            partition,
            public_inputs: made.public_inputs.iter().map(|input| hex(input)).collect(),
            proof: hex(&made.proof),
        }
    }
}

/// The bytes of lower-case hexadecimal digits. Upper-case ones are refused: a proof has one text, so
/// that no bit of it can change unseen.
pub fn unhex(text: &str) -> Option<Vec<u8>> {
    let digit = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
    if !text.len().is_multiple_of(2) || !text.bytes().all(digit) {
        return None;
    }
    (0..text.len())
        .step_by(2)
        .map(|i| {
            text.get(i..i + 2)
                .and_then(|pair| u8::from_str_radix(pair, 16).ok())
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hexadecimal_goes_there_and_back() {
        assert_eq!(unhex(&hex(&[0, 1, 254, 255])), Some(vec![0, 1, 254, 255]));
        for text in ["0", "0g", "+1", "é", "AB", "aB"] {
            assert_eq!(unhex(text), None, "{text}");
        }
    }
}
