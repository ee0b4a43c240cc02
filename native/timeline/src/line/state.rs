//! What snapshots look like.

use super::{partition, Lookup, TEXT};
use crate::id::Partition;
use crate::json::Fields;
use crate::state::State;

/// A snapshot. Its `upto` is the journal's to write.
pub(crate) fn state(
    out: &mut Vec<u8>,
    t: u64,
    state: &State,
    memory: (u64, u64),
    dropped: u64,
    names: &Lookup,
) {
    let mut fields = Fields(out);
    state_fields(fields.begin(t, "state"), state, memory, dropped, names);
}

/// The fields of a snapshot from `phase` on.
pub(crate) fn state_fields(
    f: &mut Fields,
    state: &State,
    memory: (u64, u64),
    dropped: u64,
    names: &Lookup,
) {
    f.word("phase", state.phase.as_str())
        .text_or_null("run", state.run.as_deref(), TEXT);
    f.number("queued", state.queued.into())
        .number("withheld", state.withheld.into());
    f.nested("permits", |f| {
        f.number("used", state.permits.used.into())
            .number("total", state.permits.total.into());
        f.number("bytes_used", state.permits.bytes_used)
            .number("bytes_total", state.permits.bytes_total);
    });
    f.list("workers", &state.workers, |f, w| {
        f.object(|f| {
            f.number("worker", w.worker.into())
                .word("device", names.device(w.device.0))
                .word("is", w.is.as_str());
            at_work(f, &w.partition, w.since, w.progress, names);
        })
    });
    f.list("synthesisers", &state.synthesisers, |f, s| {
        f.object(|f| {
            at_work(
                f.number("synthesiser", s.synthesiser.into()),
                &s.partition,
                s.since,
                s.progress,
                names,
            )
        })
    });
    f.list("lock", &state.lock, |f, (device, holder)| {
        f.object(|f| {
            f.word("device", names.device(device.0))
                .number_or_null("holder", holder.map(u64::from));
        })
    });
    f.list("proofs", &state.proofs, |f, p| {
        f.object(|f| {
            f.word("proof", names.proof(p.proof.0))
                .number("attempt", p.attempt.into());
            f.number("partitions", p.partitions.into())
                .number("done", p.done.into());
        })
    });
    f.list("params", &state.params, |f, (circuit, is)| {
        f.object(|f| {
            f.text("circuit", circuit, TEXT).word("is", is.as_str());
        })
    });
    f.number("rss_bytes", memory.0)
        .number("peak_rss_bytes", memory.1)
        .number("dropped", dropped);
}

fn at_work(
    f: &mut Fields,
    p: &Option<Partition>,
    since: Option<u64>,
    progress: u64,
    names: &Lookup,
) {
    match p {
        Some(p) => partition(f, p, names),
        None => f.null("proof").null("attempt").null("partition"),
    };
    f.number_or_null("since", since)
        .number("progress", progress);
}
