// The ranges of a program (NVTX) that were open when a kernel was launched, as reports of Nsight
// Compute have them.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "borescope/base/hash/hash_tables.h"
#include "borescope/trace/counter_report.h"

namespace borescope::internal {

// The open ranges of a thread.
struct ThreadRanges {
  struct Range {
    uint64_t domain = 0;
    std::string_view text;
    uint64_t number = 0;  // counts up with each push of a thread
  };
  std::vector<Range> ranges;
};

// The ranges that were open when a kernel was launched.
class NvtxState {
 public:
  // False if a part of the message is damaged. Its bytes must outlive the state.
  bool Read(std::string_view message);
  // The names, outermost first, to `kernel`; false if several threads have some.
  bool LabelKernel(CountedKernel& kernel) const;

 private:
  void ReadDomain(std::string_view message);
  void ReadThread(std::string_view message);
  void ReadStack(std::string_view message, ThreadRanges& thread);
  void ReadRange(std::string_view message, ThreadRanges::Range& range);

  HashMap<uint64_t, std::string_view> domains_;
  std::vector<ThreadRanges> threads_;
  bool is_damaged_ = false;
};

}  // namespace borescope::internal
