#include "borescope/analysis/verbs/diff/run_sums.h"

#include <algorithm>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "borescope/analysis/core/keyed_rows.h"
#include "borescope/analysis/core/param_specs.h"
#include "borescope/analysis/core/selection/device_time.h"
#include "borescope/analysis/core/selection/phases.h"
#include "borescope/analysis/measures/align_inherited.h"
#include "borescope/analysis/measures/names/describe.h"
#include "borescope/analysis/measures/stacks/op_stacks.h"
#include "borescope/analysis/measures/time/covered_time.h"
#include "borescope/analysis/measures/time/duration_stats.h"
#include "borescope/analysis/measures/time/step_times.h"
#include "borescope/analysis/measures/work_groups.h"
#include "borescope/analysis/verbs/inference/inference_steps.h"
#include "borescope/base/each_row.h"
#include "borescope/base/hash/hash_tables.h"
#include "borescope/index/steps/steps.h"
#include "borescope/table/table_ops.h"

namespace borescope::internal {

namespace {

// Whether rows belong to a step.
bool IsInStep(const RankView& view, HostId id) {
  const HostEvents& host = view.trace.host();
  return !view.steps().steps.empty() &&
         view.steps().At(host.track[id.value], host.ts_ns[id.value]) != kNoStep;
}

bool IsInStep(const RankView& view, const Selected& selected, DeviceId id) {
  return !view.steps().steps.empty() && StepOf(view, id, selected.step_rule()) != kNoStep;
}

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

  void AddHost(const RankView& view, const Selected& selected);
  void AddDevice(const RankView& view, const Selected& selected, const InheritedWork& inherited);
  Table Make() { return MergeByKey(table_); }

 private:
  void Push(bool in_steps, std::string_view side, const std::string& name,
            const CountAndTime& sum) {
    const std::string shown = short_names_ ? ShortName(name) : name;
    rows_.Push({.in_steps = in_steps,
                .side = side,
                .name = shown,
                .count = sum.count,
                .total_ns = sum.total_ns});
  }

  bool short_names_;
  Table table_ = NewTable<NameSumRow>();
  RowWriter<NameSumRow> rows_;
};

void NameSums::AddHost(const RankView& view, const Selected& selected) {
  const HostEvents& host = view.trace.host();
  const std::vector<int64_t> own_ns = InnermostTimes(view.trace, [](HostId) { return true; });
  HashMap<uint64_t, CountAndTime> sums[2];  // outside of steps and in them, by name and kind
  for (const uint32_t row : EachRow(host.size())) {
    if (selected.Keeps(HostId{row})) {
      const auto kind = static_cast<uint64_t>(host.kind[row]);
      const uint64_t key = (uint64_t{host.name[row].value} << kKindBits) + kind;
      sums[IsInStep(view, HostId{row}) ? 1 : 0][key].Add(own_ns[row]);
    }
  }
  for (const bool in_steps : {false, true}) {
    for (const auto& [key, sum] : sums[in_steps ? 1 : 0].InAnyOrder()) {  // Make() orders rows
      const StringId name{static_cast<uint32_t>(key >> kKindBits)};
      const auto kind = static_cast<HostKind>(key & ((uint64_t{1} << kKindBits) - 1));
      Push(in_steps, kHostSide, MatchedHostName(view.trace.Text(name), kind), sum);
    }
  }
}

// Without what was inherited: how much that is says nothing of the program.
void NameSums::AddDevice(const RankView& view, const Selected& selected,
                         const InheritedWork& inherited) {
  const DeviceEvents& device = view.trace.device();
  HashMap<uint32_t, CountAndTime> sums[2];  // outside of steps and in them
  for (const uint32_t row : EachRow(device.size())) {
    const DeviceId id{row};
    if (selected.Keeps(id) && !inherited.IsInherited(id)) {
      sums[IsInStep(view, selected, id) ? 1 : 0][device.name[row].value].Add(device.dur_ns[row]);
    }
  }
  for (const bool in_steps : {false, true}) {
    for (const auto& [name, sum] : sums[in_steps ? 1 : 0].InAnyOrder()) {  // Make() orders rows
      Push(in_steps, kDeviceSide, MatchedWorkName(view.trace.Text(StringId{name})), sum);
    }
  }
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

class WorkSummer {
 public:
  WorkSummer(const RankView& view, const Selected& selected, const InheritedWork& inherited)
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
HostId WorkSummer::AnnotationOf(DeviceId id) const {
  const HostId start = StartOf(id);
  if (start.valid() && annotations_[start.value].valid()) {
    return annotations_[start.value];
  }
  const uint32_t step = StepOf(view_, id, selected_.step_rule());
  return step == kNoStep ? HostId() : view_.steps().steps[step].annotation;
}

int64_t WorkSummer::ModuleOf(DeviceId id) const {
  const HostId captured = view_.index.correlation.CapturedCallOf(id);
  if (captured.valid() && modules_[captured.value] != kMissing) return modules_[captured.value];
  const HostId start = StartOf(id);
  return start.valid() ? modules_[start.value] : kMissing;
}

// The number of the name: of a class or phase, or of a text.
int64_t WorkSummer::ValueOf(WorkKey key, DeviceId id) const {
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

std::string WorkSummer::TextOf(WorkKey key, int64_t value) const {
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

void WorkSummer::AddKey(WorkKey key, std::vector<WorkSumRow>& rows) const {
  const DeviceEvents& device = view_.trace.device();
  HashMap<int64_t, CountAndTime> sums[2];  // outside of steps and in them
  for (const uint32_t row : EachRow(device.size())) {
    const DeviceId id{row};
    if (selected_.Keeps(id) && !inherited_.IsInherited(id)) {
      sums[IsInStep(view_, selected_, id) ? 1 : 0][ValueOf(key, id)].Add(device.dur_ns[row]);
    }
  }
  for (const bool in_steps : {false, true}) {
    for (const auto& [value, sum] : sums[in_steps ? 1 : 0].InAnyOrder()) {  // Make() orders rows
      rows.push_back({in_steps, key, TextOf(key, value), sum.count, sum.total_ns});
    }
  }
}

Table WorkSummer::Make() {
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
  std::map<std::tuple<bool, uint32_t, uint32_t, uint32_t>, CountAndTime> sums;
  for (const uint32_t row : EachRow(device.size())) {
    const HostId op = view.index.correlation.op_of[row];
    const bool is_counted = selected.Keeps(DeviceId{row}) && !inherited.IsInherited(DeviceId{row});
    if (device.kind[row] == DeviceKind::kKernel && op.valid() && is_counted) {
      sums[{IsInStep(view, selected, DeviceId{row}), view.trace.host().name[op.value].value,
            ShapesOf(view.trace, op).value, device.name[row].value}]
          .Add(device.dur_ns[row]);
    }
  }
  std::vector<LaunchSumRow> rows;
  for (const auto& [key, sum] : sums) {
    const auto& [in_steps, op, shapes, name] = key;
    const std::string kernel = MatchedWorkName(view.trace.Text(StringId{name}));
    const StringId dims{shapes};
    rows.push_back({.in_steps = in_steps,
                    .op = view.trace.Text(StringId{op}),
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

// Tokens that were generated, of a recording without steps; 0 where nobody knows.
Result<int64_t> TokensOf(const RankView& view, const Selected& selected, const Params& params) {
  if (!view.steps().steps.empty()) {
    return 0;
  }
  BS_ASSIGN(const InferenceSteps found, FindInferenceSteps(view, selected, params));
  int64_t tokens = 0;
  for (const InferenceStep& step : found.steps) {
    const bool is_decode = step.notes.phase == InferencePhase::kDecode;
    AddSaturatingTo(tokens, is_decode ? std::max<int64_t>(0, step.notes.tokens) : 0);
  }
  return tokens;
}

// --- what devices did ---

// Whether a process with steps may use a device.
bool MayUse(const Steps& steps, const Step& step, std::span<const uint32_t> tracks) {
  return tracks.empty() || std::any_of(tracks.begin(), tracks.end(), [&](uint32_t track) {
           const uint32_t process = steps.process_of[track];
           return process == kAnyProcess || process == step.process;
         });
}

void AddSplit(const TimeSplit& split, DeviceTimeRow& row) {
  ++row.windows;
  const SquareParts squares =
      PartsOfSquares(static_cast<Uint128>(split.span_ns) * static_cast<Uint128>(split.span_ns));
  AddSaturatingTo(row.squares_low, squares.low);
  AddSaturatingTo(row.squares_high, squares.high);
  AddSaturatingTo(row.span_ns, split.span_ns);
  AddSaturatingTo(row.compute_ns, split.compute_ns);
  AddSaturatingTo(row.exposed_comm_ns, split.exposed_comm_ns);
  AddSaturatingTo(row.exposed_copy_ns, split.exposed_copy_ns);
  AddSaturatingTo(row.idle_ns, split.idle_ns);
}

Table DeviceTimeTable(const RankView& view, const Selected& selected) {
  const SharedDeviceTimes times = DeviceTimes(view, selected, PerTrack::kGpu);
  const IntervalSet whole = SelectedTime(view, selected);
  DeviceTimeRow of_steps{.in_steps = true};
  DeviceTimeRow of_run;
  const std::vector<Interval> lengths = view.steps().steps.empty()
                                            ? std::vector<Interval>()
                                            : StepTimes(view, SharedClockedSyncs(view)->clocks);
  for (const DeviceTime& time : *times) {
    AddSplit(SplitTime(time, whole), of_run);
    for (const uint32_t step : selected.steps()) {
      if (MayUse(view.steps(), view.steps().steps[step], time.tracks)) {
        const IntervalSet window = Union(std::vector<Interval>{lengths[step]});
        AddSplit(SplitTime(time, Intersect(window, selected.time_of_all_steps())), of_steps);
      }
    }
  }
  return MakeTable<DeviceTimeRow>({of_run, of_steps});
}

}  // namespace

std::string_view WorkKeyName(WorkKey key) {
  static constexpr std::string_view kNames[] = {"class", "phase", "annotation", "module",
                                                "operator"};
  return kNames[static_cast<size_t>(key)];
}

Result<Tables> SumRun(const RankView& view, const Selected& selected, const Params& params) {
  const bool short_names = params.Flag(kShortNamesParam);
  const std::shared_ptr<const InheritedWork> shared = SharedInheritedWork(view);
  const InheritedWork& inherited = *shared;
  NameSums names(short_names);
  names.AddHost(view, selected);
  names.AddDevice(view, selected, inherited);
  const CountAndTime before = SumOfInherited(view, selected, inherited);
  BS_ASSIGN(const int64_t tokens, TokensOf(view, selected, params));
  const RunSizeRow size{.ranks = 1,
                        .steps = static_cast<int64_t>(selected.steps().size()),
                        .tokens = tokens,
                        .inherited_events = before.count,
                        .inherited_ns = before.total_ns,
                        .span_ns = Coverage(SelectedTime(view, selected))};
  return Tables{names.Make(), MakeTable<RunSizeRow>({size}), DeviceTimeTable(view, selected),
                WorkSummer(view, selected, inherited).Make(),
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
