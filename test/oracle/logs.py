"""The same for a log of the cuzk daemon: docs/idle-causes.md, "Logs that cannot tell"."""
from account import Account
from picture import Span, partition_of


class LogAccount(Account):
    def find_spans(self):
        """Job spans and lock windows. Spans of one worker may overlap. `self.spans`: windows, and jobs whose window was not placed."""
        steps, process = self.process.steps, self.process
        self.closed, self.unknown, self.spans = [], [], []
        self.windows, self.jobs = [], []
        for index, (t, _, event) in enumerate(steps):
            if event["e"] != "picked_up":
                continue
            device, partition = event["device"], partition_of(event)
            granted, released, end, cut = self.follow(index)
            window = None
            if released is not None:
                window = Span(device, steps[granted][0], steps[released][0], partition, granted, released)
                self.windows.append(window)
                self.spans.append(window)
                self.closed.append(("lock", device, window.start, window.end))
            if end is None and (cut is not None or not process.lives):
                # Failed or lost work: unknown to the worker's next event of another partition, or its picking up the same again.
                after = [later for later, _, other in steps[index + 1:] if other.get("worker") == event["worker"]
                         and "partition" in other and (partition_of(other) != partition or other["e"] == "picked_up")]
                self.unknown.append((device, t, after[0] if after else process.end))
                continue
            end_t = process.end if end is None else steps[end][0]
            job = Span(device, t, end_t, partition, index, len(steps) if end is None else end)
            self.jobs.append((job, window))
            self.closed.append(("job", device, t, end_t))
            if window is None:
                self.spans.append(job)
                if end is None and granted is not None:
                    self.closed.append(("lock", device, steps[granted][0], end_t))

    def follow(self, index):
        """Of the job picked up by that step: the steps of its lock_granted, lock_released, put_down, and of what keeps the end away."""
        event = self.process.steps[index][2]
        granted = released = None
        for later in range(index + 1, len(self.process.steps)):
            other = self.process.steps[later][2]
            if ends_partition(other, partition_of(event)):
                return granted, released, None, later
            if (other.get("device"), other.get("worker")) != (event["device"], event["worker"]):
                continue
            if partition_of(other) != partition_of(event):
                continue
            if other["e"] == "picked_up":
                return granted, released, None, later
            if other["e"] == "put_down":
                return granted, released, later, None
            if other["e"] == "lock_granted" and released is None:
                granted = later
            if other["e"] == "lock_released" and released is None and granted is not None:
                released = later
        return granted, released, None, None

    def calls(self):
        begun = {}
        for t, _, event in self.process.steps:
            if event["e"] in ("call_started", "put_down"):
                key = partition_of(event) + (event["device"], event["worker"])
                if event["e"] == "call_started":
                    begun[key] = t
                elif key in begun:
                    yield event["device"], begun.pop(key), t

    def is_called(self, job):
        """Whether the native call began for it: since the same worker last put the same partition down."""
        called = False
        for _, _, event in self.process.steps[:job.ended]:
            if event["e"] in ("call_started", "put_down") and partition_of(event) == job.partition:
                called = event["e"] == "call_started"
        return called

    def count(self, device):
        """Jobs that began, that ended, those of them with a native call, and lock windows."""
        ended = [job for job, _ in self.jobs if job.device == device and job.ended < len(self.process.steps)]
        begun = [event for _, _, event in self.process.steps if event["e"] == "picked_up" and event["device"] == device]
        windows = [window for window in self.windows if window.device == device]
        return len(begun), len(ended), sum(self.is_called(job) for job in ended), len(windows)

    def has_acceptance(self, index):
        return any(event["e"] == "proof_accepted" for _, _, event in self.process.steps[:index])

    def row(self, device, x, y):
        jobs = [(job, window) for job, window in self.jobs if job.device == device and job.covers(x, y)]
        eligible = self.eligible()
        if any(window.device == device and window.covers(x, y) for window in self.windows):
            return "lock_or_kernel", None
        if any(window is None for _, window in jobs):
            return "inside_job", None
        if any(y <= window.start for _, window in jobs) or (eligible and any(window.end <= x for _, window in jobs)):
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
