// The program that `bench-kernel` runs in Python. TorchInductor's files have a benchmark each where
// it ran with TORCHINDUCTOR_BENCHMARK_KERNEL=1 (PyTorch 2.1 and later): get_args(), call(args),
// benchmark_all_configs(args), which gives milliseconds by launcher, and a program of its own. It
// prints the lines of bench_output.h. A file without these functions runs as a program that prints
// them itself.
#pragma once

namespace borescope::internal {

inline constexpr const char* kBenchDriver = R"python(
import contextlib, importlib.util, io, math, os, re, runpy, sys

def stop(text):
    print(" ".join(text.split()), file=sys.stderr)
    sys.exit(1)

path = sys.argv[1]
sys.path = [folder for folder in sys.path if folder]  # not what happens to lie here
try:
    import torch
except ImportError as error:
    stop(f"this Python has no torch ({error}); install it, or name another one with --python")
if not any(kind.is_available() for kind in (getattr(torch, name, None) for name in ("cuda", "xpu")) if kind):
    stop("torch sees no GPU; run this where the kernel shall run")
sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
spec = importlib.util.spec_from_file_location("benchmarked_kernel", path)
module = importlib.util.module_from_spec(spec)
sys.modules[spec.name] = module
spec.loader.exec_module(module)

def as_program():
    sys.argv = [path]
    runpy.run_path(path, run_name="__main__")

if not hasattr(module, "benchmark_all_configs") or not hasattr(module, "get_args"):
    as_program()
    sys.exit(0)
args = module.get_args()
kernel = next((v for v in vars(module).values() if hasattr(v, "inductor_meta") or hasattr(v, "launchers")), None)

def gigabytes():
    meta = getattr(kernel, "inductor_meta", None) or {}
    if meta.get("kernel_num_gb"):
        return meta["kernel_num_gb"]
    names = list(getattr(getattr(kernel, "fn", None), "arg_names", []))
    tensors = [(names[i] if i < len(names) else "", a) for i, a in enumerate(args)
               if isinstance(a, torch.Tensor)]
    return sum(a.numel() * a.element_size() * (2 if n.startswith("in_out_ptr") else 1)
               for n, a in tensors) / 1e9

# Of what is not compiled yet, benchmark_all_configs measures nothing. A call compiles it, but where there
# are several configs it keeps the launcher of the fastest alone, so that compiling comes first.
def by_config():
    if hasattr(kernel, "precompile") and not getattr(kernel, "launchers", True):
        kernel.precompile()
    return module.benchmark_all_configs(args)

def by_config_after_a_call():
    module.call(args)
    return module.benchmark_all_configs(args)

def by_program():
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        as_program()
    return text.getvalue() if re.search(r"\dms\b", text.getvalue()) else None

# The program of PyTorch 2.10 names its device without quotes, and those of combined kernels do up to 2.12.
def by_calls():
    from triton.testing import do_bench
    launchers = getattr(kernel, "launchers", [])
    return {launchers[0] if len(launchers) == 1 else None: do_bench(lambda: module.call(args))}

def show(timings):
    gb = gigabytes()
    for launcher, ms in timings.items():
        parts = [f"{ms:.6f}ms" if math.isfinite(ms) else "infms", f"{gb:.9f} GB"]
        if math.isfinite(ms) and ms > 0:
            parts.append(f"{gb / (ms / 1e3):.3f}GB/s")
        for name, unit in (("n_regs", "regs"), ("n_spills", "spills"), ("shared", "shared mem")):
            value = getattr(launcher, name, None)
            if value is not None:
                parts.append(f"{value} {unit}")
        config = " ".join(str(getattr(launcher, "config", "")).split())
        print("  ".join(parts) + (f" @ {config}" if config else ""))

causes = []
for way in (by_config, by_config_after_a_call, by_program, by_calls):
    try:
        result = way()
    except Exception as error:
        causes.append(f"{type(error).__name__}: {error}")
        continue
    if result:
        print(result, end="") if isinstance(result, str) else show(result)
        sys.exit(0)
stop("its benchmark gave no time" + (f": {causes[0]}" if causes else ""))
)python";

}  // namespace borescope::internal
