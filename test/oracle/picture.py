"""What a process is doing after some of its events: docs/idle-causes.md, "How the words are read", sentence by sentence."""

from collections import namedtuple

# What an event makes of its worker's state, by lock scope.
BECOMES = {
    "kernels": {
        "picked_up": "prepare", "prepare_ended": "waiting", "lock_asked": "waiting", "lock_granted": "device", "device_started": "device",
        "lock_released": "finish", "finish_started": "finish", "put_down": "free", "worker_dead": "dead",
    },
    "job": {
        "picked_up": "waiting", "prepare_started": "prepare", "prepare_ended": "device", "lock_granted": "prepare",
        "device_started": "device", "device_ended": "finish", "finish_started": "finish", "put_down": "free", "worker_dead": "dead",
    },
}
SPANS = {"kernel_started": "kernel", "copy_started": "copy", "wait_started": "wait"}
SPAN_ENDS = {"kernel_ended": "kernel", "copy_ended": "copy", "wait_ended": "wait"}


def partition_of(event):
    return (event["proof"], event["attempt"], event["partition"])


class Span(namedtuple("Span", "device start end partition begun ended")):
    """`begun`, `ended`: indexes of the events."""

    def covers(self, x, y):
        return self.start <= x and y <= self.end


class Worker:
    def __init__(self, device):
        self.device, self.state, self.at, self.since = device, "free", None, None
        self.events = []  # (index, t, whether it is a state line that put it somewhere) of its own events


class Picture:
    def __init__(self, scheduler, from_start, devices):
        self.becomes = BECOMES[(scheduler or {}).get("lock_scope", "kernels")]
        self.slots = {device: [None] * (scheduler["gpu_workers"] if scheduler else 1) for device in devices}
        self.slots_known = scheduler is not None
        self.ready = not from_start
        self.workers, self.seen_devices = {}, set()
        self.lock = {}  # worker that holds its device's lock -> (partition, since or None where that is not known)
        self.job = {}  # worker -> (partition, since)
        self.synthesis, self.queued, self.withheld, self.asked = {}, {}, {}, {}  # partitions in the order in which they began
        self.accepted, self.begun, self.ended = {}, set(), set()
        self.loading = set()
        self.last_proof = {}  # device -> proof of its last pick-up
        self.last_pickup = {}  # device -> t
        self.open = []  # kernels, copies, waits: (kind, key, device, worker, t, index, event)
        self.closed = []  # windows: (what, device, from, to): kernel, copy, lock, job
        self.put_down = []  # job spans that ended: (device, from, to)
        self.ignored = set()  # indexes of events that change nothing
        self.kernels = []  # those that count
        self.unknown = []  # (device, from, to)

    def apply(self, index, t, event):
        name = event["e"]
        if name == "state":
            return self.put_right(index, t, event)
        if "device" in event:
            self.seen_devices.add(event["device"])
        if "worker" in event and event["worker"] in self.workers and self.workers[event["worker"]].state == "dead":
            self.ignored.add(index)  # nothing that a dead worker is said to do changes anything
            return
        if name == "ready":
            self.ready = True
        elif name == "params_load_started":
            self.loading.add(event["circuit"])
        elif name == "params_load_ended":
            self.loading.discard(event["circuit"])
        elif name == "proof_accepted":
            proof = (event["proof"], event["attempt"])
            self.accepted.pop(proof, None)
            self.accepted[proof] = event
            self.ended.discard(proof)
        elif name in ("proof_ended", "proof_returned"):
            self.end_proof((event["proof"], event["attempt"]))
        elif "partition" in event:
            self.move_partition(name, partition_of(event))
        if name == "picked_up":
            self.last_proof[event["device"]] = event["proof"]
            self.last_pickup[event["device"]] = t
        if "worker" in event:
            self.move_worker(index, t, event)

    # Partitions on their way to a worker.

    def move_partition(self, name, partition):
        if name in ("permit_asked", "synthesis_started", "synthesis_ended", "queued", "picked_up"):
            self.begun.add(partition[:2])
        if name in ("partition_ended", "stage_failed"):
            self.forget(partition)
        elif name == "permit_asked":
            self.begin(self.asked, partition)
        elif name == "permit_granted":
            self.asked.pop(partition, None)
        elif name == "synthesis_started":
            self.begin(self.synthesis, partition)
        elif name == "synthesis_ended":
            self.synthesis.pop(partition, None)
            self.begin(self.withheld, partition)
        elif name == "queued":
            self.asked.pop(partition, None)
            self.withheld.pop(partition, None)
            self.begin(self.queued, partition)
        elif name == "picked_up":
            self.queued.pop(partition, None)
            self.withheld.pop(partition, None)

    @staticmethod
    def begin(stage, partition):
        stage.pop(partition, None)  # one that begins again is the youngest
        stage[partition] = True

    def forget(self, partition):
        for stage in (self.synthesis, self.queued, self.withheld, self.asked):
            stage.pop(partition, None)

    def end_proof(self, proof):
        self.ended.add(proof)
        for stage in (self.synthesis, self.queued, self.withheld, self.asked):
            for partition in [one for one in stage if one[:2] == proof]:
                self.forget(partition)

    # Workers.

    def take_slot(self, number, device):
        """The worker, known from its first event on."""
        if number in self.workers:
            return self.workers[number]
        worker = self.workers[number] = Worker(device)
        slots = self.slots[device]
        if not self.slots_known:
            slots.extend([None] * (sum(one.device == device for one in self.workers.values()) - len(slots)))
        for place, owner in enumerate(slots):
            if owner is None:
                slots[place] = number
                return worker
        for place, owner in enumerate(slots):
            if self.workers[owner].state == "dead":
                slots[place] = number
                return worker
        slots.append(number)
        return worker

    def move_worker(self, index, t, event):
        name, number = event["e"], event["worker"]
        if name in ("picked_up", "worker_dead"):
            worker = self.take_slot(number, event["device"])
        else:
            worker = self.workers.get(number)
            if worker is None or worker.device != event["device"] or worker.at != partition_of(event):
                return
        moves_on = name == "picked_up" and worker.at != partition_of(event)
        if (moves_on or name == "worker_dead") and worker.state != "free":
            self.unknown.append((worker.device, worker.since, t))
        worker.events.append((index, t, False))
        if moves_on or name in ("put_down", "worker_dead"):
            self.lock.pop(number, None)
            begun = self.job.pop(number, None)
            if begun and name == "put_down":
                self.closed.append(("job", worker.device, begun[1], t))
                self.put_down.append((worker.device, begun[1], t))
        if name == "picked_up":
            worker.at = partition_of(event)
            self.job[number] = (worker.at, t)
        elif name == "lock_granted":
            self.lock[number] = (worker.at, t)
        elif name == "lock_released":
            held = self.lock.pop(number, None)
            if held and held[1] is not None:
                self.closed.append(("lock", worker.device, held[1], t))
        state = self.becomes.get(name, worker.state)
        if state != worker.state or moves_on:
            if state != "device" or moves_on:
                self.open = [one for one in self.open if one[0] == "kernel" or one[3] != number]
            if moves_on or state in ("free", "dead"):
                self.lose_kernels(number, None)
            worker.state, worker.since = state, t
        self.run_spans(index, t, event, worker)

    # Kernels, copies, waits.

    def run_spans(self, index, t, event, worker):
        name = event["e"]
        if worker.state in ("free", "dead"):
            return
        if name in SPANS:
            key = self.key(event)
            for span in [one for one in self.open if (one[0], one[1]) == (SPANS[name], key)]:
                self.open.remove(span)  # begins again: the end of the first never came
                if span[0] == "kernel":
                    self.lose_end(span, None)
            self.open.append((SPANS[name], key, worker.device, event["worker"], t, index, event))
        elif name in SPAN_ENDS:
            key = self.key(event)
            for span in self.open:
                if (span[0], span[1]) == (SPAN_ENDS[name], key):
                    self.open.remove(span)
                    self.close(span, t, index)
                    return
            if name == "kernel_ended":
                self.unknown.append((worker.device, worker.events[-2][1], t))

    def close(self, span, t, index):
        if span[0] != "wait":
            self.closed.append((span[0], span[2], span[4], t))
        if span[0] == "kernel" and span[4] < t:
            self.kernels.append(Span(span[2], span[4], t, partition_of(span[6]), span[5], float("inf") if index is None else index))

    @staticmethod
    def key(event):
        return partition_of(event) + (event["device"], event["worker"], event.get("stream"), event.get("kernel"), event.get("wait"))

    def lose_kernels(self, number, to):
        """Its worker is done with them: a kernel that has not ended has lost its end."""
        for span in [one for one in self.open if one[3] == number]:
            self.open.remove(span)
            if span[0] == "kernel":
                self.lose_end(span, None, to)

    def lose_end(self, span, end, to=None):
        """Unknown to the worker's next event after its start (`end`: the process's, where there is none), or just to `to`."""
        after = [to] if to is not None else [t for index, t, is_line in self.workers[span[3]].events if index > span[5] and not is_line]
        self.unknown.append((span[2], span[4], after[0] if after else end))

    def finish(self, end, lives):
        """The process's end; of one that lives, only the horizon: what is open then counts up to it."""
        if lives:
            for span in self.open:
                self.close(span, end, None)
            for number, held in self.lock.items():
                if held[1] is not None:
                    self.closed.append(("lock", self.workers[number].device, held[1], end))
            for number, begun in self.job.items():
                self.closed.append(("job", self.workers[number].device, begun[1], end))
            return
        for span in self.open:
            if span[0] == "kernel":
                self.lose_end(span, end)
        for worker in self.workers.values():
            if worker.state not in ("free", "dead"):
                self.unknown.append((worker.device, worker.since, end))

    # A state line that ends a loss.

    def put_right(self, index, t, state):
        for line in state["workers"]:
            number = line["worker"]
            if line["device"] not in self.slots:
                continue
            worker = self.take_slot(number, line["device"])
            before = worker.at
            if line["is"] not in ("free", "dead") and line["proof"] is not None:
                worker.at = partition_of(line)
            worker.state, worker.since = line["is"], t
            worker.events.append((index, t, True))
            if worker.state != "device" or worker.at != before:
                self.lose_kernels(number, t)
            if worker.state in ("free", "dead") or worker.at != before:
                self.job.pop(number, None)
        holders = [line["holder"] for line in state["lock"] if line["holder"] in self.workers]
        before = self.lock
        self.lock = {}
        for number in holders:
            at = self.workers[number].at
            old = before.get(number)
            self.lock[number] = old if old and old[0] == at else (at, None)
        self.ready = state["phase"] != "starting"
        self.loading = {line["circuit"] for line in state["params"] if line["is"] == "loading"}
        listed = {partition_of(line) for line in state["synthesisers"] if line["proof"] is not None}
        self.synthesis = {one: True for one in self.synthesis if one in listed}
        for stage, count in ((self.queued, state["queued"]), (self.withheld, state["withheld"])):
            while len(stage) > count:
                del stage[next(iter(stage))]
