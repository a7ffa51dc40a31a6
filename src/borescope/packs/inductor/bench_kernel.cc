// bench-kernel: runs the benchmark that TorchInductor put into the file of a kernel that it
// generated, and shows its times beside those of a recording. The code in the file runs in a
// process of its own.
#include "borescope/bench_kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "borescope/base/io/child_process.h"
#include "borescope/catalog/catalog.h"
#include "borescope/engine/access.h"
#include "borescope/engine/inputs/input_files.h"
#include "borescope/engine/run_analyses.h"
#include "borescope/output/utf8.h"
#include "borescope/packs/inductor/bench_output.h"
#include "borescope/packs/inductor/generated_code.h"

namespace borescope::internal {
namespace {

// The program that `bench-kernel` runs in Python. Each of TorchInductor's files has a benchmark if
// it was generated with TORCHINDUCTOR_BENCHMARK_KERNEL=1 (PyTorch 2.1 and later): get_args(),
// call(args), benchmark_all_configs(args), which returns milliseconds by launcher, and a main
// program. The driver prints the lines of bench_output.h. A file without these functions runs as a
// program that prints them itself.
constexpr const char* kBenchDriver = R"python(
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

std::string LastLine(std::string_view text) {
  constexpr size_t kLongest = 500;
  const size_t end = text.find_last_not_of(" \r\n\t");
  text = text.substr(0, end == text.npos ? 0 : end + 1);
  text.remove_prefix(text.rfind('\n') == text.npos ? 0 : text.rfind('\n') + 1);
  return ShortenMiddle(ToPrintable(text), kLongest);
}

std::string_view RemedyOf(std::string_view cause) {
  if (cause.ends_with("ran too long")) return "raise `timeout`";
  const bool has_run = cause.find("how it ended") != std::string_view::npos;
  if (has_run || cause.ends_with("wrote too much")) return "";
  return "install Python with torch, or name it with `python`";
}

Result<std::string> RunHarness(const std::string& file, const BenchKernelOptions& options) {
  Result<ChildOutput> output =
      RunChild({options.python, "-c", kBenchDriver, file}, {.time = options.timeout});
  if (!output.ok()) {
    Error failed = output.error();
    failed.remedy = RemedyOf(failed.cause);
    return failed;
  }
  if (output->status != 0) {
    const std::string said = LastLine(output->err);
    return Error{ErrorCode::kIo,
                 said.empty()
                     ? fmt::format("{} ended with status {}", options.python, output->status)
                     : said,
                 {},
                 file};
  }
  return std::move(output->out);
}

std::optional<int64_t> Nanoseconds(const std::optional<double>& ms) {
  return ms.has_value() ? std::optional<int64_t>(std::llround(*ms * 1e6)) : std::nullopt;
}

std::optional<int64_t> BytesOf(const BenchLine& line) {
  constexpr double kMost = 1e9;
  const bool is_known = line.gigabytes.has_value() && *line.gigabytes <= kMost;
  return is_known ? std::optional<int64_t>(std::llround(*line.gigabytes * 1e9)) : std::nullopt;
}

Table BenchTable(const std::string& kernel, const std::vector<BenchLine>& lines) {
  Table table{"bench", "The benchmark of " + kernel + ", by config", {}};
  table.columns.reserve(8);  // keeps the references below valid
  Column& config = AddString(table, "config", Role::kKey,
                             "Config of the launch; missing if the "
                             "file tells of none.");
  Column& time = AddInt(table, "time_ns", Unit::kNanoseconds, Role::kMin,
                        "Time of a call; missing if the harness left the config out, since it "
                        "spills too many registers or cannot be launched.");
  Column& slower = AddFloat(table, "slowdown", Unit::kNone, Role::kDerived,
                            "Time / that of the fastest config.");
  Column& bytes = AddInt(table, "bytes", Unit::kBytes, Role::kDerived, "Bytes moved at least.");
  Column& rate = AddFloat(table, "gbps", Unit::kGigabytesPerSecond, Role::kDerived,
                          "Bytes / time, as the harness says.");
  Column& registers =
      AddInt(table, "registers", Unit::kCount, Role::kDerived, "Registers of a thread.");
  Column& spills = AddInt(table, "spills", Unit::kCount, Role::kDerived,
                          "Registers kept in memory for want of room.");
  Column& shared =
      AddInt(table, "shared_bytes", Unit::kBytes, Role::kDerived, "Shared memory of a block.");
  for (const BenchLine& line : lines) {
    line.config.empty() ? PushMissing(config) : Push(config, line.config);
    PushOptional(time, Nanoseconds(line.ms));
    const bool is_timed = line.ms.has_value() && lines.front().ms > 0.0;
    is_timed ? Push(slower, *line.ms / *lines.front().ms) : PushMissing(slower);
    PushOptional(bytes, BytesOf(line));
    PushOptional(rate, line.gigabytes_per_second);
    PushOptional(registers, line.registers);
    PushOptional(spills, line.spills);
    PushOptional(shared, line.shared_bytes);
  }
  return table;
}

// Whether `name` is the kernel "triton_poi_fused_add_0" or, from old versions, the same with
// "_0d1d2d".
bool IsKernel(std::string_view name, std::string_view kernel) {
  const bool starts = !kernel.empty() && name.starts_with(kernel);
  return starts && (name.size() == kernel.size() || name.substr(kernel.size()).starts_with("_0d"));
}

Result<AnswerData> TracedKernels(const std::string& trace) {
  RunOptions run;
  const std::string inputs[] = {trace};
  BS_ASSIGN(run.files, ExpandInputs(inputs));
  const AnalysisSpec* kernels = FindAnalysis("kernels");
  return RunAnalysis(*kernels, run);
}

Table NewTraced() {
  Table table{"traced", "The kernel in the recording", {}};
  AddString(table, "name", Role::kKey, "Name of the kernel as recorded.");
  AddInt(table, "count", Unit::kCount, Role::kSum, "Calls.");
  AddFloat(table, "mean_ns", Unit::kNanoseconds, Role::kDerived, "Mean duration.");
  AddInt(table, "min_ns", Unit::kNanoseconds, Role::kMin, "Shortest duration.");
  AddInt(table, "max_ns", Unit::kNanoseconds, Role::kMax, "Longest duration.");
  AddInt(table, "bench_ns", Unit::kNanoseconds, Role::kDerived, "Time of the fastest config.");
  AddFloat(table, "ratio", Unit::kNone, Role::kDerived, "Mean / time of the fastest config.");
  return table;
}

// The rows of the kernel, from the table of `kernels`.
Table TracedTable(const Table& kernels, const std::string& kernel,
                  std::optional<int64_t> bench_ns) {
  Table table = NewTraced();
  const StringValues& names = std::get<StringValues>(kernels.Find("name")->values);
  for (size_t row = 0; row < kernels.rows(); ++row) {
    if (!IsKernel(names[row], kernel)) continue;
    const double mean_ns = std::get<FloatValues>(kernels.Find("mean_ns")->values)[row];
    Push(table.columns[0], names[row]);
    Push(table.columns[1], std::get<IntValues>(kernels.Find("count")->values)[row]);
    Push(table.columns[2], mean_ns);
    Push(table.columns[3], std::get<IntValues>(kernels.Find("min_ns")->values)[row]);
    Push(table.columns[4], std::get<IntValues>(kernels.Find("max_ns")->values)[row]);
    PushOptional(table.columns[5], bench_ns);
    bench_ns > 0 ? Push(table.columns[6], mean_ns / static_cast<double>(*bench_ns))
                 : PushMissing(table.columns[6]);
  }
  return table;
}

Result<Document> BenchFile(const std::string& file, const BenchKernelOptions& options) {
  BS_ASSIGN(const std::optional<std::string> code, ReadGeneratedCode(file));
  if (!code.has_value()) {
    return Error{ErrorCode::kIo, "is not a file that can be read", "name a generated kernel", file};
  }
  const std::string kernel = TritonKernelIn(*code);
  std::optional<AnswerData> traced;
  if (!options.trace.empty()) {
    if (kernel.empty()) {
      return Error{
          ErrorCode::kMissingData, "has no Triton kernel to look for in the trace", {}, file};
    }
    BS_ASSIGN(traced, TracedKernels(options.trace));
  }
  BS_ASSIGN(const std::string output, RunHarness(file, options));
  std::vector<BenchLine> lines = ParseBenchOutput(output);
  if (lines.empty()) {
    return Error{ErrorCode::kMissingData, "has no benchmark, and printed no time",
                 "name the file of one kernel, generated with TORCHINDUCTOR_BENCHMARK_KERNEL=1 by "
                 "PyTorch 2.1 or newer",
                 file};
  }
  std::stable_sort(lines.begin(), lines.end(), [](const BenchLine& a, const BenchLine& b) {
    return a.ms.has_value() && (!b.ms.has_value() || *a.ms < *b.ms);
  });
  Document document;
  document.tables.push_back(BenchTable(kernel.empty() ? file : kernel, lines));
  if (traced.has_value()) {
    document.tables.push_back(
        TracedTable(traced->document.tables.front(), kernel, Nanoseconds(lines.front().ms)));
    document.diagnostics = std::move(traced->document.diagnostics);
  }
  return document;
}

}  // namespace
}  // namespace borescope::internal

namespace borescope {

Result<Answer> BenchKernel(const std::string& file, const BenchKernelOptions& options) {
  return AnswerWith(internal::BenchFile(file, options));
}

}  // namespace borescope
