// Typed row numbers: an Id<Tag> is a row of one particular table, so that a host row cannot be used
// to address the device table. Trivially copyable; ids never change after a trace is finished.
#pragma once

#include <compare>
#include <cstdint>
#include <limits>

namespace borescope::internal {

template <class Tag>
struct Id {
  static constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();
  uint32_t value = kNone;

  constexpr bool valid() const { return value != kNone; }
  friend constexpr auto operator<=>(Id, Id) = default;
};

using StringId = Id<struct StringTag>;  // a string of the trace's StringPool
using TrackId = Id<struct TrackTag>;    // a row of Tracks
using HostId = Id<struct HostTag>;      // a row of HostEvents
using DeviceId = Id<struct DeviceTag>;  // a row of DeviceEvents

}  // namespace borescope::internal
