// Builds the call tree: which host event contains which, per thread, all kinds on one stack; and
// what follows from nesting: the events open at a time, and the forward operators of backward
// operators.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "borescope/base/diagnostics.h"
#include "borescope/index/trace_index.h"

namespace borescope::internal {

// Which of the events that are open when another starts is its parent.
enum class Nesting : uint8_t {
  kCovering,     // the last begun whose time covers it, as PyTorch's profiler nests events
  kOpenAtStart,  // the last begun, even if the other outlives it
};

// O(rows), tracks in parallel. An event that outlives the one that begins last before it is counted
// as not nested, and both keep their times. With kCovering it is a child of the first event outward
// that covers it: a step that begins in the last call of the step before it follows that step.
// Where times were rounded (RoundingOf), an event that ends later by no more than that, and has the
// larger part of its time inside, counts as covered. An event of zero length at the very end of
// another is inside it (microsecond clocks truncate), unless it is of an outer kind.
CallTree BuildCallTree(const Trace& trace, int threads, Diagnostics& diagnostics,
                       Nesting nesting = Nesting::kCovering);

// Adds the captured rows of the host events (CapturedCalls) to the tree of the recording's rows.
// Neither contains the other. O(captured rows).
void AppendCaptured(const Trace& trace, CallTree& tree);

// True if the time of `outer` covers that of `inner`, ends included.
bool Covers(const HostEvents& host, HostId outer, HostId inner);

// Finds the event of a kind (operator or annotation) around a call in time, whatever other events
// cross it. It keeps the open events of a track, outer first, none ending after the one before it.
// An event that ends before one inside it is dropped: while the inner one is open it covers the
// same calls, and later calls start after both. Rows have to be opened in their order. Unlike the
// call tree this also finds events that another one outlives, such as a frame that began in an
// operator.
class OpenSpans {
 public:
  explicit OpenSpans(const HostEvents& host) : host_(host) {}

  void Open(HostId id) {
    CloseBefore(id);
    while (!open_.empty() && host_.end_ns(open_.back()) < host_.end_ns(id)) {
      open_.pop_back();
    }
    open_.push_back(id);
  }

  // The innermost event whose time covers a call.
  HostId Around(HostId call) {
    CloseBefore(call);
    if (open_.empty() || Covers(host_, open_.back(), call)) {
      return open_.empty() ? HostId{} : open_.back();
    }
    const auto past = std::partition_point(open_.begin(), open_.end(),
                                           [&](HostId open) { return Covers(host_, open, call); });
    return past == open_.begin() ? HostId{} : *std::prev(past);
  }

 private:
  void CloseBefore(HostId next) {
    if (!open_.empty() && host_.track[open_.back().value] != host_.track[next.value]) {
      open_.clear();
    }
    while (!open_.empty() && host_.end_ns(open_.back()) < host_.ts_ns[next.value]) {
      open_.pop_back();
    }
  }

  const HostEvents& host_;
  std::vector<HostId> open_;
};

// Links backward operators to their forward operators by autograd sequence number: a backward
// operator (Fwd thread id > 0) belongs to the forward operator with its number that starts last
// before it. Of nested backward rows with one number (the engine's wrapper and the function itself)
// only the outermost is linked.
ColumnData<ForwardBackwardLink> LinkForwardBackward(const Trace& trace, const CallTree& tree);

}  // namespace borescope::internal
