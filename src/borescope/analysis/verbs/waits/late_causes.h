// What a rank did before it entered a collective: the causes by which its lateness is divided.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace borescope::internal {

enum class LateCause : uint8_t {
  kCompute,  // kernels that compute ran
  kCopy,     // copies, and nothing else, ran
  kComm,     // communication with no compute beside it; waiting in it is counted apart
  kData,     // idle: the host was loading data
  kHost,     // idle: the host had not launched the next work for another reason
  kSync,     // idle: the host was blocked when the gap began
  kLaunch,   // idle: from the launch call to the begin of the work
  kDevice,   // idle: less than 100 us before work that was launched earlier
  kUnknown,  // idle: the cause is not known
  // Only where ranks are compared:
  kBeforeRecording,  // its recording began later
  kInherited,        // it was behind already when it left the previous collective of the group
  kWaiting,          // it waited in collectives of other groups, itself for others
  kCount
};

// Those that a rank alone knows come first.
inline constexpr size_t kOwnCauses = static_cast<size_t>(LateCause::kBeforeRecording);
inline constexpr size_t kLateCauses = static_cast<size_t>(LateCause::kCount);
using CauseNs = std::array<int64_t, kLateCauses>;

std::string_view LateCauseName(LateCause cause);

inline int64_t& At(CauseNs& causes, LateCause cause) { return causes[static_cast<size_t>(cause)]; }
inline int64_t At(const CauseNs& causes, LateCause cause) {
  return causes[static_cast<size_t>(cause)];
}

}  // namespace borescope::internal
