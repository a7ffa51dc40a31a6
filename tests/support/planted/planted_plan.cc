#include "tests/support/planted/planted_plan.h"

#include <algorithm>

namespace borescope::scenario {
namespace {

constexpr int kRanksThatDiffer = 4;

int64_t Between(Random& random, int64_t low, int64_t high) {
  return low + random.Below(high - low + 1);
}

// Kernels of 30 to 300 us, of which no name takes most of the time.
MachineWork RandomKernel(Random& random) {
  static constexpr std::string_view kNames[] = {
      "ampere_bf16_s16816gemm_bf16",  "sm80_xmma_gemm_f16f16",   "flash_fwd_kernel",
      "vectorized_layer_norm_kernel", "elementwise_kernel<add>", "softmax_warp_forward"};
  return {kNames[random.Below(std::size(kNames))], Between(random, 30, 300) * kUsNs};
}

void AddItems(const PlantConfig& config, Random& random, PlantedPlan& plan) {
  const int64_t steps = Between(random, 4, 7);
  const bool has_graphs = config.setting == Setting::kGraphs;
  plan.items_per_step = static_cast<size_t>(Between(random, 18, 26) / (has_graphs ? 3 : 1));
  for (size_t item = 0; item < plan.items_per_step * static_cast<size_t>(steps); ++item) {
    std::vector<MachineWork> works;
    for (int64_t count = has_graphs ? Between(random, 2, 4) : 1; count > 0; --count) {
      works.push_back(RandomKernel(random));
    }
    plan.items.push_back(std::move(works));
  }
}

int64_t BusyTime(const PlantedPlan& plan) {
  int64_t ns = 0;
  for (const auto& works : plan.items) {
    for (const MachineWork& work : works) {
      ns += work.dur_ns;
    }
  }
  return ns;
}

constexpr size_t kMostInherited = 90;

int64_t InheritedTime(const PlantedPlan& plan) {
  int64_t ns = 0;
  for (size_t i = plan.items.size() - plan.inherited; i < plan.items.size(); ++i) {
    ns += plan.items[i].front().dur_ns;
  }
  return ns;
}

// At how many places of the program.
int64_t SitesOf(Cause cause, Random& random) {
  switch (cause) {
    case Cause::kHostPause:
    case Cause::kLongWait:
    case Cause::kLaunchBound:
    case Cause::kSetup:
    case Cause::kTeardown:
    case Cause::kBeforeRecording:
    case Cause::kLateBegin:
    case Cause::kStraggler:
    case Cause::kSlowHalf:
    case Cause::kLateInTurn:
      return 1;
    case Cause::kCodeLoading:
      return Between(random, 1, 4);
    case Cause::kHeldBack:
    case Cause::kSilentHost:
      return Between(random, 2, 3);
    default:
      return Between(random, 4, 8);
  }
}

// Causes that are no part of an item.
bool IsOutside(Cause cause) {
  return cause == Cause::kSetup || cause == Cause::kTeardown || IsOfRanks(cause) ||
         cause == Cause::kBeforeRecording || cause == Cause::kOptimizer;
}

// By how much kernels have to be longer so that a plant at its share is what it shall be: pauses of
// more than 50 ms each, more than 100 launches in each step.
int64_t StretchFor(const PlantConfig& config, int64_t percent, const PlantedPlan& plan) {
  constexpr int64_t kPauses = 300'000'000;
  constexpr int64_t kLaunchesOfStep = 1'400'000;
  const int64_t busy_ns = BusyTime(plan);
  const auto steps = static_cast<int64_t>(plan.items.size() / plan.items_per_step);
  int64_t stretch = 1;
  for (const Plant& plant : config.plants) {
    const int64_t least_ns = plant.cause == Cause::kSilentHost  ? kPauses
                             : plant.cause == Cause::kOptimizer ? kLaunchesOfStep * steps
                                                                : 0;
    const int64_t wanted_ns = busy_ns * plant.percent / (100 - percent);
    stretch = std::max(stretch, (least_ns + wanted_ns - 1) / wanted_ns);
  }
  return stretch;
}

// Kernels so short that a host that is recorded is slower than the device.
constexpr int64_t kShorterIfProfiled = 2;

void Stretch(PlantedPlan& plan, int64_t factor, int64_t divisor) {
  for (std::vector<MachineWork>& works : plan.items) {
    for (MachineWork& work : works) {
      work.dur_ns = work.dur_ns * factor / divisor;
    }
  }
}

void AddSites(const PlantConfig& config, Random& random, PlantedPlan& plan) {
  for (size_t plant = 0; plant < config.plants.size(); ++plant) {
    const Cause cause = config.plants[plant].cause;
    if (IsOutside(cause)) {
      continue;
    }
    const int64_t count = SitesOf(cause, random);
    const auto part = static_cast<int64_t>(plan.items.size()) / count;
    for (int64_t i = 0; i < count; ++i) {
      const int64_t item = cause == Cause::kLaunchBound || cause == Cause::kLateBegin
                               ? 0
                               : i * part + part / 3 + random.Below(part / 2 + 1);
      const int64_t ns = plan.wanted_ns[plant] / count;
      std::vector<PlantSite>& sites = plan.sites[static_cast<size_t>(item)];
      const bool is_first = cause == Cause::kLateBegin;
      sites.insert(is_first ? sites.begin() : sites.end(),
                   {plant, count < 3 ? ns : random.Jitter(ns, 350)});
    }
  }
}

}  // namespace

PlantedPlan MakePlan(const PlantConfig& config, Random& random) {
  PlantedPlan plan;
  AddItems(config, random, plan);
  int64_t percent = 0;
  for (const Plant& plant : config.plants) {
    percent += plant.percent;
  }
  Stretch(plan, StretchFor(config, percent, plan),
          config.setting == Setting::kProfiled ? kShorterIfProfiled : 1);
  if (config.setting == Setting::kInherited) {
    plan.inherited = static_cast<size_t>(Between(
        random, 1, static_cast<int64_t>(std::min(2 * plan.items_per_step, kMostInherited))));
  }
  const int64_t busy_ns = BusyTime(plan) + InheritedTime(plan);
  for (const Plant& plant : config.plants) {
    plan.wanted_ns.push_back(busy_ns * plant.percent / (100 - percent));
  }
  AddSites(config, random, plan);
  const bool waits = config.Has(Cause::kSync) || config.Has(Cause::kLongWait);
  plan.steps_ahead = waits ? plan.items.size() : config.setting == Setting::kOverlap ? 4 : 2;
  plan.begin_ns = Between(random, 0, 1'000'000);
  plan.skew_ns = config.setting == Setting::kSkew ? Between(random, -100, 100) * kUsNs : 0;
  if (std::any_of(config.plants.begin(), config.plants.end(),
                  [](const Plant& plant) { return IsOfRanks(plant.cause); })) {
    plan.ranks = kRanksThatDiffer;
    plan.straggler = static_cast<int>(random.Below(kRanksThatDiffer));
  }
  return plan;
}

}  // namespace borescope::scenario
