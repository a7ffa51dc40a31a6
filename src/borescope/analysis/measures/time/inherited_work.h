// Work that devices had still to do when the recording began: its launch came before.
#pragma once

#include <cstdint>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"

namespace borescope::internal {

// The device work of a rank that was launched before the recording began. Work without a recorded
// launch is that if no work with one comes before it on its stream and its correlation number is
// below those of all recorded calls of its process; where numbers were not recorded, if its stream
// has work with a launch, or if it begins before the first recorded launch. All other work without
// a launch lost it. Where no launch was recorded at all nothing is inherited.
class InheritedWork {
 public:
  // O(rows).
  explicit InheritedWork(const RankView& view);

  bool empty() const { return rows_.empty(); }
  bool Has(DeviceId id) const;
  const std::vector<DeviceId>& rows() const { return rows_; }  // ascending

 private:
  std::vector<DeviceId> rows_;
};

}  // namespace borescope::internal
