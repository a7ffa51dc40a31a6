#include "borescope/engine/run_analyses.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <type_traits>

#include "borescope/analysis/core/param_specs.h"
#include "borescope/analysis/core/reduce.h"
#include "borescope/analysis/core/row.h"
#include "borescope/catalog/catalog.h"
#include "borescope/output/writer.h"

namespace borescope::internal {
namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;

// One rank with one kernel of `dur_us`; `rank` < 0 leaves the rank out.
std::string TraceText(int rank, int dur_us, std::string_view category = "kernel",
                      std::string_view name = "k") {
  const std::string info =
      rank < 0 ? "" : R"("distributedInfo":{"rank":)" + std::to_string(rank) + "},";
  return "{" + info + R"("traceEvents":[{"ph":"X","cat":")" + std::string(category) +
         R"(","name":")" + std::string(name) + R"(","pid":0,"tid":7,"ts":10,"dur":)" +
         std::to_string(dur_us) + R"(,"args":{"device":0,"stream":7,"correlation":1}}]})";
}

class SessionTest : public testing::Test {
 protected:
  SessionTest() {
    std::string name = (fs::temp_directory_path() / "borescope_session_XXXXXX").string();
    folder_ = mkdtemp(name.data());
  }
  ~SessionTest() override { fs::remove_all(folder_); }

  void Put(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
  }

  RunOptions Run() const {
    RunOptions options;
    options.files = ExpandInputs(Names{folder_.string()}).value();
    options.threads = 1;
    return options;
  }

  static Result<AnswerData> Ask(std::string_view verb, const RunOptions& options) {
    return RunAnalysis(*FindAnalysis(verb), options);
  }

  static std::vector<int64_t> Ranks(const AnswerData& answer) {
    return std::get<IntValues>(answer.document.tables.front().Find("rank")->values);
  }

  static std::set<std::string> Codes(const AnswerData& answer) {
    std::set<std::string> codes;
    for (const Diagnostic& row : answer.document.diagnostics) {
      codes.insert(row.code);
    }
    return codes;
  }

  static std::string Json(const AnswerData& answer) {
    StringSink sink;
    EXPECT_TRUE(FindTableWriter("json")->write(answer.document, {}, sink).ok());
    return sink.text();
  }

  fs::path folder_;
};

TEST_F(SessionTest, TheRanksOfADirectoryComeInRankOrder) {
  Put("a.json", TraceText(3, 5));
  Put("b.json", TraceText(1, 7));
  Put("README.md", "no trace\n");
  const Result<AnswerData> answer = Ask("info", Run());
  ASSERT_TRUE(answer.ok()) << answer.error().Sentence();
  EXPECT_EQ(Ranks(*answer), (std::vector<int64_t>{1, 3}));
  EXPECT_FALSE(Codes(*answer).contains("unreadable-file"));
  EXPECT_TRUE(answer->files[0].skipped);
}

TEST_F(SessionTest, RanksAreSelectedByWhatTheFileSays) {
  Put("rank0.json", TraceText(3, 5));
  Put("rank1.json", TraceText(1, 7));
  RunOptions options = Run();
  options.ranks = NumberRanges::Parse("3").value();
  const Result<AnswerData> answer = Ask("info", options);
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(Ranks(*answer), (std::vector<int64_t>{3}));
  EXPECT_TRUE(Codes(*answer).contains("rank-conflict"));
  options.ranks = NumberRanges::Parse("0").value();
  EXPECT_EQ(Ask("info", options).error().Sentence(),
            "`rank` names no rank of this run; its ranks are 1, 3");
}

TEST_F(SessionTest, ADuplicateRankIsKeptUnderAnotherNumber) {
  Put("a.json", TraceText(0, 5));
  Put("b.json", TraceText(0, 7));
  const Result<AnswerData> answer = Ask("info", Run());
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(Ranks(*answer), (std::vector<int64_t>{0, 1}));
  EXPECT_TRUE(Codes(*answer).contains("duplicate-rank"));
}

TEST_F(SessionTest, AnUnreadableRankIsCountedAndTheOthersAnswer) {
  Put("rank0.json", TraceText(0, 5));
  Put("rank1.json", "");
  const Result<AnswerData> answer = Ask("info", Run());
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(Ranks(*answer), (std::vector<int64_t>{0}));
  ASSERT_EQ(Codes(*answer).count("unreadable-file"), 1U);
  EXPECT_TRUE(answer->document.diagnostics.back().first.ends_with("(1 of 2 files loaded)"));
  fs::remove(folder_ / "rank0.json");
  EXPECT_FALSE(Ask("info", Run()).ok());
}

TEST_F(SessionTest, RanksWithoutAFileAreNamed) {
  Put("rank0.json", TraceText(0, 5));
  Put("rank3.json", TraceText(3, 5));
  const Result<AnswerData> answer = Ask("info", Run());
  ASSERT_TRUE(answer.ok());
  ASSERT_EQ(Codes(*answer).count("missing-ranks"), 1U);
  EXPECT_EQ(answer->document.diagnostics.back().first, "2 of 4 ranks loaded; without 1..2");
  EXPECT_EQ(answer->document.diagnostics.back().count, 2U);
  RunOptions some = Run();
  some.ranks = NumberRanges::Parse("0").value();
  EXPECT_FALSE(Codes(*Ask("info", some)).contains("missing-ranks"));
}

// An analysis that compares ranks is left out beside others, and an error alone.
TEST_F(SessionTest, MissingDataMayShowOnlyAtTheEnd) {
  Put("rank0.json", TraceText(0, 5, "kernel", "ncclDevKernel_AllReduce"));
  const Result<AnswerData> alone = Ask("stragglers", Run());
  ASSERT_FALSE(alone.ok());
  EXPECT_EQ(alone.error().code, ErrorCode::kMissingData);
  const AnalysisSpec* const both[] = {FindAnalysis("stragglers"), FindAnalysis("breakdown")};
  const Result<AnswerData> answer = RunAnalyses(both, Run());
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(answer->document.tables.size(), 1U);
  const std::vector<Diagnostic>& rows = answer->document.diagnostics;
  const auto told = std::find_if(rows.begin(), rows.end(),
                                 [](const Diagnostic& row) { return row.code == "missing-data"; });
  ASSERT_NE(told, rows.end());
  EXPECT_EQ(told->file, folder_.string());
  EXPECT_TRUE(told->first.starts_with("verbs left out: stragglers (stragglers: ")) << told->first;
}

TEST_F(SessionTest, AComparisonIsOneProgress) {
  Put("rank0.json", TraceText(0, 5));
  Put("rank1.json", TraceText(1, 50));
  RunOptions options = Run();
  options.test.files = options.files;
  Progress last;
  options.progress = [&](const Progress& progress) {
    EXPECT_GE(progress.done_bytes, last.done_bytes);
    EXPECT_EQ(progress.total_files, 4U);
    last = progress;
  };
  ASSERT_TRUE(Ask("diff", options).ok());
  EXPECT_EQ(last.done_files, 4U);
  EXPECT_EQ(last.done_bytes, last.total_bytes);
}

TEST_F(SessionTest, AComparisonNamesTheRunThatLacksTheRank) {
  Put("rank0.json", TraceText(0, 5));
  RunOptions options = Run();
  options.test.files = options.files;
  options.test.ranks = NumberRanges::Parse("3").value();
  EXPECT_EQ(Ask("diff", options).error().Sentence(),
            "`test_rank` (or `rank`) names no rank of the test run " + folder_.string() +
                "; its ranks are 0");
}

TEST_F(SessionTest, MissingDataNamesTheOptionThatRecordsIt) {
  Put("rank0.json", TraceText(0, 5, "cpu_op"));
  const Result<AnswerData> alone = Ask("breakdown", Run());
  ASSERT_FALSE(alone.ok());
  EXPECT_EQ(alone.error().code, ErrorCode::kMissingData);
  EXPECT_NE(alone.error().Sentence().find("ProfilerActivity.CUDA"), std::string::npos);
  // Beside a rank that can answer it is a remark.
  Put("rank1.json", TraceText(1, 5));
  const Result<AnswerData> both = Ask("breakdown", Run());
  ASSERT_TRUE(both.ok());
  EXPECT_EQ(Ranks(*both), (std::vector<int64_t>{1}));
  EXPECT_TRUE(Codes(*both).contains("missing-data"));
}

TEST_F(SessionTest, OptionsAnAnalysisLacksAreErrors) {
  Put("rank0.json", TraceText(0, 5));
  RunOptions options = Run();
  options.params.by = {"moon"};
  EXPECT_NE(
      Ask("kernels", options).error().Sentence().find("cannot group by 'moon'; keys are rank"),
      std::string::npos);
  options.params.by.clear();
  options.sort = "moon";
  EXPECT_TRUE(
      Ask("kernels", options).error().Sentence().starts_with("`sort`: table kernels has no"));
}

TEST_F(SessionTest, ASelectionIsNeverIgnored) {
  Put("rank0.json", TraceText(0, 5));
  RunOptions options = Run();
  options.params.selection.streams = NumberRanges::Parse("7").value();
  EXPECT_TRUE(Ask("breakdown", options).ok());
  for (const std::string_view verb : {"info", "doctor"}) {
    const Result<AnswerData> answer = Ask(verb, options);
    ASSERT_FALSE(answer.ok()) << verb;
    EXPECT_EQ(answer.error().code, ErrorCode::kInvalidArgument);
    EXPECT_NE(answer.error().Sentence().find("leave out `step`, `step_rule`, `step_pattern`, "),
              std::string::npos);
  }
}

TEST_F(SessionTest, TopCutsLastAndSaysSo) {
  Put("rank0.json", TraceText(0, 5));
  Put("rank1.json", TraceText(1, 5));
  RunOptions options = Run();
  options.top = 1;
  options.sort = "rank";
  const Result<AnswerData> answer = Ask("info", options);
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(Ranks(*answer), (std::vector<int64_t>{1}));
  EXPECT_TRUE(answer->document.tables.front().title.ends_with(" (first 1 of 2 rows)"));
}

TEST_F(SessionTest, AMemoryLimitLowersTheRanksInFlightOrSaysWhyNot) {
  Put("rank0.json", TraceText(0, 5));
  Put("rank1.json", TraceText(1, 5));
  RunOptions options = Run();
  options.threads = 2;
  options.memory_limit = uint64_t{1} << 30;
  EXPECT_TRUE(Ask("info", options).ok());
  // Large enough to take longer than the millisecond between two looks at the memory.
  std::string many = R"({"traceEvents":[)";
  for (int i = 0; i < 100'000; ++i) {
    many += R"({"ph":"X","cat":"kernel","name":"k)" + std::to_string(i) +
            R"(","pid":0,"tid":7,"ts":1,"dur":1,"args":{"stream":7}},)";
  }
  Put("rank1.json", many + "{}]}");
  options.memory_limit = uint64_t{1} << 20;
  const Result<AnswerData> too_little = Ask("info", options);
  ASSERT_FALSE(too_little.ok());
  EXPECT_NE(too_little.error().Sentence().find("`memory_limit`"), std::string::npos);
}

TEST_F(SessionTest, ThreadsNeverChangeTheAnswer) {
  for (int rank = 0; rank < 9; ++rank) {
    Put("rank" + std::to_string(rank) + ".json", TraceText(rank % 7, rank + 1));
  }
  for (const AnalysisSpec* spec : Analyses()) {
    RunOptions options = Run();
    const Result<AnswerData> alone = RunAnalysis(*spec, options);
    options.threads = 8;
    uint64_t last = 0;
    options.progress = [&](const Progress& progress) {
      EXPECT_GE(progress.done_bytes, last);
      last = progress.done_bytes;
    };
    const Result<AnswerData> together = RunAnalysis(*spec, options);
    ASSERT_EQ(alone.ok(), together.ok()) << spec->name;
    if (alone.ok()) {
      EXPECT_EQ(Json(*alone), Json(*together)) << spec->name;
    } else {
      EXPECT_EQ(alone.error().Sentence(), together.error().Sentence()) << spec->name;
    }
  }
}

// What verbs with something dear did, in their order.
std::mutex journal_mutex;
std::vector<std::string> journal;

void Note(std::string what) {
  const std::lock_guard lock(journal_mutex);
  journal.push_back(std::move(what));
}

struct Graph {
  std::string name;
  explicit Graph(std::string given) : name(std::move(given)) { Note("+" + name); }
  Graph(const Graph&) = delete;
  Graph(Graph&&) = delete;
  Graph& operator=(const Graph&) = delete;
  Graph& operator=(Graph&&) = delete;
  ~Graph() { Note("-" + name); }
};
struct FirstGraph {};
struct SecondGraph {};

template <class Measure, int number>
Result<Tables> MapWith(const RankView& view, const Params&) {
  const auto graph = view.Shared<Measure>([] {
    return std::make_unique<Graph>(std::is_same_v<Measure, FirstGraph> ? "first" : "second");
  });
  Note((*graph)->name);
  Table table{"answer_" + std::to_string(number), "", {}};
  AddRankKey(table);
  Push(table.columns.front(), view.rank);
  return Tables{std::move(table)};
}

template <class Measure, int number>
constexpr AnalysisSpec WithDear(std::string_view name) {
  return {.name = name,
          .summary = "",
          .example = "",
          .answer = {.map = MapWith<Measure, number>, .reduce = ConcatTables},
          .dear = [](const Params&) { return kMeasureId<Measure>; }};
}

// Whatever the order of the verbs and the number of threads: each graph is made once, and one is
// freed before the next is made.
TEST_F(SessionTest, ThreadsMeasureWhatIsDearOnceAndOneAtATime) {
  constexpr AnalysisSpec kOne = WithDear<FirstGraph, 1>("one");
  constexpr AnalysisSpec kTwo = WithDear<SecondGraph, 2>("two");
  constexpr AnalysisSpec kThree = WithDear<FirstGraph, 3>("three");
  const AnalysisSpec* const specs[] = {FindAnalysis("info"), &kOne, &kTwo, FindAnalysis("kernels"),
                                       &kThree};
  Put("a.json", TraceText(0, 5));
  for (const int threads : {1, 4}) {
    journal.clear();
    RunOptions options = Run();
    options.threads = threads;
    const auto answers = RunAnalyses(specs, options);
    ASSERT_TRUE(answers.ok()) << answers.error().Sentence();
    EXPECT_EQ(journal, (std::vector<std::string>{"+first", "first", "first", "-first", "+second",
                                                 "second", "-second"}));
  }
}

// The graphs of the report: that of the path for critical-path and variance, that of the replay.
TEST_F(SessionTest, TheVerbsThatNeedAGraphSayWhich) {
  const auto dear = [](std::string_view verb, const Params& params) {
    return FindAnalysis(verb)->DearMeasure(params);
  };
  const Params plain;
  EXPECT_NE(dear("critical-path", plain), nullptr);
  EXPECT_EQ(dear("critical-path", plain), dear("variance", plain));
  EXPECT_NE(dear("whatif", plain), dear("variance", plain));
  EXPECT_EQ(dear("summary", plain), dear("whatif", plain));
}

}  // namespace
}  // namespace borescope::internal
