#include "borescope/query.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>

#include "borescope/base/row_limit.h"
#include "borescope/engine/access.h"
#include "borescope/run.h"

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

  Result<QuerySession> Open(const std::string& ranks = "0..9") const {
    BS_ASSIGN(const borescope::Run run, borescope::Run::Open({folder_.string()}));
    return QuerySession::Open(run, {.rank = ranks, .rows = rows_});
  }

  static std::vector<int64_t> Ints(const Answer& answer) {
    return std::get<IntValues>(AnswerAccess::Inside(answer).tables.at(0).columns.at(0).values);
  }

  std::optional<size_t> rows_;
  fs::path folder_;
};

TEST_F(QuerySessionTest, RanksComeInOrder) {
  Result<QuerySession> session = Open();
  ASSERT_TRUE(session.ok());
  EXPECT_EQ(Ints(session->Ask("SELECT rank FROM kernels").value()),
            (std::vector<int64_t>{0, 1, 2}));
  EXPECT_EQ(Ints(session->Ask("SELECT dur_ns FROM kernels").value()),
            (std::vector<int64_t>{1000, 2000, 3000}));
  EXPECT_EQ(session->files().size(), 3U);
}

TEST_F(QuerySessionTest, OnlyTheRanksThatWereAskedFor) {
  Result<QuerySession> session = Open("1..2");
  ASSERT_TRUE(session.ok());
  EXPECT_EQ(Ints(session->Ask("SELECT rank FROM ranks").value()), (std::vector<int64_t>{1, 2}));
  EXPECT_FALSE(Open("7").ok());
}

TEST_F(QuerySessionTest, ACutResultIsADiagnostic) {
  const auto count = [&](size_t rows) {
    rows_ = rows;
    const Result<Answer> answer = Open()->Ask("SELECT rank FROM kernels");
    const std::vector<Diagnostic>& found = answer->diagnostics();
    return std::count_if(found.begin(), found.end(),
                         [](const Diagnostic& row) { return row.code == "row-limit"; });
  };
  EXPECT_EQ(count(2), 1);
  EXPECT_EQ(count(3), 0);
}

// Of 32 bits, which would take long to exceed.
TEST_F(QuerySessionTest, MoreRowsThanCanBeNumberedAreAnError) {
  Result<QuerySession> session = Open();
  ASSERT_TRUE(session.ok());
  const RowLimitForTest limit(2);
  const auto error_of = [&](std::string_view sql) {
    const Result<Answer> answer = session->Ask(sql);
    return answer.ok() ? "" : answer.error().Sentence();
  };
  EXPECT_EQ(error_of("SELECT rank FROM kernels WHERE rank < 2"), "");
  EXPECT_EQ(error_of("SELECT 7 FROM kernels"),
            "more than 2 rows of a result, as many as can be numbered; record or select less time, "
            "or fewer processes");
  EXPECT_EQ(error_of("SELECT 'a' UNION SELECT 'b'"), "");
}

// Within a call of SQLite, through which nothing may be thrown.
TEST_F(QuerySessionTest, MoreRowsThanCanBeSortedAreAnError) {
  Result<QuerySession> session = Open();
  ASSERT_TRUE(session.ok());
  const RowLimitForTest limit(0);
  const Result<Answer> answer = session->Ask("SELECT name, count(*) FROM kernels GROUP BY name");
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().Sentence(),
            "query: more than 0 rows of a table, as many as can be numbered; record or select less "
            "time, or fewer processes");
}

TEST_F(QuerySessionTest, MoreRowsThanCanBeNumberedAreAnErrorOfLoading) {
  const RowLimitForTest limit(0);
  const Result<QuerySession> session = Open();
  ASSERT_FALSE(session.ok());
  EXPECT_TRUE(session.error().Sentence().find("as many as can be numbered") != std::string::npos)
      << session.error().Sentence();
}

}  // namespace
}  // namespace borescope::internal
