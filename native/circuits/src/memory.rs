//! How much memory a partition, its parameters and its device take, for permits and budgets.
//!
//! The figures are upper estimates, derived from what each stage holds and held against a
//! counting allocator by a test (`tests/memory.rs`).

use crate::{CircuitKind, CircuitSpec};

/// Bytes a partition holds from the start of its synthesis to the end of its finish, at most.
pub fn partition_bytes(spec: &CircuitSpec) -> u64 {
    260 * spec.domain()
}

/// Bytes that the parameters hold in memory once they are opened or generated.
///
/// A point takes 96 bytes in G1 and 192 in G2. H has one for each element of the domain, L and A
/// one for each variable, and B, in both groups, one for each variable that occurs in it.
pub fn params_bytes(spec: &CircuitSpec) -> u64 {
    let variables = spec.actual_constraints();
    let in_b = match spec.kind {
        // Counted: 26 % of one block's variables, less of more.
        CircuitKind::Sha256 => variables * 27 / 100,
        CircuitKind::Squarings => variables,
    };
    96 * spec.domain() + 2 * 96 * variables + (96 + 192) * in_b
}

/// Bytes that a CPU device of so many threads holds besides the partition.
pub fn device_bytes(spec: &CircuitSpec, threads: usize) -> u64 {
    64 * spec.domain() + threads as u64
}
