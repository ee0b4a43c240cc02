//! What control events look like.

use super::{partition, Lookup, MESSAGE, TEXT};
use crate::json::Fields;
use crate::machine::Machine;
use crate::notice::{Failure, Hello, Notice};

/// Elements of `overrides`; there are fewer fields than that.
const OVERRIDES: usize = 24;

/// The first line.
pub(crate) fn hello(
    out: &mut Vec<u8>,
    t: u64,
    origin_ns: u64,
    wall_ns: u64,
    hello: &Hello,
    machine: &Machine,
) {
    let mut fields = Fields(out);
    let f = fields.begin(t, "hello");
    f.number("format", 1)
        .text("process", &hello.process, TEXT)
        .number("pid", machine.pid.into());
    f.big("start_ticks", machine.start_ticks)
        .text("boot_id", &machine.boot_id, TEXT);
    f.big("monotonic_ns", origin_ns)
        .big("wall_ns", wall_ns)
        .text("version", &hello.version, TEXT);
    f.word("engine", "builtin")
        .word("backend", hello.backend.as_str());
    f.list("devices", &hello.devices, |f, device| {
        f.object(|f| {
            f.word("device", &device.device)
                .word("kind", device.kind.as_str())
                .text("name", &device.name, TEXT);
            f.number("workers_max", device.workers_max.into())
                .word("clock", device.clock.as_str());
        })
    });
    f.number("grace_ns", hello.grace_ns)
        .number("host_cpus", machine.host_cpus.into());
    f.number("memory_total_bytes", machine.memory_total_bytes);
}

/// A control event. `wall_ns` is the wall clock at the stamp.
pub(crate) fn notice(out: &mut Vec<u8>, t: u64, wall_ns: u64, notice: &Notice, names: &Lookup) {
    let mut fields = Fields(out);
    let f = &mut fields;
    match notice {
        Notice::Ready => {
            f.begin(t, "ready");
        }
        Notice::RunStarted {
            run,
            scheduler: s,
            emulate,
        } => {
            f.begin(t, "run_started")
                .text("run", run, TEXT)
                .nested("scheduler", |f| {
                    f.text("preset", &s.preset, TEXT);
                    let overrides = s.overrides.get(..OVERRIDES).unwrap_or(&s.overrides);
                    f.list("overrides", overrides, |f, name| f.element(name, TEXT));
                    f.word("dispatch", s.dispatch.as_str())
                        .number("gpu_workers", s.gpu_workers.into());
                    f.word("lock_scope", s.lock_scope.as_str());
                    f.number("partitions_in_flight", s.partitions_in_flight.into());
                    f.number("proofs_in_flight", s.proofs_in_flight.into());
                    f.number("synthesis_workers", s.synthesis_workers.into());
                    f.number("synthesis_threads", s.synthesis_threads.into());
                    f.number("device_threads", s.device_threads.into());
                    f.number("memory_budget_bytes", s.memory_budget_bytes);
                    f.text("order", &s.order, TEXT)
                        .boolean("reserve_post", s.reserve_post);
                });
            f.text_or_null("emulate", emulate.as_deref(), MESSAGE / 4);
        }
        Notice::RunEnded { run, reason } => {
            f.begin(t, "run_ended")
                .text("run", run, TEXT)
                .word("reason", reason.as_str());
        }
        Notice::ConfigureRefused { run, failure } => {
            failed(
                f.begin(t, "configure_refused").text("run", run, TEXT),
                Some(failure),
            );
        }
        Notice::DrainStarted { reason, deadline } => {
            f.begin(t, "drain_started")
                .word("reason", reason.as_str())
                .number("deadline", *deadline);
        }
        Notice::DrainCancelled { by } => {
            f.begin(t, "drain_cancelled").word("by", by.as_str());
        }
        Notice::HostAttached => {
            f.begin(t, "host_attached").big("wall_ns", wall_ns);
        }
        Notice::HostLost => {
            f.begin(t, "host_lost");
        }
        Notice::ParamsLoadStarted { circuit, bytes } => {
            f.begin(t, "params_load_started")
                .text("circuit", circuit, TEXT)
                .number("bytes", *bytes);
        }
        Notice::ParamsGenerateStarted { circuit } => {
            f.begin(t, "params_generate_started")
                .text("circuit", circuit, TEXT);
        }
        Notice::ParamsGenerateEnded { circuit, ok } => {
            f.begin(t, "params_generate_ended")
                .text("circuit", circuit, TEXT)
                .boolean("ok", *ok);
        }
        Notice::ParamsLoadEnded {
            circuit,
            digest,
            failure,
        } => {
            f.begin(t, "params_load_ended")
                .text("circuit", circuit, TEXT)
                .boolean("ok", failure.is_none());
            failed(
                f.text_or_null("digest", digest.as_deref(), TEXT),
                failure.as_ref(),
            );
        }
        Notice::ProofAccepted {
            proof,
            attempt,
            run,
            circuit,
            partitions,
            constraints,
            priority,
            submitted_wall_ns,
            deadline_wall_ns,
        } => {
            f.begin(t, "proof_accepted")
                .word("proof", names.proof(proof.0))
                .number("attempt", (*attempt).into());
            f.text("run", run, TEXT)
                .text("circuit", circuit, TEXT)
                .number("partitions", (*partitions).into());
            f.number("constraints", *constraints)
                .number("priority", (*priority).into());
            f.big("submitted_wall_ns", *submitted_wall_ns);
            match deadline_wall_ns {
                Some(deadline) => f.big("deadline_wall_ns", *deadline),
                None => f.null("deadline_wall_ns"),
            };
        }
        Notice::StageFailed {
            partition: p,
            stage,
            failure,
        } => {
            partition(f.begin(t, "stage_failed"), p, names).word("stage", stage.as_str());
            failed(f, Some(failure));
        }
        Notice::WorkerDead { worker, failure } => {
            f.begin(t, "worker_dead")
                .word("device", names.device(worker.device.0));
            failed(f.number("worker", worker.worker.into()), Some(failure));
        }
        Notice::ProofEnded {
            proof,
            attempt,
            outcome,
            made,
            failure,
        } => {
            f.begin(t, "proof_ended")
                .word("proof", names.proof(proof.0))
                .number("attempt", (*attempt).into());
            f.word("outcome", outcome.as_str());
            f.text_or_null("sha256", made.as_ref().map(|m| m.sha256.as_str()), TEXT);
            f.text_or_null("file", made.as_ref().map(|m| m.file.as_str()), TEXT);
            failed(
                f.number_or_null("bytes", made.as_ref().map(|m| m.bytes)),
                failure.as_ref(),
            );
        }
        Notice::ProofReturned {
            proof,
            attempt,
            reason,
        } => {
            f.begin(t, "proof_returned")
                .word("proof", names.proof(proof.0))
                .number("attempt", (*attempt).into());
            f.word("reason", reason.as_str());
        }
    }
}

fn failed(f: &mut Fields, failure: Option<&Failure>) {
    match failure {
        Some(failure) => {
            f.word("code", failure.code.as_str())
                .text("message", &failure.message, MESSAGE)
        }
        None => f.null("code").null("message"),
    };
}
