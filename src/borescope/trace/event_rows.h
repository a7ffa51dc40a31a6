// Rows of the two spines of a trace, for those who add one event after the other: every column
// gets its value, so that none can fall behind the others.
#pragma once

#include <cstdint>

#include "borescope/trace/tables.h"

namespace borescope::internal {

struct HostRow {
  int64_t ts_ns = 0;
  int64_t dur_ns = 0;
  StringId name = {};
  TrackId track = {};
  HostKind kind = HostKind::kOther;
  uint32_t detail = kNoDetail;
};

struct DeviceRow {
  int64_t ts_ns = 0;
  int64_t dur_ns = 0;
  StringId name = {};
  TrackId track = {};  // may be assigned later, when all streams are known
  DeviceKind kind = DeviceKind::kOther;
  int64_t correlation = kMissing;
  int64_t external_id = kMissing;
  uint32_t detail = kNoDetail;
};

// Adds an event without a position in its file; returns its row.
inline uint32_t AddHostRow(HostEvents& host, const HostRow& row) {
  host.ts_ns.push_back(row.ts_ns);
  host.dur_ns.push_back(row.dur_ns);
  host.name.push_back(row.name);
  host.track.push_back(row.track);
  host.kind.push_back(row.kind);
  host.detail.push_back(row.detail);
  return static_cast<uint32_t>(host.size() - 1);
}

inline uint32_t AddDeviceRow(DeviceEvents& device, const DeviceRow& row) {
  device.ts_ns.push_back(row.ts_ns);
  device.dur_ns.push_back(row.dur_ns);
  device.name.push_back(row.name);
  device.track.push_back(row.track);
  device.kind.push_back(row.kind);
  device.correlation.push_back(row.correlation);
  device.external_id.push_back(row.external_id);
  device.detail.push_back(row.detail);
  return static_cast<uint32_t>(device.size() - 1);
}

}  // namespace borescope::internal
