// Tables of --compat key_averages: operators and annotations with their times, as
// `key_averages().table()` of PyTorch's profiler prints them for the same recording
// (docs/use/compat-key-averages.md). By default only operators, so that launches count as time of
// the operator; with --all everything in PyTorch's table, also runtime calls, kernels and
// annotations of the device.
#include <string_view>
#include <utility>
#include <vector>

#include "borescope/analysis/core/grouper.h"
#include "borescope/analysis/core/reduce.h"
#include "borescope/analysis/core/row.h"
#include "borescope/base/each_row.h"
#include "borescope/base/hash/hash_tables.h"
#include "borescope/opmodel/op_costs.h"
#include "borescope/packs/packs.h"
#include "borescope/packs/torch/profiler_calls.h"

namespace borescope::internal {
namespace {

constexpr std::string_view kKindColumn = "kind";

enum class RowKind : uint8_t { kCpu, kCpuAnnotation, kCuda, kCudaAnnotation };

std::string_view KindName(RowKind kind) {
  constexpr std::string_view kNames[] = {"CPU", "CPU annotation", "CUDA", "CUDA annotation"};
  return kNames[static_cast<size_t>(kind)];
}

// In place of a StringId: the steps of a loop are one row, and so are allocations that belong to no
// event.
constexpr int64_t kStepName = -1;
constexpr int64_t kMemoryName = -2;
constexpr std::string_view kStepPrefix = "ProfilerStep#";

struct Sums {
  int64_t calls = 0;
  int64_t self_cpu_ns = 0;
  int64_t total_cpu_ns = 0;
  int64_t self_device_ns = 0;
  int64_t total_device_ns = 0;
  int64_t flops = 0;
};

class KeyAverages {
 public:
  KeyAverages(const RankView& view, const Params& params)
      : view_(view),
        events_(params.all ? ProfilerEvents::kAll : ProfilerEvents::kOperators),
        keys_(view, params.by, StepRule::kTime),
        groups_(keys_.size() + 2) {}

  Tables Build();

 private:
  void AddHostRows();
  void AddDeviceRows();
  void AddMemoryRow();
  template <class Id>
  Sums& SumsOf(Id id, RowKind kind, StringId name);
  Sums& SumsOfKey();
  std::string_view NameOf(int64_t name) const;
  int64_t FlopsOf(HostId id);
  Table WriteRows() const;
  Table WriteTotal() const;

  const RankView& view_;
  ProfilerEvents events_;
  GroupKeys keys_;
  Grouper groups_;  // key values, then the kind and the name
  std::vector<Sums> sums_;
  std::vector<int64_t> key_;
  HashMap<uint32_t, bool> has_flops_;  // by name
  int64_t device_ns_ = 0;              // all device work
};

template <class Id>
Sums& KeyAverages::SumsOf(Id id, RowKind kind, StringId name) {
  key_.clear();
  keys_.Append(id, key_);
  key_.push_back(static_cast<int64_t>(kind));
  const bool is_step = kind != RowKind::kCpu && view_.trace.Text(name).starts_with(kStepPrefix);
  key_.push_back(is_step ? kStepName : int64_t{name.value});
  return SumsOfKey();
}

Sums& KeyAverages::SumsOfKey() {
  const uint32_t group = groups_.Find(key_);
  sums_.resize(groups_.size());
  return sums_[group];
}

std::string_view KeyAverages::NameOf(int64_t name) const {
  switch (name) {
    case kStepName:
      return "ProfilerStep*";
    case kMemoryName:
      return "[memory]";
    default:
      return view_.trace.Text(StringId{static_cast<uint32_t>(name)});
  }
}

int64_t KeyAverages::FlopsOf(HostId id) {
  const uint32_t row = view_.trace.host().detail[id.value];
  if (view_.trace.host().kind[id.value] != HostKind::kOp || row == kNoDetail) {
    return 0;
  }
  const StringId name = view_.trace.host().name[id.value];
  const auto [found, is_new] = has_flops_.try_emplace(name.value, false);
  if (is_new) {
    found->second = HasProfilerFlops(view_.trace.Text(name));
  }
  return found->second ? ProfilerFlops(view_.trace.Text(name), CallArgsOf(view_.trace, id)) : 0;
}

void KeyAverages::AddHostRows() {
  const HostEvents& host = view_.trace.host();
  const ProfilerCalls calls = BuildProfilerCalls(view_, events_);
  for (const size_t i : EachIndex(calls.size())) {
    const HostId id = calls.id[i];
    const bool is_annotation = host.kind[id.value] == HostKind::kAnnotation;
    Sums& sums =
        SumsOf(id, is_annotation ? RowKind::kCpuAnnotation : RowKind::kCpu, host.name[id.value]);
    ++sums.calls;
    AddSaturatingTo(sums.self_cpu_ns, calls.self_cpu_ns[i]);
    AddSaturatingTo(sums.total_cpu_ns, host.dur_ns[id.value]);
    AddSaturatingTo(sums.self_device_ns, calls.self_device_ns[i]);
    AddSaturatingTo(sums.total_device_ns, calls.total_device_ns[i]);
    AddSaturatingTo(sums.flops, FlopsOf(id));
  }
}

void KeyAverages::AddDeviceRows() {
  const DeviceEvents& device = view_.trace.device();
  for (const uint32_t row : EachRow(device.size())) {
    const bool is_work = IsDeviceWork(device.kind[row]);
    AddSaturatingTo(device_ns_, is_work ? device.dur_ns[row] : 0);
    const bool is_listed = is_work || device.kind[row] == DeviceKind::kAnnotation;
    if (events_ == ProfilerEvents::kAll && is_listed) {
      const RowKind kind = is_work ? RowKind::kCuda : RowKind::kCudaAnnotation;
      Sums& sums = SumsOf(DeviceId{row}, kind, device.name[row]);
      ++sums.calls;
      AddSaturatingTo(sums.self_device_ns, device.dur_ns[row]);
      AddSaturatingTo(sums.total_device_ns, device.dur_ns[row]);
    }
  }
}

void KeyAverages::AddMemoryRow() {
  const int64_t count = CountMemoryOutsideOfEvents(view_.trace);
  if (count > 0) {
    key_.assign(keys_.size(), kMissing);
    key_.push_back(static_cast<int64_t>(RowKind::kCpu));
    key_.push_back(kMemoryName);
    SumsOfKey().calls += count;
  }
}

Table KeyAverages::WriteRows() const {
  Table table{"key_averages", "Operators (as PyTorch's key_averages)", {}};
  keys_.AddColumnsBeforeName(table);
  AddString(table, "name", Role::kKey, "Name: of the operator, annotation, call or kernel.");
  keys_.AddColumnsAfterName(table);
  AddString(table, kKindColumn, Role::kKey,
            "CPU or CUDA (any device), and whether it is an annotation.");
  AddInt(table, "calls", Unit::kCount, Role::kSum, "# of Calls.");
  for (const std::string_view name :
       {"self_cpu_ns", "total_cpu_ns", "self_device_ns", "total_device_ns"}) {
    AddInt(table, name, Unit::kNanoseconds, Role::kSum, "Becomes microseconds at the end.");
  }
  AddInt(table, "flops", Unit::kFlops, Role::kSum, "0: not counted.");
  for (size_t i = 0; i < sums_.size(); ++i) {
    const std::span<const int64_t> key = groups_.key(i);
    const Sums& sums = sums_[i];
    Row row(table);
    keys_.PushBeforeName(row, key);
    row.Text(NameOf(key.back()));
    keys_.PushAfterName(row, key);
    row.Text(KindName(static_cast<RowKind>(key[keys_.size()])));
    row.Int(sums.calls).Int(sums.self_cpu_ns).Int(sums.total_cpu_ns);
    row.Int(sums.self_device_ns).Int(sums.total_device_ns).Int(sums.flops);
  }
  return table;
}

Table KeyAverages::WriteTotal() const {
  Table table{"key_averages_total", "Totals (as PyTorch's key_averages)", {}};
  AddInt(table, "device_ns", Unit::kNanoseconds, Role::kSum, "Work of all devices.");
  Row(table).Int(device_ns_);
  return table;
}

Tables KeyAverages::Build() {
  AddHostRows();
  AddDeviceRows();
  AddMemoryRow();
  return Tables{WriteRows(), WriteTotal()};
}

double Micros(int64_t ns) { return static_cast<double>(ns) / 1e3; }

// Makes the printed columns from columns that add up.
class Report {
 public:
  explicit Report(const Table& sums) : sums_(sums) {}

  void AddKeys(bool with_kind) {
    for (const Column& column : sums_.columns) {
      if (column.role == Role::kKey && (with_kind || column.name != kKindColumn)) {
        table_.columns.push_back(column);
      }
    }
  }
  void AddMicros(std::string_view name, std::string_view of, std::string_view doc) {
    Column& column = AddFloat(table_, name, Unit::kMicroseconds, Role::kDerived, doc);
    for (const int64_t ns : Ints(sums_, of)) {
      Push(column, Micros(ns));
    }
  }
  void AddMean(std::string_view name, std::string_view of, std::string_view doc) {
    Column& column = AddFloat(table_, name, Unit::kMicroseconds, Role::kDerived, doc);
    const IntValues& calls = Ints(sums_, "calls");
    for (size_t i = 0; i < calls.size(); ++i) {
      Push(column, Micros(Ints(sums_, of)[i]) / static_cast<double>(calls[i]));
    }
  }
  // Missing if the whole is 0, for which PyTorch prints NaN.
  void AddPercent(std::string_view name, std::string_view of, int64_t whole_ns,
                  std::string_view doc) {
    Column& column = AddFloat(table_, name, Unit::kPercent, Role::kDerived, doc);
    for (const int64_t ns : Ints(sums_, of)) {
      whole_ns == 0 ? PushMissing(column) : Push(column, 100.0 * ShareOf(ns, whole_ns));
    }
  }
  void AddCalls() {
    AddInt(table_, "calls", Unit::kCount, Role::kDerived, "# of Calls.").values =
        Ints(sums_, "calls");
  }
  void AddFlops() {
    Column& column = AddInt(table_, "total_flops", Unit::kFlops, Role::kDerived,
                            "Total FLOPs, of the seven operators that with_flops=True counts, if "
                            "shapes were recorded; missing for all others.");
    for (const int64_t flops : Ints(sums_, "flops")) {
      flops == 0 ? PushMissing(column) : Push(column, flops);
    }
  }
  Table Take(std::string_view sort_by) && { return Sorted(table_, sort_by); }

 private:
  const Table& sums_;
  Table table_{"key_averages", sums_.title, {}};
};

Table Rows(const Table& sums, int64_t cpu_ns, int64_t device_ns, bool with_kind) {
  Report report(sums);
  report.AddKeys(with_kind);
  report.AddPercent("self_cpu_percent", "self_cpu_ns", cpu_ns,
                    "Self CPU %: of the self times of all rows.");
  report.AddMicros("self_cpu_us", "self_cpu_ns",
                   "Self CPU: time on the host less that of the rows directly inside.");
  report.AddPercent("cpu_total_percent", "total_cpu_ns", cpu_ns,
                    "CPU total %: of the self times of all rows.");
  report.AddMicros("cpu_total_us", "total_cpu_ns",
                   "CPU total: time on the host; of calls inside calls of one name, twice.");
  report.AddMean("cpu_time_avg_us", "total_cpu_ns", "CPU time avg: CPU total per call.");
  report.AddMicros("self_cuda_us", "self_device_ns",
                   "Self CUDA: device work launched by the row itself, on any device.");
  report.AddPercent("self_cuda_percent", "self_device_ns", device_ns,
                    "Self CUDA %: of all device work.");
  report.AddMicros("cuda_total_us", "total_device_ns",
                   "CUDA total: device work launched by the row and all inside.");
  report.AddMean("cuda_time_avg_us", "total_device_ns", "CUDA time avg: CUDA total per call.");
  report.AddCalls();
  report.AddFlops();
  return std::move(report).Take(SumOf(sums, "self_device_ns") == 0 ? "self_cpu_us"
                                                                   : "self_cuda_us");
}

Result<Tables> MapKeyAverages(const RankView& view, const Params& params) {
  return KeyAverages(view, params).Build();
}

Result<Tables> FinishKeyAverages(Tables findings, const Params& params) {
  const int64_t cpu_ns = SumOf(findings[0], "self_cpu_ns");
  const int64_t device_ns = SumOf(findings[1], "device_ns");
  Table total{"key_averages_total", findings[1].title, {}};
  AddFloat(total, "self_cpu_total_us", Unit::kMicroseconds, Role::kDerived,
           "Self CPU time total: of all rows.");
  AddFloat(total, "self_cuda_total_us", Unit::kMicroseconds, Role::kDerived,
           "Self CUDA time total: all device work, also what no operator launched.");
  Row(total).Float(Micros(cpu_ns)).Float(Micros(device_ns));
  return Tables{Rows(findings[0], cpu_ns, device_ns, params.all), std::move(total)};
}

constexpr Pipeline kKeyAverages{
    .map = MapKeyAverages, .reduce = MergeTables, .finish = FinishKeyAverages};
constexpr PackPipeline kPipelines[] = {{"ops", &kKeyAverages}};

}  // namespace

const Pack kKeyAveragesPack{.tool = Compat::kKeyAverages, .pipelines = kPipelines, .verbs = {}};

}  // namespace borescope::internal
