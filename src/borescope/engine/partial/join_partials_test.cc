#include "borescope/engine/partial/join_partials.h"

#include <gtest/gtest.h>

#include <vector>

#include "borescope/analysis/core/param_specs.h"
#include "borescope/engine/partial/partial_samples.h"
#include "borescope/engine/partial/questions.h"
#include "borescope/engine/partial/run_partials.h"
#include "borescope/engine/partial/wire/partial_bytes.h"

namespace borescope::internal {

namespace {

MissingParts Missing(std::vector<ShardMark> shards, uint64_t files = 0,
                     std::optional<uint64_t> expected = {}) {
  std::sort(shards.begin(), shards.end());
  return FindMissingParts(shards, files, expected).value();
}

TEST(MissingParts, AreThoseOfTheDivision) {
  EXPECT_EQ(Missing({}).count, 0U);
  EXPECT_EQ(Missing({{0, 1}}).count, 0U);
  EXPECT_EQ(Missing({{2, 3}, {0, 3}, {1, 3}}).count, 0U);
  const MissingParts missing = Missing({{0, 5}, {3, 5}});
  EXPECT_EQ(missing.count, 3U);
  EXPECT_EQ(missing.words, "2 of 5 parts; without 1..2, 4");
}

TEST(MissingParts, OneWholeDivisionIsEnough) {
  EXPECT_EQ(Missing({{0, 9}, {0, 2}, {1, 2}}).count, 0U);
  EXPECT_EQ(Missing({{0, 9}, {1, 2}}).words, "1 of 2 parts; without 0");
}

TEST(MissingParts, PartsOfDifferentFilesAreRefused) {
  const ShardMark marks[] = {{0, 2, 3, 77}, {1, 2, 4, 78}};
  EXPECT_EQ(
      FindMissingParts(marks, 3, {}).error().Sentence(),
      "the parts 0/2 and 1/2 are of different files: the run changed between their maps (3 and "
      "4 files), or parts of another run are among them; map all parts again");
}

TEST(MissingParts, LongListsAreCut) {
  std::vector<ShardMark> even;
  for (uint32_t i = 0; i < 40; i += 2) even.push_back({i, 40});
  EXPECT_EQ(Missing(even).words, "20 of 40 parts; without 1, 3, 5, 7, 9, 11, 13, 15, …");
  const MissingParts missing = Missing({{999'999, 1'000'000}});
  EXPECT_EQ(missing.count, 999'999U);
  EXPECT_EQ(missing.words, "1 of 1,000,000 parts; without 0..999998");
}

TEST(MissingParts, FilesAreCountedWhereTheirNumberIsKnown) {
  EXPECT_EQ(Missing({}, 4, 4).count, 0U);
  EXPECT_EQ(Missing({}, 3, 4).words, "3 of 4 files");
  EXPECT_EQ(Missing({}, 3, 4).count, 1U);
  EXPECT_EQ(Missing({{0, 2}}, 2, 4).words, "2 of 4 files; 1 of 2 parts; without 1");
  EXPECT_EQ(
      FindMissingParts({}, 5, 4).error().Sentence(),
      "the partials hold 5 files, more than the 4 of `expect`; take those of other runs away, "
      "or give the number of this one");
}

// A partial of one file with the empty tables of `kernels`.
PartialData PartialOf(const std::string& path, int64_t rank) {
  PartialData partial = SampleOfKernels(Compat::kNone, false);
  partial.name = path + ".part";
  PartialFile file;
  file.path = path;
  file.from_directory = true;
  file.claim.recorded = rank;
  file.rank = rank;
  file.outcomes.push_back({std::nullopt, ShapeOf(*FindAnalysis("kernels"), {}).value()});
  partial.files.push_back(std::move(file));
  return partial;
}

std::vector<std::string> PathsOf(const PartialData& partial) {
  std::vector<std::string> paths;
  for (const PartialFile& file : partial.files) {
    paths.push_back(file.path);
  }
  return paths;
}

TEST(JoinPartials, FilesStandInTheOrderOfAFolder) {
  const PartialData merged =
      MergePartials({PartialOf("run/r10", 1), PartialOf("run/r9", 2), PartialOf("run/r1", 3)})
          .value();
  EXPECT_EQ(PathsOf(merged), (std::vector<std::string>{"run/r1", "run/r9", "run/r10"}));
}

TEST(JoinPartials, AFileThatComesTwiceCountsOnce) {
  const PartialData merged =
      MergePartials({PartialOf("a", 1), PartialOf("b", 2), PartialOf("a", 1)}).value();
  EXPECT_EQ(merged.files.size(), 2U);
  const Result<PartialData> differs = MergePartials({PartialOf("a", 1), PartialOf("a", 2)});
  ASSERT_FALSE(differs.ok());
  EXPECT_EQ(differs.error().Sentence(),
            "a: two partials hold this file with different answers; map it once, or give the files "
            "of each machine paths of their own");
}

TEST(JoinPartials, OtherQuestionsAreRefusedByWhatDiffers) {
  const auto message_of = [](const PartialData& a, const PartialData& b) {
    const Result<PartialData> merged = MergePartials({a, b});
    return merged.ok() ? std::string() : merged.error().Sentence();
  };
  const PartialData first = PartialOf("a", 1);
  PartialData other = PartialOf("b", 2);
  other.question.params.by = {"rank"};
  EXPECT_EQ(message_of(first, other),
            "a.part and b.part answer different questions: they differ in `by` (none; rank); map "
            "all ranks with the same verbs and options");
  other = PartialOf("b", 2);
  other.question.verbs = {FindAnalysis("ops")};
  EXPECT_NE(message_of(first, other).find("the verbs (kernels; ops)"), std::string::npos);
  other = PartialOf("b", 2);
  other.question.ranks = NumberRanges::Parse("1,3..4").value();
  EXPECT_NE(message_of(first, other).find("`rank` (none; 1,3..4)"), std::string::npos);
  other = PartialOf("b", 2);
  other.question.params.values.push_back({kWidthParam.name, 7, "", {}, kWidthParam.type});
  EXPECT_NE(message_of(first, other).find("`width` (none; 7)"), std::string::npos)
      << message_of(first, other);
  other = PartialOf("b", 2);
  other.major = 9;
  EXPECT_NE(message_of(first, other).find("format 9"), std::string::npos);
  EXPECT_FALSE(MergePartials({}).ok());
}

TEST(JoinPartials, WhereFilesOfOptionsLieMakesNoDifference) {
  MappedQuestion a;
  a.params.values.push_back({"device-spec", 1, "/b/x.json", "{}", ParamType::kFile});
  a.params.values.push_back({"inductor-cache", 1, "/tmp/b", {}, ParamType::kFolder});
  MappedQuestion b = a;
  b.params.values[0].text = "/a/x.json";
  b.params.values[1].text = "/tmp/a";
  EXPECT_EQ(DifferenceOf(a, b), "");
  MergeQuestion(a, b);
  EXPECT_EQ(a.params.values[0].text, "/a/x.json");
  b.params.values[0].content = "{ }";
  EXPECT_EQ(DifferenceOf(a, b), "`device_spec` ({}; { })");
}

TEST(JoinPartials, RanksAreToldApartOnlyHere) {
  const PartialData partials[] = {PartialOf("b", 0), PartialOf("a", 0), PartialOf("c", 5)};
  PartsInMemory source{std::span<const PartialData>(partials)};
  const JoinedRun joined = JoinPartials(source).value();
  ASSERT_EQ(joined.run.selected.size(), 3U);
  EXPECT_EQ(joined.run.selected[0]->report.path, "a");
  EXPECT_EQ(joined.run.selected[2]->report.path, "b");
  EXPECT_EQ(joined.run.selected[2]->report.rank, 6);
  EXPECT_EQ(joined.files.size(), 3U);
}

TEST(JoinPartials, WhatCannotTravelIsRefused) {
  RunOptions options;
  options.overlay = "x";
  const AnalysisSpec* const queue[] = {FindAnalysis("queue")};
  EXPECT_EQ(MapPartial(queue, options).error().Sentence(),
            "`overlay` is written with a finished answer; leave it out to map");
  const AnalysisSpec* const diff[] = {FindAnalysis("diff")};
  EXPECT_EQ(MapPartial(diff, {}).error().Sentence(),
            "diff: it compares two runs, and a partial is of one; run it where both are");
}

}  // namespace

}  // namespace borescope::internal
