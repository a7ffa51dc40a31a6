// What one rank gives to variance: its steps, the time of each divided into parts, the work in it,
// and the tables in which these travel. Internal to variance/.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/analysis/core/grouper.h"
#include "borescope/analysis/core/selection/selection.h"
#include "borescope/analysis/measures/path/path.h"
#include "borescope/base/intervals.h"
#include "borescope/index/clocks/device_clocks.h"
#include "borescope/table/typed_rows.h"

namespace borescope::internal {

// The time of each step: what is divided into parts.

// A step, whose windows may be of several threads.
struct StepSpan {
  int64_t number = 0;
  bool is_first = false;  // the first of the recording
  int64_t length_ns = 0;  // > 0
};

struct StepPiece {
  Interval time;      // on the clock of the host
  uint32_t span = 0;  // index into StepSpans::spans
  TrackId thread;     // that runs the step
};

struct StepSpans {
  std::vector<StepSpan> spans;    // by begin; several may have one number
  std::vector<StepPiece> pieces;  // by time, disjoint; of each span they add up to its length
  // Per step of the recording: index into `spans`, kNoStep for none.
  std::vector<uint32_t> span_of;

  IntervalSet Time() const;
};

// The steps among `numbers`, all if that is empty, with the times of StepTimes. These are the
// lengths of `whatif` (measured_ns): a stall that devices do not notice, as they still have work,
// makes no step longer. Of several processes with steps those of the one that begins first.
// O(rows).
StepSpans FindStepSpans(const RankView& view, const NumberRanges& numbers,
                        const DeviceClocks& clocks);

// The same on the host alone: its window, less time in the one before.
StepSpans FindHostSpans(const RankView& view, const NumberRanges& numbers);

// How much matrix work each step is.

// Per span: the FLOPs of the operators called in the step, as far as they have a model
// (docs/how-it-works/flops.md); all kMissing where none has. O(rows log rows).
Result<std::vector<int64_t>> WorkOfSteps(const RankView& view, const Selected& selected,
                                         const StepSpans& spans);

// The parts of steps by cause and name, summed.

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

// The length of each step, divided three ways.

enum class PartsOf : uint8_t {
  kPath,       // the critical path, by what it is bound by and the event it is in
  kBreakdown,  // compute, exposed communication and copies, and idle time of all devices together
  kOps,        // the innermost event of the thread that runs the step; of windows on the host
};
std::string_view PartsOfName(PartsOf parts);

// As asked with --parts; else the path, or the breakdown where no waits were recorded.
PartsOf ChooseParts(const RankView& view, std::string_view asked);

struct DividedSteps {
  StepSpans spans;
  std::vector<StepPart> parts;  // those of each step add up to its length
};

// `steps`: their numbers, all if empty. `params`: as for SharedPathGraph. O(rows log rows).
DividedSteps DivideSteps(const RankView& view, const Selected& selected, const NumberRanges& steps,
                         PartsOf parts, const Params& params);

// What travels from the map of `variance` to its finish: the steps of each rank and their parts.

// How the steps of a rank were divided.
struct VarianceRankRow {
  int64_t rank = 0;
  std::string_view parts = {};

  static constexpr TableNames kTable{"ranks", ""};
  static constexpr ColumnOf<VarianceRankRow> kColumns[] = {
      {"rank", &VarianceRankRow::rank, Role::kKey, ""},
      {"parts", &VarianceRankRow::parts, Role::kDerived, ""}};
};

// Steps are in the order of their begins; several may have one number.
struct VarianceStepRow {
  int64_t rank = 0;
  int64_t step = 0;
  bool is_first = false;
  int64_t span_ns = 0;
  std::optional<int64_t> work = {};

  static constexpr TableNames kTable{"steps", ""};
  static constexpr ColumnOf<VarianceStepRow> kColumns[] = {
      {"rank", &VarianceStepRow::rank, Role::kKey, ""},
      {"step", &VarianceStepRow::step, Role::kDerived, ""},
      {"is_first", &VarianceStepRow::is_first, Role::kDerived, ""},
      {"span_ns", &VarianceStepRow::span_ns, Unit::kNanoseconds, Role::kDerived, ""},
      {"work", &VarianceStepRow::work, Unit::kFlops, Role::kDerived, ""}};
};

// `step` is a row among the steps of the rank, from 0.
struct VariancePartRow {
  int64_t rank = 0;
  int64_t step = 0;
  std::string_view cause = {};
  std::optional<std::string_view> name = {};
  int64_t ns = 0;

  static constexpr TableNames kTable{"parts", ""};
  static constexpr ColumnOf<VariancePartRow> kColumns[] = {
      {"rank", &VariancePartRow::rank, Role::kKey, ""},
      {"step", &VariancePartRow::step, Role::kDerived, ""},
      {"cause", &VariancePartRow::cause, Role::kDerived, ""},
      {"name", &VariancePartRow::name, Role::kDerived, ""},
      {"ns", &VariancePartRow::ns, Unit::kNanoseconds, Role::kDerived, ""}};
};

Tables RankTables(const RankView& view, PartsOf parts_of, const StepSpans& spans,
                  const std::vector<int64_t>& work, const std::vector<StepPart>& parts);

// Whether the tables of one rank are such: one row of the rank, steps of positive length,
// and parts of these that add up to their lengths. O(rows).
Result<void> CheckRankTables(std::span<const Table> tables);

}  // namespace borescope::internal
