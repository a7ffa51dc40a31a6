// Which host threads there are, which of them is the main one of its process, and how the main
// thread and the threads of the autograd engine hand on to each other. Internal to critical_path/.
#pragma once

#include <cstdint>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/analysis/verbs/critical_path/graph/host_sweep.h"

namespace borescope::internal {

// The threads with events, in the order of their tracks. Main is, per process, the thread with the
// training steps; without steps the one whose events fill the most time, of those with operators or
// calls, threads of the autograd engine aside. A process of Python frames alone has none, unless
// nothing else is recorded.
std::vector<ThreadFacts> FindThreads(const RankView& view);

// One end of an event of a thread.
struct HostTimestamp {
  HostId event;
  bool is_end = false;
};

// That one thread goes on where another left off.
struct Handover {
  HostTimestamp from;
  HostTimestamp to;
};

// The main thread gives work to the autograd engine between two of its operators and goes on when
// that is done: backward operators that begin in such a gap follow the last thing that ended before
// them there, and what follows the gap follows the last of them. Marks the moments in facts.marks,
// and the gaps in which the main thread waits. O(rows log rows).
std::vector<Handover> FindHandovers(const RankView& view, HostFacts& facts);

}  // namespace borescope::internal
