//! The scheduler: data that the pipeline reads, never a path of code of its own.

use interlock_timeline::{Dispatch, LockScope};
use serde::{Deserialize, Serialize};

use crate::{Error, ErrorKind};

/// Which of several proofs of one priority goes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Proofs as they were accepted; queued partitions as they were queued.
    Fifo,
    /// As `fifo`, but queued partitions of the oldest proof first: it is done sooner.
    ProofFirst,
    /// The proof with the least work left first.
    ShortestFirst,
    /// The proof with the earliest deadline first, those without one last.
    Deadline,
}

impl Order {
    /// Every order.
    pub const ALL: &'static [Order] = &[
        Order::Fifo,
        Order::ProofFirst,
        Order::ShortestFirst,
        Order::Deadline,
    ];

    /// The word as it stands in the journal.
    pub fn as_str(self) -> &'static str {
        match self {
            Order::Fifo => "fifo",
            Order::ProofFirst => "proof-first",
            Order::ShortestFirst => "shortest-first",
            Order::Deadline => "deadline",
        }
    }

    /// The order of a word.
    pub fn from_word(word: &str) -> Option<Order> {
        Order::ALL
            .iter()
            .copied()
            .find(|order| order.as_str() == word)
    }
}

/// A resolved scheduler, exactly as `run_started.scheduler` has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scheduler {
    /// The preset it came from. A label.
    pub preset: String,
    /// The fields in which it differs from that preset. A label.
    pub overrides: Vec<String>,
    /// When a synthesised partition may be picked up.
    #[serde(with = "words::dispatch")]
    pub dispatch: Dispatch,
    /// GPU workers (host threads) a device.
    pub gpu_workers: u32,
    /// What a worker holds the device lock around.
    #[serde(with = "words::lock_scope")]
    pub lock_scope: LockScope,
    /// Permits: partitions between the start of synthesis and the end of finish.
    pub partitions_in_flight: u32,
    /// Proofs with a started and unfinished partition.
    pub proofs_in_flight: u32,
    /// Partitions synthesised at once.
    pub synthesis_workers: u32,
    /// Threads of the synthesis pool, in all.
    pub synthesis_threads: u32,
    /// Threads of a device that is made of them, and of the stages around it.
    pub device_threads: u32,
    /// What params and partitions in flight may take together.
    pub memory_budget_bytes: u64,
    /// Which proof goes first.
    #[serde(with = "words::order")]
    pub order: Order,
    /// Keep one permit for proofs of priority 4.
    pub reserve_post: bool,
}

impl Scheduler {
    /// Checks every field against its limits.
    ///
    /// Errors: `InvalidConfig`, naming the first wrong field, its value and the limit.
    pub fn validate(&self) -> Result<(), Error> {
        label("preset", &self.preset)?;
        if self.overrides.len() > 32 {
            return Err(invalid(
                "overrides",
                self.overrides.len(),
                "at most 32 entries",
            ));
        }
        for name in &self.overrides {
            label("overrides", name)?;
        }
        within("gpu_workers", self.gpu_workers, 1, 4)?;
        within("partitions_in_flight", self.partitions_in_flight, 1, 4096)?;
        within("proofs_in_flight", self.proofs_in_flight, 1, 1024)?;
        within("synthesis_workers", self.synthesis_workers, 1, 256)?;
        within("synthesis_threads", self.synthesis_threads, 1, 1024)?;
        within("device_threads", self.device_threads, 1, 1024)?;
        if self.memory_budget_bytes == 0 || self.memory_budget_bytes > 1 << 53 {
            return Err(invalid(
                "memory_budget_bytes",
                self.memory_budget_bytes,
                "1 to 2^53",
            ));
        }
        if self.reserve_post && self.partitions_in_flight < 2 {
            let why = "2 or more with reserve_post, which keeps one";
            return Err(invalid(
                "partitions_in_flight",
                self.partitions_in_flight,
                why,
            ));
        }
        Ok(())
    }

    /// Checks that one partition can ever start, for a proof of `partitions` partitions.
    ///
    /// Errors: `BudgetTooSmall` with `needed_bytes` and `budget_bytes` (or the permits) in its detail.
    pub fn check_budget(
        &self,
        params_bytes: u64,
        partition_bytes: u64,
        partitions: u32,
        priority: u8,
    ) -> Result<(), Error> {
        let at_once = match self.dispatch {
            Dispatch::Batch => partitions,
            Dispatch::Partition => 1,
        };
        let reserved = u32::from(self.reserve_post && priority < POST_PRIORITY);
        let permits = at_once.saturating_add(reserved);
        if permits > self.partitions_in_flight {
            return Err(Error::new(
                ErrorKind::BudgetTooSmall,
                format!(
                    "partitions_in_flight is {}, but dispatch `batch` needs {permits} permits for \
                     a proof of {partitions} partitions; raise it or choose dispatch `partition`",
                    self.partitions_in_flight
                ),
            )
            .with_detail(serde_json::json!({
                "needed_permits": permits, "permits": self.partitions_in_flight
            })));
        }
        let needed = partition_bytes
            .saturating_mul(u64::from(permits))
            .saturating_add(params_bytes);
        if needed > self.memory_budget_bytes {
            return Err(Error::new(
                ErrorKind::BudgetTooSmall,
                format!(
                    "memory_budget_bytes is {}, but params ({params_bytes} bytes) and {permits} \
                     partition(s) of {partition_bytes} bytes need {needed}",
                    self.memory_budget_bytes
                ),
            )
            .with_detail(serde_json::json!({
                "needed_bytes": needed, "budget_bytes": self.memory_budget_bytes
            })));
        }
        Ok(())
    }
}

impl From<&Scheduler> for interlock_timeline::Scheduler {
    fn from(s: &Scheduler) -> Self {
        interlock_timeline::Scheduler {
            preset: s.preset.clone(),
            overrides: s.overrides.clone(),
            dispatch: s.dispatch,
            gpu_workers: s.gpu_workers,
            lock_scope: s.lock_scope,
            partitions_in_flight: s.partitions_in_flight,
            proofs_in_flight: s.proofs_in_flight,
            synthesis_workers: s.synthesis_workers,
            synthesis_threads: s.synthesis_threads,
            device_threads: s.device_threads,
            memory_budget_bytes: s.memory_budget_bytes,
            order: s.order.as_str().to_owned(),
            reserve_post: s.reserve_post,
        }
    }
}

/// The journal's words in a scheduler's JSON.
mod words {
    macro_rules! word {
        ($module:ident, $word:ident) => {
            pub mod $module {
                use super::super::$word;
                use serde::{de::Error, Deserialize, Deserializer, Serializer};

                pub fn serialize<S: Serializer>(word: &$word, out: S) -> Result<S::Ok, S::Error> {
                    out.serialize_str(word.as_str())
                }

                pub fn deserialize<'d, D: Deserializer<'d>>(from: D) -> Result<$word, D::Error> {
                    let text = String::deserialize(from)?;
                    let known = || $word::ALL.iter().map(|w| w.as_str()).collect::<Vec<_>>();
                    $word::from_word(&text).ok_or_else(|| {
                        let what = stringify!($module);
                        D::Error::custom(format!("{what} is {text:?}; one of {:?}", known()))
                    })
                }
            }
        };
    }
    word!(order, Order);
    word!(dispatch, Dispatch);
    word!(lock_scope, LockScope);
}

/// Proofs of this priority may use the permit that `reserve_post` keeps.
pub const POST_PRIORITY: u8 = 4;

fn within(field: &str, value: u32, low: u32, high: u32) -> Result<(), Error> {
    if (low..=high).contains(&value) {
        Ok(())
    } else {
        Err(invalid(field, value, &format!("{low} to {high}")))
    }
}

fn label(field: &str, value: &str) -> Result<(), Error> {
    let good = |c: char| c.is_ascii_alphanumeric() || "._- ".contains(c);
    if (1..=64).contains(&value.len()) && value.chars().all(good) {
        Ok(())
    } else {
        Err(invalid(
            field,
            format!("{value:?}"),
            "1-64 of A-Z a-z 0-9 . _ - and blanks",
        ))
    }
}

fn invalid(field: &str, value: impl std::fmt::Display, limit: &str) -> Error {
    let message = format!("scheduler.{field} is {value}; allowed: {limit}");
    Error::new(ErrorKind::InvalidConfig, message)
        .with_detail(serde_json::json!({ "field": field, "limit": limit }))
}

#[cfg(test)]
pub(crate) fn example() -> Scheduler {
    Scheduler {
        preset: "interlock".into(),
        overrides: Vec::new(),
        dispatch: Dispatch::Partition,
        gpu_workers: 2,
        lock_scope: LockScope::Kernels,
        partitions_in_flight: 10,
        proofs_in_flight: 3,
        synthesis_workers: 8,
        synthesis_threads: 2,
        device_threads: 2,
        memory_budget_bytes: 1 << 33,
        order: Order::Fifo,
        reserve_post: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_limit_names_its_field() {
        type Row = (&'static str, fn(&mut Scheduler));
        let table: [Row; 9] = [
            ("preset", |s| s.preset.clear()),
            ("overrides", |s| s.overrides.push("\u{202e}".into())),
            ("gpu_workers", |s| s.gpu_workers = 5),
            ("partitions_in_flight", |s| s.partitions_in_flight = 0),
            ("proofs_in_flight", |s| s.proofs_in_flight = 0),
            ("synthesis_workers", |s| s.synthesis_workers = 257),
            ("synthesis_threads", |s| s.synthesis_threads = 0),
            ("device_threads", |s| s.device_threads = 0),
            ("memory_budget_bytes", |s| s.memory_budget_bytes = 0),
        ];
        assert!(example().validate().is_ok());
        for (field, spoil) in table {
            let mut scheduler = example();
            spoil(&mut scheduler);
            let error = scheduler.validate().unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidConfig);
            assert!(error.message().contains(field), "{error}");
            assert_eq!(error.detail()["field"], field);
        }
    }

    #[test]
    fn a_reserved_permit_leaves_one_for_others() {
        let scheduler = Scheduler {
            reserve_post: true,
            partitions_in_flight: 1,
            ..example()
        };
        assert!(scheduler
            .validate()
            .unwrap_err()
            .message()
            .contains("reserve_post"));
    }

    #[test]
    fn a_small_budget_says_the_bytes_needed() {
        let scheduler = Scheduler {
            memory_budget_bytes: 1_000,
            ..example()
        };
        assert!(scheduler.check_budget(400, 600, 10, 1).is_ok());
        let error = scheduler.check_budget(401, 600, 10, 1).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::BudgetTooSmall);
        assert_eq!(error.detail()["needed_bytes"], 1_001);
    }

    #[test]
    fn a_batch_needs_permits_for_all_its_partitions() {
        let scheduler = Scheduler {
            dispatch: Dispatch::Batch,
            ..example()
        };
        assert!(scheduler.check_budget(0, 1, 10, 1).is_ok());
        assert_eq!(
            scheduler.check_budget(0, 1, 11, 1).unwrap_err().detail()["needed_permits"],
            11
        );
    }

    #[test]
    fn json_is_the_journal_s_and_strict() {
        let text = serde_json::to_string(&example()).unwrap();
        assert!(text.contains(r#""dispatch":"partition""#) && text.contains(r#""order":"fifo""#));
        assert_eq!(serde_json::from_str::<Scheduler>(&text).unwrap(), example());
        let extra = text.replacen('{', r#"{"turbo":true,"#, 1);
        assert!(serde_json::from_str::<Scheduler>(&extra).is_err());
    }
}
