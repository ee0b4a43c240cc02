//! The transforms and the quotient against sums and polynomial division.

use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng;

use super::*;

fn random(rng: &mut ChaCha8Rng, n: usize) -> Vec<Scalar> {
    (0..n).map(|_| Scalar::random(&mut *rng)).collect()
}

fn evaluate(coefficients: &[Scalar], x: &Scalar) -> Scalar {
    coefficients
        .iter()
        .rev()
        .fold(Scalar::ZERO, |sum, coefficient| sum * x + coefficient)
}

/// The inverse transform by its definition.
fn interpolate(values: &[Scalar]) -> Vec<Scalar> {
    let n = values.len();
    let inverse_root = root_of_unity(n.trailing_zeros()).invert().unwrap();
    let scale = Scalar::from(n as u64).invert().unwrap();
    (0..n)
        .map(|i| evaluate(values, &inverse_root.pow_vartime([i as u64])) * scale)
        .collect()
}

#[test]
fn transforms_are_the_sums_they_stand_for() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    for log_n in 0..=8 {
        let n = 1 << log_n;
        let domain = Domain::new(n);
        let values = random(&mut rng, n);
        let coefficients = interpolate(&values);
        let mut transformed = Fr::from_scalars(values);
        decimate_in_frequency(&mut transformed, &domain.inverse);
        for (i, coefficient) in coefficients.iter().enumerate() {
            let ours = Scalar::from(transformed[reverse(i, log_n)]);
            assert_eq!(ours, coefficient * Scalar::from(n as u64), "{n}");
        }
        decimate_in_time(&mut transformed, &domain.coset);
        let root = root_of_unity(log_n);
        for (i, value) in transformed.iter().enumerate() {
            let x = Scalar::MULTIPLICATIVE_GENERATOR * root.pow_vartime([i as u64]);
            let expected = evaluate(&coefficients, &x) * Scalar::from(n as u64);
            assert_eq!(Scalar::from(*value), expected, "{n}");
        }
    }
}

/// (A·B − C) = H·Z, checked at a random point; sizes below, at and above one task's block.
#[test]
fn the_quotient_divides() {
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    for n in [1, 2, 4, 64, CHUNK, BLOCK, 2 * BLOCK, 8 * BLOCK] {
        let domain = Domain::new(n);
        let (a, b) = (random(&mut rng, n), random(&mut rng, n));
        let c: Vec<_> = a.iter().zip(&b).map(|(a, b)| a * b).collect();
        let h = domain.quotient([a.clone(), b.clone(), c.clone()]);
        assert_eq!(h.len(), n - 1);
        let h: Vec<_> = h
            .iter()
            .map(|bytes| Scalar::from_bytes_le(bytes).unwrap())
            .collect();
        let x = Scalar::random(&mut rng);
        let lagrange = domain.lagrange_at(&x);
        let at = |values: &[Scalar]| -> Scalar {
            values
                .iter()
                .zip(&lagrange)
                .map(|(value, lagrange)| value * lagrange)
                .sum()
        };
        let z = x.pow_vartime([n as u64]) - Scalar::ONE;
        assert_eq!(at(&a) * at(&b) - at(&c), evaluate(&h, &x) * z, "{n}");
    }
}

#[test]
fn lagrange_coefficients_interpolate() {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    for n in [1, 2, 8, 256] {
        let values = random(&mut rng, n);
        let x = Scalar::random(&mut rng);
        let lagrange = Domain::new(n).lagrange_at(&x);
        let sum: Scalar = values
            .iter()
            .zip(&lagrange)
            .map(|(value, l)| value * l)
            .sum();
        assert_eq!(sum, evaluate(&interpolate(&values), &x), "{n}");
    }
}
