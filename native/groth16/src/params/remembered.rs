//! Which parameter files passed the full check before.
//!
//! The memory of `x.params` is `x.params.checked` beside it, a JSON object:
//!
//! ```json
//! {"version": 1, "sha256": "<64 hex digits>", "bytes": 30408948}
//! ```
//!
//! It says that a file of that digest and length passed. It holds for the content, not for the
//! name or the time: a file that changed in any way is checked again. It is advice of whoever can
//! write the folder, as the parameters themselves are. A missing, torn or foreign memory only
//! means that the check runs.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

const VERSION: u32 = 1;

#[derive(Deserialize, Serialize)]
struct Memory {
    version: u32,
    sha256: String,
    bytes: u64,
}

/// `<file>.checked`.
fn place(params: &Path) -> PathBuf {
    let mut name = OsString::from(params);
    name.push(".checked");
    name.into()
}

pub(super) fn hex(digest: &[u8; 32]) -> String {
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Whether something is remembered of a file of `bytes` at `params`.
pub(super) fn expects(params: &Path, bytes: u64) -> bool {
    recall(params).is_some_and(|memory| memory.bytes == bytes)
}

/// Whether this content passed the check.
pub(super) fn knows(params: &Path, digest: &[u8; 32], bytes: u64) -> bool {
    recall(params).is_some_and(|memory| memory.bytes == bytes && memory.sha256 == hex(digest))
}

/// Remembers that this content passed, if the folder lets us.
pub(super) fn remember(params: &Path, digest: &[u8; 32], bytes: u64) {
    let memory = Memory {
        version: VERSION,
        sha256: hex(digest),
        bytes,
    };
    let place = place(params);
    let mut partial = OsString::from(&place);
    partial.push(format!(".partial-{}", std::process::id()));
    let written = serde_json::to_vec(&memory)
        .map_err(std::io::Error::from)
        .and_then(|json| fs::write(&partial, json))
        .and_then(|()| fs::rename(&partial, &place));
    if written.is_err() {
        // Nothing is lost but the time of the next check.
        let _ = fs::remove_file(&partial);
    }
}

fn recall(params: &Path) -> Option<Memory> {
    let json = fs::read(place(params)).ok()?;
    let memory: Memory = serde_json::from_slice(&json).ok()?;
    (memory.version == VERSION).then_some(memory)
}
