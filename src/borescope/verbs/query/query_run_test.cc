#include "borescope/verbs/query/query_run.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "borescope/base/row_limit.h"

namespace borescope::internal {
namespace {

namespace fs = std::filesystem;

class QuerySessionTest : public testing::Test {
 protected:
  QuerySessionTest() {
    std::string name = (fs::temp_directory_path() / "borescope_query_XXXXXX").string();
    folder_ = mkdtemp(name.data());
    for (const int rank : {1, 0, 2}) {
      std::ofstream(folder_ / ("r" + std::to_string(rank) + ".json"))
          << R"({"distributedInfo":{"rank":)" << rank
          << R"(},"traceEvents":[{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":1,"dur":)"
          << rank + 1 << R"(,"args":{"device":0,"stream":7}}]})";
    }
  }
  ~QuerySessionTest() override { fs::remove_all(folder_); }

  RunOptions Run(const std::string& ranks = "0..9") const {
    RunOptions options;
    options.files = ExpandInputs(std::vector<std::string>{folder_.string()}).value();
    options.ranks = NumberRanges::Parse(ranks).value();
    return options;
  }

  static std::vector<int64_t> Ints(const Document& document) {
    return std::get<IntValues>(document.tables.at(0).columns.at(0).values);
  }

  fs::path folder_;
};

TEST_F(QuerySessionTest, RanksComeInOrder) {
  Result<QuerySession> session = QuerySession::Open(Run());
  ASSERT_TRUE(session.ok());
  EXPECT_EQ(Ints(session->Run("SELECT rank FROM kernels", {}, {}).value()),
            (std::vector<int64_t>{0, 1, 2}));
  EXPECT_EQ(Ints(session->Run("SELECT dur_ns FROM kernels", {}, {}).value()),
            (std::vector<int64_t>{1000, 2000, 3000}));
  EXPECT_EQ(session->files().size(), 3U);
}

TEST_F(QuerySessionTest, OnlyTheRanksThatWereAskedFor) {
  Result<QuerySession> session = QuerySession::Open(Run("1..2"));
  ASSERT_TRUE(session.ok());
  EXPECT_EQ(Ints(session->Run("SELECT rank FROM ranks", {}, {}).value()),
            (std::vector<int64_t>{1, 2}));
  EXPECT_FALSE(QuerySession::Open(Run("7")).ok());
}

TEST_F(QuerySessionTest, ACutResultIsADiagnostic) {
  Result<QuerySession> session = QuerySession::Open(Run());
  ASSERT_TRUE(session.ok());
  const auto count = [&](size_t rows) {
    const Result<Document> document =
        session->Run("SELECT rank FROM kernels", {}, {std::nullopt, rows});
    return std::count_if(document->diagnostics.begin(), document->diagnostics.end(),
                         [](const DiagnosticRow& row) { return row.code == "row-limit"; });
  };
  EXPECT_EQ(count(2), 1);
  EXPECT_EQ(count(3), 0);
}

// Of 32 bits, which would take long to exceed.
TEST_F(QuerySessionTest, MoreRowsThanCanBeNumberedAreAnError) {
  Result<QuerySession> session = QuerySession::Open(Run());
  ASSERT_TRUE(session.ok());
  const RowLimitForTest limit(2);
  const auto error_of = [&](std::string_view sql) {
    const Result<Document> document = session->Run(sql, {}, {});
    return document.ok() ? "" : document.error().Sentence();
  };
  EXPECT_EQ(error_of("SELECT rank FROM kernels WHERE rank < 2"), "");
  EXPECT_EQ(error_of("SELECT 7 FROM kernels"),
            "more than 2 rows of a result, as many as can be numbered; record or select less time, "
            "or fewer processes");
  EXPECT_EQ(error_of("SELECT 'a' UNION SELECT 'b'"), "");
}

// Within a call of SQLite, through which nothing may be thrown.
TEST_F(QuerySessionTest, MoreRowsThanCanBeSortedAreAnError) {
  Result<QuerySession> session = QuerySession::Open(Run());
  ASSERT_TRUE(session.ok());
  const RowLimitForTest limit(0);
  const Result<Document> document =
      session->Run("SELECT name, count(*) FROM kernels GROUP BY name", {}, {});
  ASSERT_FALSE(document.ok());
  EXPECT_EQ(document.error().Sentence(),
            "query: more than 0 rows of a table, as many as can be numbered; record or select less "
            "time, or fewer processes");
}

TEST_F(QuerySessionTest, MoreRowsThanCanBeNumberedAreAnErrorOfLoading) {
  const RowLimitForTest limit(0);
  const Result<QuerySession> session = QuerySession::Open(Run());
  ASSERT_FALSE(session.ok());
  EXPECT_TRUE(session.error().Sentence().find("as many as can be numbered") != std::string::npos)
      << session.error().Sentence();
}

}  // namespace
}  // namespace borescope::internal
