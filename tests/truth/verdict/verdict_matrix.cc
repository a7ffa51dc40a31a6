#include "tests/truth/verdict/verdict_matrix.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

#include "borescope/base/parallel.h"
#include "tests/truth/verdict/known_findings.h"

namespace borescope::internal::testkit {
namespace {

using scenario::Cause;
using scenario::Plant;
using scenario::PlantConfig;
using scenario::PlantedRank;
using scenario::PlantedRun;
using scenario::Setting;

// Threads that judge runs.
constexpr int kThreads = 2;

double Share(int64_t part, int64_t whole) {
  return static_cast<double>(part) / static_cast<double>(std::max<int64_t>(whole, 1));
}

template <class Get>
int64_t SumOver(const PlantedRun& run, const Get& get) {
  int64_t sum = 0;
  for (const PlantedRank& rank : run.ranks) {
    sum += get(rank);
  }
  return sum;
}

// The value of a finding about ranks that are planted: of all waiting what is for the late rank, or
// the two; of the span of all ranks what is waiting.
std::optional<double> ShareOfWaiting(std::string_view label, const PlantConfig& config,
                                     const PlantedRun& run, int64_t span_ns) {
  const int64_t all_ns = std::accumulate(run.waiting_ns.begin(), run.waiting_ns.end(), int64_t{0});
  const size_t ranks = run.waiting_ns.size();
  const auto late = static_cast<size_t>(std::max(0, run.straggler));
  if (label == "one rank" && config.Has(Cause::kStraggler)) {
    return Share(run.waiting_ns[late], all_ns);
  }
  if (label == "several ranks" && config.Has(Cause::kSlowHalf)) {
    return Share(run.waiting_ns[late] + run.waiting_ns[(late + ranks / 2) % ranks], all_ns);
  }
  return label == "ranks in turn" && config.Has(Cause::kLateInTurn)
             ? std::optional(Share(all_ns, span_ns))
             : std::nullopt;
}

// By how much the value of a finding differs from the truth: from what one of the plants that it
// may be about costs, or several of them together, whatever is nearest.
std::optional<double> ErrorOf(double value, std::string_view label, const PlantConfig& config,
                              const PlantedRun& run) {
  const int64_t span_ns = SumOver(run, [](const PlantedRank& rank) { return rank.truth.span_ns; });
  if (const std::optional<double> share = ShareOfWaiting(label, config, run, span_ns)) {
    return std::abs(value - *share);
  }
  std::vector<int64_t> sums{0};
  for (size_t plant = 0; plant < config.plants.size(); ++plant) {
    const Cause cause = config.plants[plant].cause;
    if (!Names(label, cause, config.setting) && !Follows(label, cause, config.seed)) {
      continue;
    }
    const int64_t planted_ns =
        SumOver(run, [&](const PlantedRank& rank) { return rank.truth.planted_ns[plant]; });
    for (size_t i = sums.size(); i > 0; --i) {
      sums.push_back(sums[i - 1] + planted_ns);
    }
  }
  std::optional<double> least;
  for (size_t i = 1; i < sums.size(); ++i) {
    const double error = std::abs(value - Share(sums[i], span_ns));
    least = std::min(least.value_or(error), error);
  }
  return least;
}

bool IsPlanted(std::string_view label, const PlantConfig& config) {
  return std::any_of(config.plants.begin(), config.plants.end(), [&](const Plant& plant) {
    return Names(label, plant.cause, config.setting) || Follows(label, plant.cause, config.seed);
  });
}

void Compare(const VerdictLine& line, std::string_view label, const PlantConfig& config,
             const PlantedRun& run, Judgement& judgement) {
  const std::optional<double> error =
      label == "uneven ranks" ? std::nullopt : ErrorOf(line.value, label, config, run);
  if (error.has_value() && *error > judgement.most_off) {
    judgement.most_off = *error;
    judgement.where = fmt::format("{} {:.3f}, off by {:.3f}: {}", line.finding, line.value, *error,
                                  line.evidence);
  }
}

bool IsNamed(const Plant& plant, Setting setting, const std::vector<std::string_view>& labels) {
  return LabelFor(plant.cause, setting).empty() ||
         std::any_of(labels.begin(), labels.end(),
                     [&](std::string_view label) { return Names(label, plant.cause, setting); });
}

// "late-host:10,sync:10, seed 7 of skew".
std::string NameOf(const PlantConfig& config) {
  std::string plants;
  for (const Plant& plant : config.plants) {
    plants += fmt::format("{}:{},", CauseName(plant.cause), plant.percent);
  }
  return fmt::format("{} seed {} of {}", plants, config.seed, SettingName(config.setting));
}

void Add(const PlantConfig& config, const Judgement& judgement, Counts& counts) {
  const bool is_good = judgement.is_first_right && judgement.wrong.empty() && judgement.names_all;
  ++counts.runs;
  counts.first_right += judgement.is_first_right ? 1 : 0;
  counts.all_named += judgement.names_all ? 1 : 0;
  counts.with_wrong += judgement.wrong.empty() ? 0 : 1;
  ++counts.firsts[judgement.first];
  if (!is_good || judgement.most_off > std::max(counts.most_off, 0.015)) {
    counts.example += fmt::format("\n  {}: first {}, wrong {}; {}", NameOf(config), judgement.first,
                                  fmt::join(judgement.wrong, ","), judgement.where);
  }
  counts.most_off = std::max(counts.most_off, judgement.most_off);
}

}  // namespace

Judgement Judge(const PlantConfig& config) {
  const PlantedRun run = MakePlantedRun(config);
  Judgement judgement;
  std::vector<std::string_view> labels;
  for (const VerdictLine& line : VerdictOf(run, config.setting)) {
    const std::string_view label = LabelOf(line.finding);
    if (label.empty()) {
      continue;
    }
    labels.push_back(label);
    Compare(line, label, config, run, judgement);
    if (!IsPlanted(label, config)) {
      judgement.wrong.emplace_back(label);
    }
  }
  judgement.first = labels.empty() ? "none" : std::string(labels.front());
  const bool loses = std::any_of(
      config.plants.begin(), config.plants.end(),
      [&](const Plant& plant) { return !LabelFor(plant.cause, config.setting).empty(); });
  judgement.is_first_right = labels.empty() ? !loses : IsPlanted(labels.front(), config);
  for (const Plant& plant : config.plants) {
    judgement.names_all = judgement.names_all && IsNamed(plant, config.setting, labels);
  }
  return judgement;
}

std::vector<Counts> CountAll(const std::vector<Row>& rows) {
  std::vector<Counts> counts(rows.size());
  ParallelFor(rows.size(), kThreads, [&](size_t row) {
    for (const PlantConfig& config : rows[row]) {
      Add(config, Judge(config), counts[row]);
    }
  });
  return counts;
}

}  // namespace borescope::internal::testkit
