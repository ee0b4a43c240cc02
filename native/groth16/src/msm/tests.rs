//! Multi-scalar multiplication against the naive sum.

use group::Group;
use rand_chacha::ChaCha8Rng;
use rand_core::{RngCore, SeedableRng};

use super::*;

/// Points with repetitions, negatives and, if asked for, infinities.
fn points(rng: &mut ChaCha8Rng, count: usize, infinities: bool) -> Vec<G1Affine> {
    let mut points: Vec<G1Affine> = Vec::new();
    for _ in 0..count {
        let last = points.last().copied();
        points.push(match (rng.next_u32() % 8, last) {
            (0, Some(last)) => last,
            (1, Some(last)) => -last,
            (2, _) if infinities => G1Projective::identity().into(),
            _ => G1Projective::random(&mut *rng).into(),
        });
    }
    points
}

fn scalars(rng: &mut ChaCha8Rng, count: usize, sparse: bool) -> Vec<Scalar> {
    (0..count)
        .map(|_| match rng.next_u32() % 16 {
            0 => -Scalar::ONE,
            1 => Scalar::from(rng.next_u64()),
            2 => Scalar::from(2).pow_vartime([u64::from(rng.next_u32() % 254)]),
            3 => -Scalar::from(2).pow_vartime([u64::from(rng.next_u32() % 254)]),
            4 => Scalar::ZERO,
            5 => Scalar::ONE,
            6.. if sparse => Scalar::from(u64::from(rng.next_u32() % 2)),
            _ => Scalar::random(&mut *rng),
        })
        .collect()
}

fn naive(points: &[G1Affine], scalars: &[Scalar]) -> G1Projective {
    points
        .iter()
        .zip(scalars)
        .map(|(point, scalar)| *point * scalar)
        .sum()
}

#[test]
fn a_query_of_any_mixture_is_the_naive_sum() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    for count in [0, 1, 2, 3, 15, 16, 17, 31, 64, 100, 257, 1000, 3000] {
        for (sparse, infinities) in [(false, false), (true, false), (false, true), (true, true)] {
            let values = scalars(&mut rng, count, sparse);
            let points = points(&mut rng, count, infinities);
            let variables = Variables::classify(&values[..count / 3], &values[count / 3..]);
            let query = variables.query(0..count, |_| true);
            assert!(query.full.len() + query.ones.len() <= count);
            let full = variables.into_full();
            assert_eq!(
                g1(&points, &query, &full),
                naive(&points, &values),
                "{count} {sparse}"
            );
        }
    }
}

#[test]
fn equal_scalars_and_equal_points_meet_in_one_bucket() {
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    let point = G1Affine::from(G1Projective::random(&mut rng));
    for scalar in [
        -Scalar::ONE,
        Scalar::from(1 << 20),
        Scalar::random(&mut rng),
    ] {
        let scalars = vec![scalar.to_bytes_le(); 500];
        let same = vec![point; 500];
        assert_eq!(
            g1_full(&same, &scalars),
            point * (scalar * Scalar::from(500))
        );
        let cancelling: Vec<_> = (0..500)
            .map(|i| if i % 2 == 0 { point } else { -point })
            .collect();
        assert_eq!(g1_full(&cancelling, &scalars), G1Projective::identity());
    }
}

#[test]
fn full_width_scalars_for_all_points_are_the_naive_sum() {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    for count in [0, 1, 2, 15, 16, 17, 100, 1000, 5000] {
        let values: Vec<_> = (0..count).map(|_| Scalar::random(&mut rng)).collect();
        let bytes: Vec<_> = values.iter().map(Scalar::to_bytes_le).collect();
        let points = points(&mut rng, count, count % 2 == 1);
        assert_eq!(g1_full(&points, &bytes), naive(&points, &values), "{count}");
    }
}

#[test]
fn g2_is_the_naive_sum() {
    let mut rng = ChaCha8Rng::seed_from_u64(4);
    for count in [0, 1, 2, 17, 300, 1000] {
        let values = scalars(&mut rng, count, count % 2 == 0);
        let points: Vec<G2Affine> = (0..count)
            .map(|_| G2Projective::random(&mut rng).into())
            .collect();
        let variables = Variables::classify(&[], &values);
        let query = variables.query(0..count, |_| true);
        let sum: G2Projective = points
            .iter()
            .zip(&values)
            .map(|(point, scalar)| *point * scalar)
            .sum();
        assert_eq!(g2(&points, &query, &variables.into_full()), sum, "{count}");
    }
}

/// What a processor without the vector instructions does.
#[test]
fn the_plain_way_is_the_naive_sum() {
    use super::affine::Additions;
    use super::pippenger::multiply_with;
    use super::points::Terms;
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    for count in [16, 17, 300, 2000] {
        let values = scalars(&mut rng, count, false);
        let bytes: Vec<_> = values.iter().map(Scalar::to_bytes_le).collect();
        let points = points(&mut rng, count, true);
        let sum = multiply_with::<Additions<G1Affine>>(&points, Terms::All(count), &bytes);
        assert_eq!(sum, naive(&points, &values), "{count}");

        let terms: Vec<_> = (0..count as u32)
            .map(|i| Term {
                point: i,
                scalar: count as u32 - 1 - i,
            })
            .collect();
        let points: Vec<G2Affine> = (0..count)
            .map(|_| G2Projective::random(&mut rng).into())
            .collect();
        let sum = multiply_with::<Additions<G2Affine>>(&points, Terms::Some(&terms), &bytes);
        let expected: G2Projective = points
            .iter()
            .zip(values.iter().rev())
            .map(|(point, scalar)| *point * scalar)
            .sum();
        assert_eq!(sum, expected, "{count}");
    }
}

#[test]
fn variables_that_do_not_occur_have_no_point() {
    let values: Vec<_> = [0, 1, 7, 1, 9, 0, 1].map(Scalar::from).into();
    let variables = Variables::classify(&values[..2], &values[2..]);
    let query = variables.query(1..7, |i| i != 3);
    // Occurring: 1, 2, 4, 5, 6, so the points are numbered 0 to 4.
    assert_eq!(query.ones, [0, 4]);
    let term = |point, scalar| Term { point, scalar };
    assert_eq!(query.full, [term(1, 0), term(2, 1)]);
}
