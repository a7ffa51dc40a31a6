#include "borescope/rpd/rpd_schema.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>

namespace borescope::internal {

namespace {

class RpdStringsTest : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::remove(path_);
    Result<SqlDatabase> database = SqlDatabase::Create(path_);
    ASSERT_TRUE(database.ok());
    database_ = std::move(*database);
    ASSERT_TRUE(database_.Run("CREATE TABLE t (id integer PRIMARY KEY, string text)").ok());
    Result<RpdStrings> strings = RpdStrings::Into(database_, "t");
    ASSERT_TRUE(strings.ok());
    strings_ = std::move(*strings);
  }
  void TearDown() override {
    strings_ = {};
    database_ = {};
    std::filesystem::remove(path_);
  }

  std::string Rows() {
    Result<SqlStatement> rows = database_.Prepare("SELECT id, string FROM t ORDER BY id");
    std::string text;
    while (*rows->Step()) {
      text += std::string(rows->Text(0)) + "=" + std::string(rows->Text(1)) + " ";
    }
    return text;
  }

  std::string path_ = testing::TempDir() + "borescope_" +
                      testing::UnitTest::GetInstance()->current_test_info()->name() + ".rpd";
  SqlDatabase database_;
  RpdStrings strings_;
};

TEST_F(RpdStringsTest, EqualTextsShareAnIdUnlessTheyAreAdded) {
  StringPool pool;
  const StringId b = pool.Intern("b");
  strings_.Use(pool);
  EXPECT_EQ(strings_.Id(""), 1);
  EXPECT_EQ(strings_.Id("a"), 2);
  EXPECT_EQ(strings_.Add("once"), 3);
  EXPECT_EQ(strings_.Id(b), 4);
  EXPECT_EQ(strings_.Id("a"), 2);
  EXPECT_EQ(strings_.Add("once"), 5);
  EXPECT_EQ(strings_.Id("b"), 4);
  EXPECT_EQ(strings_.Id(StringId{0}), 1);
  ASSERT_TRUE(strings_.Flush().ok());
  EXPECT_EQ(Rows(), "1= 2=a 3=once 4=b 5=once ");
}

TEST_F(RpdStringsTest, AnotherPoolContinuesTheSameTable) {
  StringPool first;
  const StringId a = first.Intern("a");
  strings_.Use(first);
  EXPECT_EQ(strings_.Id(a), 2);
  StringPool second;
  const StringId b = second.Intern("b");
  const StringId also_a = second.Intern("a");
  strings_.Use(second);
  EXPECT_EQ(strings_.Id(b), 3);
  EXPECT_EQ(strings_.Id(also_a), 2);
}

TEST_F(RpdStringsTest, AFailureIsSaidAtTheEnd) {
  ASSERT_TRUE(database_.Run("INSERT INTO t VALUES (7, 'taken')").ok());
  for (int i = 0; i < 100; ++i) {
    strings_.Add("text");
  }
  EXPECT_FALSE(strings_.Flush().ok());
}

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
