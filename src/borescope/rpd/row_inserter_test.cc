#include "borescope/rpd/row_inserter.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace borescope::internal {
namespace {

SqlDatabase Database(const std::string& sql) {
  Result<SqlDatabase> database = SqlDatabase::InMemory("made.rpd");
  EXPECT_TRUE(database.ok());
  EXPECT_TRUE(database->Run(sql).ok());
  return std::move(database).value();
}

// "id name" of every row, in lines; "NULL" for none.
std::string RowsOf(const SqlDatabase& database) {
  SqlStatement rows = database.Prepare("SELECT id, name FROM t ORDER BY id").value();
  std::string text;
  while (*rows.Step()) {
    text += fmt::format("{} {}\n", rows.Integer(0), rows.IsNull(1) ? "NULL" : rows.Text(1));
  }
  return text;
}

// Around every number of rows that one statement may hold.
TEST(RowInserter, WritesEveryRowOnce) {
  for (int count = 0; count <= 50; ++count) {
    const SqlDatabase database =
        Database("CREATE TABLE t(id integer primary key autoincrement, name text)");
    RowInserter rows = RowInserter::Into(database, "t", 2).value();
    std::string expected;
    for (int i = 1; i <= count; ++i) {
      ASSERT_TRUE(rows.Add(int64_t{i}, fmt::format("row {}", i)).ok());
      expected += fmt::format("{} row {}\n", i, i);
    }
    ASSERT_TRUE(rows.Flush().ok());
    ASSERT_TRUE(rows.Flush().ok());  // nothing waits
    EXPECT_EQ(RowsOf(database), expected) << count;
  }
}

TEST(RowInserter, NullIsTheNextIdAndKeepsItsPlace) {
  const SqlDatabase database =
      Database("CREATE TABLE t(id integer primary key autoincrement, name text)");
  RowInserter rows = RowInserter::Into(database, "t", 2).value();
  ASSERT_TRUE(rows.Add(int64_t{7}, nullptr).ok());
  ASSERT_TRUE(rows.Add(nullptr, "a").ok());
  ASSERT_TRUE(rows.Add(nullptr, "").ok());
  ASSERT_TRUE(rows.Flush().ok());
  EXPECT_EQ(RowsOf(database), "7 NULL\n8 a\n9 \n");
}

TEST(RowInserter, AnErrorNamesTheDatabase) {
  const SqlDatabase database = Database("CREATE TABLE t(id integer primary key, name text)");
  RowInserter rows = RowInserter::Into(database, "t", 2).value();
  ASSERT_TRUE(rows.Add(int64_t{1}, "a").ok());
  ASSERT_TRUE(rows.Add(int64_t{1}, "b").ok());
  const Result<void> flushed = rows.Flush();
  ASSERT_FALSE(flushed.ok());
  EXPECT_NE(flushed.error().Sentence().find("made.rpd"), std::string::npos)
      << flushed.error().Sentence();
  EXPECT_FALSE(RowInserter::Into(database, "no such table", 2).ok());
}

}  // namespace
}  // namespace borescope::internal
