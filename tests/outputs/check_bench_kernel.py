#!/usr/bin/env python3
"""`bench-kernel` on the benchmark of every PyTorch from 2.1 to 2.15, with planted times.

    check_bench_kernel.py --borescope BIN [--samples DIR]

A file of each form that TorchInductor has written is run in a Python whose torch is a stand-in: it compiles when
it is called or told to, keeps the fastest launcher of a call, leaves out configs that spill, and a launch takes
as long as the plan says. The files under DIR/data/h100/compiled/kernels, if there are any, run in the same Python.
"""

import argparse
import csv
import io
import os
import random
import subprocess
import sys
import tempfile
import unittest
from dataclasses import dataclass
from pathlib import Path

ARGUMENTS = None
SETTING = "TORCHINDUCTOR_BENCHMARK_KERNEL"

# ---- the stand-in of torch and triton; the plan is read from the environment -------------------------------------

STAND_IN = {
    "plan.py": """
import json, os
PLAN = json.loads(os.environ["PLAN"])
NOW = {"ms": None}  # how long the launch took that ran last
""",
    "torch/__init__.py": """
class Tensor:
    def __init__(self, count): self.count = count
    def numel(self): return self.count
    def element_size(self): return 4

class _Guard:
    def __init__(self, index): pass
    def __enter__(self): pass
    def __exit__(self, *raised): pass

class cuda:
    _DeviceGuard = _Guard
    is_available = staticmethod(lambda: True)
    set_device = staticmethod(lambda index: None)
float32 = bfloat16 = int64 = None
""",
    "torch/_C.py": "_cuda_getCurrentRawStream = lambda index: 7\n",
    "torch/_dynamo/__init__.py": "",
    "torch/_dynamo/testing.py": """
import math
import torch
def rand_strided(size, stride, device, dtype): return torch.Tensor(math.prod(size))
""",
    "torch/_inductor/__init__.py": "",
    "torch/_inductor/utils.py": """
def get_num_bytes(*args, num_in_out_args=0): return sum(4 * a.numel() for a in args if hasattr(a, "numel"))
""",
    "torch/_inductor/triton_helpers.py": "",
    "torch/_inductor/runtime/__init__.py": "",
    "torch/_inductor/runtime/triton_helpers.py": "libdevice = math = None\ndef set_driver_to_gpu(): pass\n",
    "torch/_inductor/runtime/hints.py": """
class _Any:
    def __init__(self, *given, **named): pass
    def __class_getitem__(cls, name): return cls
DeviceProperties = AutotuneHint = TileHint = _Any
class ReductionHint: INNER = OUTER = DEFAULT = OUTER_TINY = None
""",
    "torch/_inductor/runtime/benchmarking.py": """
from plan import NOW, PLAN
class benchmarker:
    @staticmethod
    def benchmark(fn, fn_args=(), fn_kwargs=None, device=None, **named):
        if PLAN["version"] < 210: raise TypeError("no such way of measuring")
        fn(*fn_args)
        return NOW["ms"]
    @staticmethod
    def benchmark_gpu(fn, rep, **named):
        if named and PLAN["version"] != 205: raise TypeError("unexpected keyword argument")
        fn()
        return NOW["ms"]
""",
    "torch/_inductor/runtime/triton_heuristics.py": "from torch._inductor.triton_heuristics import *\n",
    "torch/_inductor/triton_heuristics.py": """
from plan import NOW, PLAN

class Launcher:
    def __init__(self, config):
        self.config, self.ms = config["name"], config["ms"]
        self.n_regs, self.n_spills, self.shared = config["regs"], config["spills"], config["shared"]

class CachingAutotuner:
    def __init__(self, fn, meta):
        self.fn, self.launchers = fn, []
        if PLAN["version"] >= 203: self.inductor_meta = meta
        if PLAN["lacks"] == "precompile": self.precompile = None; del self.precompile
    def compile(self): self.launchers = [Launcher(config) for config in PLAN["configs"]]
    def precompile(self, *given):
        if PLAN["lacks"] == "precompile": raise RuntimeError("a plugin compiles this")
        self.compile()
    def bench(self, launcher, args):
        return float("inf") if launcher.n_spills > 16 else launcher.ms
    def benchmark_all_configs(self, *args, **named):
        assert ("grid" in named) == (PLAN["version"] < 207)
        if PLAN["lacks"] in ("configs", "all"): raise RuntimeError("out of memory")
        return {launcher: self.bench(launcher, args) for launcher in self.launchers}
    def run(self, *args, stream, **named):
        if PLAN["lacks"] == "all": raise RuntimeError("illegal memory access")
        if not self.launchers: self.compile()
        if len(self.launchers) > 1: self.launchers = [min(self.launchers, key=lambda each: self.bench(each, args))]
        NOW["ms"] = self.launchers[0].ms

def pointwise(*given, inductor_meta=None, **named):
    return lambda fn: CachingAutotuner(fn, inductor_meta or {})

foreach = reduction = persistent_reduction = pointwise
def grid(*numbers): return None
""",
    "triton/__init__.py": """
class jit:
    def __init__(self, fn): self.arg_names = list(fn.__code__.co_varnames[:fn.__code__.co_argcount])
""",
    "triton/language.py": "constexpr = None\n",
    "triton/testing.py": """
from plan import NOW, PLAN
def do_bench(fn, rep=100, fast_flush=None):
    fn()
    return NOW["ms"]
""",
}

# ---- a kernel's file as each version writes it -------------------------------------------------------------------


@dataclass
class Era:
    version: int  # 2.10 is 210
    program: str  # how its own program measures
    is_combined: bool = False

    @property
    def name(self):
        return f"2.{self.version - 200}{' combined' if self.is_combined else ''}"


GPU = "benchmarker.benchmark_gpu(lambda: call(args), rep=40{})"
CALL = "benchmarker.benchmark(lambda: call(args), device={}, rep=40)"
COMBINED = "benchmarker.benchmark(call, fn_args=(args,), device={},rep=40)"
TRITON = "do_bench(lambda: call(args), rep=40, fast_flush=True)"
ERAS = ([Era(version, TRITON) for version in (201, 202, 203, 204)] + [Era(205, GPU.format(", fast_flush=True"))] +
        [Era(version, GPU.format("")) for version in (206, 207, 208, 209)] + [Era(210, CALL.format("cuda"))] +
        [Era(version, CALL.format("'cuda'")) for version in range(211, 216)] +
        [Era(version, COMBINED.format("cuda"), True) for version in (210, 212)] +
        [Era(version, COMBINED.format("'cuda'"), True) for version in (213, 215)])


def kernel_file(era, kernel, count):
    """The text of a file: `kernel` reads and writes `count` floats."""
    heuristics = "torch._inductor.triton_heuristics" if era.version < 204 else "torch._inductor.runtime.triton_heuristics"
    grid = f", {count}, grid=grid({count})" if era.version < 207 else ""
    stream = "raw_stream0" if era.version >= 213 else "stream0"
    meta = {"kernel_name": kernel, "kernel_num_gb": 0 if era.is_combined else 8e-9 * count}
    gigabytes = "get_num_bytes(*args, num_in_out_args=0) / 1e9" if era.version < 203 else meta["kernel_num_gb"]
    measure = ("from triton.testing import do_bench" if era.version < 205 else
               "from torch._inductor.runtime.benchmarking import benchmarker")
    if era.version < 203:
        measure += "\n    from torch._inductor.utils import get_num_bytes"
    return f'''import triton
import triton.language as tl
from {heuristics} import pointwise, foreach{", grid" if era.version < 207 else ""}
from torch._dynamo.testing import rand_strided
from torch._C import _cuda_getCurrentRawStream as get_raw_stream
import torch

@{"foreach" if era.is_combined else "pointwise"}(size_hints=[{count}], inductor_meta={meta})
@triton.jit
def {kernel}(in_ptr0, out_ptr0, xnumel, XBLOCK: tl.constexpr):
    pass

def get_args():
    arg_0 = rand_strided(({count},), (1,), device='cuda:0', dtype=torch.float32)
    arg_1 = rand_strided(({count},), (1,), device='cuda:0', dtype=torch.float32)
    return arg_0, arg_1,

def call(args):
    with torch.cuda._DeviceGuard(0):
        torch.cuda.set_device(0)
        {stream} = get_raw_stream(0)
        {kernel}.run(*args{grid}, stream={stream})

def benchmark_all_configs(args):
    with torch.cuda._DeviceGuard(0):
        torch.cuda.set_device(0)
        return {kernel}.benchmark_all_configs(*args{grid})

if __name__ == '__main__':
    {measure}

    args = get_args()
    ms = {era.program}
    num_gb = {gigabytes}
    gb_per_s = num_gb / (ms / 1e3)
    print(f"{{ms:.3f}}ms    {{num_gb:.3f}}GB    {{gb_per_s:.2f}}GB/s")
'''


def plan_configs(rng):
    """Configs of different times, one of which may spill; at least one does not."""
    times = rng.sample(range(1, 100), rng.randint(1, 5))
    return [{"name": f"XBLOCK: {128 << i}, num_warps: {rng.choice([1, 2, 4, 8])}", "ms": ms / 1000,
             "regs": rng.randint(16, 255), "spills": rng.choice([0, 0, 4, 40]) if i else 0,
             "shared": 512 * rng.randint(0, 8)} for i, ms in enumerate(times)]


class BenchKernel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.stand_in = tempfile.TemporaryDirectory()
        for name, code in STAND_IN.items():
            path = Path(cls.stand_in.name) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(code, encoding="utf-8")

    @classmethod
    def tearDownClass(cls):
        cls.stand_in.cleanup()

    def run_it(self, text, version, configs, lacks=""):
        """Rows of the table `bench`, or the error."""
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "k.py"
            file.write_text(text, encoding="utf-8")
            plan = repr({"version": version, "configs": configs, "lacks": lacks}).replace("'", '"')
            result = subprocess.run([ARGUMENTS.borescope, "bench-kernel", file, "--python", sys.executable, "-f", "csv"],
                                    capture_output=True, text=True, check=False, timeout=60,
                                    env=os.environ | {"PYTHONPATH": self.stand_in.name, "PLAN": plan})
        if result.returncode != 0:
            return None, result.stderr
        return list(csv.DictReader(io.StringIO(result.stdout.partition("\n")[2]))), result.stderr

    def test_every_config_has_its_planted_time(self):
        for era in ERAS:
            rng = random.Random(era.name)
            configs, count = plan_configs(rng), rng.randint(1, 10**6)
            with self.subTest(era=era.name):
                rows, error = self.run_it(kernel_file(era, "triton_poi_fused_add_0", count), era.version, configs)
                self.assertEqual(error, "")
                expected = sorted((c["spills"] > 16, round(1e6 * c["ms"]), c["name"], c["regs"], c["spills"], c["shared"])
                                  for c in configs)
                self.assertEqual([(row["time_ns"] == "", int(row["time_ns"] or 0)) for row in rows],
                                 [(left_out, 0 if left_out else ns) for left_out, ns, *_ in expected])
                timed = [(row["config"], int(row["registers"]), int(row["spills"]), int(row["shared_bytes"]))
                         for row in rows]
                self.assertEqual(sorted(timed), sorted((name, *numbers) for _, _, name, *numbers in expected))
                self.assertEqual({int(row["bytes"]) for row in rows}, {8 * count})

    def test_a_kernel_that_only_a_call_compiles(self):
        for era in ERAS[::3]:
            configs = plan_configs(random.Random(era.name))
            best = min((c for c in configs if c["spills"] <= 16), key=lambda c: c["ms"])
            with self.subTest(era=era.name):
                rows, error = self.run_it(kernel_file(era, "triton_poi_0", 1000), era.version, configs, "precompile")
                self.assertEqual(error, "")
                self.assertEqual([(row["config"], int(row["time_ns"])) for row in rows],
                                 [(best["name"], round(1e6 * best["ms"]))])

    def test_a_benchmark_of_configs_that_fails(self):
        """The program of the file measures; or, where that has a fault, calls of the kernel are measured."""
        for era in ERAS:
            configs = plan_configs(random.Random(era.name))
            best = min((c for c in configs if c["spills"] <= 16), key=lambda c: c["ms"])
            with self.subTest(era=era.name):
                rows, error = self.run_it(kernel_file(era, "triton_poi_0", 1000), era.version, configs, "configs")
                self.assertEqual(error, "")
                self.assertEqual([int(row["time_ns"]) for row in rows], [round(1e6 * best["ms"])])

    def test_a_kernel_that_does_not_run(self):
        for era in ERAS[::8]:
            with self.subTest(era=era.name):
                rows, error = self.run_it(kernel_file(era, "triton_poi_0", 1000), era.version,
                                          plan_configs(random.Random(1)), "all")
                self.assertIsNone(rows)
                self.assertIn("its benchmark gave no time: RuntimeError: out of memory", error)
                self.assertNotIn(SETTING, error)

    def test_a_file_without_a_benchmark(self):
        rows, error = self.run_it("def call(args): pass\n", 211, [])
        self.assertIsNone(rows)
        self.assertIn(SETTING, error)

    def test_files_of_a_real_compiler(self):
        files = sorted(Path(ARGUMENTS.samples, "data/h100/compiled/kernels").glob("*.py"))
        if not files:
            self.skipTest("no files of TorchInductor under --samples")
        for file in files:
            configs = plan_configs(random.Random(file.name))
            with self.subTest(file=file.name):
                rows, error = self.run_it(file.read_text(encoding="utf-8"), 211, configs)
                self.assertEqual(error, "")
                self.assertEqual(len(rows), len(configs))
                rows, error = self.run_it(file.read_text(encoding="utf-8"), 211, configs, "configs")
                self.assertEqual(len(rows), 1, error)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--borescope", required=True)
    parser.add_argument("--samples", default="no-such-folder")
    ARGUMENTS, others = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *others])
