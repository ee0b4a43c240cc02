//! The scalar field with its arithmetic inlined. The transforms do nothing else, and a call into
//! blst for each multiplication costs them a fifth of their time.

use blst::blst_fr;
use blstrs::Scalar;

use crate::words;

/// The order of the groups, little-endian words.
const MODULUS: [u64; 4] = [
    0xffff_ffff_0000_0001,
    0x53bd_a402_fffe_5bfe,
    0x3339_d808_09a1_d805,
    0x73ed_a753_299d_7d48,
];

/// −MODULUS⁻¹ mod 2^64.
const INVERSE: u64 = 0xffff_fffe_ffff_ffff;

/// An element of the scalar field in Montgomery form (factor 2^256), reduced: the very layout
/// of `Scalar` and `blst_fr`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub(crate) struct Fr([u64; 4]);

impl From<Scalar> for Fr {
    fn from(scalar: Scalar) -> Fr {
        // SAFETY: `Scalar` is a transparent `blst_fr`, which is four words.
        Fr(unsafe { std::mem::transmute::<Scalar, blst_fr>(scalar) }.l)
    }
}

impl From<Fr> for Scalar {
    fn from(element: Fr) -> Scalar {
        Scalar::from(blst_fr { l: element.0 })
    }
}

impl Fr {
    /// The same buffer under another type.
    pub(crate) fn from_scalars(scalars: Vec<Scalar>) -> Vec<Fr> {
        const {
            assert!(size_of::<Fr>() == size_of::<Scalar>());
            assert!(align_of::<Fr>() == align_of::<Scalar>());
        }
        let mut scalars = std::mem::ManuallyDrop::new(scalars);
        let (pointer, length, capacity) = (scalars.as_mut_ptr(), scalars.len(), scalars.capacity());
        // SAFETY: both types are four words (asserted above), and the buffer changes hands.
        unsafe { Vec::from_raw_parts(pointer.cast::<Fr>(), length, capacity) }
    }

    #[inline(always)]
    pub(crate) fn add(&self, other: &Fr) -> Fr {
        // Both are below 2^255: the sum fits.
        Fr(words::reduce_once(&words::add(&self.0, &other.0), &MODULUS))
    }

    #[inline(always)]
    pub(crate) fn sub(&self, other: &Fr) -> Fr {
        Fr(words::subtract_modulo(&self.0, &other.0, &MODULUS))
    }

    /// The Montgomery product `self · other / 2^256`. The modulus leaves the top bit free, so no
    /// intermediate needs a sixth word.
    #[inline(always)]
    pub(crate) fn mul(&self, other: &Fr) -> Fr {
        let (a, b) = (&self.0, &other.0);
        let mut t = [0_u64; 4];
        for &digit in b {
            let (low, mut high) = multiply_add(a[0], digit, t[0], 0);
            let factor = low.wrapping_mul(INVERSE);
            let (_, mut carry) = multiply_add(factor, MODULUS[0], low, 0);
            for i in 1..4 {
                let word;
                (word, high) = multiply_add(a[i], digit, t[i], high);
                (t[i - 1], carry) = multiply_add(factor, MODULUS[i], word, carry);
            }
            t[3] = high.wrapping_add(carry);
        }
        Fr(words::reduce_once(&t, &MODULUS))
    }

    /// The plain value, out of Montgomery form. As a factor of [`Fr::mul`] it takes the product
    /// out of Montgomery form.
    pub(crate) fn to_plain(self) -> Fr {
        self.mul(&Fr([1, 0, 0, 0]))
    }

    /// The words as little-endian bytes.
    pub(crate) fn to_le_bytes(self) -> [u8; 32] {
        let mut bytes = [0; 32];
        for (bytes, word) in bytes.chunks_exact_mut(8).zip(self.0) {
            bytes.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }
}

/// `a · b + c + d`, low word and high word.
#[inline(always)]
fn multiply_add(a: u64, b: u64, c: u64, d: u64) -> (u64, u64) {
    let sum = u128::from(a) * u128::from(b) + u128::from(c) + u128::from(d);
    (sum as u64, (sum >> 64) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ff::Field;

    #[test]
    fn arithmetic_is_that_of_blst() {
        let mut values = vec![Scalar::ZERO, Scalar::ONE, -Scalar::ONE, Scalar::from(2)];
        values.extend((0..20).map(|i| Scalar::from(i).invert().unwrap_or(-Scalar::from(3))));
        for x in &values {
            for y in &values {
                let (a, b) = (Fr::from(*x), Fr::from(*y));
                assert_eq!(Scalar::from(a.add(&b)), x + y);
                assert_eq!(Scalar::from(a.sub(&b)), x - y);
                assert_eq!(Scalar::from(a.mul(&b)), x * y);
            }
            assert_eq!(Fr::from(*x).to_plain().to_le_bytes(), x.to_bytes_le());
        }
    }
}
