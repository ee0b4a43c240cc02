//! How much memory a partition, its parameters and the pools that prove it take, for permits and
//! budgets.
//!
//! The figures are upper estimates, derived from what each stage holds. A test holds them against
//! a counting allocator (`tests/memory.rs`): they are never below what was measured and at most
//! twice that.
//!
//! ```text
//! static     params_bytes + device_bytes (one device) + finish_bytes (one pool of finishes)
//! per permit partition_bytes
//! ```

use interlock_groth16::{finish_scratch_bytes, Cpu};

use crate::{CircuitKind, CircuitSpec};

/// Bytes a partition holds from the start of its synthesis to the end of its finish, at most.
///
/// For each element of the domain: 96 of evaluations, 34 of variables, and, while prepare sorts
/// them, another 44 of scalars and up to 46 of the queries' lists. Measured at the default size:
/// 150 with a witness of zeros and ones, 200 with a full-width one.
pub fn partition_bytes(spec: &CircuitSpec) -> u64 {
    220 * spec.domain()
}

/// Bytes that the parameters hold in memory once they are opened or generated.
///
/// A point takes 96 bytes in G1 and 192 in G2. H has one for each element of the domain, L and A
/// one for each variable, and B, in both groups, one for each variable that occurs in it.
/// Generating them takes some 200 bytes for each constraint more while it lasts.
pub fn params_bytes(spec: &CircuitSpec) -> u64 {
    let variables = spec.actual_constraints();
    let in_b = match spec.kind {
        // Counted: 26 % of the variables with one block, less with more.
        CircuitKind::Sha256 => variables * 27 / 100,
        CircuitKind::Squarings => variables,
    };
    96 * spec.domain() + 2 * 96 * variables + (96 + 192) * in_b
}

/// Bytes that a CPU device of so many threads holds besides the partition that it proves.
pub fn device_bytes(spec: &CircuitSpec, threads: usize) -> u64 {
    Cpu::bytes(spec.domain() as usize, threads)
}

/// Bytes that a finish on a pool of so many threads needs besides its partition.
pub fn finish_bytes(spec: &CircuitSpec, threads: usize) -> u64 {
    finish_scratch_bytes(spec.domain() as usize, threads)
}
