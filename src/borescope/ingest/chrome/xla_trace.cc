// Traces of XLA's profiler, as JAX and TensorFlow write them for TensorBoard: processes are devices
// and the host, lines of a device its streams, and arguments are texts.
#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <tuple>
#include <utility>
#include <vector>

#include "borescope/base/hash/hash_tables.h"
#include "borescope/base/stop.h"
#include "borescope/base/text/text.h"
#include "borescope/ingest/chrome/chrome_document.h"
#include "borescope/ingest/chrome/chrome_trace.h"
#include "borescope/json/number.h"
#include "borescope/trace/columns.h"

namespace borescope::internal {
namespace {

struct XlaKey {
  enum : size_t {
    kCorrelation,
    kHloOp,
    kHloModule,
    kKernelDetails,
    kMemcpyDetails,
    kMemsetDetails,
    kMemallocDetails,
    kStepNumber,
    kGraphNode,
  };
};
constexpr std::array<std::string_view, 9> kXlaKeys = {
    "correlation_id", "hlo_op",           "hlo_module", "kernel_details",    "memcpy_details",
    "memset_details", "memalloc_details", "step_num",   "cuda_graph_node_id"};

// The viewer keeps about so many events of a longer recording.
constexpr uint64_t kMostOfViewer = 990'000;

// Lines that repeat the work of the streams in other units.
constexpr std::string_view kDerivedLines[] = {"Steps",
                                              "XLA Modules",
                                              "XLA Ops",
                                              "Framework Ops",
                                              "Framework Name Scope",
                                              "TensorFlow Ops",
                                              "TensorFlow Name Scope",
                                              "Launch Stats",
                                              "Source code",
                                              "XLA TraceMe"};

// The number after the last colon of "/device:GPU:3"; nothing for what is no such device.
struct Device {
  bool is_device = false;
  bool is_tpu = false;
  int64_t number = 0;
};

Device DeviceOf(std::string_view process) {
  const size_t at = process.find("/device:");
  if (at == std::string_view::npos || Contains(process, "/device:CUSTOM") ||
      Contains(process, "/device:CPU")) {
    return {};
  }
  const size_t digits = process.find_last_not_of("0123456789") + 1;
  const ParsedNumber number = ParseInteger(process.substr(digits));
  return {true, Contains(process, "/device:TPU"),
          number.status == NumberStatus::kOk ? number.value : 0};
}

// The value of "key:value" among values that blanks separate.
std::string_view Detail(std::string_view details, std::string_view key) {
  while (!details.empty()) {
    const size_t end = std::min(details.find(' '), details.size());
    const std::string_view field = details.substr(0, end);
    if (field.size() > key.size() && field.starts_with(key) && field[key.size()] == ':') {
      return field.substr(key.size() + 1);
    }
    details.remove_prefix(std::min(end + 1, details.size()));
  }
  return {};
}

int32_t DetailNumber(std::string_view details, std::string_view key) {
  const ParsedNumber number = ParseInteger(Detail(details, key));
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  return number.status == NumberStatus::kOk && number.value >= 0
             ? static_cast<int32_t>(std::min(number.value, kMost))
             : -1;
}

// "128,1,1".
std::array<int32_t, 3> Triple(std::string_view text) {
  std::array<int32_t, 3> triple{-1, -1, -1};
  for (int32_t& number : triple) {
    const size_t end = std::min(text.find(','), text.size());
    const ParsedNumber parsed = ParseInteger(text.substr(0, end));
    number = parsed.status == NumberStatus::kOk && parsed.value <= INT32_MAX && parsed.value >= 0
                 ? static_cast<int32_t>(parsed.value)
                 : -1;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return triple;
}

// "$profiler.py:151 start_trace" is a frame of Python.
bool IsFrame(std::string_view name) { return name.size() > 1 && name.front() == '$'; }

bool IsProfilersOwn(std::string_view name) {
  constexpr std::string_view kOwn[] = {"BUFFER_FLUSH", "INSTRUMENTATION", "RESOURCE", "COMPILER",
                                       "<UNKNOWN>"};
  return std::find(std::begin(kOwn), std::end(kOwn), name) != std::end(kOwn) ||
         name.starts_with("end: ");
}

bool IsCall(std::string_view name) {
  return name.starts_with("cu") || name.starts_with("hip") || name.starts_with("hsa");
}

// An operation of a compiled module, as kernels name it.
struct Operation {
  std::string_view module;
  std::string_view name;
  bool operator==(const Operation&) const = default;
};

class XlaTrace {
 public:
  explicit XlaTrace(ChromeRows& rows) : rows_(rows), trace_(rows.part()) {}

  void AddAll() {
    for (const auto& [pid, name] : rows_.processes()) {
      devices_[pid] = DeviceOf(name);
    }
    for (const ChromeRows::Row& row : rows_.rows()) {
      if (const std::string_view op = rows_.Arg(row, XlaKey::kHloOp);
          !op.empty() && DeviceOfRow(row) != nullptr) {
        operation_names_.insert(Text(op).value);
      }
    }
    for (const ChromeRows::Row& row : rows_.rows()) {
      CheckStopAt(++seen_);
      if (row.phase == 'X') {
        const Device* const device = DeviceOfRow(row);
        device != nullptr ? AddDevice(row, *device) : AddHost(row);
      }
    }
    // Each list by itself.
    for (auto& [place, windows] : recorded_.InAnyOrder()) {
      std::sort(windows.begin(), windows.end());
    }
    AddOperations();
  }

  Vendor vendor() const { return vendor_; }
  bool saw_tpu() const { return saw_tpu_; }

 private:
  // nullptr for events of the host.
  const Device* DeviceOfRow(const ChromeRows::Row& row) const {
    const auto device = devices_.find(row.pid);
    return device != devices_.end() && device->second.is_device ? &device->second : nullptr;
  }

  struct Launch {
    TrackId track;
    int64_t ts_ns;
    int64_t dur_ns;
  };
  // A row of device work that names its operation.
  struct Work {
    int64_t correlation;
    Operation operation;
    size_t row;  // of the part's device events
  };

  void AddHost(const ChromeRows::Row& row) {
    const std::string_view name = rows_.Text(row.name);
    const TrackId track = trace_.Thread(row.pid, row.tid, rows_.ThreadName(row.pid, row.tid));
    const std::optional<int64_t> correlation = rows_.Number(row, XlaKey::kCorrelation);
    if (correlation.has_value() || IsCall(name)) {
      vendor_ = name.starts_with("hip") ? Vendor::kAmd : Vendor::kNvidia;
      trace_.AddHost(HostKind::kRuntime, row.name, track, row.ts_ns, row.dur_ns,
                     trace_.AddCall(correlation.value_or(kMissing)));
      if (correlation.has_value()) {
        launches_.try_emplace(*correlation, Launch{track, row.ts_ns, row.dur_ns});
      }
    } else if (const auto step = rows_.Number(row, XlaKey::kStepNumber); step.has_value()) {
      trace_.AddStep(*step, row, track);
    } else if (IsFrame(name)) {
      const StringId frame = rows_.part().Intern(std::string(name.substr(1)));
      trace_.AddHost(HostKind::kPython, frame, track, row.ts_ns, row.dur_ns);
    } else if (!rows_.Arg(row, XlaKey::kHloOp).empty()) {
      trace_.AddHost(HostKind::kOp, row.name, track, row.ts_ns, row.dur_ns);
    } else if (operation_names_.contains(row.name.value)) {
      trace_.AddHost(HostKind::kOp, row.name, track, row.ts_ns, row.dur_ns);
      recorded_[{track.value, row.name.value}].emplace_back(row.ts_ns, row.ts_ns + row.dur_ns);
    } else {
      trace_.AddHost(IsProfilersOwn(name) ? HostKind::kOther : HostKind::kAnnotation, row.name,
                     track, row.ts_ns, row.dur_ns);
    }
  }

  DeviceKind KindOf(const ChromeRows::Row& row, std::string_view line, bool is_tpu) const {
    const std::string_view name = rows_.Text(row.name);
    const bool is_async = line == "Async XLA Ops";
    if (is_tpu ? line != "XLA Ops" && !is_async
               : std::find(std::begin(kDerivedLines), std::end(kDerivedLines), line) !=
                     std::end(kDerivedLines)) {
      return DeviceKind::kAnnotation;
    }
    if (line == "CUPTI overhead" || line == "_counters_" ||
        !rows_.Arg(row, XlaKey::kMemallocDetails).empty()) {
      return DeviceKind::kOther;
    }
    if (!rows_.Arg(row, XlaKey::kMemcpyDetails).empty() || name.starts_with("Memcpy") ||
        (name.starts_with("Copy") && Contains(name, "To")) ||
        (is_async && name.starts_with("copy"))) {
      return DeviceKind::kMemcpy;
    }
    return !rows_.Arg(row, XlaKey::kMemsetDetails).empty() || name.starts_with("Memset")
               ? DeviceKind::kMemset
               : DeviceKind::kKernel;
  }

  void AddDevice(const ChromeRows::Row& row, const Device& device) {
    const std::string_view line = rows_.ThreadName(row.pid, row.tid);
    ChromeTrace::DeviceRow work;
    work.kind = KindOf(row, line, device.is_tpu);
    saw_tpu_ |= device.is_tpu;
    work.name = row.name;
    work.track = trace_.Stream(device.number, row.tid, line);
    work.ts_ns = row.ts_ns;
    work.dur_ns = row.dur_ns;
    work.correlation = rows_.Number(row, XlaKey::kCorrelation).value_or(kMissing);
    if (work.kind == DeviceKind::kKernel) {
      work.detail = AddKernel(row);
    } else if (IsDeviceWork(work.kind)) {
      const std::string_view details = rows_.Arg(
          row, work.kind == DeviceKind::kMemcpy ? XlaKey::kMemcpyDetails : XlaKey::kMemsetDetails);
      const std::string_view size = Detail(details, "size");
      const ParsedNumber bytes = ParseInteger(size.empty() ? Detail(details, "num_bytes") : size);
      work.detail = trace_.AddCopy(bytes.status == NumberStatus::kOk ? bytes.value : 0);
    }
    const Operation operation{rows_.Arg(row, XlaKey::kHloModule), rows_.Arg(row, XlaKey::kHloOp)};
    if (IsDeviceWork(work.kind) && !operation.name.empty()) {
      work_.push_back({work.correlation, operation, rows_.part().data.device.size()});
    }
    trace_.AddDevice(work);
  }

  // Some AMD builds wrote stray memory as registers, and 0 as occupancy.
  uint32_t AddKernel(const ChromeRows::Row& row) {
    constexpr int32_t kMostRegisters = 1024;
    const std::string_view details = rows_.Arg(row, XlaKey::kKernelDetails);
    Kernels& kernels = rows_.part().data.kernels;
    const uint32_t kernel = AddMissingRow(kernels);
    const std::array<int32_t, 3> grid = Triple(Detail(details, "grid"));
    const std::array<int32_t, 3> block = Triple(Detail(details, "block"));
    kernels.grid_x[kernel] = grid[0];
    kernels.grid_y[kernel] = grid[1];
    kernels.grid_z[kernel] = grid[2];
    kernels.block_x[kernel] = block[0];
    kernels.block_y[kernel] = block[1];
    kernels.block_z[kernel] = block[2];
    const int32_t registers = DetailNumber(details, "regs");
    const bool is_sane = registers <= kMostRegisters;
    kernels.registers[kernel] = is_sane ? registers : -1;
    const int64_t fixed = DetailNumber(details, "static_shared");
    const int64_t dynamic = DetailNumber(details, "dynamic_shared");
    const int64_t shared = fixed >= 0 || dynamic >= 0
                               ? std::max<int64_t>(fixed, 0) + std::max<int64_t>(dynamic, 0)
                               : DetailNumber(details, "group_mem");
    const bool fits = shared <= std::numeric_limits<int32_t>::max();
    kernels.shared_bytes[kernel] = is_sane && fits ? static_cast<int32_t>(shared) : -1;
    kernels.private_bytes[kernel] = DetailNumber(details, "private_mem");
    const ParsedDouble occupancy = ParseDouble(Detail(details, "occ_pct"));
    if (occupancy.status == NumberStatus::kOk && occupancy.value > 0 && occupancy.value <= 100) {
      kernels.occupancy_percent[kernel] = static_cast<int32_t>(std::lround(occupancy.value));
    }
    kernels.graph_node_id[kernel] = rows_.Number(row, XlaKey::kGraphNode).value_or(kMissing);
    return kernel;
  }

  // Kernels name their operation. Where the host did not record it and the work of a launch is of
  // one operation, the launch is what the host did for it.
  void AddOperations() {
    const auto has_launch = [&](const Work& work) { return launches_.contains(work.correlation); };
    const auto end = std::stable_partition(work_.begin(), work_.end(), has_launch);
    std::stable_sort(work_.begin(), end,
                     [](const Work& a, const Work& b) { return a.correlation < b.correlation; });
    const auto launched = static_cast<size_t>(end - work_.begin());
    for (size_t first = 0; first < launched;) {
      size_t next = first + 1;
      while (next < launched && work_[next].correlation == work_[first].correlation) {
        ++next;
      }
      AddLaunched(launches_.find(work_[first].correlation)->second, first, next);
      first = next;
    }
    if (launched < work_.size()) {
      AddUnlaunched(launched, work_.size());
    }
  }

  // Whether the host recorded the operation around a launch, as newer versions do.
  bool IsRecorded(const Launch& launch, std::string_view operation) {
    const auto found = recorded_.find({launch.track.value, Text(operation).value});
    if (found == recorded_.end()) {
      return false;
    }
    const auto after =
        std::upper_bound(found->second.begin(), found->second.end(),
                         std::pair(launch.ts_ns, std::numeric_limits<int64_t>::max()));
    return after != found->second.begin() &&
           std::prev(after)->second >= launch.ts_ns + launch.dur_ns;
  }

  void AddLaunched(const Launch& launch, size_t begin, size_t end) {
    const Operation& first = work_[begin].operation;
    const bool is_one = std::all_of(work_.begin() + static_cast<ptrdiff_t>(begin),
                                    work_.begin() + static_cast<ptrdiff_t>(end),
                                    [&](const Work& w) { return w.operation == first; });
    if (is_one && IsRecorded(launch, first.name)) {
      return;
    }
    if (!first.module.empty()) {
      trace_.AddHost(HostKind::kAnnotation, Text(first.module), launch.track, launch.ts_ns,
                     launch.dur_ns);
    }
    if (is_one) {
      trace_.AddHost(HostKind::kOp, Text(first.name), launch.track, launch.ts_ns, launch.dur_ns);
    } else {
      AddRuns(begin, end, [&](const Work&) { return std::pair(launch.track, launch.ts_ns); });
    }
  }

  // Work whose launch was not recorded: its operations are, without length, where it begins.
  void AddUnlaunched(size_t begin, size_t end) {
    const DeviceEvents& device = rows_.part().data.device;
    std::sort(work_.begin() + static_cast<ptrdiff_t>(begin),
              work_.begin() + static_cast<ptrdiff_t>(end), [&](const Work& a, const Work& b) {
                const auto place = [&](const Work& w) {
                  return std::tuple(device.track[w.row].value, device.ts_ns[w.row], w.row);
                };
                return place(a) < place(b);
              });
    const TrackId thread = trace_.Thread(-1, -1, "XLA operations (launches not recorded)");
    AddRuns(begin, end,
            [&](const Work& work) { return std::pair(thread, device.ts_ns[work.row]); });
  }

  // An operator for each run of work of one operation, which the work names by its id.
  template <class Place>
  void AddRuns(size_t begin, size_t end, const Place& place) {
    DeviceEvents& device = rows_.part().data.device;
    for (size_t i = begin; i < end; ++i) {
      const bool goes_on = i > begin && work_[i].operation == work_[i - 1].operation &&
                           device.track[work_[i].row] == device.track[work_[i - 1].row];
      if (!goes_on) {
        const auto [track, ts_ns] = place(work_[i]);
        trace_.AddHost(HostKind::kOp, Text(work_[i].operation.name), track, ts_ns, 0,
                       trace_.AddOperator(++last_id_));
      }
      device.external_id[work_[i].row] = last_id_;
    }
  }

  StringId Text(std::string_view text) { return rows_.part().Intern(text); }

  ChromeRows& rows_;
  ChromeTrace trace_;
  HashMap<int64_t, Device> devices_;   // by process
  HashSet<uint32_t> operation_names_;  // that device work has
  // The windows of operations that the host recorded, of each thread and name.
  struct Place {
    uint32_t track, name;
    bool operator==(const Place&) const = default;
    std::array<int64_t, 2> Numbers() const { return {track, name}; }
  };
  HashMap<Place, std::vector<std::pair<int64_t, int64_t>>> recorded_;
  HashMap<int64_t, Launch> launches_;  // by correlation
  std::vector<Work> work_;
  int64_t last_id_ = int64_t{1} << 40;  // beyond all correlations
  uint64_t seen_ = 0;
  Vendor vendor_ = Vendor::kUnknown;
  bool saw_tpu_ = false;
};

}  // namespace

Result<Trace> LoadXlaTrace(TextReader& reader, const std::string& name,
                           const LoadOptions& options) {
  ChromeRows rows(kXlaKeys);
  return LoadChromeDocument(reader, name, options, rows, [&](Meta& meta) {
    XlaTrace trace(rows);
    trace.AddAll();
    meta.format = TraceFormat::kXla;
    meta.remedy = XlaRemedy;
    meta.producer = "XLA profiler (JAX, TensorFlow)";
    meta.vendor = trace.vendor();
    if (rows.rows().size() >= kMostOfViewer) {
      rows.diagnostics().Count(Diag::kTruncatedFile, Diagnostics::kNoByte,
                               "about a million events: the viewer's form leaves out more");
    }
  });
}

}  // namespace borescope::internal
