//! The closed vocabularies of `FORMAT.md`.

macro_rules! words {
    ($(#[$meta:meta])* $name:ident { $($variant:ident = $word:literal),+ $(,)? }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub enum $name { $(#[doc = concat!("`", $word, "`")] $variant),+ }

        impl $name {
            /// Every word, in the specification's order.
            pub const ALL: &'static [$name] = &[$($name::$variant),+];

            /// The word as it stands in the file.
            pub const fn as_str(self) -> &'static str {
                match self { $($name::$variant => $word),+ }
            }

            /// The value behind a word.
            pub fn from_word(word: &str) -> Option<$name> {
                match word { $($word => Some($name::$variant),)+ _ => None }
            }

            #[allow(dead_code)]
            pub(crate) fn from_index(index: u8) -> $name {
                $name::ALL.get(index as usize).copied().unwrap_or($name::ALL[0])
            }
        }
    };
}

words! { /** Kind of device that proves. */ Backend { Cpu = "cpu", Emulated = "emulated", Cuda = "cuda" } }
words! { /** Whose clock stamps a device's kernels. */ DeviceClock { Host = "host", Own = "own" } }
words! { /** What the process is doing as a whole. */
Phase { Starting = "starting", Ready = "ready", Draining = "draining", Stopped = "stopped" } }
words! { /** Where a GPU worker is. */
WorkerIs { Free = "free", Waiting = "waiting", Prepare = "prepare", Device = "device", Finish = "finish", Dead = "dead" } }
words! { /** Where a circuit's params are. */ ParamsIs { Absent = "absent", Loading = "loading", Resident = "resident" } }
words! { /** Why the journal could not be written. */
WriteFault { DiskFull = "disk_full", ReadOnly = "read_only", Io = "io" } }
words! { /** How a process ended. */
Bye { Drained = "drained", Stopped = "stopped", Deadline = "deadline", Lifeline = "lifeline", Failed = "failed" } }
words! { /** How a run ended. */
RunEnd { Configured = "configured", Drained = "drained", Stopped = "stopped", Deadline = "deadline", Lifeline = "lifeline",
    Failed = "failed" } }
words! { /** Who asked for a drain. */
DrainReason { Command = "command", Signal = "signal", Lifeline = "lifeline", Age = "age" } }
words! { /** What called a drain off. */ DrainCancelledBy { Adopted = "adopted", Command = "command" } }
words! { /** What a permit had to wait for. */ WaitedFor { None = "none", Bytes = "bytes", Count = "count" } }
words! { /** What a kernel computes. */
Kernel { Ntt = "ntt", HMsm = "h_msm", LMsm = "l_msm", AMsm = "a_msm", B1Msm = "b1_msm", Emulated = "emulated" } }
words! { /** Why no kernel runs inside the device stage. */ Wait { Barrier = "barrier", Alloc = "alloc", Host = "host" } }
words! { /** How a proof or a partition ended. */
Outcome { Valid = "valid", Invalid = "invalid", Failed = "failed", Cancelled = "cancelled" } }
words! { /** The stage of a partition that failed. */
Stage { Permit = "permit", Synthesis = "synthesis", Prepare = "prepare", Device = "device", Finish = "finish",
    Verify = "verify" } }
words! { /** Why a proof went back unproved. */
ReturnReason { Drain = "drain", Withdrawn = "withdrawn", Stopped = "stopped" } }
words! { /** When partitions are released to the GPU workers. */ Dispatch { Batch = "batch", Partition = "partition" } }
words! { /** How much of a turn the device lock covers. */ LockScope { Job = "job", Kernels = "kernels" } }
words! { /** The codes of `FORMAT.md` section 6. */
Code {
    Draining = "draining", NoRun = "no_run", Duplicate = "duplicate", InvalidProof = "invalid_proof",
    InvalidConfig = "invalid_config", NotQuiescent = "not_quiescent", RestartNeeded = "restart_needed",
    BudgetTooSmall = "budget_too_small", ParamsMissing = "params_missing", ParamsTruncated = "params_truncated",
    ParamsWrongCircuit = "params_wrong_circuit", ParamsUnreadable = "params_unreadable",
    ParamsBadPoint = "params_bad_point", ParamsGenerateFailed = "params_generate_failed",
    BackendUnavailable = "backend_unavailable", Cancelled = "cancelled", VerifyFailed = "verify_failed",
    SynthesisFailed = "synthesis_failed", DeviceFailed = "device_failed", Panicked = "panicked",
    SpoolFailed = "spool_failed", BadRequest = "bad_request", Internal = "internal",
} }
