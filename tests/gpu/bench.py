"""What checks share: the tools of the machine, building programs, recording, asking the recording."""

import copy
import csv
import importlib.metadata
import itertools
import os
import platform
import shutil
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import toolkit

PROGRAMS = Path(__file__).with_name("programs")
LIMIT_S = 300
COUNT_DEVICES = """import ctypes
cuda, count = ctypes.CDLL("libcuda.so.1"), ctypes.c_int()
print(count.value if cuda.cuInit(0) or cuda.cuDeviceGetCount(ctypes.byref(count)) else count.value)"""


class Skip(Exception):
    """A check cannot be made here; the text says why. Figures that it has all the same are in the report."""

    def __init__(self, reason, figures=None):
        super().__init__(reason)
        self.figures = figures


class Missing(Exception):
    """A program did not do what a check needs; the text says what is missing, and what the program said."""


class Bench:
    def __init__(self, build, out, is_long=False, until=None):
        self.borescope = build / "bin" / "borescope"
        self.library = build / "lib" / "libborescope_record.so"
        self.out = out
        self.is_long = is_long  # longer runs, with the same figures
        self.until = until  # by time.monotonic; nothing runs for long after it
        self.numbers = itertools.count(1)  # of recordings
        self.lock = threading.Lock()
        self.kept = {}  # by name: a lock, and what was found out once
        self.label = ""  # of the check that it is for
        self.folders = []  # recordings of that check
        self.failed = []  # programs of that check that ended otherwise than they were to, recorded

    def of_check(self, number):
        """The same for one check, which knows what it recorded."""
        mine = copy.copy(self)
        mine.label, mine.folders, mine.failed = f"check{number}-", [], []
        return mine

    # ---- running programs ----

    def limit(self):
        """Seconds that a program may take."""
        return LIMIT_S if self.until is None else max(5.0, min(LIMIT_S, self.until - time.monotonic() + 10))

    def execute(self, command, env=None, limit=None):
        """A program that is too late is ended, with all that it started."""
        process = subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   env=env, start_new_session=True)
        try:
            out, err = process.communicate(timeout=limit or self.limit())
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            raise
        return subprocess.CompletedProcess(command, process.returncode, out, err)

    def output(self, *command):
        """What it prints, or nothing if it fails."""
        result = self.try_to(*command)
        return result.stdout.strip() if result is not None and result.returncode == 0 else ""

    def try_to(self, *command):
        """None if it cannot be started, or takes long."""
        try:
            return self.execute(command, limit=min(60, self.limit()))
        except (OSError, subprocess.TimeoutExpired):
            return None

    def plain(self, *command, **more):
        return self.execute(command, env=self.variables() | more)

    def together(self, *calls):
        """The results of functions that run at the same time."""
        with ThreadPoolExecutor(len(calls)) as pool:
            return [each.result() for each in [pool.submit(call) for call in calls]]

    def once(self, name, find):
        """What find() returns, which is called once in the life of the list."""
        with self.lock:
            lock, found = self.kept.setdefault(name, (threading.Lock(), []))
        with lock:
            if not found:
                found.append(find())
        return found[0]

    # ---- the machine ----

    def inventory(self):
        nvcc = toolkit.find_nvcc()
        return {"system": " ".join(platform.uname()), "python": sys.version.split()[0],
                "gpu": self.output("nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"),
                "nvcc": self.output(nvcc, "--version").split("\n")[-2:] if nvcc else [],
                "torch": version("torch"), "jax": version("jax"),
                "borescope": self.output(self.borescope, "--version")}

    def require(self, need):
        reasons = {
            "gpu": (self.has_gpu, "no NVIDIA GPU, or no driver"),
            "nvcc": (toolkit.find_nvcc, "nvcc is neither in PATH nor in CUDA_HOME nor a package of this Python"),
            "cupti.h": (toolkit.find_cupti_header, "cupti.h is neither beside nvcc nor in a package of this Python"),
            "torch": (self.has_torch, f"{sys.executable} has no PyTorch that sees a GPU"),
            "jax": (self.has_jax, f"{sys.executable} has no JAX that sees a GPU"),
            "ops": (lambda: self.has_option("--ops"), "this build has no --ops"),
            "python": (lambda: self.has_option("--python"), "this build has no --python"),
            "python side": (self.has_python_side, "the Python side of the recorder is missing: "
                            f"{self.library.parent}/python/borescope_record or BORESCOPE_RECORD_PYTHON_FOLDER"),
            "sanitizer": (lambda: shutil.which("compute-sanitizer"), "compute-sanitizer is not in PATH"),
        }
        holds, reason = reasons[need]
        if not self.borescope.exists() or not self.library.exists():
            raise Skip(f"{self.borescope} or {self.library} is missing: build them")
        if not self.once(f"needs {need}", holds):
            raise Skip(reason)

    def has_gpu(self):
        """By the driver where there is no nvidia-smi, as in some containers. In a process of its own: a driver that hangs
        or dies is none."""
        return bool(self.output("nvidia-smi", "-L")) or self.output(sys.executable, "-c", COUNT_DEVICES) not in ("", "0")

    def has_torch(self):
        return self.output(sys.executable, "-c", "import torch; print(torch.cuda.is_available())") == "True"

    def has_jax(self):
        return self.output(sys.executable, "-c", "import jax; print(jax.default_backend())").endswith(("gpu", "cuda"))

    def has_option(self, option):
        return option in self.output(self.borescope, "record", "--help")

    def has_python_side(self):
        places = [os.environ.get("BORESCOPE_RECORD_PYTHON_FOLDER", ""),
                  self.library.parent / "python/borescope_record/startup",
                  self.library.parent.parent / "borescope_record/startup"]
        return any(place and Path(place, "sitecustomize.py").exists() for place in places)

    # ---- programs ----

    def program(self, *flags, source="work.cu", libraries=()):
        """A program of programs/, compiled once for each set of flags."""
        name = Path(source).stem + "".join(flags).replace("-", "_").replace("=", "_")
        return self.once(f"program {name}", lambda: self.compile(self.out / name, source, flags, libraries))

    def compile(self, path, source, flags, libraries):
        result = self.execute([toolkit.find_nvcc(), "-O2", *flags, *toolkit.includes(), PROGRAMS / source, "-o", path,
                               *libraries])
        if result.returncode != 0:
            raise Skip(f"nvcc refused programs/{source}: {first_error(result.stdout + result.stderr)}")
        return path

    def variables(self):
        kept = {name: value for name, value in os.environ.items()
                if not name.startswith(("LD_PRELOAD", "NVTX_INJECTION", "CUDA_INJECTION"))}
        return kept | {"BORESCOPE_RECORD_LIBRARY": str(self.library)}

    # ---- recordings ----

    def new_run(self):
        """The name of a recording that does not exist: the folder may hold those of an earlier list."""
        while True:
            folder = self.out / f"{self.label}run{next(self.numbers)}.bsr"
            if not folder.exists():
                self.folders.append(folder)
                return folder

    def words(self, folder, command, options=()):
        return [str(word) for word in
                (self.borescope, "record", "-q", "-o", folder, *options, "--", *command)]

    def record(self, *command, options=(), status=0, **more):
        """The folder of the run, and how its program ended, which is to be with this status."""
        folder = self.new_run()
        result = self.plain(*self.words(folder, command, options), **more)
        if result.returncode != status:
            self.failed.append((command, status, more))
        if not folder.exists():
            raise Missing(f"{' '.join(map(str, ('record', *options)))} made no recording: "
                          f"{last_line(result.stderr) or f'status {result.returncode}'}")
        return folder, result

    def fails_plainly(self):
        """Why the machine is at fault and not the recorder: a program of this check that does not run without one
        either. Nothing where all do, or there is no time to try."""
        for command, status, more in self.failed:
            name = " ".join(Path(str(word)).name for word in command)
            if self.until is not None and time.monotonic() > self.until:
                break
            try:
                result = self.plain(*command, **more)
            except OSError as error:
                return f"{name} does not start: {error}"
            except subprocess.TimeoutExpired as late:
                return f"{name} is not done within {late.timeout:.0f} s without recording either"
            if result.returncode != status:
                return f"{name} fails without recording, too (status {result.returncode}): {last_line(result.stderr)}"
        return ""

    def start(self, *command, options=()):
        folder = self.new_run()
        process = subprocess.Popen(self.words(folder, command, options), env=self.variables(), text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        return folder, process

    def query(self, statement, run):
        """Rows of numbers, or of texts where they are none."""
        result = self.plain(self.borescope, "query", "-q", statement, run, "-f", "csv")
        if result.returncode != 0:
            raise Missing(f"{statement}: {last_line(result.stderr)}")
        return [[number(cell) for cell in row] for row in csv.reader(table_lines(result.stdout))][1:]

    def value(self, statement, run):
        rows = self.query(statement, run)
        if not rows:
            raise Missing(f"{statement}: no row")
        return rows[0][0]

    def doctor(self, run):
        """Checks of `doctor` that found something that is wrong with the recording."""
        return sorted({check for check, _ in self.findings(run)})

    def findings(self, run):
        """The same, with the first that each found."""
        result = self.plain(self.borescope, "doctor", "-q", run, "-f", "csv")
        if result.returncode != 0:
            raise Missing(f"doctor: {last_line(result.stderr)}")
        bad = ("torn-chunk", "dropped-records", "recording-gap", "unlinked-device-event")
        quality = result.stdout.partition("\n# ")[0]  # the first table
        return [(row["check"], row["first"]) for row in csv.DictReader(table_lines(quality))
                if row["check"] in bad and row["severity"] not in ("ok", "n/a")]


def version(package):
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return ""


def table_lines(text):
    return [line for line in text.splitlines() if line and not line.startswith("#")]


def first_error(text):
    """Of what a compiler said: the last line only counts errors."""
    return next((line.strip() for line in text.splitlines() if "error" in line), "") or last_line(text)


def last_line(text):
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1].strip() if lines else ""


def plain_number(result):
    """The number that a program printed last which was not recorded: where it fails, the machine cannot do it."""
    try:
        return last_number(result)
    except Missing as missing:
        raise Skip(f"without recording {missing}") from None


def last_number(result):
    """The number that a program printed last."""
    words = result.stdout.split()
    try:
        return float(words[-1])
    except (IndexError, ValueError):
        command = " ".join(Path(str(word)).name for word in result.args)
        raise Missing(f"{command} printed no figure (status {result.returncode}): {last_line(result.stderr)}") from None


def number(cell):
    try:
        return float(cell) if "." in cell or "e" in cell else int(cell)
    except ValueError:
        return cell
