#!/usr/bin/env python3
"""Files that another process is writing: databases hold what SQLite would read, or are refused, and
other files are said to have changed.

    check_files_in_motion.py --borescope PROGRAM
"""

import argparse
import json
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SCHEMA = """
CREATE TABLE rocpd_metadata (id integer PRIMARY KEY, tag text, value text);
CREATE TABLE rocpd_string (id integer PRIMARY KEY, string text);
CREATE TABLE rocpd_ustring (id integer PRIMARY KEY, string text);
CREATE TABLE rocpd_api (id integer PRIMARY KEY, pid integer, tid integer, start integer, end integer,
  apiName_id bigint, category_id bigint, domain_id bigint, args_id bigint);
CREATE TABLE rocpd_op (id integer PRIMARY KEY, gpuId integer, queueId integer, sequenceId integer,
  start integer, end integer, description_id bigint, opType_id bigint);
CREATE TABLE rocpd_api_ops (id integer PRIMARY KEY, api_id bigint, op_id bigint);
INSERT INTO rocpd_metadata(tag, value) VALUES ('schema_version', '3');
INSERT INTO rocpd_string VALUES (1, 'a kernel with a name'), (2, 'KernelExecution');
"""
COMMITTED, MORE = 5000, 20000  # rows; the second many enough to leave the cache before the commit

# Runs statements of its input, one a line; says "done" after each.
WRITER = """
import sqlite3, sys
db = sqlite3.connect(sys.argv[1], isolation_level=None)
for line in sys.stdin:
    db.executescript(line) if line.startswith("PRAGMA") else db.execute(line)
    print("done", flush=True)
"""


def rows(first, count):
    return ("WITH RECURSIVE n(i) AS (SELECT %d UNION ALL SELECT i + 1 FROM n WHERE i < %d) "
            "INSERT INTO rocpd_op SELECT i, 0, 0, i, i * 100, i * 100 + 50, 1, 2 FROM n"
            % (first, first + count - 1))


class Writer:
    """A process that writes a database."""

    def __init__(self, path):
        self.process = subprocess.Popen([sys.executable, "-c", WRITER, path], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)

    def run(self, *statements):
        for statement in statements:
            self.process.stdin.write(statement + "\n")
            self.process.stdin.flush()
            assert self.process.stdout.readline() == "done\n", statement

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def make(folder, mode="DELETE"):
    path = folder / "x.rpd"
    db = sqlite3.connect(path)
    db.executescript(SCHEMA + f"PRAGMA journal_mode={mode};")
    db.execute(rows(1, COMMITTED))
    db.commit()
    db.close()
    return path


class Check:
    def __init__(self, program):
        self.program = program
        self.problems = []

    def ask(self, path, *options):
        """Number of kernels or the error, and whether the answer says that writes were unfinished."""
        result = subprocess.run([self.program, "kernels", "-f", "json", str(path), *map(str, options)],
                                capture_output=True, text=True, check=False)
        if result.returncode not in (0, 3):
            return result.stderr, False
        document = json.loads(result.stdout)
        columns = document["tables"][0]["columns"]
        calls = next(c for c in columns if c["name"] == "count")
        return sum(calls["values"]), "unfinished-writes" in result.stdout

    def expect(self, what, path, count, unfinished, *options):
        found = self.ask(path, *options)
        if found != (count, unfinished):
            self.problems.append(f"{what}: expected {(count, unfinished)}, found {found}")

    def expect_error(self, what, path, words, *options):
        found, _ = self.ask(path, *options)
        if not isinstance(found, str) or words not in found:
            self.problems.append(f"{what}: expected an error with '{words}', found {found!r}")

    def expect_counts(self, what, path, names):
        """Under every name the committed rows, and nothing changed or left behind."""
        before = {p: p.read_bytes() for p in path.parent.iterdir() if p.is_file()}
        for name in names:
            self.expect(f"{what}, as {name.name}", name, COMMITTED, True)
        after = {p: p.read_bytes() for p in path.parent.iterdir() if p.is_file()}
        if before != after:
            self.problems.append(f"{what}: the folder changed")


def names_of(path):
    """The file, a symbolic link, a hard link beside it, and the file in a folder of links."""
    link = path.parent / "link.rpd"
    link.symlink_to(path.name)
    hard = path.parent / "hard.rpd"
    os.link(path, hard)
    folder = path.parent / "links"
    folder.mkdir()
    (folder / "rank0.rpd").symlink_to(path)
    return [path, link, hard, folder / "rank0.rpd"]


def in_a_transaction(check, folder):
    """Rows that were written into the file, but not committed, are undone; of a killed writer too."""
    path = make(folder)
    writer = Writer(path)
    writer.run("PRAGMA cache_size=10", "BEGIN", rows(COMMITTED + 1, MORE))
    check.expect_error("a writer that holds the file", path, "another program is writing it")
    writer.kill()
    if sqlite3.connect(f"file:{path}?immutable=1", uri=True).execute(
            "SELECT count(*) FROM rocpd_op").fetchone() == (COMMITTED,):
        check.problems.append("in a transaction: the file has no rows of it, so nothing is tested")
    check.expect_counts("killed in a transaction", path, names_of(path))


def before_the_first_page(check, folder):
    """A transaction that has changed nothing in the file yet."""
    path = make(folder)
    writer = Writer(path)
    writer.run("BEGIN IMMEDIATE", "INSERT INTO rocpd_op VALUES (1000000, 0, 0, 0, 0, 1, 1, 2)")
    check.expect("in a small transaction", path, COMMITTED, False)
    writer.run("COMMIT")
    check.expect("after it", path, COMMITTED + 1, False)
    writer.end()


def with_a_log(check, folder):
    path = make(folder, "WAL")
    writer = Writer(path)
    writer.run("PRAGMA wal_autocheckpoint=0", rows(COMMITTED + 1, 7))
    check.expect("rows in a log", path, COMMITTED + 7, True)
    names = names_of(path)
    for name in names:
        check.expect(f"rows in a log, as {name.name}", name, COMMITTED + 7, True)
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir()
    os.link(path, elsewhere / "hard.rpd")
    check.expect_error("a log beside another name", elsewhere / "hard.rpd", "hard link")
    (elsewhere / "hard.rpd").unlink()
    writer.run("PRAGMA wal_checkpoint(TRUNCATE)")
    check.expect("after a checkpoint", path, COMMITTED + 7, False)
    writer.run(rows(COMMITTED + 8, 3))
    writer.kill()
    check.expect("killed with a log", path, COMMITTED + 10, True)


def with_a_log_and_a_cache(check, folder):
    """What a cache keeps of a file is the answer only while no rows are elsewhere, under whatever name."""
    path = make(folder, "WAL")
    cache = ("--cache", folder / "cache")
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir()
    names = names_of(path)
    check.expect("before there is a log", path, COMMITTED, False, *cache)
    check.expect("before there is a log, kept", path, COMMITTED, False, *cache)
    os.link(path, elsewhere / "hard.rpd")
    check.expect_error("kept, and named elsewhere", path, "hard link", *cache)
    (elsewhere / "hard.rpd").unlink()
    writer = Writer(path)
    writer.run("PRAGMA wal_autocheckpoint=0")
    for count in (7, 14):
        writer.run(rows(COMMITTED + count - 6, 7))
        for name in names:
            check.expect(f"a log and a cache, as {name.name}", name, COMMITTED + count, True, *cache)
    writer.end()
    check.expect("after the last checkpoint", path, COMMITTED + 14, False, *cache)


def while_it_is_checkpointed(check, folder):
    """Whatever the moment, a number that was committed at some time."""
    path = make(folder, "WAL")
    writer = Writer(path)
    writer.run("PRAGMA wal_autocheckpoint=1")
    found = set()
    for i in range(15):
        asked = subprocess.Popen([check.program, "kernels", "-f", "csv", str(path)], text=True,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for j in range(10):
            writer.run(rows(COMMITTED + 1 + (10 * i + j) * 100, 100))
        out, err = asked.communicate()
        if asked.returncode in (0, 3):
            found.add(int(next(line for line in out.splitlines() if "a kernel" in line).split(",")[2]))
        elif "is writing it" not in err and "changed while" not in err:
            check.problems.append(f"checkpointing: {err}")
    writer.end()
    if any(count < COMMITTED or count % 100 for count in found):
        check.problems.append(f"checkpointing: no number that was committed among {sorted(found)}")


def in_a_read_only_folder(check, folder):
    path = make(folder)
    writer = Writer(path)
    writer.run("PRAGMA cache_size=10", "BEGIN", rows(COMMITTED + 1, MORE))
    writer.kill()
    folder.chmod(0o500)
    check.expect("killed, in a read-only folder", path, COMMITTED, True)
    folder.chmod(0o700)


def text_that_grows(check, folder):
    """A profiler still writes: no damage, and no missing option."""
    path = folder / "rank0.json"
    event = ('{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":%d,"dur":1,'
             '"args":{"device":0,"stream":7}},\n')
    path.write_text('{"traceEvents":[\n' + "".join(event % i for i in range(300000)))
    asked = subprocess.Popen([check.program, "kernels", str(path)], stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, text=True)
    with path.open("a", encoding="utf-8") as file:
        while asked.poll() is None:
            file.write(event % 7)
            file.flush()
            time.sleep(0.001)
    err = asked.communicate()[1]
    if asked.returncode == 0 or "changed while it was read" not in err:
        check.problems.append(f"a text that grows: status {asked.returncode}, {err!r}")


CASES = (in_a_transaction, before_the_first_page, with_a_log, with_a_log_and_a_cache,
         while_it_is_checkpointed, in_a_read_only_folder, text_that_grows)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--borescope", required=True)
    check = Check(parser.parse_args().borescope)
    for case in CASES:
        with tempfile.TemporaryDirectory() as folder:
            case(check, Path(folder))
    print("\n".join(check.problems) or f"{len(CASES)} kinds of files in motion")
    sys.exit(1 if check.problems else 0)


if __name__ == "__main__":
    main()
