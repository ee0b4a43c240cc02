//! The constraints of a circuit as sparse columns: for each variable, where it occurs.

use std::collections::HashMap;

use bellpepper_core::{ConstraintSystem, Index, LinearCombination, SynthesisError, Variable};
use blstrs::Scalar;
use ff::Field;

/// One non-zero of a constraint matrix.
#[derive(Clone, Copy)]
struct Entry {
    variable: u32,
    constraint: u32,
    coefficient: u32,
}

/// The entries of A, B or C, those of public and of private variables apart.
#[derive(Default)]
struct Matrix {
    inputs: Vec<Entry>,
    aux: Vec<Entry>,
}

/// A circuit's constraints. A constraint system that ignores values, and not extensible: the
/// order of variables and constraints in the parameters must be that of a sequential synthesis.
pub(super) struct Assembly {
    pub(super) inputs: usize,
    pub(super) aux: usize,
    pub(super) constraints: usize,
    matrices: [Matrix; 3],
    /// Distinct coefficients; circuits repeat a few.
    coefficients: Vec<Scalar>,
    known: HashMap<[u8; 32], u32>,
}

impl Assembly {
    pub(super) fn new() -> Assembly {
        Assembly {
            inputs: 0,
            aux: 0,
            constraints: 0,
            matrices: Default::default(),
            coefficients: vec![Scalar::ONE],
            known: HashMap::new(),
        }
    }

    /// Evaluates A, B and C at τ for each public and each private variable, given the Lagrange
    /// coefficients at τ.
    pub(super) fn evaluate(&self, lagrange: &[Scalar]) -> [[Vec<Scalar>; 2]; 3] {
        let column = |entries: &[Entry], variables: usize| {
            let mut values = vec![Scalar::ZERO; variables];
            for entry in entries {
                let lagrange = lagrange[entry.constraint as usize];
                values[entry.variable as usize] += match entry.coefficient {
                    0 => lagrange,
                    i => lagrange * self.coefficients[i as usize],
                };
            }
            values
        };
        let matrix = |matrix: &Matrix| {
            [
                column(&matrix.inputs, self.inputs),
                column(&matrix.aux, self.aux),
            ]
        };
        let [a, b, c] = &self.matrices;
        let (a, (b, c)) = rayon::join(|| matrix(a), || rayon::join(|| matrix(b), || matrix(c)));
        [a, b, c]
    }

    fn coefficient(&mut self, value: &Scalar) -> u32 {
        if *value == Scalar::ONE {
            return 0;
        }
        *self.known.entry(value.to_bytes_le()).or_insert_with(|| {
            self.coefficients.push(*value);
            self.coefficients.len() as u32 - 1
        })
    }

    fn push(&mut self, which: usize, lc: &LinearCombination<Scalar>) {
        let constraint = self.constraints as u32;
        for (variable, value) in lc.iter() {
            if value.is_zero_vartime() {
                continue;
            }
            let coefficient = self.coefficient(value);
            let matrix = &mut self.matrices[which];
            let (entries, variable) = match variable.get_unchecked() {
                Index::Input(i) => (&mut matrix.inputs, i as u32),
                Index::Aux(i) => (&mut matrix.aux, i as u32),
            };
            entries.push(Entry {
                variable,
                constraint,
                coefficient,
            });
        }
    }
}

impl ConstraintSystem<Scalar> for Assembly {
    type Root = Self;

    fn alloc<F, A, AR>(&mut self, _: A, _: F) -> Result<Variable, SynthesisError>
    where
        F: FnOnce() -> Result<Scalar, SynthesisError>,
        A: FnOnce() -> AR,
        AR: Into<String>,
    {
        self.aux += 1;
        Ok(Variable::new_unchecked(Index::Aux(self.aux - 1)))
    }

    fn alloc_input<F, A, AR>(&mut self, _: A, _: F) -> Result<Variable, SynthesisError>
    where
        F: FnOnce() -> Result<Scalar, SynthesisError>,
        A: FnOnce() -> AR,
        AR: Into<String>,
    {
        self.inputs += 1;
        Ok(Variable::new_unchecked(Index::Input(self.inputs - 1)))
    }

    fn enforce<A, AR, LA, LB, LC>(&mut self, _: A, a: LA, b: LB, c: LC)
    where
        A: FnOnce() -> AR,
        AR: Into<String>,
        LA: FnOnce(LinearCombination<Scalar>) -> LinearCombination<Scalar>,
        LB: FnOnce(LinearCombination<Scalar>) -> LinearCombination<Scalar>,
        LC: FnOnce(LinearCombination<Scalar>) -> LinearCombination<Scalar>,
    {
        self.push(0, &a(LinearCombination::zero()));
        self.push(1, &b(LinearCombination::zero()));
        self.push(2, &c(LinearCombination::zero()));
        self.constraints += 1;
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
}
