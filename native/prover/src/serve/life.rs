//! The life of a serving process: one thread that hears everything and decides.
//!
//! ```text
//!          drain, signal, lifeline, age            all proofs gone
//! working ────────────────────────────▶ draining ──────────────────▶ exit 0
//!    ▲                                   │   │ stop, second signal
//!    └── adopted (lifeline drain only) ──┘   ▼
//!                                         stopping ─ no kernel runs ─▶ exit 0
//!                  deadline of either ───────────────────────────────▶ exit 5
//! ```

use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::Arc;
use std::time::Duration;

use interlock_pipeline::{Engine, Error, Withdrawn};
use interlock_timeline::{
    Backend, Bye, Code, DrainCancelledBy, DrainReason, Failure, Notice, Outcome, Phase,
    ReturnReason, RunEnd, Timeline,
};
use serde_json::{json, Value};

use super::control::{Asked, Control, Wires};
use super::protocol::Ask;
use super::socket::{Answer, Unanswered};
use super::watchdog::Watchdog;
use crate::say::say;

/// At this age a process begins to drain: its stamps must stay below 2^53.
const OLD_NS: u64 = 100 * 86_400 * 1_000_000_000;
/// How long stages that stop at once may take to say so.
const SETTLE_NS: u64 = 500_000_000;
/// How often a draining process looks at itself.
const TICK: Duration = Duration::from_millis(20);

/// Whose end begins a drain.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Lifeline {
    Input,
    Connection(u64),
    Lost,
}

enum Mode {
    Working,
    Draining { reason: DrainReason },
    Stopping { since: u64 },
}

/// What a process is made of.
pub struct Process {
    /// Its journal.
    pub timeline: Arc<Timeline>,
    /// Its pipeline.
    pub engine: Arc<Engine>,
    /// Who tells of a closed proof's end.
    pub wires: Arc<Wires>,
    /// Ends it when nothing else does.
    pub watchdog: Watchdog,
    /// Its UUID.
    pub process: String,
    /// Kind of device.
    pub backend: Backend,
    /// What is emulated unless a run says otherwise.
    pub emulate: Option<String>,
    /// How long a drain may last.
    pub grace_ns: u64,
    /// Its command socket.
    pub socket: PathBuf,
    /// Requests without an answer.
    pub unanswered: Unanswered,
}

/// One process's life.
pub struct Life {
    is: Process,
    lifeline: Lifeline,
    mode: Mode,
    /// When all must be over, once it is ending.
    deadline: Option<u64>,
}

impl Life {
    /// A process that works.
    pub fn new(is: Process) -> Life {
        let (lifeline, mode) = (Lifeline::Input, Mode::Working);
        Life {
            is,
            lifeline,
            mode,
            deadline: None,
        }
    }

    /// Lives to the end of the process.
    pub fn live(mut self, heard: &Receiver<Control>) -> ! {
        loop {
            let patience = match self.mode {
                Mode::Working => Duration::from_secs(60),
                _ => TICK,
            };
            match heard.recv_timeout(patience) {
                Ok(control) => self.hear(control),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => std::thread::sleep(TICK),
            }
            self.look();
        }
    }

    fn now(&self) -> u64 {
        self.is.timeline.clock().now_ns()
    }

    fn hear(&mut self, control: Control) {
        match control {
            Control::Asked(asked) => self.answer(asked),
            Control::Disconnected(number) => {
                if self.lifeline == Lifeline::Connection(number) {
                    self.lose_lifeline();
                }
            }
            Control::LifelineLost => self.lose_lifeline(),
            Control::Signal => match self.mode {
                Mode::Working => self.drain(DrainReason::Signal),
                Mode::Draining { .. } => self.stop(),
                Mode::Stopping { .. } => self.give_up(),
            },
            Control::Hangup => self.drain(DrainReason::Signal),
            Control::Changed => {}
            Control::Fatal(error) => {
                say(format!("{}: {error}", error.code().as_str()));
                self.end(RunEnd::Failed, Bye::Failed, 1);
            }
        }
    }

    fn lose_lifeline(&mut self) {
        self.lifeline = Lifeline::Lost;
        self.is.timeline.notify(Notice::HostLost);
        self.drain(DrainReason::Lifeline);
    }

    fn answer(&mut self, asked: Asked) {
        let Asked {
            connection,
            ask,
            reply,
        } = asked;
        let answer: Answer = match ask {
            Ask::Attach => Ok(self.attach(connection)),
            Ask::Run {
                run,
                scheduler,
                emulate,
            } => {
                let emulate = emulate.or_else(|| self.is.emulate.clone());
                let done = self
                    .is
                    .engine
                    .configure(&run, *scheduler, emulate.as_deref());
                if done.is_ok() {
                    self.is.emulate = emulate;
                }
                done.map(|()| json!({}))
            }
            Ask::Submit(request) => self.is.engine.submit(*request).map(|()| json!({})),
            Ask::Withdraw(proof) => {
                let state = match self.is.engine.withdraw(&proof) {
                    Withdrawn::Returned => "returned",
                    Withdrawn::Stopping => "stopping",
                    Withdrawn::Unknown => "unknown",
                };
                Ok(json!({ "state": state }))
            }
            Ask::Drain => {
                self.drain(DrainReason::Command);
                Ok(json!({}))
            }
            Ask::Stop => {
                self.stop();
                Ok(json!({}))
            }
            Ask::State => serde_json::from_str(&self.is.timeline.state_body()).map_err(|error| {
                Error::new(interlock_pipeline::ErrorKind::Internal, error.to_string())
            }),
            Ask::Ping => Ok(json!({ "t": self.now() })),
        };
        // The host may be gone.
        let _ = reply.send(answer);
    }

    fn attach(&mut self, connection: u64) -> Value {
        if self.lifeline != Lifeline::Input {
            self.lifeline = Lifeline::Connection(connection);
        }
        self.is.timeline.notify(Notice::HostAttached);
        if matches!(
            self.mode,
            Mode::Draining {
                reason: DrainReason::Lifeline
            }
        ) {
            self.mode = Mode::Working;
            self.deadline = None;
            self.is.watchdog.disarm();
            self.is.engine.undrain();
            self.is.timeline.notify(Notice::DrainCancelled {
                by: DrainCancelledBy::Adopted,
            });
        }
        let proofs: Vec<Value> = self
            .is
            .engine
            .proofs()
            .into_iter()
            .map(|(proof, attempt, partitions, done)| {
                json!({ "proof": &*proof, "attempt": attempt, "partitions": partitions, "done": done })
            })
            .collect();
        let process = &self.is.process;
        json!({
            "process": process, "pid": std::process::id(), "backend": self.is.backend.as_str(),
            "phase": self.is.engine.phase().as_str(), "run": self.is.engine.run(), "proofs": proofs
        })
    }

    fn drain(&mut self, reason: DrainReason) {
        if !matches!(self.mode, Mode::Working) {
            return;
        }
        self.mode = Mode::Draining { reason };
        let deadline = self.set_deadline();
        self.is
            .timeline
            .notify(Notice::DrainStarted { reason, deadline });
        self.is.engine.drain();
    }

    fn stop(&mut self) {
        if matches!(self.mode, Mode::Stopping { .. }) {
            return;
        }
        if self.deadline.is_none() {
            self.set_deadline();
        }
        self.mode = Mode::Stopping { since: self.now() };
        self.is.engine.stop();
    }

    fn set_deadline(&mut self) -> u64 {
        let deadline = self.now().saturating_add(self.is.grace_ns);
        self.deadline = Some(deadline);
        self.is.watchdog.arm(deadline);
        deadline
    }

    /// Ends the process if its time has come.
    fn look(&mut self) {
        let now = self.now();
        if now >= OLD_NS {
            self.drain(DrainReason::Age);
        }
        let empty = self.is.engine.is_quiescent();
        match self.mode {
            Mode::Working => {}
            Mode::Draining {
                reason: DrainReason::Lifeline,
            } if empty => {
                self.end(RunEnd::Lifeline, Bye::Lifeline, 0);
            }
            Mode::Draining { .. } if empty => self.end(RunEnd::Drained, Bye::Drained, 0),
            Mode::Stopping { .. } if empty => self.end(RunEnd::Stopped, Bye::Stopped, 0),
            // Syntheses need not end; kernels must, and what is proved must be durable.
            Mode::Stopping { since }
                if now >= since + SETTLE_NS
                    && !self.is.engine.is_on_device()
                    && !self.is.engine.is_closing() =>
            {
                self.is.engine.abandon(ReturnReason::Stopped);
                self.end(RunEnd::Stopped, Bye::Stopped, 0);
            }
            _ => {}
        }
        // A little before the deadline, so that the record of it is written in time.
        let margin = (self.is.grace_ns / 4).min(1_000_000_000);
        if self
            .deadline
            .is_some_and(|deadline| now >= deadline - margin)
        {
            self.give_up();
        }
    }

    /// The deadline is here, or a third signal: what has not ended is lost, and recorded so.
    fn give_up(&mut self) -> ! {
        let why = match self.mode {
            Mode::Stopping { .. } => ReturnReason::Stopped,
            _ => ReturnReason::Drain,
        };
        say("the deadline passed; unfinished proofs go back to the host");
        self.is.engine.abandon(why);
        for (proof, attempt) in self.is.wires.claim_all() {
            let message = "the deadline passed before its bytes were durable in the spool";
            let failure = Some(Failure {
                code: Code::SpoolFailed,
                message: message.into(),
            });
            let (outcome, made) = (Outcome::Failed, None);
            self.is.timeline.notify(Notice::ProofEnded {
                proof,
                attempt,
                outcome,
                made,
                failure,
            });
        }
        self.end(RunEnd::Deadline, Bye::Deadline, 5)
    }

    /// Writes the journal's end and leaves. Threads that still work end with the process.
    fn end(&self, run_end: RunEnd, bye: Bye, exit: i32) -> ! {
        if self.deadline.is_none() {
            // Should the disk hang: ten seconds for the last lines.
            self.is.watchdog.arm(self.now() + 10_000_000_000);
        }
        self.is.engine.set_phase(Phase::Stopped);
        if let Some(run) = self.is.engine.run() {
            self.is.timeline.notify(Notice::RunEnded {
                run,
                reason: run_end,
            });
        }
        let exit = match self.is.timeline.stop(bye, exit) {
            Ok(()) => exit,
            Err(error) => {
                say(format!("the end of the journal is not written: {error}"));
                exit.max(1)
            }
        };
        let _ = std::fs::remove_file(&self.is.socket);
        for _ in 0..20 {
            if self.is.unanswered.load(Ordering::SeqCst) == 0 {
                break;
            }
            std::thread::sleep(TICK / 2);
        }
        // SAFETY: ends the process. Nothing is buffered in it: standard error is not, the journal is closed.
        unsafe { libc::_exit(exit) }
    }
}
