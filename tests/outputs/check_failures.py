#!/usr/bin/env python3
"""Checks that output which cannot be written does no harm.

    check_failures.py --borescope BIN

Every kind of file is written over an existing one, with and without .gz, while the disk "is full"
after any number of bytes (a limit on the size of files), a folder refuses new files, or an input is
bad. Each time the exit status is 2, one line on standard error names the file, what was there
before is there unchanged, and nothing else is. A reader that goes away is no failure.

Exit status: 0 all is well, 1 something is not.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

CONVERTED = ("out.json", "out.json.gz", "out.pftrace", "out.pftrace.gz", "out.rpd", "out.csv",
             "out.csv.gz")
TABLES = ("out.csv", "out.json", "out.txt")
# What other verbs write, and the words in front of its name.
OTHERS = (("r.html", ("report", "-o")), ("k.svg", ("kernels", "-f", "svg", "-o")),
          ("q.json", ("queue", "-o", "/dev/null", "--overlay")),
          ("c.json.gz", ("critical-path", "-o", "/dev/null", "--overlay")),
          ("c.graph", ("critical-path", "-o", "/dev/null", "--save")))
OLD = "what was there before"
EVENTS = 4000


def event(number: int) -> dict:
    """A kernel with a name of its own, so that files do not compress to nothing."""
    name = f"kernel_{number * 2654435761 % 2**32:08x}_{number * 40503 % 65536:04x}"
    return {"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7, "ts": number * 10,
            "dur": 5, "args": {"stream": 7, "correlation": number}}


class Checker:
    """Runs the program in a folder of its own and collects what is wrong."""

    def __init__(self, borescope: str, folder: Path) -> None:
        self.borescope = borescope
        self.inputs = folder / "in"
        self.outputs = folder / "out"
        self.inputs.mkdir()
        self.outputs.mkdir()
        self.faults: list[str] = []
        events = [event(number) for number in range(EVENTS)]
        self.trace = self.inputs / "t.json"
        self.trace.write_text(json.dumps({"traceEvents": events}))
        self.other = self.inputs / "u.json"
        self.other.write_text(json.dumps({"traceEvents": events[:10]}))
        self.bad = self.inputs / "bad.json"
        self.bad.write_text("no trace at all")

    def run(self, *words: object, limit: int | None = None) -> subprocess.CompletedProcess:
        def lower() -> None:
            if limit is not None:
                resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

        return subprocess.run([self.borescope, *map(str, words)], capture_output=True, text=True,
                              check=False, preexec_fn=lower)

    def expect_failure(self, what: str, path: Path, *words: object, limit: int | None = None,
                       exists: bool = True) -> None:
        for old in self.outputs.iterdir():
            old.unlink()
        if exists:
            path.write_text(OLD)
        done = self.run(*words, limit=limit)
        lines = done.stderr.splitlines()
        what = f"{what}: {path.name}"
        if done.returncode != 2:
            self.faults.append(f"{what}: exit status {done.returncode}: {done.stderr}")
        if not lines or not lines[0].startswith("borescope: "):
            self.faults.append(f"{what}: says {lines}")
        if sorted(self.outputs.iterdir()) != ([path] if exists else []):
            self.faults.append(f"{what}: leaves {[f.name for f in self.outputs.iterdir()]}")
        elif exists and path.read_text() != OLD:
            self.faults.append(f"{what}: what was there before is lost")

    def check_full_disk(self) -> None:
        for name in CONVERTED:
            path = self.outputs / name
            self.run("convert", self.trace, path, "-q")
            size = path.stat().st_size
            for limit in (0, 100, size // 2, size - 1):
                for exists in (True, False):
                    self.expect_failure(f"full after {limit} bytes", path, "convert", self.trace,
                                        path, limit=limit, exists=exists)
        for name in TABLES:
            path = self.outputs / name
            form = path.suffix.removeprefix(".").replace("txt", "text")
            self.expect_failure("full disk", path, "kernels", self.trace, "-f", form, "-o", path,
                                limit=100)
        for name, words in OTHERS:
            path = self.outputs / name
            for exists in (True, False):
                self.expect_failure("full disk", path, words[0], self.trace, *words[1:], path, "-q",
                                    limit=100, exists=exists)

    def check_full_device(self) -> None:
        for form in ("chrome", "perfetto", "csv"):
            done = self.run("convert", self.trace, "/dev/full", "--to", form)
            if done.returncode != 2 or "/dev/full" not in done.stderr:
                self.faults.append(f"/dev/full: {form}: {done.returncode} {done.stderr}")

    def check_bad_inputs(self) -> None:
        for name in CONVERTED:
            path = self.outputs / name
            self.expect_failure("bad input", path, "convert", self.bad, path)
            self.expect_failure("bad second input", path, "convert", self.trace, self.bad, path)
            self.expect_failure("empty window", path, "convert", self.trace, path, "--begin", "+1s")
            self.expect_failure("lost folder", path, "convert", self.trace,
                                self.outputs / "absent" / name)

    def check_lost_reader(self) -> None:
        for words in (("kernels", "-f", "csv"), ("kernels", "-f", "json"), ("kernels",)):
            command = [self.borescope, words[0], str(self.trace), "-q", *words[1:]]
            with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  text=True) as process:
                process.stdout.read(100)
                process.stdout.close()
                said = process.stderr.read()
                if process.wait() != 0 or said:
                    self.faults.append(f"lost reader: {words}: {process.returncode} {said}")

    def check_lost_reader_of_a_file(self) -> None:
        """Our own standard output is no file: its reader may go. That of a named pipe may not."""
        command = [self.borescope, "convert", str(self.trace), "--to", "chrome", "-q", "-o"]
        with subprocess.Popen([*command, "/dev/stdout"], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True) as process:
            process.stdout.read(100)
            process.stdout.close()
            said = process.stderr.read()
            if process.wait() != 0 or said:
                self.faults.append(f"lost reader: /dev/stdout: {process.returncode} {said}")
        pipe = self.outputs / "pipe"
        os.mkfifo(pipe)
        with subprocess.Popen([*command, str(pipe)], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True) as process:
            with open(pipe, encoding="utf-8") as reader:
                reader.read(100)
            said = process.communicate()[1]
            if process.returncode != 2 or str(pipe) not in said:
                self.faults.append(f"lost reader: a named pipe: {process.returncode} {said}")
        pipe.unlink()

    def check_all(self) -> list[str]:
        self.check_full_disk()
        self.check_full_device()
        self.check_bad_inputs()
        self.check_lost_reader()
        self.check_lost_reader_of_a_file()
        return self.faults


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--borescope", required=True)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        faults = Checker(arguments.borescope, Path(folder)).check_all()
    print("\n".join([*faults, f"{len(faults)} faults"]))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
