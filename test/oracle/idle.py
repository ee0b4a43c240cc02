"""
Idle causes by brute force: the oracle of electron/analysis/idle/. Written from docs/idle-causes.md alone; where the two differ, the page
decides. Runs as files (FORMAT.md, section 10) on standard input, one line of JSON for each on standard output.

All instants at which anything may change cut the run into pieces. Within a piece nothing changes; for each piece and device every row of
the table is asked in order, from what is true just after the piece's start.
"""
import json
import sys

from picture import Picture, partition_of
from runfile import read_runs

CAUSES = ["down", "fault", "in_lock", "handoff", "preamble", "warm_up", "epilogue", "dispatch", "held", "no_work", "permit",
          "first_synthesis", "starved", "cross_sector"]
GROUPS = ["lock_or_kernel", "inside_job", "outside_lock", "between_work"]


# What a gap lies between. In a log windows and jobs stand for the kernels that it has not.
ENDS_GAP = ["unknown", "kernel", "lock_or_kernel", "inside_job"]


class Account:
    """One process of a run: what only the whole of it tells (spans, missing ends), and the picture as it goes along."""

    def __init__(self, run, process):
        self.run, self.process = run, process
        self.devices = run.devices()
        self.named = {device["device"] for device in process.hello["devices"]}
        whole = self.new_picture()
        for index, (t, _, event) in enumerate(process.steps):
            whole.apply(index, t, event)
        whole.finish(process.end, process.lives)
        self.whole, self.closed, self.unknown = whole, whole.closed, whole.unknown
        # Kernels that have both ends, in the order in which they ended; of a run that lasts, then those that still run.
        self.kernels = [] if run.is_log else whole.kernels
        self.jobs = []
        if run.is_log:
            self.read_log_spans()
        for loss in process.losses:
            to = process.end if loss["healed_t"] is None else loss["healed_t"] + process.offset
            for device in self.named | whole.seen_devices:
                self.unknown.append((device, loss["t_from"] + process.offset, to))
        # Where a partition without a queue time is thought to arrive.
        self.limit = min(process.end, run.wall)
        self.picture, self.done = self.new_picture(), 0

    def new_picture(self):
        return Picture(self.run.head["scheduler"], self.process.from_start, self.devices)

    def advance(self, x):
        """The picture holds everything that happened up to x."""
        while self.done < len(self.process.steps) and self.process.steps[self.done][0] <= x:
            t, _, event = self.process.steps[self.done]
            self.picture.apply(self.done, t, event)
            self.done += 1

    def cuts(self):
        for t, _, _ in self.process.steps:
            yield t
        yield self.process.counts_from
        yield self.process.end
        for _, start, end in self.unknown:
            yield start
            yield end
        for index, (t, _, event) in enumerate(self.process.steps):
            if event["e"] == "picked_up":
                a, asked, granted, _ = self.supply(partition_of(event), index)
                yield a - wait_of(asked, granted)
        for partition in {partition_of(event) for _, _, event in self.process.steps if event["e"] == "permit_granted"}:
            a, asked, granted, _ = self.supply(partition, None)
            yield a - wait_of(asked, granted)

    def is_unknown(self, device, x, y):
        return any(one == device and start <= x and y <= end for one, start, end in self.unknown)

    def runs_kernel(self, device, x, y):
        return any(one[0] == device and one[1] <= x and y <= one[2] for one in self.kernels)

    def whose(self, what, device):
        """(from, to, partition) of what may make such a piece."""
        if what == "kernel":
            return [one[1:] for one in self.kernels if one[0] == device]
        if what == "lock_or_kernel":
            return [one[1:] for one in self.windows if one[0] == device]
        return [(one[1], one[2], one[4]) for one in self.jobs if one[0] == device and one[3] is None]

    # N, and what is known of it.

    def next_pickup(self, device, y):
        """Index of the device's next pick-up at or after the piece (y is the piece's end)."""
        for index, (t, _, event) in enumerate(self.process.steps):
            if t >= y and event["e"] == "picked_up" and event["device"] == device and index not in self.whole.ignored:
                return index
        return None

    def find_n(self, device, y):
        index = self.next_pickup(device, y)
        if index is not None:
            return partition_of(self.process.steps[index][2]), index
        picture = self.picture
        for stage in (picture.synthesis, picture.queued, picture.withheld, picture.asked):
            for partition in stage:
                return partition, None
        fresh = [proof for proof in picture.accepted if proof not in picture.begun and proof not in picture.ended]
        fresh.sort(key=lambda proof: -picture.accepted[proof]["priority"])  # stable: then by acceptance
        for proof in fresh:
            return proof + (0,), None
        return None, None

    def supply(self, partition, index):
        """Of N: when it arrives, when it asked for its permit, was granted it, and why it waited; the last of each before its pick-up."""
        queued = asked = granted = None
        why = "count"
        for t, _, event in self.process.steps[:index]:
            if event["e"] in ("queued", "permit_asked", "permit_granted") and partition_of(event) == partition:
                if event["e"] == "queued":
                    queued = t
                elif event["e"] == "permit_asked":
                    asked = t
                else:
                    granted = t
                    why = "bytes" if event["waited_for"] == "bytes" else "count"
        if queued is None:
            queued = self.limit if index is None else self.process.steps[index][0]
        return queued, asked, granted, why

    def acceptance(self, partition, index):
        """When N's proof was accepted, and its circuit; (None, None) where that was never said."""
        found = (None, None)
        for t, _, event in self.process.steps[:index]:
            if event["e"] == "proof_accepted" and (event["proof"], event["attempt"]) == partition[:2]:
                found = (t, event["circuit"])
        return found

    # The rows.

    def piece(self, device, x, y):
        """(what, detail) of the piece [x, y)."""
        if self.is_unknown(device, x, y):
            return "unknown", None
        if self.runs_kernel(device, x, y):
            return "kernel", None
        picture = self.picture
        if device not in self.named and device not in picture.seen_devices:
            return "down", None
        return self.log_piece(device, x, y) if self.run.is_log else self.idle_piece(device, x, y)

    def is_warm_up(self, n, index):
        picture = self.picture
        if not picture.ready:
            return True
        if n is not None and self.acceptance(n, index)[1] in picture.loading:
            return True
        return bool(picture.queued) and not self.eligible()

    def eligible(self):
        accepted, loading = self.picture.accepted, self.picture.loading
        return [one for one in self.picture.queued if one[:2] not in accepted or accepted[one[:2]]["circuit"] not in loading]

    def has_acceptance(self, index):
        return any(event["e"] == "proof_accepted" for _, _, event in self.process.steps[:index])

    def has_no_work(self, n, index, y):
        if n is None:
            return True
        accepted = self.acceptance(n, index)[0]
        return accepted is None or accepted >= y

    def idle_piece(self, device, x, y):
        picture = self.picture
        states = slot_states(picture, device)
        is_held = any(picture.workers[number].device == device for number in picture.lock)
        if all(state == "dead" for state in states):
            return "fault", None
        if "device" in states:
            return "in_lock", lock_detail(picture, device)
        if "waiting" in states and not is_held:
            return "handoff", None
        if "prepare" in states:
            return "preamble", None
        n, index = self.find_n(device, y)
        if self.is_warm_up(n, index):
            return "warm_up", None
        eligible = self.eligible()
        if "finish" in states and "free" not in states and (eligible or "waiting" in states):
            return "epilogue", None
        if (eligible and "free" in states) or picture.withheld:
            return "dispatch", None
        if self.has_no_work(n, index, y):
            return ("held" if any(start <= x and (end is None or y <= end) for start, end in self.run.holds) else "no_work"), None
        a, asked, granted, why = self.supply(n, index)
        if x >= a - wait_of(asked, granted):
            return "permit", why
        if asked is not None and asked <= x and y <= (a if granted is None else granted):
            return "permit", why
        if device not in picture.last_proof:
            return "first_synthesis", None
        return ("starved" if n[0] == picture.last_proof[device] else "cross_sector"), None

    # Logs that cannot tell.

    def read_log_spans(self):
        """Job spans, each with its lock window if that was placed: [device, from, to, window]. Spans of one worker may overlap."""
        steps, process = self.process.steps, self.process
        self.closed, self.unknown, self.windows = [], [], []
        self.ended = {device: [] for device in self.devices}
        for index, (t, _, event) in enumerate(steps):
            if event["e"] != "picked_up":
                continue
            device, worker, partition = event["device"], event["worker"], partition_of(event)
            granted = released = end = None
            cannot_end = not process.lives
            after = [later for later, _, other in steps[index + 1:]
                     if other.get("worker") == worker and "partition" in other and partition_of(other) != partition]
            for later, _, other in steps[index + 1:]:
                name = other["e"]
                if ends_partition(other, partition):
                    cannot_end = True
                    break
                if (other.get("device"), other.get("worker")) != (device, worker) or partition_of(other) != partition:
                    continue
                if name == "picked_up":
                    cannot_end = True
                    after = sorted(after + [later])
                    break
                if name == "put_down":
                    end = later
                    break
                if name == "lock_granted" and released is None:
                    granted = later
                if name == "lock_released" and released is None and granted is not None:
                    released = later
            window = None if released is None else (granted, released)
            if window:
                self.windows.append((device,) + window + (partition,))
                self.ended[device].append("lock")
                self.closed.append(("lock", device) + window)
            if end is None and cannot_end:
                self.unknown.append((device, t, after[0] if after else process.end))
                continue
            if end is not None:
                self.ended[device].append("job")
            else:
                end = process.end
                if granted is not None and released is None:
                    self.closed.append(("lock", device, granted, end))
            self.jobs.append((device, t, end, window, partition))
            self.closed.append(("job", device, t, end))

    def log_piece(self, device, x, y):
        jobs = [one for one in self.jobs if one[0] == device and one[1] <= x and y <= one[2]]
        windows = [one[1:3] for one in self.windows if one[0] == device]
        eligible = self.eligible()
        if any(start <= x and y <= end for start, end in windows):
            return "lock_or_kernel", None
        if any(one[3] is None for one in jobs):
            return "inside_job", None
        if any(y <= one[3][0] for one in jobs) or (eligible and any(one[3][1] <= x for one in jobs)):
            return "outside_lock", None
        n, index = self.find_n(device, y)
        if self.is_warm_up(n, index):
            return "warm_up", None
        if eligible:
            return "dispatch", None
        if self.has_acceptance(index) and self.has_no_work(n, index, y):
            return "no_work", None
        return "between_work", None


def ends_partition(event, partition):
    """Whether no put_down of it can come after this."""
    if event["e"] in ("partition_ended", "stage_failed"):
        return partition_of(event) == partition
    return event["e"] in ("proof_ended", "proof_returned") and (event["proof"], event["attempt"]) == partition[:2]


def wait_of(asked, granted):
    return 0 if asked is None or granted is None else max(0, granted - asked)


def slot_states(picture, device):
    return ["free" if owner is None else picture.workers[owner].state for owner in picture.slots[device]]


def lock_detail(picture, device):
    spans = [one for one in picture.open if one[2] == device]
    if any(one[0] == "copy" for one in spans):
        return "copy"
    waits = [one[6]["wait"] for one in spans if one[0] == "wait"]
    return waits[-1] if waits else "host"


def measure(run):
    run.is_log = run.head["engine"] == "cuzk"
    accounts = [Account(run, process) for process in run.processes]
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
    """Union and sum of closed spans, clipped to the wall."""
    windows = {}
    for what in ("kernel", "lock", "job", "copy"):
        spans = [(max(0, start), min(end, run.wall)) for account in accounts for kind, at, start, end in account.closed
                 if (kind, at) == (what, device)]
        windows[what] = {"ns": union(spans), "sum_ns": sum(max(0, end - start) for start, end in spans)}
    if run.is_log:
        count = lambda what: sum(account.ended[device].count(what) for account in accounts)
        if count("lock") == 0 or count("lock") < count("job"):
            windows["lock"] = None  # not recorded: not every job that ended has its window
        windows["kernel"] = windows["copy"] = None
    return windows


def union(spans):
    cuts = sorted({cut for span in spans for cut in span})
    return sum(y - x for x, y in zip(cuts, cuts[1:]) if any(start <= x and y <= end for start, end in spans))


def legacy(run, accounts, device):
    """Closed job spans, clipped to the wall; in a log from GPU_START (call_started) on."""
    spans = []
    for account in accounts:
        begun = {}
        for index, (t, _, event) in enumerate(account.process.steps):
            if index in account.whole.ignored or event.get("device") != device or "partition" not in event:
                continue
            key = partition_of(event) + (event["worker"],)
            if event["e"] == ("call_started" if run.is_log else "picked_up"):
                if not run.is_log:
                    begun = {one: start for one, start in begun.items() if one[3] != event["worker"]}
                begun[key] = t
            elif event["e"] == "put_down" and key in begun:
                spans.append((max(0, begun.pop(key)), min(t, run.wall)))
    spans = [(start, end) for start, end in spans if start < end]
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
                running = [one for account in accounts for one in account.whose(what, device) if one[0] <= x and y <= one[1]]
                if y <= start:
                    before = max(running, key=lambda one: one[1])
                if x == end:
                    after = next((one for one in running if one[0] == end), None)
        order = CAUSES + GROUPS
        gaps.append({
            "start_ns": start, "length_ns": end - start, "parts": parts,
            "cause": max(order, key=lambda name: (parts.get(name, 0), -order.index(name))),
            "before": list(before[2]) if before else None,
            "after": list(after[2]) if after else None,
        })
    return gaps


if __name__ == "__main__":
    for one in read_runs(sys.stdin):
        print(json.dumps(measure(one)), flush=True)
