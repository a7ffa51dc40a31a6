// The parts of steps by cause and name, summed. Internal to variance/.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "borescope/analysis/core/grouper.h"
#include "borescope/analysis/measures/path/path.h"
#include "borescope/analysis/verbs/variance/step_spans.h"

namespace borescope::internal {

// The name of what is not among the names that vary most.
inline constexpr std::string_view kOtherNamesText = "(other names)";

// What the time of a part went into. The first are those of the critical path, in its order.
enum class PartCause : uint8_t {
  kCompute = static_cast<uint8_t>(BoundBy::kCount),
  kExposedComm,
  kExposedCopy,
  kIdle,
  kOperator,
  kCall,
  kAnnotation,
  kPython,
  kBetween,
  kUnknown,
};
std::string_view PartCauseName(PartCause cause);
constexpr PartCause CauseOf(BoundBy bound_by) { return static_cast<PartCause>(bound_by); }

// The time of one step, cause and name.
struct StepPart {
  uint32_t span = 0;
  PartCause cause = PartCause::kUnknown;
  std::string_view name;  // empty for none; lives as long as the trace
  int64_t ns = 0;         // > 0
};

class PartSums {
 public:
  // Both outlive this.
  PartSums(const RankView& view, const StepSpans& spans);

  // Names of annotations that are steps count as one, as they differ by their number alone.
  void Add(uint32_t span, PartCause cause, StringId name, int64_t ns);
  void AddUnnamed(uint32_t span, PartCause cause, int64_t ns);
  // The part of `time` in each step. REQUIRES: called with times that ascend.
  void AddTime(Interval time, PartCause cause, StringId name);

  // By step, cause and name. What of a step nothing was added for is kUnknown, so that its parts
  // add up to its length. Of more than kMostNames names those that vary most between steps are
  // kept, the others become one for each cause. O(parts log parts).
  std::vector<StepPart> Finish();

  static constexpr size_t kMostNames = 200;

 private:
  bool IsStepName(StringId name);
  void AddRest();
  std::vector<char> NamesToKeep(const std::vector<uint32_t>& kind_of, size_t kinds) const;
  std::string_view TextOf(int64_t name) const;

  const RankView& view_;
  const StepSpans& spans_;
  Grouper groups_;  // step, cause, name
  std::vector<int64_t> ns_;
  std::vector<char> is_step_name_;  // per StringId: 0 not asked yet, 1 no, 2 yes
  size_t next_piece_ = 0;
};

}  // namespace borescope::internal
