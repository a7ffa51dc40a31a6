"""Operators of PyTorch in recordings, against what torch.profiler says of the same program.

Needs a Python with PyTorch: the one that runs this, or BORESCOPE_TORCH_PYTHON.
"""

import collections
import csv
import json
import os
import subprocess
import sys
import unittest

import logs
from support import PROGRAMS
from python_support import BORESCOPE, PACKAGE, PythonTest, clean_environment

TORCH_PYTHON = os.environ.get("BORESCOPE_TORCH_PYTHON") or sys.executable
SKIPPED = 77

MLP = """
import torch
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(32, 64), torch.nn.ReLU(), torch.nn.Linear(64, 8))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
def steps(count):
    for _ in range(count):
        with torch.profiler.record_function("batch"):
            batch = torch.randn(16, 32)
        loss = model(batch).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""

TRANSFORMER = """
import torch
from torch import nn
torch.manual_seed(0)
class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = nn.MultiheadAttention(width, 2, batch_first=True)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))
        self.drop = nn.Dropout(0.1)
    def forward(self, x):
        h = self.first(x)
        x = x + self.drop(self.attention(h, h, h, need_weights=False)[0])
        return x + self.mlp(self.second(x))
class Gpt(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(50, 16)
        self.blocks = nn.ModuleList([Block(16) for _ in range(2)])
        self.head = nn.Linear(16, 50)
    def forward(self, tokens):
        x = self.embedding(tokens)
        for block in self.blocks:
            x = block(x)
        return self.head(x)
model = Gpt()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
def steps(count):
    for _ in range(count):
        tokens = torch.randint(0, 50, (4, 8))
        optimizer.zero_grad()
        following = torch.cat([tokens[:, 1:], tokens[:, :1]], 1)
        nn.functional.cross_entropy(model(tokens).flatten(0, 1), following.flatten()).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
"""

RECORDED = """
steps(1)
import borescope_record as record
with record.range("measured"):
    steps(3)
"""

PROFILED = """
steps(1)
with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], record_shapes=True) as profiler:
    steps(3)
profiler.export_chrome_trace("profiled.json")
"""

OPERATORS = """
SELECT o.id, o.name, o.sequence, o.forward_thread, o.input_dims, o.op_id, o.input_types, o.input_strides,
       o.concrete_inputs FROM ops o {} ORDER BY o.ts_ns, o.id
"""
MEASURED = """
WHERE o.ts_ns >= (SELECT ts_ns FROM host_events WHERE name = 'measured')
  AND o.end_ns <= (SELECT end_ns FROM host_events WHERE name = 'measured')
  AND o.tid = (SELECT tid FROM host_events WHERE name = 'measured')
"""


def flat(dims):
    """Shapes with those of a list of tensors one after the other, as NVTX texts have them."""
    shapes = []
    for shape in json.loads(dims or "[]"):
        shapes.extend(shape if shape and all(isinstance(part, list) for part in shape) else [shape])
    return shapes


class TorchTest(PythonTest):
    python = TORCH_PYTHON

    def operators(self, path, where, exact):
        """Each operator: its name, number, whether it runs backward, its inputs, and the place of its parent."""
        rows = self.query(OPERATORS.format(where), path)
        place = {row[0]: index for index, row in enumerate(rows)}
        return [(name, sequence, bool(forward), dims if exact else flat(dims), place.get(parent),
                 more if exact else None) for _, name, sequence, forward, dims, parent, *more in rows]

    def names_of(self, path, kind):
        rows = self.query(f"SELECT name, count(*) FROM host_events WHERE kind = '{kind}' GROUP BY 1", path)
        return dict(rows)


class Equality(TorchTest):
    def check(self, program, options, exact=False):
        profiled = self.run_plain(program + PROFILED)
        self.assertEqual(profiled.returncode, 0, profiled.stderr)
        self.expect_quiet(self.record(*options, script=program + RECORDED))
        expected = self.operators("profiled.json", "", exact)
        found = self.operators("x.bsr", MEASURED, exact)
        self.assertGreater(len(expected), 300)
        self.assertEqual(len(found), len(expected))
        for index, (one, other) in enumerate(zip(found, expected)):
            self.assertEqual(one, other, f"operator {index} of {len(expected)}")

    def test_mlp(self):
        self.check(MLP, ["--ops", "--shapes"])

    def test_transformer(self):
        self.check(TRANSFORMER, ["--ops=nvtx", "--shapes"])

    def test_mlp_by_the_profiler(self):
        self.check(MLP, ["--ops=profile", "--ops-steps", "2"], exact=True)

    def test_transformer_by_the_profiler(self):
        self.check(TRANSFORMER, ["--ops=profile"], exact=True)

    def calls_of_operators(self, *words):
        result = subprocess.run([BORESCOPE, "ops", *words, "-f", "csv", "-q"], cwd=self.folder, text=True,
                                capture_output=True, check=False, env=clean_environment())
        self.assertEqual(result.returncode, 0, result.stderr)
        table = result.stdout.partition("\n")[2].partition("\n\n")[0]
        return {row["name"]: row["calls"] for row in csv.DictReader(table.splitlines())}

    def test_ops_has_the_same_calls(self):
        self.run_plain(TRANSFORMER + PROFILED)
        self.expect_quiet(self.record("--ops", script=TRANSFORMER + RECORDED))
        expected = self.calls_of_operators("profiled.json", "--top", "100000")
        self.assertGreater(len(expected), 50)
        self.assertEqual(self.calls_of_operators("x.bsr", "--annotation", "measured", "--top", "100000"), expected)

    def test_verbs_answer(self):
        self.run_plain(MLP + PROFILED)
        for way in (["--ops", "--shapes"], ["--ops=profile"]):
            self.expect_quiet(self.record(*way, script=MLP + RECORDED))
            for verb in ("ops", "flame", "prof", "roofline", "summary", "doctor"):
                with self.subTest(verb, way=way):
                    answers = [subprocess.run([BORESCOPE, verb, path, "-q"], cwd=self.folder, text=True,
                                              capture_output=True, check=False, env=clean_environment())
                               for path in ("x.bsr", "profiled.json")]
                    self.assertEqual(answers[0].returncode, answers[1].returncode, answers[0].stderr)


class Manners(TorchTest):
    def test_modules_have_their_names(self):
        self.expect_quiet(self.record("--ops", script=TRANSFORMER + "steps(2)"))
        modules = {name: count for name, count in self.names_of("x.bsr", "annotation").items()
                   if name.startswith("module:")}
        self.assertEqual(modules["module:Gpt"], 2)
        self.assertEqual(modules["module:blocks.1.mlp.0"], 2)
        self.assertEqual(modules["module:blocks.0.attention"], 2)
        rows = self.query("SELECT DISTINCT p.name FROM host_events h JOIN host_events p ON p.id = h.parent_id "
                          "WHERE h.name = 'module:blocks.1.mlp.0'", "x.bsr")
        self.assertEqual(rows, [("module:blocks.1.mlp",)])

    def test_a_module_is_named_by_the_larger_of_its_roots(self):
        script = """
import torch
inner = torch.nn.Sequential(torch.nn.Linear(2, 2))
outer = torch.nn.Sequential(inner, torch.nn.ReLU())
x = torch.ones(1, 2)
inner(x), outer(x), inner(x)
"""
        self.expect_quiet(self.record("--ops", script=script))
        names = [record.text for record in self.log_of().of(logs.PUSH) if record.text.startswith("module:")]
        self.assertEqual(names, ["module:Sequential", "module:0",
                                 "module:Sequential", "module:0", "module:0.0", "module:1",
                                 "module:0", "module:0.0"])

    def test_ranges_of_the_program_are_none_of_operators(self):
        self.expect_quiet(self.record("--ops", script=MLP + "steps(1)"))
        ranges = self.names_of("x.bsr", "annotation")
        self.assertEqual(ranges["batch"], 1)
        self.assertEqual(ranges["Optimizer.step#SGD.step"], 1)
        self.assertFalse({"batch", "Optimizer.step#SGD.step"} & set(self.names_of("x.bsr", "op")))

    def test_an_exception_leaves_nothing_open(self):
        script = """
import torch
class Raises(torch.nn.Module):
    def __init__(self, error):
        super().__init__()
        self.inner, self.error = torch.nn.Linear(2, 2), error
    def forward(self, x):
        x = self.inner(x)
        raise self.error
outer = torch.nn.Sequential(Raises(ValueError()), torch.nn.ReLU())
stops = torch.nn.Sequential(Raises(KeyboardInterrupt()))
for model in (outer, stops, outer):
    try:
        model(torch.ones(1, 2))
    except (ValueError, KeyboardInterrupt):
        pass
    try:
        torch.ones(2) @ torch.ones(3)
    except RuntimeError:
        pass
class Around(torch.nn.Module):
    def forward(self, x):
        try:
            return stops(x)
        except KeyboardInterrupt:
            return x
Around()(torch.ones(1, 2))
"""
        for way in ("nvtx", "profile"):
            self.expect_quiet(self.record(f"--ops={way}", script=script))
            log = self.log_of()
            done = collections.Counter(text for _, text in logs.finished(log))
            pushed = collections.Counter(record.text for record in log.of(logs.PUSH))
            # What no hook of PyTorch is called for is closed with what is around it.
            left = pushed - done
            self.assertLessEqual(set(left), {"module:Sequential", "module:0"})
            self.assertEqual(done["module:Around"], 1)
            self.assertEqual(pushed["module:inner"] + pushed["module:0.inner"],
                             done["module:inner"] + done["module:0.inner"])

    def test_steps_of_an_optimizer_start_and_stop(self):
        """Without --ops, too; and those of the program are its own to count."""
        marks = MLP.replace("        loss =", "        record.mark('batch')\n        loss =")
        for own in ("", "record.step(10)\n"):
            script = f"import borescope_record as record\n{own}{marks}\nsteps(6)\n"
            for ops in ([], ["--ops"]):
                self.expect_quiet(self.record(*ops, "--start=step:2", "--stop=step:5", script=script))
                found = [mark.text for log in self.logs_of() for mark in log.of(logs.MARK)]
                self.assertEqual(found, [] if own else ["batch"] * 3)

    def test_calls_of_the_cuda_runtime(self):
        """PyTorch's own calls start and stop, and return what they return without a recording."""
        script = """
import torch
import borescope_record as record
runtime = getattr(torch._C, "_cudart", None)
if runtime is None:
    print("without CUDA")
else:
    record.mark("before")
    started = runtime.cudaProfilerStart()
    record.mark("within")
    print(int(started), int(runtime.cudaProfilerStop()))
    record.mark("after")
"""
        plain = self.run_plain(script, PYTHONPATH=str(PACKAGE))
        if plain.stdout == "without CUDA\n":
            self.skipTest("a PyTorch without CUDA")
        result = self.record("--start=api", script=script, PYTHONPATH=str(PACKAGE))
        self.assertEqual((result.returncode, result.stdout), (0, plain.stdout))
        self.assertEqual([mark.text for mark in self.log_of().of(logs.MARK)], ["within"])

    def test_steps_of_pytorchs_profiler(self):
        script = """
import torch
import borescope_record as record
with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profiler:
    for number in range(5):
        record.mark(str(number))
        profiler.step()
"""
        result = self.record("--start=step:2", "--stop=step:4", script=script)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual([mark.text for mark in self.log_of().of(logs.MARK)], ["2", "3"])

    def test_every_thread_and_backward(self):
        script = MLP + """
import threading
class Own(threading.Thread):
    def run(self):
        torch.ones(3).add(1)
threads = [threading.Thread(target=lambda: torch.ones(3).mul(2)), Own()]
for thread in threads:
    thread.start()
    thread.join()
"""
        for way in ("nvtx", "profile"):
            self.expect_quiet(self.record(f"--ops={way}", script=script))
            rows = self.query("SELECT name, count(DISTINCT tid), count(*) FROM ops "
                              "WHERE name IN ('aten::ones', 'aten::add', 'aten::mul') GROUP BY 1 ORDER BY 1", "x.bsr")
            self.assertEqual(rows, [("aten::add", 1, 1), ("aten::mul", 1, 1), ("aten::ones", 2, 2)])

    def test_processes(self):
        script = """
import multiprocessing
import torch
def work(way):
    torch.ones(3).mul(2)
if __name__ == "__main__":
    torch.ones(3).add(1)
    for way in ("fork", "spawn"):
        process = multiprocessing.get_context(way).Process(target=work, args=(way,))
        process.start()
        process.join()
        assert process.exitcode == 0
"""
        self.expect_quiet(self.record("--ops", script=script))
        found = collections.Counter(record.text.partition(",")[0] for log in self.logs_of()
                                    for record in log.of(logs.PUSH))
        self.assertEqual((found["aten::mul"], found["aten::add"]), (2, 1))

    def test_the_program_profiles_itself(self):
        script = MLP + """
torch.ones(1).add(1)
with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profiler:
    torch.ones(1).mul(1)
torch.ones(1).sub(1)
with torch.autograd.profiler.profile() as second:
    torch.ones(1).mul(1)
torch.ones(1).sub(1)
print([event.key for event in profiler.key_averages() if event.key == "aten::mul"])
"""
        for way in ("nvtx", "profile"):
            result = self.record(f"--ops={way}", script=script)
            self.assertEqual((result.returncode, result.stdout), (0, "['aten::mul']\n"), result.stderr)
            ops = self.names_of("x.bsr", "op")
            self.assertEqual((ops.get("aten::add"), ops.get("aten::sub"), ops.get("aten::mul")), (1, 2, None))
            ranges = self.names_of("x.bsr", "annotation")
            self.assertEqual(ranges["borescope: no operators, the program profiles itself"], 2)

    def test_the_program_profiles_all_its_threads(self):
        """PyTorch ends such a profiler wherever one is ended."""
        script = """
import threading
import torch
from torch._C._profiler import _ExperimentalConfig
go = threading.Event()
def work():
    torch.ones(3).mul(1)
    go.wait()
    torch.ones(3).mul(1)
def profile(threads):
    config = _ExperimentalConfig(profile_all_threads=threads)
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU],
                                experimental_config=config) as profiler:
        go.set()
        early.join()
        late = threading.Thread(target=lambda: torch.ones(3).sub(1))
        late.start()
        late.join()
        torch.ones(3).add(1)
    return {event.key: event.count for event in profiler.key_averages() if event.key in ("aten::add", "aten::sub")}
early = threading.Thread(target=work)
early.start()
print(sorted(profile(True).items()))
early = threading.Thread(target=lambda: print(sorted(profile(False).items())))
early.join = lambda: None
early.start()
threading.Thread.join(early)
torch.ones(3).div(1)
"""
        for way in ("nvtx", "profile"):
            result = self.record(f"--ops={way}", script=script)
            self.assertEqual((result.returncode, result.stdout),
                             (0, "[('aten::add', 1), ('aten::sub', 1)]\n[('aten::add', 1)]\n"), result.stderr)
            self.assertEqual(self.names_of("x.bsr", "op").get("aten::div"), 1)

    def test_compiled_regions_stay_whole(self):
        script = """
import torch
import borescope_record as record
model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU())
with record.ops():
    compiled = torch.compile(model, backend="eager", fullgraph=True)
    compiled(torch.ones(2, 4))
    torch.compile(lambda x: torch.sin(x) + x, backend="eager", fullgraph=True)(torch.ones(3))
"""
        self.expect_quiet(self.record("--ops", script=script))
        self.assertIn("aten::sin", self.names_of("x.bsr", "op"))

    def test_models_are_let_go(self):
        script = """
import gc, weakref
import torch
model = torch.nn.Sequential(torch.nn.Linear(2, 2))
model(torch.ones(1, 2))
reference = weakref.ref(model)
del model
gc.collect()
print(reference())
"""
        self.expect_quiet(self.record("--ops", script=script), "None\n")

    def test_a_pytorch_that_lacks_what_is_called(self):
        """One that is so old, or so new: the program does not notice, and the log says so."""
        self.write("theirs/sitecustomize.py", """
import sys
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == "torch.optim":
            import torch._C._autograd
            del torch._C._autograd._enable_profiler
sys.meta_path.insert(0, Finder())
""")
        for way in ("nvtx", "profile"):
            result = self.record(f"--ops={way}", script=MLP + "steps(1); print('done')",
                                 PYTHONPATH=str(self.folder / "theirs"))
            self.assertEqual((result.returncode, result.stdout), (0, "done\n"), result.stderr)
            log = self.log_of()
            self.assertIn("operators are not recorded", log.of(logs.MARK)[0].text)
            self.assertIn("module:0", [record.text for record in log.of(logs.PUSH)])


CALLS = """
import torch
import borescope_record as record
model = torch.nn.Linear(4, 3)
recurrent = torch.nn.LSTM(4, 5)
x = torch.ones(2, 4)
with record.ops():
    y = model(x)
    z = torch.cat([y, y * 1.5], dim=1)
    torch.nn.functional.softmax(z, dim=-1)
    recurrent(torch.ones(3, 1, 4))
    y.sum().mul(float("inf"))
    z.shape, z.size()
    try:
        torch.ones(2) @ torch.ones(3)
    except RuntimeError:
        pass
torch.ones(7)
"""


class Calls(TorchTest):
    def calls(self, log):
        import ast
        texts = [record.text for record in log.of(logs.PUSH) if record.text.startswith("{'mod'")]
        return [call for call in map(ast.literal_eval, texts) if "op" in call]

    def test_calls_as_pyprof_has_them(self):
        self.expect_quiet(self.record("--ops", script=CALLS))
        log = self.log_of()
        logs.finished(log)
        calls = self.calls(log)
        tensor = {"name": "", "type": "tensor", "shape": (2, 3), "dtype": "float32"}
        self.assertIn({"mod": "torch", "op": "cat", "args": [
            tensor, tensor, {"name": "dim", "type": "int", "value": 1}]}, calls)
        names = [(call["mod"], call["op"]) for call in calls]
        for name in (("torch.nn.functional", "linear"), ("torch.nn.functional", "softmax"),
                     ("LSTM", "forward"), ("Tensor", "sum"), ("Tensor", "matmul")):
            self.assertIn(name, names)
        self.assertNotIn(("Tensor", "size"), names)
        self.assertEqual(calls[-1]["op"], "matmul")
        multiplied = next(call for call in calls if call["op"] == "mul" and call["args"][0]["shape"] == ())
        self.assertEqual(multiplied["args"][1], {"name": "", "type": "float", "value": "inf"})
        stacks = [record.text for record in log.of(logs.PUSH) if record.text.startswith("{'traceMarker'")]
        self.assertEqual(len(stacks), len(calls))
        self.assertTrue(all("program.py:" in stack and "borescope_record" not in stack for stack in stacks))
        self.assertIn({"mod": "LSTM", "strRepr": "4, 5"},
                      [eval(r.text) for r in log.of(logs.PUSH) if "'strRepr'" in r.text])  # noqa: S307

    def test_values_of_tensors_are_not_read(self):
        script = """
import torch
import borescope_record as record
def fail(self):
    raise AssertionError("a value was read")
x = torch.tensor(2.0)
torch.Tensor.item = torch.Tensor.tolist = torch.Tensor.__float__ = fail
with record.ops():
    torch.add(x, x)
"""
        self.expect_quiet(self.record("--ops", script=script))
        self.assertEqual(self.calls(self.log_of())[-1]["args"][0],
                         {"name": "", "type": "tensor", "shape": (), "dtype": "float32"})

    def test_long_texts_are_still_whole(self):
        script = """
import torch
import borescope_record as record
def deep(count):
    if count:
        return deep(count - 1)
    return torch.cat([torch.ones(2)] * 500)
with record.ops():
    deep(300)
"""
        self.expect_quiet(self.record("--ops", script=script))
        log = self.log_of()
        self.assertFalse([r.text for r in log.of(logs.PUSH) if r.is_cut and r.text.startswith("{")])
        self.assertEqual(self.calls(log)[-1]["op"], "cat")


# Kernels that a simulated CUPTI says there were, within what calls them.
DEVICE = """
import ctypes, time
import torch
import borescope_record as record
driver = ctypes.CDLL("libcuda.so.1", mode=ctypes.RTLD_GLOBAL)
assert driver.cuInit(0) == 0
cupti = ctypes.CDLL("libsimcupti.so")
numbers = iter(range(1, 1000))
def plant(name):
    number, begin = next(numbers), time.monotonic_ns()
    call = [ctypes.c_uint64(time) for time in (begin, begin + 1000)]
    cupti.simcupti_call(5, 211, number, *call, 0)
    cupti.simcupti_kernel(number, ctypes.c_uint64(begin + 2000), ctypes.c_uint64(begin + 9000), name)
    time.sleep(0.001)
class Twice(torch.autograd.Function):
    @staticmethod
    def forward(context, x):
        plant(b"forward_kernel")
        return x * 2
    @staticmethod
    def backward(context, gradient):
        plant(b"backward_kernel")
        return gradient * 2
original = torch.Tensor.softmax
def softmax(self, *arguments, **named):
    plant(b"softmax_kernel")
    return original(self, *arguments, **named)
torch.Tensor.softmax = softmax
x = torch.ones(4, 8, requires_grad=True) * 1  # sequence number 0, which PyTorch also writes where there is none
with record.ops():
    y = torch.nn.functional.softmax(x, dim=-1)
# Runs before the node of softmax, within the engine's call of it.
y.register_hook(lambda gradient: plant(b"softmax_backward_kernel"))
Twice.apply(y).sum().backward()
"""

# What PyTorch does with CUPTI on a GPU, in its place: before we know its functions.
THIEF = """
import sys
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == "torch.optim":
            sys.meta_path.remove(self)
            import ctypes, torch._C._autograd as profiler
            kineto = ctypes.CDLL("libsimkineto.so")
            prepare, disable, seen = profiler._prepare_profiler, profiler._disable_profiler, []
            def steal(config, activities):
                seen.append(int(any(activity.name != "CPU" for activity in activities)))
                assert kineto.simkineto_start(seen[-1], {} and not seen[-1]) == 0
                return config and prepare(config, activities)
            def give():
                if not seen:  # the observer's
                    return disable()
                sees_device = seen.pop()
                result = None if sees_device else disable()
                kineto.simkineto_stop(sees_device)
                return result
            profiler._prepare_profiler, profiler._disable_profiler = steal, give
sys.meta_path.insert(0, Finder())
"""

STOLEN = """
import ctypes, time
driver = ctypes.CDLL("libcuda.so.1", mode=ctypes.RTLD_GLOBAL)
assert driver.cuInit(0) == 0
cupti = ctypes.CDLL("libsimcupti.so")
import torch
numbers, names = iter(range(1, 1000000)), []
def plant(name):
    names.append(name)  # whose memory is read later
    for _ in range(40):
        number, begin = next(numbers), time.monotonic_ns()
        call = [ctypes.c_uint64(time) for time in (begin, begin + 1000)]
        cupti.simcupti_call(5, 211, number, *call, 0)
        cupti.simcupti_kernel(number, ctypes.c_uint64(begin + 2000), ctypes.c_uint64(begin + 9000), name)
parameter = torch.nn.Parameter(torch.ones(2))
optimizer = torch.optim.SGD([parameter], lr=0.1)
for step in range(9):
    plant(b"step_%d" % step)
    optimizer.zero_grad()
    parameter.sum().backward()
    optimizer.step()
with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]):
    plant(b"during_profile_of_processor")
class Cuda:
    name = "CUDA"
torch._C._autograd._prepare_profiler(None, [Cuda()])
plant(b"during_profile_of_device")
torch._C._autograd._disable_profiler()
plant(b"after")
print("done")
"""


class Device(TorchTest):
    def answer(self, *words):
        result = subprocess.run([BORESCOPE, *words, "-f", "csv", "-q"], cwd=self.folder, text=True,
                                capture_output=True, check=False, env=clean_environment())
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def test_kernels_belong_to_operators_and_calls(self):
        result = self.record("--ops", "--shapes", script=DEVICE, BORESCOPE_CUPTI=str(PROGRAMS / "libsimcupti.so"),
                             LD_LIBRARY_PATH=str(PROGRAMS), SIMCUPTI_VERSION="28")
        # PyTorch itself warns of a driver that can do so little.
        self.assertEqual(result.returncode, 0, result.stderr)
        rows = self.query("SELECT k.name, o.name FROM kernels k JOIN ops o ON o.id = k.op_id ORDER BY k.ts_ns",
                          "x.bsr")
        node = "autograd::engine::evaluate_function: SoftmaxBackward0"
        self.assertEqual(rows, [("forward_kernel", "Twice"), ("backward_kernel", "TwiceBackward"),
                                ("softmax_backward_kernel", node)])
        rows = list(csv.DictReader(self.answer("prof", "--compat", "pyprof", "x.bsr").splitlines()[1:]))
        self.assertEqual([(row["Op"], row["Direction"]) for row in rows],
                         [("softmax", "fprop"), ("Twice", "fprop"), ("Twice", "bprop"),
                          (node, "bprop")])
        self.assertIn("4,8", rows[0]["Params"].replace(" ", ""))

    def record_beside_thief(self, is_past, *options):
        self.write("theirs/sitecustomize.py", THIEF.format(int(is_past)))
        result = self.record(*options, script=STOLEN, BORESCOPE_CUPTI=str(PROGRAMS / "libsimcupti.so"),
                             LD_LIBRARY_PATH=str(PROGRAMS), SIMCUPTI_VERSION="28",
                             PYTHONPATH=str(self.folder / "theirs"))
        self.assertEqual((result.returncode, result.stdout), (0, "done\n"), result.stderr)
        return self.log_of()

    def test_pytorchs_profiler_leaves_the_device_to_us(self):
        """As on a GPU, where it asks CUPTI for all records whatever it profiles."""
        for is_past in (False, True):
            for options in (("--ops=profile", "--ops-steps=2"), ("--ops",)):
                with self.subTest(is_past=is_past, options=options):
                    log = self.record_beside_thief(is_past, *options)
                    kernels = [log.strings()[k.body[3] >> 32] for k in log.of(logs.KERNEL)]
                    expected = [f"step_{step}" for step in range(9) for _ in range(40)]
                    expected += ["during_profile_of_processor"] * 40
                    # The program's own profile of the device is its own.
                    self.assertEqual([k for k in kernels if k != "during_profile_of_device"], expected + ["after"] * 40)
                    texts = [s.text for s in log.of(logs.STATE) if s.a == 6]
                    self.assertEqual(len(texts), 1, texts)


def has_torch():
    found = subprocess.run([TORCH_PYTHON, "-c", "import torch"], capture_output=True, check=False)
    return found.returncode == 0


if __name__ == "__main__":
    if not has_torch():
        print(f"skipped: {TORCH_PYTHON} has no PyTorch; name one that has in BORESCOPE_TORCH_PYTHON")
        sys.exit(SKIPPED)
    unittest.main()
