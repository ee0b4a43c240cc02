"""
Idle causes by brute force: the oracle of electron/analysis/idle/. Written from docs/idle-causes.md alone; where the two differ, the page
decides. Runs as files (FORMAT.md, section 10) on standard input, one line of JSON for each on standard output.

All instants at which anything may change cut the run into pieces. Within a piece nothing changes; for each piece and device every row of
the table is asked in order, from what is true just after the piece's start.
"""
import json
import sys

from account import Account, slot_states
from logs import LogAccount
from runfile import read_runs

CAUSES = ["down", "fault", "in_lock", "handoff", "preamble", "warm_up", "epilogue", "dispatch", "held", "no_work", "permit",
          "first_synthesis", "starved", "cross_sector"]
GROUPS = ["lock_or_kernel", "inside_job", "outside_lock", "between_work"]


# What a gap lies between. In a log windows and jobs stand for the kernels that it has not.
ENDS_GAP = ["unknown", "kernel", "lock_or_kernel", "inside_job"]


def measure(run):
    run.is_log = run.head["engine"] == "cuzk"
    accounts = [(LogAccount if run.is_log else Account)(run, process) for process in run.processes]
    cuts = {0, run.wall}
    for account in accounts:
        cuts.update(account.cuts())
    for start, end in run.holds:
        cuts.update([start] if end is None else [start, end])
    cuts = sorted(cut for cut in cuts if 0 <= cut <= run.wall)
    devices = run.devices()
    pieces = {device: [] for device in devices}  # (from, to, what, detail)
    workers = {device: dict.fromkeys(["free", "waiting", "prepare", "device", "finish", "dead"], 0) for device in devices}
    for x, y in zip(cuts, cuts[1:]):
        here = [one for one in accounts if one.process.counts_from <= x and y <= one.process.end]
        if here:
            here[-1].advance(x)
        for device in devices:
            what, detail = here[-1].piece(device, x, y) if here else ("down", None)
            pieces[device].append((x, y, what, detail))
            if what not in ("unknown", "down") and not run.is_log:
                for state in slot_states(here[-1].picture, device):
                    workers[device][state] += y - x
    return {
        "run": run.head["run"],
        "wall_ns": run.wall,
        "devices": {device: report(run, accounts, device, pieces[device], workers[device]) for device in devices},
    }


def report(run, accounts, device, pieces, workers):
    total = lambda what, detail=None: sum(y - x for x, y, is_what, is_detail in pieces if is_what == what and detail in (None, is_detail))
    return {
        "wall_ns": run.wall,
        "kernel_ns": None if run.is_log else total("kernel"),
        "idle_ns": {cause: total(cause) for cause in CAUSES},
        "details": {"in_lock": {name: total("in_lock", name) for name in ("copy", "barrier", "alloc", "host")},
                    "permit": {name: total("permit", name) for name in ("bytes", "count")}},
        "groups": {group: total(group) for group in GROUPS if total(group) > 0},
        "unknown_ns": total("unknown"),
        "worker_ns": workers,
        "windows": windows_of(run, accounts, device),
        **legacy(run, accounts, device),
        **provisional(run, accounts[-1], device, pieces),
        "gaps": gaps_of(run, accounts, device, pieces),
    }


def provisional(run, account, device, pieces):
    """What may still change while the run lasts: 7 to 15 after the last pick-up, and anything that may turn out as a missing end."""
    found = {}
    if run.lasts and account.process.lives:
        whole = account.whole
        last = whole.last_pickup.get(device, account.process.counts_from)
        busy = [worker.since for worker in whole.workers.values() if worker.device == device and worker.state not in ("free", "dead")]
        busy += [span[4] for span in whole.open if span[0] == "kernel" and span[2] == device]
        certain = min(busy, default=run.wall)
        for x, y, what, _ in pieces:
            if what in CAUSES and ((what in CAUSES[CAUSES.index("warm_up"):] and x >= last) or x >= certain):
                found[what] = found.get(what, 0) + y - x
    return {"provisional": found, "provisional_ns": sum(found.values())}


def windows_of(run, accounts, device):
    """Union and sum of closed spans, clipped to the wall and to where their process counts."""
    windows = {}
    for what in ("kernel", "lock", "job", "copy"):
        spans = [(max(0, account.process.counts_from, start), min(end, run.wall)) for account in accounts
                 for kind, at, start, end in account.closed if (kind, at) == (what, device)]
        windows[what] = {"ns": union(spans), "sum_ns": sum(max(0, end - start) for start, end in spans)}
    if run.is_log:
        begun, ended, called, placed = (sum(counts) for counts in zip(*(account.count(device) for account in accounts)))
        if placed == 0 or placed < (called or ended):
            windows["lock"] = None
        if ended == 0 and begun > 0:
            windows["job"] = None
        windows["kernel"] = windows["copy"] = None
    return windows


def union(spans):
    cuts = sorted({cut for span in spans for cut in span})
    return sum(y - x for x, y in zip(cuts, cuts[1:]) if any(start <= x and y <= end for start, end in spans))


def legacy(run, accounts, device):
    """Job spans that ended, clipped likewise; in a log from GPU_START (call_started) to GPU_END, pick-up or not."""
    spans = []
    for account in accounts:
        first = max(0, account.process.counts_from)
        for at, start, end in account.calls() if run.is_log else account.whole.put_down:
            if at == device and end > first:
                spans.append((max(first, start), min(end, run.wall)))
    length = max((end for _, end in spans), default=0) - min((start for start, _ in spans), default=0)
    if length <= 0:
        return {"legacy_efficiency": None, "legacy_sum": None}
    return {"legacy_efficiency": union(spans) / length, "legacy_sum": sum(end - start for start, end in spans) / length}


def gaps_of(run, accounts, device, pieces):
    """Longest stretches without kernel and unknown (in a log: without g1, g2 and unknown)."""
    stretches = []
    for x, y, what, _ in pieces:
        if what in ENDS_GAP:
            continue
        if not stretches or stretches[-1][1] != x:
            stretches.append([x, y, {}])
        stretches[-1][1] = y
        stretches[-1][2][what] = stretches[-1][2].get(what, 0) + y - x
    gaps = []
    for start, end, parts in stretches:
        before = after = None
        for x, y, what, _ in pieces:
            if what in ENDS_GAP and what != "unknown":
                running = [span for account in accounts for span in account.spans if span.device == device and span.covers(x, y)]
                if y <= start:
                    before = max(running, key=lambda span: (span.end, span.ended))
                if x == end:
                    after = max((span for span in running if span.start == end), key=lambda span: (span.end, span.ended, span.begun), default=None)
        order = CAUSES + GROUPS
        gaps.append({
            "start_ns": start, "length_ns": end - start, "parts": parts,
            "cause": max(order, key=lambda name: (parts.get(name, 0), -order.index(name))),
            "before": list(before.partition) if before else None,
            "after": list(after.partition) if after else None,
        })
    return gaps


if __name__ == "__main__":
    for one in read_runs(sys.stdin):
        print(json.dumps(measure(one)), flush=True)
