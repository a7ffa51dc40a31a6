// What is refused, what is stopped, and the messages.
#include "borescope/query/guard.h"

#include <filesystem>
#include <new>

#include "borescope/base/sqlite/sqlite.h"
#include "borescope/query/query_testing.h"

namespace borescope::internal::query {
namespace {

TEST(QueryGuard, OnlyReads) {
  TestRun run = SmallRun();
  const std::string path =
      (std::filesystem::temp_directory_path() / "borescope_query_guard.db").string();
  for (const std::string& sql :
       std::vector<std::string>{"INSERT INTO kernels VALUES (1)",
                                "UPDATE kernels SET name = 'x'",
                                "DELETE FROM device_events",
                                "CREATE TABLE t (a)",
                                "CREATE TEMP TABLE t AS SELECT 1",
                                "CREATE VIEW v AS SELECT 1",
                                "CREATE VIRTUAL TABLE v USING kernels",
                                "DROP VIEW top",
                                "ALTER TABLE kernels RENAME TO k",
                                "ATTACH '" + path + "' AS x",
                                "DETACH main",
                                "VACUUM",
                                "VACUUM INTO '" + path + "'",
                                "PRAGMA writable_schema = 1",
                                "PRAGMA table_info(kernels)",
                                "BEGIN",
                                "COMMIT",
                                "SAVEPOINT s",
                                "ANALYZE",
                                "REINDEX",
                                "WITH t AS (SELECT 1) INSERT INTO kernels SELECT * FROM t",
                                "SELECT load_extension('x')",
                                "SELECT fts3_tokenizer('simple')",
                                "SELECT FTS3_Tokenizer('simple')",
                                "SELECT sqlite_compileoption_get(1)",
                                "SELECT * FROM pragma_table_info('kernels')",
                                "INSERT INTO sqlite_master VALUES (1, 2, 3, 4, 5)",
                                "  drop table kernels"}) {
    EXPECT_TRUE(run.Ask(sql).starts_with("query only reads: ")) << sql << ": " << run.Ask(sql);
  }
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_EQ(run.Ask("ATTACH 'x' AS y"),
            "query only reads: ATTACH is refused; write SELECT, WITH or VALUES");
  EXPECT_EQ(
      run.Ask("SELECT fts3_tokenizer('simple')"),
      "query only reads: the function fts3_tokenizer is refused; write SELECT, WITH or VALUES");
  EXPECT_EQ(run.Ask("SELECT count(*) FROM kernels"), "2");
}

// Without them a statement that asks for a table of JSON would be refused as a change.
TEST(QueryGuard, WithoutMemoryForItsTablesThereIsNone) {
  Result<SqlDatabase> database = SqlDatabase::InMemory("query", nullptr);
  ASSERT_TRUE(database.ok());
  Guard guard;
  {
    const HeapLimit none(1);
    EXPECT_THROW(guard.Watch(*database).ok(), std::bad_alloc);
  }
  EXPECT_TRUE(guard.Watch(*database).ok());
}

// Else the same question has another answer each time, and says where the program is in memory.
TEST(QueryGuard, ExplainGivesNoAddresses) {
  TestRun run = SmallRun();
  const std::string explained = run.Ask("EXPLAIN SELECT k.name FROM kernels k JOIN host_events h");
  EXPECT_NE(explained.find("VOpen"), std::string::npos) << explained;
  EXPECT_NE(explained.find(",vtab,"), std::string::npos) << explained;
  EXPECT_EQ(explained.find("vtab:"), std::string::npos) << explained;
  EXPECT_EQ(SmallRun().Ask("EXPLAIN SELECT k.name FROM kernels k JOIN host_events h"), explained);
  EXPECT_EQ(run.Ask("SELECT 'vtab:1'"), "vtab:1");
}

TEST(QueryGuard, ValuesByTheirPlace) {
  TestRun run = SmallRun();
  const auto ask = [&](std::string_view sql, const Parameters& values) {
    const Result<std::vector<QueryResult>> answers = run.database().Run(sql, values, {});
    return answers.ok() ? TestRun::TextOf(answers->back().table) : answers.error().Sentence();
  };
  const Parameters values = {{"", int64_t{5}}, {"", std::string("x")}};
  EXPECT_EQ(ask("SELECT ?2, ?1, ?2", values), "x,5,x");
  EXPECT_EQ(ask("SELECT ?1, ?", values), "5,x");
  EXPECT_EQ(ask("SELECT ?1; SELECT ?1, ?2", values), "5,x");
  EXPECT_EQ(ask("SELECT ?3, ?1, ?2", values), "query: there is no value for the parameter ?3");
  EXPECT_EQ(ask("SELECT ?1", values), "query: there are more values than ? in the statement");
  EXPECT_EQ(ask("SELECT ?1", {{"1", int64_t{7}}}), "7");
}

TEST(QueryGuard, FunctionsOfValuesAreThere) {
  TestRun run = SmallRun();
  EXPECT_EQ(run.Ask("SELECT sum(value) FROM json_each('[1, 2, 4]')"), "7");
  EXPECT_EQ(run.Ask("SELECT count(*) FROM json_tree('{\"a\": [1, 2]}')"), "4");
  EXPECT_EQ(run.Ask("SELECT LOWER('A') || round(1.4) || coalesce(NULL, 'x')"), "a1.0x");
}

TEST(QueryGuard, ErrorsNameTheNearest) {
  TestRun run = SmallRun();
  EXPECT_EQ(run.Ask("SELECT * FROM kernls"),
            "query: no such table: kernls; did you mean 'kernels'?");
  EXPECT_EQ(run.Ask("SELECT k.dur FROM kernels k"),
            "query: no such column: k.dur; did you mean 'dur_ns'?");
  EXPECT_EQ(run.Ask("SELECT uion_ns(1, 2)"),
            "query: no such function: uion_ns; did you mean 'union_ns'?");
  EXPECT_EQ(run.Ask("SELECT * FROM wholly_unknown"),
            "query: no such table: wholly_unknown; borescope query --schema shows what there is");
  EXPECT_EQ(run.Ask("SELEC 1"), "query: near \"SELEC\": syntax error");
  EXPECT_EQ(run.Ask("SELECT"), "query: incomplete input");
  EXPECT_EQ(run.Ask("SELECT ?"),
            "query: there are no values for parameters (?, :name); write them out");
  EXPECT_EQ(run.Ask(std::string("SELECT 1\0", 9)), "query: the statement holds a NUL character");
}

TEST(QueryGuard, RowsAreLimitedAndItIsSaid) {
  TestRun run = SmallRun();
  const auto cut = [&](size_t rows) {
    return run.database().Run("SELECT id FROM device_events", {}, {std::nullopt, rows}).value()[0];
  };
  EXPECT_EQ(cut(2).table.rows(), 2U);
  EXPECT_TRUE(cut(2).is_cut);
  EXPECT_TRUE(cut(2).table.title.ends_with(" (first 2 rows)"));
  EXPECT_FALSE(cut(3).is_cut);
  EXPECT_EQ(cut(3).table.rows(), 3U);
  // Unless only the first rows were requested, they are no answer.
  const auto whole = [&](size_t rows) {
    Limits limits{std::nullopt, rows};
    limits.is_cut_at_rows = false;
    return run.database().Run("SELECT id FROM device_events", {}, limits);
  };
  EXPECT_EQ(
      whole(2).error().Sentence(),
      "query: the result has more than 2 rows; count and sum in the statement, add LIMIT to it, "
      "or name how many rows to give: --row-limit N, in Python rows=N");
  EXPECT_EQ(whole(3).value()[0].table.rows(), 3U);
}

TEST(QueryGuard, BombsAreStoppedByTime) {
  TestRun run = SmallRun();
  const Limits soon{0.05, kDefaultRowLimit};
  constexpr std::string_view kStopped =
      "query: stopped after `time_limit` 0.05 s; narrow the statement or raise it";
  constexpr std::string_view kEndless =
      "WITH RECURSIVE t(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM t) ";
  EXPECT_EQ(run.Ask(std::string(kEndless) + "SELECT count(*) FROM t", soon), kStopped);
  EXPECT_EQ(run.Ask(std::string(kEndless) + "SELECT union_ns(i, i + 1) FROM t", soon), kStopped);
  EXPECT_EQ(run.Ask(std::string(kEndless) + "SELECT count(*) FROM t, t u, t v", soon), kStopped);
  EXPECT_EQ(run.Ask("SELECT 1", soon), "1") << "the next statement has its own time";
}

// A scan that rejects every row takes no step of SQLite's own.
TEST(QueryGuard, ScansAreStoppedByTime) {
  testkit::TraceMaker maker;
  for (int i = 0; i < 30000; ++i) {
    maker.Kernel("k", 1, {i, 1});
  }
  std::vector<Trace> traces;
  traces.push_back(maker.Finish());
  TestRun run(std::move(traces));
  EXPECT_TRUE(
      run.Ask("SELECT count(*) FROM kernels a, kernels b, kernels c WHERE b.dur_ns > a.ts_ns "
              "+ 100000 AND c.dur_ns > b.dur_ns",
              {0.05, kDefaultRowLimit})
          .starts_with("query: stopped after"));
}

}  // namespace
}  // namespace borescope::internal::query
