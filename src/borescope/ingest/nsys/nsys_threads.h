// What Nsight Systems records of threads beside their calls: when they had a processor
// (SCHED_EVENTS), and where they were when sampled (COMPOSITE_EVENTS, SAMPLING_CALLCHAINS). Of
// processes of which calls or ranges were recorded: a whole machine may have been watched.
#pragma once

#include <vector>

#include "borescope/base/hash/hash_tables.h"
#include "borescope/ingest/cupti/cupti_trace.h"
#include "borescope/ingest/nsys/nsys_stacks.h"

namespace borescope::internal {

class NsysThreads {
 public:
  static constexpr std::string_view kScheduleTable = "SCHED_EVENTS";
  static constexpr std::string_view kSampleTable = "COMPOSITE_EVENTS";
  static constexpr std::string_view kChainTable = "SAMPLING_CALLCHAINS";

  // REQUIRES: all calls and ranges were read.
  NsysThreads(NsysStacks& stacks, CuptiTrace& trace);

  // Adds the rows of these tables.
  Result<void> Read(const DatabaseInput& input);

 private:
  struct Switch {
    TrackId track;
    int64_t ts_ns;
    bool is_on;  // the thread gets a processor
  };

  Result<void> ReadSchedule(const DatabaseInput& input);
  void AddPauses(std::vector<Switch>& switches);
  Result<void> ReadSamples(const DatabaseInput& input, const FrameOfChain& frames);
  bool IsWatched(int64_t thread) const {
    return thread != kMissing && processes_.contains(CuptiTrace::ProcessOf(thread));
  }

  NsysStacks& stacks_;
  CuptiTrace& trace_;
  HashSet<int64_t> processes_;  // with recorded calls
};

}  // namespace borescope::internal
