//! A chain of squarings `x ↦ x²` from a secret start; its end is public.

use bellpepper_core::{ConstraintSystem, SynthesisError};
use blstrs::Scalar;
use ff::Field;

/// One squaring and the closing constraints of the two public variables.
pub(crate) const LEAST_CONSTRAINTS: u64 = 3;

/// Squarings in a circuit of so many constraints.
fn squarings(constraints: u64) -> u64 {
    constraints - 2
}

pub(crate) fn public_inputs(start: Scalar, constraints: u64) -> Vec<Scalar> {
    vec![(0..squarings(constraints)).fold(start, |x, _| x.square())]
}

pub(crate) fn synthesise<CS: ConstraintSystem<Scalar>>(
    cs: &mut CS,
    start: Scalar,
    constraints: u64,
) -> Result<(), SynthesisError> {
    let mut value = start;
    let mut variable = cs.alloc(|| "start", || Ok(value))?;
    for i in 1..=squarings(constraints) {
        let previous = variable;
        value = value.square();
        variable = if i < squarings(constraints) {
            cs.alloc(|| format!("square {i}"), || Ok(value))?
        } else {
            cs.alloc_input(|| "end", || Ok(value))?
        };
        cs.enforce(
            || format!("squaring {i}"),
            |lc| lc + previous,
            |lc| lc + previous,
            |lc| lc + variable,
        );
    }
    Ok(())
}
