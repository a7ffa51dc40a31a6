// Call chains of Nsight Systems as paths of StackFrames.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "borescope/base/hash/hash_tables.h"
#include "borescope/ingest/database_rows.h"
#include "borescope/ingest/text_table.h"

namespace borescope::internal {

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

}  // namespace borescope::internal
