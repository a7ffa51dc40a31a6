// Why ranks waited: what a collective cost the ranks that were there goes to the causes by which
// its last rank was late. Where that one had itself waited for others, in a collective of another
// group, this part goes on to the causes of that one's lateness, and so on; and where it was behind
// already, to those of the collective before, in which it was the last one, too. Pure.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string_view>
#include <vector>

namespace borescope::internal {

// What a rank did before it entered a collective: the causes by which its lateness is divided.

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

inline constexpr uint32_t kNobody = ~uint32_t{0};
inline constexpr uint32_t kNoCollective = ~uint32_t{0};

struct Lateness {
  uint32_t last_rank = kNobody;  // kNobody: who was last is not certain
  int64_t all_in_ns = 0;         // when it entered
  CauseNs causes{};              // by how much more than the other ranks it did what, before
  // The collective in which it waited longest before this one; takes the part of kWaiting.
  uint32_t waited_in = kNoCollective;
  uint32_t previous = kNoCollective;  // of its group; takes the part of kInherited
  int64_t skew_ns = 0;                // time that others waited in this one
  int64_t exposed_skew_ns = 0;        // the part of it beside which they computed nothing
};

struct Blame {
  int64_t ns = 0;
  int64_t exposed_ns = 0;
};

// By rank (or kNobody) and cause; the sums are those of all skew. `main_cause`, by collective, is
// the largest cause of its last rank and how much of its own skew goes to that.
struct BlameSums {
  std::map<std::pair<uint32_t, LateCause>, Blame> by_cause;
  struct Main {
    LateCause cause = LateCause::kUnknown;
    int64_t ns = 0;
  };
  std::vector<Main> main_cause;
};

// O(n log n).
BlameSums SumBlame(std::span<const Lateness> collectives);

}  // namespace borescope::internal
