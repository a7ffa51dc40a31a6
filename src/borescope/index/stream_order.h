// The work of every device stream in the order in which the host asked for it.
#pragma once

#include <cstdint>
#include <tuple>
#include <vector>

#include "borescope/index/trace_index.h"

namespace borescope::internal {

// A stream is a device track. Work is issued when its launch begins, or, where the launch was not
// recorded, when it begins itself. All questions take O(log work of the stream).
class StreamOrder {
 public:
  // O(rows log rows).
  StreamOrder(const Trace& trace, const Correlation& correlation);

  // The streams with work, in the order of their numbers.
  const std::vector<TrackId>& streams() const { return streams_; }
  // The stream of that number; invalid where it has no work. `process` as in Tracks.
  TrackId Find(int64_t device, int64_t process, int64_t stream) const;

  // Of the work issued to the stream before `ts_ns` what ends last, the later one of equals: when
  // it has ended, all of that work has. Invalid: none was issued.
  DeviceId LastBefore(TrackId stream, int64_t ts_ns) const;
  // The last before `ts_ns` that had ended by `end_ns` together with all work in front of it.
  DeviceId LastEndedBefore(TrackId stream, int64_t ts_ns, int64_t end_ns) const;
  // The first work issued at `ts_ns` or later; invalid: none.
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
  // How many works of the slice were issued before `ts_ns`.
  uint32_t IssuedBefore(Slice slice, int64_t ts_ns) const;

  const Trace& trace_;
  const Correlation& correlation_;
  std::vector<TrackId> streams_;
  std::vector<Number> numbers_;  // sorted
  std::vector<Slice> slices_;    // per track
  // Per work, stream after stream, in the order of issue.
  std::vector<int64_t> issue_ns_;
  std::vector<DeviceId> work_;
  std::vector<DeviceId> last_;  // what ends last of the work of the stream up to and with this
};

}  // namespace borescope::internal
