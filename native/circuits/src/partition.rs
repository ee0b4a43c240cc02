//! A partition: one instance of a circuit, fixed by the proof's seed and its place in the proof.

use bellpepper_core::{Circuit, ConstraintSystem, SynthesisError};
use blstrs::Scalar;
use interlock_groth16::{PreparedVerifyingKey, Proof};
use sha2::{Digest, Sha256};

use crate::{sha256, squarings, CircuitKind, CircuitSpec, Error};

/// What all partitions of a proof have in common.
pub type Seed = [u8; 32];

/// One partition of a proof: a circuit with its secret witness. It holds 100 bytes; the witness is
/// computed from the seed when it is needed.
#[derive(Clone, Debug)]
pub struct Partition {
    spec: CircuitSpec,
    seed: Seed,
    index: u32,
}

impl Partition {
    /// Partition `index`, from 0, of the proof with `seed`.
    pub fn new(spec: CircuitSpec, seed: Seed, index: u32) -> Partition {
        Partition { spec, seed, index }
    }

    /// The circuit.
    pub fn spec(&self) -> CircuitSpec {
        self.spec
    }

    /// The place in the proof, from 0.
    pub fn index(&self) -> u32 {
        self.index
    }

    /// The public inputs, computed without the circuit and without any proof.
    pub fn public_inputs(&self) -> Vec<Scalar> {
        match self.spec.kind {
            CircuitKind::Sha256 => sha256::public_inputs(&self.preimage()),
            CircuitKind::Squarings => {
                squarings::public_inputs(self.start(), self.spec.actual_constraints())
            }
        }
    }

    /// Block `counter` of the partition's pseudo-random bytes: SHA-256 of a domain tag, the seed,
    /// the index and the counter.
    fn bytes(&self, counter: u64) -> [u8; 32] {
        Sha256::new()
            .chain_update(b"interlock partition")
            .chain_update(self.seed)
            .chain_update(self.index.to_le_bytes())
            .chain_update(counter.to_le_bytes())
            .finalize()
            .into()
    }

    /// The secret preimage of a `Sha256` partition.
    fn preimage(&self) -> Vec<u8> {
        let length = sha256::preimage_bytes(self.spec.actual_constraints());
        let mut preimage = Vec::with_capacity(length + 32);
        for counter in 0.. {
            if preimage.len() >= length {
                break;
            }
            preimage.extend_from_slice(&self.bytes(counter));
        }
        preimage.truncate(length);
        preimage
    }

    /// The secret start of a `Squarings` partition.
    fn start(&self) -> Scalar {
        let mut bytes = self.bytes(0);
        // Below 2^254, so always a scalar.
        bytes[31] &= 0x3f;
        Option::from(Scalar::from_bytes_le(&bytes)).unwrap_or(Scalar::from(3))
    }
}

impl Circuit<Scalar> for Partition {
    fn synthesize<CS: ConstraintSystem<Scalar>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        let constraints = self.spec.actual_constraints();
        match self.spec.kind {
            CircuitKind::Sha256 => sha256::synthesise(cs, &self.preimage(), constraints),
            CircuitKind::Squarings => squarings::synthesise(cs, self.start(), constraints),
        }
    }
}

/// Whether `proof`, untrusted bytes, proves `partition`. A wrong proof is `Ok(false)`.
///
/// Errors: `Groth16(MalformedProof)` if the bytes are no proof at all, `Groth16(WrongInputs)` if
/// the key is another circuit's.
pub fn verify_partition(
    vk: &PreparedVerifyingKey,
    partition: &Partition,
    proof: &[u8],
) -> Result<bool, Error> {
    let proof = Proof::from_bytes(proof)?;
    Ok(interlock_groth16::verify(
        vk,
        &proof,
        &partition.public_inputs(),
    )?)
}
