//! How much memory a partition and its parameters take, for permits and budgets.

use crate::CircuitSpec;

/// Bytes a partition holds from the start of its synthesis to the end of its finish, at most.
pub fn partition_bytes(spec: &CircuitSpec) -> u64 {
    500 * spec.domain()
}

/// Bytes that the parameters hold in memory.
pub fn params_bytes(spec: &CircuitSpec) -> u64 {
    600 * spec.domain()
}
