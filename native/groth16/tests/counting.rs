//! A long synthesis shows that it works.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

use bellpepper_core::{Circuit, ConstraintSystem, SynthesisError};
use ff::Field;
use interlock_groth16::{synthesise, synthesise_counting, Scalar};

/// One private variable, squared `constraints` times over.
struct Squares {
    constraints: usize,
}

impl Circuit<Scalar> for Squares {
    fn synthesize<CS: ConstraintSystem<Scalar>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        let one = cs.alloc(|| "one", || Ok(Scalar::ONE))?;
        for _ in 0..self.constraints {
            cs.enforce(|| "square", |lc| lc + one, |lc| lc + one, |lc| lc + one);
        }
        Ok(())
    }
}

#[test]
fn a_synthesis_counts_a_step_every_16384_constraints_and_is_the_same_without() {
    for (constraints, expected) in [(100, 0), (16_383, 1), (60_000, 3)] {
        let steps = Arc::new(AtomicU64::new(7));
        let counted = synthesise_counting(Squares { constraints }, steps.clone()).unwrap();
        assert_eq!(steps.load(Ordering::Relaxed) - 7, expected, "{constraints}");
        assert_eq!(counted, synthesise(Squares { constraints }).unwrap());
    }
}
