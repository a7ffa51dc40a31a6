// delays: the way from an operator to the device, for every operator that launches something
// itself.
//
//   operator      the innermost aten:: one around the launch on its thread, else the innermost of
//                 any name, else none (kNoOperator): then every launch call counts by itself
//   kernels       what one call of the operator launched, in launch order
//   launch delay  start of the operator to the start of its first launch
//   runtime       start of that launch to the start of its first work; clocks that disagree (work
//                 before its launch) count as 0
//
// Work whose launch was not recorded has rows of its own (kNoLaunch), so that `works` adds up to
// all selected device work. Launches without work are the business of `launches`.
//
// Everything is linear in the rows, but for the sorting of the launches by time.
#include <algorithm>
#include <string>
#include <vector>

#include "borescope/analysis/core/grouper.h"
#include "borescope/analysis/core/param_specs.h"
#include "borescope/analysis/core/reduce.h"
#include "borescope/analysis/core/row.h"
#include "borescope/analysis/measures/idle/host_time.h"
#include "borescope/analysis/measures/stacks/op_stacks.h"
#include "borescope/analysis/verbs/verbs.h"
#include "borescope/base/each_row.h"
#include "borescope/base/stop.h"
#include "borescope/index/call_tree.h"
#include "borescope/table/typed_rows.h"

namespace borescope::internal {
namespace {

// The operator's name for device work without a launch.
constexpr std::string_view kNoLaunch = "(launch not recorded)";
// In place of a StringId, in keys.
constexpr int64_t kNoOperatorKey = -1;
constexpr int64_t kNoLaunchKey = -2;

// Sequences of names as numbers: a sequence is a shorter one and its last name, so that equal
// sequences have one number and memory grows with distinct ones only.
class Patterns {
 public:
  static constexpr int64_t kEmpty = -1;

  int64_t Extend(int64_t pattern, StringId name) {
    const int64_t step[] = {pattern, name.value};
    return links_.Find(step);
  }
  // The names from first to last, joined by " -> ".
  std::string Text(const Trace& trace, int64_t pattern) const;

 private:
  Grouper links_{2};  // (the pattern before, the last name)
};

std::string Patterns::Text(const Trace& trace, int64_t pattern) const {
  std::vector<std::string_view> names;
  for (; pattern != kEmpty; pattern = links_.key(static_cast<size_t>(pattern))[0]) {
    const int64_t name = links_.key(static_cast<size_t>(pattern))[1];
    names.push_back(trace.Text(StringId{static_cast<uint32_t>(name)}));
  }
  std::string text;
  for (size_t i = names.size(); i > 0; --i) {
    text += i == names.size() ? "" : " -> ";
    text += names[i - 1];
  }
  return text;
}

// For every host row the innermost aten:: operator that is the row or lies above it.
std::vector<HostId> AtenOperators(const RankView& view) {
  const StringPool& strings = view.trace.strings();
  std::vector<char> is_aten(strings.size());
  for (uint32_t i = 0; i < strings.size(); ++i) {
    is_aten[i] = strings.Get(StringId{i}).starts_with("aten::") ? 1 : 0;
  }
  const HostEvents& host = view.trace.host();
  std::vector<HostId> aten(host.size());
  for (const uint32_t row : EachRow(host.size())) {
    const HostId parent = view.index.tree.parent[row];
    if (host.kind[row] == HostKind::kOp && is_aten[host.name[row].value] != 0) {
      aten[row] = HostId{row};
    } else if (parent.valid()) {
      aten[row] = aten[parent.value];
    }
  }
  return aten;
}

// One call of an operator, or a launch outside of any.
struct OpCall {
  int64_t name;  // a StringId, or kNoOperatorKey
  int64_t pattern;
  int64_t works;
  int64_t launch_delay_ns;
  int64_t runtime_ns;
};

struct DelaySums {
  int64_t count = 0;
  int64_t works = 0;
  int64_t launch_delay_ns = 0;
  int64_t runtime_ns = 0;

  void Add(const OpCall& call) {
    ++count;
    works += call.works;
    launch_delay_ns = AddSaturating(launch_delay_ns, call.launch_delay_ns);
    runtime_ns = AddSaturating(runtime_ns, call.runtime_ns);
  }
};

struct DelayRow {
  std::string_view op = {};
  std::string kernels = {};
  int64_t count = 0;
  int64_t works = 0;
  std::optional<int64_t> launch_delay_ns = {};
  std::optional<int64_t> runtime_ns = {};
  std::optional<double> mean_launch_delay_ns = {};
  std::optional<double> mean_runtime_ns = {};

  static constexpr TableNames kTable{"delays", "From operator to launch to kernel"};
  static constexpr ColumnOf<DelayRow> kColumns[] = {
      {"op", &DelayRow::op, Role::kKey,
       "Innermost aten:: operator around the launch, else the innermost of any name; "
       "\"(no operator)\" and \"(launch not recorded)\" hold what has none."},
      {"kernels", &DelayRow::kernels, Role::kKey,
       "Device work that one call of the operator launched itself, in launch order.", AsNames()},
      {"count", &DelayRow::count, Unit::kCount, Role::kSum,
       "Calls of the operator that launched just that; launches or works where there is none."},
      {"works", &DelayRow::works, Unit::kCount, Role::kSum,
       "Kernels, memcpys and memsets of all calls."},
      {"launch_delay_ns", &DelayRow::launch_delay_ns, Unit::kNanoseconds, Role::kSum,
       "Start of the operator to its first launch, summed over calls.", InTone(Tone::kHost)},
      {"runtime_ns", &DelayRow::runtime_ns, Unit::kNanoseconds, Role::kSum,
       "Start of that launch to the start of its first work, summed over calls."},
      {"mean_launch_delay_ns", &DelayRow::mean_launch_delay_ns, Unit::kNanoseconds, Role::kDerived,
       "Launch delay per call."},
      {"mean_runtime_ns", &DelayRow::mean_runtime_ns, Unit::kNanoseconds, Role::kDerived,
       "Runtime per call."}};
};

class DelayTable {
 public:
  DelayTable(const RankView& view, const Selected& selected)
      : view_(view),
        selected_(selected),
        aten_(AtenOperators(view)),
        call_of_(view.trace.host().size(), kNoCall) {}

  Table Build();

 private:
  static constexpr uint32_t kNoCall = ~uint32_t{0};

  HostId OperatorOf(HostId launch, DeviceId work) const;
  OpCall& CallOf(HostId launch, DeviceId first_work);
  void AddLaunch(HostId launch);
  void AddUnlinked();
  void AddToGroup(const OpCall& call);
  Table Write() const;

  const RankView& view_;
  const Selected& selected_;
  std::vector<HostId> aten_;       // by host row
  std::vector<uint32_t> call_of_;  // by host row of an operator: index into calls_
  std::vector<OpCall> calls_;
  std::vector<DeviceId> works_;  // of the current launch
  Patterns patterns_;
  Grouper groups_{2};  // (name, pattern)
  std::vector<DelaySums> sums_;
};

HostId DelayTable::OperatorOf(HostId launch, DeviceId work) const {
  if (view_.index.correlation.rule[work.value] != LinkRule::kLaunchNesting) {
    return {};
  }
  const HostId innermost = view_.index.correlation.op_of[work.value];
  const HostId aten = aten_[innermost.value];
  return aten.valid() && Covers(view_.trace.host(), aten, launch) ? aten : innermost;
}

// The call that a launch belongs to; a new one at the first launch of an operator.
OpCall& DelayTable::CallOf(HostId launch, DeviceId first_work) {
  const HostEvents& host = view_.trace.host();
  const HostId op = OperatorOf(launch, first_work);
  if (op.valid() && call_of_[op.value] != kNoCall) {
    return calls_[call_of_[op.value]];
  }
  const int64_t launch_ns = host.ts_ns[launch.value];
  const int64_t runtime_ns = view_.trace.device().ts_ns[first_work.value] - launch_ns;
  OpCall call{kNoOperatorKey, Patterns::kEmpty, 0, 0, std::max<int64_t>(0, runtime_ns)};
  if (op.valid()) {
    call.name = host.name[op.value].value;
    call.launch_delay_ns = launch_ns - host.ts_ns[op.value];
    call_of_[op.value] = static_cast<uint32_t>(calls_.size());
  }
  return calls_.emplace_back(call);
}

void DelayTable::AddLaunch(HostId launch) {
  FindWorks(view_, launch, works_);
  std::erase_if(works_, [this](DeviceId work) { return !selected_.Keeps(work); });
  if (works_.empty()) {
    return;
  }
  OpCall& call = CallOf(launch, works_.front());
  for (const DeviceId work : works_) {
    call.pattern = patterns_.Extend(call.pattern, view_.trace.device().name[work.value]);
    ++call.works;
  }
}

void DelayTable::AddToGroup(const OpCall& call) {
  const int64_t key[] = {call.name, call.pattern};
  const uint32_t group = groups_.Find(key);
  sums_.resize(groups_.size());
  sums_[group].Add(call);
}

void DelayTable::AddUnlinked() {
  const DeviceEvents& device = view_.trace.device();
  for (const uint32_t row : EachRow(device.size())) {
    if (!view_.index.correlation.launch_of[row].valid() && selected_.Keeps(DeviceId{row})) {
      AddToGroup({kNoLaunchKey, patterns_.Extend(Patterns::kEmpty, device.name[row]), 1, 0, 0});
    }
  }
}

Table DelayTable::Write() const {
  std::vector<DelayRow> rows;
  rows.reserve(sums_.size());
  for (size_t i = 0; i < sums_.size(); ++i) {
    const int64_t name = groups_.key(i)[0];
    const DelaySums& sums = sums_[i];
    DelayRow& row = rows.emplace_back(DelayRow{
        .op = name == kNoOperatorKey ? kNoOperator
              : name == kNoLaunchKey ? kNoLaunch
                                     : view_.trace.Text(StringId{static_cast<uint32_t>(name)}),
        .kernels = patterns_.Text(view_.trace, groups_.key(i)[1]),
        .count = sums.count,
        .works = sums.works});
    if (name >= 0) row.launch_delay_ns = sums.launch_delay_ns;
    if (name != kNoLaunchKey) row.runtime_ns = sums.runtime_ns;
  }
  return MakeTable(rows);
}

Table DelayTable::Build() {
  size_t calls = 0;
  for (const HostId launch : CallsWithWork(view_)) {
    CheckStopAt(calls++);
    AddLaunch(launch);
  }
  for (const OpCall& call : calls_) {
    CheckStopAt(calls++);
    AddToGroup(call);
  }
  AddUnlinked();
  return Write();
}

Result<Tables> MapDelays(const RankView& view, const Params& params) {
  BS_ASSIGN(const Selected selected, Selected::Make(view, params.selection));
  return Tables{DelayTable(view, selected).Build()};
}

std::optional<double> MeanOf(std::optional<int64_t> total_ns, int64_t count) {
  return total_ns && count != 0 ? std::optional(ShareOf(*total_ns, count)) : std::nullopt;
}

Result<Tables> FinishDelays(Tables findings, const Params&) {
  Table& delays = TableOf<DelayRow>(findings);
  UpdateRows<DelayRow>(delays, [](DelayRow& row) {
    row.mean_launch_delay_ns = MeanOf(row.launch_delay_ns, row.count);
    row.mean_runtime_ns = MeanOf(row.runtime_ns, row.count);
  });
  delays = Sorted(delays, "launch_delay_ns");
  return findings;
}

constexpr const ParamSpec* kHtaParams[] = {&kIncludeLastStepParam};
constexpr std::string_view kOpAndKernels[] = {"op", "kernels"};
constexpr std::string_view kDelayParts[] = {"launch_delay_ns", "runtime_ns"};
constexpr ViewSpec kViews[] = {{"delays", ViewKind::kStackedBars,
                                "From operator to launch, and on to the kernel", kOpAndKernels,
                                kDelayParts}};

}  // namespace

const AnalysisSpec kDelaysVerb{
    .name = "delays",
    .summary = "time from an operator to its first launch, and on to the kernel",
    .example = "borescope delays trace.json.gz --top 20",
    .needs = Needs::kLaunches,
    .params = kHtaParams,
    .answer = {.map = MapDelays, .reduce = MergeTables, .finish = FinishDelays},
    .views = kViews};

}  // namespace borescope::internal
