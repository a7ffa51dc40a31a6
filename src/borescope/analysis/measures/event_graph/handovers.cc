#include "borescope/analysis/measures/event_graph/handovers.h"

#include <algorithm>
#include <compare>
#include <functional>
#include <map>
#include <queue>
#include <span>

#include "borescope/analysis/measures/event_graph/threads.h"
#include "borescope/base/stop.h"

namespace borescope::internal {
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

// Where an event of the main thread begins or ends.
struct Boundary {
  HostTimestamp at;
  int64_t ns = 0;
  bool is_work = false;        // of an operator or a call
  bool is_of_engine = false;   // of an operator of the engine
  bool may_wait_after = true;  // the thread is then in no call, and in no operator of the engine
};

// Follows the main thread from boundary to boundary, with the engine next to it.
class MainThread {
 public:
  MainThread(const Trace& trace, const std::vector<char>& is_engine_name,
             std::span<const Busy> engine, ThreadHandovers& found)
      : host_(trace.host()), is_engine_name_(is_engine_name), engine_(engine), found_(found) {}

  void Pass(HostId id, bool is_end, int64_t at_ns) {
    const HostKind kind = host_.kind[id.value];
    const bool is_of_engine =
        kind == HostKind::kOp && is_engine_name_[host_.name[id.value].value] != 0;
    if (is_end) {
      open_.pop_back();
    } else {
      const bool was_in_engine = !open_.empty() && open_.back().in_engine;
      open_.push_back({kind == HostKind::kRuntime, was_in_engine || is_of_engine});
    }
    const bool is_work = kind == HostKind::kOp || kind == HostKind::kRuntime;
    const bool may_wait = open_.empty() || (!open_.back().is_call && !open_.back().in_engine);
    Reach({{id, is_end}, at_ns, is_work, is_of_engine, may_wait});
  }

  // What the engine does after the last event of the main thread.
  void Finish() {
    Begin(engine_.size());
    if (last_.at.event.valid()) {
      AddPending();
    }
  }

 private:
  struct Frame {
    bool is_call;
    bool in_engine;
  };
  // A busy time of the engine by its end; of equal ones the later counts.
  struct Ending {
    int64_t end_ns;
    size_t number;

    auto operator<=>(const Ending&) const = default;
  };

  void Reach(const Boundary& boundary) {
    size_t end = next_;
    while (end < engine_.size() && engine_[end].begin_ns < boundary.ns) {
      ++end;
    }
    Begin(end);
    EndUntil(boundary.ns);
    // Frames and annotations do not divide what the engine is doing.
    if (boundary.is_work || running_.empty()) {
      Divide(boundary);
    }
  }

  void Begin(size_t end) {
    for (; next_ < end; ++next_) {
      CheckStopAt(next_);
      EndUntil(engine_[next_].begin_ns);
      pending_.push_back({latest_at_, {engine_[next_].first, false}});
      running_.push({engine_[next_].end_ns, next_});
    }
  }

  void EndUntil(int64_t ns) {
    for (; !running_.empty() && running_.top().end_ns <= ns; running_.pop()) {
      if (running_.top() > latest_) {
        latest_ = running_.top();
        latest_at_ = {engine_[latest_.number].last, true};
      }
    }
  }

  // Ends a stretch of the main thread, and begins the next one.
  void Divide(const Boundary& boundary) {
    if (last_.at.event.valid() && last_.may_wait_after) {
      AddPending();
      if (HasWaited(boundary)) {
        Add({latest_at_, boundary.at});
        Mark(last_.at);
        found_.marks.emplace_back(last_.at.event,
                                  last_.at.is_end ? kMarkReleases : kMarkReleasesAtStart);
      }
    }
    pending_.clear();
    latest_ = {boundary.ns, 0};
    latest_at_ = boundary.at;
    is_engine_running_ = !running_.empty();
    last_ = boundary;
  }

  // Whether in the stretch that ends there the main thread has waited for the engine.
  bool HasWaited(const Boundary& boundary) const {
    const bool is_in_loop = last_.is_of_engine || boundary.is_of_engine;
    const bool has_engine = !pending_.empty() || (is_in_loop && is_engine_running_);
    const bool is_released = running_.empty() || boundary.is_of_engine;
    return has_engine && is_released && latest_at_.event != last_.at.event;
  }

  void AddPending() {
    for (const Handover& handover : pending_) {
      Add(handover);
    }
  }

  void Add(const Handover& handover) {
    found_.handovers.push_back(handover);
    Mark(handover.from);
    Mark(handover.to);
  }

  void Mark(HostTimestamp moment) {
    found_.marks.emplace_back(moment.event, moment.is_end ? kMarkEnd : kMarkStart);
  }

  const HostEvents& host_;
  const std::vector<char>& is_engine_name_;
  std::span<const Busy> engine_;  // by begin
  ThreadHandovers& found_;
  std::vector<Frame> open_;  // events of the main thread
  size_t next_ = 0;          // the first busy time that has not begun
  std::priority_queue<Ending, std::vector<Ending>, std::greater<>> running_;  // begun, not ended
  // Of the stretch: its begin, whether the engine was running then, what ended last in it, and what
  // follows what.
  Boundary last_;
  bool is_engine_running_ = false;
  Ending latest_{0, 0};
  HostTimestamp latest_at_;
  std::vector<Handover> pending_;
};

// Per process: the busy times of its engine, by begin.
std::map<int64_t, std::vector<Busy>> BusyEngines(const RankView& view,
                                                 const std::vector<ThreadFacts>& threads) {
  const Tracks& tracks = view.trace.tracks();
  const std::vector<char> engines = FindEngines(view);
  std::map<int64_t, std::vector<Busy>> engine_of;
  for (const ThreadFacts& thread : threads) {
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
  return engine_of;
}

ThreadHandovers FindHandovers(const RankView& view) {
  ThreadHandovers found{FindThreads(view), {}, {}};
  const std::map<int64_t, std::vector<Busy>> engine_of = BusyEngines(view, found.threads);
  const std::vector<char> is_engine_name = FindEngineNames(view.trace);
  // Where events begin and end does not depend on what they matter for.
  const HostFacts no_facts{std::vector<uint8_t>(view.trace.host().size()),
                           std::vector<char>(view.trace.strings().size()),
                           {}};
  for (const ThreadFacts& thread : found.threads) {
    const auto engine = engine_of.find(view.trace.tracks().pid[thread.track.value]);
    if (thread.is_main && engine != engine_of.end()) {
      MainThread main(view.trace, is_engine_name, engine->second, found);
      SweepThread(
          view.trace, no_facts, thread, [](const ThreadPiece&) {},
          [&](HostId id, bool is_end, int64_t at_ns) { main.Pass(id, is_end, at_ns); });
      main.Finish();
    }
  }
  return found;
}

}  // namespace

std::shared_ptr<const ThreadHandovers> SharedHandovers(const RankView& view) {
  return view.Shared<ThreadHandovers>([&] { return FindHandovers(view); });
}

}  // namespace borescope::internal
