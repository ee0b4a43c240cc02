//! Parameter generation for a circuit, by one party who is trusted to forget.
//!
//! The secrets of a setup let their holder forge proofs of its circuit. That is acceptable for
//! Interlock's built-in circuits, which measure a machine and convince nobody else; Filecoin's
//! own parameters come from a ceremony and are only ever read.

mod assembly;
mod fixed_base;

use bellpepper_core::{Circuit, ConstraintSystem, Index, Variable};
use blstrs::{G1Affine, G1Projective, G2Affine, G2Projective, Scalar};
use ff::{Field, PrimeField};
use group::{prime::PrimeCurveAffine, Curve, Group};
use rayon::prelude::*;

use self::assembly::Assembly;
use self::fixed_base::{FixedBase, Normalise};
use crate::domain::{powers, Domain};
use crate::prove::random_scalar;
use crate::{Error, ErrorKind, Params, VerifyingKey};

/// Variables or powers of a task.
const CHUNK: usize = 256;

/// The secret scalars of a setup, and its generators. Overwritten when dropped.
pub struct Toxic {
    alpha: Scalar,
    beta: Scalar,
    gamma: Scalar,
    delta: Scalar,
    tau: Scalar,
    g1: G1Projective,
    g2: G2Projective,
}

impl Toxic {
    /// Fresh from the operating system, over the standard generators.
    ///
    /// Errors: `Randomness`.
    pub fn random() -> Result<Toxic, Error> {
        let [alpha, beta, gamma, delta, tau] = [
            random_scalar()?,
            random_scalar()?,
            random_scalar()?,
            random_scalar()?,
            random_scalar()?,
        ];
        let (g1, g2) = (G1Projective::generator(), G2Projective::generator());
        Ok(Toxic {
            alpha,
            beta,
            gamma,
            delta,
            tau,
            g1,
            g2,
        })
    }

    /// Given scalars and generators: for tests that compare setups byte by byte.
    pub fn from_scalars(
        [alpha, beta, gamma, delta, tau]: [Scalar; 5],
        g1: G1Projective,
        g2: G2Projective,
    ) -> Toxic {
        Toxic {
            alpha,
            beta,
            gamma,
            delta,
            tau,
            g1,
            g2,
        }
    }
}

impl Drop for Toxic {
    fn drop(&mut self) {
        let Toxic {
            alpha,
            beta,
            gamma,
            delta,
            tau,
            ..
        } = self;
        for secret in [alpha, beta, gamma, delta, tau] {
            wipe(std::slice::from_mut(secret));
        }
    }
}

/// Overwrites secrets in a way that the compiler keeps.
fn wipe(secrets: &mut [Scalar]) {
    for secret in secrets {
        // SAFETY: a valid, exclusive reference.
        unsafe { std::ptr::write_volatile(secret, Scalar::ZERO) };
    }
}

/// Secrets derived from τ, overwritten when dropped.
struct Secrets(Vec<Scalar>);

impl Drop for Secrets {
    fn drop(&mut self) {
        wipe(&mut self.0);
    }
}

/// Generates the parameters of `circuit` on the current rayon pool; the circuit's values are
/// not asked for. With the same secrets the file is the one that bellperson's
/// `generate_parameters` writes. `progress` hears the fraction done, 0 to 1, never falling.
///
/// Errors: `Synthesis` if the circuit fails or leaves a variable in no constraint, `TooLarge`
/// if the format cannot count its variables.
pub fn generate<C: Circuit<Scalar>>(
    circuit: C,
    toxic: Toxic,
    progress: &(dyn Fn(f64) + Sync),
) -> Result<Params, Error> {
    let mut assembly = Assembly::new();
    assembly.alloc_input(|| "one", || Ok(Scalar::ONE))?;
    circuit.synthesize(&mut assembly)?;
    for i in 0..assembly.inputs {
        let input = Variable::new_unchecked(Index::Input(i));
        assembly.enforce(|| "input", |lc| lc + input, |lc| lc, |lc| lc);
    }
    let n = assembly.constraints.next_power_of_two();
    let variables = assembly.inputs + assembly.aux;
    if n.trailing_zeros() >= Scalar::S || n.max(variables) > u32::MAX as usize / 2 {
        return Err(Error::new(
            ErrorKind::TooLarge,
            format!(
                "a circuit of {} constraints is too large",
                assembly.constraints
            ),
        ));
    }
    progress(0.02);

    let zero = |name| Error::new(ErrorKind::Randomness, format!("the secret {name} is zero"));
    let invert = |secret: &Scalar, name| Option::from(secret.invert()).ok_or_else(|| zero(name));
    let gamma_inverse: Scalar = invert(&toxic.gamma, "γ")?;
    let delta_inverse: Scalar = invert(&toxic.delta, "δ")?;
    let (g1, g2) = rayon::join(
        || FixedBase::new(&toxic.g1, n + 3 * variables),
        || FixedBase::new(&toxic.g2, variables),
    );
    progress(0.08);

    let h = {
        let powers = Secrets(powers(&toxic.tau, n));
        let scale = (toxic.tau.pow_vartime([n as u64]) - Scalar::ONE) * delta_inverse;
        in_slices(&powers.0[..n - 1], progress, 0.08..0.3, |powers| {
            let points: Vec<_> = powers
                .iter()
                .map(|power| g1.multiply(&(*power * scale)))
                .collect();
            G1Projective::normalise(&points)
        })
    };

    let lagrange = Secrets(Domain::new(n).lagrange_at(&toxic.tau));
    let [[a_inputs, a_aux], [b_inputs, b_aux], [c_inputs, c_aux]] = assembly
        .evaluate(&lagrange.0)
        .map(|matrix| matrix.map(Secrets));
    drop(lagrange);
    let queries = Queries {
        g1: &g1,
        g2: &g2,
        alpha: toxic.alpha,
        beta: toxic.beta,
    };
    let (inputs, aux) = (assembly.inputs, assembly.aux);
    let columns = [&a_inputs, &b_inputs, &c_inputs];
    let mut points = queries.compute(columns, inputs, gamma_inverse, progress, 0.3..0.31);
    let columns = [&a_aux, &b_aux, &c_aux];
    let rest = queries.compute(columns, aux, delta_inverse, progress, 0.31..0.98);
    let ic = std::mem::take(&mut points.external);
    points.append(rest);

    let unused = ic
        .iter()
        .chain(&points.external)
        .any(|point| bool::from(point.is_identity()));
    if unused {
        return Err(Error::new(
            ErrorKind::Synthesis,
            "the circuit leaves a variable in no constraint",
        ));
    }
    let vk = VerifyingKey {
        alpha_g1: (toxic.g1 * toxic.alpha).to_affine(),
        beta_g1: (toxic.g1 * toxic.beta).to_affine(),
        beta_g2: (toxic.g2 * toxic.beta).to_affine(),
        gamma_g2: (toxic.g2 * toxic.gamma).to_affine(),
        delta_g1: (toxic.g1 * toxic.delta).to_affine(),
        delta_g2: (toxic.g2 * toxic.delta).to_affine(),
        ic,
    };
    let Points {
        a,
        b_g1,
        b_g2,
        external,
    } = points;
    let params = Params::from_parts(vk, h, external, a, b_g1, b_g2)?;
    progress(1.0);
    Ok(params)
}

/// Maps slices of `items` on the pool, a twentieth at a time so that progress can be told.
fn in_slices<T: Sync, U: Send>(
    items: &[T],
    progress: &(dyn Fn(f64) + Sync),
    span: std::ops::Range<f64>,
    map: impl Fn(&[T]) -> Vec<U> + Sync,
) -> Vec<U> {
    let mut out = Vec::with_capacity(items.len());
    // Whole tasks, so that no slice ends on a small one.
    let slice = items
        .len()
        .div_ceil(20)
        .next_multiple_of(CHUNK * rayon::current_num_threads());
    for items in items.chunks(slice.max(1)) {
        let mapped: Vec<Vec<U>> = items.par_chunks(CHUNK).map(&map).collect();
        out.extend(mapped.into_iter().flatten());
        let part = out.len() as f64 / out.capacity().max(1) as f64;
        progress(span.start + (span.end - span.start) * part.min(1.0));
    }
    out
}

/// What the queries' points are computed from.
struct Queries<'a> {
    g1: &'a FixedBase<G1Projective>,
    g2: &'a FixedBase<G2Projective>,
    alpha: Scalar,
    beta: Scalar,
}

/// The points of some variables. Those at infinity are left out of A and B.
#[derive(Default)]
struct Points {
    a: Vec<G1Affine>,
    b_g1: Vec<G1Affine>,
    b_g2: Vec<G2Affine>,
    /// IC of public variables, L of private ones.
    external: Vec<G1Affine>,
}

impl Points {
    fn append(&mut self, mut other: Points) {
        self.a.append(&mut other.a);
        self.b_g1.append(&mut other.b_g1);
        self.b_g2.append(&mut other.b_g2);
        self.external.append(&mut other.external);
    }
}

impl Queries<'_> {
    /// The points of variables whose A, B and C at τ are `columns`; `inverse` is 1/γ for public
    /// and 1/δ for private ones.
    fn compute(
        &self,
        [a, b, c]: [&Secrets; 3],
        variables: usize,
        inverse: Scalar,
        progress: &(dyn Fn(f64) + Sync),
        span: std::ops::Range<f64>,
    ) -> Points {
        let starts: Vec<usize> = (0..variables).step_by(CHUNK).collect();
        let mut out = Points::default();
        let batch = starts
            .len()
            .div_ceil(20)
            .next_multiple_of(rayon::current_num_threads());
        for (i, starts) in starts.chunks(batch.max(1)).enumerate() {
            let chunks: Vec<Points> = starts
                .par_iter()
                .map(|&start| {
                    let range = start..variables.min(start + CHUNK);
                    self.chunk(
                        &a.0[range.clone()],
                        &b.0[range.clone()],
                        &c.0[range],
                        inverse,
                    )
                })
                .collect();
            chunks.into_iter().for_each(|chunk| out.append(chunk));
            let part = ((i + 1) * batch * CHUNK) as f64 / variables.max(1) as f64;
            progress(span.start + (span.end - span.start) * part.min(1.0));
        }
        out
    }

    fn chunk(&self, a: &[Scalar], b: &[Scalar], c: &[Scalar], inverse: Scalar) -> Points {
        let occurring = |column: &[Scalar]| -> Vec<Scalar> {
            column
                .iter()
                .copied()
                .filter(|value| !value.is_zero_vartime())
                .collect()
        };
        let in_g1 = |scalars: &[Scalar]| {
            let points: Vec<_> = scalars
                .iter()
                .map(|scalar| self.g1.multiply(scalar))
                .collect();
            G1Projective::normalise(&points)
        };
        let external: Vec<Scalar> = a
            .iter()
            .zip(b)
            .zip(c)
            .map(|((a, b), c)| (self.beta * a + self.alpha * b + c) * inverse)
            .collect();
        let b = occurring(b);
        let b_g2: Vec<_> = b.iter().map(|scalar| self.g2.multiply(scalar)).collect();
        Points {
            a: in_g1(&occurring(a)),
            b_g1: in_g1(&b),
            b_g2: G2Projective::normalise(&b_g2),
            external: in_g1(&external),
        }
    }
}
