// Databases damaged by what SQL can do to them: tables and columns that are gone, views in place of
// tables, values of any type anywhere. Each ends in a sound trace or in one error, and soon.

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "borescope/base/sqlite/sqlite.h"
#include "borescope/index/trace_index.h"
#include "borescope/ingest/database.h"
#include "tests/property/invariants.h"

namespace borescope::internal {
namespace {

using testkit::WhatIsWrongWith;

// Of every type, and at the limits of each.
constexpr std::string_view kValues[] = {"NULL",
                                        "''",
                                        "'text'",
                                        "'7'",
                                        "X'00ff'",
                                        "-1",
                                        "0",
                                        "4294967296",
                                        "9223372036854775807",
                                        "-9223372036854775808",
                                        "1.5",
                                        "-9e999"};

class DatabaseDamageTest : public testing::TestWithParam<const char*> {
 protected:
  // A copy of a seed in memory, without its keys and types, which would refuse values.
  void SetUp() override {
    const std::string path = std::string(BORESCOPE_FUZZ_CORPUS) + "/database/" + GetParam();
    ASSERT_TRUE(std::filesystem::exists(path));
    Run("ATTACH '" + path + "' AS seed");
    for (const std::string& table :
         Texts("SELECT name FROM seed.sqlite_master WHERE type='table' AND name NOT LIKE "
               "'sqlite_%' ORDER BY name")) {
      tables_.push_back(table);
      Run("CREATE TABLE " + SqlName(table) + " AS SELECT * FROM seed." + SqlName(table));
    }
    Run("DETACH seed");
    ASSERT_GT(tables_.size(), 4U);
  }

  void Run(const std::string& sql) {
    const Result<void> done = database_.Run(sql);
    ASSERT_TRUE(done.ok()) << sql << ": " << done.error().Sentence();
  }

  std::vector<std::string> Texts(const std::string& sql) {
    std::vector<std::string> texts;
    SqlStatement rows = std::move(database_.Prepare(sql)).value();
    while (std::move(rows.Step()).value()) {
      texts.emplace_back(rows.Text(0));
    }
    return texts;
  }

  std::vector<std::string> ColumnsOf(const std::string& table) {
    return std::move(database_.Columns(table)).value();
  }

  void ExpectSoundOrOneError(const std::string& damage) {
    const Result<Trace> trace = LoadDatabase(database_, 4096, {});
    if (!trace.ok()) {
      EXPECT_EQ(trace.error().Sentence().find('\n'), std::string::npos) << damage;
      EXPECT_TRUE(trace.error().Sentence().starts_with("seed")) << damage;
      return;
    }
    EXPECT_EQ(WhatIsWrongWith(*trace), "") << damage;
    BuildIndex(*trace, 1);
  }

  // Loads what `sql` makes of the database, which then is as before.
  void Try(const std::string& sql) {
    Run("BEGIN");
    Run(sql);
    ExpectSoundOrOneError(sql);
    Run("ROLLBACK");
  }

  SqlDatabase database_ = std::move(SqlDatabase::InMemory("seed")).value();
  std::vector<std::string> tables_;
};

TEST_P(DatabaseDamageTest, Undamaged) {
  const Result<Trace> trace = LoadDatabase(database_, 4096, {});
  ASSERT_TRUE(trace.ok()) << trace.error().Sentence();
  EXPECT_EQ(WhatIsWrongWith(*trace), "");
  EXPECT_GT(trace->device().size(), 3U);
}

TEST_P(DatabaseDamageTest, TablesThatAreGoneOrEmptyOrViewsWithoutEnd) {
  for (const std::string& table : tables_) {
    Try("DROP TABLE " + SqlName(table));
    Try("DELETE FROM " + SqlName(table));
    Try("INSERT INTO " + SqlName(table) + " SELECT * FROM " + SqlName(table));
    Try("DROP TABLE " + SqlName(table) + "; CREATE VIEW " + SqlName(table) +
        " AS WITH RECURSIVE n(start) AS (SELECT 1 UNION ALL SELECT start+1 FROM n) "
        "SELECT start, start AS id FROM n");
  }
}

TEST_P(DatabaseDamageTest, ColumnsThatAreGone) {
  for (const std::string& table : tables_) {
    for (const std::string& column : ColumnsOf(table)) {
      Try("ALTER TABLE " + SqlName(table) + " RENAME COLUMN " + SqlName(column) + " TO gone");
    }
  }
}

TEST_P(DatabaseDamageTest, ValuesOfAnyTypeAnywhere) {
  for (const std::string& table : tables_) {
    for (const std::string& column : ColumnsOf(table)) {
      for (const std::string_view value : kValues) {
        Try("UPDATE " + SqlName(table) + " SET " + SqlName(column) + "=" + std::string(value));
      }
      Try("UPDATE " + SqlName(table) + " SET " + SqlName(column) + "=9223372036854775807-rowid");
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, DatabaseDamageTest,
                         testing::Values("nsys.sqlite", "nvprof.nvvp", "trace.rpd", "rocpd.db"),
                         [](const testing::TestParamInfo<const char*>& seed) {
                           const std::string name = seed.param;
                           return name.substr(0, name.find('.'));
                         });

}  // namespace
}  // namespace borescope::internal
