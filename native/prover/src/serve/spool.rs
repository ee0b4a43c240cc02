//! The spool: a proof's bytes are durable before anybody hears that it is done.
//!
//! One thread: temporary file, fsync, rename, fsync of the folder, `proof_ended`, fsync of the
//! journal; then the pipeline lets go of the proof. What fails is tried again for as long as the
//! process lives: a full disk costs time, never a proof.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::sync::mpsc::Receiver;
use std::sync::Arc;
use std::time::Duration;

use interlock_pipeline::{hex, Closed, End, Engine, PartitionProof, Submission};
use interlock_timeline::{Made, Notice, Outcome, Timeline};
use sha2::{Digest, Sha256};

use super::control::Wires;
use crate::proof_file::{self, Part, ProofFile, FORMAT};
use crate::say::say;

/// What the spool thread needs.
pub struct Spool {
    /// Where the files go.
    pub folder: PathBuf,
    /// The process's UUID.
    pub process: String,
    /// The backend's word.
    pub backend: &'static str,
    /// The journal.
    pub timeline: Arc<Timeline>,
    /// The pipeline.
    pub engine: Arc<Engine>,
    /// Who tells of what.
    pub wires: Arc<Wires>,
}

/// Between two tries.
const PAUSE: Duration = Duration::from_millis(500);

impl Spool {
    /// Closes proofs for ever.
    pub fn run(&self, queue: &Receiver<Closed>) {
        while let Ok(closed) = queue.recv() {
            self.close(&closed);
        }
    }

    fn close(&self, closed: &Closed) {
        let what = &closed.what;
        let (outcome, made, failure) = match &closed.end {
            End::Proved(parts) => (Outcome::Valid, self.write(what, parts), None),
            End::Failed(outcome, error) => (*outcome, None, Some(error.failure())),
            // The pipeline tells of these itself.
            End::Returned(_) => return,
        };
        let (proof, attempt) = (what.id, what.attempt);
        if !self.wires.claim(proof, attempt) {
            // The deadline came first, and its end was told then.
            return;
        }
        self.timeline.notify(Notice::ProofEnded {
            proof,
            attempt,
            outcome,
            made,
            failure,
        });
        retry("the journal", || {
            self.timeline.sync().map_err(|error| error.to_string())
        });
        self.engine.closed(proof, attempt);
    }

    /// Writes the proof file. An emulated proof has none.
    fn write(&self, what: &Submission, parts: &[Option<PartitionProof>]) -> Option<Made> {
        let made: Option<Vec<&PartitionProof>> = parts.iter().map(Option::as_ref).collect();
        let file = ProofFile {
            format: FORMAT.into(),
            proof: what.proof.to_string(),
            circuit: what.circuit.to_string(),
            params_digest: self.engine.digest(&what.circuit).unwrap_or_default(),
            made: proof_file::Made {
                process: self.process.clone(),
                version: crate::VERSION.into(),
                backend: self.backend.into(),
                wall_ns: self.timeline.clock().wall_ns().to_string(),
            },
            partitions: (0_u32..)
                .zip(made?)
                .map(|(n, part)| Part::new(n, part))
                .collect(),
        };
        let mut bytes = serde_json::to_vec(&file).ok()?;
        bytes.push(b'\n');
        let name = format!("{}.{}.proof.json", what.proof, what.attempt);
        retry("the spool", || {
            self.put(&name, &bytes).map_err(|error| error.to_string())
        });
        let sha256 = hex(&Sha256::digest(&bytes));
        Some(Made {
            sha256,
            file: name,
            bytes: bytes.len() as u64,
        })
    }

    fn put(&self, name: &str, bytes: &[u8]) -> std::io::Result<()> {
        let (path, partial) = (
            self.folder.join(name),
            self.folder.join(format!("{name}.tmp")),
        );
        let _ = std::fs::remove_file(&partial);
        let written = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .custom_flags(libc::O_NOFOLLOW)
            .open(&partial)
            .and_then(|mut file| {
                file.write_all(bytes)?;
                file.sync_all()
            })
            .and_then(|()| std::fs::rename(&partial, &path))
            .and_then(|()| File::open(&self.folder)?.sync_all());
        if written.is_err() {
            // Its room may be what the next try needs.
            let _ = std::fs::remove_file(&partial);
        }
        written
    }
}

/// Tries until it works; says so on standard error when it starts and when it stops failing.
fn retry(what: &str, mut work: impl FnMut() -> Result<(), String>) {
    let mut said = String::new();
    while let Err(error) = work() {
        if error != said {
            say(format!("{what} cannot be written, trying again: {error}"));
            said = error;
        }
        std::thread::sleep(PAUSE);
    }
    if !said.is_empty() {
        say(format!("{what} can be written again"));
    }
}
