"""Logs of jobs that ended in a known way, as several launchers write them."""

import json
import random

LAUNCHERS = ("torchrun", "torchrun_plain", "srun", "mpirun", "hydra", "per_rank", "elastic", "deepspeed", "accelerate", "ray")
# What launchers say of who was first, or logs by their order: of the others nothing does.
UNORDERED = {"per_rank"}
ENDS = ("exception", "out of memory", "signal")
# Texts of failures that follow from another one, without saying so.
LATER = ("RuntimeError: peer lost", "AssertionError: metrics queue closed", "KeyError: 'loss'")
OUT_OF_MEMORY = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.11 GiB "
    "of which 1.20 GiB is free."
)


def traceback(text, line):
    return ["Traceback (most recent call last):", f'  File "/app/train.py", line {line}, in main', "    step(batch)", text]


def clock(style, second):
    """The time of a line, seconds after 10:00:00."""
    at = f"10:{second // 60:02}:{second % 60:02}"
    return {
        "none": "",
        "zone": f"2026-11-01T{at}.250+00:00 ",
        "python": f"2026-11-01 {at},250 ",
        "slashes": f"2026/11/01 {at} ",
    }[style]


def summary(failures):
    """torchrun's; failures are (second, rank, code), the first one the root cause."""

    def block(number, second, rank, code):
        return [
            f"[{number}]:",
            f"  time      : 2026-11-01_10:{second // 60:02}:{second % 60:02}",
            "  host      : n1",
            f"  rank      : {rank} (local_rank: {rank})",
            f"  exitcode  : {code} (pid: {100 + rank})",
            "  error_file: <N/A>",
            "  traceback : To enable traceback see: https://pytorch.org/docs/stable/elastic/errors.html",
        ]

    lines = ["=" * 60, "train.py FAILED", "-" * 60, "Failures:"]
    for number, failure in enumerate(failures[1:], 1):
        lines += block(number, *failure)
    lines += [] if failures[1:] else ["  <NO_OTHER_FAILURES>"]
    lines += ["-" * 60, "Root Cause (first observed failure):", *block(0, *failures[0]), "=" * 60]
    return lines


def error_file(text, second):
    return json.dumps({"message": {"message": text, "extraInfo": {"py_callstack": "\n".join(traceback(text, 31)), "timestamp": str(1793527200 + second)}}})


def prefix(launcher, rank):
    return {
        "torchrun": f"[rank{rank}]: ",
        "srun": f"{rank}: ",
        "mpirun": f"[1,{rank}]<stderr>:",
        "hydra": f"[{rank}] ",
        "ray": f"(TrainWorker pid={100 + rank}, ip=10.0.0.{rank}) ",
    }.get(launcher, "")


class Job:
    """One rank fails first; some others fail later, and more only report that."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.launcher = self.rng.choice(LAUNCHERS)
        self.world = self.rng.choice((2, 4, 8, 16))
        self.rank = self.rng.randrange(self.world)
        self.end = self.rng.choice(ENDS)
        if self.launcher in ("elastic", "per_rank", "ray") and self.end == "signal":
            self.end = "exception"
        self.clock = self.rng.choice(("none", "zone", "python", "slashes"))
        others = [rank for rank in range(self.world) if rank != self.rank]
        self.rng.shuffle(others)
        self.later = others[: self.rng.randrange(3)]
        self.reports = others[2:4]
        self.caught = self.rng.random() < 0.4
        self.delay = self.rng.choice((5, 30))
        self.has_no_rank = self.launcher in ("torchrun_plain", "deepspeed", "accelerate", "ray")
        self.is_ordered = self.launcher not in UNORDERED or self.clock != "none" or not self.later

    def text(self):
        return {"exception": "ValueError: bad batch", "out of memory": OUT_OF_MEMORY, "signal": ""}[self.end]

    def truth(self):
        """The kind and the rank of the first finding; no rank where no log has one."""
        if self.launcher == "torchrun_plain" and self.end == "signal":
            return "signal", self.rank
        if self.end == "signal":
            return "signal", None if self.launcher in ("deepspeed", "accelerate", "srun") else self.rank
        return self.end, None if self.has_no_rank else self.rank

    def line(self, rank, second, text):
        if text is None:
            return f"srun: error: n1: task {rank}: Segmentation fault (core dumped)"
        return prefix(self.launcher, rank) + clock(self.clock, second) + text

    def of_rank(self, rank):
        """The lines of a rank, each with its second."""
        lines = []
        if self.caught and rank in (self.rank, 0):
            lines += [(1, text) for text in traceback("OSError: retry", 12)]
            lines += [(1, "retrying")]
        lines += [(2 + step, f"step {step} loss {3 - step / 50:.3f}") for step in range(40)]
        if rank == self.rank:
            lines += [(60, text) for text in (traceback(self.text(), 31) if self.text() else [])]
            if self.launcher == "srun" and self.end == "signal":
                lines.append((60, None))  # srun reports it at once
        elif rank in self.later:
            second = 60 + self.delay + self.later.index(rank)
            lines += [(second, text) for text in traceback(LATER[rank % len(LATER)], 44)]
        elif rank in self.reports:
            lines += [(62, text) for text in traceback("RuntimeError: Connection closed by peer [10.0.0.2]:3333", 40)]
        return lines

    def status(self):
        """What the launcher says at the end."""
        codes = {"exception": 1, "out of memory": 1, "signal": -11}
        code = codes[self.end]
        failures = [(60, self.rank, code)] + [(60 + self.delay + i, rank, 1) for i, rank in enumerate(self.later)]
        if self.launcher in ("torchrun", "torchrun_plain", "elastic"):
            return [f"W1101 10:01:00.000 site-packages/torch/distributed/elastic/multiprocessing/api.py:897] Sending process {100 + rank} closing signal SIGTERM" for rank in range(self.world)] + summary(failures)
        if self.launcher == "srun":
            first = [] if code < 0 else [f"srun: error: n1: task {self.rank}: Exited with exit code 1"]
            return [*first, "srun: error: n1: tasks 0-15: Terminated"]
        if self.launcher == "mpirun" and code < 0:
            return [f"mpirun noticed that process rank {self.rank} with PID {100 + self.rank} on node n1 exited on signal 11 (Segmentation fault)."]
        if self.launcher == "mpirun":
            return ["mpirun detected that one or more processes exited with non-zero status, thus causing", "the job to be terminated. The first process to do so was:", "", f"  Process name: [[12345,1],{self.rank}]", "  Exit code:    1"]
        if self.launcher == "hydra":
            ended = "=   KILLED BY SIGNAL: 11 (Segmentation fault)" if code < 0 else "=   EXIT STATUS: 1"
            return ["=" * 60, "=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES", f"=   RANK {self.rank} PID {100 + self.rank} RUNNING AT n1", ended, "=" * 60]
        if self.launcher == "deepspeed":
            return [f"[2026-11-01 10:02:00,000] [INFO] [launch.py:316:sigkill_handler] Killing subprocess {100 + rank}" for rank in range(self.world)] + [f"[2026-11-01 10:02:01,000] [ERROR] [launch.py:322:sigkill_handler] ['/usr/bin/python', '-u', 'train.py', '--local_rank=0'] exits with return code = {code}"]
        if self.launcher == "accelerate":
            died = "died with <Signals.SIGSEGV: 11>." if code < 0 else "returned non-zero exit status 1."
            return ["Traceback (most recent call last):", '  File "/usr/bin/accelerate", line 8, in <module>', f"subprocess.CalledProcessError: Command '['/usr/bin/python', 'train.py']' {died}"]
        return []

    def files(self):
        if self.launcher == "elastic":
            files = {f"attempt_0/{self.rank}/error.json": error_file(self.text(), 60)}
            for i, rank in enumerate(self.later):
                files[f"attempt_0/{rank}/error.json"] = error_file(LATER[rank % len(LATER)], 60 + self.delay + i)
            return files
        if self.launcher == "per_rank":
            return {f"rank_{rank}.log": "\n".join(self.line(rank, *line) for line in self.of_rank(rank)) + "\n" for rank in range(self.world)}
        # Ranks take turns, and tracebacks may be torn where lines have a prefix.
        lines = [(second, i, self.line(rank, second, text)) for rank in range(self.world) for i, (second, text) in enumerate(self.of_rank(rank))]
        if not prefix(self.launcher, 0):
            lines = [(second, i + 1000 * rank, text) for rank in range(self.world) for second, i, text in [(s, j, self.line(rank, s, t)) for j, (s, t) in enumerate(self.of_rank(rank))]]
        lines.sort(key=lambda line: line[:2])
        return {"job.log": "\n".join([line[2] for line in lines] + self.status()) + "\n"}


def slurm(reason, tasks, first=""):
    """Slurm's own lines about a job of which no rank says anything."""
    cancelled = f"slurmstepd: error: *** STEP 77.0 ON n1 CANCELLED AT 2026-11-01T10:00:00{reason} ***"
    return {"slurm-77.out": "\n".join(["step 1"] + ([first] if first else []) + [cancelled, *tasks]) + "\n"}


RESTART = "I1101 10:01:01.0 12 torch/distributed/elastic/agent/server/api.py:879] [default] Worker group FAILED. 2/3 attempts left; will restart worker group"
STEPS = [f"step {i}" for i in range(300)]
CAUGHT = traceback("OSError: retry", 12)
PROGRESS = [f"\r{i:3}%|{'#' * (i // 10):10}| {i}/100 [00:{i // 60:02}:{i % 60:02}, 2.1it/s]" for i in range(100)]
HOST_MEMORY = "slurmstepd: error: Detected 1 oom_kill event in StepId=77.0. Some of the step tasks have been OOM Killed."

# Name, files, kind and ranks of the first finding of severity error, or "none".
CASES = [
    ("time limit, then killed", slurm(" DUE TO TIME LIMIT", ["srun: error: n1: task 3: Killed"]), "time limit", None),
    ("time limit, killed first", slurm(" DUE TO TIME LIMIT", [], "srun: error: n1: tasks 0-3: Killed"), "time limit", None),
    ("time limit, then an exception", slurm(" DUE TO TIME LIMIT", traceback("KeyboardInterrupt", 9)), "time limit", None),
    ("time limit, then exit codes", slurm(" DUE TO TIME LIMIT", ["srun: error: n1: task 0: Exited with exit code 143"]), "time limit", None),
    ("preemption", slurm(" DUE TO PREEMPTION", ["srun: error: n1: tasks 0-3: Terminated"]), "preemption", None),
    ("preemption, then killed", slurm(" DUE TO PREEMPTION", ["srun: error: n1: tasks 0-3: Killed"]), "preemption", None),
    ("node failure", slurm(" DUE TO NODE FAILURE, SEE SLURMCTLD LOG FOR DETAILS", [], "srun: error: n1: tasks 0-3: Killed"), "node failure", None),
    ("node failure by srun", {"slurm-7.out": "srun: error: Node failure on n12\nsrun: error: n12: task 3: Killed\n"}, "node failure", None),
    ("cancelled", slurm("", ["srun: error: n1: tasks 0-3: Killed"]), "cancelled", None),
    ("a task failed, then cancelled", slurm("", ["srun: error: n1: tasks 0-2: Killed"], "srun: error: n1: task 3: Exited with exit code 1"), "tasks", None),
    ("an exception, then cancelled", {"slurm-7.out": "\n".join(traceback("ValueError: x", 3) + ["srun: error: n1: task 3: Exited with exit code 1"]) + "\n" + slurm("", ["srun: error: n1: tasks 0-2: Killed"])["slurm-77.out"]}, "exception", None),
    ("host memory", {"slurm-7.out": HOST_MEMORY + "\nsrun: error: n1: task 5: Out Of Memory\n"}, "host memory", None),
    ("host memory, then killed", {"slurm-7.out": HOST_MEMORY + "\nsrun: error: n1: task 5: Killed\n"}, "host memory", None),
    ("host memory of a task", {"slurm-7.out": "srun: error: n1: task 5: Out Of Memory\nsrun: error: n1: tasks 0-4: Killed\n"}, "host memory", None),
    ("segmentation fault of a task", {"slurm-7.out": "srun: error: n1: task 3: Segmentation fault (core dumped)\nsrun: error: n1: tasks 0-2: Terminated\n"}, "signal", None),
    ("caught, then 300 steps", {"job.log": "\n".join(CAUGHT + ["retrying", *STEPS, "Training finished"])}, "none", None),
    ("caught, then a bar of progress", {"job.log": "\n".join(CAUGHT + ["retrying"]) + "\n" + "".join(PROGRESS) + "\n"}, "none", None),
    ("caught by a rank, then steps", {"job.log": "\n".join(f"[rank2]: {line}" for line in [*CAUGHT, *STEPS])}, "none", None),
    ("caught in every tenth step", {"job.log": "\n".join("\n".join([*CAUGHT, *STEPS[i : i + 10]]) for i in range(0, 300, 10))}, "none", None),
    ("caught out of memory, then steps", {"job.log": "\n".join(traceback(OUT_OF_MEMORY, 12) + ["smaller batch", *STEPS])}, "none", None),
    ("caught, then another one at the end", {"job.log": "\n".join([*CAUGHT, *STEPS, *traceback("ValueError: bad batch", 31)])}, "exception", None),
    ("caught, and the same at the end", {"job.log": "\n".join([*CAUGHT, *STEPS, *CAUGHT])}, "exception", None),
    ("an exception, others go on for two steps", {"job.log": "\n".join(traceback("ValueError: bad batch", 31) + [f"step {12 + i // 8} loss 2.{i}" for i in range(16)])}, "exception", None),
    ("an exception, others go on, exit code", {"job.log": "\n".join(traceback("ValueError: bad batch", 31) + STEPS + ["srun: error: n1: task 3: Exited with exit code 1"])}, "exception", None),
    ("an exception, then closing signals", {"job.log": "\n".join(traceback("ValueError: bad batch", 31) + [f"W1101 10:00:00.1 12 torch/distributed/elastic/multiprocessing/api.py:897] Sending process {100 + i} closing signal SIGTERM" for i in range(20)])}, "exception", None),
    ("an exception with a C++ stack", {"job.log": "\n".join(traceback("RuntimeError: CUDA error: device-side assert triggered", 31) + [f"frame #{i}: c10::Error::Error() + 0x{i}7 (0x7f in /app/libc10.so)" for i in range(20)])}, "exception", None),
    ("only reported by Python", {"job.log": "\n".join(["Exception ignored in: <function Pool.__del__ at 0x7f>", *CAUGHT, "Training finished"])}, "none", None),
    ("an error of logging", {"job.log": "\n".join(["--- Logging error ---", *CAUGHT, "Training finished"])}, "none", None),
    ("raised while another one was handled", {"rank_1.log": "\n".join(traceback("KeyError: 'x'", 3) + ["", "During handling of the above exception, another exception occurred:", "", *traceback("ValueError: bad batch", 31)])}, "exception", 1),
    ("raised while a lost peer was handled", {"job.log": "\n".join(f"[rank1]: {line}" for line in traceback("RuntimeError: Connection closed by peer", 3) + ["", "During handling of the above exception, another exception occurred:", "", *traceback("RuntimeError: cannot save", 31)]) + "\n" + "\n".join(f"[rank2]: {line}" for line in traceback("ValueError: bad batch", 31))}, "exception", 2),
    ("root cause by torchrun", {"err.txt": "\n".join(summary([(0, 3, -9), (5, 0, 1)])), "dmesg.log": "[ 100.1] Out of memory: Killed process 103 (python) total-vm:1kB, anon-rss:2kB\n"}, "host memory", 3),
    ("root cause in the same second", {"err.txt": "\n".join(summary([(0, 2, -9), (0, 0, 1)]))}, "signal", 2),
    ("summaries of two nodes", {"node0.log": "\n".join(summary([(9, 1, 1), (10, 0, 1)])), "node1.log": "\n".join(summary([(2, 9, -11), (8, 8, 1)]))}, "signal", 9),
    ("out of memory before an exception", {"0/error.json": error_file("KeyError: 'x'", 5), "6/error.json": error_file(OUT_OF_MEMORY, 0)}, "out of memory", 6),
    ("an exception before out of memory", {"0/error.json": error_file(OUT_OF_MEMORY, 5), "6/error.json": error_file("KeyError: 'x'", 0)}, "exception", 6),
    ("torchrun's agent alone", {"job.log": "E1101 10:00:00.0 12 torch/distributed/elastic/multiprocessing/api.py:869] failed (exitcode: -9) local_rank: 2 (pid: 102) of binary: /usr/bin/python\n"}, "signal", 2),
    ("Ray repeats a worker's exception", {"driver.log": "\n".join(["Traceback (most recent call last):", '  File "/app/driver.py", line 9, in <module>', "ray.exceptions.RayTaskError(ValueError): ray::train() (pid=12, ip=10.0.0.2)", '  File "/app/train.py", line 31, in train', "ValueError: bad batch"])}, "exception", None),
    ("Ray's actor died of another one", {"driver.log": "\n".join(traceback("ray.exceptions.RayActorError: The actor died unexpectedly before finishing this task.", 9)), "worker.log": "\n".join(f"(TrainWorker pid=77) {line}" for line in traceback("ValueError: bad batch", 31))}, "exception", None),
    ("a restart, then another exception", {"job.log": "\n".join([f"[rank3]: {line}" for line in traceback("ValueError: flaky storage", 31)] + ["E1101 10:01:00.0 12 torch/distributed/elastic/multiprocessing/api.py:869] failed (exitcode: 1) local_rank: 3 (pid: 103) of binary: /usr/bin/python", RESTART] + STEPS[:80] + [f"[rank1]: {line}" for line in traceback("AssertionError: shape", 55)] + summary([(0, 1, 1)]))}, "exception", 1),
    ("a restart, then the end", {"job.log": "\n".join([f"[rank3]: {line}" for line in traceback("ValueError: flaky storage", 31)] + [RESTART, *STEPS[:80], "Training finished"])}, "none", None),
    ("the time is above the traceback", {f"rank{rank}.log": "\n".join([f"2026-11-01 10:{minute}:31,000 ERROR", *traceback("ValueError: bad", 31 + rank)]) for rank, minute in ((0, "05"), (1, "01"))}, "exception", 1),
    ("logs numbered by rank", {f"log_{rank}.err": "\n".join(["step 1", *traceback("ValueError: bad" if rank == 2 else "RuntimeError: Connection closed by peer", 31)]) for rank in range(4)}, "exception", 2),
    ("folders numbered by rank", {f"{rank}/stderr": "\n".join(["step 1", *traceback("ValueError: bad" if rank == 2 else "RuntimeError: Connection closed by peer", 31)]) for rank in range(4)}, "exception", 2),
    ("logs named rank=2", {"rank=2.log": "\n".join(traceback("ValueError: bad", 31))}, "exception", 2),
    ("numbers with a gap are no ranks", {f"log_{number}.err": "\n".join(traceback("ValueError: bad", 31)) for number in (0, 2)}, "exception", ""),
    ("places on nodes are no ranks", {f"local_rank{place}.log": "\n".join(traceback("ValueError: bad" if place == 2 else "RuntimeError: Connection closed by peer", 31)) for place in range(4)}, "exception", ""),
    ("a healthy log", {"job.log": "\n".join([f"step {i} loss {2 - i / 100} error_rate 0.1" for i in range(100)] + ["Training finished"])}, "none", None),
]
