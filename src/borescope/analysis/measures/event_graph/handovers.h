// How the main thread and the threads of the autograd engine hand over to each other.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/analysis/measures/event_graph/host_sweep.h"

namespace borescope::internal {

// One end of an event of a thread.
struct HostTimestamp {
  HostId event;
  bool is_end = false;
};

// That one thread continues where another stopped.
struct Handover {
  HostTimestamp from;
  HostTimestamp to;
};

// The main thread gives work to the autograd engine in a stretch in which nothing of it begins or
// ends, and continues when that work is done: operators of the engine that begin in the stretch
// follow what ended last before them in it, and the end of the stretch follows the last of them.
// Where the main thread itself runs operators of the engine in between, it waits for each of them.
struct ThreadHandovers {
  std::vector<ThreadFacts> threads;  // as FindThreads
  std::vector<Handover> handovers;
  // Flags of HostMark, by event: both ends of handovers, and the stretches in which the main thread
  // waits.
  std::vector<std::pair<HostId, uint8_t>> marks;
};

// Within one question they are found once: they are the same in every graph of a recording.
// O(rows log rows).
std::shared_ptr<const ThreadHandovers> SharedHandovers(const RankView& view);

}  // namespace borescope::internal
