//! A synthesised partition: the values of its variables and of its constraints.
//!
//! Owns how a circuit becomes numbers. What the numbers are multiplied with is `prove`'s.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

use bellpepper_core::{
    Circuit, ConstraintSystem, Index, LinearCombination, SynthesisError, Variable,
};
use blstrs::Scalar;
use ff::Field;

use crate::Error;

/// How large a circuit is, in every way that its parameters depend on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    /// Public variables, the constant one included.
    pub inputs: usize,
    /// Private variables.
    pub aux: usize,
    /// Constraints, the closing one of each public variable included.
    pub constraints: usize,
    /// Private variables that occur in A.
    pub a_aux: usize,
    /// Public variables that occur in B.
    pub b_inputs: usize,
    /// Private variables that occur in B.
    pub b_aux: usize,
}

impl Shape {
    /// The size of the evaluation domain: the smallest power of two that holds the constraints.
    pub fn domain(&self) -> usize {
        self.constraints.next_power_of_two()
    }
}

/// The assignment of a circuit: its variables, the evaluations of A, B and C at each constraint,
/// and which variables occur in A and in B.
///
/// `synthesise` makes one. It is a constraint system too, and extensible, so that a circuit may
/// synthesise independent parts of itself in parallel and join them with `extend`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Assignment {
    pub(crate) inputs: Vec<Scalar>,
    pub(crate) aux: Vec<Scalar>,
    pub(crate) a: Vec<Scalar>,
    pub(crate) b: Vec<Scalar>,
    pub(crate) c: Vec<Scalar>,
    pub(crate) a_aux: Vec<bool>,
    pub(crate) b_inputs: Vec<bool>,
    pub(crate) b_aux: Vec<bool>,
    steps: Steps,
}

/// Constraints between two steps of a synthesis: a few milliseconds of work.
const CONSTRAINTS_PER_STEP: usize = 1 << 14;

/// Where a synthesis counts its steps. Says nothing about the assignment: all are equal.
#[derive(Clone, Debug, Default)]
struct Steps(Option<Arc<AtomicU64>>);

impl PartialEq for Steps {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Steps {}

/// Synthesises `circuit`: the constant one first, then the circuit, then one constraint
/// `x · 0 = 0` for each public variable, which makes the A query full in the inputs. This is
/// bellperson's convention.
///
/// Errors: `Synthesis` if the circuit has no assignment.
pub fn synthesise<C: Circuit<Scalar>>(circuit: C) -> Result<Assignment, Error> {
    synthesise_into(Assignment::default(), circuit)
}

/// Synthesises `circuit` and raises `steps` as it goes, once every 16,384 constraints, so that who
/// watches a large circuit can tell work from a hang.
///
/// Errors: as `synthesise`.
pub fn synthesise_counting<C: Circuit<Scalar>>(
    circuit: C,
    steps: Arc<AtomicU64>,
) -> Result<Assignment, Error> {
    let assignment = Assignment {
        steps: Steps(Some(steps)),
        ..Assignment::default()
    };
    synthesise_into(assignment, circuit)
}

fn synthesise_into<C: Circuit<Scalar>>(
    mut assignment: Assignment,
    circuit: C,
) -> Result<Assignment, Error> {
    assignment.alloc_input(|| "one", || Ok(Scalar::ONE))?;
    circuit.synthesize(&mut assignment)?;
    for i in 0..assignment.inputs.len() {
        let input = Variable::new_unchecked(Index::Input(i));
        assignment.enforce(|| "input", |lc| lc + input, |lc| lc, |lc| lc);
    }
    Ok(assignment)
}

impl Assignment {
    /// The public inputs, without the constant one.
    pub fn public_inputs(&self) -> &[Scalar] {
        self.inputs.get(1..).unwrap_or(&[])
    }

    /// The circuit's shape.
    pub fn shape(&self) -> Shape {
        let count = |density: &[bool]| density.iter().filter(|&&occurs| occurs).count();
        Shape {
            inputs: self.inputs.len(),
            aux: self.aux.len(),
            constraints: self.a.len(),
            a_aux: count(&self.a_aux),
            b_inputs: count(&self.b_inputs),
            b_aux: count(&self.b_aux),
        }
    }

    /// The first constraint that the assignment does not satisfy, counted from 0. A proof made
    /// from such an assignment is refused by every verifier.
    pub fn first_unsatisfied(&self) -> Option<usize> {
        (0..self.a.len()).find(|&i| self.a[i] * self.b[i] != self.c[i])
    }

    /// Bytes that the assignment holds, its spare capacity included.
    pub fn bytes(&self) -> u64 {
        let scalars = self.inputs.capacity()
            + self.aux.capacity()
            + self.a.capacity()
            + self.b.capacity()
            + self.c.capacity();
        let flags = self.a_aux.capacity() + self.b_inputs.capacity() + self.b_aux.capacity();
        (scalars * std::mem::size_of::<Scalar>() + flags) as u64
    }

    /// Evaluates `lc` and marks the variables with a coefficient other than zero.
    fn evaluate(
        lc: &LinearCombination<Scalar>,
        inputs: &[Scalar],
        aux: &[Scalar],
        mut input_density: Option<&mut [bool]>,
        mut aux_density: Option<&mut [bool]>,
    ) -> Scalar {
        let mut sum = Scalar::ZERO;
        for (&i, coefficient) in lc.iter_inputs() {
            if !coefficient.is_zero_vartime() {
                add_term(&mut sum, &inputs[i], coefficient);
                if let Some(density) = input_density.as_deref_mut() {
                    density[i] = true;
                }
            }
        }
        for (&i, coefficient) in lc.iter_aux() {
            if !coefficient.is_zero_vartime() {
                add_term(&mut sum, &aux[i], coefficient);
                if let Some(density) = aux_density.as_deref_mut() {
                    density[i] = true;
                }
            }
        }
        sum
    }
}

/// `sum += value · coefficient`. Most values and coefficients are 0 or 1, so the product is
/// avoided where either is.
fn add_term(sum: &mut Scalar, value: &Scalar, coefficient: &Scalar) {
    if value.is_zero_vartime() {
        return;
    }
    if *value == Scalar::ONE {
        *sum += coefficient;
    } else if *coefficient == Scalar::ONE {
        *sum += value;
    } else {
        *sum += *value * coefficient;
    }
}

impl ConstraintSystem<Scalar> for Assignment {
    type Root = Self;

    fn new() -> Self {
        Assignment::default()
    }

    fn alloc<F, A, AR>(&mut self, _: A, value: F) -> Result<Variable, SynthesisError>
    where
        F: FnOnce() -> Result<Scalar, SynthesisError>,
        A: FnOnce() -> AR,
        AR: Into<String>,
    {
        self.aux.push(value()?);
        self.a_aux.push(false);
        self.b_aux.push(false);
        Ok(Variable::new_unchecked(Index::Aux(self.aux.len() - 1)))
    }

    fn alloc_input<F, A, AR>(&mut self, _: A, value: F) -> Result<Variable, SynthesisError>
    where
        F: FnOnce() -> Result<Scalar, SynthesisError>,
        A: FnOnce() -> AR,
        AR: Into<String>,
    {
        self.inputs.push(value()?);
        self.b_inputs.push(false);
        Ok(Variable::new_unchecked(Index::Input(self.inputs.len() - 1)))
    }

    fn enforce<A, AR, LA, LB, LC>(&mut self, _: A, a: LA, b: LB, c: LC)
    where
        A: FnOnce() -> AR,
        AR: Into<String>,
        LA: FnOnce(LinearCombination<Scalar>) -> LinearCombination<Scalar>,
        LB: FnOnce(LinearCombination<Scalar>) -> LinearCombination<Scalar>,
        LC: FnOnce(LinearCombination<Scalar>) -> LinearCombination<Scalar>,
    {
        let a = a(LinearCombination::zero());
        let b = b(LinearCombination::zero());
        let c = c(LinearCombination::zero());
        let (inputs, aux) = (&self.inputs, &self.aux);
        // A is full in the inputs (their closing constraints see to it) and C has no query.
        let a = Self::evaluate(&a, inputs, aux, None, Some(&mut self.a_aux));
        let (b_inputs, b_aux) = (&mut self.b_inputs, &mut self.b_aux);
        let b = Self::evaluate(&b, inputs, aux, Some(b_inputs), Some(b_aux));
        let c = Self::evaluate(&c, inputs, aux, None, None);
        self.a.push(a);
        self.b.push(b);
        self.c.push(c);
        if self.c.len().is_multiple_of(CONSTRAINTS_PER_STEP) {
            if let Some(steps) = &self.steps.0 {
                steps.fetch_add(1, Ordering::Relaxed);
            }
        }
    }

    fn push_namespace<NR, N>(&mut self, _: N)
    where
        NR: Into<String>,
        N: FnOnce() -> NR,
    {
    }

    fn pop_namespace(&mut self) {}

    fn get_root(&mut self) -> &mut Self::Root {
        self
    }

    fn is_extensible() -> bool {
        true
    }

    /// Appends `other`. Its first input must be the constant one that it allocated for itself:
    /// it stands for ours and is not appended.
    fn extend(&mut self, other: &Self) {
        if let (Some(ours), Some(&theirs)) = (self.b_inputs.first_mut(), other.b_inputs.first()) {
            *ours |= theirs;
        }
        self.inputs.extend_from_slice(other.public_inputs());
        self.b_inputs
            .extend_from_slice(other.b_inputs.get(1..).unwrap_or(&[]));
        self.aux.extend_from_slice(&other.aux);
        self.a_aux.extend_from_slice(&other.a_aux);
        self.b_aux.extend_from_slice(&other.b_aux);
        self.a.extend_from_slice(&other.a);
        self.b.extend_from_slice(&other.b);
        self.c.extend_from_slice(&other.c);
    }
}
