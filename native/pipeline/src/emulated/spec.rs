//! What to emulate: the value of `--emulate` and of `run`'s `emulate`. FORMAT.md, section 8.

use crate::{Error, ErrorKind};

/// A partition that is to go wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// Its proof.
    pub proof: String,
    /// Its number.
    pub partition: u32,
}

impl Target {
    /// Whether this is the one.
    pub fn is(&self, proof: &str, partition: u32) -> bool {
        self.partition == partition && self.proof == proof
    }
}

/// Durations in nanoseconds, and what else the emulation does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spec {
    /// One partition's synthesis.
    pub synthesis_ns: u64,
    /// Prepare.
    pub prepare_ns: u64,
    /// Kernels, without gap and copy.
    pub kernels_ns: u64,
    /// Finish.
    pub finish_ns: u64,
    /// A copy before the kernels, in the lock.
    pub copy_ns: u64,
    /// No kernel runs, in the lock, after the kernels' first half.
    pub gap_ns: u64,
    /// Stages last up to this share longer or shorter, in millionths.
    pub jitter_ppm: u64,
    /// Seed of the jitter.
    pub seed: u64,
    /// How far the device's clock is ahead.
    pub offset_ns: u64,
    /// How much too fast it runs, in millionths.
    pub drift_ppm: i64,
    /// Loading of params.
    pub load_ns: u64,
    /// Devices.
    pub devices: u32,
    /// Fails in its device stage.
    pub fail: Option<Target>,
    /// Its worker panics in its device stage.
    pub panic: Option<Target>,
    /// Never ends its device stage.
    pub hang: Option<Target>,
}

impl Default for Spec {
    fn default() -> Self {
        const MS: u64 = 1_000_000;
        Spec {
            synthesis_ns: 300 * MS,
            prepare_ns: 20 * MS,
            kernels_ns: 180 * MS,
            finish_ns: 70 * MS,
            copy_ns: 0,
            gap_ns: 0,
            jitter_ppm: 0,
            seed: 0,
            offset_ns: 0,
            drift_ppm: 0,
            load_ns: 0,
            devices: 1,
            fail: None,
            panic: None,
            hang: None,
        }
    }
}

impl Spec {
    /// Reads `synthesis=300ms,kernels=180ms,…`. What is not named keeps its default.
    ///
    /// Errors: `InvalidConfig`, naming the part that is wrong.
    pub fn parse(text: &str) -> Result<Spec, Error> {
        let mut spec = Spec::default();
        if text.len() > 1024 {
            return Err(invalid("the emulation", "", "longer than 1024 bytes"));
        }
        let mut seen: Vec<&str> = Vec::new();
        for part in text.split(',').filter(|part| !part.is_empty()) {
            let (name, value) = part
                .split_once('=')
                .ok_or_else(|| invalid(part, "", "not name=value"))?;
            if seen.contains(&name) {
                return Err(invalid(name, value, "given twice"));
            }
            seen.push(name);
            match name {
                "synthesis" => spec.synthesis_ns = duration(name, value)?,
                "prepare" => spec.prepare_ns = duration(name, value)?,
                "kernels" => spec.kernels_ns = duration(name, value)?,
                "finish" => spec.finish_ns = duration(name, value)?,
                "copy" => spec.copy_ns = duration(name, value)?,
                "gap" => spec.gap_ns = duration(name, value)?,
                "offset" => spec.offset_ns = duration(name, value)?,
                "load" => spec.load_ns = duration(name, value)?,
                "jitter" => spec.jitter_ppm = percent(name, value)?,
                "seed" => {
                    spec.seed = value
                        .parse()
                        .map_err(|_| invalid(name, value, "not a number"))?;
                }
                "drift" => spec.drift_ppm = drift(name, value)?,
                "devices" => {
                    spec.devices = value
                        .parse()
                        .ok()
                        .filter(|n| (1..=8).contains(n))
                        .ok_or_else(|| invalid(name, value, "not 1 to 8"))?;
                }
                "fail" => spec.fail = Some(target(name, value)?),
                "panic" => spec.panic = Some(target(name, value)?),
                "hang" => spec.hang = Some(target(name, value)?),
                _ => return Err(invalid(name, value, "no such setting")),
            }
        }
        Ok(spec)
    }

    /// Whether `other` has the same devices: only then can a running process take it.
    pub fn same_devices(&self, other: &Spec) -> bool {
        self.devices == other.devices
            && self.offset_ns == other.offset_ns
            && self.drift_ppm == other.drift_ppm
    }

    /// `duration` with the jitter that belongs to one stage of one partition: the same in every
    /// process with the same seed.
    pub fn jittered(&self, duration: u64, proof: &str, partition: u32, stage: Stage) -> u64 {
        if self.jitter_ppm == 0 {
            return duration;
        }
        let mut state = self.seed ^ (u64::from(partition) << 8) ^ (stage as u64);
        for byte in proof.bytes() {
            state = mix(state ^ u64::from(byte));
        }
        let spread = 2 * self.jitter_ppm + 1;
        let share = 1_000_000 - self.jitter_ppm + mix(state) % spread;
        let scaled = u128::from(duration) * u128::from(share) / 1_000_000;
        u64::try_from(scaled).unwrap_or(u64::MAX)
    }
}

/// A stage with jitter of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Synthesis.
    Synthesis = 1,
    /// Prepare.
    Prepare = 2,
    /// Kernels.
    Kernels = 3,
    /// Finish.
    Finish = 4,
}

/// SplitMix64's output function.
fn mix(state: u64) -> u64 {
    let z = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

fn duration(name: &str, value: &str) -> Result<u64, Error> {
    let split = value
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(value.len());
    let (number, unit) = value.split_at(split);
    let scale = match unit {
        "ns" => 1,
        "us" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        _ => {
            return Err(invalid(
                name,
                value,
                "not a whole number and ns, us, ms or s",
            ))
        }
    };
    number
        .parse::<u64>()
        .ok()
        .and_then(|n| n.checked_mul(scale))
        .filter(|ns| *ns <= 86_400_000_000_000)
        .ok_or_else(|| invalid(name, value, "not a duration of at most 86400s"))
}

fn percent(name: &str, value: &str) -> Result<u64, Error> {
    value
        .strip_suffix('%')
        .and_then(|n| n.parse::<u64>().ok())
        .filter(|n| *n <= 100)
        .map(|n| n * 10_000)
        .ok_or_else(|| invalid(name, value, "not 0% to 100%"))
}

fn drift(name: &str, value: &str) -> Result<i64, Error> {
    value
        .strip_suffix("ppm")
        .and_then(|n| n.parse::<i64>().ok())
        .filter(|n| n.abs() <= 400)
        .ok_or_else(|| invalid(name, value, "not -400ppm to 400ppm"))
}

fn target(name: &str, value: &str) -> Result<Target, Error> {
    value
        .rsplit_once('.')
        .and_then(|(proof, partition)| {
            let partition = partition.parse().ok()?;
            (!proof.is_empty()).then(|| Target {
                proof: proof.to_owned(),
                partition,
            })
        })
        .ok_or_else(|| invalid(name, value, "not PROOF.PARTITION"))
}

fn invalid(name: &str, value: &str, why: &str) -> Error {
    let shown = if value.is_empty() {
        name.to_owned()
    } else {
        format!("{name}={value}")
    };
    Error::new(
        ErrorKind::InvalidConfig,
        format!("emulate: {shown:?}: {why}"),
    )
    .with_detail(serde_json::json!({ "field": "emulate" }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_of_the_format_is_read() {
        let spec = Spec::parse(
            "synthesis=300ms,prepare=20ms,kernels=180ms,finish=70ms,jitter=10%,seed=7,copy=5ms,\
             gap=2ms,offset=3s,drift=50ppm,load=2s,fail=p57.3,devices=2",
        )
        .unwrap();
        assert_eq!(spec.kernels_ns, 180_000_000);
        assert_eq!(spec.jitter_ppm, 100_000);
        assert_eq!(spec.drift_ppm, 50);
        assert_eq!(spec.devices, 2);
        assert!(spec.fail.unwrap().is("p57", 3));
    }

    #[test]
    fn what_is_wrong_is_named() {
        for text in [
            "kernels",
            "kernels=5",
            "kernels=5m",
            "kernels=-1ms",
            "kernels=1.5ms",
            "kernels=99999999999s",
            "kernels=1ms,kernels=2ms",
            "jitter=101%",
            "drift=401ppm",
            "devices=0",
            "devices=9",
            "fail=p57",
            "fail=.3",
            "turbo=1",
        ] {
            let error = Spec::parse(text).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidConfig, "{text}");
            let name = text.split('=').next().unwrap();
            assert!(error.message().contains(name), "{error}");
        }
    }

    #[test]
    fn a_name_with_dots_is_a_name() {
        assert!(Spec::parse("fail=a.b.2")
            .unwrap()
            .fail
            .unwrap()
            .is("a.b", 2));
    }

    #[test]
    fn jitter_stays_within_its_share_and_repeats() {
        let spec = Spec::parse("jitter=10%,seed=7").unwrap();
        let of = |p| spec.jittered(1_000_000, "p1", p, Stage::Kernels);
        let all: Vec<u64> = (0..1_000).map(of).collect();
        assert!(all.iter().all(|d| (900_000..=1_100_000).contains(d)));
        assert!(all.iter().any(|d| *d < 920_000) && all.iter().any(|d| *d > 1_080_000));
        assert_eq!(all, (0..1_000).map(of).collect::<Vec<_>>());
        let other = Spec::parse("jitter=10%,seed=8").unwrap();
        assert_ne!(all[0], other.jittered(1_000_000, "p1", 0, Stage::Kernels));
    }
}
