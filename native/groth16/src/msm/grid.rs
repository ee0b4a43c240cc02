//! How a multi-scalar multiplication is cut into tiles, and what a tile takes from a scalar.

use super::affine::BATCH;

/// Bits of a scalar: the order of the groups is below 2^255.
const SCALAR_BITS: usize = 255;

/// The largest window.
const MAX_WINDOW: usize = 16;

/// Fewer terms than this are multiplied one by one.
pub(super) const FEW: usize = 16;

/// Segments that the buckets of a tile are put together in, side by side.
pub(super) const SEGMENTS: usize = BATCH;

/// How the work is cut: window bits, rows, and columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Grid {
    pub(super) window: usize,
    pub(super) rows: usize,
    pub(super) columns: usize,
}

impl Grid {
    /// The grid that takes `threads` threads the least time, counted in additions: a tile takes
    /// one for each term, two for each bucket, and some 1,000 to put the buckets together.
    pub(super) fn for_terms(terms: usize, threads: usize) -> Grid {
        let mut best = (
            usize::MAX,
            Grid {
                window: 1,
                rows: SCALAR_BITS + 1,
                columns: 1,
            },
        );
        for window in 2..=MAX_WINDOW {
            // Whole windows and one more bit: the top digit must not be negative.
            let rows = SCALAR_BITS / window + 1;
            for columns in 1..=(2 * threads).min(terms / FEW + 1) {
                let buckets = 1 << (window - 1);
                let tile = terms.div_ceil(columns) + 2 * buckets + 4 * buckets.min(SEGMENTS);
                let cost = (rows * columns).div_ceil(threads) * tile;
                if cost < best.0 {
                    best = (
                        cost,
                        Grid {
                            window,
                            rows,
                            columns,
                        },
                    );
                }
            }
        }
        best.1
    }
}

/// The most terms that a tile takes at once. Shares bound a task's memory, and yet well outnumber
/// the buckets that they are added to.
pub(super) fn share(window: usize) -> usize {
    (8 << window).max(1 << 16)
}

/// The signed digit of the `window` bits from `bit0` (Booth's recoding): the bits as a number,
/// plus the bit below, minus 2^window if the highest bit is set. In −2^(window−1) ..= 2^(window−1).
#[inline(always)]
pub(super) fn digit(scalar: &[u8; 32], bit0: usize, window: usize) -> i32 {
    // One bit below the window, zero below the lowest.
    let (byte, shift) = if bit0 == 0 {
        (0, 0)
    } else {
        ((bit0 - 1) / 8, (bit0 - 1) % 8)
    };
    let mut word = 0_u32;
    for i in 0..4 {
        word |= u32::from(scalar.get(byte + i).copied().unwrap_or(0)) << (8 * i);
    }
    let bits = if bit0 == 0 { word << 1 } else { word >> shift } & ((2 << window) - 1);
    let negative = bits >> window;
    (bits.div_ceil(2)) as i32 - ((negative as i32) << window)
}
