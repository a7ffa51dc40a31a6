#include "borescope/analysis/verbs/steps/step_heat.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "borescope/analysis/core/row.h"
#include "borescope/analysis/measures/time/duration_stats.h"
#include "borescope/analysis/measures/time/rank_groups.h"
#include "borescope/table/display/column_hints.h"
#include "borescope/table/typed_rows.h"

namespace borescope::internal {
namespace {

constexpr size_t kMostCells = 64;  // in each direction

// What is read of `steps`.
struct StepLength {
  int64_t rank = 0;
  std::optional<int64_t> number = {};  // none: work in no step
  int64_t step = 0;                    // the same
  int64_t length_ns = 0;

  static constexpr ColumnOf<StepLength> kColumns[] = {{"rank", &StepLength::rank},
                                                      {"step", &StepLength::number},
                                                      {"length_ns", &StepLength::length_ns}};
};

std::vector<StepLength> LengthsOf(const Table& steps) {
  std::vector<StepLength> lengths = ReadRows<StepLength>(steps);
  std::erase_if(lengths, [](const StepLength& length) { return !length.number; });
  for (StepLength& length : lengths) {
    length.step = *length.number;
  }
  return lengths;
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
  values.reserve(cells.size());
  for (const auto& [place, length_ns] : cells) {
    values.push_back(length_ns);
  }
  return static_cast<double>(std::max<int64_t>(LowerMedian(values), 1));
}

std::string TextOf(const std::pair<int64_t, int64_t>& ends) {
  return ends.first == ends.second ? std::to_string(ends.first)
                                   : fmt::format("{}..{}", ends.first, ends.second);
}

struct HeatRow {
  int64_t rank = 0;
  int64_t step = 0;
  std::string ranks = {};
  std::string steps = {};
  int64_t length_ns = 0;
  double relative = 0;
  std::string_view level = {};

  static constexpr TableNames kTable{"step_heat", "Steps of all ranks"};
  static constexpr ColumnOf<HeatRow> kColumns[] = {
      {"rank", &HeatRow::rank, Role::kKey, "The first of the ranks."},
      {"step", &HeatRow::step, Role::kKey, "Number of the first of the steps."},
      {"ranks", &HeatRow::ranks, Role::kDerived, "From which to which rank."},
      {"steps", &HeatRow::steps, Role::kDerived, "From which to which step."},
      {"length_ns", &HeatRow::length_ns, Unit::kNanoseconds, Role::kMax,
       "The longest of them, from completion to completion."},
      {"relative", &HeatRow::relative, Role::kDerived,
       "Length / the median of those of all cells."},
      {"level", &HeatRow::level, Role::kDerived,
       "As usual: from 0.97 to below 1.03; a little longer: below 1.1, shorter: from 0.9 on; "
       "longer: below 1.33, shorter: from 0.75 on; else much longer or shorter.",
       InColours(Palette::kLevel)}};
};

}  // namespace

Table StepHeat(const Table& steps) {
  const std::vector<StepLength> lengths = LengthsOf(steps);
  const Axis ranks = AxisOf(lengths, &StepLength::rank);
  const Axis numbers = AxisOf(lengths, &StepLength::step);
  if (ranks.size() < kManyRanks || numbers.size() < 2) {
    return NewTable<HeatRow>();
  }
  const Cells cells = CellsOf(lengths, ranks, numbers);
  const double median_ns = MedianOf(cells);
  std::vector<HeatRow> rows;
  for (const auto& [cell, length_ns] : cells) {
    const auto of_ranks = ranks.EndsOf(cell.first);
    const auto of_steps = numbers.EndsOf(cell.second);
    const double relative = static_cast<double>(length_ns) / median_ns;
    rows.push_back({.rank = of_ranks.first,
                    .step = of_steps.first,
                    .ranks = TextOf(of_ranks),
                    .steps = TextOf(of_steps),
                    .length_ns = length_ns,
                    .relative = relative,
                    .level = LevelOf(relative)});
  }
  return MakeTable(rows);
}

}  // namespace borescope::internal
