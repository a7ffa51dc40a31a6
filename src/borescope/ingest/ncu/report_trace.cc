#include "borescope/ingest/ncu/report_trace.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "borescope/base/io/byte_source.h"
#include "borescope/base/io/paths.h"
#include "borescope/base/stop.h"
#include "borescope/base/text/text.h"
#include "borescope/ingest/common_remedies.h"
#include "borescope/ingest/cupti/nvtx_text.h"
#include "borescope/ingest/events/text_reader.h"
#include "borescope/ingest/ncu/counter_reports.h"
#include "borescope/ingest/ncu/forward_bytes.h"
#include "borescope/ingest/ncu/ncu_report.h"
#include "borescope/trace/columns.h"
#include "borescope/trace/trace_builder.h"

namespace borescope::internal {
namespace {

// Numbers of a kernel that tables have columns for.
class MetricNumbers {
 public:
  explicit MetricNumbers(const CounterReport& report) {
    for (uint32_t metric = 0; metric < report.metrics.size(); ++metric) {
      numbers_.emplace(report.metrics[metric].name, metric);
    }
  }

  // A value that is a whole number of at most 31 bits; -1 without one.
  int32_t Small(const CountedKernel& kernel, std::string_view metric) const {
    const std::optional<double> value = Find(kernel, metric);
    constexpr double kMost = std::numeric_limits<int32_t>::max();
    return value.has_value() && *value >= 0 && *value <= kMost
               ? static_cast<int32_t>(std::lround(*value))
               : -1;
  }
  int64_t Whole(const CountedKernel& kernel, std::string_view metric) const {
    const std::optional<double> value = Find(kernel, metric);
    constexpr double kMost = 1e18;
    return value.has_value() && *value >= 0 && *value <= kMost ? std::llround(*value) : kMissing;
  }
  std::string_view Text(const CountedKernel& kernel, std::string_view metric) const {
    const auto number = numbers_.find(metric);
    const auto text = std::find_if(kernel.texts.begin(), kernel.texts.end(), [&](const auto& t) {
      return number != numbers_.end() && t.metric == number->second;
    });
    return text == kernel.texts.end() ? std::string_view() : std::string_view(text->text);
  }

 private:
  std::optional<double> Find(const CountedKernel& kernel, std::string_view metric) const {
    const auto number = numbers_.find(metric);
    if (number == numbers_.end()) {
      return std::nullopt;
    }
    const auto value = std::lower_bound(
        kernel.values.begin(), kernel.values.end(), number->second,
        [](const CountedKernel::Value& v, uint32_t wanted) { return v.metric < wanted; });
    return value == kernel.values.end() || value->metric != number->second
               ? std::nullopt
               : std::optional(value->value);
  }

  std::map<std::string, uint32_t, std::less<>> numbers_;
};

// Makes the rows of one report.
class ReportTrace {
 public:
  explicit ReportTrace(const CounterReport& report) : report_(report), numbers_(report) {
    for (const CountedKernel& kernel : report.kernels) {
      processes_.insert(kernel.pid);
      has_times_ &= kernel.ts_ns >= 0;
    }
    category_ = part_.Intern("counted kernel");
    launch_name_ = part_.Intern(report.amd ? "hipLaunchKernel" : "cudaLaunchKernel");
    domain_ = part_.Intern(report.amd ? "hip" : "cuda");
    for (const CounterMetric& metric : report.metrics) {
      metric_names_.push_back(part_.Intern(metric.name));
    }
  }

  TracePart Make(Diagnostics diagnostics);
  std::vector<DeviceInfo> TakeDevices();

 private:
  // A range of the program that is open.
  struct Open {
    std::string text;
    uint64_t number = 0;
    int64_t ts_ns = 0;
  };
  // A process, whose kernels follow each other.
  struct Process {
    int64_t now_ns = 0;
    std::vector<Open> open;  // outermost first
  };

  void AddKernel(const CountedKernel& kernel);
  void SetRanges(const CountedKernel& kernel, Process& process, int64_t ts_ns);
  void CloseRanges(int64_t pid, Process& process, size_t left);
  void AddRange(const Open& range, int64_t end_ns, TrackId track);
  void AddLaunch(int64_t pid, int64_t ts_ns, int64_t dur_ns, int64_t correlation);
  uint32_t AddKernelDetail(const CountedKernel& kernel);
  uint32_t AddCounters(const CountedKernel& kernel);
  void NoteDevice(const CountedKernel& kernel);

  const CounterReport& report_;
  MetricNumbers numbers_;
  TracePart part_;
  std::set<int64_t> processes_;
  bool has_times_ = true;  // of all kernels
  std::map<int64_t, Process> by_pid_;
  std::map<int64_t, DeviceInfo> devices_;
  std::vector<StringId> metric_names_;
  StringId category_;
  StringId launch_name_;
  StringId domain_;
  int64_t correlation_ = 1;  // of the next kernel; 0 is none
};

// As the reader of Nsight Systems has it: PyTorch's and XLA's texts are operators.
void ReportTrace::AddRange(const Open& range, int64_t end_ns, TrackId track) {
  HostRow row{.ts_ns = range.ts_ns, .dur_ns = end_ns - range.ts_ns, .track = track};
  if (const std::optional<OperatorText> op = ParseOperatorText(range.text)) {
    row.name = part_.Intern(op->name);
    row.kind = HostKind::kOp;
    row.detail = AddOperator(part_, *op);
    AddHostRow(part_.data.host, row);
    return;
  }
  row.kind = HostKind::kAnnotation;
  const std::optional<XlaText> xla = ParseXlaText(range.text);
  const std::string_view texts[] = {
      xla.has_value() ? std::string_view(xla->annotation) : std::string_view(range.text),
      xla.has_value() ? xla->scope : std::string_view()};
  for (const std::string_view text : texts) {
    if (!text.empty()) {
      row.name = part_.Intern(text);
      AddHostRow(part_.data.host, row);
    }
  }
  if (xla.has_value() && !xla->operation.empty()) {
    row.name = part_.Intern(xla->operation);
    row.kind = HostKind::kOp;
    row.detail = AddOperator(part_, {});
    AddHostRow(part_.data.host, row);
  }
}

// Ends all ranges but the `left` outermost ones.
void ReportTrace::CloseRanges(int64_t pid, Process& process, size_t left) {
  if (process.open.size() <= left) {
    return;
  }
  // Of ranges of equal length the outer one comes first.
  const TrackId track = part_.Track(TrackKind::kHost, pid, pid);
  for (size_t i = left; i < process.open.size(); ++i) {
    AddRange(process.open[i], process.now_ns, track);
  }
  process.open.resize(left);
}

// Ranges that the kernel before had open, too, go on.
void ReportTrace::SetRanges(const CountedKernel& kernel, Process& process, int64_t ts_ns) {
  const auto number_of = [&](size_t i) {
    return i < kernel.range_numbers.size() ? kernel.range_numbers[i] : 0;
  };
  size_t same = 0;
  while (same < process.open.size() && same < kernel.ranges.size() &&
         process.open[same].text == kernel.ranges[same] &&
         process.open[same].number == number_of(same)) {
    ++same;
  }
  CloseRanges(kernel.pid, process, same);
  for (size_t i = same; i < kernel.ranges.size(); ++i) {
    process.open.push_back({kernel.ranges[i], number_of(i), ts_ns});
  }
}

void ReportTrace::AddLaunch(int64_t pid, int64_t ts_ns, int64_t dur_ns, int64_t correlation) {
  RuntimeCalls& calls = part_.data.runtime_calls;
  const uint32_t row = AddMissingRow(calls);
  calls.correlation[row] = correlation;
  calls.domain[row] = domain_;
  AddHostRow(part_.data.host, {.ts_ns = ts_ns,
                               .dur_ns = dur_ns,
                               .name = launch_name_,
                               .track = part_.Track(TrackKind::kHost, pid, pid),
                               .kind = HostKind::kRuntime,
                               .detail = row});
}

int32_t Narrow(int64_t size) {
  return static_cast<int32_t>(std::clamp<int64_t>(size, -1, std::numeric_limits<int32_t>::max()));
}

uint32_t ReportTrace::AddKernelDetail(const CountedKernel& kernel) {
  Kernels& kernels = part_.data.kernels;
  const uint32_t row = AddMissingRow(kernels);
  std::array<int64_t, 3> grid = kernel.grid;
  if (report_.amd) {  // work-items in all
    const int64_t block = kernel.block[0];
    grid[0] = block > 0 ? grid[0] / block + (grid[0] % block > 0 ? 1 : 0) : -1;
  }
  const auto set = [row](auto& x, auto& y, auto& z, const std::array<int64_t, 3>& size) {
    x[row] = size[0] > 0 ? Narrow(size[0]) : -1;
    y[row] = size[1] > 0 ? Narrow(size[1]) : -1;
    z[row] = size[2] > 0 ? Narrow(size[2]) : -1;
  };
  set(kernels.grid_x, kernels.grid_y, kernels.grid_z, grid);
  set(kernels.block_x, kernels.block_y, kernels.block_z, kernel.block);
  kernels.registers[row] = numbers_.Small(kernel, "launch__registers_per_thread");
  const int32_t fixed = numbers_.Small(kernel, "launch__shared_mem_per_block_static");
  const int32_t dynamic = numbers_.Small(kernel, "launch__shared_mem_per_block_dynamic");
  if (fixed >= 0 || dynamic >= 0) {
    kernels.shared_bytes[row] = Narrow(int64_t{std::max(fixed, 0)} + int64_t{std::max(dynamic, 0)});
  }
  kernels.occupancy_percent[row] = numbers_.Small(kernel, "sm__maximum_warps_per_active_cycle_pct");
  kernels.stream_handle[row] = StringId{0};
  kernels.has_stream[row] = 1;
  return row;
}

uint32_t ReportTrace::AddCounters(const CountedKernel& kernel) {
  TraceData& data = part_.data;
  const auto range = static_cast<uint32_t>(data.ranges.size());
  data.ranges.first_metric.push_back(static_cast<uint32_t>(data.metrics.size()));
  for (const CountedKernel::Value& value : kernel.values) {
    data.metrics.name.push_back(metric_names_[value.metric]);
    data.metrics.value.push_back(value.value);
  }
  data.ranges.end_metric.push_back(static_cast<uint32_t>(data.metrics.size()));
  return range;
}

void ReportTrace::NoteDevice(const CountedKernel& kernel) {
  const auto [place, is_new] = devices_.try_emplace(kernel.device);
  if (!is_new) {
    return;
  }
  DeviceInfo& device = place->second;
  const std::string_view name = numbers_.Text(kernel, "device__attribute_display_name");
  device.id = kernel.device;
  device.name = name.empty() && !Contains(report_.device, ",") ? report_.device : std::string(name);
  const auto attribute = [&](std::string_view what) {
    return numbers_.Whole(kernel, "device__attribute_" + std::string(what));
  };
  device.total_bytes = attribute("total_memory");
  device.multiprocessors = attribute("multiprocessor_count");
  device.compute_major = attribute("compute_capability_major");
  device.compute_minor = attribute("compute_capability_minor");
  device.warp_size = attribute("warp_size");
  device.max_threads_per_multiprocessor = attribute("max_threads_per_multiprocessor");
}

void ReportTrace::AddKernel(const CountedKernel& kernel) {
  Process& process = by_pid_[kernel.pid];
  if (kernel.dur_ns < 0) {
    part_.data.diagnostics.Count(Diag::kMissingDuration, Diagnostics::kNoByte, kernel.name);
  }
  constexpr int64_t kLatest = int64_t{1} << 61;  // no sum of two times overflows
  const int64_t ts_ns = std::min(has_times_ ? kernel.ts_ns : process.now_ns, kLatest);
  const int64_t dur_ns = std::clamp<int64_t>(kernel.dur_ns, 0, kLatest - ts_ns);
  SetRanges(kernel, process, ts_ns);
  // No time passes in the call: what it takes is not recorded.
  AddLaunch(kernel.pid, ts_ns, std::min<int64_t>(dur_ns, 1), correlation_);
  const TrackId track = part_.Track(TrackKind::kDevice, kernel.device, kernel.stream,
                                    processes_.size() > 1 ? kernel.pid : kMissing);
  DeviceRow row{.ts_ns = ts_ns,
                .dur_ns = dur_ns,
                .name = part_.Intern(kernel.name),
                .track = track,
                .kind = DeviceKind::kKernel,
                .correlation = correlation_++,
                .detail = AddKernelDetail(kernel)};
  AddDeviceRow(part_.data.device, row);
  part_.CountEvent('X', category_, dur_ns);
  if (!kernel.values.empty()) {
    row.kind = DeviceKind::kRange;
    row.detail = AddCounters(kernel);
    AddDeviceRow(part_.data.device, row);
  }
  process.now_ns = ts_ns + dur_ns;
  NoteDevice(kernel);
}

TracePart ReportTrace::Make(Diagnostics diagnostics) {
  part_.data.diagnostics = std::move(diagnostics);
  for (size_t i = 0; i < report_.kernels.size(); ++i) {
    CheckStopAt(i);
    AddKernel(report_.kernels[i]);
  }
  for (auto& [pid, process] : by_pid_) {
    CloseRanges(pid, process, 0);
  }
  if (!has_times_) {
    part_.data.diagnostics.Count(Diag::kMadeUpTimes, Diagnostics::kNoByte, report_.tool);
  }
  return std::move(part_);
}

std::vector<DeviceInfo> ReportTrace::TakeDevices() {
  std::vector<DeviceInfo> devices;
  devices.reserve(devices_.size());
  for (auto& [id, device] : devices_) {
    devices.push_back(std::move(device));
  }
  return devices;
}

}  // namespace

Trace TraceOfReport(const CounterReport& report, TraceFormat format, uint64_t file_bytes,
                    Diagnostics diagnostics, int threads) {
  ReportTrace made(report);
  Meta meta;
  meta.file = report.file;
  meta.format = format;
  meta.remedy = report.amd ? RocprofCountersRemedy : NcuRemedy;
  meta.producer = report.tool;
  meta.vendor = report.amd ? Vendor::kAmd : Vendor::kNvidia;
  meta.file_bytes = file_bytes;
  meta.text_bytes = file_bytes;
  for (const auto& [what, count] : report.sensitive) {
    meta.sensitive.push_back({what, count});
  }
  TraceBuilder builder;
  builder.Append(made.Make(std::move(diagnostics)));
  meta.devices = made.TakeDevices();
  return builder.Finish(std::move(meta), 0, threads);
}

Result<Trace> LoadNcuReportFile(const std::string& path, const LoadOptions& options) {
  return ReadUnchanged(path, [&]() -> Result<Trace> {
    Diagnostics diagnostics;
    BS_ASSIGN(StoredBytes stored, StoredBytes::OfFile(path));
    const uint64_t size = stored.size();
    const std::unique_ptr<ForwardBytes> bytes = OpenForward(std::move(stored));
    BS_ASSIGN(const CounterReport report, ReadNcuReport(*bytes, path, diagnostics));
    if (options.progress) {
      options.progress(size, size);
    }
    return TraceOfReport(report, TraceFormat::kNcuReport, size, std::move(diagnostics),
                         options.threads);
  });
}

Result<Trace> LoadCounterReport(TextReader& reader, const std::string& name,
                                const LoadOptions& options) {
  while (reader.Fill()) {
    CheckStop();
  }
  if (reader.error().has_value()) {
    return InFile(name, *reader.error());
  }
  const std::optional<TraceFormat> format = CounterFormatOf(reader.window());
  Diagnostics diagnostics;
  if (!reader.damage().empty()) {
    diagnostics.Count(Diag::kTruncatedGzip, Diagnostics::kNoByte, reader.damage());
  }
  BS_ASSIGN(const CounterReport report, ReadCounterReportBytes(reader.window(), name, diagnostics));
  return TraceOfReport(report, format.value_or(TraceFormat::kNcuReport), reader.stored_bytes(),
                       std::move(diagnostics), options.threads);
}

Result<Trace> LoadCounterPasses(std::span<const std::string> paths, const LoadOptions& options) {
  Diagnostics diagnostics;
  BS_ASSIGN(const std::vector<CounterReport> reports, ReadCounterReports(paths, diagnostics));
  uint64_t bytes = 0;
  for (const std::string& path : paths) {
    BS_ASSIGN(const std::optional<FileState> state, FileState::Of(path));
    bytes += state.has_value() ? static_cast<uint64_t>(state->bytes) : 0;
  }
  if (options.progress) {
    options.progress(bytes, bytes);
  }
  return TraceOfReport(reports.front(), TraceFormat::kRocprofV3Csv, bytes, std::move(diagnostics),
                       options.threads);
}

Result<std::vector<int64_t>> FindCountedProcesses(std::span<const std::string> paths) {
  std::vector<int64_t> processes;
  BS_ASSIGN(const std::optional<TraceFormat> format, CounterFormatOfFile(paths.front()));
  if (!format.has_value()) {
    return processes;
  }
  Diagnostics ignored;
  const Result<std::vector<CounterReport>> reports = ReadCounterReports(paths, ignored);
  if (!reports.ok()) {
    return reports.error().code == ErrorCode::kIo ? Result<std::vector<int64_t>>(reports.error())
                                                  : processes;
  }
  const CounterReport* const report = &reports->front();
  std::set<int64_t> known;
  for (const CountedKernel& kernel : report->kernels) {
    if (known.insert(kernel.pid).second) {
      processes.push_back(kernel.pid);
    }
  }
  return processes.size() > 1 ? processes : std::vector<int64_t>();
}

std::string_view NcuRemedy(MissingData lack) {
  switch (lack) {
    case MissingData::kHost:
    case MissingData::kLaunches:
    case MissingData::kGraphs:
    case MissingData::kMemory:
    case MissingData::kCopies:
      return "Nsight Compute records kernels alone: record a trace of the same program, and give "
             "this report beside it";
    case MissingData::kDeviceWork:
    case MissingData::kCounters:
      return "ncu measured nothing: if it said ERR_NVGPUCTRPERM, run it as root or load the driver "
             "with NVreg_RestrictProfilingToAdminUsers=0; if no kernel was profiled, look at "
             "--profile-from-start, --launch-skip and --kernel-name";
    case MissingData::kOperators:
      return "run the model in torch.autograd.profiler.emit_nvtx() under ncu --nvtx";
    case MissingData::kSteps:
      return "Nsight Compute runs kernels one by one, so that its steps have no times: record a "
             "trace of the same program";
    case MissingData::kShapes:
      return CommonRemedy(MissingData::kShapes);
    case MissingData::kAnnotations:
      return "mark code with torch.cuda.nvtx.range(\"name\") and record with ncu --nvtx";
    case MissingData::kCollectives:
      return "Nsight Compute cannot replay collectives: record a trace of the same job";
    case MissingData::kNone:
    case MissingData::kCount:
      break;
  }
  return {};
}

std::string_view RocprofCountersRemedy(MissingData lack) {
  switch (lack) {
    case MissingData::kCounters:
    case MissingData::kDeviceWork:
      return "record with rocprofv3 --pmc NAMES --output-format csv";
    case MissingData::kNone:
    case MissingData::kCount:
      return {};
    default:
      return "this file holds counters alone: record with rocprofv3 --sys-trace --pmc NAMES "
             "--output-format rocpd, and give the database";
  }
}

}  // namespace borescope::internal
