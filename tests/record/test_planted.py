"""A planned run comes back from every table, and alike from the recording and what it is converted to."""

import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

from planted import plant

BORESCOPE = os.environ["BORESCOPE_PROGRAM"]
VERBS = ("info summary breakdown busy idle gaps overlap top kernels variability inductor ops roofline stacks "
         "flame steps launches delays queue bandwidth sequences annotations critical-path prof events").split()
# What says which file it was, and of what format: no number of the run.
OF_THE_FILE = {"info": {"event_counts": None, "traces": {"file", "format", "producer", "text_bytes", "file_bytes",
                                                         "devices", "begin_unix_ns", "events"}},
               "summary": {"overview": {"file", "devices"}, "quality": None, "verdict": None}}
# What a format has no place for.
LACKS = {
    ".rpd": {  # types of arguments, the name of the device, sizes of sets of memory
        "roofline": {"roofs": {"device"}, "roofline": {"bytes", "dtypes", "gbps", "intensity"},
                     "gemm_shapes": {"dtype"}},
        "bandwidth": {"bandwidth": {"bytes", "coverage", "max_gbps", "mean_gbps", "min_gbps", "p50_gbps", "unrated"}},
        "prof": {"prof": {"bytes", "params", "status"}}},
    ".json.gz": {  # only there each event has a place in the file
        "critical-path": {"critical_path": {"index"}, "slack": {"index"}, "sync_quality": {"help"}},
        "events": {"events": {"event_index"}},
        # that the whole process was recorded, so that time before its first launch is left out of shares
        "summary": {"left_out": None}},
}


def tables(verb, path):
    result = subprocess.run([BORESCOPE, verb, path, "-f", "json"], capture_output=True, text=True, check=False)
    if result.returncode != 0:
        raise AssertionError(f"{verb} {path}: {result.stderr}")
    return {table["name"]: {column["name"]: column["values"] for column in table["columns"]}
            for table in json.loads(result.stdout)["tables"]}


def without(found, left_out):
    """The tables without what is named; None: the whole table."""
    return {name: {column: values for column, values in columns.items()
                   if column not in (left_out.get(name) or ())}
            for name, columns in found.items() if left_out.get(name, ()) is not None}


class Planted(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.holder = tempfile.TemporaryDirectory(prefix="borescope-planted-")
        cls.addClassCleanup(cls.holder.cleanup)
        cls.folder = Path(cls.holder.name)
        cls.run_path = cls.folder / "x.bsr"
        cls.truth = plant(cls.run_path)
        for suffix in LACKS:
            subprocess.run([BORESCOPE, "convert", "-q", cls.run_path, "-o", cls.folder / f"x{suffix}"],
                           check=True, capture_output=True)

    def paths(self):
        return [self.run_path, *(self.folder / f"x{suffix}" for suffix in LACKS)]

    def sums(self, statement, path):
        """name: (count, sum) of a statement."""
        result = subprocess.run([BORESCOPE, "query", statement, path, "-f", "json"], capture_output=True,
                                text=True, check=False)
        self.assertEqual(result.returncode, 0, result.stderr)
        columns = [column["values"] for column in json.loads(result.stdout)["tables"][0]["columns"]]
        return {name: (count, total) for name, count, total in zip(*columns)}

    def host(self, kind, path):
        return self.sums("SELECT name, COUNT(*), SUM(dur_ns) FROM host_events WHERE kind = "
                         f"'{kind}' GROUP BY name", path)

    def test_threads_and_queues_have_their_names(self):
        """In the tables, in the text and in what the page draws."""
        for path in (self.run_path, self.folder / "x.json.gz"):
            tracks = tables("timeline", path)["tracks"]
            names = {kind: sorted(name for name, one in zip(tracks["name"], tracks["kind"]) if one == kind)
                     for kind in ("thread", "stream")}
            self.assertEqual(names["thread"], ["worker 100", "worker 101", "worker 101 (asynchronous)", "worker 102",
                                               "worker 200"], path)
            self.assertEqual(names["stream"], ["stream 7, pid 100", "stream 7, pid 200"], path)
            self.assertTrue({"queue 7, pid 100", "queue 7, pid 200"} <= set(tracks["name"]), path)
        text = subprocess.run([BORESCOPE, "timeline", self.run_path, "--top", "all"], capture_output=True, text=True,
                              check=True).stdout
        page = self.folder / "page.html"
        subprocess.run([BORESCOPE, "report", "-q", self.run_path, "-o", page], check=True, capture_output=True)
        element = page.read_text(encoding="utf-8").split('id="borescope-timeline"')[1].split(">", 1)[1]
        drawn = json.loads(element.split("</script>")[0])
        rows = {track["name"] for track in drawn["tracks"]}
        for name in ("worker 100", "worker 102", "worker 200", "stream 7, pid 100", "queue 7, pid 200"):
            self.assertIn(name, text)
            self.assertIn(name, rows)

    def test_the_truth_is_in_every_form(self):
        truth = self.truth
        for path in self.paths():
            with self.subTest(path=path.name):
                kernels = self.sums("SELECT name, COUNT(*), SUM(dur_ns) FROM kernels GROUP BY name", path)
                self.assertEqual(kernels, truth.kernels)
                linked = self.sums("SELECT name, COUNT(launch_id), SUM(dur_ns) FROM kernels GROUP BY name", path)
                self.assertEqual(linked, truth.kernels)
                copies = self.sums("SELECT name, COUNT(*), SUM(bytes) FROM copies WHERE name LIKE 'Memcpy%' "
                                   "GROUP BY name", path)
                self.assertEqual({name.split()[1]: row for name, row in copies.items()},
                                 {name: row for name, row in truth.copies.items() if name != "set"})
                sets = self.sums("SELECT 'set', COUNT(*), SUM(bytes) FROM copies WHERE name LIKE 'Memset%'", path)
                self.assertEqual(sets["set"][0], truth.copies["set"][0])
                if path.suffix != ".rpd":
                    self.assertEqual(sets, {"set": truth.copies["set"]})
                self.assertEqual(self.host("op", path), truth.operators)
                self.assertEqual(self.host("runtime", path), truth.calls)
                self.expect_ranges(path)

    def expect_ranges(self, path):
        ranges = self.host("annotation", path)
        # It ends with the last record of its process, which is its own begin.
        self.assertEqual(ranges, self.truth.ranges)

    def test_what_was_torn_is_said(self):
        result = subprocess.run([BORESCOPE, "doctor", self.run_path, "-f", "json"], capture_output=True,
                                text=True, check=False)
        columns = {column["name"]: column["values"]
                   for column in json.loads(result.stdout)["tables"][0]["columns"]}
        counts = dict(zip(columns["check"], columns["count"]))
        self.assertEqual(counts["open-range"], self.truth.open_ranges)
        self.assertNotIn("torn-chunk", {name for name, count in counts.items() if count})

    def test_every_verb_answers_alike(self):
        for verb in VERBS:
            own = without(tables(verb, self.run_path), OF_THE_FILE.get(verb, {}))
            for suffix, lacks in LACKS.items():
                with self.subTest(verb=verb, suffix=suffix):
                    left_out = lacks.get(verb, {})
                    if left_out is None:
                        continue
                    converted = tables(verb, self.folder / f"x{suffix}")
                    converted = without(without(converted, OF_THE_FILE.get(verb, {})), left_out)
                    self.assertEqual(converted, without(own, left_out))

    def test_one_process_cut_at_any_place_leaves_the_other(self):
        """A log that ends anywhere is read as far as it goes, and the other one whole."""
        with tempfile.TemporaryDirectory() as folder:
            run = Path(folder) / "y.bsr"
            plant(run)
            whole = (run / "host.200.7.0.bsl").read_bytes()
            previous = -1
            for size in range(4096, len(whole), 1531):
                (run / "host.200.7.0.bsl").write_bytes(whole[:size])
                rows = self.sums("SELECT pid, COUNT(*), 0 FROM host_events GROUP BY pid", run)
                self.assertEqual(rows[100], (self.first_process_rows(), 0))
                self.assertGreaterEqual(rows.get(200, (0, 0))[0], previous)
                previous = rows.get(200, (0, 0))[0]
            self.assertGreater(previous, 0)

    def first_process_rows(self):
        rows = self.sums("SELECT pid, COUNT(*), 0 FROM host_events GROUP BY pid", self.run_path)
        return rows[100][0]

    def test_another_plan(self):
        for seed in (2, 3):
            with tempfile.TemporaryDirectory() as folder:
                truth = plant(Path(folder) / "z.bsr", seed)
                kernels = self.sums("SELECT name, COUNT(*), SUM(dur_ns) FROM kernels GROUP BY name",
                                    Path(folder) / "z.bsr")
                self.assertEqual(kernels, truth.kernels)


if __name__ == "__main__":
    unittest.main()
