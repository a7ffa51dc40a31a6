// variance against slow and obvious sums, and against simulated runs in which the cause of slow
// steps was planted. BORESCOPE_TWINS=1000 asks for as many runs; docs/how-it-works/variance.md has
// the figures.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "borescope/analysis/measures/replay/replay_graph.h"
#include "borescope/analysis/verbs/variance/job_steps.h"
#include "borescope/analysis/verbs/variance/step_statistics.h"
#include "borescope/analysis/verbs/verbs.h"
#include "borescope/index/trace_index.h"
#include "borescope/ingest/load.h"
#include "tests/support/simulation/kineto.h"
#include "tests/support/simulation/simulate.h"

namespace borescope::internal {
namespace {

using simulation::ProgramKind;
using simulation::SimulatedRun;
using simulation::SimulationConfig;
using simulation::SlowCause;

constexpr uint64_t kFewRuns = 200;

uint64_t Runs() {
  const char* const asked = std::getenv("BORESCOPE_TWINS");
  return asked == nullptr ? kFewRuns : std::strtoull(asked, nullptr, 10);
}

// ---- slow and obvious ----

StepMatrix RandomMatrix(uint64_t seed) {
  std::mt19937_64 random(seed);
  const size_t steps = 5 + random() % 60;
  const size_t causes = 1 + random() % 12;
  StepMatrix matrix;
  matrix.steps.resize(steps);
  for (size_t step = 0; step < steps; ++step) {
    matrix.steps[step].number = static_cast<int64_t>(step * (1 + seed % 2));
  }
  for (size_t cause = 0; cause < causes; ++cause) {
    CauseRow row{{0, "c" + std::to_string(cause), {}}, {}};
    for (uint32_t step = 0; step < steps; ++step) {
      const auto ns = static_cast<int64_t>(random() % (1U << (random() % 24)));
      if (ns != 0) {
        row.cells.push_back({step, ns});
        matrix.steps[step].length_ns += ns;
      }
    }
    matrix.causes.push_back(row);
  }
  return matrix;
}

std::vector<long double> Dense(const CauseRow& cause, size_t steps) {
  std::vector<long double> values(steps, 0);
  for (const MatrixCell& cell : cause.cells) {
    values[cell.step] = static_cast<long double>(cell.ns);
  }
  return values;
}

long double Covariance(const std::vector<long double>& a, const std::vector<long double>& b) {
  long double mean_a = 0;
  long double mean_b = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    mean_a += a[i] / static_cast<long double>(a.size());
    mean_b += b[i] / static_cast<long double>(a.size());
  }
  long double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    sum += (a[i] - mean_a) * (b[i] - mean_b);
  }
  return sum / static_cast<long double>(a.size());
}

std::vector<long double> Lengths(const StepMatrix& matrix) {
  std::vector<long double> lengths;
  lengths.reserve(matrix.steps.size());
  for (const MatrixStep& step : matrix.steps) {
    lengths.push_back(static_cast<long double>(step.length_ns));
  }
  return lengths;
}

TEST(VarianceTwins, SharesAreCovariancesAndAddUpToOne) {
  for (uint64_t seed = 0; seed < 500; ++seed) {
    const StepMatrix matrix = RandomMatrix(seed);
    const StepSpread spread = SpreadOf(matrix);
    const std::vector<long double> lengths = Lengths(matrix);
    const long double variance = Covariance(lengths, lengths);
    double sum = 0;
    for (size_t i = 0; i < matrix.causes.size(); ++i) {
      const std::vector<long double> cause = Dense(matrix.causes[i], lengths.size());
      ASSERT_TRUE(spread.causes[i].share.has_value());
      EXPECT_NEAR(*spread.causes[i].share,
                  static_cast<double>(Covariance(cause, lengths) / variance), 1e-9);
      const auto n = static_cast<long double>(lengths.size());
      EXPECT_NEAR(spread.causes[i].sd_ns,
                  static_cast<double>(std::sqrt(Covariance(cause, cause) * n / (n - 1))), 1e-3);
      sum += *spread.causes[i].share;
    }
    EXPECT_NEAR(sum, 1, 1e-12);
  }
}

// With amounts of work: the residues of two regressions.
TEST(VarianceTwins, WithoutTheAmountOfWork) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    StepMatrix matrix = RandomMatrix(seed);
    std::vector<long double> work;
    for (MatrixStep& step : matrix.steps) {
      step.work = 1'000'000 + step.length_ns / 7 + static_cast<int64_t>(seed * 977 % 5'000);
      work.push_back(static_cast<long double>(step.work));
    }
    const StepSpread spread = SpreadOf(matrix);
    ASSERT_TRUE(spread.work.has_value());
    const std::vector<long double> lengths = Lengths(matrix);
    const long double of_work = Covariance(work, work);
    const long double variance = Covariance(lengths, lengths);
    double sum = *spread.work->share;
    EXPECT_NEAR(*spread.work->share,
                static_cast<double>(Covariance(work, lengths) * Covariance(work, lengths) /
                                    (of_work * variance)),
                1e-9);
    for (size_t i = 0; i < matrix.causes.size(); ++i) {
      std::vector<long double> cause = Dense(matrix.causes[i], lengths.size());
      const long double slope = Covariance(cause, work) / of_work;
      for (size_t step = 0; step < cause.size(); ++step) {
        cause[step] -= slope * work[step];
      }
      EXPECT_NEAR(*spread.causes[i].share,
                  static_cast<double>(Covariance(cause, lengths) / variance), 1e-8);
      sum += *spread.causes[i].share;
    }
    EXPECT_NEAR(sum, 1, 1e-9);
  }
}

TEST(VarianceTwins, TrendIsTheMedianSlopeOfAllPairs) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    const StepMatrix matrix = RandomMatrix(seed);
    std::vector<double> slopes;
    for (const MatrixStep& a : matrix.steps) {
      for (const MatrixStep& b : matrix.steps) {
        if (a.number < b.number) {
          slopes.push_back(static_cast<double>(b.length_ns - a.length_ns) /
                           static_cast<double>(b.number - a.number));
        }
      }
    }
    std::sort(slopes.begin(), slopes.end());
    const double median = (slopes[(slopes.size() - 1) / 2] + slopes[slopes.size() / 2]) / 2;
    const std::optional<Trend> trend = TrendOf(matrix.steps);
    ASSERT_TRUE(trend.has_value());
    EXPECT_NEAR(trend->slope, median, 1e-6 * std::abs(median));
    EXPECT_LE(trend->low, trend->slope);
    EXPECT_GE(trend->high, trend->slope);
  }
}

TEST(VarianceTwins, PeriodIsThePeakOfTheAutocorrelation) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    StepMatrix matrix = RandomMatrix(seed);
    const size_t planted = 2 + seed % 9;
    for (size_t i = 0; i < matrix.steps.size(); ++i) {
      matrix.steps[i].length_ns += i % planted == 0 ? 10'000'000 : 0;
    }
    const std::vector<long double> lengths = Lengths(matrix);
    const auto correlation = [&](size_t lag) {
      long double mean = 0;
      for (const long double value : lengths) {
        mean += value / static_cast<long double>(lengths.size());
      }
      long double products = 0;
      for (size_t i = 0; i + lag < lengths.size(); ++i) {
        products += (lengths[i] - mean) * (lengths[i + lag] - mean);
      }
      return products / (Covariance(lengths, lengths) * static_cast<long double>(lengths.size()));
    };
    size_t best = 2;
    for (size_t lag = 2; lag <= lengths.size() / 3; ++lag) {
      best = correlation(lag) > correlation(best) ? lag : best;
    }
    const bool repeats = lengths.size() >= 6 && correlation(best) > 0.5 &&
                         correlation(best) > correlation(best - 1) &&
                         correlation(best) > correlation(best + 1);
    const std::optional<Period> period = PeriodOf(matrix.steps, 0);
    ASSERT_EQ(period.has_value(), repeats) << seed;
    if (repeats) {
      EXPECT_EQ(period->steps, static_cast<int64_t>(best));
    }
  }
}

// ---- simulated ----

struct Answer {
  std::map<std::string, double> share_of;  // by cause and name
  Tables tables;

  double Of(SlowCause cause) const {
    double sum = 0;
    for (const auto& [what, share] : share_of) {
      sum += IsPlanted(cause, what) ? share : 0;
    }
    return sum;
  }

  // Which rows hold what was planted.
  static bool IsPlanted(SlowCause cause, const std::string& what) {
    const auto begins = [&](const char* text) { return what.starts_with(text); };
    switch (cause) {
      case SlowCause::kDataStall:
        return begins("data_load");
      case SlowCause::kOperator:
        return begins("gpu_compute") && what.find("softmax") != std::string::npos;
      case SlowCause::kPause:
      case SlowCause::kHostTime:
        return begins("cpu") || begins("launch");
      case SlowCause::kTrend:
        return begins("gpu_");
      case SlowCause::kWork:
        return begins("other_work");
      case SlowCause::kCount:
        break;
    }
    return false;
  }
};

Tables Ask(const SimulatedRun& run, const Params& params) {
  EXPECT_EQ(run.error, "");
  std::vector<Tables> mapped;
  for (int32_t rank = 0; rank < static_cast<int32_t>(run.ranks.size()); ++rank) {
    const Result<Trace> trace = LoadBytes(simulation::KinetoText(run, rank), "rank.json", {1, {}});
    EXPECT_TRUE(trace.ok());
    const TraceIndex index = BuildIndex(*trace, 1);
    Result<Tables> tables = kVarianceVerb.answer.map({rank, *trace, index}, params);
    EXPECT_TRUE(tables.ok());
    EXPECT_TRUE(kVarianceVerb.answer.check_tables(*tables, params).ok());
    mapped.push_back(std::move(*tables));
  }
  const Result<Tables> reduced = kVarianceVerb.answer.reduce(mapped, params);
  Result<Tables> finished = kVarianceVerb.answer.finish(*reduced, params);
  EXPECT_TRUE(finished.ok());
  return std::move(*finished);
}

// Shares by cause and name; what ranks spent more or less is added to what they all did.
Answer AnswerOf(const SimulatedRun& run) {
  Answer answer;
  answer.tables = Ask(run, {});
  const Table& causes = answer.tables[1];
  double sum = 0;
  for (size_t row = 0; row < causes.rows(); ++row) {
    const double share = Floats(causes, "share")[row];
    answer.share_of[Texts(causes, "cause")[row] + " " + Texts(causes, "name")[row]] += share;
    sum += share;
  }
  EXPECT_NEAR(sum, 1, 1e-9);
  return answer;
}

// To the completion of a step, on the host and of its device work, from its begin or the completion
// of the one before.
std::vector<long double> StepTimes(const simulation::RankRun& rank) {
  std::vector<long double> times;
  int64_t done_ns = 0;
  for (const simulation::StepRow& step : rank.steps) {
    int64_t end_ns = step.end_ns;
    for (const simulation::WorkRow& work : rank.works) {
      const int64_t launched_ns = rank.calls[static_cast<size_t>(work.call)].begin_ns;
      if (step.begin_ns <= launched_ns && launched_ns < step.end_ns) {
        end_ns = std::max(end_ns, work.end_ns);
      }
    }
    const int64_t begin_ns = std::max(done_ns, step.begin_ns);
    done_ns = std::max(begin_ns, end_ns);
    times.push_back(static_cast<long double>(done_ns - begin_ns));
  }
  return times;
}

// Those of the longest rank, without the first.
std::vector<long double> StepTimes(const SimulatedRun& run) {
  std::vector<long double> times(run.ranks[0].steps.size(), 0);
  for (const simulation::RankRun& rank : run.ranks) {
    const std::vector<long double> own = StepTimes(rank);
    for (size_t i = 0; i < times.size(); ++i) {
      times[i] = std::max(times[i], own[i]);
    }
  }
  times.erase(times.begin());
  return times;
}

// The lengths that are divided are those of the simulator, to the nanosecond, and those of whatif.
TEST(VarianceTwins, LengthsAreThoseOfTheSimulatorAndOfWhatIf) {
  for (uint64_t seed = 0; seed < 40; ++seed) {
    SimulationConfig config;
    config.seed = seed + 1;
    config.program = static_cast<ProgramKind>(seed % static_cast<uint64_t>(ProgramKind::kCount));
    config.jitter = 0.1;
    const SimulatedRun run = simulation::Simulate(config);
    const Result<Trace> trace = LoadBytes(simulation::KinetoText(run, 0), "rank.json", {1, {}});
    const TraceIndex index = BuildIndex(*trace, 1);
    const RankView view{0, *trace, index};
    const Result<Tables> mapped = kVarianceVerb.answer.map(view, {});
    const ReplayGraph graph = BuildReplayGraph(view, "");
    const IntValues& lengths = Ints((*mapped)[1], "span_ns");
    EXPECT_EQ(lengths, StretchTimes(graph, MeasuredTimes(graph))) << seed;
    const std::vector<long double> truth = StepTimes(run.ranks[0]);
    ASSERT_EQ(lengths.size(), truth.size()) << seed;
    for (size_t i = 0; i < truth.size(); ++i) {
      EXPECT_EQ(static_cast<long double>(lengths[i]), truth[i]) << seed << " step " << i;
    }
  }
}

SimulationConfig ConfigOf(uint64_t seed) {
  SimulationConfig config;
  config.seed = seed + 1;
  config.program = static_cast<ProgramKind>(seed % static_cast<uint64_t>(ProgramKind::kCount));
  config.steps = 24;
  config.jitter = 0.02;
  return config;
}

constexpr double kPercent[] = {60, 60, 30, 60, 2, 30};

struct Planted {
  double truth = 0;  // covariance of what it does to steps with their length / variance
  double found = 0;
  bool is_first = false;   // the group of rows that hold it is larger than any other row
  bool arrives = false;    // the whole time that was planted is in the length of its step
  bool is_hidden = false;  // none of it makes any step longer
};

// What was planted in each step but the first, of the rank with most of it.
std::vector<long double> PlantedTimes(const SimulatedRun& run) {
  std::vector<long double> times(run.ranks[0].steps.size(), 0);
  for (const simulation::PlantedRow& row : run.planted) {
    if (static_cast<size_t>(row.step) >= times.size()) {
      continue;  // after the last step
    }
    long double& ns = times[static_cast<size_t>(row.step)];
    const auto here = static_cast<long double>(row.ns);
    ns = std::abs(here) > std::abs(ns) ? here : ns;
  }
  times.erase(times.begin());
  return times;
}

long double Largest(const std::vector<long double>& values) {
  long double largest = 0;
  for (const long double value : values) {
    largest = std::max(largest, std::abs(value));
  }
  return largest;
}

// What the plant makes of the lengths is known: the run without it has the same times otherwise.
Planted PlantAndAsk(SimulationConfig config, SlowCause cause) {
  const std::vector<long double> before = StepTimes(simulation::Simulate(config));
  config.slow_steps = {{cause, kPercent[static_cast<size_t>(cause)]}};
  config.has_shapes = cause == SlowCause::kWork;
  const SimulatedRun run = simulation::Simulate(config);
  const std::vector<long double> times = StepTimes(run);
  const std::vector<long double> planted_ns = PlantedTimes(run);
  std::vector<long double> effect;
  std::vector<long double> missing;
  for (size_t i = 0; i < times.size(); ++i) {
    effect.push_back(times[i] - before[i]);
    missing.push_back(effect[i] - planted_ns[i]);
  }
  const Answer answer = AnswerOf(run);
  Planted planted;
  planted.truth = static_cast<double>(Covariance(effect, times) / Covariance(times, times));
  planted.found = answer.Of(cause);
  planted.arrives = Largest(missing) <= 0.1L * Largest(planted_ns);
  planted.is_hidden = Largest(effect) <= 0.001L * Largest(planted_ns);
  planted.is_first = true;
  for (const auto& [what, share] : answer.share_of) {
    planted.is_first =
        planted.is_first && (Answer::IsPlanted(cause, what) || share < planted.found);
  }
  return planted;
}

struct CauseTally {
  int asked = 0;  // runs in which what was planted arrives, and most of the variance is its
  int first = 0;
  int near = 0;    // share within 0.05
  int enough = 0;  // share no more than 0.05 too small
  int hidden = 0;
  int not_blamed = 0;  // of these: share within 0.05 of 0
};

std::map<SlowCause, CauseTally> PlantAll() {
  std::map<SlowCause, CauseTally> tallies;
  constexpr auto kPrograms = static_cast<uint64_t>(ProgramKind::kCount);
  constexpr auto kCauses = static_cast<uint64_t>(SlowCause::kCount);
  for (uint64_t seed = 0; seed < Runs(); ++seed) {
    const auto cause = static_cast<SlowCause>(seed / kPrograms % kCauses);
    const SimulationConfig config = ConfigOf(seed);
    // The operators of a graph without its capture are not known, and so is their work.
    if (cause == SlowCause::kWork && config.program == ProgramKind::kInference) {
      continue;
    }
    const Planted planted = PlantAndAsk(config, cause);
    CauseTally& tally = tallies[cause];
    const bool is_asked = planted.arrives && planted.truth >= 0.5;
    const double error = planted.found - planted.truth;
    tally.asked += is_asked ? 1 : 0;
    tally.first += is_asked && planted.is_first ? 1 : 0;
    tally.near += is_asked && std::abs(error) <= 0.05 ? 1 : 0;
    tally.enough += is_asked && error >= -0.05 ? 1 : 0;
    tally.hidden += planted.is_hidden ? 1 : 0;
    tally.not_blamed += planted.is_hidden && std::abs(planted.found) <= 0.05 ? 1 : 0;
  }
  return tallies;
}

TEST(VarianceTwins, FindsThePlantedCause) {
  int asked = 0;
  int first = 0;
  for (const auto& [cause, tally] : PlantAll()) {
    const std::string name(SlowCauseName(cause));
    for (const auto& [what, count] : {std::pair("asked", tally.asked),
                                      {"first", tally.first},
                                      {"near", tally.near},
                                      {"hidden", tally.hidden},
                                      {"enough", tally.enough},
                                      {"not blamed", tally.not_blamed}}) {
      ::testing::Test::RecordProperty(name + " " + what, count);
    }
    asked += tally.asked;
    first += tally.first;
    EXPECT_GE(tally.asked, 3) << name;
    if (cause != SlowCause::kWork) {
      EXPECT_GE(tally.enough * 100, tally.asked * 99) << name;
      EXPECT_GE(tally.not_blamed * 100, tally.hidden * 98) << name;
    }
    // Others take what was beside them off the path, or vary by themselves:
    // docs/how-it-works/variance.md.
    if (cause == SlowCause::kOperator || cause == SlowCause::kTrend) {
      EXPECT_GE(tally.near * 100, tally.asked * 95) << name;
    }
  }
  EXPECT_GE(asked * 5, static_cast<int>(Runs()) * 2);
  EXPECT_GE(first * 100, asked * 99);
}

// The batch of every seventh step comes late: a period; all steps take longer each: a trend.
TEST(VarianceTwins, FindsThePeriodAndTheTrend) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    SimulationConfig config;
    config.seed = seed;
    config.steps = 29;
    config.jitter = 0.02;
    config.program = ProgramKind::kHostBound;
    config.slow_steps = {{SlowCause::kDataStall, 60}};
    const Tables stalls = Ask(simulation::Simulate(config), {});
    EXPECT_EQ(Ints(stalls[0], "period")[0], 7) << seed;
    config.program = ProgramKind::kDeviceBound;
    config.slow_steps = {{SlowCause::kTrend, 2}};
    const Tables slower = Ask(simulation::Simulate(config), {});
    EXPECT_GT(Ints(slower[0], "trend_low_ns")[0], 0) << seed;
    EXPECT_TRUE(slower[0].Find("period")->IsMissing(0)) << seed;
  }
}

}  // namespace
}  // namespace borescope::internal
