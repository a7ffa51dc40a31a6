// Every reduce is associative, and the order of the ranks does not matter: whatever tree a cluster
// builds of them, the answer has the same bytes.
#include "borescope/analysis/core/reduce.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <random>
#include <string>

#include "borescope/analysis/core/param_specs.h"
#include "borescope/analysis/core/row.h"
#include "borescope/analysis/core/shared_measures.h"
#include "borescope/catalog/catalog.h"
#include "borescope/testing/test_trace.h"

namespace borescope::internal {

namespace {

std::atomic<int> calls = 0;

Result<Tables> CountedMap(const RankView& view, const Params& /*params*/) {
  Table table{"counted", "", {}};
  AddRankKey(table);
  Row(table).Int(view.rank + ++calls);
  return Tables{std::move(table)};
}

Result<Tables> OtherMap(const RankView& /*view*/, const Params& /*params*/) { return Tables{}; }

TEST(MapOnceTest, OneQuestionMapsOnceAndEachOtherAgain) {
  TestTrace trace;
  RankView view = trace.View();
  calls = 0;
  SharedMeasures shared;
  view.shared = &shared;
  const Tables first = MapOnce<CountedMap>(view, {}).value();
  const Tables second = MapOnce<CountedMap>(view, {}).value();
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(Ints(first[0], "rank"), Ints(second[0], "rank"));
  EXPECT_TRUE(MapOnce<OtherMap>(view, {}).value().empty());
  view.shared = nullptr;
  EXPECT_NE(Ints(MapOnce<CountedMap>(view, {}).value()[0], "rank"), Ints(first[0], "rank"));
  EXPECT_EQ(calls, 2);
}

using Random = std::mt19937_64;

int64_t Below(Random& random, int64_t end) {
  return static_cast<int64_t>(random() % static_cast<uint64_t>(end));
}

void AddWork(TestTrace& trace, Random& random, int64_t ts, int64_t id) {
  const On on{id, 7 + Below(random, 2), 0};
  const Span span{ts + 20 + Below(random, 200), Below(random, 90)};
  switch (Below(random, 5)) {
    case 0:
      trace.Runtime("cudaMemcpyAsync", {ts + 5, 4}, id);
      trace.Memcpy("Memcpy HtoD (Pinned -> Device)", span, on);
      return;
    case 1: {
      const CollectiveArgs args{"allreduce", 10 + Below(random, 9), 20, "Float", 5};
      trace.Collective(args, {ts + 3, 9}).Runtime("cudaLaunchKernel", {ts + 5, 4}, id);
      trace.Kernel("ncclDevKernel_AllReduce(x)", span, {id, 20, 0});
      return;
    }
    case 2:
      trace.Kernel("unlinked", span, {id, 7, 0});
      return;
    default:
      trace.Launched("gemm_" + std::to_string(Below(random, 3)), {ts + 5, 4}, span, on);
  }
}

// Ranks of one job: alike, and in no number the same.
std::unique_ptr<TestTrace> RandomTrace(uint64_t seed) {
  Random random(seed);
  auto trace = std::make_unique<TestTrace>();
  trace->meta().world_size = 5;
  trace->meta().base_ns = 1000 + Below(random, 2);
  int64_t ts = Below(random, 1000);
  for (int64_t step = 0; step < 3; ++step) {
    const int64_t begin = ts;
    const int64_t ops = 4 + Below(random, 12);
    for (int64_t i = 0; i < ops; ++i) {
      trace->Op("aten::op_" + std::to_string(Below(random, 4)), {ts + 1, 18});
      AddWork(*trace, random, ts, 100 * step + i + 1);
      ts += 20 + Below(random, 60);
    }
    trace->Annotation("## part ##", {begin + 2, 40}).DeviceAnnotation("## part ##", {begin, 90});
    trace->Annotation("ProfilerStep#" + std::to_string(step), {begin, ts - begin});
  }
  return trace;
}

// Everything of a table, floats to the last bit.
std::string Dump(const Tables& tables) {
  std::string text;
  for (const Table& table : tables) {
    text += table.name + "|" + table.title + "\n" + Csv(table);
    for (const Column& column : table.columns) {
      if (const auto* values = std::get_if<FloatValues>(&column.values)) {
        text.append(reinterpret_cast<const char*>(values->data()), 8 * values->size());
      }
    }
  }
  return text;
}

Tables Reduce(const Pipeline& pipeline, std::span<const Tables> tables, const Params& params) {
  Result<Tables> reduced = pipeline.reduce(tables, params);
  EXPECT_TRUE(reduced.ok());
  return std::move(reduced).value();
}

// Joins two or three of the tables at a time, any of them, until one is left.
Tables ReduceInAnyOrder(const Pipeline& pipeline, std::vector<Tables> tables, const Params& params,
                        Random& random) {
  while (tables.size() > 1) {
    std::shuffle(tables.begin(), tables.end(), random);
    const size_t count = std::min<size_t>(tables.size(), 2 + random() % 2);
    const std::span<const Tables> joined(&tables[tables.size() - count], count);
    Tables one = Reduce(pipeline, joined, params);
    tables.resize(tables.size() - count);
    tables.push_back(std::move(one));
  }
  return tables.front();
}

Tables Finish(const Pipeline& pipeline, Tables tables, const Params& params) {
  if (pipeline.finish == nullptr) {
    return tables;
  }
  Result<Tables> finished = pipeline.finish(std::move(tables), params);
  if (!finished.ok() && finished.error().code == ErrorCode::kMissingData) {
    // Ranks that have nothing in common have none in any order.
    return {Table{finished.error().Sentence(), "", {}}};
  }
  EXPECT_TRUE(finished.ok());
  return std::move(finished).value();
}

class ReduceTest : public testing::Test {
 protected:
  static constexpr int64_t kRanks[] = {3, 0, 7, 1, 12};

  ReduceTest() {
    for (const int64_t rank : kRanks) {
      traces_.push_back(RandomTrace(static_cast<uint64_t>(rank) + 1));
      views_.push_back(&traces_.back()->View(rank));
    }
  }

  // Nothing where the analysis gives no tables, or does not take these options.
  std::vector<Tables> MapAll(const Pipeline& pipeline, const Params& params) const {
    std::vector<Tables> mapped;
    for (const RankView* view : views_) {
      Result<Tables> tables = pipeline.map(*view, params);
      if (!tables.ok() || tables->empty()) {
        return {};
      }
      mapped.push_back(std::move(tables).value());
    }
    return mapped;
  }

  void Check(const AnalysisSpec& spec, const Params& params) const {
    const Pipeline& pipeline = spec.PipelineFor(params);
    const std::vector<Tables> mapped = MapAll(pipeline, params);
    if (mapped.empty()) {
      return;
    }
    const std::string plain = Dump(Finish(pipeline, Reduce(pipeline, mapped, params), params));
    EXPECT_FALSE(plain.empty());
    Random random(1);
    for (int i = 0; i < 20; ++i) {
      ASSERT_EQ(Dump(Finish(pipeline, ReduceInAnyOrder(pipeline, mapped, params, random), params)),
                plain)
          << spec.name;
    }
  }

  std::vector<std::unique_ptr<TestTrace>> traces_;
  std::vector<const RankView*> views_;
};

TEST_F(ReduceTest, AnyTreeInAnyOrderGivesTheSameAnswer) {
  for (const AnalysisSpec* spec : Analyses()) {
    Params params;
    params.values.push_back({kMinLengthParam.name, 1, ""});  // operators here launch one kernel
    Check(*spec, params);
    params.all = spec->takes_all;
    params.by.assign(spec->by.begin(), spec->by.end());
    for (const ParamSpec* param : spec->params) {
      if (param->type == ParamType::kFlag) {
        params.values.push_back({param->name, 1, ""});
      }
    }
    Check(*spec, params);
    for (const std::string_view key : spec->by) {
      params.by = {std::string(key)};
      Check(*spec, params);
    }
    for (const CompatRow& tool : kCompats) {
      if (spec->FindPipeline(tool.id) != nullptr) {
        params = {};
        params.compat = tool.id;
        Check(*spec, params);
        params.all = tool.takes_all;
        params.by.assign(tool.by.begin(), tool.by.end());
        Check(*spec, params);
      }
    }
  }
}

}  // namespace

}  // namespace borescope::internal
