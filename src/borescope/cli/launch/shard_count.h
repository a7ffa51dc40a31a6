// How many shards a run is mapped in if nobody says it.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace borescope::cli {

struct FileSize {
  std::string path;
  uint64_t bytes = 0;
};

// Seconds that one processor needs for map of these files, by their sizes and endings; what was
// measured is in docs/use/scale.md.
double EstimateSeconds(std::span<const FileSize> files);

// A shard for each file, but at most four a node, so that a slow one does not hold up the rest, and
// so few that each has ten seconds of work or more, beside which its start is little. At least 1.
int DefaultShards(std::span<const FileSize> files, int nodes);

}  // namespace borescope::cli
