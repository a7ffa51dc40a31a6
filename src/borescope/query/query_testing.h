// For the tests of this module: a run of small traces with a database over it, and results as text.
#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "borescope/query/database.h"
#include "borescope/query/row_cursor.h"
#include "borescope/testing/trace_maker.h"

namespace borescope::internal::query {

class TestRun {
 public:
  // Ranks are numbered 0, 1, … in the order of `traces`.
  explicit TestRun(std::vector<Trace> traces) {
    for (Trace& trace : traces) {
      traces_.push_back(std::move(trace));
      indexes_.push_back(BuildIndex(traces_.back(), 1));
      ranks_.push_back({static_cast<int64_t>(ranks_.size()), "trace.json", traces_.back(),
                        indexes_.back(), traces_.back().diagnostics()});
    }
    Result<Database> database = Database::Open(ranks_);
    EXPECT_TRUE(database.ok());
    database_.emplace(std::move(*database));
  }

  Database& database() { return *database_; }
  const RankData& rank(size_t index) const { return ranks_[index]; }

  // Rows of the last statement: cells joined with ",", rows with "\n"; NULL is "-". Or the error.
  std::string Ask(std::string_view sql, const Limits& limits = {}) {
    const Result<std::vector<QueryResult>> answers = database().Run(sql, {}, limits);
    if (!answers.ok()) {
      return answers.error().Sentence();
    }
    return answers->empty() ? "nothing" : TextOf(answers->back().table);
  }

  // As Ask gives them.
  static std::string TextOf(const Table& table) {
    std::string text;
    for (size_t row = 0; row < table.rows(); ++row) {
      text += row == 0 ? "" : "\n";
      for (size_t i = 0; i < table.columns.size(); ++i) {
        text += (i == 0 ? "" : ",") + CellText(table.columns[i], row);
      }
    }
    return text;
  }

 private:
  static std::string CellText(const Column& column, size_t row) {
    if (column.IsMissing(row)) {
      return "-";
    }
    if (const auto* ints = std::get_if<IntValues>(&column.values)) {
      return std::to_string((*ints)[row]);
    }
    if (const auto* reals = std::get_if<FloatValues>(&column.values)) {
      return std::to_string((*reals)[row]);
    }
    return std::get<StringValues>(column.values)[row];
  }

  std::deque<Trace> traces_;
  std::deque<TraceIndex> indexes_;
  std::vector<RankData> ranks_;
  std::optional<Database> database_;
};

// One operator that launches a kernel and a copy, and a kernel without a launch.
inline Trace SmallTrace(std::string_view kernel_name = "gemm") {
  testkit::TraceMaker maker;
  maker.Host(HostKind::kAnnotation, "ProfilerStep#3", 1, {0, 1000});
  maker.Op("aten::mm", 1, {100, 300}, {5, 9, kMissing});
  maker.Call("cudaLaunchKernel", 1, {120, 10}, 71);
  maker.Call("cudaMemcpyAsync", 1, {150, 20}, 72);
  maker.Kernel(kernel_name, 7, {200, 50}, {71, kMissing});
  maker.Device(DeviceKind::kMemcpy, "Memcpy HtoD", 0, 7, {260, 40}, {72, kMissing});
  maker.Kernel("orphan", 8, {220, 60});
  return maker.Finish();
}

inline TestRun SmallRun() {
  std::vector<Trace> traces;
  traces.push_back(SmallTrace());
  return TestRun(std::move(traces));
}

}  // namespace borescope::internal::query
