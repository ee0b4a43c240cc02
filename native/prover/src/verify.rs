//! `verify`: checks a proof file against the params in a folder. It generates nothing.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use interlock_circuits::params_path;
use interlock_groth16::{verify, Params, PreparedVerifyingKey, Proof, Scalar};
use interlock_pipeline::{hex, spec};

use crate::error::{Error, ErrorKind};
use crate::proof_file::{unhex, Part, ProofFile, FORMAT};
use crate::say::print;

/// No proof file is longer.
const MAX_BYTES: u64 = 64 << 20;

/// Exit 0 if the proof is valid.
///
/// Errors: `NotValid` if the file is no valid proof under these params, `Refused` if file or params
/// cannot be read.
pub fn run(folder: &Path, path: &Path) -> Result<u8, Error> {
    let unreadable = |error| Error::refused(format!("{}: {error}", path.display()));
    let mut text = String::new();
    let file = File::open(path).map_err(unreadable)?;
    file.take(MAX_BYTES + 1)
        .read_to_string(&mut text)
        .map_err(|error| match error.kind() {
            std::io::ErrorKind::InvalidData => invalid("the file is not UTF-8"),
            _ => unreadable(error),
        })?;
    if text.len() as u64 > MAX_BYTES {
        return Err(invalid("the file is longer than any proof file"));
    }
    let file: ProofFile = serde_json::from_str(&text)
        .map_err(|error| invalid(format!("the file is no proof file: {error}")))?;
    if file.format != FORMAT {
        return Err(invalid(format!(
            "format is {:?}, not {FORMAT:?}",
            file.format
        )));
    }
    let spec = spec(&file.circuit).map_err(|error| invalid(error.to_string()))?;
    let params = Params::open(&params_path(folder, &spec))
        .map_err(|error| Error::refused(error.to_string()))?;
    let digest = hex(params.digest());
    if digest != file.params_digest {
        return Err(invalid(format!(
            "it was made with params {}, those in {} are {digest}",
            file.params_digest,
            folder.display()
        )));
    }
    if file.partitions.is_empty() {
        return Err(invalid("it has no partition"));
    }
    let key = PreparedVerifyingKey::new(params.vk());
    for (expected, part) in (0_u32..).zip(&file.partitions) {
        if part.partition != expected {
            return Err(invalid(format!("partition {expected} is missing")));
        }
        if !check(&key, part)? {
            return Err(invalid(format!("partition {expected} does not verify")));
        }
    }
    let (count, circuit) = (file.partitions.len(), &file.circuit);
    print(format!("valid: {count} partition(s) of {circuit}"));
    Ok(0)
}

fn check(key: &PreparedVerifyingKey, part: &Part) -> Result<bool, Error> {
    let of = |what: &str| invalid(format!("partition {}: {what}", part.partition));
    let scalar = |text: &String| {
        let bytes: [u8; 32] = unhex(text)?.try_into().ok()?;
        Option::<Scalar>::from(Scalar::from_bytes_le(&bytes))
    };
    let inputs: Option<Vec<Scalar>> = part.public_inputs.iter().map(scalar).collect();
    let inputs = inputs.ok_or_else(|| of("a public input is no scalar"))?;
    let bytes = unhex(&part.proof).ok_or_else(|| of("the proof is not hexadecimal"))?;
    let proof = Proof::from_bytes(&bytes).map_err(|error| of(error.message()))?;
    verify(key, &proof, &inputs).map_err(|error| of(error.message()))
}

fn invalid(message: impl Into<String>) -> Error {
    Error::new(
        ErrorKind::NotValid,
        format!("not valid: {}", message.into()),
    )
}
