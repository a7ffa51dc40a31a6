// What the tables and views contain for a trace.
#include "borescope/query/query_testing.h"

namespace borescope::internal::query {
namespace {

// The text of a cell by the relation's own getter.
std::string CellOf(const ColumnSpec& column, const RankRows& rank, uint32_t row) {
  const Cell cell = column.get(rank, row);
  switch (cell.kind) {
    case CellKind::kNull:
      return "-";
    case CellKind::kInt:
      return std::to_string(cell.number);
    case CellKind::kReal:
      return std::to_string(cell.real);
    default:
      return std::string(TextOf(cell, rank.trace));
  }
}

// All rows of a relation as TestRun::Ask writes them.
std::string RowsOf(const Relation& relation, const RankRows& rank) {
  std::string text;
  for (uint32_t row = 0; row < relation.size(rank); ++row) {
    if (relation.keeps != nullptr && !relation.keeps(rank, row)) {
      continue;
    }
    text += text.empty() ? "" : "\n";
    for (size_t i = 0; i < relation.columns.size(); ++i) {
      text += (i == 0 ? "" : ",") + CellOf(relation.columns[i], rank, row);
    }
  }
  return text;
}

TEST(QueryTables, EveryColumnHoldsWhatTheTraceHolds) {
  TestRun run = SmallRun();
  const RankRows rank(run.rank(0));
  for (const Relation& relation : Relations()) {
    EXPECT_EQ(run.Ask("SELECT * FROM \"" + std::string(relation.name) + "\""),
              RowsOf(relation, rank))
        << relation.name;
  }
}

TEST(QueryTables, BeginWithRankAndIdAndHaveNoNameTwice) {
  for (const Relation& relation : Relations()) {
    ASSERT_GE(relation.columns.size(), 3U) << relation.name;
    EXPECT_EQ(relation.columns[kRankColumn].name, "rank");
    EXPECT_EQ(relation.columns[kIdColumn].name == "id", relation.has_ids) << relation.name;
    for (size_t i = 0; i < relation.columns.size(); ++i) {
      for (size_t j = 0; j < i; ++j) {
        EXPECT_NE(relation.columns[i].name, relation.columns[j].name) << relation.name;
      }
    }
  }
}

TEST(QueryTables, DeviceEvents) {
  TestRun run = SmallRun();
  EXPECT_EQ(run.Ask("SELECT rank, id, ts_ns, dur_ns, end_ns, name, kind, is_work, gpu, stream, "
                    "correlation, class, launch_id, op_id, step FROM device_events"),
            "0,0,200,50,250,gemm,kernel,1,0,7,71,gemm,2,1,3\n"
            "0,1,260,40,300,Memcpy HtoD,memcpy,1,0,7,72,-,3,1,3\n"
            "0,2,220,60,280,orphan,kernel,1,0,8,-,other,-,-,-");
}

TEST(QueryTables, HostEvents) {
  TestRun run = SmallRun();
  EXPECT_EQ(run.Ask("SELECT id, ts_ns, dur_ns, name, kind, pid, tid, parent_id, step, correlation, "
                    "external_id FROM host_events"),
            "0,0,1000,ProfilerStep#3,annotation,100,1,-,3,-,-\n"
            "1,100,300,aten::mm,op,100,1,0,3,-,5\n"
            "2,120,10,cudaLaunchKernel,runtime,100,1,1,3,71,-\n"
            "3,150,20,cudaMemcpyAsync,runtime,100,1,1,3,72,-");
}

TEST(QueryTables, PartsOfTheSpinesKeepTheirIds) {
  TestRun run = SmallRun();
  EXPECT_EQ(run.Ask("SELECT id, name, sequence FROM ops"), "1,aten::mm,9");
  EXPECT_EQ(run.Ask("SELECT id, op_id, device_events FROM launches"), "2,1,1\n3,1,1");
  EXPECT_EQ(run.Ask("SELECT id, name FROM kernels"), "0,gemm\n2,orphan");
  EXPECT_EQ(run.Ask("SELECT id, kind FROM copies"), "1,memcpy");
  EXPECT_EQ(run.Ask("SELECT id, launch_id, op_id, rule FROM links"),
            "0,2,1,launch nesting\n1,3,1,launch nesting\n2,-,-,none");
  EXPECT_EQ(run.Ask("SELECT number, ts_ns, end_ns, annotation_id FROM steps"), "3,0,1000,0");
}

TEST(QueryTables, LinksJoin) {
  TestRun run = SmallRun();
  EXPECT_EQ(run.Ask("SELECT o.name, l.name, k.name FROM kernels k "
                    "JOIN launches l ON l.rank = k.rank AND l.id = k.launch_id "
                    "JOIN ops o ON o.rank = k.rank AND o.id = k.op_id"),
            "aten::mm,cudaLaunchKernel,gemm");
}

TEST(QueryTables, ViewsOfRpd) {
  TestRun run = SmallRun();
  EXPECT_EQ(run.Ask("SELECT * FROM top"),
            "orphan,1,0,0.060000,40.000000\n"
            "gemm,1,0,0.050000,33.333333\n"
            "Memcpy HtoD,1,0,0.040000,26.666667");
  EXPECT_EQ(run.Ask("SELECT * FROM busy"), "0,150,100,1.500000,0");
  EXPECT_EQ(run.Ask("SELECT * FROM ktop"), "gemm,1,0,0,100.000000");
  EXPECT_EQ(run.Ask("SELECT id, start, \"end\", description, opType FROM op"),
            "0,200,250,gemm,KernelExecution\n1,260,300,,Memcpy HtoD\n"
            "2,220,280,orphan,KernelExecution");
  EXPECT_EQ(run.Ask("SELECT id, apiName, args FROM api"),
            "2,cudaLaunchKernel,\n3,cudaMemcpyAsync,\n0,UserMarker,ProfilerStep#3");
  EXPECT_EQ(run.Ask("SELECT id, duration, kernelName FROM rpd_kernel"), "0,50,gemm\n2,60,orphan");
  EXPECT_EQ(run.Ask("SELECT id, apiName FROM rpd_copy"), "3,cudaMemcpyAsync");
  EXPECT_EQ(run.Ask("SELECT id, duration, apiName FROM copyop"), "1,40,cudaMemcpyAsync");
}

// The peer loses all but one of them.
TEST(QueryTables, TopCountsIdenticalOperations) {
  testkit::TraceMaker maker;
  maker.Kernel("twin", 1, {10, 2000});
  maker.Kernel("twin", 2, {10, 2000});
  std::vector<Trace> traces;
  traces.push_back(maker.Finish());
  TestRun run(std::move(traces));
  EXPECT_EQ(run.Ask("SELECT * FROM top"), "twin,2,4,2.000000,100.000000");
}

TEST(QueryTables, NamesWithQuotesAndNul) {
  using namespace std::string_view_literals;
  std::vector<Trace> traces;
  traces.push_back(SmallTrace("it's \"a\"\0b"sv));
  TestRun run(std::move(traces));
  EXPECT_EQ(run.Ask("SELECT length(hex(name)) / 2 FROM kernels WHERE id = 0"), "10");
  EXPECT_EQ(run.Ask("SELECT name FROM kernels WHERE id = 0"), std::string("it's \"a\"\0b"sv));
  EXPECT_EQ(run.Ask("SELECT id FROM kernels WHERE name = 'it''s \"a\"' || char(0) || 'b'"), "0");
  EXPECT_EQ(run.Ask("SELECT id FROM kernels WHERE name = 'it''s \"a\"'"), "");
}

TEST(QueryTables, ResultTypes) {
  TestRun run = SmallRun();
  const auto type = [&](const std::string& sql) {
    return run.database().Run(sql, {}, {}).value()[0].table.columns[0].values.index();
  };
  EXPECT_EQ(type("VALUES (1), (NULL)"), 0U);
  EXPECT_EQ(type("VALUES (1), (0.5)"), 1U);
  EXPECT_EQ(type("VALUES (1), (0.5), ('a')"), 2U);
  EXPECT_EQ(type("SELECT ts_ns FROM kernels WHERE 0"), 0U);
  EXPECT_EQ(type("SELECT gbps FROM copies"), 1U);
  EXPECT_EQ(run.Ask("VALUES (1), (0.5), (NULL), ('a'), (x'00fF')"), "1\n0.5\n-\na\nX'00FF'");
}

TEST(QueryTables, ColumnsOfOneNameAreToldApart) {
  TestRun run = SmallRun();
  const auto answers = run.database().Run("SELECT 1 AS a, 2 AS a, 3 AS a", {}, {});
  EXPECT_NE(answers.value()[0].table.Find("a:2"), nullptr);
  EXPECT_NE(answers.value()[0].table.Find("a:3"), nullptr);
}

TEST(QueryTables, SeveralStatementsAreSeveralTables) {
  TestRun run = SmallRun();
  const auto answers = run.database().Run("SELECT 1; -- and\n SELECT  2 ;;", {}, {});
  ASSERT_EQ(answers.value().size(), 2U);
  EXPECT_EQ(answers.value()[1].table.name, "query_2");
}

// The result of a statement over a rank that reports and analyses know something of.
std::string AskRank(const RankData& rank, std::span<const Table> shapes, std::string_view sql) {
  Result<Database> database = Database::Open({&rank, 1}, shapes);
  const Result<std::vector<QueryResult>> answers = database.value().Run(sql, {}, {});
  return answers.ok() ? TestRun::TextOf(answers->back().table) : answers.error().Sentence();
}

TEST(QueryTables, CountersOfReportsFollowThoseOfTheTrace) {
  TestRun run = SmallRun();
  RankData rank = run.rank(0);
  const size_t recorded = rank.trace.metrics().size();
  KernelCounters counters;
  counters.values = {{{"dram", "byte", 5, {}}, {"big", "", 9007199254740992, 9007199254740993}},
                     {{"dram", "byte", 7, {}}},
                     {}};
  EXPECT_TRUE(counters.Add({0, "order", counters.values[0]}));
  EXPECT_TRUE(counters.Add({2, "range", counters.values[2]}));
  EXPECT_TRUE(counters.Add({1, "broadcast", counters.values[1]}));
  EXPECT_EQ(counters.size(), 3U);
  rank.counters = &counters;
  const std::string of_reports = " FROM counters WHERE kernel_id IS NOT NULL";
  EXPECT_EQ(
      AskRank(rank, {}, "SELECT metric, value, kernel_id, unit, source, range_id" + of_reports),
      "dram,5.000000,0,byte,order,-\nbig,9007199254740992.000000,0,-,order,-\n"
      "dram,7.000000,1,byte,broadcast,-");
  // As a column of numbers with a fraction; alone it is exact.
  EXPECT_EQ(AskRank(rank, {}, "SELECT value" + of_reports + " AND metric = 'big'"),
            "9007199254740993");
  EXPECT_EQ(AskRank(rank, {}, "SELECT sum(value)" + of_reports + " AND metric = 'dram'"),
            "12.000000");
  EXPECT_EQ(AskRank(rank, {}, "SELECT count(*), count(range_name), max(id) FROM counters"),
            std::to_string(recorded + 3) + "," + std::to_string(recorded + 3) + "," +
                std::to_string(recorded + 2));
}

TEST(QueryTables, TablesOfAnalysesAreTables) {
  TestRun run = SmallRun();
  Table shape{"speed", "How fast", {}};
  AddInt(shape, "rank", Unit::kNone, Role::kKey, "The rank.");
  AddString(shape, "name", Role::kKey, "The name.");
  AddFloat(shape, "share", Unit::kShare, Role::kDerived, "The share.");
  AddBool(shape, "is_fast", Role::kDerived, "Whether it is.");
  Table rows = shape;
  for (int i = 0; i < 2; ++i) {
    Push(rows.columns[0], int64_t{0});
    Push(rows.columns[1], i == 0 ? "a" : "b");
    PushOptional(rows.columns[2], i == 0 ? std::optional(0.5) : std::nullopt);
    Push(rows.columns[3], i == 0);
  }
  RankData rank = run.rank(0);
  EXPECT_EQ(AskRank(rank, {&shape, 1}, "SELECT count(*) FROM speed"), "0");
  rank.tables = {&rows, 1};
  EXPECT_EQ(AskRank(rank, {&shape, 1}, "SELECT * FROM speed ORDER BY name DESC"),
            "0,b,-,0\n0,a,0.500000,1");
  EXPECT_EQ(AskRank(rank, {&shape, 1}, "SELECT share FROM speed WHERE name = 'a'"), "0.500000");
  EXPECT_EQ(AskRank(rank, {&shape, 1}, "SELECT nam FROM speed"),
            "query: no such column: nam; did you mean 'name'?");
  const std::vector<Table> tables = SchemaTables({&shape, 1}).value();
  EXPECT_EQ(tables[0].rows(), Relations().size() + Views().size() + 1);
}

TEST(QueryTables, SchemaNamesEveryTableAndFunction) {
  const Result<std::vector<Table>> tables = SchemaTables();
  ASSERT_TRUE(tables.ok());
  EXPECT_EQ((*tables)[0].rows(), Relations().size() + Views().size());
  EXPECT_EQ((*tables)[2].rows(), 4U);
}

}  // namespace
}  // namespace borescope::internal::query
