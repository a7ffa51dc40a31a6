#!/usr/bin/env python3
"""Runs what `borescope launch slurm` writes on a real Slurm with two nodes on this host.

    check_slurm.py --borescope BIN --synth BIN

A run of eight ranks is mapped in six shards. While one of them is worked on, its node loses its power:
the reduce must say which part is missing. The script, run again, must submit that shard alone, and
the answer must then be, byte for byte, that of one process with the whole run. With --force a shard
that fails must be missing, though it had a part before. Names of folders have
blanks, quotes and what shells, globs and sbatch take specially.

Exit status: 0 all is well, 1 something is not, 77 Slurm is not installed.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from slurm_cluster import SlurmCluster, missing_programs

SKIPPED = 77
RANKS = 8
SHARDS = 6
VICTIM = 3
VERBS = "kernels,ops,breakdown,stragglers"
RUN = "it's a run $(touch evaluated)"
PARTS = "parts of 50% [it's]"
JOB_S = 60  # the longest that a job may take

# The borescope that tasks find: the first process of one shard says who it is, and waits. While there
# is a file "failing", that shard fails.
WRAPPER = """\
#!/bin/sh
if [ "$SLURM_ARRAY_TASK_ID" = {victim} ] && mkdir {folder}/victim 2>/dev/null; then
  echo "$$ $SLURMD_NODENAME" >{folder}/victim/draft
  mv {folder}/victim/draft {folder}/victim/process
  exec sleep 600
fi
if [ "$SLURM_ARRAY_TASK_ID" = {victim} ] && [ -e {folder}/failing ]; then
  exit 1
fi
exec {borescope} "$@"
"""


class Test:
    def __init__(self, borescope: Path, synth: Path, folder: Path, cluster: SlurmCluster) -> None:
        self.borescope, self.folder, self.cluster = borescope, folder, cluster
        subprocess.run([synth, "--ranks", str(RANKS), "--steps", "3", "--gzip", "--out",
                        str(folder / RUN)], check=True, capture_output=True)
        (folder / RUN / "truth.json").unlink()

    def ask(self, *words: str) -> bytes:
        return subprocess.run([self.borescope, *words], cwd=self.folder, check=True,
                              capture_output=True).stdout

    def script(self, verbs: str = VERBS, *words: str) -> bytes:
        # Tasks that lost their node are not started again by Slurm, so that we have to.
        return self.ask("launch", "slurm", verbs, RUN, "-o", PARTS + "/", "--shards", str(SHARDS), "-f",
                        "json", "--top", "5", "--sbatch=--no-requeue", *words)

    def submit(self, script: bytes) -> subprocess.CompletedProcess:
        return subprocess.run(["sh"], input=script, cwd=self.folder, env=self.cluster.environment,
                              capture_output=True, check=False, timeout=JOB_S)

    def submitted(self, script: bytes) -> str:
        done = self.submit(script)
        said = done.stdout.decode()
        assert done.returncode == 0, (done.returncode, said, done.stderr.decode())
        return said

    def wait_for(self, said: str) -> str:
        """How the reduce that was submitted ended."""
        job = re.search(r"borescope-reduce: job (\d+), ", said)[1]

        def state() -> str:
            return self.cluster.run("squeue", "--noheader", "--states=all", f"--jobs={job}",
                                    "--format=%T").strip()

        self.cluster.wait(lambda: state() in ("COMPLETED", "FAILED", "CANCELLED", "TIMEOUT"),
                          f"job {job} ends", JOB_S)
        return state()

    def log_of_reduce(self, said: str) -> str:
        job = re.search(r"borescope-reduce: job (\d+), ", said)[1]
        return (self.folder / PARTS / "log" / f"reduce-{job}.txt").read_text()

    def part(self, shard: int) -> Path:
        return self.folder / PARTS / f"{shard:05}-of-{SHARDS:05}.part"

    def kill_the_victim(self) -> None:
        marker = self.folder / "victim" / "process"
        self.cluster.wait(marker.exists, "the victim runs", JOB_S)
        task, node = marker.read_text().split()
        self.cluster.kill_node(node, int(task))

    # ---- What must be so ----

    def a_lost_node_is_named(self) -> None:
        said = self.submitted(self.script())
        assert f"shards 0-{SHARDS - 1} of {SHARDS}" in said, said
        self.kill_the_victim()
        assert self.wait_for(said) == "FAILED"
        there = [shard for shard in range(SHARDS) if self.part(shard).exists()]
        assert there == [shard for shard in range(SHARDS) if shard != VICTIM], there
        log = self.log_of_reduce(said)
        assert f"5 of {SHARDS} parts are there" in log, log
        partial = json.loads((self.folder / PARTS / "answer.json").read_bytes())
        missing = [each for each in partial["diagnostics"] if each["code"] == "missing-parts"]
        assert missing and str(VICTIM) in json.dumps(missing), partial["diagnostics"]

    def the_rest_is_made(self) -> None:
        before = {shard: self.part(shard).stat() for shard in range(SHARDS) if shard != VICTIM}
        said = self.submitted(self.script())
        assert f"shards {VICTIM}-{VICTIM} of {SHARDS}" in said, said
        assert self.wait_for(said) == "COMPLETED", self.log_of_reduce(said)
        for shard, was in before.items():
            assert self.part(shard).stat() == was, f"shard {shard} was mapped again"
        whole = self.ask(VERBS, RUN, "-f", "json", "--top", "5")
        answer = (self.folder / PARTS / "answer.json").read_bytes()
        assert answer == whole, "the answer differs from that of one process"
        assert len(json.loads(whole)["tables"]) > 5

    def a_second_question_needs_a_folder(self) -> None:
        done = self.submit(self.script("idle"))
        assert done.returncode == 2 and b"parts of another question" in done.stderr, done

    def an_earlier_part_does_not_pass_for_a_new_one(self) -> None:
        (self.folder / "failing").touch()
        said = self.submitted(self.script(VERBS, "--force"))
        assert f"shards 0-{SHARDS - 1} of {SHARDS}" in said, said
        assert self.wait_for(said) == "FAILED"
        assert f"5 of {SHARDS} parts are there" in self.log_of_reduce(said)

    def nothing_is_evaluated(self) -> None:
        assert not list(self.folder.rglob("evaluated"))


def check(borescope: Path, synth: Path) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        programs = folder / "programs"
        daemons = folder / "daemons"
        programs.mkdir()
        daemons.mkdir()
        wrapper = programs / "borescope"
        wrapper.write_text(WRAPPER.format(victim=VICTIM, folder=folder, borescope=borescope))
        wrapper.chmod(0o755)
        with SlurmCluster(daemons, programs) as cluster:
            test = Test(borescope, synth, folder, cluster)
            for step in (test.a_lost_node_is_named, test.the_rest_is_made,
                         test.a_second_question_needs_a_folder,
                         test.an_earlier_part_does_not_pass_for_a_new_one, test.nothing_is_evaluated):
                begin = time.monotonic()
                step()
                print(f"{step.__name__}: {time.monotonic() - begin:.1f} s")
        left = cluster.processes()
        assert not left, f"still running: {left}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--borescope", required=True, type=Path)
    parser.add_argument("--synth", required=True, type=Path)
    arguments = parser.parse_args()
    if missing := missing_programs():
        print(f"skipped: {', '.join(missing)} not installed (scripts/setup --dev)")
        return SKIPPED
    os.umask(0o022)  # munged refuses folders that others can write to
    check(arguments.borescope.resolve(), arguments.synth.resolve())
    return 0


if __name__ == "__main__":
    sys.exit(main())
