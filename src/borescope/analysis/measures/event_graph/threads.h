// Which host threads there are, which of them is the main one of its process, and which belong to
// the autograd engine.
#pragma once

#include <cstdint>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/analysis/measures/event_graph/host_sweep.h"

namespace borescope::internal {

// The threads with events, in the order of their tracks. Main is, per process, the thread with the
// training steps; without steps the one whose events fill the most time, of those with operators or
// calls, threads of the autograd engine aside. A process of Python frames alone has none, unless
// nothing else is recorded.
std::vector<ThreadFacts> FindThreads(const RankView& view);

// Per StringId: whether it is the name of an operator of the autograd engine.
std::vector<char> FindEngineNames(const Trace& trace);
// Per track: whether it is a thread of the autograd engine: it runs such operators, or backward
// operators of forward ones on another thread, but neither training steps nor forward operators of
// another thread's.
std::vector<char> FindEngines(const RankView& view);

}  // namespace borescope::internal
