#include "borescope/bench_kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "borescope/analysis/verbs/inductor/generated_code.h"
#include "borescope/base/io/child_process.h"
#include "borescope/catalog/catalog.h"
#include "borescope/engine/access.h"
#include "borescope/engine/inputs/input_files.h"
#include "borescope/engine/run_analyses.h"
#include "borescope/output/utf8.h"
#include "borescope/verbs/bench_kernel/bench_driver.h"
#include "borescope/verbs/bench_kernel/bench_output.h"

namespace borescope::internal {
namespace {

std::string LastLine(std::string_view text) {
  constexpr size_t kLongest = 500;
  const size_t end = text.find_last_not_of(" \r\n\t");
  text = text.substr(0, end == text.npos ? 0 : end + 1);
  text.remove_prefix(text.rfind('\n') == text.npos ? 0 : text.rfind('\n') + 1);
  return ShortenMiddle(ToPrintable(text), kLongest);
}

std::string_view RemedyOf(std::string_view cause) {
  if (cause.ends_with("ran too long")) return "raise `timeout`";
  if (cause.ends_with("wrote too much")) return "";
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

// "triton_poi_fused_add_0" and, of old versions, the same with "_0d1d2d".
bool IsKernel(std::string_view name, std::string_view kernel) {
  const bool starts = !kernel.empty() && name.starts_with(kernel);
  return starts && (name.size() == kernel.size() || name.substr(kernel.size()).starts_with("_0d"));
}

Result<AnswerData> TracedKernels(const BenchKernelOptions& options) {
  RunOptions run;
  const std::string inputs[] = {options.trace};
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

Result<Document> BenchAndCompare(const std::string& file, const BenchKernelOptions& options) {
  const std::optional<std::string> code = ReadGeneratedCode(file);
  if (!code.has_value()) {
    return Error{ErrorCode::kIo, "is no file that can be read", "name a generated kernel", file};
  }
  const std::string kernel = TritonKernelIn(*code);
  std::optional<AnswerData> traced;
  if (!options.trace.empty()) {
    if (kernel.empty()) {
      return Error{
          ErrorCode::kMissingData, "holds no Triton kernel to look for in the trace", {}, file};
    }
    BS_ASSIGN(traced, TracedKernels(options));
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
  return AnswerWith(internal::BenchAndCompare(file, options));
}

}  // namespace borescope
