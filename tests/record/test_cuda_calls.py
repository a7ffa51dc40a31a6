"""The generator of the tables of CUDA's calls, and the tables where CUPTI's headers are at hand.

BORESCOPE_CUPTI_INCLUDES lists folders of headers, as for test_offsets.py.
"""

import importlib.util
import os
import random
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
TOOL = ROOT / "tools" / "gen_cuda_calls.py"
SPEC = importlib.util.spec_from_file_location("gen_cuda_calls", TOOL)
calls = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(calls)

LAUNCHES = ["Launch", "LaunchKernel", "LaunchKernelExC", "LaunchCooperativeKernel", "GraphLaunch", "Memcpy",
            "MemcpyHtoDAsync", "Memcpy3DBatchAsync", "MemsetD8Async", "MemsetD2D32", "Memset2DAsync", "MemPrefetchAsync",
            "MemPrefetchBatchAsync", "MemBatchDecompressAsync"]
LAUNCHES += ["GraphLaunchWithArguments", "SubgridScheduleLaunch"]
ORDERS = ["MemAllocAsync", "MemFreeAsync", "MemAllocFromPoolAsync", "GraphInstantiateWithFlags", "GraphUpload",
          "StreamBeginCaptureToGraph", "StreamEndCapture", "LaunchHostFunc", "StreamBeginRecaptureToGraph"]
OTHERS = ["MemAlloc", "MemFree", "CtxSynchronize", "GraphAddMemsetNode", "GraphMemcpyNodeSetParams", "PointerGetAttributes",
          "StreamIsCapturing", "StreamGetCaptureInfo", "MemGetInfo", "DeviceReset", "StreamWaitEvent", "GraphDestroy"]


def header(api, names):
    rows = "".join(f"    CUPTI_{api.upper()}_TRACE_CBID_{name}  = {number},\n" for number, name in names.items())
    prefix = f"CUPTI_{api.upper()}_TRACE_CBID"
    return (f"typedef enum {{\n    {prefix}_INVALID = 0,\n{rows}    {prefix}_SIZE = 2000,\n"
            f"    {prefix}_FORCE_INT = 0x7fffffff\n}} {api};\n")


class Generated(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory(prefix="borescope-calls-")
        self.addCleanup(holder.cleanup)
        self.folder = Path(holder.name)

    def headers(self, version, **names):
        folder = self.folder / str(version)
        folder.mkdir()
        (folder / "cupti_version.h").write_text(f"#define CUPTI_API_VERSION {version}\n", encoding="utf-8")
        for api in calls.APIS:
            (folder / f"cupti_{api}_cbid.h").write_text(header(api, names.get(api, {})), encoding="utf-8")
        return folder

    def test_what_is_chosen(self):
        for seed in range(20):
            dice = random.Random(seed)
            names = {}
            for group in (LAUNCHES, ORDERS, OTHERS):
                for name in group:
                    prefix = dice.choice(["cu", "cu64"])
                    names[name] = f"{prefix}{name}{dice.choice(['', '_v2', '_v3'])}{dice.choice(['', '_ptsz', '_ptds'])}"
            order = list(names)
            dice.shuffle(order)
            numbers = {number: name for number, name in enumerate(order, 1)}
            folder = self.headers(seed + 1, driver={number: names[name] for number, name in numbers.items()})
            table = calls.table_of([folder], "driver")
            self.assertEqual(table, {number: names[name] for number, name in numbers.items()})
            for pattern, wanted in ((calls.LAUNCHES, LAUNCHES), (calls.ORDERS, ORDERS)):
                self.assertEqual({numbers[number] for number in calls.chosen(table, pattern)}, set(wanted))

    def test_versions_make_one_table(self):
        old = self.headers(28, runtime={1: "cudaFirst_v3020", 2: "cudaOld_v2_v12000", 3: "cudaGone_v3020"})
        new = self.headers(130000, runtime={1: "cudaFirst_v3020", 2: "cudaNew_v12000", 3: "cuda3", 5: "cudaMore_v13000"})
        for folders in ([old, new], [new, old]):
            self.assertEqual(calls.table_of(folders, "runtime"),
                             {1: "cudaFirst", 2: "cudaNew", 3: "cudaGone", 5: "cudaMore"})

    def test_places_without_a_function_take_no_name_away(self):
        """CUDA 13.1 had functions whose places 13.3 calls reserved, and kept places of the runtime."""
        old = self.headers(130101, driver={464: "cuNVNbufferGetPointer", 819: "cuGraphLaunchWithArguments"},
                           runtime={531: "cuda531_v13010", 532: "cudaReal_v13010"})
        new = self.headers(130301, driver={464: "reserved464", 819: "reserved819", 862: "reserved862"},
                           runtime={531: "cuda531_v13010", 532: "cuda532"})
        for folders in ([old, new], [new, old]):
            table = calls.table_of(folders, "driver")
            self.assertEqual(table, {464: "cuNVNbufferGetPointer", 819: "cuGraphLaunchWithArguments"})
            self.assertEqual(calls.chosen(table, calls.LAUNCHES), [819])
            self.assertEqual(calls.table_of(folders, "runtime"), {532: "cudaReal"})

    def test_lines_are_whole(self):
        table = {number: f"cuName{'x' * (number % 40)}" for number in range(1, 300)}
        text = calls.names_text({"driver": table})
        self.assertLessEqual(max(map(len, text.splitlines())), calls.MOST_COLUMNS)
        self.assertTrue(all(f'{{{number}, "{name}"}},' in text for number, name in table.items()))

    def test_tables_are_current(self):
        sets = [s for s in os.environ.get("BORESCOPE_CUPTI_INCLUDES", "").split(";") if s]
        folders = [folder for each in sets for folder in each.split(":") if (Path(folder) / "cupti_driver_cbid.h").exists()]
        versions = [calls.version_of(folder) for folder in folders]
        if not versions or max(versions) < 130500 or min(versions) > 18:
            self.skipTest("BORESCOPE_CUPTI_INCLUDES does not name the headers of CUDA 11.8 to 13.5")
        result = subprocess.run([sys.executable, TOOL, *folders, "--check"], capture_output=True, text=True, check=False)
        self.assertEqual((result.returncode, result.stderr), (0, ""))


if __name__ == "__main__":
    unittest.main()
