// The device streams of a database, and their tracks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "borescope/base/hash/hash_tables.h"
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

  std::vector<Line> lines_;
  HashMap<std::pair<int64_t, int64_t>, uint32_t> line_of_;
  std::vector<uint32_t> row_lines_;
  std::vector<int64_t> row_processes_;
};

}  // namespace borescope::internal
