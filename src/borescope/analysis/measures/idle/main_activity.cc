#include "borescope/analysis/measures/idle/main_activity.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "borescope/analysis/core/grouper.h"
#include "borescope/analysis/measures/idle/main_events.h"
#include "borescope/analysis/measures/idle/thread_history.h"
#include "borescope/analysis/measures/stacks/callers.h"
#include "borescope/base/saturating.h"
#include "borescope/trace/call_stacks.h"

namespace borescope::internal {
namespace {

struct PieceTime {
  HostPiece piece;
  int64_t ns;
};
using PieceTimes = std::vector<PieceTime>;

using ActivityName = std::pair<HostActivity, uint32_t>;

// The time of each key that pieces have; those without one are left out.
template <class Key, class KeyOf>
std::map<Key, int64_t> SumsBy(const PieceTimes& pieces, const KeyOf& key_of) {
  std::map<Key, int64_t> sums;
  for (const PieceTime& one : pieces) {
    if (const std::optional<Key> key = key_of(one.piece); key.has_value()) {
      AddSaturatingTo(sums[*key], one.ns);
    }
  }
  return sums;
}

// Of equal ones the first; end() of none.
template <class Key>
typename std::map<Key, int64_t>::const_iterator LargestOf(const std::map<Key, int64_t>& sums) {
  return std::max_element(sums.begin(), sums.end(),
                          [](const auto& a, const auto& b) { return a.second < b.second; });
}

std::optional<uint32_t> NumberOf(StringId text) {
  return text.valid() ? std::optional(text.value) : std::nullopt;
}

// The text that has at least half of a time; invalid if none does.
template <class TextOf>
StringId HalfOfTime(const PieceTimes& pieces, int64_t all_ns, const TextOf& text_of) {
  const std::map<uint32_t, int64_t> sums =
      SumsBy<uint32_t>(pieces, [&](const HostPiece& piece) { return NumberOf(text_of(piece)); });
  const auto most = LargestOf(sums);
  const bool has_half = most != sums.end() && most->second >= all_ns - most->second;
  return has_half ? StringId{most->first} : StringId();
}

// By an event that says something.
MainActivity OfEvent(const RankView& view, HostId event, Interval time) {
  const HostEvents& host = view.trace.host();
  const bool is_call = IsCall(host.kind[event.value]);
  const int64_t begin_ns = std::max(host.ts_ns[event.value], time.begin);
  return {
      is_call ? HostActivity::kCall : HostActivity::kEvent,
      host.name[event.value],
      is_call ? CallerOf(view.trace, event, view.index.tree.subtree_end[event.value]) : StringId(),
      {},
      std::min(host.end_ns(event), time.end) - begin_ns};
}

// What a piece is counted as: nothing is known where all it says is the number of a step.
ActivityName ActivityOf(const Trace& trace, const HostPiece& piece) {
  const bool says_something = piece.activity == HostActivity::kNoProcessor ||
                              !SaysNothing(trace, piece.activity, piece.name);
  return says_something ? ActivityName(piece.activity, piece.name.value)
                        : ActivityName(HostActivity::kUnknown, StringId::kNone);
}

// By the pieces of the time.
MainActivity OfPieces(const Trace& trace, const PieceTimes& pieces) {
  const auto sums = SumsBy<ActivityName>(
      pieces, [&](const HostPiece& piece) { return std::optional(ActivityOf(trace, piece)); });
  const auto most = LargestOf(sums);
  if (most == sums.end() || most->first.first == HostActivity::kUnknown) {
    return {};
  }
  const auto [activity, name] = most->first;
  const auto caller_of = [&, wanted = most->first](const HostPiece& piece) {
    const bool is_it = ActivityName(piece.activity, piece.name.value) == wanted;
    return is_it ? piece.caller : StringId();
  };
  return {activity, StringId{name}, HalfOfTime(pieces, most->second, caller_of), {}, most->second};
}

MainActivity Decide(const RankView& view, HostId event, const PieceTimes& pieces, Interval time) {
  const bool is_known = event.valid() && !SaysNothing(view.trace, HostActivity::kEvent,
                                                      view.trace.host().name[event.value]);
  MainActivity main = is_known ? OfEvent(view, event, time) : OfPieces(view.trace, pieces);
  main.op =
      HalfOfTime(pieces, time.length(), [](const HostPiece& piece) { return piece.operation; });
  return main;
}

// Sums the pieces of one time after the other, and decides about each when it is over.
class Decisions {
 public:
  Decisions(const RankView& view, TrackId track, std::span<const Interval> times)
      : view_(view), times_(times), events_(MainEventsIn(view.trace, track, times)) {
    found_.reserve(times.size());
  }

  // REQUIRES: pieces come in order, none is in two times.
  void Add(const HostPiece& piece, Interval time) {
    while (times_[found_.size()].end <= time.begin) {
      Finish();
    }
    const uint32_t group = groups_.Find(piece.Numbers());
    if (group == pieces_.size()) {
      pieces_.push_back({piece, 0});
    }
    AddSaturatingTo(pieces_[group].ns, time.length());
  }

  std::vector<MainActivity> Take() {
    while (found_.size() < times_.size()) {
      Finish();
    }
    return std::move(found_);
  }

 private:
  void Finish() {
    const size_t at = found_.size();
    found_.push_back(Decide(view_, events_[at], pieces_, times_[at]));
    pieces_.clear();
    groups_ = Grouper(4);
  }

  const RankView& view_;
  const std::span<const Interval> times_;
  const std::vector<HostId> events_;
  Grouper groups_{4};
  PieceTimes pieces_;  // by group
  std::vector<MainActivity> found_;
};

}  // namespace

std::vector<MainActivity> FindMainActivities(const RankView& view, TrackId track,
                                             std::span<const Interval> times, int64_t period_ns) {
  Decisions decisions(view, track, times);
  if (!times.empty()) {
    WalkHostPieces(view, track, times, period_ns,
                   [&](const HostPiece& piece, Interval time) { decisions.Add(piece, time); });
  }
  return decisions.Take();
}

MainActivity FindMainActivity(const RankView& view, const ThreadHistory& history, Interval time) {
  PieceTimes pieces;
  history.ForEachIn(time, [&](const HostPiece& piece, int64_t ns) {
    if (ns > 0) {
      pieces.push_back({piece, ns});
    }
  });
  return Decide(view, history.MainEventIn(time), pieces, time);
}

}  // namespace borescope::internal
