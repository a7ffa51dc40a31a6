// The device streams of a database, and their tracks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "borescope/trace/trace_builder.h"

namespace borescope::internal {

// Streams of devices. Processes may use the same numbers: if several do, each has a track of its
// own; work of an unknown process belongs to the only process if there is just one.
class DeviceLines {
 public:
  // `process` kMissing: unknown.
  void Add(int64_t device, int64_t stream, int64_t process);
  // Gives the device rows of `part` their tracks. REQUIRES: one was added for each, in their order.
  void AssignTracks(TracePart& part) const;
  std::vector<int64_t> Devices() const;

 private:
  struct Line {
    int64_t device;
    int64_t stream;
    int64_t process;  // the first that is known
    bool is_shared;
  };
  struct KeyHash {
    size_t operator()(const std::pair<int64_t, int64_t>& key) const {
      const uint64_t mix = static_cast<uint64_t>(key.first) * 0x9e3779b97f4a7c15ULL ^
                           static_cast<uint64_t>(key.second) * 0xff51afd7ed558ccdULL;
      return mix ^ (mix >> 31);
    }
  };

  std::vector<Line> lines_;
  std::unordered_map<std::pair<int64_t, int64_t>, uint32_t, KeyHash> line_of_;
  std::vector<uint32_t> row_lines_;
  std::vector<int64_t> row_processes_;
};

}  // namespace borescope::internal
