#include "borescope/base/sqlite/sqlite.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace borescope::internal {
namespace {

class SqliteTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "/sqlite " +
              testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::create_directories(folder_);
    path_ = folder_ + "/a%b?.db";
    std::filesystem::remove(path_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  void Make(const std::string& sql) {
    Result<SqlDatabase> database = SqlDatabase::Create(path_);
    ASSERT_TRUE(database.ok()) << database.error().message;
    const Result<void> made = database->Run(sql);
    ASSERT_TRUE(made.ok()) << made.error().message;
  }

  std::string Bytes() const {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  std::string folder_;
  std::string path_;
};

constexpr const char* kSchema =
    "CREATE TABLE t(a INT, b TEXT); INSERT INTO t VALUES(1,'x'),(NULL,''),('','y');"
    "CREATE VIEW v AS SELECT * FROM t; CREATE VIRTUAL TABLE w USING rtree(id, low, high)";

void ExpectRows(SqlDatabase& database) {
  SqlStatement rows = database.Prepare("SELECT a, b FROM t ORDER BY rowid").value();
  ASSERT_TRUE(rows.Step().value());
  EXPECT_EQ(rows.Integer(0), 1);
  EXPECT_EQ(rows.Text(1), "x");
  ASSERT_TRUE(rows.Step().value());
  EXPECT_TRUE(rows.IsNull(0));
  ASSERT_TRUE(rows.Step().value());
  EXPECT_EQ(rows.type(0), SqlType::kText);
  EXPECT_FALSE(rows.Step().value());
}

TEST_F(SqliteTest, ReadsAFileAndItsBytes) {
  Make(kSchema);
  SqlDatabase file = std::move(SqlDatabase::OpenRead(path_)).value();
  ExpectRows(file);
  EXPECT_EQ(file.Tables().value(),
            (std::vector<std::string>{"t", "w_node", "w_parent", "w_rowid"}));
  EXPECT_EQ(file.Columns("t").value(), (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(file.Columns("nothing").value().empty());
  const std::string bytes = Bytes();
  SqlDatabase memory = std::move(SqlDatabase::OpenBytes(bytes, "stdin")).value();
  ExpectRows(memory);
}

TEST_F(SqliteTest, ReadingWritesNothing) {
  Make(kSchema);
  const std::string before = Bytes();
  SqlDatabase file = std::move(SqlDatabase::OpenRead(path_)).value();
  EXPECT_FALSE(file.Run("INSERT INTO t VALUES(2,'z')").ok());
  EXPECT_FALSE(file.Run("ATTACH ':memory:' AS other").ok());
  EXPECT_EQ(Bytes(), before);
}

TEST_F(SqliteTest, DamageIsAnErrorThatNamesTheFile) {
  std::ofstream(path_) << "SQLite format 3, or not";
  const Result<SqlDatabase> opened = SqlDatabase::OpenRead(path_);
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(opened.error().code, ErrorCode::kCorrupt);
  EXPECT_TRUE(opened.error().message.starts_with(path_ + ": SQLite: ")) << opened.error().message;
  EXPECT_EQ(SqlDatabase::OpenRead(folder_ + "/none").error().code, ErrorCode::kIo);
}

TEST_F(SqliteTest, ALogThatIsNoneChangesNothing) {
  Make(kSchema);
  std::ofstream(path_ + "-wal") << "rows";
  SqlDatabase file = std::move(SqlDatabase::OpenRead(path_)).value();
  EXPECT_TRUE(file.is_copy());
  ExpectRows(file);
}

TEST_F(SqliteTest, NamesAreQuoted) { EXPECT_EQ(SqlName("a\"b"), "\"a\"\"b\""); }

}  // namespace
}  // namespace borescope::internal
