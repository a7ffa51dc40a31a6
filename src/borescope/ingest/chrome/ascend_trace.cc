// trace_view.json of the Ascend PyTorch Profiler, and the timelines of msprof: the program's
// operators, the calls of CANN, and the streams and collectives of an NPU.
#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "borescope/base/hash/hash_tables.h"
#include "borescope/base/stop.h"
#include "borescope/base/text/text.h"
#include "borescope/ingest/chrome/chrome_document.h"
#include "borescope/ingest/chrome/chrome_trace.h"
#include "borescope/trace/columns.h"

namespace borescope::internal {
namespace {

enum Key : size_t {
  kTaskType,
  kConnection,
  kSequence,
  kForwardThread,
  kDims,
  kTypes,
  kCopyBytes,
  kCount,
  kDataType,
};
constexpr std::array<std::string_view, 9> kKeys = {
    "Task Type",  "connection_id",   "Sequence number", "Fwd thread id", "Input Dims",
    "Input type", "data size(Byte)", "count",           "data_type"};

// Beyond all numbers of connections, so that no id is taken for one.
constexpr int64_t kFirstId = int64_t{1} << 40;

// Numbers of streams of groups of collectives, beside those of the hardware.
constexpr int64_t kFirstGroup = 1'000'000;

enum class Layer : uint8_t { kProgram, kCann, kHardware, kCollectives, kOther };

Layer LayerOf(std::string_view process) {
  if (process == "CANN") return Layer::kCann;
  if (process == "Ascend Hardware") return Layer::kHardware;
  if (process == "HCCL" || process == "Communication") return Layer::kCollectives;
  return process == "Python" || process.empty() ? Layer::kProgram : Layer::kOther;
}

// The lower bits of the numbers of all processes but the program's, below its own number.
constexpr int64_t kDeviceBits = 32;

int64_t DeviceOf(int64_t pid) {
  constexpr int64_t kLeast = int64_t{1} << 10;
  return pid < kLeast ? 0 : pid % kDeviceBits;
}

DeviceKind KindOf(std::string_view task, std::string_view name) {
  if (name == "MEMCPY_ASYNC" || task == "MEMCPY_ASYNC") {
    return DeviceKind::kMemcpy;
  }
  if (name == "MEMSET_ASYNC") {
    return DeviceKind::kMemset;
  }
  constexpr std::string_view kWork[] = {"AI_CORE", "AI_CPU", "AI_VECTOR", "AIV_SQE", "MIX_AI",
                                        "DSA_SQE", "AICORE", "AIVEC",     "AICPU"};
  const bool is_work = std::any_of(std::begin(kWork), std::end(kWork),
                                   [&](std::string_view part) { return Contains(task, part); });
  return is_work ? DeviceKind::kKernel : DeviceKind::kOther;
}

// ";\r\n32,1000;\r\n" as JSON: "[[], [32, 1000], []]", and of types "[\"\", ...]".
std::string ListOf(std::string_view text, bool is_numbers) {
  constexpr std::string_view kBetween = ";\r\n";
  std::string list = "[";
  for (bool is_first = true;; is_first = false) {
    const size_t end = std::min(text.find(kBetween), text.size());
    std::string_view item = text.substr(0, end);
    list += is_first ? "" : ", ";
    if (is_numbers) {
      list += '[';
      for (; !item.empty();) {
        const size_t comma = std::min(item.find(','), item.size());
        list.append(item.substr(0, comma));
        item.remove_prefix(std::min(comma + 1, item.size()));
        list += item.empty() ? "" : ", ";
      }
      list += ']';
    } else {
      list += '"';
      std::copy_if(item.begin(), item.end(), std::back_inserter(list),
                   [](char c) { return c != '"' && c != '\\'; });
      list += '"';
    }
    if (end == text.size()) {
      return list + "]";
    }
    text.remove_prefix(end + kBetween.size());
  }
}

// "hcom_allReduce__586_0_1": what it does, and the number of its group.
struct CollectiveName {
  std::string_view what, group;
};

CollectiveName ParseCollective(std::string_view name) {
  constexpr std::string_view kPrefix = "hcom_";
  name.remove_prefix(name.starts_with(kPrefix) ? kPrefix.size() : 0);
  const size_t end = name.find("__");
  if (end == std::string_view::npos) {
    return {name, {}};
  }
  const std::string_view rest = name.substr(end + 2);
  return {name.substr(0, end), rest.substr(0, rest.find('_'))};
}

// Where an event begins: what the ends of arrows refer to.
struct Place {
  int64_t pid, tid, ts_ns;
  bool operator==(const Place&) const = default;
  std::array<int64_t, 3> Numbers() const { return {pid, tid, ts_ns}; }
};

class AscendTrace {
 public:
  explicit AscendTrace(ChromeRows& rows) : rows_(rows), trace_(rows.part()) {}

  void AddAll() {
    for (const auto& [pid, name] : rows_.processes()) {
      layers_[pid] = LayerOf(name);
      program_ = name == "Python" ? pid : program_;
    }
    ReadArrows();
    for (const ChromeRows::Row& row : rows_.rows()) {
      CheckStopAt(++seen_);
      if (row.phase == 'X') {
        Add(row);
      } else if (rows_.Text(row.category) == "fwdbwd") {
        AddFlow(row);
      }
    }
    AddSamples();
  }

 private:
  // An arrow of "async_npu" leads from the begin of an operator to that of its work; its number is
  // the id by which both are joined.
  void ReadArrows() {
    HashMap<uint32_t, int64_t> numbers;  // by the id of the arrow
    for (const ChromeRows::Row& row : rows_.rows()) {
      if (row.phase == 'X' || rows_.Text(row.category) != "async_npu") {
        continue;
      }
      const auto [number, is_new] =
          numbers.try_emplace(row.id.value, kFirstId + static_cast<int64_t>(numbers.size()));
      const Place place{row.pid, row.tid, row.ts_ns};
      if (row.phase == 's') {
        // Several arrows of one operator have the same begin: its work gets one id.
        const auto [id, is_first] = operator_at_.try_emplace(place, number->second);
        number->second = id->second;
      } else {
        work_at_[place] = row.id.value;
      }
    }
    numbers_ = std::move(numbers);
  }

  void Add(const ChromeRows::Row& row) {
    const auto layer = layers_.find(row.pid);
    switch (layer == layers_.end() ? Layer::kProgram : layer->second) {
      case Layer::kProgram:
        return AddProgram(row);
      case Layer::kCann:
        return AddCall(row);
      case Layer::kHardware:
        return AddTask(row);
      case Layer::kCollectives:
        return AddCollective(row);
      case Layer::kOther:
        return;
    }
  }

  void AddProgram(const ChromeRows::Row& row) {
    const std::string_view category = rows_.Text(row.category);
    const TrackId track = trace_.Thread(row.pid, row.tid, rows_.ThreadName(row.pid, row.tid));
    HostKind kind = HostKind::kOther;
    uint32_t detail = kNoDetail;
    if (category == "python_function") {
      kind = HostKind::kPython;
    } else if (category == "user_annotation" || rows_.Text(row.name).starts_with("ProfilerStep#")) {
      kind = HostKind::kAnnotation;
    } else if (category == "cpu_op") {
      kind = HostKind::kOp;
      detail = AddOperator(row);
    }
    trace_.AddHost(kind, row.name, track, row.ts_ns, row.dur_ns, detail);
  }

  uint32_t AddOperator(const ChromeRows::Row& row) {
    const auto id = operator_at_.find({row.pid, row.tid, row.ts_ns});
    const uint32_t detail = trace_.AddOperator(id == operator_at_.end() ? kMissing : id->second);
    Ops& ops = rows_.part().data.ops;
    if (const auto sequence = rows_.Number(row, kSequence); sequence.has_value()) {
      ops.sequence[detail] = *sequence;
    }
    if (const auto thread = rows_.Number(row, kForwardThread); thread.has_value()) {
      ops.forward_thread[detail] = *thread;
    }
    if (const std::string_view dims = rows_.Arg(row, kDims); !dims.empty()) {
      ops.input_dims[detail] = Text(ListOf(dims, true));
    }
    if (const std::string_view types = rows_.Arg(row, kTypes); !types.empty()) {
      ops.input_types[detail] = Text(ListOf(types, false));
    }
    return detail;
  }

  // Calls are made by the threads of the program, whatever number their process has here.
  void AddCall(const ChromeRows::Row& row) {
    const TrackId track =
        trace_.Thread(program_.value_or(row.pid), row.tid, rows_.ThreadName(row.pid, row.tid));
    trace_.AddHost(HostKind::kRuntime, row.name, track, row.ts_ns, row.dur_ns,
                   trace_.AddCall(rows_.Number(row, kConnection).value_or(kMissing)));
  }

  ChromeTrace::DeviceRow WorkOf(const ChromeRows::Row& row) const {
    ChromeTrace::DeviceRow work;
    work.name = row.name;
    work.ts_ns = row.ts_ns;
    work.dur_ns = row.dur_ns;
    work.correlation = rows_.Number(row, kConnection).value_or(kMissing);
    const auto arrow = work_at_.find({row.pid, row.tid, row.ts_ns});
    if (arrow != work_at_.end()) {
      work.external_id = numbers_.find(arrow->second)->second;
    }
    return work;
  }

  void AddTask(const ChromeRows::Row& row) {
    ChromeTrace::DeviceRow work = WorkOf(row);
    work.kind = KindOf(rows_.Arg(row, kTaskType), rows_.Text(row.name));
    work.track = trace_.Stream(DeviceOf(row.pid), row.tid, rows_.ThreadName(row.pid, row.tid));
    if (work.kind == DeviceKind::kKernel) {
      work.detail = AddMissingRow(rows_.part().data.kernels);
    } else if (IsDeviceWork(work.kind)) {
      work.detail = trace_.AddCopy(rows_.Number(row, kCopyBytes).value_or(0));
    }
    trace_.AddDevice(work);
  }

  // The line of a group has its collectives; those of its planes have their parts.
  void AddCollective(const ChromeRows::Row& row) {
    const std::string_view line = rows_.ThreadName(row.pid, row.tid);
    if (!line.starts_with("Group ") && !Contains(line, "Communication")) {
      return;
    }
    ChromeTrace::DeviceRow work = WorkOf(row);
    work.kind = DeviceKind::kKernel;
    work.track = trace_.Stream(DeviceOf(row.pid), kFirstGroup + row.tid, line);
    const CollectiveName name = ParseCollective(rows_.Text(row.name));
    Collectives& collectives = rows_.part().data.collectives;
    const uint32_t collective = AddMissingRow(collectives);
    collectives.collective[collective] = Text(std::string(name.what));
    collectives.group[collective] = Text(std::string(name.group));
    collectives.group_desc[collective] = Text(line);
    collectives.dtype[collective] = Text(rows_.Arg(row, kDataType));
    collectives.in_elems[collective] = rows_.Number(row, kCount).value_or(kMissing);
    collectives.out_elems[collective] = collectives.in_elems[collective];
    work.detail = AddMissingRow(rows_.part().data.kernels);
    rows_.part().data.kernels.collective[work.detail] = collective;
    trace_.AddDevice(work);
  }

  void AddFlow(const ChromeRows::Row& row) {
    Flows& flows = rows_.part().data.flows;
    flows.ts_ns.push_back(row.ts_ns);
    flows.track.push_back(trace_.Thread(row.pid, row.tid, {}));
    flows.id.push_back(row.id.value);
    flows.is_start.push_back(row.phase == 's' ? 1 : 0);
  }

  void AddSamples() {
    Samples& samples = rows_.part().data.samples;
    const StringId type = Text("npu");
    for (const ChromeRows::Counter& counter : rows_.counters()) {
      const std::string_view key = rows_.Text(counter.key);
      std::string name(rows_.Text(counter.name));
      if (key != "value" && key != name) {
        name += " (" + std::string(key) + ")";
      }
      const uint32_t row = AddMissingRow(samples);
      samples.ts_ns[row] = counter.ts_ns;
      samples.end_ns[row] = counter.ts_ns;
      samples.device_type[row] = type;
      samples.device[row] = DeviceOf(counter.pid);
      samples.name[row] = Text(name);
      samples.value[row] = counter.value;
    }
  }

  StringId Text(std::string_view text) { return rows_.part().Intern(text); }

  ChromeRows& rows_;
  ChromeTrace trace_;
  HashMap<int64_t, Layer> layers_;       // by process
  std::optional<int64_t> program_;       // the process of the program
  HashMap<Place, int64_t> operator_at_;  // the id of what begins there
  HashMap<Place, uint32_t> work_at_;     // the arrow that ends there
  HashMap<uint32_t, int64_t> numbers_;   // the id that an arrow means
  uint64_t seen_ = 0;
};

}  // namespace

Result<Trace> LoadAscendTrace(TextReader& reader, const std::string& name,
                              const LoadOptions& options) {
  ChromeRows rows(kKeys);
  return LoadChromeDocument(reader, name, options, rows, [&](Meta& meta) {
    AscendTrace trace(rows);
    trace.AddAll();
    meta.format = TraceFormat::kAscend;
    meta.remedy = AscendRemedy;
    meta.producer = "Ascend PyTorch Profiler (CANN)";
    meta.base_ns = 0;  // times are Unix times
  });
}

}  // namespace borescope::internal
