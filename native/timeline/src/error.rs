//! What can go wrong with a journal, and what the caller can do about it.

use std::{fmt, io};

/// What the caller can do about an [`Error`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The journal's file could not be created. Refuse to start.
    Unwritable,
    /// The journal cannot be written at present. Lines wait in memory and are written once it works again: go on
    /// proving, say so, and do not call anything durable that depends on it.
    Failing,
    /// The timeline was stopped (or its writer is gone). Nothing will be written any more.
    Stopped,
    /// An id is not 1-64 of `[A-Za-z0-9._-]`, or there are too many of them. Refuse the request that brought it.
    InvalidId,
}

/// An error of this crate.
#[derive(Debug)]
pub struct Error {
    kind: ErrorKind,
    message: String,
    source: Option<io::Error>,
}

impl Error {
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Error {
        Error {
            kind,
            message: message.into(),
            source: None,
        }
    }

    pub(crate) fn io(kind: ErrorKind, message: impl Into<String>, source: io::Error) -> Error {
        Error {
            kind,
            message: message.into(),
            source: Some(source),
        }
    }

    /// What the caller can do.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        match &self.source {
            Some(source) => write!(f, ": {source}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_ref().map(|e| e as _)
    }
}
