// The stacks from which calls were made, which Nsight Systems records with calls of CUDA
// (--cudabacktrace) and of the operating system (--osrt-...).
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "borescope/ingest/nsys/nsys_stacks.h"

namespace borescope::internal {

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

}  // namespace borescope::internal
