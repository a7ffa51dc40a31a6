// The functions against slow twins.
#include "borescope/query/functions.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "borescope/query/query_testing.h"

namespace borescope::internal::query {

namespace {

struct Pair {
  int64_t begin;
  int64_t end;
};

std::vector<Pair> RandomPairs(std::mt19937& random) {
  std::vector<Pair> pairs(1 + random() % 12);
  for (Pair& pair : pairs) {
    pair.begin = static_cast<int64_t>(random() % 40) - 20;
    pair.end = pair.begin + static_cast<int64_t>(random() % 12) - 2;
  }
  return pairs;
}

std::string ValuesOf(const std::vector<Pair>& pairs) {
  std::string text;
  for (const Pair& pair : pairs) {
    text += fmt::format("{}({}, {})", text.empty() ? "" : ", ", pair.begin, pair.end);
  }
  return "(VALUES " + text + ")";
}

// Every covered nanosecond.
std::set<int64_t> Covered(const std::vector<Pair>& pairs) {
  std::set<int64_t> covered;
  for (const Pair& pair : pairs) {
    for (int64_t at = pair.begin; at < pair.end; ++at) {
      covered.insert(at);
    }
  }
  return covered;
}

// The time from the first begin to the last end, including pairs without length.
int64_t SpanOf(const std::vector<Pair>& pairs) {
  int64_t first = std::numeric_limits<int64_t>::max();
  int64_t last = std::numeric_limits<int64_t>::min();
  for (const Pair& pair : pairs) {
    if (pair.begin <= pair.end) {
      first = std::min(first, pair.begin);
      last = std::max(last, pair.end);
    }
  }
  return first <= last ? last - first : 0;
}

TEST(QueryFunctions, UnionAndGaps) {
  TestRun run({});
  std::mt19937 random(3);
  for (int round = 0; round < 200; ++round) {
    const std::vector<Pair> pairs = RandomPairs(random);
    const std::set<int64_t> covered = Covered(pairs);
    const auto length = static_cast<int64_t>(covered.size());
    EXPECT_EQ(run.Ask("SELECT union_ns(column1, column2), gaps_ns(column1, column2) FROM " +
                      ValuesOf(pairs)),
              fmt::format("{},{}", length, SpanOf(pairs) - length));
  }
}

// As in `gaps`: work without length ends a gap, also where it is the first or the last.
TEST(QueryFunctions, GapsReachToWorkWithoutLength) {
  TestRun run({});
  EXPECT_EQ(run.Ask("SELECT gaps_ns(column1, column2) FROM (VALUES (0, 0), (10, 14), (20, 20))"),
            "16");
}

TEST(QueryFunctions, IntervalsThatAreNone) {
  TestRun run({});
  EXPECT_EQ(run.Ask("SELECT union_ns(1, 2), gaps_ns(1, 2) WHERE 0"), "0,0");
  EXPECT_EQ(run.Ask("SELECT union_ns(column1, column2) FROM (VALUES (NULL, 5), (3, 4), (6, 2))"),
            "1");
  EXPECT_EQ(run.Ask("SELECT union_ns('a', 2)"),
            "query: an interval needs two numbers, begin and end");
  EXPECT_EQ(run.Ask("SELECT union_ns(-9223372036854775808, 9223372036854775807)"),
            "query: integer overflow");
  EXPECT_EQ(run.Ask("SELECT gaps_ns(a, a + 1) FROM (SELECT -9223372036854775807 AS a UNION ALL "
                    "SELECT 9223372036854775806)"),
            "query: integer overflow");
}

// More intervals than are kept before they are joined.
TEST(QueryFunctions, UnionOfMany) {
  TestRun run({});
  EXPECT_EQ(run.Ask("WITH RECURSIVE t(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM t WHERE i < "
                    "1200000) SELECT union_ns(i, i + 2), gaps_ns(3 * i, 3 * i + 1) FROM t"),
            "1200002,2400000");
}

TEST(QueryFunctions, Overlap) {
  TestRun run({});
  std::mt19937 random(5);
  for (int round = 0; round < 200; ++round) {
    const std::vector<Pair> a = RandomPairs(random);
    const std::vector<Pair> b = RandomPairs(random);
    const std::set<int64_t> in_a = Covered({a[0]});
    const std::set<int64_t> in_b = Covered({b[0]});
    const auto both =
        std::count_if(in_a.begin(), in_a.end(), [&](int64_t at) { return in_b.contains(at); });
    EXPECT_EQ(run.Ask(fmt::format("SELECT overlap_ns({}, {}, {}, {})", a[0].begin, a[0].end,
                                  b[0].begin, b[0].end)),
              std::to_string(both));
  }
  EXPECT_EQ(run.Ask("SELECT overlap_ns(1, 2, NULL, 4)"), "-");
}

TEST(QueryFunctions, Percentile) {
  TestRun run({});
  const std::string rows = " FROM (VALUES (40), (10), (NULL), (30), (20))";
  EXPECT_EQ(run.Ask("SELECT percentile(column1, 0), percentile(column1, 100)" + rows),
            "10.000000,40.000000");
  EXPECT_EQ(run.Ask("SELECT percentile(column1, 50), percentile(column1, 75)" + rows),
            "25.000000,32.500000");
  EXPECT_EQ(run.Ask("SELECT percentile(1, 50) WHERE 0"), "-");
  EXPECT_EQ(run.Ask("SELECT percentile(1, 101)"),
            "query: the second argument of percentile is from 0 to 100");
  EXPECT_EQ(run.Ask("SELECT percentile(1, NULL)"), "query: percentile needs two numbers");
}

// The answer of a statement with texts for ?1, ?2, ?3, as SQL writes it, or its error.
std::string Ask(sqlite3* database, const char* sql, const std::vector<std::string>& texts) {
  sqlite3_stmt* statement = nullptr;
  EXPECT_EQ(sqlite3_prepare_v2(database, sql, -1, &statement, nullptr), SQLITE_OK) << sql;
  for (size_t i = 0; i < texts.size(); ++i) {
    sqlite3_bind_text64(statement, static_cast<int>(i) + 1, texts[i].data(), texts[i].size(),
                        SQLITE_STATIC, SQLITE_UTF8);
  }
  std::string answer;
  if (sqlite3_step(statement) == SQLITE_ROW) {
    const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement, 0));
    answer = text == nullptr ? "NULL" : text;
  } else {
    answer = sqlite3_errmsg(database);
  }
  sqlite3_finalize(statement);
  return answer;
}

// Compares SQLite with its own functions and with ours.
class TextFunctionsTest : public ::testing::Test {
 protected:
  TextFunctionsTest() { EXPECT_TRUE(RegisterTextFunctions(ours_, deadline_).ok()); }

  void ExpectEqual(const char* sql, const std::vector<std::string>& texts) {
    EXPECT_EQ(Ask(ours_.handle(), sql, texts), Ask(theirs_.handle(), sql, texts))
        << sql << ": " << ::testing::PrintToString(texts);
  }

  // A few characters, so that much of it matches.
  std::string RandomText(std::initializer_list<const char*> alphabet, int longest) {
    std::string text;
    const int size = std::uniform_int_distribution(0, longest)(random_);
    for (int i = 0; i < size; ++i) {
      text += std::data(alphabet)[random_() % alphabet.size()];
    }
    return text;
  }

  Deadline deadline_;
  static SqlDatabase Empty() {
    Result<SqlDatabase> database = SqlDatabase::InMemory("empty");
    return std::move(*database);
  }

  SqlDatabase ours_ = Empty();
  SqlDatabase theirs_ = Empty();
  std::mt19937 random_{7};
};

TEST_F(TextFunctionsTest, LikeAsSqlite) {
  for (int i = 0; i < 5000; ++i) {
    const std::string text = RandomText({"a", "A", "b", "é", "É", "%", "_", "x"}, 8);
    const std::string pattern = RandomText({"a", "b", "é", "%", "%", "_", "x", "%%"}, 6);
    ExpectEqual("SELECT ?2 LIKE ?1", {pattern, text});
    ExpectEqual("SELECT ?2 LIKE ?1 ESCAPE 'x'", {pattern, text});
    ExpectEqual("SELECT ?2 LIKE ?1 ESCAPE '%'", {pattern, text});
  }
  ExpectEqual("SELECT 'a' LIKE 'a' ESCAPE 'xy'", {});
  ExpectEqual("SELECT NULL LIKE 'a'", {});
  ExpectEqual("SELECT 12 LIKE '1%'", {});
}

TEST_F(TextFunctionsTest, GlobAsSqlite) {
  for (int i = 0; i < 5000; ++i) {
    const std::string text = RandomText({"a", "A", "b", "c", "é", "]", "-", "*", "^"}, 8);
    const std::string pattern =
        RandomText({"a", "b", "é", "*", "?", "[a-c]", "[^a]", "[]b]", "[", "[b-", "[^]-a]"}, 5);
    ExpectEqual("SELECT ?2 GLOB ?1", {pattern, text});
  }
}

// Blobs, bytes that are no UTF-8, NUL, numbers and NULL, in every place.
TEST_F(TextFunctionsTest, AnyValueAsSqlite) {
  constexpr const char* kValues[] = {
      "NULL",      "''",          "'a'",       "'%'",       "'_'",          "'a%'",
      "'[a-z]'",   "'[^a]*'",     "12",        "1.5",       "x''",          "x'00'",
      "x'61'",     "x'610062'",   "x'80'",     "x'C280'",   "x'C3'",        "x'C081'",
      "x'ED8080'", "x'EDA080'",   "x'EFBFBE'", "x'EFBFBD'", "x'F7BFBFBF'",  "x'FF8080'",
      "x'25'",     "x'5B80FF5D'", "'é'",       "x'C3A9'",   "x'C3A9808080'"};
  for (const std::string text : kValues) {
    for (const std::string pattern : kValues) {
      ExpectEqual(("SELECT " + text + " LIKE " + pattern).c_str(), {});
      ExpectEqual(("SELECT " + text + " GLOB " + pattern).c_str(), {});
      ExpectEqual(("SELECT CAST(" + text + " AS TEXT) LIKE CAST(" + pattern + " AS TEXT)").c_str(),
                  {});
      ExpectEqual(("SELECT CAST(" + text + " AS TEXT) GLOB CAST(" + pattern + " AS TEXT)").c_str(),
                  {});
      for (const std::string escape : kValues) {
        ExpectEqual(("SELECT " + text + " LIKE " + pattern + " ESCAPE " + escape).c_str(), {});
      }
    }
  }
}

TEST_F(TextFunctionsTest, TheOthersAsSqlite) {
  for (int i = 0; i < 5000; ++i) {
    const std::string text = RandomText({"a", "b", "é", " ", "aa"}, 10);
    const std::string part = RandomText({"a", "b", "é", "ab"}, 2);
    const std::string by = RandomText({"a", "xyz"}, 2);
    ExpectEqual("SELECT instr(?1, ?2)", {text, part});
    ExpectEqual("SELECT instr(CAST(?1 AS BLOB), CAST(?2 AS BLOB))", {text, part});
    ExpectEqual("SELECT instr(CAST(?1 AS BLOB), ?2)", {text, part});
    ExpectEqual("SELECT replace(?1, ?2, ?3)", {text, part, by});
    ExpectEqual("SELECT '<' || trim(?1, ?2) || '>'", {text, part});
    ExpectEqual("SELECT '<' || ltrim(?1, ?2) || '>'", {text, part});
    ExpectEqual("SELECT '<' || rtrim(?1, ?2) || '>'", {text, part});
    ExpectEqual("SELECT '<' || trim(?1) || rtrim(?1) || ltrim(?1)", {text});
  }
  for (const char* sql :
       {"SELECT replace(NULL, 'a', 'b')", "SELECT replace('a', NULL, 'b')",
        "SELECT replace('a', 'a', NULL)", "SELECT replace('a', '', NULL)", "SELECT trim(NULL)",
        "SELECT trim('a', NULL)", "SELECT instr(NULL, 'a')", "SELECT instr('a', NULL)",
        "SELECT instr(1234, 3)", "SELECT replace(1234, 3, 5)", "SELECT instr(x'', x'')"}) {
    ExpectEqual(sql, {});
  }
}

// Sets that SQLite ends at a NUL, and compares byte by byte: those of whole characters, and of
// pieces of such.
TEST_F(TextFunctionsTest, TrimAnySetAsSqlite) {
  const std::string nul(1, '\0');
  const std::string pieces[] = {"a",    "b",    " ",        "é",    "漢",   nul,
                                "\xC3", "\xA9", "\xE6\xBC", "\x80", "\xFF", "\xC3\xA9\x80"};
  const auto text_of = [&](size_t longest) {
    std::string text;
    for (size_t left = random_() % (longest + 1); left > 0; --left) {
      text += pieces[random_() % std::size(pieces)];
    }
    return text;
  };
  const auto hex = [](const std::string& bytes) {
    std::string text = "CAST(x'";
    for (const char c : bytes) {
      text += fmt::format("{:02X}", static_cast<unsigned char>(c));
    }
    return text + "' AS TEXT)";
  };
  for (int i = 0; i < 20000; ++i) {
    const std::string arguments = hex(text_of(8)) + ", " + hex(text_of(5));
    for (const char* const name : {"trim", "ltrim", "rtrim"}) {
      ExpectEqual(fmt::format("SELECT hex({}({}))", name, arguments).c_str(), {});
    }
  }
}

TEST_F(TextFunctionsTest, PrintfAsSqliteOrTooLong) {
  for (const char* const sql :
       {"SELECT printf()", "SELECT printf(NULL)", "SELECT printf(NULL, 1)", "SELECT printf('')",
        "SELECT printf('%d %s|%5.2f', 12, 'a', 2.5)", "SELECT printf('%s')", "SELECT printf(12, 3)",
        "SELECT printf('%q %Q %w', 'it''s', NULL, 'a\"b')", "SELECT printf('%!.20g', 0.1)",
        "SELECT format('%*d|%-*s|', 5, 42, 4, 'x')", "SELECT typeof(printf('%d', 1))",
        "SELECT printf('%c%c', 'abc', 'é')", "SELECT printf(x'2564', 7)"}) {
    ExpectEqual(sql, {});
  }
  sqlite3_limit(ours_.handle(), SQLITE_LIMIT_LENGTH, 1000);
  EXPECT_EQ(Ask(ours_.handle(), "SELECT length(printf('%900d', 1))", {}), "900");
  EXPECT_EQ(Ask(ours_.handle(), "SELECT printf('%2000d', 1)", {}), "string or blob too big");
  EXPECT_EQ(Ask(ours_.handle(),
                "SELECT 1 FROM (SELECT format('%.*c', 2000, 'x') AS a) WHERE a IS NULL", {}),
            "string or blob too big");
}

TEST_F(TextFunctionsTest, EndAtTheDeadline) {
  const std::string text(1 << 20, 'a');
  const std::string pattern = "%" + std::string(40'000, 'a') + "b";
  deadline_.at = Deadline::Clock::now() + std::chrono::milliseconds(20);
  EXPECT_EQ(Ask(ours_.handle(), "SELECT ?2 LIKE ?1", {pattern, text}), "interrupted");
  EXPECT_EQ(Ask(ours_.handle(), "SELECT instr(?2, ?1)", {pattern, text}), "interrupted")
      << "not begun any more";
  deadline_.at = Deadline::Clock::now() + std::chrono::milliseconds(1);
  EXPECT_EQ(Ask(ours_.handle(), "SELECT replace(?1, 'a', 'b')", {std::string(64 << 20, 'a')}),
            "interrupted");
}

}  // namespace

}  // namespace borescope::internal::query
