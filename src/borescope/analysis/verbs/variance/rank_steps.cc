#include "borescope/analysis/verbs/variance/rank_steps.h"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "borescope/analysis/core/keyed_rows.h"
#include "borescope/analysis/core/selection/device_time.h"
#include "borescope/analysis/measures/event_graph/event_graph.h"
#include "borescope/analysis/measures/flops/modelled_work.h"
#include "borescope/analysis/measures/path/path.h"
#include "borescope/analysis/measures/time/step_times.h"
#include "borescope/base/each_row.h"
#include "borescope/base/saturating.h"
#include "borescope/index/steps/steps.h"
#include "borescope/table/table_ops.h"

namespace borescope::internal {

namespace {

class SpanFinder {
 public:
  SpanFinder(const RankView& view, const NumberRanges& numbers)
      : view_(view),
        steps_(view.steps().steps),
        numbers_(numbers),
        occurrences_(OccurrencesOf(view.trace, steps_)) {
    found_.span_of.assign(steps_.size(), kNoStep);
    for (uint32_t i = 0; i < steps_.size(); ++i) {
      if (steps_[i].process == steps_.front().process) {
        ours_.push_back(i);
      }
    }
  }

  // `times`: of every step.
  StepSpans Find(const std::vector<Interval>& times) {
    for (const uint32_t i : ours_) {
      AddPiece(i, times[i]);
    }
    return std::move(found_);
  }

 private:
  void AddPiece(uint32_t number, Interval time) {
    const Step& step = steps_[number];
    const bool is_asked = numbers_.empty() || numbers_.Contains(step.number);
    if (!is_asked || time.begin >= time.end) {
      return;
    }
    const auto [found, is_new] = known_.try_emplace({step.number, occurrences_[number]},
                                                    static_cast<uint32_t>(found_.spans.size()));
    if (is_new) {
      const bool is_first = step.number == steps_.front().number && occurrences_[number] == 0;
      found_.spans.push_back({step.number, is_first, 0});
    }
    found_.span_of[number] = found->second;
    found_.spans[found->second].length_ns += time.length();
    const TrackId thread = view_.trace.host().track[step.annotation.value];
    found_.pieces.push_back({time, found->second, thread});
  }

  const RankView& view_;
  const std::vector<Step>& steps_;
  const NumberRanges& numbers_;
  std::vector<uint32_t> ours_;                              // of the process of the first step
  std::vector<uint32_t> occurrences_;                       // per step
  std::map<std::pair<int64_t, uint32_t>, uint32_t> known_;  // number, occurrence -> span
  StepSpans found_;
};

}  // namespace

IntervalSet StepSpans::Time() const {
  IntervalSet time;
  for (const StepPiece& piece : pieces) {
    Extend(time, piece.time);
  }
  return time;
}

StepSpans FindStepSpans(const RankView& view, const NumberRanges& numbers,
                        const DeviceClocks& clocks) {
  return SpanFinder(view, numbers).Find(StepTimes(view, clocks));
}

StepSpans FindHostSpans(const RankView& view, const NumberRanges& numbers) {
  return SpanFinder(view, numbers).Find(HostStepTimes(view));
}

namespace {

class WorkSummer {
 public:
  explicit WorkSummer(const StepSpans& spans)
      : spans_(spans), work_(spans.spans.size(), 0), is_known_(spans.spans.size(), 0) {}

  void Add(uint32_t step, int64_t flops) {
    if (step == kNoStep || flops == kMissing) {
      return;
    }
    if (const uint32_t span = spans_.span_of[step]; span != kNoStep) {
      AddSaturatingTo(work_[span], flops);
      is_known_[span] = 1;
    }
  }

  std::vector<int64_t> Finish() {
    // A step without a known operator is not one without work.
    if (std::find(is_known_.begin(), is_known_.end(), 0) != is_known_.end()) {
      work_.assign(work_.size(), kMissing);
    }
    return std::move(work_);
  }

 private:
  const StepSpans& spans_;
  std::vector<int64_t> work_;
  std::vector<char> is_known_;
};

}  // namespace

Result<std::vector<int64_t>> WorkOfSteps(const RankView& view, const Selected& selected,
                                         const StepSpans& spans) {
  BS_ASSIGN(const CallFlops flops, FlopsOfCalls(view, selected));
  WorkSummer summer(spans);
  const HostEvents& host = view.trace.host();
  for (const uint32_t row : EachRow(flops.of_call.size())) {
    if (flops.of_call[row] != kMissing) {
      summer.Add(view.steps().At(host.track[row], host.ts_ns[row]), flops.of_call[row]);
    }
  }
  for (const ReplayedFlops& replayed : flops.replayed) {
    summer.Add(StepOf(view, replayed.work, StepRule::kLaunch), replayed.flops);
  }
  return summer.Finish();
}

namespace {

// In the place of a StringId.
constexpr int64_t kUnnamed = -1;
constexpr int64_t kStepItself = -2;
constexpr int64_t kOtherNames = -3;

}  // namespace

std::string_view PartCauseName(PartCause cause) {
  if (cause < PartCause::kCompute) {
    return BoundByName(static_cast<BoundBy>(cause));
  }
  constexpr std::string_view kNames[] = {"compute",        "exposed_comm", "exposed_copy", "idle",
                                         "operator",       "call",         "annotation",   "python",
                                         "between_events", "unknown"};
  return kNames[static_cast<size_t>(cause) - static_cast<size_t>(PartCause::kCompute)];
}

PartSums::PartSums(const RankView& view, const StepSpans& spans)
    : view_(view), spans_(spans), groups_(3), is_step_name_(view.trace.strings().size(), 0) {
  for (const Step& step : view.steps().steps) {
    is_step_name_[view.trace.host().name[step.annotation.value].value] = 2;
  }
}

bool PartSums::IsStepName(StringId name) {
  char& known = is_step_name_[name.value];
  if (known == 0) {
    const std::string_view text = view_.trace.Text(name);
    known = IsServerStep(text) || FoldStepName(text) != text ? 2 : 1;
  }
  return known == 2;
}

void PartSums::Add(uint32_t span, PartCause cause, StringId name, int64_t ns) {
  if (ns <= 0) {
    return;
  }
  const int64_t id = !name.valid() ? kUnnamed : IsStepName(name) ? kStepItself : name.value;
  const std::array<int64_t, 3> key = {span, static_cast<int64_t>(cause), id};
  const uint32_t group = groups_.Find(key);
  ns_.resize(groups_.size(), 0);
  AddSaturatingTo(ns_[group], ns);
}

void PartSums::AddUnnamed(uint32_t span, PartCause cause, int64_t ns) {
  Add(span, cause, StringId(), ns);
}

void PartSums::AddTime(Interval time, PartCause cause, StringId name) {
  const std::vector<StepPiece>& pieces = spans_.pieces;
  while (next_piece_ < pieces.size() && pieces[next_piece_].time.end <= time.begin) {
    ++next_piece_;
  }
  for (size_t i = next_piece_; i < pieces.size() && pieces[i].time.begin < time.end; ++i) {
    const int64_t begin_ns = std::max(time.begin, pieces[i].time.begin);
    Add(pieces[i].span, cause, name, std::min(time.end, pieces[i].time.end) - begin_ns);
  }
}

void PartSums::AddRest() {
  std::vector<int64_t> rest(spans_.spans.size());
  for (size_t i = 0; i < rest.size(); ++i) {
    rest[i] = spans_.spans[i].length_ns;
  }
  for (uint32_t group = 0; group < groups_.size(); ++group) {
    rest[static_cast<size_t>(groups_.key(group)[0])] -= ns_[group];
  }
  for (uint32_t i = 0; i < rest.size(); ++i) {
    AddUnnamed(i, PartCause::kUnknown, rest[i]);
  }
}

// Per kind, a cause with a name: whether it is among those that vary most.
std::vector<char> PartSums::NamesToKeep(const std::vector<uint32_t>& kind_of, size_t kinds) const {
  std::vector<char> keeps(kinds, 1);
  if (kinds <= kMostNames) {
    return keeps;
  }
  std::vector<double> sum(kinds, 0);
  std::vector<double> squares(kinds, 0);
  for (uint32_t group = 0; group < groups_.size(); ++group) {
    if (!spans_.spans[static_cast<size_t>(groups_.key(group)[0])].is_first) {
      const auto ns = static_cast<double>(ns_[group]);
      sum[kind_of[group]] += ns;
      squares[kind_of[group]] += ns * ns;
    }
  }
  const auto counted = static_cast<double>(std::count_if(
      spans_.spans.begin(), spans_.spans.end(), [](const auto& span) { return !span.is_first; }));
  std::vector<double> spread(kinds);
  for (size_t kind = 0; kind < kinds; ++kind) {
    spread[kind] = squares[kind] - sum[kind] * sum[kind] / std::max(counted, 1.0);
  }
  std::vector<uint32_t> by_spread(kinds);
  std::iota(by_spread.begin(), by_spread.end(), 0U);
  std::stable_sort(by_spread.begin(), by_spread.end(),
                   [&](uint32_t a, uint32_t b) { return spread[a] > spread[b]; });
  for (size_t i = kMostNames; i < by_spread.size(); ++i) {
    keeps[by_spread[i]] = 0;
  }
  return keeps;
}

std::string_view PartSums::TextOf(int64_t name) const {
  switch (name) {
    case kUnnamed:
      return {};
    case kStepItself:
      return "(the step itself)";
    case kOtherNames:
      return kOtherNamesText;
    default:
      return view_.trace.Text(StringId{static_cast<uint32_t>(name)});
  }
}

std::vector<StepPart> PartSums::Finish() {
  AddRest();
  Grouper kinds(2);
  std::vector<uint32_t> kind_of(groups_.size());
  for (const uint32_t group : EachRow(groups_.size())) {
    kind_of[group] = kinds.Find(groups_.key(group).subspan(1));
  }
  const std::vector<char> keeps = NamesToKeep(kind_of, kinds.size());
  // By text: what an event is named may be a placeholder here.
  std::map<std::tuple<int64_t, int64_t, std::string_view>, int64_t> sums;
  for (const uint32_t group : EachRow(groups_.size())) {
    const std::span<const int64_t> key = groups_.key(group);
    const bool is_kept = keeps[kind_of[group]] != 0 || key[2] == kUnnamed;
    AddSaturatingTo(sums[{key[0], key[1], TextOf(is_kept ? key[2] : kOtherNames)}], ns_[group]);
  }
  std::vector<StepPart> parts;
  parts.reserve(sums.size());
  for (const auto& [key, ns] : sums) {
    parts.push_back({static_cast<uint32_t>(std::get<0>(key)),
                     static_cast<PartCause>(std::get<1>(key)), std::get<2>(key), ns});
  }
  return parts;
}

namespace {

constexpr std::array<std::string_view, 3> kPartsNames = {"path", "breakdown", "ops"};

// The event that the time on the path is spent in; none for delays and unknown waits.
StringId NameOnPath(const Trace& trace, const PathStep& step) {
  const bool is_nobodys = step.event == kNoEvent || step.bound_by == BoundBy::kWait ||
                          step.bound_by == BoundBy::kBeforeRecording ||
                          (step.side == NodeSide::kDevice && step.kind != PathKind::kOperator);
  if (is_nobodys) {
    return {};
  }
  return step.side == NodeSide::kHost ? trace.host().name[step.event]
                                      : trace.device().name[step.event];
}

std::vector<StepPart> DividePath(const RankView& view, const PathGraph& graph,
                                 const StepSpans& spans) {
  PartSums sums(view, spans);
  const ColumnData<PathStep> path = graph.StepsIn(view, spans.Time());
  for (const size_t i : EachIndex(path.size())) {
    sums.AddTime({path[i].begin_ns, path[i].end_ns}, CauseOf(path[i].bound_by),
                 NameOnPath(view.trace, path[i]));
  }
  return sums.Finish();
}

DeviceClocks ClocksOf(const RankView& view) { return SharedClockedSyncs(view)->clocks; }

// All devices of the rank as one: computing where any of them computes.
DeviceTime AllDevices(const std::vector<DeviceTime>& times) {
  std::vector<Interval> compute;
  std::vector<Interval> comm;
  std::vector<Interval> busy;
  for (const DeviceTime& time : times) {
    compute.insert(compute.end(), time.compute.begin(), time.compute.end());
    comm.insert(comm.end(), time.comm.begin(), time.comm.end());
    busy.insert(busy.end(), time.busy.begin(), time.busy.end());
  }
  DeviceTime all;
  all.compute = Union(std::move(compute));
  all.comm = Union(std::move(comm));
  all.busy = Union(std::move(busy));
  all.exposed_comm = Subtract(all.comm, all.compute);
  all.exposed_copy = Subtract(all.busy, Union(all.compute, all.comm));
  return all;
}

void AddBreakdown(const RankView& view, const Selected& selected, const StepSpans& spans,
                  PartSums& sums) {
  const SharedDeviceTimes devices = DeviceTimes(view, selected, PerTrack::kGpu);
  const DeviceTime all = AllDevices(*devices);
  for (const size_t i : EachIndex(spans.pieces.size())) {
    const StepPiece& piece = spans.pieces[i];
    int64_t idle_ns = piece.time.length();
    const auto add = [&](PartCause cause, const IntervalSet& set) {
      const int64_t ns = Coverage(Clip(set, piece.time));
      sums.AddUnnamed(piece.span, cause, ns);
      idle_ns -= ns;
    };
    add(PartCause::kCompute, all.compute);
    add(PartCause::kExposedComm, all.exposed_comm);
    add(PartCause::kExposedCopy, all.exposed_copy);
    sums.AddUnnamed(piece.span, PartCause::kIdle, idle_ns);
  }
}

PartCause CauseOfHost(const RankView& view, HostId id) {
  if (!id.valid()) {
    return PartCause::kBetween;
  }
  switch (view.trace.host().kind[id.value]) {
    case HostKind::kPython:
      return PartCause::kPython;
    case HostKind::kAnnotation:
      return PartCause::kAnnotation;
    case HostKind::kOp:
      return PartCause::kOperator;
    case HostKind::kRuntime:
      return PartCause::kCall;
    case HostKind::kOther:
      break;
  }
  return PartCause::kBetween;
}

// What one thread did in the steps that it runs.
void AddThread(const RankView& view, const HostFacts& facts, TrackId thread,
               std::span<const StepPiece* const> pieces, PartSums& sums) {
  size_t next = 0;
  SweepThread(
      view.trace, facts, ThreadFacts{thread, true},
      [&](const ThreadPiece& host) {
        while (next < pieces.size() && pieces[next]->time.end <= host.begin_ns) {
          ++next;
        }
        for (size_t i = next; i < pieces.size() && pieces[i]->time.begin < host.end_ns; ++i) {
          const int64_t begin_ns = std::max(host.begin_ns, pieces[i]->time.begin);
          const int64_t end_ns = std::min(host.end_ns, pieces[i]->time.end);
          const StringId name =
              host.innermost.valid() ? view.trace.host().name[host.innermost.value] : StringId();
          sums.Add(pieces[i]->span, CauseOfHost(view, host.innermost), name, end_ns - begin_ns);
        }
      },
      [](HostId, bool, int64_t) {});
}

void AddOps(const RankView& view, const StepSpans& spans, PartSums& sums) {
  std::vector<const StepPiece*> pieces;
  pieces.reserve(spans.pieces.size());
  for (const StepPiece& piece : spans.pieces) {
    pieces.push_back(&piece);
  }
  std::stable_sort(pieces.begin(), pieces.end(), [](const StepPiece* a, const StepPiece* b) {
    return a->thread.value < b->thread.value;
  });
  HostFacts facts;
  facts.marks.assign(view.trace.host().size(), 0);
  facts.is_loading.assign(view.trace.strings().size(), 0);
  for (size_t begin = 0; begin < pieces.size();) {
    size_t end = begin;
    while (end < pieces.size() && pieces[end]->thread == pieces[begin]->thread) {
      ++end;
    }
    AddThread(view, facts, pieces[begin]->thread, std::span(pieces).subspan(begin, end - begin),
              sums);
    begin = end;
  }
}

}  // namespace

std::string_view PartsOfName(PartsOf parts) { return kPartsNames[static_cast<size_t>(parts)]; }

PartsOf ChooseParts(const RankView& view, std::string_view asked) {
  const auto* const found = std::find(kPartsNames.begin(), kPartsNames.end(), asked);
  if (found != kPartsNames.end()) {
    return static_cast<PartsOf>(found - kPartsNames.begin());
  }
  return HasNoWaits(view.trace) ? PartsOf::kBreakdown : PartsOf::kPath;
}

DividedSteps DivideSteps(const RankView& view, const Selected& selected, const NumberRanges& steps,
                         PartsOf parts, const Params& params) {
  DividedSteps divided;
  if (parts == PartsOf::kPath) {
    const std::shared_ptr<const PathGraph> graph = SharedPathGraph(view, params);
    divided.spans = FindStepSpans(view, steps, graph->recording.clocks);
    divided.parts = DividePath(view, *graph, divided.spans);
    return divided;
  }
  divided.spans = parts == PartsOf::kOps ? FindHostSpans(view, steps)
                                         : FindStepSpans(view, steps, ClocksOf(view));
  PartSums sums(view, divided.spans);
  if (parts == PartsOf::kBreakdown) {
    AddBreakdown(view, selected, divided.spans, sums);
  } else {
    AddOps(view, divided.spans, sums);
  }
  divided.parts = sums.Finish();
  return divided;
}

namespace {

Error NoSteps(std::string_view what) {
  return Error{ErrorCode::kInvalidArgument,
               "not the steps of a rank that variance mapped: " + std::string(what)};
}

Result<void> CheckSteps(const std::vector<VarianceStepRow>& steps) {
  for (const VarianceStepRow& step : steps) {
    if (step.span_ns <= 0) {
      return NoSteps("a step has no length");
    }
    if (step.work.value_or(0) < 0) {
      return NoSteps("a step has negative work");
    }
  }
  return {};
}

Result<void> CheckParts(const std::vector<VarianceStepRow>& steps,
                        const std::vector<VariancePartRow>& parts) {
  std::set<std::tuple<int64_t, std::string_view, std::string_view>> known;
  std::vector<int64_t> rest;
  rest.reserve(steps.size());
  for (const VarianceStepRow& step : steps) {
    rest.push_back(step.span_ns);
  }
  for (const size_t row : EachIndex(parts.size())) {
    const VariancePartRow& part = parts[row];
    if (!known.emplace(part.step, part.cause, part.name.value_or("")).second) {
      return NoSteps("a step has two parts of one cause and name");
    }
    if (part.step < 0 || part.step >= static_cast<int64_t>(rest.size())) {
      return NoSteps("a part is of a step that is not there");
    }
    if (part.ns <= 0) {
      return NoSteps("a part has no length");
    }
    int64_t& left = rest[static_cast<size_t>(part.step)];
    left = SubtractSaturating(left, part.ns);
  }
  for (const int64_t left : rest) {
    if (left != 0) {
      return NoSteps("the parts of a step do not add up to its length");
    }
  }
  return {};
}

}  // namespace

Tables RankTables(const RankView& view, PartsOf parts_of, const StepSpans& spans,
                  const std::vector<int64_t>& work, const std::vector<StepPart>& parts) {
  std::vector<VarianceStepRow> steps;
  for (size_t i = 0; i < spans.spans.size(); ++i) {
    const StepSpan& span = spans.spans[i];
    steps.push_back({.rank = view.rank,
                     .step = span.number,
                     .is_first = span.is_first,
                     .span_ns = span.length_ns,
                     .work = Recorded(work[i])});
  }
  Table table = NewTable<VariancePartRow>();
  ReserveRows(table, parts.size());
  RowWriter<VariancePartRow> rows(table);
  for (const StepPart& part : parts) {
    rows.Push({.rank = view.rank,
               .step = part.span,
               .cause = PartCauseName(part.cause),
               .name = Recorded(part.name),
               .ns = part.ns});
  }
  return Tables{MakeTable<VarianceRankRow>({{.rank = view.rank, .parts = PartsOfName(parts_of)}}),
                MakeTable(steps), std::move(table)};
}

Result<void> CheckRankTables(std::span<const Table> tables) {
  if (TableOf<VarianceRankRow>(tables).rows() != 1) {
    return NoSteps("it has more or less than one row for the rank");
  }
  const std::vector<VarianceStepRow> steps = ReadRows<VarianceStepRow>(tables);
  BS_TRY(CheckSteps(steps));
  return CheckParts(steps, ReadRows<VariancePartRow>(tables));
}

}  // namespace borescope::internal
