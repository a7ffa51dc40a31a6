#include "borescope/analysis/measures/idle/host_activities.h"

#include <algorithm>

#include "borescope/analysis/measures/stacks/callers.h"
#include "borescope/base/saturating.h"
#include "borescope/base/stop.h"
#include "borescope/index/steps/steps.h"
#include "borescope/trace/call_stacks.h"

namespace borescope::internal {
namespace {

// Walks over the rows of one thread.
class HostWalk {
 public:
  HostWalk(const RankView& view, TrackId track, std::span<const Interval> times, int64_t period_ns,
           const UseHostPiece& use)
      : view_(view),
        host_(view.trace.host()),
        track_(track),
        times_(times),
        period_ns_(period_ns),
        use_(use),
        pauses_(RowsOfThread(view.trace.pauses().track, track)),
        samples_(RowsOfThread(view.trace.stack_samples().track, track)),
        now_ns_(times.front().begin) {}

  void Run();

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
  void WalkPiece(Interval time);
  void WalkOutsideCalls(Interval time);
  void WalkSampled(Interval time);
  void WalkEvent(Interval time);
  void Use(HostActivity activity, StringId name, Interval time);
  StringId NameOf(HostId id) const { return id.valid() ? host_.name[id.value] : StringId(); }
  StringId OperationOf() const { return open_.empty() ? StringId() : NameOf(open_.back().op); }
  StringId FunctionOf(size_t sample) const;

  const RankView& view_;
  const HostEvents& host_;
  const TrackId track_;
  std::span<const Interval> times_;  // from the first that has not passed
  const int64_t period_ns_;
  const UseHostPiece& use_;
  const std::pair<size_t, size_t> pauses_;
  const std::pair<size_t, size_t> samples_;
  std::vector<Frame> open_;
  int64_t now_ns_;
};

void HostWalk::Use(HostActivity activity, StringId name, Interval time) {
  if (time.begin < time.end) {
    const bool is_call = activity == HostActivity::kCall;
    use_({activity, name, is_call ? open_.back().caller : StringId(), OperationOf()}, time);
  }
}

void HostWalk::Run() {
  const int64_t end_ns = times_.back().end;
  const Tracks& tracks = view_.trace.tracks();
  const uint32_t end_row = tracks.end_row[track_.value];
  for (uint32_t row = tracks.first_row[track_.value]; row < end_row && !times_.empty(); ++row) {
    CheckStopAt(row);
    CloseUntil(host_.ts_ns[row]);
    MoveTo(host_.ts_ns[row]);
    Open(HostId{row});
  }
  CloseUntil(end_ns);
  MoveTo(end_ns);
}

// What a later row is not inside of is closed by it.
void HostWalk::Open(HostId row) {
  const ColumnData<uint32_t>& subtree_end = view_.index.tree.subtree_end;
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

void HostWalk::CloseUntil(int64_t ns) {
  while (!open_.empty() && host_.end_ns(open_.back().row) <= ns) {
    MoveTo(host_.end_ns(open_.back().row));
    open_.pop_back();
  }
}

void HostWalk::MoveTo(int64_t ns) {
  while (now_ns_ < ns && !times_.empty()) {
    const Interval next = times_.front();
    const Interval piece{std::max(now_ns_, next.begin), std::min(ns, next.end)};
    if (piece.begin < piece.end) {
      WalkPiece(piece);
    }
    if (next.end > ns) {
      break;
    }
    times_ = times_.subspan(1);
  }
  now_ns_ = std::max(now_ns_, ns);
}

void HostWalk::WalkPiece(Interval time) {
  if (!open_.empty() && open_.back().call.valid()) {
    Use(HostActivity::kCall, NameOf(open_.back().call), time);
  } else {
    WalkOutsideCalls(time);
  }
}

void HostWalk::WalkOutsideCalls(Interval time) {
  if (pauses_.first == pauses_.second && samples_.first == samples_.second) {
    WalkEvent(time);  // most recordings have neither
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
    WalkSampled({time.begin, pause.begin});
    Use(HostActivity::kNoProcessor, {}, pause);
    time.begin = pause.end;
  }
  WalkSampled(time);
}

// An instant belongs to the last sample before it, for two periods: a running thread has the next
// by then.
void HostWalk::WalkSampled(Interval time) {
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
      Use(HostActivity::kSampled, FunctionOf(sample), {time.begin, covered});
    }
    WalkEvent({covered, until});
    time.begin = until;
    next += next == end ? 0 : 1;
  }
}

void HostWalk::WalkEvent(Interval time) {
  const bool is_inside = !open_.empty();
  Use(is_inside ? HostActivity::kEvent : HostActivity::kUnknown,
      is_inside ? NameOf(open_.back().row) : StringId(), time);
}

// The innermost frame that is more than its module.
StringId HostWalk::FunctionOf(size_t sample) const {
  const StackFrames& frames = view_.trace.stack_frames();
  const uint32_t innermost = view_.trace.stack_samples().frame[sample];
  for (uint32_t frame = innermost; frame != kNoDetail; frame = frames.parent[frame]) {
    if (!view_.trace.Text(frames.name[frame]).starts_with("[")) {
      return frames.name[frame];
    }
  }
  return innermost == kNoDetail ? StringId() : frames.name[innermost];
}

}  // namespace

std::string_view HostActivityName(HostActivity activity) {
  constexpr std::string_view kNames[] = {"call", "no processor", "sampled", "event", "unknown"};
  return kNames[static_cast<size_t>(activity)];
}

bool SaysNothing(const Trace& trace, HostActivity activity, StringId name) {
  return activity == HostActivity::kUnknown || !name.valid() ||
         StepNumber(trace.Text(name)).has_value() || IsServerStep(trace.Text(name));
}

void WalkHostPieces(const RankView& view, TrackId track, std::span<const Interval> times,
                    int64_t period_ns, const UseHostPiece& use) {
  HostWalk(view, track, times, period_ns, use).Run();
}

std::pair<size_t, size_t> RowsOfThread(const ColumnData<TrackId>& tracks, TrackId track) {
  const auto [first, end] = std::equal_range(
      tracks.begin(), tracks.end(), track, [](TrackId a, TrackId b) { return a.value < b.value; });
  return {static_cast<size_t>(first - tracks.begin()), static_cast<size_t>(end - tracks.begin())};
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
