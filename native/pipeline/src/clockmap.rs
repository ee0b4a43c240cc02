//! Maps the stamps of a device's own clock to the process's time.
//!
//! A sample reads the host's clock, the device's, the host's again; the device's reading happened
//! somewhere in between. The map runs straight between neighbouring samples:
//!
//! ```text
//! t  │            ╱ o  newest sample         o = (device_ns, t ± error)
//!    │        o ╱
//!    │     ╱                                 a stamp left of the first or right of the newest
//!    │  o                                    sample is mapped at rate 1, its error growing by
//!    └──────────────── device_ns             MAX_DRIFT
//! ```

use std::collections::VecDeque;

/// How far a clock may run off, for stamps outside the samples: 500 in a million.
const MAX_DRIFT_PER_MILLION: u64 = 500;
/// Samples kept. Only stamps of stages that just ended are mapped, so the newest suffice.
const KEPT: usize = 256;

/// One two-way reading of both clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// The device's reading.
    pub device_ns: u64,
    /// The process's time at that reading, give or take `error_ns`.
    pub t: u64,
    /// Half of the time that the reading took, rounded up.
    pub error_ns: u64,
}

impl Sample {
    /// From a device's reading taken between the host's readings `before` and `after`.
    pub fn between(before: u64, device_ns: u64, after: u64) -> Sample {
        let took = after.saturating_sub(before);
        Sample {
            device_ns,
            t: before + took / 2,
            error_ns: took - took / 2,
        }
    }
}

/// A stamp on the process's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mapped {
    /// When it happened.
    pub t: u64,
    /// How far off that may be.
    pub error_ns: u64,
}

/// The mapping of one device's clock. Stamps map in order: a later stamp never maps to an earlier
/// time, however many samples come in between.
#[derive(Clone, Debug, Default)]
pub struct ClockMap {
    samples: VecDeque<Sample>,
}

impl ClockMap {
    /// A map without samples.
    pub fn new() -> ClockMap {
        ClockMap::default()
    }

    /// Adds a sample. False, and nothing changes, if it is not later than the newest on both clocks.
    pub fn push(&mut self, sample: Sample) -> bool {
        if let Some(newest) = self.samples.back() {
            if sample.device_ns <= newest.device_ns || sample.t <= newest.t {
                return false;
            }
        }
        if self.samples.len() == KEPT {
            self.samples.pop_front();
        }
        self.samples.push_back(sample);
        true
    }

    /// When the device's clock read `device_ns`. None without a sample.
    pub fn map(&self, device_ns: u64) -> Option<Mapped> {
        let after = self.samples.partition_point(|s| s.device_ns < device_ns);
        let right = self.samples.get(after);
        let left = after.checked_sub(1).and_then(|i| self.samples.get(i));
        match (left, right) {
            (Some(left), Some(right)) => {
                let along = u128::from(device_ns - left.device_ns);
                let rise = u128::from(right.t - left.t);
                let run = u128::from(right.device_ns - left.device_ns);
                let risen = u64::try_from(along * rise / run).unwrap_or(u64::MAX);
                let error_ns = left.error_ns.max(right.error_ns) + 1;
                Some(Mapped {
                    t: left.t.saturating_add(risen),
                    error_ns,
                })
            }
            (Some(left), None) => {
                let past = device_ns - left.device_ns;
                let error_ns = left.error_ns.saturating_add(run_off(past));
                Some(Mapped {
                    t: left.t.saturating_add(past),
                    error_ns,
                })
            }
            (None, Some(right)) => {
                let before = right.device_ns - device_ns;
                let error_ns = right.error_ns.saturating_add(run_off(before));
                Some(Mapped {
                    t: right.t.saturating_sub(before),
                    error_ns,
                })
            }
            (None, None) => None,
        }
    }
}

fn run_off(ns: u64) -> u64 {
    (ns / 1_000_000 + 1).saturating_mul(MAX_DRIFT_PER_MILLION)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A device clock that is 3 s ahead and runs 50 in a million too fast.
    fn device(t: u64) -> u64 {
        3_000_000_000 + t + t * 50 / 1_000_000
    }

    #[test]
    fn a_drifting_clock_is_mapped_within_the_stated_error() {
        let mut map = ClockMap::new();
        for t in (0..10).map(|i| i * 1_000_000_000 + 500) {
            // Each reading takes 800 ns, and the device is read early in it.
            assert!(map.push(Sample::between(t, device(t + 100), t + 800)));
        }
        for t in (0..9_000_000_000_u64).step_by(77_777_777) {
            let mapped = map.map(device(t)).unwrap();
            let off = mapped.t.abs_diff(t);
            assert!(
                off <= mapped.error_ns,
                "{off} ns off at {t}, stated {}",
                mapped.error_ns
            );
            assert!(t < 600 || mapped.error_ns <= 401);
        }
    }

    #[test]
    fn later_stamps_never_map_to_earlier_times() {
        let mut map = ClockMap::new();
        let mut newest = 0;
        for i in 0..200_u64 {
            let t = i * 1_000;
            map.push(Sample::between(t, device(t) + (i * 7919) % 300, t + 300));
            let mapped = map.map(device(t) + 50).unwrap().t;
            assert!(mapped >= newest, "{mapped} after {newest}");
            newest = mapped;
        }
    }

    #[test]
    fn outside_the_samples_the_error_grows() {
        let mut map = ClockMap::new();
        assert_eq!(map.map(5), None);
        assert!(map.push(Sample {
            device_ns: 1_000_000,
            t: 5_000_000,
            error_ns: 10
        }));
        assert_eq!(
            map.map(1_000_000).unwrap(),
            Mapped {
                t: 5_000_000,
                error_ns: 510
            }
        );
        assert_eq!(
            map.map(3_500_000).unwrap(),
            Mapped {
                t: 7_500_000,
                error_ns: 1_510
            }
        );
        assert_eq!(
            map.map(400_000).unwrap(),
            Mapped {
                t: 4_400_000,
                error_ns: 510
            }
        );
    }

    #[test]
    fn a_sample_that_goes_back_is_refused() {
        let mut map = ClockMap::new();
        assert!(map.push(Sample {
            device_ns: 10,
            t: 10,
            error_ns: 0
        }));
        assert!(!map.push(Sample {
            device_ns: 10,
            t: 11,
            error_ns: 0
        }));
        assert!(!map.push(Sample {
            device_ns: 11,
            t: 10,
            error_ns: 0
        }));
        assert!(map.push(Sample {
            device_ns: 11,
            t: 11,
            error_ns: 0
        }));
    }
}
