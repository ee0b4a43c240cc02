//! Groth16 over BLS12-381 in stages.
