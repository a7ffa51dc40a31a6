// Finds, for inherited work (launched before the recording, index/launches/inherited_work.h),
// recorded work that it resembles. A program repeats itself: the sequence of inherited work is
// compared with that of launched work, from its end backwards, and each part is matched with the
// launched work that looks the same. Such a match is inferred, and never counts as recorded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/analysis/core/grouper.h"
#include "borescope/index/launches/inherited_work.h"

namespace borescope::internal {

inline constexpr uint32_t kNotAligned = ~uint32_t{0};

// Sequences of tokens, small integers that represent what work looks like. `kind_of_place`: per
// token of `launched` a number for its operator and phase, which an alignment has to be sure of;
// places with different numbers do not represent each other.
struct AlignmentInput {
  std::span<const uint32_t> inherited;
  std::span<const uint32_t> launched;
  std::span<const uint32_t> kind_of_place;
};

struct Alignment {
  std::vector<uint32_t> place;  // per inherited token: its index in `launched`, or kNotAligned
  size_t assigned = 0;
  size_t runs = 0;  // of neighbours that were assigned together
  size_t back = 0;  // length of the last run
  size_t forward =
      0;  // for how many tokens the work after that run's place equals the begin of `launched`
  size_t period = 0;  // of the program's iterations, or a multiple: launched[period..] begins like
                      // launched[0..]
};

// Deterministic. O(n + m), except that for a repeated piece up to 64 of its places are compared.
Alignment Align(const AlignmentInput& input);

enum class AlignmentConfidence : uint8_t { kNone, kLow, kMedium, kHigh };
std::string_view AlignmentConfidenceName(AlignmentConfidence confidence);

// The inherited work of one process, aligned.
struct AlignedWork {
  // Per row of inherited work: the launched row that it resembles; invalid for all other rows.
  // Empty if nothing was inherited.
  std::vector<DeviceId> like;
  // Per row of inherited work: the number of the step in which it was launched, inferred from
  // `like`; it may be less than that of the first recorded step. kMissing where it is not known,
  // and for all other rows. Empty if `like` is.
  std::vector<int64_t> step;
  bool is_by_name = false;  // compared by name alone: grid, block and bytes were not recorded
  size_t works = 0;
  size_t assigned = 0;
  int64_t device_ns = 0;
  int64_t assigned_ns = 0;
  Alignment found;
  // How well the algorithm does on the first launched work against the rest, where the answer is
  // known; above 1: this could not be tested.
  double self_precision = 2;
  double self_recall = 2;
  AlignmentConfidence confidence = AlignmentConfidence::kNone;
  // Whether the place in the step is known, and with it the instance of a module and not only its
  // class: the work after the place looks like the work after the inherited work.
  bool knows_place = false;

  // Whether answers may use it.
  bool IsConfident() const { return confidence >= AlignmentConfidence::kMedium; }
  // The launched row that an inherited one is like, if answers may use it; else invalid.
  DeviceId LikeOf(DeviceId id) const {
    return IsConfident() && !like.empty() ? like[id.value] : DeviceId{};
  }
  // The row whose operator and phase count when a replay changes work by these: for inherited work
  // the launched row that it certainly resembles, for all other work `id` itself.
  DeviceId AsLaunched(DeviceId id) const {
    const bool is_sure = confidence == AlignmentConfidence::kHigh && !like.empty();
    return is_sure && like[id.value].valid() ? like[id.value] : id;
  }
  // REQUIRES: `like` holds a row for `id`.
  InferredPlace PlaceOf(DeviceId id) const { return {like[id.value], step[id.value], knows_place}; }
};

// Found once for each question. Any thread. O(rows) where nothing was inherited, else O(rows log
// rows).
std::shared_ptr<const AlignedWork> SharedAlignedWork(const RankView& view);

// The inherited work of a rank (index/launches/inherited_work.h), found once for each question. Any
// thread. O(rows), and quick where all work has a recorded launch.
inline std::shared_ptr<const InheritedWork> SharedInheritedWork(const RankView& view) {
  return view.Shared<InheritedWork>(
      [&] { return FindInheritedWork(view.trace, view.index.correlation); });
}

}  // namespace borescope::internal
