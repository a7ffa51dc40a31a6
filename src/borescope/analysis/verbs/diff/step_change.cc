#include "borescope/analysis/verbs/diff/step_change.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <optional>
#include <utility>

#include "borescope/analysis/measures/names/describe.h"
#include "borescope/analysis/measures/time/duration_stats.h"
#include "borescope/base/saturating.h"
#include "borescope/table/typed_rows.h"

namespace borescope::internal {
namespace {

constexpr int64_t kTen = 10;
constexpr size_t kParts = 4;
// A change of less is none.
constexpr double kLeastRatio = 1.005;

// How the times of one sentence are written: in one unit, to the same decimals.
struct Resolution {
  std::string_view unit = "ns";
  int64_t unit_ns = 1;
  int decimals = 0;
  int64_t quantum_ns = 1;  // one of the last decimal
};

// Three digits of the larger time, and two of the difference.
Resolution ResolutionOf(int64_t larger_ns, int64_t delta_ns) {
  constexpr std::pair<std::string_view, int64_t> kUnits[] = {
      {"s", 1'000'000'000}, {"ms", 1'000'000}, {"us", 1'000}};
  constexpr int64_t kThreeDigits = 100;
  constexpr int kMostDecimals = 3;
  for (const auto& [unit, unit_ns] : kUnits) {
    if (larger_ns < unit_ns) {
      continue;
    }
    Resolution resolution{unit, unit_ns, 0, unit_ns};
    while (resolution.decimals < kMostDecimals &&
           (larger_ns / resolution.quantum_ns < kThreeDigits ||
            (delta_ns > 0 && delta_ns / resolution.quantum_ns < kTen))) {
      ++resolution.decimals;
      resolution.quantum_ns /= kTen;
    }
    return resolution;
  }
  return {};
}

std::string Written(int64_t quanta, const Resolution& resolution) {
  const double value = static_cast<double>(quanta) * static_cast<double>(resolution.quantum_ns) /
                       static_cast<double>(resolution.unit_ns);
  return fmt::format("{:.{}f} {}", value, resolution.decimals, resolution.unit);
}

// Half up, away from zero, as tables are written.
int64_t Rounded(int64_t value, int64_t by) {
  const int64_t size = std::abs(value % by);
  return value / by + (size < by - size ? 0 : value < 0 ? -1 : 1);
}

int64_t DeltaOf(const TimeChange& change) { return change.test_ns - change.base_ns; }

// Whether the difference is that of the two times, and the parts add up to it, all as written.
bool AddsUp(std::span<const TimeChange> changes, int64_t quantum_ns) {
  const TimeChange& whole = changes.front();
  const int64_t delta = Rounded(DeltaOf(whole), quantum_ns);
  int64_t sum = 0;
  for (const TimeChange& part : changes.subspan(1)) {
    AddSaturatingTo(sum, Rounded(DeltaOf(part), quantum_ns));
  }
  return (changes.size() == 1 || sum == delta) &&
         Rounded(whole.test_ns, quantum_ns) - Rounded(whole.base_ns, quantum_ns) == delta;
}

// "53.0 ms less compute, 21.6 ms more idle".
std::string PartsOf(std::span<const TimeChange> parts, const Resolution& resolution) {
  std::vector<int64_t> quanta;
  quanta.reserve(parts.size());
  for (const TimeChange& part : parts) {
    quanta.push_back(Rounded(DeltaOf(part), resolution.quantum_ns));
  }
  std::vector<size_t> order(parts.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return std::abs(quanta[a]) > std::abs(quanta[b]); });
  std::string text;
  for (const size_t i : order) {
    if (quanta[i] != 0) {
      text += fmt::format("{}{} {} {}", text.empty() ? "" : ", ",
                          Written(std::abs(quanta[i]), resolution), quanta[i] < 0 ? "less" : "more",
                          parts[i].part);
    }
  }
  return text;
}

// The longer time by the shorter one.
double FactorOf(const TimeChange& whole) {
  const auto [smaller_ns, larger_ns] = std::minmax(whole.base_ns, whole.test_ns);
  return smaller_ns <= 0 ? 1 : static_cast<double>(larger_ns) / static_cast<double>(smaller_ns);
}

// "1.01 times faster; within the spread of the steps (5 against 5: 1.9 ms either way)".
std::string VerdictOf(const TimeChange& whole, const Resolution& resolution, const StepSample& base,
                      const StepSample& test) {
  if (FactorOf(whole) < kLeastRatio) {
    return "no change";
  }
  std::string text = fmt::format("{:.2f} times {}", FactorOf(whole),
                                 whole.test_ns < whole.base_ns ? "faster" : "slower");
  const std::optional<double> chance_ns = ChanceOf(base, test);
  if (chance_ns.has_value() && static_cast<double>(std::abs(DeltaOf(whole))) <= *chance_ns) {
    text += fmt::format("; within the spread of the steps ({} against {}: {:.{}f} {} either way)",
                        FormatCount(test.steps), FormatCount(base.steps),
                        *chance_ns / static_cast<double>(resolution.unit_ns), resolution.decimals,
                        resolution.unit);
  }
  return text;
}

struct TimeChangeRow {
  std::string_view part = {};
  int64_t base_ns = 0;
  int64_t test_ns = 0;
  int64_t delta_ns = 0;
  std::optional<double> change = {};
  std::optional<double> ratio = {};
  std::optional<double> base_stddev_ns = {};
  std::optional<double> test_stddev_ns = {};

  static constexpr TableNames kTable{"diff_time", "What a step takes"};
  static constexpr ColumnOf<TimeChangeRow> kColumns[] = {
      {"part", &TimeChangeRow::part, Role::kKey,
       "step, from completion to completion (or token, rank, run: what is compared), of a device; "
       "then the parts that add up to it: compute, communication and copies with nothing beside "
       "them, idle time."},
      {"base_ns", &TimeChangeRow::base_ns, Unit::kNanoseconds, Role::kDerived,
       "Mean of the base run."},
      {"test_ns", &TimeChangeRow::test_ns, Unit::kNanoseconds, Role::kDerived,
       "Mean of the test run."},
      {"delta_ns", &TimeChangeRow::delta_ns, Unit::kNanoseconds, Role::kDerived, "Test less base."},
      {"change", &TimeChangeRow::change, Unit::kShare, Role::kDerived,
       "The difference / the base."},
      {"ratio", &TimeChangeRow::ratio, Role::kDerived, "Test / base."},
      {"base_stddev_ns", &TimeChangeRow::base_stddev_ns, Unit::kNanoseconds, Role::kDerived,
       "Sample standard deviation of the steps of the base run; missing for the parts, and where a "
       "rank has fewer than two steps."},
      {"test_stddev_ns", &TimeChangeRow::test_stddev_ns, Unit::kNanoseconds, Role::kDerived,
       "The same of the test run."}};
};

DeviceTimeRow TimeOf(const std::vector<DeviceTimeRow>& rows, bool in_steps) {
  const auto found = std::find_if(
      rows.begin(), rows.end(), [&](const DeviceTimeRow& row) { return row.in_steps == in_steps; });
  return found == rows.end() ? DeviceTimeRow() : *found;
}

// Of a device, one after the other; the whole is their sum. Each is the difference of two rounded
// sums, so that nothing is lost.
std::array<int64_t, kParts> MeansOf(const DeviceTimeRow& time, int64_t windows) {
  const std::array<int64_t, kParts> sums = {time.compute_ns, time.exposed_comm_ns,
                                            time.exposed_copy_ns, time.idle_ns};
  std::array<int64_t, kParts> means{};
  int64_t sum_ns = 0;
  int64_t before_ns = 0;
  for (size_t i = 0; i < kParts; ++i) {
    AddSaturatingTo(sum_ns, sums[i]);
    const int64_t mean_ns = MeanOf(sum_ns, windows);
    means[i] = mean_ns - before_ns;
    before_ns = mean_ns;
  }
  return means;
}

// How much the steps of a run differ; of anything else there is no sample.
StepSample SampleOf(const DeviceTimeRow& time, int64_t steps, int64_t ranks,
                    const RunUnits& units) {
  if (!units.is_step()) {
    return {};
  }
  return {steps / std::max<int64_t>(1, ranks),
          StandardDeviation(time.windows, time.span_ns,
                            SquaresOf({time.squares_low, time.squares_high}))};
}

// By how many the time of a run is divided: its steps on each device; of tokens, each of which all
// devices take part in, their number for every device of a rank.
int64_t DivisorOf(const DeviceTimeRow& time, int64_t count, const RunUnits& units) {
  return units.unit == "token" ? count : time.windows;
}

}  // namespace

std::optional<double> ChanceOf(const StepSample& base, const StepSample& test) {
  // The quantile of 97.5 % by degrees of freedom; beyond the table to two digits.
  constexpr double kQuantiles[] = {12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23};
  constexpr double kOfNormal = 1.96;
  constexpr double kByFreedom = 2.7;
  if (base.steps < 2 || test.steps < 2) {
    return std::nullopt;
  }
  const auto variance = [](const StepSample& run) {
    return run.stddev_ns * run.stddev_ns / static_cast<double>(run.steps);
  };
  const auto term = [&](const StepSample& run) {
    return variance(run) * variance(run) / static_cast<double>(run.steps - 1);
  };
  const double sum = variance(base) + variance(test);
  if (sum <= 0) {
    return 0;
  }
  const double freedom = std::max(1.0, sum * sum / (term(base) + term(test)));
  const double quantile = freedom < static_cast<double>(std::size(kQuantiles)) + 1
                              ? kQuantiles[static_cast<size_t>(freedom) - 1]
                              : kOfNormal + kByFreedom / freedom;
  return quantile * std::sqrt(sum);
}

std::string SentenceOf(std::span<const TimeChange> changes, std::string_view unit,
                       const StepSample& base, const StepSample& test) {
  const TimeChange& whole = changes.front();
  const int64_t delta_ns = std::abs(DeltaOf(whole));
  Resolution resolution = ResolutionOf(std::max(whole.base_ns, whole.test_ns),
                                       FactorOf(whole) < kLeastRatio ? 0 : delta_ns);
  while (resolution.quantum_ns > 1 && !AddsUp(changes, resolution.quantum_ns)) {
    ++resolution.decimals;
    resolution.quantum_ns /= kTen;
  }
  const auto written = [&](int64_t ns) {
    return Written(Rounded(ns, resolution.quantum_ns), resolution);
  };
  std::string text =
      fmt::format("{} against {}{}{}, {}", written(whole.test_ns), written(whole.base_ns),
                  unit == "run" ? "" : " a ", unit == "run" ? std::string_view() : unit,
                  VerdictOf(whole, resolution, base, test));
  const std::string parts = PartsOf(changes.subspan(1), resolution);
  if (parts.empty()) {
    return text;
  }
  const bool is_written_same = Rounded(delta_ns, resolution.quantum_ns) == 0;
  return text +
         (is_written_same ? std::string(": ") : fmt::format("; of the {}: ", written(delta_ns))) +
         parts;
}

StepChange CompareSteps(const std::vector<DeviceTimeRow>& base,
                        const std::vector<DeviceTimeRow>& test, const RunUnits& units) {
  static constexpr std::string_view kNames[kParts] = {"compute", "exposed communication",
                                                      "exposed copies", "idle"};
  const DeviceTimeRow before = TimeOf(base, units.is_step());
  const DeviceTimeRow after = TimeOf(test, units.is_step());
  const int64_t before_windows = DivisorOf(before, units.base, units);
  const int64_t after_windows = DivisorOf(after, units.test, units);
  if (before_windows <= 0 || after_windows <= 0) {
    return {NewTable<TimeChangeRow>()};
  }
  const std::array<int64_t, kParts> base_parts = MeansOf(before, before_windows);
  const std::array<int64_t, kParts> test_parts = MeansOf(after, after_windows);
  std::vector<TimeChange> changes{
      {units.unit, std::accumulate(base_parts.begin(), base_parts.end(), int64_t{0}),
       std::accumulate(test_parts.begin(), test_parts.end(), int64_t{0})}};
  for (size_t i = 0; i < kParts; ++i) {
    if (base_parts[i] != 0 || test_parts[i] != 0) {
      changes.push_back({kNames[i], base_parts[i], test_parts[i]});
    }
  }
  std::vector<TimeChangeRow> rows;
  rows.reserve(changes.size());
  for (const TimeChange& change : changes) {
    rows.push_back({change.part, change.base_ns, change.test_ns, change.test_ns - change.base_ns,
                    ShareOfChange(change.base_ns, change.test_ns),
                    RatioOf(change.base_ns, change.test_ns)});
  }
  const StepSample base_steps = SampleOf(before, units.base, units.base_ranks, units);
  const StepSample test_steps = SampleOf(after, units.test, units.test_ranks, units);
  if (base_steps.steps >= 2) {
    rows.front().base_stddev_ns = base_steps.stddev_ns;
  }
  if (test_steps.steps >= 2) {
    rows.front().test_stddev_ns = test_steps.stddev_ns;
  }
  Table table = MakeTable(rows);
  table.title = SentenceOf(changes, units.unit, base_steps, test_steps);
  return {std::move(table), std::max(changes.front().base_ns, changes.front().test_ns)};
}

}  // namespace borescope::internal
