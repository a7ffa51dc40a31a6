#include "borescope/base/sqlite/sqlite_table.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>

namespace borescope::internal {
namespace {

using Random = std::mt19937_64;

class SqlTableTest : public testing::Test {
 protected:
  void SetUp() override {
    path_ = testing::TempDir() + "/table_" +
            testing::UnitTest::GetInstance()->current_test_info()->name() + ".db";
    std::filesystem::remove(path_);
  }
  void TearDown() override { std::filesystem::remove(path_); }

  void Make(const std::string& sql) {
    std::filesystem::remove(path_);
    SqlDatabase database = std::move(SqlDatabase::Create(path_)).value();
    const Result<void> made = database.Run(sql);
    ASSERT_TRUE(made.ok()) << made.error().Sentence();
  }

  std::string Bytes() const {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  std::string path_;
};

// All properties of a value, as text.
template <class Rows>
std::string ValueOf(const Rows& rows, int column) {
  const SqlType type = rows.type(column);
  int64_t integer = 0;
  const bool is_integer = rows.TryInteger(column, integer);
  std::string value = std::to_string(static_cast<int>(type)) + (is_integer ? " integer " : " ");
  value += std::to_string(integer) + " ";
  if (type == SqlType::kInteger || type == SqlType::kReal) {
    value += std::to_string(rows.Real(column)) + " ";
  }
  return value + std::string(rows.Text(column)) + "|" + std::string(rows.Blob(column)) + ";";
}

template <class Rows>
std::vector<std::string> AllRows(Rows& rows, int columns) {
  std::vector<std::string> all;
  while (true) {
    const Result<bool> stepped = rows.Step();
    if (!stepped.ok()) {
      all.push_back("error " + std::to_string(static_cast<int>(stepped.error().code)));
      return all;
    }
    if (!*stepped) {
      return all;
    }
    all.emplace_back();
    for (int column = 0; column < columns; ++column) {
      all.back() += ValueOf(rows, column);
    }
  }
}

// Reads `columns` of t both ways.
void ExpectSameRows(const std::string& path, const std::vector<std::string_view>& columns,
                    bool by_pages) {
  const Result<SqlDatabase> opened = SqlDatabase::OpenRead(path);
  ASSERT_TRUE(opened.ok()) << opened.error().Sentence();
  const SqlDatabase& database = *opened;
  SqlTable table = std::move(SqlTable::Open(database, "t", columns)).value();
  EXPECT_EQ(table.reads_pages(), by_pages);
  std::string sql = "SELECT ";
  for (const std::string_view column : columns) {
    sql += (sql.size() > 7 ? "," : "") + (column.empty() ? "NULL" : SqlName(column));
  }
  SqlStatement statement = database.Prepare(sql + " FROM t NOT INDEXED").value();
  const int count = static_cast<int>(columns.size());
  const std::vector<std::string> by_table = AllRows(table, count);
  const std::vector<std::string> by_statement = AllRows(statement, count);
  ASSERT_EQ(by_table.size(), by_statement.size());
  for (size_t row = 0; row < by_table.size(); ++row) {
    ASSERT_EQ(by_table[row], by_statement[row]) << "row " << row;
  }
}

int64_t RandomInteger(Random& random) {
  const auto bits = random() % 64;
  const auto value = static_cast<int64_t>(random() >> bits);
  return random() % 2 == 0 ? value : -value;
}

std::string RandomValue(Random& random) {
  switch (random() % 8) {
    case 0:
      return "NULL";
    case 1:
      return std::to_string(static_cast<int64_t>(random() % 3));
    case 2:
      return "'" + std::to_string(RandomInteger(random)) + "'";
    case 3:
      return std::to_string(static_cast<double>(RandomInteger(random)) / 1000) + "e-3";
    case 4:
      return std::to_string(static_cast<double>(random() % 1000)) + "e0";
    case 5:
      return "'" + std::string(random() % (random() % 5 == 0 ? 5000 : 60), 'x') + "'";
    case 6:
      return "zeroblob(" + std::to_string(random() % (random() % 9 == 0 ? 200'000 : 30)) + ")";
    default:
      return std::to_string(RandomInteger(random));
  }
}

// A table of all types of columns and values, with some deleted rows, and some rows older than
// later columns.
std::string RandomTable(Random& random) {
  const size_t page_bytes = size_t{512} << random() % 8;
  constexpr const char* kIdTypes[] = {"INTEGER PRIMARY KEY", "INTEGER PRIMARY KEY AUTOINCREMENT",
                                      "integer", "INTEGER PRIMARY KEY DESC", "bigint PRIMARY KEY"};
  std::string sql = "PRAGMA page_size=" + std::to_string(page_bytes) +
                    "; PRAGMA auto_vacuum=" + std::to_string(random() % 3) +
                    "; CREATE TABLE t(a TEXT, id " + kIdTypes[random() % std::size(kIdTypes)] +
                    ", b REAL, c BLOB, d INT, e, f DOUBLE PRECISION); BEGIN;";
  const auto rows = static_cast<int64_t>(random() % 400);
  for (int64_t row = 0; row < rows; ++row) {
    sql += row == rows / 2 ? "ALTER TABLE t ADD COLUMN g; ALTER TABLE t ADD COLUMN h REAL;" : "";
    const bool is_far = random() % 20 == 0;
    sql += "INSERT OR IGNORE INTO t(id,a,b,c,d,e,f) VALUES(" +
           std::to_string(is_far ? RandomInteger(random) : row);
    for (int column = 0; column < 6; ++column) {
      sql += "," + RandomValue(random);
    }
    sql += ");";
  }
  return sql + "DELETE FROM t WHERE id % 7 = 3; COMMIT;";
}

TEST_F(SqlTableTest, PagesHoldWhatSqliteReads) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    Make(RandomTable(random));
    ASSERT_NO_FATAL_FAILURE(
        ExpectSameRows(path_, {"a", "id", "", "b", "c", "d", "e", "f", "id"}, true));
    ASSERT_NO_FATAL_FAILURE(ExpectSameRows(path_, {"d"}, true));
    ASSERT_NO_FATAL_FAILURE(ExpectSameRows(path_, {""}, true));
  }
}

TEST_F(SqlTableTest, RowsOlderThanAColumnHaveItsDefault) {
  std::string sql = "CREATE TABLE t(a); INSERT INTO t VALUES(1),(2);";
  Make(sql + "ALTER TABLE t ADD COLUMN b REAL; INSERT INTO t VALUES(3,3);");
  ExpectSameRows(path_, {"a", "b"}, true);
  sql += "ALTER TABLE t ADD COLUMN c TEXT DEFAULT 'old'; INSERT INTO t VALUES(3,4);";
  Make(sql);
  ExpectSameRows(path_, {"a", "c"}, true);
  ExpectSameRows(path_, {"a"}, true);
}

TEST_F(SqlTableTest, WhatIsNotPlainIsLeftToSqlite) {
  const std::string rows = "INSERT INTO t(a,b) VALUES(5,'five'),(1,'one');";
  Make("CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT) WITHOUT ROWID;" + rows);
  ExpectSameRows(path_, {"b", "a"}, true);  // known only after its first page exists
  Make("CREATE TABLE t(g AS (a * 2), a INT, b TEXT);" + rows);
  ExpectSameRows(path_, {"b", "a"}, false);
  Make("PRAGMA encoding='UTF-16le'; CREATE TABLE t(a INT, b TEXT);" + rows);
  ExpectSameRows(path_, {"b", "a"}, false);
}

TEST_F(SqlTableTest, ReadsBytesInMemory) {
  Make("CREATE TABLE t(a INT, b TEXT); INSERT INTO t VALUES(5,'five'),(1,'one');");
  const std::string bytes = Bytes();
  const SqlDatabase database = std::move(SqlDatabase::OpenBytes(bytes, "stdin")).value();
  constexpr std::string_view kColumns[] = {"b"};
  SqlTable table = std::move(SqlTable::Open(database, "t", kColumns)).value();
  EXPECT_TRUE(table.reads_pages());
  ASSERT_TRUE(table.Step().value());
  EXPECT_EQ(table.Text(0), "five");
}

// For any bytes, reading ends.
TEST_F(SqlTableTest, DamagedBytesAreSafe) {
  Random random(7);
  std::string sql = "PRAGMA page_size=512; CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT, b INT);";
  for (int row = 0; row < 400; ++row) {
    sql += "INSERT INTO t(a,b) VALUES(" + RandomValue(random) + "," + RandomValue(random) + ");";
  }
  Make(sql);
  const std::string good = Bytes();
  constexpr std::string_view kColumns[] = {"id", "a", "b"};
  constexpr size_t kMostRows = 100'000;
  for (int round = 0; round < 300; ++round) {
    std::string bytes = good;
    for (uint64_t flip = random() % 8; flip < 8; ++flip) {
      // Page headers are the most sensitive places.
      const size_t near = random() % 3 == 0 ? random() % bytes.size() / 512 * 512 + random() % 16
                                            : random() % bytes.size();
      bytes[near] = static_cast<char>(random());
    }
    bytes.resize(random() % 5 == 0 ? random() % bytes.size() : bytes.size());
    const Result<SqlDatabase> database = SqlDatabase::OpenBytes(bytes, "damaged");
    if (!database.ok()) {
      continue;
    }
    Result<SqlTable> table = SqlTable::Open(*database, "t", kColumns);
    if (!table.ok()) {
      continue;
    }
    EXPECT_LT(AllRows(*table, 3).size(), kMostRows);
  }
}

TEST_F(SqlTableTest, PagesInACircleAreAnError) {
  std::string sql = "PRAGMA page_size=512; CREATE TABLE t(a TEXT);";
  for (int row = 0; row < 100; ++row) {
    sql += "INSERT INTO t VALUES('" + std::string(100, 'x') + "');";
  }
  Make(sql);
  std::string bytes = Bytes();
  // Every child of the root, which is page 2, becomes its first one.
  char* root = bytes.data() + 512;
  ASSERT_EQ(root[0], 5);
  const auto offset = [&](size_t cell) {
    return static_cast<size_t>(static_cast<unsigned char>(root[12 + 2 * cell])) << 8 |
           static_cast<unsigned char>(root[13 + 2 * cell]);
  };
  for (size_t cell = 1; cell < static_cast<unsigned char>(root[4]); ++cell) {
    std::copy_n(root + offset(0), 4, root + offset(cell));
  }
  const StoredTable stored{2, {{"a"}}};
  constexpr int kFirst[] = {0};
  const StoredBytes file = StoredBytes::OfMemory(std::string_view(bytes).substr(0, 512 * 8));
  PageRows rows(file, stored, kFirst);
  PageStep step = PageStep::kRow;
  for (int row = 0; row < 1000 && step == PageStep::kRow; ++row) {
    step = rows.Next();
  }
  EXPECT_EQ(step, PageStep::kLooped);
}

// As when a profiler starts again and writes to the same name.
TEST_F(SqlTableTest, AFileThatIsCutWhileItIsReadIsAnError) {
  std::string sql = "PRAGMA page_size=512; CREATE TABLE t(a TEXT);";
  for (int row = 0; row < 100; ++row) {
    sql += "INSERT INTO t VALUES('" + std::string(100, 'x') + "');";
  }
  Make(sql);
  const SqlDatabase database = std::move(SqlDatabase::OpenRead(path_)).value();
  constexpr std::string_view kColumns[] = {"a"};
  SqlTable table = std::move(SqlTable::Open(database, "t", kColumns)).value();
  ASSERT_TRUE(table.Step().value());
  std::filesystem::resize_file(path_, 0);
  EXPECT_EQ(table.Text(0), std::string(100, 'x'));
  Result<bool> stepped = true;
  for (int row = 0; row < 100 && stepped.ok(); ++row) {
    stepped = table.Step();
  }
  ASSERT_FALSE(stepped.ok());
  EXPECT_EQ(stepped.error().code, ErrorCode::kIo);
  EXPECT_NE(stepped.error().Sentence().find("changed while it was read"), std::string::npos);
}

}  // namespace
}  // namespace borescope::internal
