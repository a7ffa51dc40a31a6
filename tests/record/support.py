"""What the tests of the recording library share: the built files, and running a program under it."""

import mmap
import os
import struct
import subprocess
import tempfile
import unittest
from pathlib import Path

import logs

LIBRARY = Path(os.environ["BORESCOPE_RECORD_LIBRARY"])
PROGRAMS = Path(os.environ["BORESCOPE_RECORD_PROGRAMS"])


def environment(folder, options="", preload=True):
    """The environment in which a program records into the folder."""
    kept = {name: value for name, value in os.environ.items()
            if not name.startswith(("BORESCOPE", "LD_PRELOAD", "NVTX_", "CUDA_"))}
    kept |= {"NVTX_INJECTION64_PATH": str(LIBRARY), "BORESCOPE_RECORD": str(folder),
             "BORESCOPE_RECORD_OPTIONS": options}
    return kept | ({"LD_PRELOAD": str(LIBRARY)} if preload else {})


def make_control(folder, recording=1, starts=1):
    """The page that the launcher makes."""
    page = struct.pack("<IIIIII", 0x54435342, 1, 0, recording, starts, 0).ljust(4096, b"\0")
    (Path(folder) / "control").write_bytes(page)


class RecordTest(unittest.TestCase):
    """Each test has a run folder of its own."""

    def setUp(self):
        holder = tempfile.TemporaryDirectory(prefix="borescope-record-")
        self.addCleanup(holder.cleanup)
        self.folder = Path(holder.name).resolve() / "run"
        self.folder.mkdir(mode=0o700)

    def run_program(self, name, *arguments, options="", timeout=120, **more):
        command = [str(PROGRAMS / name), *map(str, arguments)]
        return subprocess.run(command, env=environment(self.folder, options), timeout=timeout,
                              check=False, capture_output=True, text=True, **more)

    def parse(self):
        return logs.parse_folder(self.folder)

    def only_log(self):
        found = self.parse()
        self.assertEqual(len(found), 1, [str(log.path) for log in found])
        return found[0]


class Counters:
    """What the threads of a program finished, in memory that it shares with the test."""

    def __init__(self, path):
        path.write_bytes(bytes(4096))
        with path.open("r+b") as file:
            self.memory = mmap.mmap(file.fileno(), 4096)

    def by_thread(self):
        return struct.unpack("<512Q", self.memory[:4096])

    def total(self):
        return sum(self.by_thread())
