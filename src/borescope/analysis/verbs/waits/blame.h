// Why ranks waited: what a collective cost the ranks that were there goes to the causes by which
// its last rank was late. Where that one had itself waited for others, in a collective of another
// group, this part goes on to the causes of that one's lateness, and so on; and where it was behind
// already, to those of the collective before, in which it was the last one, too. Pure.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string_view>
#include <vector>

namespace borescope::internal {

// Divides an amount in the ratio of weights so that the parts add up to it. Pure.

// Part i is amount * weight i / all weights, rounded so that no nanosecond is lost; nothing goes
// where the weight is 0 or less. All parts are 0 if all weights are. REQUIRES: amount >= 0.
template <size_t kCount>
std::array<int64_t, kCount> ExactShares(int64_t amount,
                                        const std::array<int64_t, kCount>& weights) {
  __extension__ using Wide = __int128;  // products of two times
  Wide all = 0;
  for (const int64_t weight : weights) all += std::max<int64_t>(0, weight);
  std::array<int64_t, kCount> parts{};
  Wide before = 0;
  int64_t given = 0;
  for (size_t i = 0; i < kCount && all > 0; ++i) {
    before += std::max<int64_t>(0, weights[i]);
    const auto until = static_cast<int64_t>(static_cast<Wide>(amount) * before / all);
    parts[i] = until - given;
    given = until;
  }
  return parts;
}

// Finds the largest of many numbers in any range of them. Pure once it is made.

class RangeMaximum {
 public:
  // O(n).
  explicit RangeMaximum(std::vector<int64_t> numbers)
      : numbers_(std::move(numbers)),
        leaves_(std::bit_ceil(std::max<size_t>(numbers_.size(), 1))),
        place_(2 * leaves_, 0) {
    for (size_t i = 0; i < numbers_.size(); ++i) place_[leaves_ + i] = i;
    for (size_t node = leaves_ - 1; node > 0; --node) {
      place_[node] = Larger(place_[2 * node], place_[2 * node + 1]);
    }
  }

  // The place of the largest from `begin` to before `end`, of several the first.
  // REQUIRES: begin < end <= how many there are. O(log n).
  size_t PlaceIn(size_t begin, size_t end) const {
    size_t best = begin;
    for (size_t low = begin + leaves_, high = end + leaves_; low < high; low /= 2, high /= 2) {
      if (low % 2 != 0) best = Larger(best, place_[low++]);
      if (high % 2 != 0) best = Larger(best, place_[--high]);
    }
    return best;
  }

 private:
  size_t Larger(size_t a, size_t b) const {
    if (numbers_[a] != numbers_[b]) return numbers_[a] > numbers_[b] ? a : b;
    return std::min(a, b);
  }

  std::vector<int64_t> numbers_;
  size_t leaves_;
  std::vector<size_t> place_;  // node 1 is the root
};

// The time of one rank inside of a collective, divided; and whom the others waited for. Pure.

// One rank in a collective, on the clock that all share.
struct Arrival {
  uint32_t rank = 0;
  int64_t enter_ns = 0;
  int64_t leave_ns = 0;
};

// Parts of the time inside; they add up to it, whatever the clocks are.
struct WaitParts {
  int64_t skew_ns = 0;    // it was there, somebody was not
  int64_t common_ns = 0;  // all were inside: the transfer
  int64_t tail_ns = 0;    // somebody had left, it had not
};

// When the last rank entered and the first one left: the transfer is between these; negative where
// clocks are wrong, or somebody left early.
struct CommonTime {
  int64_t all_in_ns = 0;
  int64_t first_out_ns = 0;
};

// REQUIRES: one arrival at least.
CommonTime CommonTimeOf(std::span<const Arrival> arrivals);

// REQUIRES: leave_ns >= enter_ns.
WaitParts DivideWait(const Arrival& arrival, const CommonTime& common);

struct LastArrival {
  size_t last = 0;          // the place of the rank that entered last; of several the first
  int64_t lead_ns = 0;      // from the second last to the last
  int64_t spread_ns = 0;    // from the first to the last
  bool is_certain = false;  // the lead is larger than both errors together
};

// `error_ns`: by rank; the largest number: no times of that rank can be compared.
// REQUIRES: two arrivals at least. O(n log n).
LastArrival FindLast(std::span<const Arrival> arrivals, std::span<const int64_t> error_ns);

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

// The causes that a rank knows without the others come first.
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
