#include "tests/support/planted/planted_actor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace borescope::scenario {
namespace {

// What a host that is late may have recorded of what it does; nothing is the third of them.
constexpr std::string_view kHostFrames[] = {"train.py(41): tokenize", "train.py(58): augment", ""};
constexpr std::string_view kLoaders[] = {
    "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__",
    "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"};
constexpr std::string_view kWaits[] = {"cudaStreamSynchronize", "cudaDeviceSynchronize",
                                       "cudaEventSynchronize"};
constexpr std::string_view kCopies[] = {"Memcpy HtoD (Pinned -> Device)",
                                        "Memcpy DtoH (Device -> Pinned)",
                                        "Memcpy HtoD (Pageable -> Device)"};
constexpr std::string_view kUntracedCalls[] = {"hipMemcpy", "cudaMemcpy", "cudaMemcpy2D",
                                               "hipMemcpyWithStream"};
constexpr std::string_view kAllocationCalls[] = {"cudaMalloc", "cudaFree", "cudaHostAlloc"};
// Of PyTorch's profiler on an H100, and how many operators it records around a launch.
constexpr ProfilerCost kProfilerCost{2000, 600, 5600};
constexpr int64_t kNesting = 12;  // that call others
constexpr std::string_view kExtraKernel = "embedding_bag_kernel";
constexpr int64_t kLateKinds = 4;
constexpr int64_t kOwnNs = 1 * kUsNs;  // of a nested operator

template <class List>
std::string_view Pick(const List& list, uint64_t seed) {
  return list[seed % std::size(list)];
}

int64_t FreeAtBegin(const PlantConfig& config, const PlantedPlan& plan) {
  int64_t free_ns = plan.begin_ns;
  for (size_t plant = 0; plant < config.plants.size(); ++plant) {
    free_ns += config.plants[plant].cause == Cause::kBeforeRecording ? plan.wanted_ns[plant] : 0;
  }
  return free_ns;
}

}  // namespace

PlantedActor::PlantedActor(const PlantConfig& config, const PlantedPlan& plan, int rank,
                           PlantedRank* out, Script* script)
    : config_(config),
      plan_(plan),
      rank_(rank),
      out_(out),
      machine_(MixSeed(config.seed) + static_cast<uint64_t>(rank), plan.begin_ns,
               FreeAtBegin(config, plan), out, script) {
  out_->truth.planted_ns.resize(config.plants.size());
  if (config.setting == Setting::kProfiled) {
    nesting_ = kNesting;
    machine_.SetCost(script->is_replayed() ? kProfilerCost : ProfilerCost());
  }
  InheritSteps();
  if (config.Has(Cause::kBeforeRecording)) {
    Random random(config.seed + 1);
    for (int64_t count = 1 + random.Below(6); count > 0; --count) {
      machine_.Inherit({"sm80_xmma_gemm_f16f16", (30 + random.Below(200)) * kUsNs},
                       config.seed % 2 == 0);
    }
  }
}

void PlantedActor::RunStep(size_t step) {
  const int64_t begin_ns = machine_.now_ns();
  const size_t frame = out_->frames.size();
  out_->frames.push_back({FrameKind::kAnnotation, "ProfilerStep#" + std::to_string(step), 100, 101,
                          begin_ns, begin_ns});
  machine_.DoUntil(FrameKind::kOp, "aten::zero_", begin_ns + machine_.JitterUs(2, 4));
  for (size_t plant = 0; plant < config_.plants.size() && step == 0; ++plant) {
    if (config_.plants[plant].cause == Cause::kSetup) {
      machine_.DoUntil(FrameKind::kPython, "train.py(12): build_index",
                       begin_ns + plan_.wanted_ns[plant]);
      Count(plant, plan_.wanted_ns[plant]);
    } else if (config_.plants[plant].cause == Cause::kBeforeRecording) {
      Count(plant, plan_.wanted_ns[plant]);
    }
  }
  if (step >= plan_.steps_ahead) {
    machine_.WaitFor(step_ends_[step - plan_.steps_ahead], "cudaEventSynchronize");
  }
  for (size_t i = 0; i < plan_.items_per_step; ++i) {
    RunItem(step * plan_.items_per_step + i);
  }
  RunOptimizer();
  ComeLate(step);
  step_ends_.push_back(machine_.free_ns());
  out_->frames[frame].end_ns = machine_.now_ns();
}

void PlantedActor::RunItem(size_t item) {
  if (const auto sites = plan_.sites.find(item); sites != plan_.sites.end()) {
    waiting_.insert(waiting_.end(), sites->second.begin(), sites->second.end());
  }
  for (size_t i = 0; i < waiting_.size(); ++i) {
    const PlantSite site = waiting_[i];
    if (Perform(site, item)) {
      waiting_.erase(waiting_.begin() + static_cast<ptrdiff_t>(i));
      return;
    }
  }
  LaunchItem(item);
}

int64_t PlantedActor::LaunchIn(const OpCall& op, const std::vector<MachineWork>& works,
                               const LaunchAs& as) {
  const ProfilerCost& cost = machine_.cost();
  machine_.Pass(cost.before_op_ns);
  const int64_t begin_ns = machine_.now_ns();
  const int64_t idle_ns = machine_.Launch(works, as);
  out_->frames.push_back({.kind = FrameKind::kOp,
                          .name = std::string(op.name),
                          .pid = 100,
                          .tid = 101,
                          .begin_ns = begin_ns,
                          .end_ns = machine_.now_ns(),
                          .input_dims = op.input_dims,
                          .input_types = std::string(op.input_types)});
  machine_.Pass(cost.after_op_ns);
  return idle_ns;
}

// An operator that calls another and launches nothing.
void PlantedActor::CallInOperator() {
  const ProfilerCost& cost = machine_.cost();
  machine_.Pass(cost.before_op_ns);
  const int64_t outer_ns = machine_.now_ns();
  machine_.Pass(cost.before_op_ns);
  const int64_t inner_ns = machine_.now_ns();
  machine_.Pass(2 * kOwnNs);
  out_->frames.push_back(
      {FrameKind::kOp, "aten::as_strided", 100, 101, inner_ns, machine_.now_ns()});
  machine_.Pass(cost.after_op_ns);
  out_->frames.push_back({FrameKind::kOp, "aten::view", 100, 101, outer_ns, machine_.now_ns()});
  machine_.Pass(cost.after_op_ns);
}

// Square matrices, which the device multiplies in the time of the kernels at a third of its peak.
int64_t PlantedActor::LaunchItem(size_t item, const LaunchAs& as) {
  constexpr double kFlopsPerNs = 300e3;
  int64_t ns = 0;
  for (const MachineWork& work : plan_.items[item]) {
    ns += work.dur_ns;
  }
  const auto size = std::llround(std::cbrt(static_cast<double>(ns) * kFlopsPerNs / 2));
  const ProfilerCost& cost = machine_.cost();
  machine_.Pass(nesting_ > 0 ? cost.before_op_ns : 0);
  const int64_t begin_ns = machine_.now_ns();
  for (int64_t i = 0; i < nesting_; ++i) {
    CallInOperator();
  }
  const int64_t idle_ns =
      LaunchIn({"aten::linear", fmt::format("[[{0}, {0}], [{0}, {0}], []]", size),
                R"(["c10::BFloat16", "c10::BFloat16", ""])"},
               plan_.items[item], as);
  if (nesting_ > 0) {
    out_->frames.push_back({FrameKind::kOp, "nn::Module", 100, 101, begin_ns, machine_.now_ns()});
    machine_.Pass(cost.after_op_ns);
  }
  return idle_ns;
}

// A sum of vectors of two bytes a number, at 60 to 95 % of the bandwidth.
void PlantedActor::LaunchMemoryBound(int64_t ns) {
  constexpr double kBytesPerNs = 3352;
  constexpr double kVectors = 3;
  const double part = 0.6 + 0.05 * static_cast<double>(config_.seed % 8);
  const auto size = std::llround(static_cast<double>(ns) * kBytesPerNs * part / kVectors / 2);
  LaunchIn({"aten::add", fmt::format("[[{0}], [{0}], []]", size),
            R"(["c10::BFloat16", "c10::BFloat16", "Scalar"])"},
           {{"vectorized_elementwise_kernel<add>", ns}});
}

// 32-bit numbers at three quarters of the peak of the vector units.
void PlantedActor::LaunchFp32Product(int64_t ns) {
  constexpr double kFlopsPerNs = 50e3;
  const auto size = std::llround(std::cbrt(static_cast<double>(ns) * kFlopsPerNs / 2));
  LaunchIn({"aten::mm", fmt::format("[[{0}, {0}], [{0}, {0}]]", size), R"(["float", "float"])"},
           {{"ampere_sgemm_128x64_nn", ns}});
}

void PlantedActor::InheritSteps() {
  for (size_t i = plan_.items.size() - plan_.inherited; i < plan_.items.size(); ++i) {
    machine_.Inherit(plan_.items[i].front(), true);
  }
}

void PlantedActor::CatchUp() {
  const int64_t done_ns = machine_.free_ns();
  machine_.Launch({{"elementwise_kernel<fill>", 15 * kUsNs}});
  machine_.WaitFor(done_ns, "cudaEventSynchronize");
}

// The caching allocator waits for the device before it frees.
void PlantedActor::Allocate(const PlantSite& site, size_t item) {
  CatchUp();
  machine_.CallUntil(Pick(kAllocationCalls, config_.seed), machine_.free_ns() + site.ns);
  Count(site.plant, LaunchItem(item));
}

template <class Launch>
void PlantedActor::RepeatUntil(int64_t ns, const Launch& launch) {
  Script& script = machine_.script();
  const int64_t known = script.is_replayed() ? script.Same(0) : 0;
  int64_t count = 0;
  for (int64_t idle_ns = 0; script.is_replayed() ? count < known : idle_ns < ns; ++count) {
    idle_ns += launch();
  }
  if (!script.is_replayed()) {
    script.Same(count);
  }
}

void PlantedActor::RunOptimizer() {
  for (size_t plant = 0; plant < config_.plants.size(); ++plant) {
    if (config_.plants[plant].cause != Cause::kOptimizer) {
      continue;
    }
    const auto steps = static_cast<int64_t>(plan_.items.size() / plan_.items_per_step);
    CatchUp();
    const size_t frame = out_->frames.size();
    out_->frames.push_back({FrameKind::kAnnotation, "Optimizer.step#AdamW.step", 100, 101,
                            machine_.now_ns(), machine_.now_ns()});
    RepeatUntil(plan_.wanted_ns[plant] / steps, [&] {
      const int64_t idle_ns =
          LaunchIn({"aten::addcdiv_", "[[64], [64], [64]]", R"(["float", "float", "float"])"},
                   {{"elementwise_kernel<addcdiv>", machine_.JitterUs(2, 3)}});
      Count(plant, idle_ns);
      return idle_ns;
    });
    out_->frames[frame].end_ns = machine_.now_ns();
  }
}

bool PlantedActor::Perform(const PlantSite& site, size_t item) {
  const Cause cause = CauseOf(site);
  const int64_t ahead_ns = machine_.free_ns() - machine_.now_ns();
  switch (cause) {
    case Cause::kSync:
    case Cause::kLongWait:
      if (ahead_ns <= site.ns + site.ns / 20) {
        return false;
      }
      WaitThenWork(site.ns);
      break;
    case Cause::kLaunchBound:
      LaunchTiny(site);
      LaunchItem(item);
      return true;
    case Cause::kGraphGaps:
      LaunchGraph(site);
      LaunchItem(item);
      return true;
    case Cause::kCopies:
      machine_.Launch({{Pick(kCopies, config_.seed), site.ns, true, false}});
      Count(site.plant, site.ns);
      LaunchItem(item);
      return true;
    case Cause::kCommunication:
      machine_.Launch({{"ncclDevKernel_AllGather_RING_LL", site.ns, false, true}});
      Count(site.plant, site.ns);
      LaunchItem(item);
      return true;
    case Cause::kAllocation:
      Allocate(site, item);
      return true;
    case Cause::kFp32Products:
      LaunchFp32Product(site.ns);
      Count(site.plant, site.ns);
      LaunchItem(item);
      return true;
    case Cause::kMemoryBound:
      LaunchMemoryBound(site.ns);
      Count(site.plant, site.ns);
      LaunchItem(item);
      return true;
    default:
      break;
  }
  const int64_t idle_ns = PerformLaunch(cause, site.ns, item);
  // What the host did before the first launch is no part of a late begin.
  Count(site.plant, cause == Cause::kLateBegin ? site.ns : idle_ns);
  return true;
}

int64_t PlantedActor::PerformLaunch(Cause cause, int64_t ns, size_t item) {
  // A host that is recorded has no lead: so that it loses none, it had read a result before.
  if (config_.setting == Setting::kProfiled && cause != Cause::kHeldBack &&
      cause != Cause::kLateBegin) {
    CatchUp();
  }
  const int64_t until_ns = machine_.free_ns() + ns;
  LaunchAs as;
  if (cause == Cause::kLateHost) {
    machine_.DoUntil(FrameKind::kPython, Pick(kHostFrames, config_.seed), until_ns);
  } else if (cause == Cause::kHostPause) {
    machine_.DoUntil(FrameKind::kPython, "<built-in method collect of module gc>", until_ns);
  } else if (cause == Cause::kDataLoading) {
    machine_.DoUntil(FrameKind::kAnnotation, Pick(kLoaders, config_.seed), until_ns);
  } else if (cause == Cause::kCodeLoading) {
    as.call_ns = machine_.script().Same(std::max<int64_t>(until_ns - machine_.now_ns(), ns));
  } else if (cause == Cause::kHeldBack || cause == Cause::kLateBegin) {
    as.held_ns = ns;
  } else if (cause == Cause::kUntraced) {
    machine_.CallUntil(Pick(kUntracedCalls, config_.seed), until_ns);
  } else if (cause == Cause::kSilentHost) {
    machine_.DoUntil(FrameKind::kPython, "", until_ns);
  } else if (cause == Cause::kUnlinked) {
    machine_.DoUntil(FrameKind::kPython, "", until_ns);
    as.is_recorded = false;
  }
  return LaunchItem(item, as);
}

// Had the host not waited, it would have done the same while the device was busy.
void PlantedActor::WaitThenWork(int64_t ns) {
  machine_.WaitFor(machine_.free_ns(), Pick(kWaits, config_.seed));
  machine_.DoUntil(FrameKind::kPython, Pick(kHostFrames, config_.seed / 3), machine_.now_ns() + ns);
}

// Kernels that are queued do not wait for their launch; nor is what comes before the first lost to
// launching.
void PlantedActor::LaunchTiny(const PlantSite& site) {
  const OpCall fill{"aten::fill_", "[[64], []]", R"(["float", "Scalar"])"};
  LaunchIn(fill, {{"elementwise_kernel<fill>", machine_.JitterUs(2, 3)}});
  RepeatUntil(site.ns, [&] {
    const bool is_queued = machine_.free_ns() > machine_.now_ns() + 3 * kUsNs;
    const int64_t here_ns = LaunchIn(fill, {{"elementwise_kernel<fill>", machine_.JitterUs(2, 3)}});
    Count(site.plant, is_queued ? 0 : here_ns);
    return is_queued ? 0 : here_ns;
  });
}

// The same on all ranks.
void PlantedActor::LaunchGraph(const PlantSite& site) {
  Random random(config_.seed + static_cast<uint64_t>(site.ns));
  const int64_t pause_ns = (10 + random.Below(30)) * kUsNs;
  std::vector<MachineWork> works(static_cast<size_t>(site.ns / pause_ns) + 1);
  for (MachineWork& work : works) {
    work = {"triton_poi_fused_add_0", (12 + random.Below(18)) * kUsNs};
  }
  LaunchAs as;
  as.between_ns = pause_ns;
  as.call = "cudaGraphLaunch";
  Count(site.plant, machine_.Launch(works, as));
}

// Whether the rank comes late in this step.
bool PlantedActor::IsLate(Cause cause, size_t step) const {
  const auto late = static_cast<size_t>(std::max(0, plan_.straggler));
  const auto ranks = static_cast<size_t>(plan_.ranks);
  const auto rank = static_cast<size_t>(rank_);
  switch (cause) {
    case Cause::kSlowHalf:
      return rank == late || rank == (late + ranks / 2) % ranks;
    case Cause::kLateInTurn:
      return rank == (late + step) % ranks;
    default:
      return rank == late;
  }
}

// A rank that is late has more work, or a late host: a straggler in each step or in one.
void PlantedActor::ComeLate(size_t step) {
  const auto plant =
      static_cast<size_t>(std::find_if(config_.plants.begin(), config_.plants.end(),
                                       [](const Plant& one) { return IsOfRanks(one.cause); }) -
                          config_.plants.begin());
  if (plant == config_.plants.size() || !IsLate(config_.plants[plant].cause, step)) {
    return;
  }
  const size_t steps = plan_.items.size() / plan_.items_per_step;
  const bool is_once =
      config_.plants[plant].cause == Cause::kStraggler && config_.seed % kLateKinds == 3;
  if (is_once && step != 1) {
    return;
  }
  const int64_t ns = plan_.wanted_ns[plant] / (is_once ? 1 : static_cast<int64_t>(steps));
  if (config_.seed % kLateKinds == 1) {
    machine_.DoUntil(FrameKind::kPython, kHostFrames[0], machine_.free_ns() + ns);
  } else if (config_.seed % kLateKinds == 2) {
    machine_.DoUntil(FrameKind::kAnnotation, kLoaders[0], machine_.free_ns() + ns);
  } else {
    machine_.Launch({{kExtraKernel, ns}});
  }
  Count(plant, ns);
}

void PlantedActor::Finish() {
  machine_.WaitFor(machine_.free_ns(), "cudaDeviceSynchronize");
  for (size_t plant = 0; plant < config_.plants.size(); ++plant) {
    if (config_.plants[plant].cause == Cause::kTeardown) {
      machine_.DoUntil(FrameKind::kPython, "train.py(90): save_log",
                       machine_.free_ns() + plan_.wanted_ns[plant]);
      Count(plant, plan_.wanted_ns[plant]);
    }
  }
  machine_.Finish();
}

}  // namespace borescope::scenario
