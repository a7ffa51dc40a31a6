#include "borescope/analysis/measures/event_graph/threads.h"

#include <algorithm>
#include <map>
#include <utility>

#include "borescope/base/stop.h"

namespace borescope::internal {
namespace {

constexpr std::string_view kEngine = "autograd::engine";

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

std::vector<char> FindEngineNames(const Trace& trace) {
  std::vector<char> is_engine_name(trace.strings().size());
  for (uint32_t name = 0; name < is_engine_name.size(); ++name) {
    is_engine_name[name] = trace.Text({name}).starts_with(kEngine) ? 1 : 0;
  }
  return is_engine_name;
}

std::vector<char> FindEngines(const RankView& view) {
  const HostEvents& host = view.trace.host();
  std::vector<char> engines(view.trace.tracks().size());
  for (const ForwardBackwardLink& link : view.index.forward_backward) {
    const TrackId track = host.track[link.backward.value];
    if (track != host.track[link.forward.value]) {
      engines[track.value] = 1;
    }
  }
  const std::vector<char> is_engine_name = FindEngineNames(view.trace);
  for (uint32_t row = 0; row < host.size(); ++row) {
    CheckStopAt(row);
    if (host.kind[row] == HostKind::kOp && is_engine_name[host.name[row].value] != 0) {
      engines[host.track[row].value] = 1;
    }
  }
  // A thread that gives forward operators to another one may run some of the engine's itself, which
  // need no device.
  for (const ForwardBackwardLink& link : view.index.forward_backward) {
    const TrackId track = host.track[link.forward.value];
    if (track != host.track[link.backward.value]) {
      engines[track.value] = 0;
    }
  }
  for (const Step& step : view.index.steps.steps) {
    engines[host.track[step.annotation.value].value] = 0;
  }
  return engines;
}

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

}  // namespace borescope::internal
