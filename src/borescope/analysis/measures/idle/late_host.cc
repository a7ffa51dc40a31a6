#include "borescope/analysis/measures/idle/late_host.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <span>
#include <tuple>
#include <utility>

#include "borescope/analysis/core/grouper.h"
#include "borescope/analysis/measures/idle/host_time.h"
#include "borescope/analysis/measures/names/describe.h"
#include "borescope/analysis/measures/stacks/callers.h"
#include "borescope/base/saturating.h"
#include "borescope/base/stop.h"
#include "borescope/index/steps/steps.h"
#include "borescope/trace/call_stacks.h"

namespace borescope::internal {
namespace {

constexpr int64_t kNoName = -1;
constexpr size_t kLongestName = 60;

// The rows of a table sorted by thread that belong to one.
std::pair<size_t, size_t> RowsOf(const std::vector<TrackId>& tracks, TrackId track) {
  const auto [first, end] = std::equal_range(
      tracks.begin(), tracks.end(), track, [](TrackId a, TrackId b) { return a.value < b.value; });
  return {static_cast<size_t>(first - tracks.begin()), static_cast<size_t>(end - tracks.begin())};
}

// Explains the times of one thread after the other.
class Explainer {
 public:
  explicit Explainer(const RankView& view)
      : view_(view), host_(view.trace.host()), period_ns_(SamplingPeriod(view.trace)) {}

  // REQUIRES: `late` is of one thread, by time.
  void Explain(TrackId track, std::span<const LateTime> late);
  // Time of a launch that was not recorded, so that its thread is not known.
  void AddUnknown(int64_t ns) {
    open_.clear();
    Add(HostActivity::kUnknown, {}, ns);
  }

  std::vector<LateHostSum> Take() { return std::move(sums_); }

 private:
  // An open row with what it is in.
  struct Frame {
    HostId row;
    HostId call;      // outermost
    HostId op;        // innermost
    StringId caller;  // of `call`
  };

  void Open(HostId row);
  void CloseUntil(int64_t ns);
  void MoveTo(int64_t ns);
  void AddPiece(Interval time);
  void AddOutsideCalls(Interval time);
  void AddSampled(Interval time);
  void AddEvent(Interval time);
  void Add(HostActivity activity, StringId name, int64_t ns);
  StringId NameOf(HostId id) const { return id.valid() ? host_.name[id.value] : StringId(); }
  StringId OperationOf() const { return open_.empty() ? StringId() : NameOf(open_.back().op); }
  StringId FunctionOf(size_t sample) const;

  const RankView& view_;
  const HostEvents& host_;
  const int64_t period_ns_;
  std::span<const LateTime> late_;  // of the thread, from the first that has not passed
  std::pair<size_t, size_t> pauses_;
  std::pair<size_t, size_t> samples_;
  std::vector<Frame> open_;
  int64_t now_ns_ = 0;
  Grouper groups_{4};
  std::vector<LateHostSum> sums_;
};

void Explainer::Add(HostActivity activity, StringId name, int64_t ns) {
  if (ns <= 0) {
    return;
  }
  const bool is_call = activity == HostActivity::kCall;
  const StringId caller = is_call ? open_.back().caller : StringId();
  const StringId operation = OperationOf();
  const auto number = [](StringId id) { return id.valid() ? int64_t{id.value} : kNoName; };
  const int64_t key[] = {static_cast<int64_t>(activity), number(name), number(caller),
                         number(operation)};
  const uint32_t group = groups_.Find(key);
  if (group == sums_.size()) {
    sums_.push_back({activity, name, caller, operation, 0});
  }
  AddSaturatingTo(sums_[group].ns, ns);
}

void Explainer::Explain(TrackId track, std::span<const LateTime> late) {
  late_ = late;
  pauses_ = RowsOf(view_.trace.pauses().track, track);
  samples_ = RowsOf(view_.trace.stack_samples().track, track);
  now_ns_ = late.front().time.begin;
  open_.clear();
  const Tracks& tracks = view_.trace.tracks();
  const uint32_t end_row = tracks.end_row[track.value];
  for (uint32_t row = tracks.first_row[track.value]; row < end_row && !late_.empty(); ++row) {
    CheckStopAt(row);
    CloseUntil(host_.ts_ns[row]);
    MoveTo(host_.ts_ns[row]);
    Open(HostId{row});
  }
  CloseUntil(late.back().time.end);
  MoveTo(late.back().time.end);
}

// What a later row is not inside of is closed by it.
void Explainer::Open(HostId row) {
  const std::vector<uint32_t>& subtree_end = view_.index.tree.subtree_end;
  while (!open_.empty() && subtree_end[open_.back().row.value] <= row.value) {
    open_.pop_back();
  }
  Frame frame = open_.empty() ? Frame() : open_.back();
  frame.row = row;
  if (!frame.call.valid() && IsCall(host_.kind[row.value])) {
    frame.call = row;
    frame.caller = CallerOf(view_.trace, row, subtree_end[row.value]);
  }
  if (view_.index.IsOperator(view_.trace, row)) {
    frame.op = row;
  }
  open_.push_back(frame);
}

void Explainer::CloseUntil(int64_t ns) {
  while (!open_.empty() && host_.end_ns(open_.back().row) <= ns) {
    MoveTo(host_.end_ns(open_.back().row));
    open_.pop_back();
  }
}

void Explainer::MoveTo(int64_t ns) {
  while (now_ns_ < ns && !late_.empty()) {
    const Interval next = late_.front().time;
    const Interval piece{std::max(now_ns_, next.begin), std::min(ns, next.end)};
    if (piece.begin < piece.end) {
      AddPiece(piece);
    }
    if (next.end > ns) {
      break;
    }
    late_ = late_.subspan(1);
  }
  now_ns_ = std::max(now_ns_, ns);
}

void Explainer::AddPiece(Interval time) {
  if (!open_.empty() && open_.back().call.valid()) {
    Add(HostActivity::kCall, NameOf(open_.back().call), time.length());
  } else {
    AddOutsideCalls(time);
  }
}

void Explainer::AddOutsideCalls(Interval time) {
  if (pauses_.first == pauses_.second && samples_.first == samples_.second) {
    AddEvent(time);  // most recordings have neither
    return;
  }
  const Pauses& pauses = view_.trace.pauses();
  const auto first = pauses.end_ns.begin() + static_cast<ptrdiff_t>(pauses_.first);
  const auto end = pauses.end_ns.begin() + static_cast<ptrdiff_t>(pauses_.second);
  const auto next = std::upper_bound(first, end, time.begin);
  auto row = static_cast<size_t>(next - pauses.end_ns.begin());
  for (; row < pauses_.second && pauses.ts_ns[row] < time.end; ++row) {
    const Interval pause{std::max(pauses.ts_ns[row], time.begin),
                         std::min(pauses.end_ns[row], time.end)};
    AddSampled({time.begin, pause.begin});
    Add(HostActivity::kNoProcessor, {}, pause.length());
    time.begin = pause.end;
  }
  AddSampled(time);
}

// An instant belongs to the last sample before it, for two periods: a running thread has the next
// by then.
void Explainer::AddSampled(Interval time) {
  const StackSamples& samples = view_.trace.stack_samples();
  const auto first = samples.ts_ns.begin() + static_cast<ptrdiff_t>(samples_.first);
  const auto end = samples.ts_ns.begin() + static_cast<ptrdiff_t>(samples_.second);
  auto next = std::upper_bound(first, end, time.begin);
  while (time.begin < time.end) {
    const int64_t until = next == end ? time.end : std::min(*next, time.end);
    int64_t covered = time.begin;
    if (next != first) {
      const int64_t reach = AddSaturating(*std::prev(next), AddSaturating(period_ns_, period_ns_));
      covered = std::clamp(reach, time.begin, until);
      const auto sample = static_cast<size_t>(std::prev(next) - samples.ts_ns.begin());
      Add(HostActivity::kSampled, FunctionOf(sample), covered - time.begin);
    }
    AddEvent({covered, until});
    time.begin = until;
    next += next == end ? 0 : 1;
  }
}

void Explainer::AddEvent(Interval time) {
  const bool is_inside = !open_.empty();
  Add(is_inside ? HostActivity::kEvent : HostActivity::kUnknown,
      is_inside ? NameOf(open_.back().row) : StringId(), time.length());
}

// The innermost frame that is more than its module.
StringId Explainer::FunctionOf(size_t sample) const {
  const StackFrames& frames = view_.trace.stack_frames();
  const uint32_t innermost = view_.trace.stack_samples().frame[sample];
  for (uint32_t frame = innermost; frame != kNoDetail; frame = frames.parent[frame]) {
    if (!view_.trace.Text(frames.name[frame]).starts_with("[")) {
      return frames.name[frame];
    }
  }
  return innermost == kNoDetail ? StringId() : frames.name[innermost];
}

// A step says nothing about what was done in it.
bool SaysNothing(const Trace& trace, HostActivity activity, StringId name) {
  return activity == HostActivity::kUnknown || !name.valid() ||
         StepNumber(trace.Text(name)).has_value() || IsServerStep(trace.Text(name));
}

std::string WordsFor(const Trace& trace, HostActivity activity, StringId name) {
  if (activity == HostActivity::kNoProcessor) {
    return "without a processor";
  }
  return SaysNothing(trace, activity, name)
             ? std::string()
             : fmt::format("in `{}`{}", ShortenedName(trace.Text(name), kLongestName),
                           activity == HostActivity::kSampled ? " (sampled)" : "");
}

std::string CallerWords(const Trace& trace, StringId caller) {
  return caller.valid()
             ? fmt::format(", called from `{}`", ShortenedName(trace.Text(caller), kLongestName))
             : std::string();
}

using NsByName = std::map<std::pair<HostActivity, uint32_t>, int64_t>;

// The first that has at least half of the time; end() if none has.
NsByName::const_iterator HalfOf(const NsByName& by_name, int64_t all_ns) {
  return std::find_if(by_name.begin(), by_name.end(),
                      [&](const auto& one) { return one.second >= all_ns - one.second; });
}

}  // namespace

std::string_view HostActivityName(HostActivity activity) {
  constexpr std::string_view kNames[] = {"call", "no processor", "sampled", "event", "unknown"};
  return kNames[static_cast<size_t>(activity)];
}

std::vector<LateHostSum> ExplainLateHost(const RankView& view, std::vector<LateTime> late) {
  const HostEvents& host = view.trace.host();
  const auto track_of = [&](const LateTime& one) {
    return one.launch.valid() ? host.track[one.launch.value].value : kNoDetail;
  };
  std::stable_sort(late.begin(), late.end(), [&](const LateTime& a, const LateTime& b) {
    return std::tuple(track_of(a), a.time.begin) < std::tuple(track_of(b), b.time.begin);
  });
  Explainer explainer(view);
  for (size_t first = 0; first < late.size();) {
    size_t end = first;
    while (end < late.size() && track_of(late[end]) == track_of(late[first])) {
      ++end;
    }
    if (late[first].launch.valid()) {
      explainer.Explain(host.track[late[first].launch.value],
                        std::span(late).subspan(first, end - first));
    } else {
      for (size_t i = first; i < end; ++i) {
        explainer.AddUnknown(late[i].time.length());
      }
    }
    first = end;
  }
  return explainer.Take();
}

std::string MostlyWords(const Trace& trace, const std::vector<LateHostSum>& sums) {
  NsByName by_name;
  int64_t all_ns = 0;
  for (const LateHostSum& sum : sums) {
    AddSaturatingTo(by_name[{sum.activity, sum.name.value}], sum.ns);
    AddSaturatingTo(all_ns, sum.ns);
  }
  const auto most = HalfOf(by_name, all_ns);
  if (most == by_name.end()) {
    return {};
  }
  const auto [activity, name] = most->first;
  NsByName by_caller;
  for (const LateHostSum& sum : sums) {
    if (sum.activity == activity && sum.name.value == name) {
      AddSaturatingTo(by_caller[{activity, sum.caller.value}], sum.ns);
    }
  }
  const auto caller = HalfOf(by_caller, most->second);
  return WordsFor(trace, activity, StringId{name}) +
         (caller == by_caller.end() ? std::string()
                                    : CallerWords(trace, StringId{caller->first.second}));
}

std::string MostlyWords(const RankView& view, const LateTime& late) {
  const HostEvents& host = view.trace.host();
  const HostId event = MainEventIn(view.trace, late.launch, late.time);
  if (event.valid() && !SaysNothing(view.trace, HostActivity::kEvent, host.name[event.value])) {
    const StringId caller =
        IsCall(host.kind[event.value])
            ? CallerOf(view.trace, event, view.index.tree.subtree_end[event.value])
            : StringId();
    return fmt::format("in `{}`", ShortenedName(view.trace.Name(event), kLongestName)) +
           CallerWords(view.trace, caller);
  }
  const bool is_known = late.launch.valid() && late.time.length() > 0;
  return is_known ? MostlyWords(view.trace, ExplainLateHost(view, {late})) : std::string();
}

int64_t SamplingPeriod(const Trace& trace) {
  const StackSamples& samples = trace.stack_samples();
  std::vector<int64_t> distances;
  for (size_t row = 1; row < samples.size(); ++row) {
    CheckStopAt(row);
    if (samples.track[row] == samples.track[row - 1]) {
      distances.push_back(SubtractSaturating(samples.ts_ns[row], samples.ts_ns[row - 1]));
    }
  }
  if (distances.empty()) {
    return 0;
  }
  const auto middle = distances.begin() + static_cast<ptrdiff_t>((distances.size() - 1) / 2);
  std::nth_element(distances.begin(), middle, distances.end());
  return *middle;
}

}  // namespace borescope::internal
