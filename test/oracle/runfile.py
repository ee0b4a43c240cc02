"""Reads runs as files (native/timeline/FORMAT.md, section 10) and puts every instant on the run's axis. Exact integers throughout."""
import json


class Process:
    """One prover process's part of a run. `steps`: its events and healing state lines, (t, seq) in order, t on the run's axis."""

    def __init__(self, head, hello):
        self.head, self.hello, self.events, self.losses = head, hello, [], []
        self.steps, self.offset, self.end, self.lives = [], 0, None, False

    def settle(self, run, is_last):
        first = run.processes[0]
        if self.hello["boot_id"] == first.hello["boot_id"]:
            self.offset = int(self.hello["monotonic_ns"]) - int(first.hello["monotonic_ns"]) - first.head["started_t"]
        else:
            self.offset = max(0, int(self.hello["wall_ns"]) - int(first.hello["wall_ns"]) - first.head["started_t"])
        self.begin = self.hello["t"] + self.offset
        self.from_start = self.head["seq_from"] == 0
        if self.from_start:
            self.events.insert(0, self.hello)
        has_ended = self.head["ended"] is not None or self.head["ended_t"] is not None
        self.lives = is_last and run.head["state"] == "running" and not has_ended
        self.losses = [loss for loss in self.losses if loss["count"] > loss["filled"]]

    def look(self, horizon):
        """Orders what happened before the horizon and finds the process's end."""
        steps = [(event["t"] + self.offset, event["seq"], event) for event in self.events]
        for loss in self.losses:
            if loss["state"] is not None:
                steps.append((loss["state"]["t"] + self.offset, loss["state"]["upto"] + 0.5, loss["state"]))
        self.steps = sorted((step for step in steps if horizon is None or step[0] < horizon), key=lambda step: step[:2])
        byes = [t for t, _, event in self.steps if event["e"] == "bye"]
        seen = [t for t, _, event in self.steps if event["e"] != "state"]
        if byes:
            self.end, self.lives = byes[0], False
        elif self.lives:
            self.end = horizon
        else:
            mark = self.head["horizon"]
            self.end = max(seen + ([] if mark is None or self.head["seq_to"] is not None else [mark + self.offset]), default=self.begin)
            if horizon is not None:
                self.end = min(self.end, horizon)
        # A state line from after the end (its run was over, or nothing more was written) tells nothing of before.
        self.steps = [step for step in self.steps if step[2]["e"] != "state" or step[0] <= self.end]


class Run:
    def __init__(self, head):
        self.head, self.processes, self.holds = head, [], []

    def settle(self):
        for process in self.processes:
            process.settle(self, process is self.processes[-1])
        last = self.processes[-1]
        self.horizon = None
        if last.lives:
            self.horizon = last.head["horizon"] + last.offset
        for process in self.processes:
            process.look(self.horizon)
        self.events = [step for process in self.processes for step in process.steps if step[2]["e"] != "state"]
        # A run_started after a run_ended (a later process goes on with the run) opens the wall again.
        bounds = [(t, event["e"]) for t, _, event in self.events if event["e"] in ("run_started", "run_ended")]
        has_ended = bool(bounds) and bounds[-1][1] == "run_ended"
        if has_ended:
            self.wall = bounds[-1][0]
        elif self.horizon is not None:
            self.wall = self.horizon
        else:
            self.wall = max((t for t, _, _ in self.events), default=0)
        self.wall = max(0, self.wall)
        self.lasts = self.horizon is not None and not has_ended
        # The stretch in which each process counts: where two overlap, the later one from the earlier one's end on.
        reached = None
        for process in self.processes:
            process.counts_from = process.begin if reached is None else max(process.begin, reached)
            reached = process.end if reached is None else max(reached, process.end)

    def devices(self):
        """Every device of the run and its kind, in the order in which they are named."""
        found = {}
        for process in self.processes:
            for device in process.hello["devices"]:
                found.setdefault(device["device"], device["kind"])
        for _, _, event in self.events:
            if "device" in event:
                found.setdefault(event["device"], "")
        return list(found)


def read_runs(lines):
    """Several runs may follow one another."""
    run = head = None
    for text in lines:
        line = json.loads(text)
        if "interlock_run" in line:
            run = Run(line)
        elif "e" in line:
            if line["e"] == "hello":
                run.processes.append(Process(head, line))
            else:
                run.processes[-1].events.append(line)
        elif "loss" in line:
            run.processes[-1].losses.append(line)
        elif "process" in line:
            head = line
        elif "hold_from_ns" in line:
            run.holds.append((line["hold_from_ns"], line["hold_to_ns"]))
        elif "end" in line:
            run.settle()
            yield run
