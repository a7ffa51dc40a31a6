"""What checks share: the tools of the machine, building programs, recording, asking the recording."""

import csv
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

PROGRAMS = Path(__file__).with_name("programs")
LIMIT_S = 300


class Skip(Exception):
    """A check cannot be made here; the text says why."""


class Bench:
    def __init__(self, build, out, quick):
        self.borescope = build / "bin" / "borescope"
        self.library = build / "lib" / "libborescope_record.so"
        self.out = out
        self.quick = quick
        self.runs = 0

    # ---- the machine ----

    def inventory(self):
        return {"system": " ".join(platform.uname()), "python": sys.version.split()[0],
                "gpu": self.output("nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"),
                "nvcc": self.output("nvcc", "--version").split("\n")[-2:],
                "torch": self.output(sys.executable, "-c", "import torch; print(torch.__version__)"),
                "borescope": self.output(self.borescope, "--version")}

    def output(self, *command):
        try:
            result = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False,
                                    timeout=60)
        except (OSError, subprocess.TimeoutExpired):
            return ""
        return result.stdout.strip() if result.returncode == 0 else ""

    def require(self, need):
        reasons = {
            "gpu": (self.has_gpu, "no NVIDIA GPU, or no driver"),
            "nvcc": (lambda: shutil.which("nvcc"), "nvcc is not in PATH"),
            "torch": (self.has_torch, f"{sys.executable} has no PyTorch that sees a GPU"),
            "ops": (lambda: self.has_option("--ops"), "this build has no --ops"),
            "python": (lambda: self.has_option("--python"), "this build has no --python"),
            "sanitizer": (lambda: shutil.which("compute-sanitizer"), "compute-sanitizer is not in PATH"),
        }
        holds, reason = reasons[need]
        if not self.borescope.exists() or not self.library.exists():
            raise Skip(f"{self.borescope} or {self.library} is missing: build them")
        if not holds():
            raise Skip(reason)

    def has_gpu(self):
        return bool(self.output("nvidia-smi", "-L"))

    def has_torch(self):
        return self.output(sys.executable, "-c", "import torch; print(torch.cuda.is_available())") == "True"

    def has_option(self, option):
        return option in self.output(self.borescope, "record", "--help")

    # ---- programs ----

    def program(self, *flags):
        """programs/work.cu, compiled once for each set of flags."""
        path = self.out / ("work" + "".join(flags).replace("-", "_").replace("=", "_"))
        if not path.exists():
            result = subprocess.run(["nvcc", "-O2", *flags, PROGRAMS / "work.cu", "-o", path, "-lcuda"],
                                    capture_output=True, text=True, check=False, timeout=LIMIT_S)
            (self.out / f"{path.name}.nvcc.txt").write_text(result.stdout + result.stderr, encoding="utf-8")
            if result.returncode != 0:
                raise Skip(f"nvcc refused programs/work.cu; see {path.name}.nvcc.txt")
        return path

    def variables(self):
        kept = {name: value for name, value in os.environ.items()
                if not name.startswith(("LD_PRELOAD", "NVTX_INJECTION", "CUDA_INJECTION"))}
        return kept | {"BORESCOPE_RECORD_LIBRARY": str(self.library)}

    def plain(self, *command):
        return subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False,
                              timeout=LIMIT_S, env=self.variables())

    # ---- recordings ----

    def new_run(self):
        self.runs += 1
        return self.out / f"run{self.runs}.bsr"

    def words(self, folder, command, options=()):
        return [str(word) for word in
                (self.borescope, "record", "-q", "-o", folder, *options, "--", *command)]

    def record(self, *command, options=()):
        """The folder of the run, and how its program ended."""
        folder = self.new_run()
        return folder, self.plain(*self.words(folder, command, options))

    def start(self, *command, options=()):
        folder = self.new_run()
        process = subprocess.Popen(self.words(folder, command, options), env=self.variables(), text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        return folder, process

    def query(self, statement, run):
        """Rows of numbers, or of texts where they are none."""
        result = self.plain(self.borescope, "query", "-q", statement, run, "-f", "csv")
        if result.returncode != 0:
            raise RuntimeError(f"{statement}: {result.stderr}")
        lines = [line for line in result.stdout.splitlines() if not line.startswith("#")]
        return [[number(cell) for cell in row] for row in csv.reader(lines)][1:]

    def value(self, statement, run):
        return self.query(statement, run)[0][0]

    def doctor(self, run):
        """Codes of what is wrong."""
        result = self.plain(self.borescope, "doctor", run, "-f", "csv")
        return [word for word in ("torn-chunk", "dropped-records", "recording-gap", "unlinked-device-event")
                if word in result.stdout + result.stderr]


def number(cell):
    try:
        return float(cell) if "." in cell or "e" in cell else int(cell)
    except ValueError:
        return cell
