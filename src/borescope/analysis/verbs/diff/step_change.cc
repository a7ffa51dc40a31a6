#include "borescope/analysis/verbs/diff/step_change.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <optional>
#include <utility>

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

int64_t FloorDivided(int64_t value, int64_t by) { return value / by - (value % by < 0 ? 1 : 0); }

// REQUIRES: value >= 0.
int64_t Rounded(int64_t value, int64_t by) {
  return value / by + (value % by >= by - value % by ? 1 : 0);  // twice a saturated sum overflows
}

// The values in quanta, whose sum is `whole`: rounded down, and those with the largest rest up.
std::vector<int64_t> RoundedToSum(const std::vector<int64_t>& values, int64_t quantum,
                                  int64_t whole) {
  std::vector<int64_t> quanta;
  quanta.reserve(values.size());
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  for (const int64_t value : values) {
    quanta.push_back(FloorDivided(value, quantum));
  }
  const auto rest = [&](size_t i) { return values[i] - quanta[i] * quantum; };
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return rest(a) > rest(b); });
  int64_t missing = whole - std::accumulate(quanta.begin(), quanta.end(), int64_t{0});
  for (size_t i = 0; missing > 0 && i < order.size(); ++i, --missing) {
    ++quanta[order[i]];
  }
  for (size_t i = order.size(); missing < 0 && i > 0; --i, ++missing) {
    --quanta[order[i - 1]];
  }
  return quanta;
}

// "53.0 ms less compute, 21.6 ms more idle".
std::string PartsOf(std::span<const TimeChange> parts, int64_t whole_quanta,
                    const Resolution& resolution) {
  std::vector<int64_t> deltas;
  deltas.reserve(parts.size());
  for (const TimeChange& part : parts) {
    deltas.push_back(part.test_ns - part.base_ns);
  }
  const std::vector<int64_t> quanta = RoundedToSum(deltas, resolution.quantum_ns, whole_quanta);
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

struct TimeChangeRow {
  std::string_view part = {};
  int64_t base_ns = 0;
  int64_t test_ns = 0;
  int64_t delta_ns = 0;
  std::optional<double> change = {};
  std::optional<double> ratio = {};

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
      {"ratio", &TimeChangeRow::ratio, Role::kDerived, "Test / base."}};
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

// By how many the time of a run is divided: its steps on each device; of tokens, each of which all
// devices take part in, their number for every device of a rank.
int64_t DivisorOf(const DeviceTimeRow& time, int64_t count, const RunUnits& units) {
  return units.unit == "token" ? count : time.windows;
}

}  // namespace

std::string SentenceOf(std::span<const TimeChange> changes, std::string_view unit) {
  const TimeChange& whole = changes.front();
  const auto [smaller_ns, larger_ns] = std::minmax(whole.base_ns, whole.test_ns);
  const double ratio =
      smaller_ns <= 0 ? 1 : static_cast<double>(larger_ns) / static_cast<double>(smaller_ns);
  const bool is_same = ratio < kLeastRatio;
  const Resolution resolution = ResolutionOf(larger_ns, is_same ? 0 : larger_ns - smaller_ns);
  const int64_t base = Rounded(whole.base_ns, resolution.quantum_ns);
  const int64_t test = Rounded(whole.test_ns, resolution.quantum_ns);
  std::string text =
      fmt::format("{} against {}{}{}", Written(test, resolution), Written(base, resolution),
                  unit == "run" ? "" : " a ", unit == "run" ? std::string_view() : unit);
  text += is_same ? std::string(", no change")
                  : fmt::format(", {:.2f} times {}", ratio,
                                whole.test_ns < whole.base_ns ? "faster" : "slower");
  const std::string parts = PartsOf(changes.subspan(1), test - base, resolution);
  if (parts.empty()) {
    return text;
  }
  return text +
         (test == base ? std::string(": ")
                       : fmt::format("; of the {}: ", Written(std::abs(test - base), resolution))) +
         parts;
}

Table StepChangeTable(const std::vector<DeviceTimeRow>& base,
                      const std::vector<DeviceTimeRow>& test, const RunUnits& units) {
  static constexpr std::string_view kNames[kParts] = {"compute", "exposed communication",
                                                      "exposed copies", "idle"};
  const DeviceTimeRow before = TimeOf(base, units.is_step());
  const DeviceTimeRow after = TimeOf(test, units.is_step());
  const int64_t before_windows = DivisorOf(before, units.base, units);
  const int64_t after_windows = DivisorOf(after, units.test, units);
  if (before_windows <= 0 || after_windows <= 0) {
    return NewTable<TimeChangeRow>();
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
  Table table = MakeTable(rows);
  table.title = SentenceOf(changes, units.unit);
  return table;
}

}  // namespace borescope::internal
