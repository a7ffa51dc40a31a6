// HtaEvents: the rows of a frame as HolisticTraceAnalysis' critical path sees them: those of host
// and device in one list, in the order of the file, each with the row its correlation number ties
// it to.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "borescope/packs/hta/frame.h"

namespace borescope::internal {

// A row by its number in HtaEvents::rows; kNoHtaEvent is none.
using HtaEventRow = uint32_t;
inline constexpr HtaEventRow kNoHtaEvent = std::numeric_limits<HtaEventRow>::max();

struct HtaEvent {
  uint32_t position = 0;  // HTA's "index": among all events of the file
  StringId name;
  int64_t ts_us = 0;
  int64_t dur_us = 0;
  int64_t pid = 0;  // of the thread or stream
  int64_t tid = 0;
  int64_t stream = -1;
  int64_t correlation = -1;
  // HTA's "index_correlation", as far as that row is kept; of several the last one of the file.
  HtaEventRow partner = kNoHtaEvent;
  HostId host;  // one of these two is valid
  DeviceId device;

  int64_t end_us() const { return ts_us + dur_us; }
  bool is_host() const { return host.valid(); }
};

// Immutable once made. The frame must outlive it.
class HtaEvents {
 public:
  explicit HtaEvents(const HtaFrame& frame);

  const Trace& trace() const { return frame_.trace(); }
  const std::vector<HtaEvent>& rows() const { return rows_; }
  size_t size() const { return rows_.size(); }
  const HtaEvent& operator[](HtaEventRow row) const { return rows_[row]; }
  std::string_view NameOf(HtaEventRow row) const { return trace().Text(rows_[row].name); }

  bool IsSync(HtaEventRow row) const;
  // Whether HTA takes the row for one of the device.
  bool IsDeviceSide(HtaEventRow row) const {
    return rows_[row].device.valid() && frame_.IsDeviceSide(rows_[row].device);
  }
  // HTA's "index_correlation > 0", which misses the first event of a file.
  bool HasPartner(HtaEventRow row) const {
    return rows_[row].partner != kNoHtaEvent && rows_[rows_[row].partner].position > 0;
  }
  // The launches and copies that HTA counts in queues.
  bool IsLaunch(HtaEventRow row) const;

  // The order of HTA's frame: where steps were filtered, rows of the device come first.
  std::vector<HtaEventRow> FrameOrder() const;

 private:
  void Collect();
  void MarkTriton();
  void TieAndFilter();

  const HtaFrame& frame_;
  std::vector<HtaEvent> rows_;  // by position
};

}  // namespace borescope::internal
