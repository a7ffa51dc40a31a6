// The work of every device stream in the order in which the host issued it.
#pragma once

#include <cstdint>
#include <tuple>
#include <vector>

#include "borescope/index/trace_index.h"

namespace borescope::internal {

// A stream is a device track. Work is issued when its launch begins, or, if the launch was not
// recorded, when it begins itself. All queries take O(log work of the stream).
class StreamOrder {
 public:
  // O(rows log rows).
  StreamOrder(const Trace& trace, const Correlation& correlation);

  // The streams with work, in the order of their numbers.
  const std::vector<TrackId>& streams() const { return streams_; }
  // The stream with that number; invalid if it has no work. `process` as in Tracks.
  TrackId Find(int64_t device, int64_t process, int64_t stream) const;

  // Of the work issued to the stream before `ts_ns` the item that ends last, the later one of
  // equals: when it has ended, all of that work has. Invalid if none was issued.
  DeviceId LastBefore(TrackId stream, int64_t ts_ns) const;
  // The last before `ts_ns` that had ended by `end_ns` together with all work before it.
  DeviceId LastEndedBefore(TrackId stream, int64_t ts_ns, int64_t end_ns) const;
  // The first work issued at `ts_ns` or later; invalid if there is none.
  DeviceId FirstFrom(TrackId stream, int64_t ts_ns) const;
  int64_t IssueTime(DeviceId work) const;

 private:
  struct Slice {
    uint32_t begin = 0;
    uint32_t end = 0;
  };
  struct Number {
    int64_t device;
    int64_t process;
    int64_t stream;
    TrackId track;

    auto key() const { return std::tie(device, process, stream); }
  };

  void SortTrack(uint32_t track);
  // How many work items of the slice were issued before `ts_ns`.
  uint32_t IssuedBefore(Slice slice, int64_t ts_ns) const;

  const Trace& trace_;
  const Correlation& correlation_;
  std::vector<TrackId> streams_;
  std::vector<Number> numbers_;  // sorted
  std::vector<Slice> slices_;    // per track
  // Per work item, stream after stream, in the order of issue.
  std::vector<int64_t> issue_ns_;
  std::vector<DeviceId> work_;
  std::vector<DeviceId> last_;  // the last to end of the work of the stream up to this
};

}  // namespace borescope::internal
