#include "tests/support/planted/planted_run.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "tests/support/planted/planted_actor.h"
#include "tests/support/planted/planted_plan.h"

namespace borescope::scenario {
namespace {

constexpr std::string_view kCauseNames[] = {
    "late-host",        "host-pause",    "sync",         "long-wait",
    "data-loading",     "code-loading",  "launch-bound", "graph-gaps",
    "held-back",        "setup",         "teardown",     "unlinked",
    "before-recording", "late-begin",    "untraced",     "allocation",
    "silent-host",      "optimizer",     "copies",       "communication",
    "memory-bound",     "fp32-products", "straggler",    "slow-half",
    "late-in-turn"};
static_assert(std::size(kCauseNames) == static_cast<size_t>(Cause::kCount));

constexpr std::string_view kSettingNames[] = {"plain",     "graphs",    "skew",    "overlap",
                                              "processes", "threads",   "rounded", "whole-process",
                                              "twins",     "inherited", "profiled"};
static_assert(std::size(kSettingNames) == static_cast<size_t>(Setting::kCount));

template <class E, size_t kSize>
std::optional<E> Find(const std::string_view (&names)[kSize], std::string_view name) {
  const auto* const found = std::find(std::begin(names), std::end(names), name);
  return found == std::end(names) ? std::nullopt
                                  : std::optional<E>(static_cast<E>(found - std::begin(names)));
}

// All ranks come to the collective of a step, which ends for all of them at once.
void RunCollective(std::vector<PlantedActor>& actors, Random& random,
                   std::vector<int64_t>& waiting) {
  std::vector<int64_t> begins;
  for (PlantedActor& actor : actors) {
    begins.push_back(actor.BeginCollective());
  }
  const auto last = std::max_element(begins.begin(), begins.end());
  const int64_t end_ns = *last + 15 * kUsNs + random.Below(10 * kUsNs);
  for (size_t rank = 0; rank < actors.size(); ++rank) {
    waiting[static_cast<size_t>(last - begins.begin())] += *last - begins[rank];
    actors[rank].EndCollective(end_ns);
  }
}

// Small work of another thread or process, which knows nothing of the first one: some runs beside
// its work, some while it has none.
void AddOther(Random& random, bool is_process, PlantedRank& rank) {
  const int64_t pid = is_process ? 200 : 100;
  const int64_t tid = is_process ? 201 : 102;
  const int64_t begin_ns = rank.work.front().begin_ns;
  const int64_t end_ns = rank.work.back().end_ns;
  int64_t correlation = 1'000'000;
  for (int64_t now_ns = begin_ns; now_ns < end_ns - 100 * kUsNs;) {
    now_ns += 200 * kUsNs + random.Below(800 * kUsNs);
    const int64_t work_end_ns = std::min(end_ns, now_ns + random.Jitter(30 * kUsNs, 300));
    if (work_end_ns <= now_ns) {
      break;
    }
    rank.frames.push_back({FrameKind::kCall, is_process ? "cudaLaunchKernel" : "cudaMemcpyAsync",
                           pid, tid, now_ns - 12 * kUsNs, now_ns - 6 * kUsNs, ++correlation});
    rank.work.push_back({!is_process,
                         is_process ? "resize_kernel" : "Memcpy HtoD (Pinned -> Device)", 0, 107,
                         now_ns, work_end_ns, correlation});
  }
}

// Another process that does the same at nearly the same time, as workers of one job do.
void AddTwin(Random& random, PlantedRank& rank) {
  constexpr int64_t kOtherPid = 200;
  constexpr int64_t kOtherCalls = 1'000'000;
  const int64_t shift_ns = random.Below(kUsNs);
  const auto move = [&](auto event) {
    event.begin_ns += shift_ns;
    event.end_ns += shift_ns;
    event.correlation += event.correlation == 0 ? 0 : kOtherCalls;
    return event;
  };
  const std::vector<PlantedFrame> frames = rank.frames;
  for (const PlantedFrame& frame : frames) {
    rank.frames.push_back(move(frame));
    rank.frames.back().pid = kOtherPid;
    rank.frames.back().tid = kOtherPid + 1;
  }
  const std::vector<PlantedWork> works = rank.work;
  for (const PlantedWork& work : works) {
    rank.work.push_back(move(work));
    rank.work.back().stream += 100;
  }
}

// As profilers with clocks of microseconds write them: begin and duration, cut off.
void RoundTimes(PlantedRank& rank) {
  const auto round = [](auto& event) {
    const int64_t dur_us = (event.end_ns - event.begin_ns) / kUsNs;
    event.begin_ns -= event.begin_ns % kUsNs;
    event.end_ns = event.begin_ns + dur_us * kUsNs;
  };
  std::for_each(rank.frames.begin(), rank.frames.end(), round);
  std::for_each(rank.work.begin(), rank.work.end(), round);
}

// Whether each plant costs about as much as it should. A host can only wait while the device is
// busy, which depends on what else is planted.
bool IsPlanted(const PlantConfig& config, const PlantedRun& run, const PlantedPlan& plan) {
  const size_t rank = run.straggler < 0 ? 0 : static_cast<size_t>(run.straggler);
  for (size_t plant = 0; plant < plan.wanted_ns.size(); ++plant) {
    int64_t planted_ns = run.ranks[rank].truth.planted_ns[plant];
    if (config.plants[plant].cause == Cause::kLateInTurn) {
      planted_ns = 0;
      for (const PlantedRank& one : run.ranks) {
        planted_ns += one.truth.planted_ns[plant];
      }
    }
    if (planted_ns < plan.wanted_ns[plant] * 7 / 10) {
      return false;
    }
  }
  return true;
}

PlantedRun TryRun(const PlantConfig& config, uint64_t attempt, Scripts& scripts, bool& is_planted) {
  Random random(config.seed + (attempt << 32));
  const PlantedPlan plan = MakePlan(config, random);
  PlantedRun run;
  run.straggler = plan.straggler;
  run.ranks.resize(static_cast<size_t>(plan.ranks));
  std::vector<PlantedActor> actors;
  scripts.resize(run.ranks.size());
  for (int rank = 0; rank < plan.ranks; ++rank) {
    const auto place = static_cast<size_t>(rank);
    actors.emplace_back(config, plan, rank, &run.ranks[place], &scripts[place]);
  }
  std::vector<int64_t> waiting(actors.size());  // for each rank
  for (size_t step = 0; step * plan.items_per_step < plan.items.size(); ++step) {
    for (PlantedActor& actor : actors) {
      actor.RunStep(step);
    }
    if (actors.size() > 1) {
      RunCollective(actors, random, waiting);
    }
  }
  for (size_t rank = 0; rank < actors.size(); ++rank) {
    actors[rank].Finish();
    if (config.setting == Setting::kProcesses || config.setting == Setting::kThreads) {
      AddOther(random, config.setting == Setting::kProcesses, run.ranks[rank]);
    } else if (config.setting == Setting::kRounded) {
      RoundTimes(run.ranks[rank]);
    } else if (config.setting == Setting::kTwins) {
      AddTwin(random, run.ranks[rank]);
    }
    for (PlantedWork& work : run.ranks[rank].work) {
      work.begin_ns += plan.skew_ns;
      work.end_ns += plan.skew_ns;
    }
  }
  run.waiting_ns = std::move(waiting);
  is_planted = IsPlanted(config, run, plan);
  return run;
}

// The same program, whose host the profiler slows.
PlantedRun RecordAgain(const PlantConfig& config, uint64_t attempt, Scripts& scripts) {
  for (Script& script : scripts) {
    script.Replay();
  }
  bool is_planted = false;
  return TryRun(config, attempt, scripts, is_planted);
}

}  // namespace

std::string_view CauseName(Cause cause) { return kCauseNames[static_cast<size_t>(cause)]; }
std::optional<Cause> FindCause(std::string_view name) { return Find<Cause>(kCauseNames, name); }
std::string_view SettingName(Setting setting) {
  return kSettingNames[static_cast<size_t>(setting)];
}
std::optional<Setting> FindSetting(std::string_view name) {
  return Find<Setting>(kSettingNames, name);
}

bool IsOfRanks(Cause cause) {
  return cause == Cause::kStraggler || cause == Cause::kSlowHalf || cause == Cause::kLateInTurn;
}

bool PlantConfig::Has(Cause cause) const {
  return std::any_of(plants.begin(), plants.end(),
                     [cause](const Plant& plant) { return plant.cause == cause; });
}

bool CanBePlanted(Cause cause, Setting setting) {
  switch (setting) {
    case Setting::kInherited:
      return cause != Cause::kSetup && cause != Cause::kLateBegin &&
             cause != Cause::kBeforeRecording;
    case Setting::kProfiled:
      return cause != Cause::kSync && cause != Cause::kLongWait && !IsOfRanks(cause);
    default:
      return true;
  }
}

PlantedRun MakePlantedRun(const PlantConfig& config) {
  constexpr uint64_t kAttempts = 20;
  bool is_planted = false;
  PlantedRun run;
  for (uint64_t attempt = 0; attempt < kAttempts && !is_planted; ++attempt) {
    Scripts scripts;
    run = TryRun(config, attempt, scripts, is_planted);
    if (config.setting == Setting::kProfiled && is_planted) {
      PlantedRun recorded = RecordAgain(config, attempt, scripts);
      for (size_t rank = 0; rank < run.ranks.size(); ++rank) {
        recorded.ranks[rank].truth = run.ranks[rank].truth;
      }
      return recorded;
    }
  }
  return run;
}

std::optional<std::vector<Plant>> ParsePlants(std::string_view text) {
  constexpr int kMostPercent = 80;  // the rest of the run is healthy
  std::vector<Plant> plants;
  int percent = 0;
  while (!text.empty()) {
    const std::string_view one = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), one.size() + 1));
    const size_t colon = one.find(':');
    const std::optional<Cause> cause = FindCause(one.substr(0, colon));
    Plant plant;
    if (colon != std::string_view::npos) {
      const std::string_view number = one.substr(colon + 1);
      const auto [end, error] =
          std::from_chars(number.data(), number.data() + number.size(), plant.percent);
      if (error != std::errc() || end != number.data() + number.size() || plant.percent < 1 ||
          plant.percent > 40) {
        return std::nullopt;
      }
    }
    if (!cause) {
      return std::nullopt;
    }
    plant.cause = *cause;
    plants.push_back(plant);
    percent += plant.percent;
  }
  return percent > kMostPercent ? std::nullopt : std::optional(plants);
}

}  // namespace borescope::scenario
