//! Batches of affine additions on processors with AVX-512 IFMA: eight additions side by side.
//!
//! A coordinate is eight limbs of 52 bits, in Montgomery form with the factor 2^416. A point in
//! memory has a row of eight limbs for each component; eight points are transposed into vectors
//! that have one limb of each.
//!
//! Values are not reduced but bounded, in multiples of the modulus p: what `multiply` gives is
//! below 1.001 p for a component of G1 (below 11 p of G2), what is stored below 1.001 p, and every
//! difference has 8 p added so that it is positive. Limbs of what was added or subtracted may be
//! negative until `carry`.

use std::arch::x86_64::*;

/// Limbs of 52 bits, the least significant first.
pub(super) type Limbs = [u64; 8];

const MASK: u64 = (1 << 52) - 1;

pub(super) const MODULUS: Limbs = [
    0xe_ffff_ffff_aaab,
    0xf_eb15_3fff_fb9f,
    0x6_b0f6_241e_abff,
    0x1_2bf6_730d_2a0f,
    0x7_6477_4b84_f385,
    0x1_ba7b_6434_bacd,
    0x1_ea39_7fe6_9a4b,
    0x1_a011,
];

/// −p⁻¹ mod 2^52.
const INVERSE: u64 = 0x3_fffc_fffc_fffd;

/// ⌊2^45 / (⌊p / 2^364⌋ + 1)⌋: a quotient by p from the top limb, at most one too small.
const QUOTIENT: u64 = (1 << 45) / (MODULUS[7] + 1);

/// 2^416 − p.
const MINUS_MODULUS: Limbs = {
    let mut limbs = [0; 8];
    let mut borrow = 0;
    let mut i = 0;
    while i < 8 {
        let word = (1_u64 << 52) - MODULUS[i] - borrow;
        limbs[i] = word & MASK;
        borrow = 1 - (word >> 52);
        i += 1;
    }
    limbs
};

/// `times · p`, limbs below 2^52.
pub(super) const fn modulus_times(times: u64) -> Limbs {
    let mut limbs = [0; 8];
    let mut carry = 0;
    let mut i = 0;
    while i < 8 {
        let word = MODULUS[i] * times + carry;
        limbs[i] = word & MASK;
        carry = word >> 52;
        i += 1;
    }
    limbs
}

const EIGHT: Limbs = modulus_times(8);

/// Lowest limbs of the multiples of p that a difference of equal coordinates can be.
const EQUAL: [u64; 3] = [modulus_times(7)[0], EIGHT[0], modulus_times(9)[0]];

/// Eight numbers: vector i has limb i of each.
pub(super) type Numbers = [__m512i; 8];

/// One row of memory for each of eight points' components.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C, align(64))]
pub(super) struct Row(pub(super) Limbs);

impl Row {
    pub(super) const ZERO: Row = Row([0; 8]);
}

/// Whether this processor has the instructions.
pub(super) fn are_available() -> bool {
    is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512ifma")
}

#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn all(limb: u64) -> __m512i {
    _mm512_set1_epi64(limb as i64)
}

#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn constant(limbs: &Limbs) -> Numbers {
    limbs.map(|limb| _mm512_set1_epi64(limb as i64))
}

/// Moves carries up, so that all limbs but the top one are below 2^52. The number must not be
/// negative.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn carry(mut number: Numbers) -> Numbers {
    let mask = all(MASK);
    for i in 0..7 {
        let carry = _mm512_srai_epi64::<52>(number[i]);
        number[i] = _mm512_and_si512(number[i], mask);
        number[i + 1] = _mm512_add_epi64(number[i + 1], carry);
    }
    number
}

#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn add_lazily(a: &Numbers, b: &Numbers) -> Numbers {
    let mut out = *a;
    for (out, b) in out.iter_mut().zip(b) {
        *out = _mm512_add_epi64(*out, *b);
    }
    out
}

#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn add(a: &Numbers, b: &Numbers) -> Numbers {
    carry(add_lazily(a, b))
}

/// `a − b + 8p`; b is below 8p.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn subtract(a: &Numbers, b: &Numbers) -> Numbers {
    let mut out = *a;
    for ((out, b), eight) in out.iter_mut().zip(b).zip(EIGHT) {
        *out = _mm512_add_epi64(_mm512_sub_epi64(*out, *b), all(eight));
    }
    carry(out)
}

/// `2p − number` in the lanes of `which`, limb by limb.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn negate(number: &Numbers, which: u8) -> Numbers {
    const TWICE: Limbs = modulus_times(2);
    let mut out = *number;
    for (out, twice) in out.iter_mut().zip(TWICE) {
        *out = _mm512_mask_sub_epi64(*out, which, all(twice), *out);
    }
    out
}

/// Asks for rows to be brought near.
#[inline(always)]
pub(super) fn prefetch(rows: &[Row]) {
    for row in rows {
        // SAFETY: a hint, which x86-64 always has.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(row.0.as_ptr().cast()) };
    }
}

/// Below 32p in, below 1.001p out.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn reduce(number: &Numbers) -> Numbers {
    let quotient = _mm512_srli_epi64::<45>(_mm512_mul_epu32(number[7], all(QUOTIENT)));
    let mut out = *number;
    for i in 0..8 {
        out[i] = _mm512_madd52lo_epu64(out[i], quotient, all(MINUS_MODULUS[i]));
        if i < 7 {
            out[i + 1] = _mm512_madd52hi_epu64(out[i + 1], quotient, all(MINUS_MODULUS[i]));
        }
    }
    let mut out = carry(out);
    // What is above 2^416 is the quotient itself.
    out[7] = _mm512_and_si512(out[7], all(MASK));
    out
}

/// The Montgomery product `a · b / 2^416`. Operands are carried and below 2^15 p.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn multiply(a: &Numbers, b: &Numbers) -> Numbers {
    let zero = _mm512_setzero_si512();
    let p = constant(&MODULUS);
    let inverse = all(INVERSE);
    let mut sum = [zero; 8];
    for &digit in b {
        for j in 0..8 {
            sum[j] = _mm512_madd52lo_epu64(sum[j], a[j], digit);
        }
        let factor = _mm512_madd52lo_epu64(zero, sum[0], inverse);
        for j in 0..8 {
            sum[j] = _mm512_madd52lo_epu64(sum[j], factor, p[j]);
        }
        // The lowest limb is a multiple of 2^52 now: all move down by one.
        let carry = _mm512_srli_epi64::<52>(sum[0]);
        for j in 0..8 {
            let above = if j < 7 { sum[j + 1] } else { zero };
            let high = _mm512_madd52hi_epu64(above, a[j], digit);
            sum[j] = _mm512_madd52hi_epu64(high, factor, p[j]);
        }
        sum[0] = _mm512_add_epi64(sum[0], carry);
    }
    carry(sum)
}

/// Lanes in which `difference`, a result of [`subtract`] of stored coordinates, may be zero
/// modulo p: all where it is, and others with a chance of 2^-50.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn may_be_zero(difference: &Numbers) -> u8 {
    EQUAL.iter().fold(0, |lanes, &limb| {
        lanes | _mm512_cmpeq_epi64_mask(difference[0], all(limb))
    })
}

#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn transpose(rows: &Numbers) -> Numbers {
    let mut pairs = *rows;
    for i in 0..4 {
        pairs[2 * i] = _mm512_unpacklo_epi64(rows[2 * i], rows[2 * i + 1]);
        pairs[2 * i + 1] = _mm512_unpackhi_epi64(rows[2 * i], rows[2 * i + 1]);
    }
    let low = _mm512_set_epi64(13, 12, 5, 4, 9, 8, 1, 0);
    let high = _mm512_set_epi64(15, 14, 7, 6, 11, 10, 3, 2);
    let mut out = *rows;
    for column in 0..2 {
        let quad = |first: usize, index| {
            _mm512_permutex2var_epi64(pairs[first + column], index, pairs[first + 2 + column])
        };
        let (a, b) = (quad(0, low), quad(4, low));
        out[column] = _mm512_shuffle_i64x2::<0x44>(a, b);
        out[column + 4] = _mm512_shuffle_i64x2::<0xee>(a, b);
        let (a, b) = (quad(0, high), quad(4, high));
        out[column + 2] = _mm512_shuffle_i64x2::<0x44>(a, b);
        out[column + 6] = _mm512_shuffle_i64x2::<0xee>(a, b);
    }
    out
}

/// Eight rows as eight numbers.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn load(rows: &[Row; 8]) -> Numbers {
    // SAFETY: a row is 64 bytes and aligned so.
    let rows: Numbers =
        std::array::from_fn(|i| unsafe { _mm512_load_si512(rows[i].0.as_ptr().cast()) });
    transpose(&rows)
}

/// Eight numbers as eight rows.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn store(numbers: &Numbers, rows: &mut [Row; 8]) {
    for (row, limbs) in rows.iter_mut().zip(transpose(numbers)) {
        // SAFETY: a row is 64 bytes and aligned so.
        unsafe { _mm512_store_si512(row.0.as_mut_ptr().cast(), limbs) };
    }
}

/// Six words of 64 bits as limbs.
pub(super) fn split(words: &[u64; 6]) -> Limbs {
    std::array::from_fn(|i| {
        let (word, shift) = (52 * i / 64, 52 * i % 64);
        let low = words.get(word).copied().unwrap_or(0) >> shift;
        let high = words.get(word + 1).copied().unwrap_or(0);
        let high = if shift == 0 { 0 } else { high << (64 - shift) };
        (low | high) & MASK
    })
}

/// Carried limbs of a number below 2^384 as words.
pub(super) fn join(limbs: &Limbs) -> [u64; 6] {
    let mut words = [0; 6];
    for (i, &limb) in limbs.iter().enumerate() {
        let (word, shift) = (52 * i / 64, 52 * i % 64);
        if let Some(word) = words.get_mut(word) {
            *word |= limb << shift;
        }
        if let (true, Some(above)) = (shift > 12, words.get_mut(word + 1)) {
            *above |= limb >> (64 - shift);
        }
    }
    words
}

/// 2^448 mod p: as a factor of `multiply` it takes blst's form to ours.
pub(super) const FROM_BLST: Limbs = power_of_two(448);

/// 2^384 mod p: as a factor of `multiply` it takes our form to blst's.
pub(super) const TO_BLST: Limbs = power_of_two(384);

/// One in our form.
pub(super) const ONE: Limbs = power_of_two(416);

/// 2^exponent mod p, by doubling.
const fn power_of_two(exponent: usize) -> Limbs {
    let mut number = [0; 8];
    number[0] = 1;
    let mut i = 0;
    while i < exponent {
        let mut doubled = [0; 8];
        let mut reduced = [0; 8];
        let (mut carry, mut borrow) = (0, 0);
        let mut j = 0;
        while j < 8 {
            let word = 2 * number[j] + carry;
            doubled[j] = word & MASK;
            carry = word >> 52;
            let word = (1 << 52) + doubled[j] - MODULUS[j] - borrow;
            reduced[j] = word & MASK;
            borrow = 1 - (word >> 52);
            j += 1;
        }
        number = if borrow == 0 { reduced } else { doubled };
        i += 1;
    }
    number
}
