"""What the library never does in the program of somebody else: imports, files, permissions, limits."""

import errno
import itertools
import json
import os
import random
import re
import resource
import shutil
import signal
import struct
import subprocess
import tempfile
import unittest
from pathlib import Path

import logs
from support import LIBRARY, PROGRAMS, RecordTest, environment, make_control

SHIM = os.environ.get("BORESCOPE_FAULT_SHIM", "")
LOG_ERROR = 36  # where it is on the launcher's page
IMPORTS = set("""
__environ __errno_location __register_atfork access clock_gettime close dlerror dlopen dlsym environ fstat getauxval
getenv gethostname getpid getppid getrlimit madvise memcmp memcpy memmove memset mmap munmap open openat
posix_fallocate prctl pthread_create pthread_detach pthread_key_create pthread_self
pthread_setcancelstate pthread_setspecific pthread_sigmask read readlink sched_yield sigfillset strchr
strcasestr strcmp strcspn strlen strncmp strnlen strrchr strspn strstr syscall sysconf unsetenv atexit __cxa_atexit
dl_iterate_phdr dladdr pthread_setname_np
""".split())
EXPORTS = re.compile(r"borescope_record_\w+|InitializeInjection(Nvtx2?)?|roctx(MarkA|Range\w+)|"
                     r"(cuda|cu|hip)Profiler(Start|Stop)|__hipRegisterFatBinary|"
                     r"cuptiActivityRegister(Timestamp)?Callbacks?")
# Of tests/record/programs/stack.c.
STACK_WAYS = ("push", "step", "start", "mark", "operator", "call", "nvtx", "nvtx-wide", "nvtx-event", "nvtx-domain",
              "roctx")
STACK_RECORDS = (logs.PUSH, logs.RANGE_START, logs.MARK, logs.OPERATOR, logs.PYTHON_CALL)


def symbols(option):
    text = subprocess.run(["nm", "-D", option, LIBRARY], capture_output=True, text=True, check=True)
    return [line.split()[-2:] for line in text.stdout.splitlines()]


class Symbols(unittest.TestCase):
    def test_imports(self):
        needed = {name.split("@")[0] for kind, name in symbols("--undefined-only") if kind == "U"}
        self.assertEqual(needed - IMPORTS, set())

    def test_exports(self):
        names = [name for _, name in symbols("--defined-only")]
        self.assertEqual([name for name in names if not EXPORTS.fullmatch(name)], [])

    def test_libraries(self):
        text = subprocess.run(["readelf", "-d", LIBRARY], capture_output=True, text=True,
                              check=True).stdout
        self.assertEqual(re.findall(r"NEEDED.*\[(.*?)\]", text), ["libc.so.6"])
        self.assertIn("NODELETE", text)


class SystemCalls(RecordTest):
    def trace(self, *command):
        if shutil.which("strace") is None:
            self.skipTest("strace is not installed")
        out = self.folder.parent / "strace"
        result = subprocess.run(["strace", "-f", "-o", out, *command], env=environment(self.folder),
                                capture_output=True, text=True, check=False)
        if "ptrace" in result.stderr:
            self.skipTest("strace may not trace here")
        return out.read_text()

    def test_no_foreign_file_and_no_socket(self):
        text = self.trace(PROGRAMS / "ranges", "exit", "2", "1000")
        self.assertNotRegex(text, r"\b(socket|connect|rt_sigaction\(SIG(TERM|SEGV|INT|ABRT))\b")
        files = re.findall(r'open(?:at)?\([^"]*"([^"]+)"[^\n]*(?:O_WRONLY|O_RDWR)', text)
        self.assertGreater(len(files), 0)
        own = {str(self.folder / "control"), str(self.only_log().path)}
        self.assertEqual(set(files) - own, set())

    def test_a_program_without_ranges_leaves_nothing(self):
        text = self.trace("/bin/true")
        self.assertEqual(list(self.folder.iterdir()), [])
        self.assertNotIn(".bsl", text)


class Files(RecordTest):
    def test_permissions(self):
        old = os.umask(0)
        self.addCleanup(os.umask, old)
        self.run_program("ranges", "exit", 1, 10)
        self.assertEqual(self.only_log().path.stat().st_mode & 0o777, 0o600)

    def test_environment(self):
        secrets = {"SECRET": "x", "RANK": "3", "LOCAL_RANK": "1", "NCCL_DEBUG": "INFO"}
        result = subprocess.run([PROGRAMS / "ranges", "exit", "1", "1"], check=False,
                                env=environment(self.folder) | secrets)
        self.assertEqual(result.returncode, 5)
        log = self.only_log()
        (process,) = log.of(logs.PROCESS)
        described = json.loads(process.text)
        self.assertEqual(described["env"], {"RANK": "3", "LOCAL_RANK": "1"})
        self.assertEqual(described["argv"][1:], ["exit", "1", "1"])
        self.assertEqual(log.rank, 3)
        self.assertNotIn(b"SECRET", log.path.read_bytes())

    def test_long_command_lines(self):
        for text in ("é" * 9000, "\x01" * 9000, '"' * 9000, "\udcff" * 9000, "\x01" * 600, "x" * 3000):
            for log in self.folder.iterdir():
                log.unlink()
            subprocess.run([PROGRAMS / "forms", "first", text, "last"], check=True, capture_output=True,
                           env=environment(self.folder))
            argv = json.loads(self.only_log().of(logs.PROCESS)[0].text)["argv"]
            self.assertEqual(argv[1], "first")
            shown = text.replace("\udcff", "\ufffd")
            self.assertTrue(shown.startswith(argv[2].rstrip("\ufffd")), argv[2][-20:])
            self.assertGreater(len(argv[2]), 500)

    def test_cut_at_every_byte(self):
        self.run_program("ranges", "exit", 1, 3)
        log = self.only_log()
        data, whole = log.path.read_bytes(), len(log.records)
        cut = self.folder / "cut"
        used = len(data.rstrip(b"\0")) + 8
        seen = 0
        for size in [*range(0, 200), *range(16384, 16384 + 1400), *range(32768, used)]:
            cut.write_bytes(data[:size])
            try:
                count = len(logs.parse(cut).records)
            except logs.LogError:
                continue  # a record that goes beyond the end
            self.assertLessEqual(seen, whole)
            seen = max(seen, count)
        self.assertEqual(seen, whole)


class Privileges(RecordTest):
    def test_nothing_is_done_for_a_program_with_more_rights_than_its_user(self):
        if os.geteuid() != 0:
            self.skipTest("only root can make such a program")
        for folder in (self.folder.parent, self.folder):
            folder.chmod(0o777)
        program = self.folder.parent / "ranges"
        shutil.copy(PROGRAMS / "ranges", program)
        library = self.folder.parent / "library.so"
        shutil.copy(LIBRARY, library)
        variables = environment(self.folder, preload=False) | {"NVTX_INJECTION64_PATH": str(library)}
        for mode, logs_made in ((0o755, 1), (0o4755, 0)):
            os.chown(program, 65534, 65534)
            program.chmod(mode)
            result = subprocess.run([program, "exit", "1", "10"], env=variables, check=False)
            self.assertEqual(result.returncode, 5)
            self.assertEqual(len(list(self.folder.iterdir())), logs_made)
            for log in self.folder.iterdir():
                log.unlink()


class Limits(RecordTest):
    def expect_end(self, state, result):
        self.assertEqual(result.returncode, 5, result.stderr)
        log = self.only_log()
        self.assertEqual(log.states(), [state])
        (dropped,) = log.of(logs.DROPPED)
        kept = len(log.of(logs.PUSH, logs.POP))
        self.assertEqual(dropped.a, 1)
        self.assertGreater(kept, 1000)
        # Each call is in the log or counted.
        self.assertEqual(kept + dropped.body[0], 2 * 60_000)

    def test_most_bytes(self):
        self.expect_end(4, self.run_program("ranges", "exit", 2, 30_000, options="max-bytes=400000"))
        self.assertLessEqual(self.only_log().path.stat().st_size, 400_000)

    def test_limit_of_the_process(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (500_000, 500_000))

        self.expect_end(3, self.run_program("ranges", "exit", 2, 30_000, preexec_fn=limit))

    def expect_said_to_the_launcher(self, kind, at, error, words):
        """The log and the launcher's page say why no more could be written."""
        for log in self.folder.glob("*.bsl"):
            log.unlink()
        make_control(self.folder)
        variables = environment(self.folder) | {
            "LD_PRELOAD": f"{SHIM} {LIBRARY}", "FAULT_ARMED": "later", "FAULT_CALL": kind, "FAULT_AT": str(at),
            "FAULT_LASTS": "1", "FAULT_ERROR": str(error)}
        result = subprocess.run([PROGRAMS / "ranges", "exit", "1", "5000"], env=variables, check=False,
                                capture_output=True, timeout=60)
        self.assertEqual(result.returncode, 5, result.stderr)
        log = self.only_log()
        self.assertEqual([(state.a, state.text) for state in log.of(logs.STATE)], [(3, words)])
        page = (self.folder / "control").read_bytes()
        is_said = error not in (errno.ENOSPC, errno.EDQUOT)
        self.assertEqual(struct.unpack_from("<I", page, LOG_ERROR)[0], error if is_said else 0)

    @unittest.skipUnless(os.path.isfile(SHIM), "the shim that makes calls fail is not built")
    def test_not_every_refusal_is_a_full_disk(self):
        for error, words in ((errno.ENOSPC, "no space is left for the log"), (errno.EIO, "the system refuses space")):
            self.expect_said_to_the_launcher("truncate", 2, error, words)
        self.expect_said_to_the_launcher("map", 2, errno.ENOMEM, "it could not be mapped")

    def test_full_disk(self):
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m,mode=700", "none", self.folder],
                                 capture_output=True, check=False)
        if mounted.returncode != 0:
            self.skipTest("no tmpfs can be mounted")
        self.addCleanup(subprocess.run, ["umount", self.folder], check=True)
        self.expect_end(3, self.run_program("ranges", "exit", 2, 30_000))

    def test_the_first_record_takes_little_stack(self):
        """Threads of 16 KiB and signal stacks of 8 KiB record, too."""
        for options in ("", "ring-ms=1000", "start-range=first", "max-bytes=1000000000;env"):
            for way in STACK_WAYS:
                with self.subTest(way=way, options=options):
                    for log in self.folder.glob("*.bsl"):
                        log.unlink()
                    make_control(self.folder)
                    result = self.run_program("stack", way, options=options)
                    self.assertEqual(result.returncode, 0, result.stderr)
                    # The C library's dlsym, which looks for the program's own ROCTX, takes more than we do.
                    self.assertLessEqual(int(result.stdout), 4096 if way == "roctx" else 2048)
                    self.assertGreater(len(self.only_log().of(*STACK_RECORDS)), 0)

    def test_the_smallest_threads_and_signal_stacks_record(self):
        for way, where in itertools.product(STACK_WAYS, ("small", "signal")):
            with self.subTest(way=way, where=where):
                for log in self.folder.iterdir():
                    log.unlink()
                result = self.run_program("stack", way, where)
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assertGreater(len(self.only_log().of(*STACK_RECORDS)), 0)

    def test_descriptors_of_the_program(self):
        def close_all():
            resource.setrlimit(resource.RLIMIT_NOFILE, (5, 5))

        result = self.run_program("ranges", "exit", 1, 5000, preexec_fn=close_all)
        self.assertEqual(result.returncode, 5)
        self.assertEqual(len(logs.finished(self.only_log())), 5000)


if __name__ == "__main__":
    unittest.main()
