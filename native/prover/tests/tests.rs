//! Black-box tests: the real binary, its journal, its spool and its socket.
//!
//! Times come from the journal's stamps; the only real-time assertions are deadlines with tenfold
//! slack.

// Tests may unwrap; clippy knows that only of what stands inside a #[test].
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

mod arguments;
mod clock;
mod configure;
mod cpu;
mod drain;
mod faults;
mod order;
mod socket;
mod throughput;
