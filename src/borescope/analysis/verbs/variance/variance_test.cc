#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "borescope/analysis/verbs/variance/job_steps.h"
#include "borescope/analysis/verbs/variance/rank_steps.h"
#include "borescope/analysis/verbs/variance/step_statistics.h"
#include "borescope/testing/test_trace.h"

namespace borescope::internal {
namespace {

// Each cause by name with its time in every step.
StepMatrix MatrixOf(const std::vector<std::pair<std::string, std::vector<int64_t>>>& causes) {
  StepMatrix matrix;
  matrix.steps.resize(causes.front().second.size());
  for (const auto& [name, times] : causes) {
    CauseRow row{{0, name, {}}, {}};
    for (uint32_t step = 0; step < times.size(); ++step) {
      matrix.steps[step].number = step;
      matrix.steps[step].length_ns += times[step];
      if (times[step] != 0) {
        row.cells.push_back({step, times[step]});
      }
    }
    matrix.causes.push_back(row);
  }
  return matrix;
}

std::vector<MatrixStep> StepsOf(const std::vector<int64_t>& lengths) {
  return MatrixOf({{"all", lengths}}).steps;
}

TEST(Covariance, SharesByHand) {
  // Lengths 10, 12, 14, 16, 18: variance 8. cpu rises by 3 a step, wait falls by 1.
  const StepMatrix matrix = MatrixOf({{"cpu", {5, 8, 11, 14, 17}}, {"wait", {5, 4, 3, 2, 1}}});
  const StepSpread spread = SpreadOf(matrix);
  ASSERT_TRUE(spread.causes[0].share.has_value());
  EXPECT_DOUBLE_EQ(*spread.causes[0].share, 1.5);
  EXPECT_DOUBLE_EQ(*spread.causes[1].share, -0.5);
  EXPECT_DOUBLE_EQ(spread.causes[0].mean_ns, 11);
  EXPECT_DOUBLE_EQ(spread.causes[1].sd_ns, std::sqrt(2.5));
  EXPECT_FALSE(spread.is_alike);
  EXPECT_FALSE(spread.work.has_value());
}

TEST(Covariance, NoSharesOfEqualOrOfFewSteps) {
  const StepSpread alike =
      SpreadOf(MatrixOf({{"cpu", {1, 2, 3, 4, 5}}, {"wait", {5, 4, 3, 2, 1}}}));
  EXPECT_TRUE(alike.is_alike);
  EXPECT_FALSE(alike.causes[0].share.has_value());
  const StepSpread few = SpreadOf(MatrixOf({{"cpu", {1, 2, 3, 5}}}));
  EXPECT_FALSE(few.is_alike);
  EXPECT_FALSE(few.causes[0].share.has_value());
  EXPECT_TRUE(BootstrapShares(MatrixOf({{"cpu", {1, 2, 3, 5}}}), few).empty());
}

// Weeks of steps, whose products fit no 128 bits, are measured in a coarser unit.
TEST(Covariance, LongStepsDoNotOverflow) {
  constexpr int64_t kHuge = int64_t{1} << 61;
  const StepMatrix matrix = MatrixOf({{"cpu", {kHuge, 1, kHuge, 1, kHuge, 1}},
                                      {"wait", {1, kHuge / 2, 1, kHuge / 2, 1, kHuge / 2}}});
  const StepSpread spread = SpreadOf(matrix);
  EXPECT_NEAR(*spread.causes[0].share, 2, 1e-9);
  EXPECT_NEAR(*spread.causes[1].share, -1, 1e-9);
  EXPECT_NEAR(spread.causes[0].sd_ns / static_cast<double>(kHuge), std::sqrt(0.3), 1e-9);
}

// Twice the work takes 10 more, whatever else; a pause of 6 in one step.
TEST(Covariance, OtherWorkIsARowOfItsOwn) {
  StepMatrix matrix =
      MatrixOf({{"gemm", {10, 20, 10, 20, 10, 20, 10, 20}}, {"pause", {1, 1, 1, 1, 7, 7, 1, 1}}});
  for (size_t i = 0; i < matrix.steps.size(); ++i) {
    matrix.steps[i].work = i % 2 == 0 ? 1'000 : 2'000;
  }
  const StepSpread spread = SpreadOf(matrix);
  ASSERT_TRUE(spread.work.has_value());
  // Variance of the length: 25 of the work, 6.75 of the pause, which is the same for both.
  EXPECT_NEAR(*spread.work->share, 25 / 31.75, 1e-12);
  EXPECT_NEAR(*spread.causes[0].share, 0, 1e-12);
  EXPECT_NEAR(*spread.causes[1].share, 6.75 / 31.75, 1e-12);
  EXPECT_NEAR(spread.causes[0].sd_ns, 0, 1e-6);
  const std::vector<SlowStep> slow = FindSlowSteps(matrix, spread, false);
  ASSERT_FALSE(slow.empty());
  EXPECT_EQ(slow[0].step, 5U);
  ASSERT_EQ(slow[0].causes.size(), 2U);
  EXPECT_EQ(slow[0].causes[0].what, "other amount of work");
  EXPECT_EQ(slow[0].causes[0].ns, 5);
  EXPECT_EQ(slow[0].causes[1].what, "pause");
  EXPECT_EQ(slow[0].causes[1].ns, 3);
  EXPECT_EQ(slow[0].rest_ns, 0);
}

TEST(Covariance, WorkThatDiffersByLessThanAThousandthIsTheSame) {
  std::vector<MatrixStep> steps = StepsOf({1, 2, 3});
  for (MatrixStep& step : steps) {
    step.work = 10'000'000 + step.number;
  }
  EXPECT_TRUE(RelativeWork(steps).empty());
  steps[1].work = 10'020'000;
  EXPECT_EQ(RelativeWork(steps).size(), 3U);
  steps[2].work = kMissing;
  EXPECT_TRUE(RelativeWork(steps).empty());
}

TEST(BootstrapShares, IsTheSameEveryTimeAndHoldsTheShare) {
  const StepMatrix matrix = MatrixOf({{"cpu", {50, 51, 50, 90, 52, 50, 49, 91, 50, 51}},
                                      {"gpu", {30, 31, 29, 30, 32, 30, 31, 30, 28, 30}}});
  const StepSpread spread = SpreadOf(matrix);
  const std::vector<ShareLimits> limits = BootstrapShares(matrix, spread);
  const std::vector<ShareLimits> again = BootstrapShares(matrix, spread);
  for (size_t i = 0; i < limits.size(); ++i) {
    EXPECT_EQ(limits[i].low, again[i].low);
    EXPECT_EQ(limits[i].high, again[i].high);
    EXPECT_LE(limits[i].low, *spread.causes[i].share);
    EXPECT_GE(limits[i].high, *spread.causes[i].share);
  }
  EXPECT_TRUE(*limits[0].is_stable);
  EXPECT_LT(limits[1].high - limits[1].low, 1);
}

TEST(Trend, ByHand) {
  EXPECT_FALSE(TrendOf(StepsOf({1, 2, 3, 4})).has_value());
  const std::optional<Trend> steady = TrendOf(StepsOf({10, 12, 14, 16, 18, 20}));
  EXPECT_DOUBLE_EQ(steady->slope, 2);
  EXPECT_DOUBLE_EQ(steady->low, 2);
  // One outlier does not move it.
  const std::optional<Trend> robust = TrendOf(StepsOf({10, 12, 14, 900, 18, 20, 22}));
  EXPECT_DOUBLE_EQ(robust->slope, 2);
  EXPECT_LE(robust->low, 2);
  EXPECT_GE(robust->high, 2);
}

TEST(Period, EverySeventh) {
  std::vector<int64_t> lengths(28, 100);
  for (size_t i = 6; i < lengths.size(); i += 7) {
    lengths[i] = 150;
  }
  const std::optional<Period> period = PeriodOf(StepsOf(lengths), 0);
  ASSERT_TRUE(period.has_value());
  EXPECT_EQ(period->steps, 7);
  EXPECT_GT(period->correlation, 0.5);
  // A ramp is a trend, no period.
  std::vector<int64_t> ramp;
  ramp.reserve(28);
  for (int64_t i = 0; i < 28; ++i) {
    ramp.push_back(100 + 3 * i);
  }
  EXPECT_FALSE(PeriodOf(StepsOf(ramp), 3).has_value());
  EXPECT_FALSE(PeriodOf(StepsOf({1, 2, 1, 2, 1}), 0).has_value());
}

TEST(SlowSteps, CausesAndTheRestAddUp) {
  const StepMatrix matrix = MatrixOf({{"a", {10, 10, 10, 10, 40, 10, 10}},
                                      {"b", {20, 21, 20, 21, 25, 20, 20}},
                                      {"c", {5, 5, 5, 5, 8, 5, 5}},
                                      {"d", {7, 7, 7, 7, 9, 7, 7}},
                                      {"e", {3, 3, 3, 3, 1, 3, 3}}});
  const std::vector<SlowStep> slow = FindSlowSteps(matrix, SpreadOf(matrix), false);
  ASSERT_EQ(slow.size(), 3U);  // 20 and 21 take turns: one more is beyond 3.5 MAD of 0
  const SlowStep& step = slow[0];
  EXPECT_EQ(step.step, 4U);
  EXPECT_EQ(step.over_ns, 38);
  EXPECT_TRUE(step.is_outlier);
  ASSERT_EQ(step.causes.size(), 3U);
  EXPECT_EQ(step.causes[0].what, "a");
  EXPECT_EQ(step.causes[0].ns, 30);
  EXPECT_EQ(step.causes[1].what, "b");
  EXPECT_EQ(step.causes[1].ns, 5);
  EXPECT_EQ(step.causes[2].what, "c");
  EXPECT_EQ(step.rest_ns, 38 - 30 - 5 - 3);
}

TEST(SlowSteps, OfFewStepsAllThatTookLonger) {
  const StepMatrix matrix = MatrixOf({{"a", {10, 14, 12}}});
  const std::vector<SlowStep> slow = FindSlowSteps(matrix, SpreadOf(matrix), false);
  ASSERT_EQ(slow.size(), 1U);
  EXPECT_EQ(slow[0].step, 1U);
  EXPECT_EQ(slow[0].over_ns, 2);
  EXPECT_FALSE(slow[0].is_outlier);
}

// The tables that ranks map.
class RankTableMaker {
 public:
  RankTableMaker() {
    AddInt(tables_[0], "rank", Unit::kNone, Role::kKey, "");
    AddString(tables_[0], "parts", Role::kDerived, "");
    for (const char* name : {"rank", "step", "span_ns", "work"}) {
      AddInt(tables_[1], name, Unit::kNone, Role::kDerived, "");
    }
    AddBool(tables_[1], "is_first", Role::kDerived, "");
    for (const char* name : {"rank", "step", "ns"}) {
      AddInt(tables_[2], name, Unit::kNone, Role::kDerived, "");
    }
    AddString(tables_[2], "cause", Role::kDerived, "");
    AddString(tables_[2], "name", Role::kDerived, "");
  }

  void AddRank(int64_t rank) {
    rank_ = rank;
    step_ = -1;
    Row(tables_[0]).Int(rank).Text("path");
  }
  void AddStep(int64_t number, int64_t span_ns) {
    ++step_;
    Row(tables_[1]).Int(rank_).Int(number).Int(span_ns).Missing().Bool(step_ == 0);
  }
  void AddPart(const char* cause, int64_t ns) {
    Row(tables_[2]).Int(rank_).Int(step_).Int(ns).Text(cause).Missing();
  }
  void AddNamed(const char* cause, const char* name, int64_t ns) {
    Row(tables_[2]).Int(rank_).Int(step_).Int(ns).Text(cause).Text(name);
  }
  const Tables& tables() const { return tables_; }

 private:
  Tables tables_{{"ranks", "", {}}, {"steps", "", {}}, {"parts", "", {}}};
  int64_t rank_ = 0;
  int64_t step_ = -1;
};

// Rank 1 computes for 30 longer in step 6, and both end with a collective.
RankTableMaker TwoRanks() {
  RankTableMaker maker;
  for (int64_t rank = 0; rank < 2; ++rank) {
    maker.AddRank(rank);
    for (int64_t step = 5; step < 8; ++step) {
      const int64_t more = step == 6 ? 30 : 0;
      maker.AddStep(step, 110 + more + (rank == 0 && step == 7 ? 2 : 0));
      maker.AddPart("gpu_compute", 100 + (rank == 1 ? more : 0));
      maker.AddPart("gpu_communication", 10 + (rank == 0 ? more : 0));
      if (rank == 0 && step == 7) {
        maker.AddPart("cpu", 2);
      }
    }
  }
  return maker;
}

int64_t SumOfStep(const StepMatrix& matrix, uint32_t step) {
  int64_t sum = 0;
  for (const CauseRow& cause : matrix.causes) {
    for (const MatrixCell& cell : cause.cells) {
      sum += cell.step == step ? cell.ns : 0;
    }
  }
  return sum;
}

const CauseRow* FindCause(const StepMatrix& matrix, int64_t rank, const std::string& cause) {
  const auto found = std::find_if(
      matrix.causes.begin(), matrix.causes.end(),
      [&](const CauseRow& row) { return row.key.rank == rank && row.key.cause == cause; });
  return found == matrix.causes.end() ? nullptr : &*found;
}

TEST(VarianceTest, PartsOfStepsThatAreNotThereAreAnError) {
  const Tables sound = TwoRanks().tables();
  EXPECT_TRUE(CheckParts(sound).ok());
  for (const auto& [column, value] :
       {std::pair("step", int64_t{99}), {"step", -1}, {"rank", 77}, {"rank", -3}}) {
    Tables odd = sound;
    Column* const cells = TableOf<VariancePartRow>(odd).Find(column);
    std::get<IntValues>(cells->values).back() = value;
    EXPECT_FALSE(CheckParts(odd).ok()) << column << value;
  }
}

TEST(JobSteps, TheRankThatWasWaitedForHoldsTheCause) {
  const JobSteps job = CollectSteps(TwoRanks().tables(), false);
  ASSERT_EQ(job.job.steps.size(), 3U);
  EXPECT_EQ(job.job.steps[1].length_ns, 140);
  for (uint32_t step = 0; step < 3; ++step) {
    EXPECT_EQ(SumOfStep(job.job, step), job.job.steps[step].length_ns);
  }
  const CauseRow* own = FindCause(job.job, 1, "gpu_compute");
  ASSERT_NE(own, nullptr);
  ASSERT_EQ(own->cells.size(), 1U);
  EXPECT_EQ(own->cells[0].step, 1U);
  EXPECT_EQ(own->cells[0].ns, 30);
  // What rank 0 waited in its collective is no cause.
  EXPECT_EQ(FindCause(job.job, kMissing, "gpu_communication")->cells[1].ns, 10);
}

TEST(JobSteps, TheFirstRecordedStepIsLeftOut) {
  const JobSteps job = CollectSteps(TwoRanks().tables(), true);
  EXPECT_EQ(job.left_out, std::vector<int64_t>{5});
  ASSERT_EQ(job.job.steps.size(), 2U);
  EXPECT_EQ(job.job.steps[0].number, 6);
  EXPECT_EQ(job.ranks[1].steps.size(), 2U);
}

// Rank 0 folded `b` into others, rank 1 kept it: neither spends more than the other.
TEST(JobSteps, NamesThatOneRankFoldedAreFoldedOnAll) {
  RankTableMaker maker;
  for (int64_t rank = 0; rank < 2; ++rank) {
    maker.AddRank(rank);
    for (int64_t step = 0; step < 2; ++step) {
      maker.AddStep(step, 100);
      maker.AddNamed("cpu", "a", 40);
      if (rank == 1) {
        maker.AddNamed("cpu", "b", 35);
      }
      maker.AddNamed("cpu", "(other names)", rank == 1 ? 25 : 60);
    }
  }
  const JobSteps job = CollectSteps(maker.tables(), false);
  ASSERT_EQ(job.job.causes.size(), 2U);
  for (const CauseRow& row : job.job.causes) {
    EXPECT_EQ(row.key.rank, kMissing);
    EXPECT_EQ(row.cells[0].ns, row.key.name == "a" ? 40 : 60);
  }
}

TEST(RankTables, TwoPartsOfOneCauseAndNameAreRefused) {
  RankTableMaker maker;
  maker.AddRank(0);
  maker.AddStep(1, 100);
  maker.AddPart("cpu", 60);
  maker.AddPart("cpu", 40);
  EXPECT_FALSE(CheckRankTables(maker.tables()).ok());
}

// Names of events that are placeholders here.
TEST(Variance, PlaceholdersAsNamesOfEvents) {
  TestTrace a;
  TestTrace b;
  for (TestTrace* trace : {&a, &b}) {
    for (int64_t step = 0; step < 4; ++step) {
      trace->Annotation("ProfilerStep#" + std::to_string(step), {step * 1000, 1000});
      trace->Op("(the step itself)", {step * 1000 + 100, 300 + step});
      trace->Op("(other names)", {step * 1000 + 500, 200});
    }
  }
  EXPECT_FALSE(Analyse("variance", {&a.View(0), &b.View(1)}).empty());
}

TEST(JobSteps, TheLongestRankIsSkew) {
  RankTableMaker maker;
  maker.AddRank(0);
  maker.AddStep(1, 100);
  maker.AddPart("gpu_compute", 100);
  maker.AddRank(3);
  maker.AddStep(1, 120);
  maker.AddPart("gpu_compute", 60);
  maker.AddPart("gpu_communication", 60);
  const JobSteps job = CollectSteps(maker.tables(), false);
  EXPECT_EQ(job.job.steps[0].length_ns, 120);
  EXPECT_EQ(SumOfStep(job.job, 0), 120);
  ASSERT_NE(FindCause(job.job, kMissing, "skew"), nullptr);
  EXPECT_EQ(FindCause(job.job, kMissing, "skew")->cells[0].ns, 20);
  EXPECT_EQ(FindCause(job.job, 0, "gpu_compute")->cells[0].ns, 40);
}

TEST(RankTables, WhatDoesNotAddUpIsRefused) {
  RankTableMaker maker;
  maker.AddRank(0);
  maker.AddStep(1, 100);
  maker.AddPart("cpu", 60);
  EXPECT_FALSE(CheckRankTables(maker.tables()).ok());
  maker.AddPart("wait", 40);
  EXPECT_TRUE(CheckRankTables(maker.tables()).ok());
  maker.AddStep(1, 5);
  maker.AddPart("cpu", 5);
  EXPECT_TRUE(CheckRankTables(maker.tables()).ok());  // two steps of one number
}

// A program that started its profiler twice: on both ranks the second step 1 is the second.
TEST(JobSteps, StepsOfOneNumberAreNotOneStep) {
  RankTableMaker maker;
  for (int64_t rank = 0; rank < 2; ++rank) {
    maker.AddRank(rank);
    for (const int64_t length : {100, 10}) {
      maker.AddStep(1, length + rank);
      maker.AddPart("cpu", length + rank);
    }
  }
  const JobSteps job = CollectSteps(maker.tables(), false);
  ASSERT_EQ(job.job.steps.size(), 2U);
  EXPECT_EQ(job.job.steps[0].length_ns, 101);
  EXPECT_EQ(job.job.steps[1].length_ns, 11);
  EXPECT_EQ(job.job.steps[1].number, 1);
  EXPECT_EQ(SumOfStep(job.job, 1), 11);
}

TEST(Variance, AStepThatIsMarkedAgainIsAStepOfItsOwn) {
  TestTrace trace;
  for (int64_t round = 0; round < 2; ++round) {
    for (int64_t step = 0; step < 3; ++step) {
      const int64_t begin_ns = round * 100'000 + step * 1000;
      trace.Annotation("ProfilerStep#" + std::to_string(step), {begin_ns, 500 + 10 * round});
    }
  }
  const Tables tables = Analyse("variance", {&trace.View(0)});
  EXPECT_EQ(Ints(tables[0], "steps")[0], 5);  // without the first
  EXPECT_EQ(Ints(tables[0], "max_ns")[0], 510);
}

}  // namespace
}  // namespace borescope::internal
