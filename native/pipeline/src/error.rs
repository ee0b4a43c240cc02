//! What can go wrong in this crate. Each kind has the code that crosses every boundary.

use std::fmt;

use interlock_timeline::{Code, Failure};

/// What a caller can do about an [`Error`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A field of the scheduler or of the emulation is wrong. Ask again with another value.
    InvalidConfig,
    /// Memory or permits can never suffice. Raise the budget; `detail` has the bytes needed.
    BudgetTooSmall,
    /// A proof is here. Wait for it, or drain.
    NotQuiescent,
    /// Only another process can do this.
    RestartNeeded,
    /// No run was begun. Send `run` first.
    NoRun,
    /// The prover takes no more work.
    Draining,
    /// This attempt was taken over before.
    Duplicate,
    /// The proof asked for cannot exist. Drop it.
    InvalidProof,
    /// The parameter file is not there.
    ParamsMissing,
    /// The parameter file is cut short, or goes on after its end.
    ParamsTruncated,
    /// The parameters belong to another circuit.
    ParamsWrongCircuit,
    /// The parameter file may not or cannot be read.
    ParamsUnreadable,
    /// A point in the parameter file is bad.
    ParamsBadPoint,
    /// The parameters could not be generated or written.
    ParamsGenerateFailed,
    /// This build or machine lacks the backend.
    BackendUnavailable,
    /// Asked to stop, and did.
    Cancelled,
    /// The proof was made and does not verify.
    VerifyFailed,
    /// Synthesis failed.
    SynthesisFailed,
    /// A stage on or around the device failed.
    DeviceFailed,
    /// A thread of ours panicked.
    Panicked,
    /// A command is not one. Mend the caller.
    BadRequest,
    /// The proof could not be written to the spool.
    SpoolFailed,
    /// A defect, or an operating system out of something.
    Internal,
}

impl ErrorKind {
    /// The code of the closed list in FORMAT.md, section 6.
    pub fn code(self) -> Code {
        match self {
            ErrorKind::InvalidConfig => Code::InvalidConfig,
            ErrorKind::BudgetTooSmall => Code::BudgetTooSmall,
            ErrorKind::NotQuiescent => Code::NotQuiescent,
            ErrorKind::RestartNeeded => Code::RestartNeeded,
            ErrorKind::NoRun => Code::NoRun,
            ErrorKind::Draining => Code::Draining,
            ErrorKind::Duplicate => Code::Duplicate,
            ErrorKind::InvalidProof => Code::InvalidProof,
            ErrorKind::ParamsMissing => Code::ParamsMissing,
            ErrorKind::ParamsTruncated => Code::ParamsTruncated,
            ErrorKind::ParamsWrongCircuit => Code::ParamsWrongCircuit,
            ErrorKind::ParamsUnreadable => Code::ParamsUnreadable,
            ErrorKind::ParamsBadPoint => Code::ParamsBadPoint,
            ErrorKind::ParamsGenerateFailed => Code::ParamsGenerateFailed,
            ErrorKind::BackendUnavailable => Code::BackendUnavailable,
            ErrorKind::Cancelled => Code::Cancelled,
            ErrorKind::VerifyFailed => Code::VerifyFailed,
            ErrorKind::SynthesisFailed => Code::SynthesisFailed,
            ErrorKind::DeviceFailed => Code::DeviceFailed,
            ErrorKind::Panicked => Code::Panicked,
            ErrorKind::SpoolFailed => Code::SpoolFailed,
            ErrorKind::Internal => Code::Internal,
            ErrorKind::BadRequest => Code::BadRequest,
        }
    }
}

/// An error of this crate: a kind to branch on, a sentence for a person, and figures.
#[derive(Clone, Debug)]
pub struct Error {
    kind: ErrorKind,
    message: String,
    detail: serde_json::Value,
}

impl Error {
    /// An error of `kind`; `message` names the field, file or value, and the way out.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Error {
            kind,
            message: message.into(),
            detail: serde_json::json!({}),
        }
    }

    /// The same error with figures for a program.
    #[must_use]
    pub fn with_detail(mut self, detail: serde_json::Value) -> Self {
        self.detail = detail;
        self
    }

    /// What the caller can do.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// The code that crosses every boundary.
    pub fn code(&self) -> Code {
        self.kind.code()
    }

    /// The sentence for a person. Branch on [`Error::kind`], never on this text.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The error as the journal has it.
    pub fn failure(&self) -> Failure {
        Failure {
            code: self.code(),
            message: self.message.clone(),
        }
    }

    /// Figures that belong to the error: a JSON object, empty if there are none.
    pub fn detail(&self) -> &serde_json::Value {
        &self.detail
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}
