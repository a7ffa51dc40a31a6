#include "borescope/analysis/verbs/diff/run_sums.h"

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "borescope/analysis/core/keyed_rows.h"
#include "borescope/analysis/core/selection/device_steps.h"
#include "borescope/analysis/core/selection/modules.h"
#include "borescope/analysis/core/selection/phases.h"
#include "borescope/analysis/measures/align_inherited.h"
#include "borescope/analysis/measures/names/describe.h"
#include "borescope/analysis/measures/stacks/op_stacks.h"
#include "borescope/analysis/measures/time/step_times.h"
#include "borescope/analysis/measures/work_groups.h"
#include "borescope/base/each_row.h"
#include "borescope/base/hash/hash_tables.h"
#include "borescope/index/steps/steps.h"
#include "borescope/table/table_ops.h"

namespace borescope::internal {

namespace {

struct CountAndTime {
  int64_t count = 0;
  int64_t total_ns = 0;

  void Add(int64_t dur_ns) {
    ++count;
    total_ns = AddSaturating(total_ns, dur_ns);
  }
};

// --- by name ---

constexpr int kKindBits = 8;

class NameSums {
 public:
  explicit NameSums(bool short_names) : short_names_(short_names), rows_(table_) {}

  int64_t AddHost(const RankView& view, const Selected& selected);
  int64_t AddDevice(const RankView& view, const Selected& selected, const InheritedWork& inherited);
  Table Make() { return MergeByKey(table_); }

 private:
  int64_t Push(std::string_view side, const std::string& name, const CountAndTime& sum) {
    const std::string shown = short_names_ ? ShortName(name) : name;
    rows_.Push({.side = side, .name = shown, .count = sum.count, .total_ns = sum.total_ns});
    return sum.count;
  }

  bool short_names_;
  Table table_ = NewTable<NameSumRow>();
  RowWriter<NameSumRow> rows_;
};

// Returns how many rows there are.
int64_t NameSums::AddHost(const RankView& view, const Selected& selected) {
  const HostEvents& host = view.trace.host();
  HashMap<uint64_t, CountAndTime> sums;  // by name and kind
  for (const uint32_t row : EachRow(host.size())) {
    if (selected.Keeps(HostId{row})) {
      const auto kind = static_cast<uint64_t>(host.kind[row]);
      sums[(uint64_t{host.name[row].value} << kKindBits) + kind].Add(host.dur_ns[row]);
    }
  }
  int64_t rows = 0;
  for (const auto& [key, sum] : sums.InAnyOrder()) {  // Make() puts rows in order
    const StringId name{static_cast<uint32_t>(key >> kKindBits)};
    const auto kind = static_cast<HostKind>(key & ((uint64_t{1} << kKindBits) - 1));
    rows += Push(kHostSide, MatchedHostName(view.trace.Text(name), kind), sum);
  }
  return rows;
}

// Without what was inherited: how much that is says nothing of the program.
int64_t NameSums::AddDevice(const RankView& view, const Selected& selected,
                            const InheritedWork& inherited) {
  const DeviceEvents& device = view.trace.device();
  HashMap<uint32_t, CountAndTime> sums;
  for (const uint32_t row : EachRow(device.size())) {
    if (selected.Keeps(DeviceId{row}) && !inherited.IsInherited(DeviceId{row})) {
      sums[device.name[row].value].Add(device.dur_ns[row]);
    }
  }
  int64_t rows = 0;
  for (const auto& [name, sum] : sums.InAnyOrder()) {  // Make() puts rows in order
    rows += Push(kDeviceSide, MatchedWorkName(view.trace.Text(StringId{name})), sum);
  }
  return rows;
}

// --- by what work belongs to ---

// The innermost annotation around every host row, itself included.
std::vector<HostId> AnnotationsAround(const RankView& view) {
  const HostEvents& host = view.trace.host();
  std::vector<HostId> around(host.size());
  for (const uint32_t row : EachRow(host.size())) {
    const HostId outer = view.index.tree.parent[row];
    around[row] = host.kind[row] == HostKind::kAnnotation ? HostId{row}
                  : outer.valid()                         ? around[outer.value]
                                                          : HostId();
  }
  return around;
}

class WorkSums {
 public:
  WorkSums(const RankView& view, const Selected& selected, const InheritedWork& inherited)
      : view_(view),
        selected_(selected),
        inherited_(inherited),
        phases_(HostPhases(view)),
        modules_(ModulesAround(view)),
        annotations_(AnnotationsAround(view)) {}

  Table Make();

 private:
  HostId OpOf(DeviceId id) const { return view_.index.correlation.op_of[id.value]; }
  // The launch, or where that was not recorded the operator.
  HostId StartOf(DeviceId id) const {
    const HostId launch = view_.index.correlation.launch_of[id.value];
    return launch.valid() ? launch : OpOf(id);
  }
  int64_t NameOf(HostId id) const {
    return id.valid() ? int64_t{view_.trace.host().name[id.value].value} : kMissing;
  }
  HostId AnnotationOf(DeviceId id) const;
  int64_t ModuleOf(DeviceId id) const;
  int64_t ValueOf(WorkKey key, DeviceId id) const;
  std::string TextOf(WorkKey key, int64_t value) const;
  void AddKey(WorkKey key, std::vector<WorkSumRow>& rows) const;

  const RankView& view_;
  const Selected& selected_;
  const InheritedWork& inherited_;
  std::vector<Phase> phases_;
  std::vector<int64_t> modules_;
  std::vector<HostId> annotations_;
};

// The innermost annotation on the thread of the launch; on threads without any, as that of the
// backward pass, the step.
HostId WorkSums::AnnotationOf(DeviceId id) const {
  const HostId start = StartOf(id);
  if (start.valid() && annotations_[start.value].valid()) {
    return annotations_[start.value];
  }
  const uint32_t step = StepOf(view_, id, selected_.step_rule());
  return step == kNoStep ? HostId() : view_.steps().steps[step].annotation;
}

int64_t WorkSums::ModuleOf(DeviceId id) const {
  const HostId captured = view_.index.correlation.CapturedCallOf(id);
  if (captured.valid() && modules_[captured.value] != kMissing) return modules_[captured.value];
  const HostId start = StartOf(id);
  return start.valid() ? modules_[start.value] : kMissing;
}

// The number of the name: of a class or phase, or of a text.
int64_t WorkSums::ValueOf(WorkKey key, DeviceId id) const {
  switch (key) {
    case WorkKey::kClass:
      return static_cast<int64_t>(WorkClassOf(view_, id));
    case WorkKey::kPhase:
      return static_cast<int64_t>(PhaseOf(view_, phases_, id));
    case WorkKey::kAnnotation:
      return NameOf(AnnotationOf(id));
    case WorkKey::kModule:
      return ModuleOf(id);
    default:
      return NameOf(OpOf(id));
  }
}

std::string WorkSums::TextOf(WorkKey key, int64_t value) const {
  const auto text = [&] { return view_.trace.Text(StringId{static_cast<uint32_t>(value)}); };
  switch (key) {
    case WorkKey::kClass:
      return std::string(KernelClassName(static_cast<KernelClass>(value)));
    case WorkKey::kPhase:
      return std::string(PhaseName(static_cast<Phase>(value)));
    case WorkKey::kAnnotation:
      return value == kMissing ? std::string(kNoAnnotation)
                               : MatchedHostName(text(), HostKind::kAnnotation);
    case WorkKey::kModule:
      return std::string(value == kMissing ? kNoModule : ModuleClassOf(text()));
    default:
      return value == kMissing ? std::string(kNoOperator) : MatchedHostName(text(), HostKind::kOp);
  }
}

void WorkSums::AddKey(WorkKey key, std::vector<WorkSumRow>& rows) const {
  const DeviceEvents& device = view_.trace.device();
  HashMap<int64_t, CountAndTime> sums;
  for (const uint32_t row : EachRow(device.size())) {
    if (selected_.Keeps(DeviceId{row}) && !inherited_.IsInherited(DeviceId{row})) {
      sums[ValueOf(key, DeviceId{row})].Add(device.dur_ns[row]);
    }
  }
  for (const auto& [value, sum] : sums.InAnyOrder()) {  // Make() puts rows in order
    rows.push_back({key, TextOf(key, value), sum.count, sum.total_ns});
  }
}

Table WorkSums::Make() {
  std::vector<WorkSumRow> rows;
  for (size_t key = 0; key < static_cast<size_t>(WorkKey::kCount); ++key) {
    AddKey(static_cast<WorkKey>(key), rows);
  }
  return MergeByKey(MakeTable(rows));
}

// --- by where kernels were launched ---

StringId ShapesOf(const Trace& trace, HostId op) {
  const uint32_t detail = trace.host().detail[op.value];
  const bool has_shapes = trace.host().kind[op.value] == HostKind::kOp && detail != kNoDetail;
  return has_shapes ? trace.ops().input_dims[detail] : StringId();
}

Table LaunchSums(const RankView& view, const Selected& selected, const InheritedWork& inherited,
                 bool short_names) {
  const DeviceEvents& device = view.trace.device();
  std::map<std::tuple<uint32_t, uint32_t, uint32_t>, CountAndTime> sums;
  for (const uint32_t row : EachRow(device.size())) {
    const HostId op = view.index.correlation.op_of[row];
    const bool is_counted = selected.Keeps(DeviceId{row}) && !inherited.IsInherited(DeviceId{row});
    if (device.kind[row] == DeviceKind::kKernel && op.valid() && is_counted) {
      sums[{view.trace.host().name[op.value].value, ShapesOf(view.trace, op).value,
            device.name[row].value}]
          .Add(device.dur_ns[row]);
    }
  }
  std::vector<LaunchSumRow> rows;
  for (const auto& [key, sum] : sums) {
    const auto& [op, shapes, name] = key;
    const std::string kernel = MatchedWorkName(view.trace.Text(StringId{name}));
    const StringId dims{shapes};
    rows.push_back({.op = view.trace.Text(StringId{op}),
                    .shapes = dims.valid() ? Recorded(view.trace.Text(dims)) : std::nullopt,
                    .name = short_names ? std::string(ShortName(kernel)) : kernel,
                    .count = sum.count,
                    .total_ns = sum.total_ns});
  }
  return MergeByKey(MakeTable(rows));
}

// --- the size of the run ---

CountAndTime SumOfInherited(const RankView& view, const Selected& selected,
                            const InheritedWork& inherited) {
  CountAndTime sum;
  for (const DeviceId id : inherited.Rows()) {
    if (selected.Keeps(id)) {
      sum.Add(view.trace.device().dur_ns[id.value]);
    }
  }
  return sum;
}

}  // namespace

std::string_view WorkKeyName(WorkKey key) {
  static constexpr std::string_view kNames[] = {"class", "phase", "annotation", "module",
                                                "operator"};
  return kNames[static_cast<size_t>(key)];
}

Tables SumRun(const RankView& view, const Selected& selected, bool short_names) {
  const std::shared_ptr<const InheritedWork> shared = SharedInheritedWork(view);
  const InheritedWork& inherited = *shared;
  NameSums names(short_names);
  const int64_t host_events = names.AddHost(view, selected);
  const int64_t device_events = names.AddDevice(view, selected, inherited);
  const CountAndTime before = SumOfInherited(view, selected, inherited);
  const RunSizeRow size{.ranks = 1,
                        .steps = static_cast<int64_t>(selected.steps().size()),
                        .host_events = host_events,
                        .device_events = device_events,
                        .inherited_events = before.count,
                        .inherited_ns = before.total_ns,
                        .span_ns = Coverage(SelectedTime(view, selected))};
  return {names.Make(), MakeTable<RunSizeRow>({size}), WorkSums(view, selected, inherited).Make(),
          LaunchSums(view, selected, inherited, short_names)};
}

namespace {

// Shorter numbers are constants rather than addresses.
constexpr size_t kLeastAddressDigits = 6;
constexpr std::string_view kHexPrefix = "0x";

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsHexDigit(char c) { return IsDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

std::string WithoutAddresses(std::string_view name) {
  std::string text;
  size_t begin = 0;
  for (size_t at = name.find(kHexPrefix); at != std::string_view::npos;
       at = name.find(kHexPrefix, at)) {
    at += kHexPrefix.size();
    const auto end = static_cast<size_t>(
        std::find_if_not(name.begin() + static_cast<std::ptrdiff_t>(at), name.end(), IsHexDigit) -
        name.begin());
    if (end - at >= kLeastAddressDigits) {
      text += name.substr(begin, at - begin);
      text += '*';
      begin = end;
    }
  }
  return text += name.substr(begin);
}

// "file.py(12): function" without the number.
std::string WithoutLine(std::string_view name) {
  constexpr std::string_view kEnd = "): ";
  for (size_t end = name.find(kEnd); end != std::string_view::npos;
       end = name.find(kEnd, end + 1)) {
    const size_t open = name.find_last_not_of("0123456789", end == 0 ? 0 : end - 1);
    if (open != std::string_view::npos && name[open] == '(' && open + 1 < end) {
      return std::string(name.substr(0, open)) + std::string(name.substr(end + 1));
    }
  }
  return std::string(name);
}

std::string WithoutNumbers(std::string_view name) {
  std::string text;
  for (const char c : name) {
    if (!IsDigit(c)) {
      text += c;
    } else if (text.empty() || text.back() != '*') {
      text += '*';
    }
  }
  return text;
}

}  // namespace

std::string MatchedHostName(std::string_view name, HostKind kind) {
  const std::string_view folded = FoldStepName(name);
  if (folded == kAnyStep) {
    return std::string(folded);
  }
  if (kind == HostKind::kAnnotation && IsServerStep(name)) {
    return WithoutNumbers(name);
  }
  const std::string text = WithoutAddresses(name);
  return kind == HostKind::kPython ? WithoutLine(text) : text;
}

std::string MatchedWorkName(std::string_view name) { return WithoutAddresses(name); }

}  // namespace borescope::internal
