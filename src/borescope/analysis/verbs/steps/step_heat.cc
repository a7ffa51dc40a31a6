#include "borescope/analysis/verbs/steps/step_heat.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "borescope/analysis/core/key_columns.h"
#include "borescope/analysis/core/row.h"
#include "borescope/analysis/measures/time/duration_stats.h"
#include "borescope/analysis/measures/time/rank_groups.h"
#include "borescope/table/display/palette.h"

namespace borescope::internal {
namespace {

constexpr size_t kMostCells = 64;  // in each direction

struct StepLength {
  int64_t rank = 0;
  int64_t step = 0;
  int64_t length_ns = 0;
};

std::vector<StepLength> LengthsOf(const Table& steps) {
  const Column& number = *steps.Find("step");
  const IntValues& ranks = Ints(steps, "rank");
  const IntValues& numbers = Ints(steps, "step");
  const IntValues& lengths = Ints(steps, "length_ns");
  std::vector<StepLength> found;
  for (size_t row = 0; row < steps.rows(); ++row) {
    if (!number.IsMissing(row)) {  // else work in no step
      found.push_back({ranks[row], numbers[row], lengths[row]});
    }
  }
  return found;
}

// Numbers that ascend, divided into neighbours of about equally many.
class Axis {
 public:
  explicit Axis(std::vector<int64_t> numbers) : numbers_(std::move(numbers)) {
    std::sort(numbers_.begin(), numbers_.end());
    numbers_.erase(std::unique(numbers_.begin(), numbers_.end()), numbers_.end());
  }

  size_t size() const { return numbers_.size(); }
  // REQUIRES: `number` is one of them.
  size_t CellOf(int64_t number) const {
    const auto at = std::lower_bound(numbers_.begin(), numbers_.end(), number);
    return static_cast<size_t>(at - numbers_.begin()) * cells() / size();
  }
  // The first and the last number of a cell.
  std::pair<int64_t, int64_t> EndsOf(size_t cell) const {
    const size_t begin = (cell * size() + cells() - 1) / cells();
    const size_t end = ((cell + 1) * size() + cells() - 1) / cells();
    return {numbers_[begin], numbers_[end - 1]};
  }

 private:
  size_t cells() const { return std::min(size(), kMostCells); }

  std::vector<int64_t> numbers_;
};

Axis AxisOf(const std::vector<StepLength>& lengths, int64_t StepLength::* which) {
  std::vector<int64_t> numbers;
  numbers.reserve(lengths.size());
  for (const StepLength& length : lengths) {
    numbers.push_back(length.*which);
  }
  return Axis(std::move(numbers));
}

// The longest step of each cell, by rank and step.
using Cells = std::map<std::pair<size_t, size_t>, int64_t>;

Cells CellsOf(const std::vector<StepLength>& lengths, const Axis& ranks, const Axis& numbers) {
  Cells cells;
  for (const StepLength& length : lengths) {
    int64_t& cell = cells[{ranks.CellOf(length.rank), numbers.CellOf(length.step)}];
    cell = std::max(cell, length.length_ns);
  }
  return cells;
}

// At least 1.
double MedianOf(const Cells& cells) {
  std::vector<int64_t> values;
  for (const auto& [place, length_ns] : cells) {
    values.push_back(length_ns);
  }
  return static_cast<double>(std::max<int64_t>(LowerMedian(values), 1));
}

std::string TextOf(const std::pair<int64_t, int64_t>& ends) {
  return ends.first == ends.second ? std::to_string(ends.first)
                                   : fmt::format("{}..{}", ends.first, ends.second);
}

Table NewStepHeat() {
  Table table{"step_heat", "Steps of all ranks", {}};
  AddRankKey(table).doc = "The first of the ranks.";
  AddInt(table, "step", Unit::kNone, Role::kKey, "Number of the first of the steps.");
  AddString(table, "ranks", Role::kDerived, "From which to which rank.");
  AddString(table, "steps", Role::kDerived, "From which to which step.");
  AddInt(table, "length_ns", Unit::kNanoseconds, Role::kMax,
         "The longest of them, from completion to completion.");
  AddFloat(table, "relative", Unit::kNone, Role::kDerived,
           "Length / the median of those of all cells.");
  AddString(table, "level", Role::kDerived,
            "As usual: from 0.97 to below 1.03; a little longer: below 1.1, shorter: from 0.9 on; "
            "longer: below 1.33, shorter: from 0.75 on; else much longer or shorter.")
      .hints.palette = Palette::kLevel;
  return table;
}

}  // namespace

Table StepHeat(const Table& steps) {
  Table table = NewStepHeat();
  const std::vector<StepLength> lengths = LengthsOf(steps);
  const Axis ranks = AxisOf(lengths, &StepLength::rank);
  const Axis numbers = AxisOf(lengths, &StepLength::step);
  if (ranks.size() < kManyRanks || numbers.size() < 2) {
    return table;
  }
  const Cells cells = CellsOf(lengths, ranks, numbers);
  const double median_ns = MedianOf(cells);
  for (const auto& [cell, length_ns] : cells) {
    const auto of_ranks = ranks.EndsOf(cell.first);
    const auto of_steps = numbers.EndsOf(cell.second);
    const double relative = static_cast<double>(length_ns) / median_ns;
    Row(table)
        .Int(of_ranks.first)
        .Int(of_steps.first)
        .Text(TextOf(of_ranks))
        .Text(TextOf(of_steps))
        .Int(length_ns)
        .Float(relative)
        .Text(LevelOf(relative));
  }
  return table;
}

}  // namespace borescope::internal
