// The captures of graphs in recordings, as sequences that can be compared with launches.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/analysis/measures/graphs/match_captures.h"
#include "borescope/base/hash/hash_tables.h"
#include "borescope/engine/captures/attach_captures.h"

namespace borescope::internal {

// Numbers for texts of several recordings.
class CommonTexts {
 public:
  uint32_t Find(std::string_view text) {
    return numbers_.try_emplace(std::string(text), static_cast<uint32_t>(numbers_.size()))
        .first->second;
  }

 private:
  HashMap<std::string, uint32_t> numbers_;
};

struct CapturedGraph {
  uint32_t file = 0;    // index of the CaptureFile
  uint32_t number = 0;  // in its file, by start
  int64_t begin_ns = 0;
  std::vector<HostId> calls;  // those that requested kernels, by start
};

struct CapturedGraphs {
  std::vector<CapturedGraph> graphs;
  std::vector<CapturedSequence> sequences;  // of the same index
};

Result<CapturedGraphs> FindCapturedGraphs(std::span<const CaptureFile> files, CommonTexts& texts);

}  // namespace borescope::internal
