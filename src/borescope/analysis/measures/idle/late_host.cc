#include "borescope/analysis/measures/idle/late_host.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <span>
#include <tuple>
#include <utility>

#include "borescope/analysis/core/grouper.h"
#include "borescope/analysis/measures/idle/host_time.h"
#include "borescope/analysis/measures/idle/thread_history.h"
#include "borescope/analysis/measures/names/describe.h"
#include "borescope/analysis/measures/stacks/callers.h"
#include "borescope/base/saturating.h"
#include "borescope/trace/call_stacks.h"

namespace borescope::internal {
namespace {

constexpr size_t kLongestName = 60;
// More questions than the devices of one machine have cost more than to prepare a thread for them.
constexpr size_t kMostWalks = 64;

class Sums {
 public:
  void Add(const HostPiece& piece, int64_t ns) {
    if (ns <= 0) {
      return;
    }
    const uint32_t group = groups_.Find(piece.Numbers());
    if (group == sums_.size()) {
      sums_.push_back({piece.activity, piece.name, piece.caller, piece.operation, 0});
    }
    AddSaturatingTo(sums_[group].ns, ns);
  }

  std::vector<LateHostSum> Take() { return std::move(sums_); }

 private:
  Grouper groups_{4};
  std::vector<LateHostSum> sums_;
};

// Calls `use` with each thread that launched, in turn, and its times in order. Times of launches
// that were not recorded are unknown.
template <class Use>
std::vector<LateHostSum> SumByThread(const HostEvents& host, std::vector<LateTime> late,
                                     const Use& use) {
  const auto track_of = [&](const LateTime& one) {
    return one.launch.valid() ? host.track[one.launch.value].value : kNoDetail;
  };
  std::stable_sort(late.begin(), late.end(), [&](const LateTime& a, const LateTime& b) {
    return std::tuple(track_of(a), a.time.begin) < std::tuple(track_of(b), b.time.begin);
  });
  Sums sums;
  std::vector<Interval> times;
  for (size_t i = 0; i < late.size(); ++i) {
    if (!late[i].launch.valid()) {
      sums.Add({}, late[i].time.length());
      continue;
    }
    times.push_back(late[i].time);
    if (i + 1 == late.size() || track_of(late[i + 1]) != track_of(late[i])) {
      use(TrackId{track_of(late[i])}, std::span<const Interval>(times), sums);
      times.clear();
    }
  }
  return sums.Take();
}

void Walk(const RankView& view, TrackId track, std::span<const Interval> times, int64_t period_ns,
          Sums& sums) {
  WalkHostPieces(view, track, times, period_ns,
                 [&](const HostPiece& piece, Interval time) { sums.Add(piece, time.length()); });
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

// For the event that fills a time; empty if there is none that says something.
std::string WordsOfEvent(const RankView& view, HostId event) {
  const HostEvents& host = view.trace.host();
  if (!event.valid() || SaysNothing(view.trace, HostActivity::kEvent, host.name[event.value])) {
    return {};
  }
  const StringId caller =
      IsCall(host.kind[event.value])
          ? CallerOf(view.trace, event, view.index.tree.subtree_end[event.value])
          : StringId();
  return fmt::format("in `{}`", ShortenedName(view.trace.Name(event), kLongestName)) +
         CallerWords(view.trace, caller);
}

bool IsKnown(const LateTime& late) { return late.launch.valid() && late.time.length() > 0; }

}  // namespace

std::vector<LateHostSum> ExplainLateHost(const RankView& view, std::vector<LateTime> late) {
  const int64_t period_ns = SamplingPeriod(view.trace);
  return SumByThread(view.trace.host(), std::move(late),
                     [&](TrackId track, std::span<const Interval> times, Sums& sums) {
                       Walk(view, track, times, period_ns, sums);
                     });
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
  std::string words = WordsOfEvent(view, MainEventIn(view.trace, late.launch, late.time));
  if (!words.empty() || !IsKnown(late)) {
    return words;
  }
  return MostlyWords(view.trace, ExplainLateHost(view, {late}));
}

LateHost::LateHost(const RankView& view) : view_(view), period_ns_(SamplingPeriod(view.trace)) {}
LateHost::~LateHost() = default;

const ThreadHistory* LateHost::HistoryOf(TrackId track) {
  Thread& thread = threads_[track.value];
  if (thread.history == nullptr && ++thread.walks > kMostWalks) {
    thread.history = std::make_unique<const ThreadHistory>(view_, track, period_ns_);
  }
  return thread.history.get();
}

std::vector<LateHostSum> LateHost::Explain(std::vector<LateTime> late) {
  return SumByThread(view_.trace.host(), std::move(late),
                     [&](TrackId track, std::span<const Interval> times, Sums& sums) {
                       const ThreadHistory* const history = HistoryOf(track);
                       if (history == nullptr) {
                         Walk(view_, track, times, period_ns_, sums);
                         return;
                       }
                       for (const Interval& time : times) {
                         history->ForEachIn(time, [&](const HostPiece& piece, int64_t ns) {
                           sums.Add(piece, ns);
                         });
                       }
                     });
}

HostId LateHost::MainEventIn(const LateTime& late) {
  if (!IsKnown(late)) {
    return {};
  }
  const ThreadHistory* const history = HistoryOf(view_.trace.host().track[late.launch.value]);
  return history == nullptr ? internal::MainEventIn(view_.trace, late.launch, late.time)
                            : history->MainEventIn(late.time);
}

std::vector<MainActivity> LateHost::MainActivities(const std::vector<LateTime>& late) {
  std::vector<MainActivity> found(late.size());
  std::map<uint32_t, std::vector<size_t>> places;  // in `late`, by thread
  for (size_t i = 0; i < late.size(); ++i) {
    if (IsKnown(late[i])) {
      places[view_.trace.host().track[late[i].launch.value].value].push_back(i);
    }
  }
  for (auto& [track, of_thread] : places) {
    std::sort(of_thread.begin(), of_thread.end(),
              [&](size_t a, size_t b) { return late[a].time.begin < late[b].time.begin; });
    ExplainThread(TrackId{track}, late, of_thread, found);
  }
  return found;
}

void LateHost::ExplainThread(TrackId track, const std::vector<LateTime>& late,
                             const std::vector<size_t>& places, std::vector<MainActivity>& found) {
  if (const ThreadHistory* const history = HistoryOf(track); history != nullptr) {
    for (const size_t place : places) {
      found[place] = FindMainActivity(view_, *history, late[place].time);
    }
    return;
  }
  std::vector<Interval> times;
  times.reserve(places.size());
  for (const size_t place : places) {
    times.push_back(late[place].time);
  }
  const std::vector<MainActivity> answers = FindMainActivities(view_, track, times, period_ns_);
  for (size_t i = 0; i < places.size(); ++i) {
    found[places[i]] = answers[i];
  }
}

std::string LateHost::MostlyWords(const LateTime& late) {
  std::string words = WordsOfEvent(view_, MainEventIn(late));
  if (!words.empty() || !IsKnown(late)) {
    return words;
  }
  return internal::MostlyWords(view_.trace, Explain({late}));
}

}  // namespace borescope::internal
