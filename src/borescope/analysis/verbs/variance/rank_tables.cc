#include "borescope/analysis/verbs/variance/rank_tables.h"

#include <set>
#include <string>
#include <string_view>
#include <tuple>

#include "borescope/analysis/core/row.h"
#include "borescope/base/saturating.h"
#include "borescope/base/stop.h"
#include "borescope/table/table_ops.h"

namespace borescope::internal {
namespace {

Table NewRanks() {
  Table table{"ranks", "", {}};
  AddInt(table, "rank", Unit::kNone, Role::kKey, "");
  AddString(table, "parts", Role::kDerived, "");
  return table;
}

Table NewSteps() {
  Table table{"steps", "", {}};
  AddInt(table, "rank", Unit::kNone, Role::kKey, "");
  AddInt(table, "step", Unit::kNone, Role::kDerived, "");
  AddBool(table, "is_first", Role::kDerived, "");
  AddInt(table, "span_ns", Unit::kNanoseconds, Role::kDerived, "");
  AddInt(table, "work", Unit::kFlops, Role::kDerived, "");
  return table;
}

Table NewParts() {
  Table table{"parts", "", {}};
  AddInt(table, "rank", Unit::kNone, Role::kKey, "");
  AddInt(table, "step", Unit::kNone, Role::kDerived, "");
  AddString(table, "cause", Role::kDerived, "");
  AddString(table, "name", Role::kDerived, "");
  AddInt(table, "ns", Unit::kNanoseconds, Role::kDerived, "");
  return table;
}

Error NoSteps(std::string_view what) {
  return Error{ErrorCode::kInvalidArgument,
               "not the steps of a rank that variance mapped: " + std::string(what)};
}

Result<void> CheckSteps(const Table& steps) {
  for (size_t row = 0; row < steps.rows(); ++row) {
    CheckStopAt(row);
    if (Ints(steps, "span_ns")[row] <= 0) {
      return NoSteps("a step has no length");
    }
    const bool has_work = !steps.Find("work")->IsMissing(row);
    if (has_work && Ints(steps, "work")[row] < 0) {
      return NoSteps("a step has negative work");
    }
  }
  return {};
}

Result<void> CheckThatPartsDiffer(const Table& parts) {
  std::set<std::tuple<int64_t, std::string_view, std::string_view>> known;
  for (size_t row = 0; row < parts.rows(); ++row) {
    CheckStopAt(row);
    if (!known
             .emplace(Ints(parts, "step")[row], Texts(parts, "cause")[row],
                      Texts(parts, "name")[row])
             .second) {
      return NoSteps("a step has two parts of one cause and name");
    }
  }
  return {};
}

Result<void> CheckParts(const Table& steps, const Table& parts) {
  BS_TRY(CheckThatPartsDiffer(parts));
  std::vector<int64_t> rest = Ints(steps, "span_ns");
  const IntValues& of_step = Ints(parts, "step");
  const IntValues& ns = Ints(parts, "ns");
  for (size_t row = 0; row < parts.rows(); ++row) {
    CheckStopAt(row);
    if (of_step[row] < 0 || of_step[row] >= static_cast<int64_t>(rest.size())) {
      return NoSteps("a part is of a step that is not there");
    }
    if (ns[row] <= 0) {
      return NoSteps("a part has no length");
    }
    int64_t& left = rest[static_cast<size_t>(of_step[row])];
    left = SubtractSaturating(left, ns[row]);
  }
  for (const int64_t left : rest) {
    if (left != 0) {
      return NoSteps("the parts of a step do not add up to its length");
    }
  }
  return {};
}

}  // namespace

Tables RankTables(const RankView& view, PartsOf parts_of, const StepSpans& spans,
                  const std::vector<int64_t>& work, const std::vector<StepPart>& parts) {
  Table ranks = NewRanks();
  Row(ranks).Int(view.rank).Text(PartsOfName(parts_of));
  Table steps = NewSteps();
  for (size_t i = 0; i < spans.spans.size(); ++i) {
    const StepSpan& span = spans.spans[i];
    Row(steps)
        .Int(view.rank)
        .Int(span.number)
        .Bool(span.is_first)
        .Int(span.length_ns)
        .MaybeInt(work[i]);
  }
  Table table = NewParts();
  ReserveRows(table, parts.size());
  for (const StepPart& part : parts) {
    Row(table)
        .Int(view.rank)
        .Int(part.span)
        .Text(PartCauseName(part.cause))
        .MaybeText(part.name)
        .Int(part.ns);
  }
  return Tables{std::move(ranks), std::move(steps), std::move(table)};
}

Result<void> CheckRankTables(std::span<const Table> ranks_steps_parts) {
  if (ranks_steps_parts[0].rows() != 1) {
    return NoSteps("it has more or less than one row for the rank");
  }
  BS_TRY(CheckSteps(ranks_steps_parts[1]));
  return CheckParts(ranks_steps_parts[1], ranks_steps_parts[2]);
}

}  // namespace borescope::internal
