//! What can go wrong in this crate, named by what the caller can do about it.

use std::fmt;

/// What a caller can do about an [`Error`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The circuit gave no assignment. Drop the partition: another try ends the same way.
    Synthesis,
    /// The circuit is too large for the field's roots of unity or for the file format's 32-bit
    /// counts. Drop the partition.
    TooLarge,
    /// There is no parameter file at that path. Generate it, or name another folder.
    ParamsMissing,
    /// The parameter file is there but may not or cannot be read. Mend its permissions or disk.
    ParamsUnreadable,
    /// The parameter file ends too early. Fetch or generate it again, after moving it away.
    ParamsTruncated,
    /// The parameter file goes on after its last point. It is not what its name says.
    ParamsTrailing,
    /// A point in the parameter file is malformed, at infinity, off the curve or outside the
    /// group. Fetch or generate the file again, after moving it away.
    ParamsBadPoint,
    /// The parameters belong to another circuit. Choose the right file.
    ParamsMismatch,
    /// The parameters could not be written. Look at the folder's space and permissions.
    ParamsUnwritable,
    /// The bytes are no proof at all (length, encoding, curve or group). Refuse them.
    MalformedProof,
    /// The number of public inputs is not the circuit's. Refuse the request.
    WrongInputs,
    /// This build or this machine has no such backend. Choose another one.
    BackendUnavailable,
    /// The device stage was told to stop and did. Nothing is wrong.
    Cancelled,
    /// The operating system gave no randomness. Stop: no proof made without it would be
    /// zero-knowledge.
    Randomness,
    /// A stage was called out of order, or with what belongs to another partition. A defect of
    /// the caller: drop the partition and report it.
    OutOfOrder,
}

/// An error of this crate: a kind to branch on and a sentence for a person.
#[derive(Clone, Debug)]
pub struct Error {
    kind: ErrorKind,
    message: String,
}

impl Error {
    /// An error of `kind`; `message` says what happened, to which file or value, and the way out.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Error {
            kind,
            message: message.into(),
        }
    }

    /// What the caller can do.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// The sentence for a person. Branch on [`Error::kind`], never on this text.
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

impl From<bellpepper_core::SynthesisError> for Error {
    fn from(error: bellpepper_core::SynthesisError) -> Self {
        Error::new(
            ErrorKind::Synthesis,
            format!("the circuit cannot be synthesised: {error}"),
        )
    }
}
