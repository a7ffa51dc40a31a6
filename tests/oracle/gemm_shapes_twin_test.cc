// Rates of products by shape against a slow twin: the rates of all calls of all ranks are written
// down one by one, sorted, and the middle is read from the list.

#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <list>
#include <map>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "borescope/analysis/core/row.h"
#include "borescope/testing/test_trace.h"
#include "tests/oracle/random.h"

namespace borescope::internal {
namespace {

using testkit::Random;

using Shape = std::tuple<int64_t, int64_t, int64_t>;                     // m, n, k
using Calls = std::map<Shape, std::vector<std::pair<double, int64_t>>>;  // rate, time

std::string DimsOf(const Shape& shape) {
  const auto [m, n, k] = shape;
  const auto pair = [](int64_t a, int64_t b) {
    return "[" + std::to_string(a) + ", " + std::to_string(b) + "]";
  };
  return "[" + pair(m, k) + ", " + pair(k, n) + "]";
}

// One to three kernels a call, of few lengths, so that equal calls occur.
void AddCall(Random& random, int64_t number, TestTrace& trace, Calls& calls) {
  const Shape shape{random.Between(1, 2) * 64, random.Between(1, 2) * 32, 16};
  const int64_t at = number * 10'000;
  trace.Op("aten::mm", {at, 5000},
           {.dims = DimsOf(shape), .types = R"(["c10::Half", "c10::Half"])"});
  int64_t total_ns = 0;
  const int64_t kernels = random.Between(1, 3);
  for (int64_t i = 0; i < kernels; ++i) {
    const int64_t dur_ns = random.Between(1, 4) * 100;
    const int64_t id = number * 3 + i + 1;
    trace.Launched("gemm", {at + 100 * i, 50}, {at + 1000 * (i + 1), dur_ns}, {id});
    total_ns += dur_ns;
  }
  const auto [m, n, k] = shape;
  const auto flops = static_cast<double>(2 * m * n * k);
  calls[shape].emplace_back(flops / static_cast<double>(total_ns) / 1000, total_ns);
}

void ExpectRow(const Table& table, size_t row, const Calls& calls) {
  const auto number = [&](std::string_view name) { return Ints(table, name)[row]; };
  const auto rate = [&](std::string_view name) {
    return std::get<FloatValues>(table.Find(name)->values)[row];
  };
  auto of_shape = calls.at({number("m"), number("n"), number("k")});
  std::sort(of_shape.begin(), of_shape.end());
  const size_t count = of_shape.size();
  double flops = 0;
  int64_t total_ns = 0;
  for (const auto& [call_rate, call_ns] : of_shape) {
    flops += call_rate * static_cast<double>(call_ns);
    total_ns += call_ns;
  }
  const double median = count % 2 == 1
                            ? of_shape[count / 2].first
                            : (of_shape[count / 2 - 1].first + of_shape[count / 2].first) / 2;
  EXPECT_EQ(number("count"), static_cast<int64_t>(count));
  EXPECT_EQ(number("total_ns"), total_ns);
  EXPECT_EQ(number("batch"), 1);
  EXPECT_NEAR(rate("tflops"), flops / static_cast<double>(total_ns), 1e-9);
  EXPECT_DOUBLE_EQ(rate("tflops_min"), of_shape.front().first);
  EXPECT_DOUBLE_EQ(rate("tflops_median"), median);
  EXPECT_DOUBLE_EQ(rate("tflops_max"), of_shape.back().first);
  EXPECT_DOUBLE_EQ(rate("tflops_spread"),
                   (of_shape.back().first - of_shape.front().first) / median);
}

TEST(GemmShapesTwin, RatesOfEveryShape) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    Calls calls;
    std::list<TestTrace> traces(2);
    for (TestTrace& trace : traces) {
      const int64_t count = random.Between(1, 12);
      for (int64_t number = 0; number < count; ++number) {
        AddCall(random, number, trace, calls);
      }
    }
    const Tables found = Analyse("roofline", {&traces.front().View(0), &traces.back().View(1)});
    const auto table = std::find_if(found.begin(), found.end(),
                                    [](const Table& one) { return one.name == "gemm_shapes"; });
    ASSERT_NE(table, found.end());
    ASSERT_EQ(table->rows(), calls.size());
    for (size_t row = 0; row < table->rows(); ++row) {
      ExpectRow(*table, row, calls);
    }
  }
}

std::vector<std::string> LinesOf(std::initializer_list<const RankView*> views,
                                 const Params& params) {
  std::vector<std::string> lines;
  for (const Table& table : Analyse("roofline", views, params)) {
    std::istringstream text(table.name == "gemm_shapes" ? Csv(table) : std::string());
    std::string line;
    std::getline(text, line);  // the names of the columns
    while (std::getline(text, line)) {
      lines.push_back(line);
    }
  }
  return lines;
}

// With --by rank the rows are those of each rank alone.
TEST(GemmShapesTwin, RowsByKeysAreThoseOfTheirPart) {
  for (uint64_t seed = 0; seed < 50; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    Calls calls;
    std::list<TestTrace> traces(2);
    for (TestTrace& trace : traces) {
      for (int64_t number = random.Between(0, 8); number >= 0; --number) {
        AddCall(random, number, trace, calls);
      }
    }
    const RankView& first = traces.front().View(0);
    const RankView& second = traces.back().View(1);
    Params by_rank;
    by_rank.by = {"rank"};
    std::vector<std::string> expected = LinesOf({&first}, by_rank);
    const std::vector<std::string> more = LinesOf({&second}, by_rank);
    expected.insert(expected.end(), more.begin(), more.end());
    std::vector<std::string> found = LinesOf({&first, &second}, by_rank);
    std::sort(expected.begin(), expected.end());
    std::sort(found.begin(), found.end());
    ASSERT_FALSE(found.empty());
    EXPECT_TRUE(found.front().starts_with("0,aten::mm,"));
    EXPECT_EQ(found, expected);
  }
}

}  // namespace
}  // namespace borescope::internal
