//! The `interlock-prover` binary.
fn main() {}
