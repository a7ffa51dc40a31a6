// Work of devices that was launched before the recording began: known because it was recorded
// without its launch, first on its stream. Only where it is may time be said to belong to work from
// before the recording.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"

namespace borescope::internal {

// By process numbers of calls rise, so that such work has a smaller one than every recorded call.
// Where either is not known, its place decides: before work of the same stream whose launch was
// recorded, or before the first recorded launch. In a recording without launches nothing is
// inherited.
class InheritedWork {
 public:
  // O(tracks), and O(rows of the host) if a stream begins with work without a launch.
  explicit InheritedWork(const RankView& view);

  // The work of a stream that is inherited: rows of the device [first_row, end) of its track. Waits
  // and annotations between these rows count as nothing.
  uint32_t EndOn(uint32_t track) const { return end_rows_[track]; }
  // Whether one of the tracks, those of a device, has any.
  bool IsOnAny(std::span<const uint32_t> tracks) const;
  bool IsAnywhere() const { return is_anywhere_; }

 private:
  void FindOn(const RankView& view, uint32_t track, int64_t least_number, int64_t first_launch_ns);

  std::vector<char> has_work_;      // by track
  std::vector<uint32_t> end_rows_;  // by track
  bool is_anywhere_ = false;
};

}  // namespace borescope::internal
