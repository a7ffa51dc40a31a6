#include "borescope/base/sqlite/sqlite.h"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <numeric>

#include "borescope/base/sqlite/settled_database.h"

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
    ASSERT_TRUE(database.ok()) << database.error().Sentence();
    const Result<void> made = database->Run(sql);
    ASSERT_TRUE(made.ok()) << made.error().Sentence();
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
  EXPECT_TRUE(opened.error().Sentence().starts_with(path_ + ": SQLite: "))
      << opened.error().Sentence();
  EXPECT_EQ(SqlDatabase::OpenRead(folder_ + "/none").error().code, ErrorCode::kIo);
}

// Of such a row SQLite says that it has no memory.
TEST_F(SqliteTest, ARowOfAnImpossibleLengthIsDamage) {
  const std::string text(50, '0');
  Make("PRAGMA page_size=512; VACUUM; CREATE TABLE t(a TEXT); INSERT INTO t VALUES('first'),('" +
       text + "')");
  std::string bytes = Bytes();
  constexpr size_t kAskedFor = size_t{512} << 20U;  // to be sure that the row is at fault
  if (const std::unique_ptr<void, decltype(&sqlite3_free)> room(sqlite3_malloc64(kAskedFor),
                                                                sqlite3_free);
      room == nullptr) {
    GTEST_SKIP() << "so little memory may be taken here that the length of the row is no question";
  }
  constexpr size_t kHeader = 4;  // lengths of row and header, row id, type
  bytes.replace(bytes.find(text) - kHeader, 9, 9, '\xff');
  const SqlDatabase database = std::move(SqlDatabase::OpenBytes(bytes, "name")).value();
  SqlStatement rows = database.Prepare("SELECT a FROM t").value();
  ASSERT_TRUE(rows.Step().value());
  EXPECT_EQ(rows.Text(0), "first");
  const Result<bool> second = rows.Step();
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().code, ErrorCode::kCorrupt);
  EXPECT_EQ(second.error().cause, "SQLite: a row is damaged");
}

// Else it would be NULL, and a table that is asked for absent.
TEST_F(SqliteTest, AValueThatCannotBeBoundIsAnError) {
  Make(kSchema);
  const SqlDatabase database = std::move(SqlDatabase::OpenRead(path_)).value();
  SqlStatement rows = database.Prepare("SELECT ?1").value();
  rows.Bind(1, "first");
  rows.Bind(2, "of which there is none");
  EXPECT_FALSE(rows.Step().ok());
  rows.Bind(1, "first");
  EXPECT_TRUE(rows.Step().value());
  EXPECT_EQ(rows.Text(0), "first");
}

TEST_F(SqliteTest, ALogThatIsNoneChangesNothing) {
  Make(kSchema);
  std::ofstream(path_ + "-wal") << "rows";
  SqlDatabase file = std::move(SqlDatabase::OpenRead(path_)).value();
  EXPECT_TRUE(file.is_copy());
  ExpectRows(file);
}

std::string BigEndian(uint32_t number) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) {
    bytes += static_cast<char>(number >> shift & 0xff);
  }
  return bytes;
}

// A journal without pages, whose super-journal is `name`
// (https://www.sqlite.org/fileformat2.html#rollbackjournal).
std::string JournalThatNames(const std::string& name, uint32_t page_bytes) {
  constexpr std::string_view kMagic("\xd9\xd5\x05\xf9\x20\xa1\x63\xd7", 8);
  constexpr uint32_t kSector = 512;
  std::string journal(kMagic);
  for (const uint32_t number : {0U, 0U, 2U, kSector, page_bytes}) {
    journal += BigEndian(number);
  }
  journal.resize(kSector);
  const auto sum = std::accumulate(name.begin(), name.end(), uint32_t{0});
  journal += BigEndian(0x40000000 / page_bytes + 1) + name;
  journal += BigEndian(static_cast<uint32_t>(name.size())) + BigEndian(sum);
  return journal.append(kMagic);
}

TEST_F(SqliteTest, AJournalThatNamesAForeignFileDoesNotDeleteIt) {
  Make(kSchema);
  for (const std::string& victim : {folder_ + "/victim", folder_ + "/../victim"}) {
    std::ofstream(victim) << "precious";
    std::ofstream(path_ + "-journal", std::ios::binary) << JournalThatNames(victim, 4096);
    const Result<SqlDatabase> opened = SqlDatabase::OpenRead(path_);
    ASSERT_FALSE(opened.ok());
    EXPECT_EQ(opened.error().code, ErrorCode::kCorrupt);
    std::string content;
    std::getline(std::ifstream(victim) >> std::ws, content);
    EXPECT_EQ(content, "precious") << victim;
    std::filesystem::remove(victim);
  }
}

// Of databases alone, and under every name.
TEST_F(SqliteTest, RowsMayBeBesideANameOfTheFile) {
  const auto may_be = [](const std::string& path) { return MayHaveRowsBeside(path).value(); };
  Make(kSchema);
  const std::string hard = folder_ + "/hard.db";
  std::filesystem::create_hard_link(path_, hard);
  std::filesystem::create_symlink(hard, folder_ + "/link.db");
  EXPECT_FALSE(may_be(path_) || may_be(hard) || may_be(folder_ + "/absent.db"));
  std::ofstream(path_ + "-wal") << "rows";
  EXPECT_TRUE(may_be(path_) && may_be(hard) && may_be(folder_ + "/link.db"));
  std::filesystem::remove(path_ + "-wal");
  std::ofstream(hard + "-journal") << std::string(512, '\0');  // as SQLite leaves one that it used
  EXPECT_FALSE(may_be(path_) || may_be(hard));
  std::ofstream(hard + "-journal") << "pages";
  EXPECT_TRUE(may_be(path_) && may_be(hard));
  std::ofstream(folder_ + "/text.json") << "{\"traceEvents\":[]}";
  std::ofstream(folder_ + "/text.json-wal") << "rows";
  EXPECT_FALSE(may_be(folder_ + "/text.json"));
}

TEST_F(SqliteTest, RowsMayBeBesideANameElsewhereIfALogIsUsed) {
  Make(kSchema);
  const std::string folder = folder_ + "/elsewhere";
  std::filesystem::create_directory(folder);
  std::filesystem::create_hard_link(path_, folder + "/hard.db");
  EXPECT_FALSE(MayHaveRowsBeside(path_).value());
  std::fstream(path_, std::ios::binary | std::ios::in | std::ios::out).seekp(18) << "\2\2";
  EXPECT_TRUE(MayHaveRowsBeside(path_).value());
}

TEST_F(SqliteTest, NamesAreQuoted) { EXPECT_EQ(SqlName("a\"b"), "\"a\"\"b\""); }

}  // namespace
}  // namespace borescope::internal
