//! A SHA-256 preimage by bellpepper's gadget; the digest, packed into two scalars, is public.
//!
//! The preimage fills as many whole 64-byte blocks as the size allows. What is left of the size
//! is a chain of exclusive ors over the preimage's bits, one constraint and one 0/1 variable each,
//! so that a circuit of any size from one block up can be had.

use bellpepper::gadgets::multipack;
use bellpepper::gadgets::sha256::sha256;
use bellpepper_core::boolean::{AllocatedBit, Boolean};
use bellpepper_core::{ConstraintSystem, SynthesisError};
use blstrs::Scalar;
use sha2::{Digest, Sha256};

/// Constraints of a circuit with one block, counted by a test.
pub(crate) const LEAST_CONSTRAINTS: u64 = 26_034;

/// Constraints that each further block adds.
const BLOCK_CONSTRAINTS: u64 = 26_704;

/// Blocks in a circuit of so many constraints.
fn blocks(constraints: u64) -> u64 {
    1 + constraints.saturating_sub(LEAST_CONSTRAINTS) / BLOCK_CONSTRAINTS
}

/// The preimage's length: SHA-256's own padding takes 9 bytes of the last block.
pub(crate) fn preimage_bytes(constraints: u64) -> usize {
    (64 * blocks(constraints) - 9) as usize
}

pub(crate) fn public_inputs(preimage: &[u8]) -> Vec<Scalar> {
    multipack::compute_multipacking(&multipack::bytes_to_bits(&Sha256::digest(preimage)))
}

pub(crate) fn synthesise<CS: ConstraintSystem<Scalar>>(
    cs: &mut CS,
    preimage: &[u8],
    constraints: u64,
) -> Result<(), SynthesisError> {
    let bits = multipack::bytes_to_bits(preimage)
        .into_iter()
        .enumerate()
        .map(|(i, bit)| AllocatedBit::alloc(cs.namespace(|| format!("bit {i}")), Some(bit)))
        .collect::<Result<Vec<_>, _>>()?;
    let message: Vec<Boolean> = bits.iter().cloned().map(Boolean::from).collect();
    let digest = sha256(cs.namespace(|| "sha256"), &message)?;
    multipack::pack_into_inputs(cs.namespace(|| "digest"), &digest)?;

    let used = LEAST_CONSTRAINTS + BLOCK_CONSTRAINTS * (blocks(constraints) - 1);
    if let Some(mut parity) = bits.first().cloned() {
        for (i, bit) in (0..constraints - used).zip(bits.iter().skip(1).cycle()) {
            parity = AllocatedBit::xor(cs.namespace(|| format!("parity {i}")), &parity, bit)?;
        }
    }
    Ok(())
}
