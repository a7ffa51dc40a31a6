// The program that `bench-kernel` runs in Python. TorchInductor's files have a benchmark each where
// it ran with TORCHINDUCTOR_BENCHMARK_KERNEL=1: get_args(), call(args) and, of Triton kernels,
// benchmark_all_configs(args), which gives milliseconds by launcher. It prints the lines of
// bench_output.h. A file without these functions runs as a program that prints them itself.
#pragma once

namespace borescope::internal {

inline constexpr const char* kBenchDriver = R"python(
import importlib.util, os, runpy, sys

def stop(text):
    print(text, file=sys.stderr)
    sys.exit(1)

path = sys.argv[1]
sys.path = [folder for folder in sys.path if folder]  # not what happens to lie here
try:
    import torch
except ImportError as error:
    stop(f"this Python has no torch ({error}); install it, or name another one with --python")
if not torch.cuda.is_available():
    stop("torch sees no GPU; run this where the kernel shall run")
sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
spec = importlib.util.spec_from_file_location("benchmarked_kernel", path)
module = importlib.util.module_from_spec(spec)
sys.modules[spec.name] = module
spec.loader.exec_module(module)

def numbers_of(kernel, args):
    meta = getattr(kernel, "inductor_meta", None) or {}
    if meta.get("kernel_num_gb"):
        return meta["kernel_num_gb"]
    names = list(getattr(getattr(kernel, "fn", None), "arg_names", []))
    tensors = [(names[i] if i < len(names) else "", a) for i, a in enumerate(args)
               if isinstance(a, torch.Tensor)]
    return sum(a.numel() * a.element_size() * (2 if n.startswith("in_out_ptr") else 1)
               for n, a in tensors) / 1e9

if not hasattr(module, "benchmark_all_configs") or not hasattr(module, "get_args"):
    sys.argv = [path]
    runpy.run_path(path, run_name="__main__")
    sys.exit(0)
args = module.get_args()
kernel = next((v for v in vars(module).values() if hasattr(v, "inductor_meta")), None)
gb = numbers_of(kernel, args)
for launcher, ms in module.benchmark_all_configs(args).items():
    parts = [f"{ms:.6f}ms", f"{gb:.6f} GB", f"{gb / (ms / 1e3) if ms else 0:.3f}GB/s"]
    for name, unit in (("n_regs", "regs"), ("n_spills", "spills"), ("shared", "shared mem")):
        value = getattr(launcher, name, None)
        if value is not None:
            parts.append(f"{value} {unit}")
    config = " ".join(str(getattr(launcher, "config", "")).split())
    print("  ".join(parts) + (f" @ {config}" if config else ""))
)python";

}  // namespace borescope::internal
