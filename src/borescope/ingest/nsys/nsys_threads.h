// What Nsight Systems records of threads beside their calls: when they had a processor
// (SCHED_EVENTS), and where they were when sampled (COMPOSITE_EVENTS, SAMPLING_CALLCHAINS). Of
// processes of which calls or ranges were recorded: a whole machine may have been watched.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "borescope/base/hash/hash_tables.h"
#include "borescope/ingest/cupti/cupti_trace.h"
#include "borescope/ingest/cupti/nvtx_text.h"
#include "borescope/ingest/database.h"
#include "borescope/ingest/text_table.h"

namespace borescope::internal {

// Call chains of Nsight Systems as paths of StackFrames.

// The innermost frame (row of StackFrames) of each chain of a table, by the id of the chain.
using FrameOfChain = HashMap<int64_t, uint32_t>;

// Reads tables of call chains. Paths that several chains share are rows of StackFrames once.
class NsysStacks {
 public:
  NsysStacks(TextTable& strings, TracePart& part) : strings_(strings), part_(part) {}

  // Adds the frames of the chains of `table`; none if there is no such table.
  Result<FrameOfChain> Read(const DatabaseInput& input, std::string_view table);

 private:
  // A frame of a chain.
  struct Link {
    int64_t chain;  // its id
    int64_t depth;  // 0: the innermost
    StringId name;
  };

  FrameOfChain AddFrames(std::vector<Link>& links);
  uint32_t FrameBelow(uint32_t parent, StringId name);
  StringId FrameName(TableRows& row);

  TextTable& strings_;
  TracePart& part_;
  HashMap<uint64_t, uint32_t> frames_;      // by the frame around it and its name
  HashMap<uint32_t, StringId> unresolved_;  // names of modules as frames
};

// The stacks from which calls were made, which Nsight Systems records with calls of CUDA
// (--cudabacktrace) and of the operating system (--osrt-...).

// Collects which chain belongs to which call; the chains are read afterwards.
class NsysCallStacks {
 public:
  explicit NsysCallStacks(TracePart& part) : part_(part) {}

  // The chain of a call of CUDA, or of the operating system. `call` is a row of RuntimeCalls,
  // `chain` the number in its callchainId; kMissing: none.
  void AddOfCuda(uint32_t call, StringId name, int64_t chain);
  void AddOfSystem(uint32_t call, StringId name, int64_t chain);

  // Adds the rows of CallStacks. A call with several chains keeps the first. REQUIRES: calls of the
  // operating system follow those of CUDA.
  Result<void> Read(const DatabaseInput& input, NsysStacks& stacks);

 private:
  struct CallChain {
    uint32_t call;
    StringId name;
    int64_t chain;
  };

  void AddStacks(std::vector<CallChain>& calls, const FrameOfChain& frames);
  int64_t OffsetOf(const std::vector<CallChain>& calls, const FrameOfChain& frames) const;
  size_t CallsInTheirChain(const std::vector<CallChain>& calls, const FrameOfChain& frames,
                           int64_t offset) const;
  bool IsNamedIn(uint32_t frame, StringId name) const;

  TracePart& part_;
  std::vector<CallChain> cuda_;
  std::vector<CallChain> system_;
};

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

// The ranges of NVTX_EVENTS.

class NsysRanges {
 public:
  NsysRanges(TextTable& strings, CuptiTrace& trace) : strings_(strings), trace_(trace) {}

  // Adds all rows of the table.
  Result<void> Read(const DatabaseInput& input);

 private:
  struct DomainKey {
    int64_t process;
    int64_t domain;
    bool operator==(const DomainKey&) const = default;
    std::array<int64_t, 2> Numbers() const { return {process, domain}; }
  };

  void Add(TableRows& row);
  void AddRange(TableRows& row, std::string_view text, bool is_async);
  void AddXla(ActivityTime time, const XlaText& xla, TrackId track);
  std::string_view TextOf(TableRows& row);
  void NameDomains();

  TextTable& strings_;
  CuptiTrace& trace_;
  HashMap<DomainKey, StringId> domains_;
  std::vector<std::pair<uint32_t, DomainKey>> in_domain_;  // host rows of domains with a name
};

}  // namespace borescope::internal
