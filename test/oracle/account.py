"""One process of a run: what only the whole of it tells, the picture as it goes along, and the rows of the table in order."""
from picture import Picture, partition_of


class Account:
    def __init__(self, run, process):
        self.run, self.process = run, process
        self.devices = run.devices()
        self.named = {device["device"] for device in process.hello["devices"]}
        whole = self.new_picture()
        for index, (t, _, event) in enumerate(process.steps):
            whole.apply(index, t, event)
        whole.finish(process.end, process.lives)
        self.whole = whole
        self.find_spans()
        for loss in process.losses:
            to = process.end if loss["healed_t"] is None else loss["healed_t"] + process.offset
            for device in self.named | whole.seen_devices:
                self.unknown.append((device, loss["t_from"] + process.offset, to))
        # Where a partition without a queue time is thought to arrive.
        self.limit = min(process.end, run.wall)
        self.picture, self.done = self.new_picture(), 0

    def find_spans(self):
        """`closed`: what the windows count. `spans`: what a gap lies between: kernels that count."""
        self.closed, self.unknown, self.spans = self.whole.closed, self.whole.unknown, self.whole.kernels

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
        if device not in self.named and device not in self.picture.seen_devices:
            return "down", None
        return self.row(device, x, y)

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

    def has_no_work(self, n, index, y):
        if n is None:
            return True
        accepted = self.acceptance(n, index)[0]
        return accepted is None or accepted >= y

    def row(self, device, x, y):
        if any(kernel.device == device and kernel.covers(x, y) for kernel in self.spans):
            return "kernel", None
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
