// Walks along one host thread: what it is doing at every moment, and where its events begin and
// end.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "borescope/base/stop.h"
#include "borescope/trace/trace.h"

namespace borescope::internal {

// What an event of a thread matters for, per host row; flags.
enum HostMark : uint8_t {
  kMarkStart = 1,             // its start is a node
  kMarkEnd = 2,               // its end is a node
  kMarkWaits = 4,             // a call that waits for the device: its time is the device's
  kMarkReleases = 8,          // from its end to the next node the thread waits for another
  kMarkReleasesAtStart = 16,  // the same from its start
};

// A stretch of a thread in which one event is innermost.
struct ThreadPiece {
  HostId innermost;  // invalid: between all events
  int64_t begin_ns = 0;
  int64_t end_ns = 0;       // > begin_ns
  bool is_running = false;  // its time is the thread's own work
  bool is_idle = false;     // it has no work that was recorded, and waits for nothing that was
  bool is_loading = false;  // inside an event of data loading
};

struct ThreadFacts {
  TrackId track;
  bool is_main = false;  // what it does is work also between its operators and calls
};

// What the sweep has to know of all threads.
struct HostFacts {
  std::vector<uint8_t> marks;        // per host row; HostMark
  std::vector<char> is_loading;      // per StringId
  std::vector<ThreadFacts> threads;  // those with events
};

// Calls on_piece(ThreadPiece) for the whole of the thread from its first start to its last end, and
// in between on_boundary(HostId, is_end, at_ns) for every start and end, by time; an event that
// outlives the one it began in ends there no earlier than its own end. O(rows).
template <class OnPiece, class OnBoundary>
class HostSweep {
 public:
  HostSweep(const Trace& trace, const HostFacts& facts, ThreadFacts thread, OnPiece on_piece,
            OnBoundary on_boundary)
      : trace_(trace),
        facts_(facts),
        thread_(thread),
        on_piece_(on_piece),
        on_boundary_(on_boundary) {}

  void Run() {
    const Tracks& tracks = trace_.tracks();
    const HostEvents& host = trace_.host();
    const uint32_t first = tracks.first_row[thread_.track.value];
    const uint32_t end = tracks.end_row[thread_.track.value];
    now_ns_ = first == end ? 0 : host.ts_ns[first];
    for (uint32_t row = first; row < end; ++row) {
      CheckStopAt(row);
      CloseUntil(host.ts_ns[row]);
      MoveTo(host.ts_ns[row]);
      Open(HostId{row});
    }
    while (!open_.empty()) {
      CloseTop();
    }
  }

 private:
  struct Frame {
    HostId id;
    int64_t end_ns;
    bool is_busy;  // in an operator or a call
    bool is_loading;
    bool waits;
  };

  void CloseUntil(int64_t ns) {
    while (!open_.empty() && open_.back().end_ns <= ns) {
      CloseTop();
    }
  }

  void CloseTop() {
    const HostId id = open_.back().id;
    MoveTo(open_.back().end_ns);
    open_.pop_back();
    Pass(id, true);
  }

  void Open(HostId id) {
    const HostEvents& host = trace_.host();
    const HostKind kind = host.kind[id.value];
    Frame frame = open_.empty() ? Frame{id, 0, false, false, false} : open_.back();
    frame.id = id;
    frame.end_ns = host.end_ns(id);
    frame.is_busy |= kind == HostKind::kOp || kind == HostKind::kRuntime;
    frame.is_loading |= facts_.is_loading[host.name[id.value].value] != 0;
    frame.waits |= (facts_.marks[id.value] & kMarkWaits) != 0;
    Pass(id, false);
    open_.push_back(frame);
  }

  void Pass(HostId id, bool is_end) {
    const uint8_t marks = facts_.marks[id.value];
    if ((marks & (is_end ? kMarkEnd : kMarkStart)) != 0) {
      is_released_ = (marks & (is_end ? kMarkReleases : kMarkReleasesAtStart)) != 0;
    }
    on_boundary_(id, is_end, now_ns_);
  }

  void MoveTo(int64_t ns) {
    if (ns <= now_ns_) {
      return;
    }
    ThreadPiece piece{
        .innermost = {}, .begin_ns = now_ns_, .end_ns = ns, .is_running = thread_.is_main};
    bool waits = is_released_;
    if (!open_.empty()) {
      const Frame& top = open_.back();
      piece.innermost = top.id;
      piece.is_running = thread_.is_main || top.is_busy;
      piece.is_loading = top.is_loading;
      waits = waits || top.waits;
    }
    piece.is_idle = !piece.is_running && !waits;
    piece.is_running = piece.is_running && !waits;
    on_piece_(piece);
    now_ns_ = ns;
  }

  const Trace& trace_;
  const HostFacts& facts_;
  ThreadFacts thread_;
  OnPiece on_piece_;
  OnBoundary on_boundary_;
  std::vector<Frame> open_;
  int64_t now_ns_ = 0;
  bool is_released_ = false;
};

template <class OnPiece, class OnBoundary>
void SweepThread(const Trace& trace, const HostFacts& facts, ThreadFacts thread, OnPiece on_piece,
                 OnBoundary on_boundary) {
  HostSweep<OnPiece, OnBoundary>(trace, facts, thread, on_piece, on_boundary).Run();
}

}  // namespace borescope::internal
