// Reports of Nsight Compute on an H100 against the text that Nsight Compute itself printed of them.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>

#include "borescope/ingest/ncu/counter_reports.h"
#include "tests/oracle/samples.h"

namespace borescope::internal {
namespace {

CounterReport ReadSample(const std::string& file, Diagnostics& diagnostics) {
  Result<CounterReport> report = ReadCounterReport(testkit::SamplePath(file).string(), diagnostics);
  EXPECT_TRUE(report.ok());
  return report.ok() ? std::move(*report) : CounterReport();
}

// What a report has of a kernel, by name of the metric.
struct Cells {
  std::map<std::string, CountedKernel::Value> values;
  std::map<std::string, std::string> texts;

  Cells(const CounterReport& report, const CountedKernel& kernel) {
    for (const CountedKernel::Value& value : kernel.values) {
      values[report.metrics[value.metric].name] = value;
    }
    for (const CountedKernel::Text& text : kernel.texts) {
      texts[report.metrics[text.metric].name] = text.text;
    }
  }
};

// How many cells of a kernel the text has as the report has them.
size_t EqualCells(const Cells& exact, const Cells& printed) {
  size_t equal = 0;
  for (const auto& [name, value] : exact.values) {
    const auto cell = printed.values.find(name);
    if (cell == printed.values.end()) {
      ADD_FAILURE() << name << " is missing";
      continue;
    }
    // Numbers without decimals and prefix are printed to their last digit, too.
    constexpr double kHalf = 0.5;
    const double by = cell->second.rounded_by == 0 ? kHalf : cell->second.rounded_by;
    const bool is_equal = std::abs(cell->second.value - value.value) <= by * (1 + 1e-9);
    EXPECT_TRUE(is_equal) << name << ": " << value.value << " and " << cell->second.value;
    equal += is_equal ? 1 : 0;
  }
  for (const auto& [name, text] : exact.texts) {
    const auto cell = printed.texts.find(name);
    // The name of the kernel is printed elsewhere.
    const std::string expected = cell == printed.texts.end() ? "" : cell->second;
    EXPECT_EQ(text, expected) << name;
    equal += text == expected ? 1 : 0;
  }
  return equal;
}

TEST(CounterReportsSamplesTest, TheReportIsWhatItsTextSays) {
  if (!std::filesystem::exists(testkit::SamplePath("h100/ncu/ops_ncu.csv.gz"))) {
    GTEST_SKIP() << "no samples in " << testkit::SamplesFolder();
  }
  Diagnostics of_report;
  Diagnostics of_text;
  const CounterReport report = ReadSample("h100/ncu/ops_ncu.ncu-rep.gz", of_report);
  const CounterReport text = ReadSample("h100/ncu/ops_ncu.csv.gz", of_text);
  EXPECT_EQ(report.tool, "Nsight Compute 2025.3.1");
  EXPECT_EQ(report.device, "NVIDIA H100 80GB HBM3");
  EXPECT_EQ(report.caches_flushed, CounterSetting::kYes);
  EXPECT_EQ(report.clocks_held, CounterSetting::kNo);
  EXPECT_EQ(of_report.count(Diag::kMetricWithoutValue), 4U);  // of fp16
  EXPECT_EQ(of_text.count(Diag::kMetricWithoutValue), 0U);
  std::map<std::string, std::string> units;
  for (const CounterMetric& metric : text.metrics) {
    units[metric.name] = metric.unit;
  }
  size_t equal_units = 0;
  for (const CounterMetric& metric : report.metrics) {
    const auto unit = units.find(metric.name);
    equal_units += unit != units.end() && unit->second == metric.unit ? 1 : 0;
  }
  EXPECT_EQ(equal_units, 293U);  // all but the name of the kernel
  ASSERT_EQ(report.kernels.size(), 161U);
  ASSERT_EQ(text.kernels.size(), 161U);
  size_t cells = 0;
  for (size_t i = 0; i < report.kernels.size(); ++i) {
    const CountedKernel& exact = report.kernels[i];
    const CountedKernel& printed = text.kernels[i];
    EXPECT_EQ(exact.function, printed.function);
    EXPECT_EQ(exact.ranges, printed.ranges);
    EXPECT_EQ(exact.grid, printed.grid);
    EXPECT_EQ(exact.block, printed.block);
    EXPECT_EQ(exact.stream, printed.stream);
    EXPECT_EQ(exact.context, printed.context);
    EXPECT_EQ(exact.pid, printed.pid);
    cells += EqualCells(Cells(report, exact), Cells(text, printed));
  }
  EXPECT_EQ(cells, 47334U);
}

TEST(CounterReportsSamplesTest, TheBasicSetIsComplete) {
  if (!std::filesystem::exists(testkit::SamplePath("h100/ncu/basic_ncu.ncu-rep"))) {
    GTEST_SKIP() << "no samples in " << testkit::SamplesFolder();
  }
  Diagnostics diagnostics;
  const CounterReport report = ReadSample("h100/ncu/basic_ncu.ncu-rep", diagnostics);
  ASSERT_EQ(report.kernels.size(), 6U);
  EXPECT_EQ(report.metrics.size(), 563U);
  EXPECT_TRUE(report.without_value.empty());
  EXPECT_TRUE(diagnostics.empty());
  EXPECT_EQ(report.clocks_held, CounterSetting::kYes);
  const double expected[] = {73.10, 73.10, 48.18, 47.42, 63.95, 63.75};
  for (size_t i = 0; i < report.kernels.size(); ++i) {
    EXPECT_EQ(report.kernels[i].values.size() + report.kernels[i].texts.size(), 563U);
    const Cells cells(report, report.kernels[i]);
    EXPECT_NEAR(cells.values.at("sm__throughput.avg.pct_of_peak_sustained_elapsed").value,
                expected[i], 0.005);
  }
}

// The numbers that rules name are those of their metrics, but for the rule SOLBottleneck of four
// kernels: there Nsight Compute gives the percentage of memory under the name of compute's. What it
// finds is the limiter that counter_join_samples_test.cc expects.
TEST(CounterReportsSamplesTest, RulesNameTheNumbersOfTheirMetrics) {
  if (!std::filesystem::exists(testkit::SamplePath("h100/ncu/basic_ncu.ncu-rep"))) {
    GTEST_SKIP() << "no samples in " << testkit::SamplesFolder();
  }
  Diagnostics diagnostics;
  const CounterReport report = ReadSample("h100/ncu/basic_ncu.ncu-rep", diagnostics);
  const char* const titles[] = {"High Compute Throughput", "High Compute Throughput",
                                "Latency Issue",           "Latency Issue",
                                "High Compute Throughput", "High Compute Throughput"};
  size_t equal = 0;
  size_t of_memory = 0;
  ASSERT_EQ(report.kernels.size(), std::size(titles));
  for (size_t i = 0; i < report.kernels.size(); ++i) {
    const Cells cells(report, report.kernels[i]);
    for (const CountedKernel::Advice& advice : report.kernels[i].advice) {
      EXPECT_FALSE(advice.text.empty());
      if (advice.rule == "SOLBottleneck") {
        EXPECT_EQ(advice.title, titles[i]) << i;
      }
      for (const auto& [metric, value] : advice.focus) {
        if (cells.values.at(metric).value == value) {
          ++equal;
          continue;
        }
        ++of_memory;
        EXPECT_EQ(advice.rule, "SOLBottleneck") << i;
        EXPECT_EQ(
            cells.values.at("gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed")
                .value,
            value)
            << i;
      }
    }
  }
  EXPECT_EQ(equal, 24U);
  EXPECT_EQ(of_memory, 4U);
}

}  // namespace
}  // namespace borescope::internal
