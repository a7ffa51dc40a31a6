// HTA's column `iteration`: the number of the step a row belongs to.
#pragma once

#include <cstdint>
#include <vector>

#include "borescope/packs/hta/rows.h"

namespace borescope::internal {

// Immutable once made. The frame must outlive it.
class HtaIterations {
 public:
  static constexpr int64_t kNone = -1;

  explicit HtaIterations(const HtaFrame& frame);

  // Of the last listed step whose window holds the start of the row. Steps are listed as in files:
  // those of the host by start, then their copies on devices.
  int64_t Of(HostId id) const;
  // A row of a stream belongs to the step of its launch. A device row without a stream goes by
  // time, and a row of stream 0 (AMD, legacy default stream) belongs to no step.
  int64_t Of(DeviceId id) const;
  int64_t Of(const HtaRow& row) const;

  // Numbers of the steps that are listed and kept, ascending.
  const std::vector<int64_t>& kept() const { return kept_; }

 private:
  struct Window {
    double begin_us;
    double end_us;
    int64_t number;
  };
  // From begin_us to where the next piece begins.
  struct Piece {
    double begin_us;
    int64_t number;
  };

  void ListSteps();
  void MakePieces();
  int64_t At(double ts_us) const;

  const HtaFrame& frame_;
  std::vector<Window> windows_;  // as listed
  std::vector<Piece> pieces_;    // by begin_us
  std::vector<int64_t> kept_;
};

}  // namespace borescope::internal
