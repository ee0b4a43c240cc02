//! A host at the command socket.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;

use serde_json::{json, Value};

pub struct Host {
    stream: BufReader<UnixStream>,
    id: u64,
}

impl Host {
    pub fn connect(path: &Path) -> Host {
        let stream = UnixStream::connect(path).unwrap();
        stream.set_read_timeout(Some(super::PATIENCE)).unwrap();
        Host {
            stream: BufReader::new(stream),
            id: 0,
        }
    }

    /// Sends bytes and reads one line, if one comes.
    pub fn raw(&mut self, bytes: &[u8]) -> Option<Value> {
        self.stream.get_mut().write_all(bytes).unwrap();
        let mut line = String::new();
        let read = self.stream.read_line(&mut line).unwrap_or(0);
        (read > 0).then(|| serde_json::from_str(&line).unwrap())
    }

    /// Asks; no answer if the prover ended before it was written.
    pub fn ask_the_dying(&mut self, cmd: &str, mut fields: Value) -> Option<Value> {
        self.id += 1;
        fields["id"] = json!(self.id);
        fields["cmd"] = json!(cmd);
        self.raw(format!("{fields}\n").as_bytes())
    }

    pub fn ask(&mut self, cmd: &str, fields: Value) -> Value {
        let answer = self.ask_the_dying(cmd, fields).unwrap();
        assert_eq!(answer["id"], self.id);
        answer
    }

    /// Asks; the answer must be good.
    pub fn ok(&mut self, cmd: &str, fields: Value) -> Value {
        let answer = self.ask(cmd, fields);
        assert_eq!(answer["ok"], true, "{cmd}: {answer}");
        answer["value"].clone()
    }

    /// Asks; the answer must be a refusal with this code.
    pub fn refused(&mut self, code: &str, cmd: &str, fields: Value) -> Value {
        let answer = self.ask(cmd, fields);
        assert_eq!(
            (&answer["ok"], &answer["code"]),
            (&json!(false), &json!(code)),
            "{answer}"
        );
        answer
    }

    pub fn run(&mut self, run: &str, scheduler: Value) {
        self.ok(
            "run",
            json!({ "run": run, "scheduler": scheduler, "emulate": null }),
        );
    }

    pub fn submit(&mut self, proof: &str, partitions: u32) {
        self.ok("submit", submission(proof, partitions));
    }

    pub fn submission(proof: &str, partitions: u32) -> Value {
        submission(proof, partitions)
    }
}

fn submission(proof: &str, partitions: u32) -> Value {
    json!({
        "proof": proof, "attempt": 1, "circuit": "squarings-1000", "partitions": partitions,
        "priority": 1, "submitted_wall_ns": "1796043668729000001", "deadline_wall_ns": null,
        "seed": "07".repeat(32)
    })
}

/// A scheduler by preset, with roomy limits.
pub fn scheduler(preset: &str) -> Value {
    let (dispatch, gpu_workers, lock_scope) = match preset {
        "batch" => ("batch", 1, "job"),
        "per-partition" => ("partition", 1, "job"),
        "interlock" => ("partition", 2, "kernels"),
        other => panic!("no preset {other}"),
    };
    json!({
        "preset": preset, "overrides": [], "dispatch": dispatch, "gpu_workers": gpu_workers,
        "lock_scope": lock_scope, "partitions_in_flight": 10, "proofs_in_flight": 3,
        "synthesis_workers": 8, "synthesis_threads": 2, "device_threads": 2,
        "memory_budget_bytes": 1_u64 << 33, "order": "fifo", "reserve_post": false
    })
}
