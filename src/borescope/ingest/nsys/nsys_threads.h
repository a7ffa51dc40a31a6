// What Nsight Systems records of threads beside their calls: when they had a processor
// (SCHED_EVENTS), and where they were when sampled (COMPOSITE_EVENTS, SAMPLING_CALLCHAINS). Of
// processes of which calls or ranges were recorded: a whole machine may have been watched.
#pragma once

#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "borescope/ingest/cupti/cupti_trace.h"
#include "borescope/ingest/text_table.h"

namespace borescope::internal {

class NsysThreads {
 public:
  static constexpr std::string_view kScheduleTable = "SCHED_EVENTS";
  static constexpr std::string_view kSampleTable = "COMPOSITE_EVENTS";
  static constexpr std::string_view kChainTable = "SAMPLING_CALLCHAINS";

  // REQUIRES: all calls and ranges were read.
  NsysThreads(TextTable& strings, CuptiTrace& trace);

  // Adds the rows of these tables.
  Result<void> Read(const DatabaseInput& input);

 private:
  struct Switch {
    TrackId track;
    int64_t ts_ns;
    bool is_on;  // the thread gets a processor
  };
  // A frame of the call chain of a sample.
  struct Link {
    int64_t sample;  // id of the sample
    int64_t depth;   // 0: the innermost
    StringId name;
  };
  using FrameOfSample = std::unordered_map<int64_t, uint32_t>;

  Result<void> ReadSchedule(const DatabaseInput& input);
  void AddPauses(std::vector<Switch>& switches);
  Result<std::vector<Link>> ReadChains(const DatabaseInput& input);
  FrameOfSample AddFrames(std::vector<Link>& links);
  uint32_t FrameBelow(uint32_t parent, StringId name);
  StringId FrameName(TableRows& row);
  Result<void> ReadSamples(const DatabaseInput& input, const FrameOfSample& frames);
  bool IsWatched(int64_t thread) const {
    return thread != kMissing && processes_.contains(CuptiTrace::ProcessOf(thread));
  }

  TextTable& strings_;
  CuptiTrace& trace_;
  std::unordered_set<int64_t> processes_;              // with recorded calls
  std::unordered_map<uint64_t, uint32_t> frames_;      // by the frame around it and its name
  std::unordered_map<uint32_t, StringId> unresolved_;  // names of modules as frames
};

}  // namespace borescope::internal
