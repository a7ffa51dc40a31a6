#include "borescope/analysis/verbs/critical_path/graph/threads.h"

#include <algorithm>
#include <compare>
#include <functional>
#include <map>
#include <queue>
#include <span>
#include <utility>

#include "borescope/base/stop.h"

namespace borescope::internal {
namespace {

constexpr std::string_view kEngine = "autograd::engine";

// Per track: whether it runs backward operators of forward ones on another thread.
std::vector<char> FindEngines(const RankView& view) {
  const HostEvents& host = view.trace.host();
  std::vector<char> engines(view.trace.tracks().size());
  for (const ForwardBackwardLink& link : view.index.forward_backward) {
    const TrackId track = host.track[link.backward.value];
    if (track != host.track[link.forward.value]) {
      engines[track.value] = 1;
    }
  }
  std::vector<char> is_engine_name(view.trace.strings().size());
  for (uint32_t name = 0; name < is_engine_name.size(); ++name) {
    is_engine_name[name] = view.trace.Text({name}).starts_with(kEngine) ? 1 : 0;
  }
  for (uint32_t row = 0; row < host.size(); ++row) {
    CheckStopAt(row);
    if (host.kind[row] == HostKind::kOp && is_engine_name[host.name[row].value] != 0) {
      engines[host.track[row].value] = 1;
    }
  }
  for (const Step& step : view.index.steps.steps) {
    engines[host.track[step.annotation.value].value] = 0;
  }
  return engines;
}

// Time of the thread that lies in events.
int64_t FilledTime(const Trace& trace, uint32_t track) {
  int64_t filled_ns = 0;
  int64_t until_ns = trace.begin_ns();
  for (uint32_t row = trace.tracks().first_row[track]; row < trace.tracks().end_row[track]; ++row) {
    CheckStopAt(row);
    const int64_t end_ns = trace.host().end_ns(HostId{row});
    if (trace.host().kind[row] != HostKind::kOther && end_ns > until_ns) {
      filled_ns += end_ns - std::max(until_ns, trace.host().ts_ns[row]);
      until_ns = end_ns;
    }
  }
  return filled_ns;
}

bool IsThread(const Tracks& tracks, uint32_t track) {
  return tracks.kind[track] == TrackKind::kHost && tracks.is_async[track] == 0 &&
         tracks.first_row[track] != tracks.end_row[track];
}

// Per track: whether the thread has operators or calls. Python frames alone say nothing of work:
// helpers sleep in them, and the profiler writes frames of threads that it does not know as another
// process.
std::vector<char> FindWorkers(const Trace& trace) {
  const HostEvents& host = trace.host();
  std::vector<char> workers(trace.tracks().size());
  for (uint32_t row = 0; row < host.size(); ++row) {
    const HostKind kind = host.kind[row];
    workers[host.track[row].value] |= kind == HostKind::kOp || kind == HostKind::kRuntime ? 1 : 0;
  }
  // Where there are none at all, frames are all that is known.
  const bool has_work = std::find(workers.begin(), workers.end(), 1) != workers.end();
  return has_work ? workers : std::vector<char>(workers.size(), 1);
}

// Per process: its main thread.
std::map<int64_t, uint32_t> FindMains(const RankView& view, const std::vector<char>& engines) {
  const Tracks& tracks = view.trace.tracks();
  std::map<int64_t, uint32_t> mains;
  for (const Step& step : view.index.steps.steps) {
    const uint32_t track = view.trace.host().track[step.annotation.value].value;
    mains.try_emplace(tracks.pid[track], track);
  }
  const std::vector<char> workers = FindWorkers(view.trace);
  std::map<int64_t, std::pair<int64_t, uint32_t>> fullest;
  for (uint32_t track = 0; track < tracks.size(); ++track) {
    const bool may_lead = workers[track] != 0 && engines[track] == 0;
    if (IsThread(tracks, track) && may_lead && !mains.contains(tracks.pid[track])) {
      const int64_t filled_ns = FilledTime(view.trace, track);
      auto& [most_ns, best] = fullest.try_emplace(tracks.pid[track], -1, 0).first->second;
      if (filled_ns > most_ns) {
        most_ns = filled_ns;
        best = track;
      }
    }
  }
  for (const auto& [pid, found] : fullest) {
    if (found.first > 0) {
      mains.try_emplace(pid, found.second);
    }
  }
  return mains;
}

}  // namespace

std::vector<ThreadFacts> FindThreads(const RankView& view) {
  const Tracks& tracks = view.trace.tracks();
  const std::map<int64_t, uint32_t> mains = FindMains(view, FindEngines(view));
  std::vector<ThreadFacts> threads;
  for (uint32_t track = 0; track < tracks.size(); ++track) {
    if (IsThread(tracks, track)) {
      const auto main = mains.find(tracks.pid[track]);
      threads.push_back({TrackId{track}, main != mains.end() && main->second == track});
    }
  }
  return threads;
}

namespace {

// Time in which a thread is in operators and calls without a break.
struct Busy {
  HostId first;  // what begins it
  HostId last;   // what ends it
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
};

std::vector<Busy> BusyOf(const Trace& trace, TrackId track) {
  const HostEvents& host = trace.host();
  std::vector<Busy> result;
  for (uint32_t row = trace.tracks().first_row[track.value];
       row < trace.tracks().end_row[track.value]; ++row) {
    CheckStopAt(row);
    const HostId id{row};
    if (host.kind[row] != HostKind::kOp && host.kind[row] != HostKind::kRuntime) {
      continue;
    }
    if (result.empty() || host.ts_ns[row] >= result.back().end_ns) {
      result.push_back({id, id, host.ts_ns[row], host.end_ns(id)});
    } else if (host.end_ns(id) > result.back().end_ns) {
      result.back().last = id;
      result.back().end_ns = host.end_ns(id);
    }
  }
  return result;
}

// The gaps of one main thread, one after another.
class Gaps {
 public:
  Gaps(std::vector<Handover>& handovers, HostFacts& facts) : handovers_(handovers), facts_(facts) {}

  // The engine's part in the gap between two busy times; `after` is nullptr behind the last one.
  void Tie(const Busy& before, std::span<const Busy> engine, const Busy* after) {
    std::priority_queue<Ending, std::vector<Ending>, std::greater<>> running;
    Ending last{before.end_ns, 0, before.last};
    uint32_t number = 0;
    const auto end_until = [&](int64_t ns) {
      for (; !running.empty() && running.top().end_ns <= ns; running.pop()) {
        last = std::max(last, running.top());
      }
    };
    for (const Busy& busy : engine) {
      end_until(busy.begin_ns);
      Add({last.event, true}, {busy.first, false});
      running.push({busy.end_ns, ++number, busy.last});
    }
    if (after == nullptr) {
      return;
    }
    end_until(after->begin_ns);
    if (running.empty()) {  // nothing goes on beside the main thread: it has waited
      Add({last.event, true}, {after->first, false});
      facts_.marks[before.last.value] |= kMarkReleases;
    }
  }

 private:
  struct Ending {
    int64_t end_ns;
    uint32_t number;  // of equal ones the later counts
    HostId event;

    auto operator<=>(const Ending&) const = default;
  };

  void Add(HostTimestamp from, HostTimestamp to) {
    handovers_.push_back({from, to});
    Mark(from);
    Mark(to);
  }

  void Mark(HostTimestamp moment) {
    facts_.marks[moment.event.value] |= moment.is_end ? kMarkEnd : kMarkStart;
  }

  std::vector<Handover>& handovers_;
  HostFacts& facts_;
};

void TieThread(const std::vector<Busy>& main, const std::vector<Busy>& engine, Gaps& gaps) {
  size_t next = 0;
  for (size_t i = 0; i < main.size() && next < engine.size(); ++i) {
    CheckStopAt(i);
    while (next < engine.size() && engine[next].begin_ns < main[i].end_ns) {
      ++next;
    }
    const Busy* after = i + 1 < main.size() ? &main[i + 1] : nullptr;
    size_t end = next;
    while (end < engine.size() && (after == nullptr || engine[end].begin_ns < after->begin_ns)) {
      ++end;
    }
    if (next < end) {
      gaps.Tie(main[i], {engine.data() + next, end - next}, after);
    }
    next = end;
  }
}

}  // namespace

std::vector<Handover> FindHandovers(const RankView& view, HostFacts& facts) {
  const Tracks& tracks = view.trace.tracks();
  const std::vector<char> engines = FindEngines(view);
  std::map<int64_t, std::vector<Busy>> engine_of;  // per process, by begin
  for (const ThreadFacts& thread : facts.threads) {
    if (engines[thread.track.value] != 0 && !thread.is_main) {
      std::vector<Busy>& all = engine_of[tracks.pid[thread.track.value]];
      const std::vector<Busy> more = BusyOf(view.trace, thread.track);
      all.insert(all.end(), more.begin(), more.end());
    }
  }
  for (auto& [pid, all] : engine_of) {
    std::stable_sort(all.begin(), all.end(),
                     [](const Busy& a, const Busy& b) { return a.begin_ns < b.begin_ns; });
  }
  std::vector<Handover> handovers;
  Gaps gaps(handovers, facts);
  for (const ThreadFacts& thread : facts.threads) {
    const auto engine = engine_of.find(tracks.pid[thread.track.value]);
    if (thread.is_main && engine != engine_of.end()) {
      TieThread(BusyOf(view.trace, thread.track), engine->second, gaps);
    }
  }
  return handovers;
}

}  // namespace borescope::internal
