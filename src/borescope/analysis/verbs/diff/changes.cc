#include "borescope/analysis/verbs/diff/changes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace borescope::internal {
namespace {

// Times never repeat exactly. What differs by less than one of these is taken for the same.
constexpr double kLeastChange = 0.05;
constexpr double kLeastChangeNs = 1000;

__extension__ using Int128 = __int128;

}  // namespace

std::string_view StatusName(Status status) {
  static constexpr std::string_view kNames[] = {"added",     "deleted",   "increased",
                                                "decreased", "unchanged", "renamed"};
  return kNames[static_cast<size_t>(status)];
}

std::string_view TimeStatusName(TimeStatus status) {
  static constexpr std::string_view kNames[] = {"slower", "faster", "unchanged", ""};
  return kNames[static_cast<size_t>(status)];
}

std::string RunUnits::Words() const {
  return base == test
             ? std::string()
             : fmt::format(": counts and times of whole runs, status by calls per {}", unit);
}

Status NameChange::status(const RunUnits& units) const {
  if (!renamed_to.empty()) {
    return Status::kRenamed;
  }
  if (base.count == 0 || test.count == 0) {
    return base.count == 0 ? Status::kAdded : Status::kDeleted;
  }
  const Int128 before = static_cast<Int128>(base.count) * units.test;
  const Int128 after = static_cast<Int128>(test.count) * units.base;
  return after > before   ? Status::kIncreased
         : after < before ? Status::kDecreased
                          : Status::kUnchanged;
}

// The time of the test run against what as many calls took in the base run.
TimeStatus NameChange::time_status() const {
  if (base.count == 0 || test.count == 0) {
    return TimeStatus::kUnknown;
  }
  const double calls = static_cast<double>(test.count) / static_cast<double>(base.count);
  const double expected_ns = static_cast<double>(base.total_ns) * calls;
  const double change_ns = static_cast<double>(test.total_ns) - expected_ns;
  if (std::abs(change_ns) < std::max(expected_ns * kLeastChange, kLeastChangeNs)) {
    return TimeStatus::kUnchanged;
  }
  return change_ns > 0 ? TimeStatus::kSlower : TimeStatus::kFaster;
}

void AddTimeColumns(Table& table) {
  AddInt(table, "base_ns", Unit::kNanoseconds, Role::kSum, "Summed durations in the base run.");
  AddInt(table, "test_ns", Unit::kNanoseconds, Role::kSum, "The same in the test run.");
  AddInt(table, "delta_ns", Unit::kNanoseconds, Role::kSum, "Test less base.");
}

void AddChangeColumns(Table& table) {
  AddInt(table, "base_count", Unit::kCount, Role::kSum, "Calls in the base run.");
  AddInt(table, "test_count", Unit::kCount, Role::kSum, "Calls in the test run.");
  AddInt(table, "delta_count", Unit::kCount, Role::kSum, "Test less base.");
  AddTimeColumns(table);
  AddString(table, "status", Role::kDerived,
            "By the counts, per step if both runs have steps, else per rank: added, deleted, "
            "increased, decreased, unchanged; or renamed.");
  AddString(table, "time_status", Role::kDerived,
            "By the time, against what as many calls took in the base run: slower or faster by 5 % "
            "and 1 us at least, else unchanged; missing for what is in one run only.");
}

void PushChange(Row& row, const NameChange& change, const RunUnits& units) {
  row.Int(change.base.count).Int(change.test.count).Int(change.delta_count());
  row.Int(change.base.total_ns).Int(change.test.total_ns).Int(change.delta_ns());
  row.Text(StatusName(change.status(units))).MaybeText(TimeStatusName(change.time_status()));
}

}  // namespace borescope::internal
