#include "tests/support/simulation/costs.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace borescope::simulation {
namespace {

int64_t Scaled(int64_t ns, double factor) {
  return factor == 1.0 ? ns : std::llround(static_cast<double>(ns) * factor);
}

int64_t BaseOf(const Constants& constants, Lag lag) {
  switch (lag) {
    case Lag::kLaunch:
      return constants.launch_ns;
    case Lag::kCopyLaunch:
      return constants.copy_launch_ns;
    case Lag::kGraphLaunch:
      return constants.graph_launch_ns;
    case Lag::kGap:
      return constants.gap_ns;
    case Lag::kGraphGap:
      return constants.graph_gap_ns;
    case Lag::kEvent:
      return constants.event_ns;
    case Lag::kReturn:
      return constants.return_ns;
    case Lag::kUnblock:
      return constants.unblock_ns;
    case Lag::kHandOver:
      return constants.hand_over_ns;
  }
  return 0;
}

bool IsComputeBound(const Work& work) {
  return work.work_class == WorkClass::kGemm || work.work_class == WorkClass::kAttention;
}

}  // namespace

Costs::Costs(const SimulationConfig& config, const Program& program)
    : config_(config), program_(program) {
  const DrawKey run{.seed = config.seed, .run = config.run, .draw = Draw::kRun};
  const DrawKey device{.seed = config.seed, .run = config.run, .draw = Draw::kRunDevice};
  host_factor_ = std::max(0.1, 1.0 + config.run_noise * Normal(run));
  device_factor_ = std::max(0.1, 1.0 + config.run_device_noise * Normal(device));
  if (config.step_noise > 0) MakeStepFactors();
  MakeNominalStep();
}

void Costs::MakeStepFactors() {
  const double kept = std::clamp(config_.step_correlation, 0.0, 1.0);
  const double fresh = std::sqrt(1.0 - kept * kept);
  for (int32_t rank = 0; rank < program_.ranks; ++rank) {
    std::vector<double>& factors = step_factors_.emplace_back();
    double noise = 0;
    for (int32_t step = 0; step <= program_.steps; ++step) {
      const double draw = Normal({.seed = config_.seed,
                                  .run = config_.run,
                                  .draw = Draw::kStep,
                                  .rank = rank,
                                  .step = step});
      noise = step == 0 ? draw : kept * noise + fresh * draw;
      factors.push_back(std::max(0.1, 1.0 + config_.step_noise * noise));
    }
  }
}

void Costs::MakeNominalStep() {
  int64_t host_ns = 0;
  int64_t work_ns = 0;
  for (const Thread& thread : program_.threads) {
    if (!thread.is_recorded) continue;
    for (const Instruction& instruction : thread.instructions) host_ns += instruction.ns;
  }
  for (const Work& work : program_.works) work_ns += work.ns;
  step_ns_ = std::max(host_ns, work_ns) / std::max(1, program_.steps);
}

int64_t Costs::OfStep(double percent) const { return Scaled(step_ns_, percent / 100); }

double Costs::Factor(Draw draw, int32_t rank, int32_t thread, int32_t step, int32_t item) const {
  if (config_.jitter <= 0) return 1.0;
  const DrawKey key{.seed = config_.seed,
                    .run = config_.run,
                    .draw = draw,
                    .rank = rank,
                    .thread = thread,
                    .step = step,
                    .item = item};
  return std::max(0.05, 1.0 + config_.jitter * Normal(key));
}

double Costs::StepFactor(int32_t rank, int32_t step) const {
  if (step_factors_.empty()) return 1.0;
  return step_factors_[static_cast<size_t>(rank)][static_cast<size_t>(step)];
}

int64_t Costs::Plant(int32_t rank, int32_t step, std::string_view cause, int64_t ns) {
  if (ns != 0) planted_[{rank, step, cause}] += ns;
  return ns;
}

// In -1 .. 1, the same for all that belongs to the step.
double Costs::Swing(Draw draw, int32_t step) const {
  return 2 * Uniform({.seed = config_.seed, .run = config_.run, .draw = draw, .step = step}) - 1;
}

int64_t Costs::HostNs(int32_t rank, int32_t thread, const Instruction& instruction) {
  // What only a twin does takes its host no time: the host of the recorded program does not do it.
  if (instruction.when == When::kOverlapped) return 0;
  const double own = Factor(Draw::kHost, rank, thread, instruction.step, instruction.item);
  const double factor = own * host_factor_ * StepFactor(rank, instruction.step);
  const int64_t ns = Scaled(instruction.ns, factor);
  int64_t added = 0;
  if (!config_.stragglers.empty()) added += StragglerHostNs(rank, instruction, ns);
  if (!config_.slow_steps.empty()) added += SlowHostNs(rank, thread, instruction, ns);
  return Scaled(std::max<int64_t>(0, ns + added), instruction.factor);
}

int64_t Costs::StragglerHostNs(int32_t rank, const Instruction& instruction, int64_t ns) {
  int64_t added = 0;
  for (const Straggler& straggler : config_.stragglers) {
    if (straggler.rank != rank) continue;
    const double share = straggler.percent / 100;
    const bool is_launch = instruction.action == Action::kLaunch;
    int64_t here = 0;
    if (straggler.cause == StragglerCause::kHost) here = Scaled(ns, share);
    if (straggler.cause == StragglerCause::kLaunch && is_launch) here = Scaled(ns, share);
    if (straggler.cause == StragglerCause::kData && instruction.is_data) {
      here = OfStep(straggler.percent);
    }
    if (straggler.cause == StragglerCause::kPause && instruction.can_pause &&
        instruction.step % 3 == 1) {
      here = OfStep(straggler.percent * 3);
    }
    added += Plant(rank, instruction.step, StragglerCauseName(straggler.cause), here);
  }
  return added;
}

int64_t Costs::SlowHostNs(int32_t rank, int32_t thread, const Instruction& instruction,
                          int64_t ns) {
  int64_t added = 0;
  const int32_t step = instruction.step;
  for (const SlowSteps& slow : config_.slow_steps) {
    int64_t here = 0;
    if (slow.cause == SlowCause::kDataStall && instruction.is_data && step % 7 == 6) {
      here = OfStep(slow.percent);
    }
    if (slow.cause == SlowCause::kPause && instruction.can_pause &&
        step == program_.steps / 2 + 1) {
      here = OfStep(slow.percent);
    }
    if (slow.cause == SlowCause::kHostTime && thread == 0 && !instruction.is_data) {
      here = Scaled(ns, slow.percent / 100 * Swing(Draw::kSlowHost, step));
    }
    added += Plant(rank, step, SlowCauseName(slow.cause), here);
  }
  return added;
}

int64_t Costs::WorkNs(int32_t rank, const Work& work) {
  const double own = Factor(Draw::kWork, rank, work.thread, work.step, work.item);
  const double factor = own * device_factor_ * StepFactor(rank, work.step);
  const int64_t ns = Scaled(work.ns, factor);
  int64_t added = 0;
  if (!config_.stragglers.empty()) added += StragglerWorkNs(rank, work, ns);
  if (!config_.slow_steps.empty()) added += SlowWorkNs(rank, work, ns);
  return Scaled(std::max<int64_t>(0, ns + added), work.factor);
}

int64_t Costs::StragglerWorkNs(int32_t rank, const Work& work, int64_t ns) {
  int64_t added = 0;
  for (const Straggler& straggler : config_.stragglers) {
    if (straggler.rank != rank) continue;
    double share = straggler.percent / 100;
    bool is_meant = straggler.cause == StragglerCause::kSlowDevice;
    if (straggler.cause == StragglerCause::kClock) {
      is_meant = IsComputeBound(work);
      share *= 2.0 * (work.step + 1) / (program_.steps + 1);
    }
    if (straggler.cause == StragglerCause::kMoreWork)
      is_meant = work.work_class == WorkClass::kGemm;
    const int64_t here = is_meant ? Scaled(ns, share) : 0;
    added += Plant(rank, work.step, StragglerCauseName(straggler.cause), here);
  }
  return added;
}

int64_t Costs::SlowWorkNs(int32_t rank, const Work& work, int64_t ns) {
  int64_t added = 0;
  for (const SlowSteps& slow : config_.slow_steps) {
    double share = 0;
    if (slow.cause == SlowCause::kOperator && work.work_class == WorkClass::kSoftmax) {
      share = slow.percent / 100 * Swing(Draw::kSlowOperator, work.step);
    }
    if (slow.cause == SlowCause::kWork) {
      share = slow.percent / 100 * Swing(Draw::kSlowWork, work.step);
    }
    if (slow.cause == SlowCause::kTrend) share = slow.percent / 100 * work.step;
    added += Plant(rank, work.step, SlowCauseName(slow.cause), Scaled(ns, share));
  }
  return added;
}

int64_t Costs::LagNs(Lag lag, const LagPlace& place) const {
  // Each kind of lag of an item has a number of its own.
  const int32_t thread = place.thread + 1'000 * (static_cast<int32_t>(lag) + 1);
  return Scaled(BaseOf(config_.constants, lag),
                Factor(Draw::kLag, place.rank, thread, place.step, place.item));
}

int64_t Costs::TransferNs(const Work& work, const std::vector<int32_t>& ranks, int32_t group) {
  const Collective& collective = program_.collectives[static_cast<size_t>(work.collective)];
  const double bytes_ns = static_cast<double>(collective.bytes) / config_.constants.bytes_per_ns;
  const double factor = Factor(Draw::kTransfer, group, work.thread, work.step, work.item);
  const int64_t ns = Scaled(config_.constants.alpha_ns + std::llround(bytes_ns), factor);
  int64_t added = 0;
  for (const Straggler& straggler : config_.stragglers) {
    if (straggler.cause != StragglerCause::kNetwork) continue;
    if (std::ranges::find(ranks, straggler.rank) == ranks.end()) continue;
    added += Plant(straggler.rank, work.step, StragglerCauseName(straggler.cause),
                   Scaled(ns, straggler.percent / 100));
  }
  return Scaled(std::max<int64_t>(0, ns + added), work.factor);
}

int64_t Costs::TailNs(int32_t rank, const Work& work) const {
  const double bias = Uniform({.seed = config_.seed, .draw = Draw::kExitBias, .rank = rank});
  const double tail = Uniform({.seed = config_.seed,
                               .run = config_.run,
                               .draw = Draw::kTail,
                               .rank = rank,
                               .step = work.step,
                               .item = work.item});
  return Scaled(config_.exit_bias_ns, bias) + Scaled(config_.tail_ns, tail);
}

int64_t Costs::StartNs(int32_t rank) {
  int64_t ns = 0;
  for (const Straggler& straggler : config_.stragglers) {
    if (straggler.rank != rank || straggler.cause != StragglerCause::kLateStart) continue;
    ns += Plant(rank, 0, StragglerCauseName(straggler.cause), OfStep(straggler.percent));
  }
  return std::max<int64_t>(0, ns);
}

int64_t Costs::Rows(int32_t rank, const Instruction& instruction) const {
  double factor = 1.0;
  for (const Straggler& straggler : config_.stragglers) {
    if (straggler.rank != rank || straggler.cause != StragglerCause::kMoreWork) continue;
    factor *= 1.0 + straggler.percent / 100;
  }
  for (const SlowSteps& slow : config_.slow_steps) {
    if (slow.cause != SlowCause::kWork) continue;
    factor *= 1.0 + slow.percent / 100 * Swing(Draw::kSlowWork, instruction.step);
  }
  return Scaled(instruction.rows, factor);
}

RankClock Costs::ClockOf(int32_t rank, int64_t middle_ns) const {
  const auto draw = [&](Draw what) {
    return 2 * Uniform({.seed = config_.seed, .run = config_.run, .draw = what, .rank = rank}) - 1;
  };
  RankClock clock;
  clock.offset_ns = Scaled(config_.clock_offset_ns, draw(Draw::kClockOffset));
  clock.drift_ppm = config_.clock_drift_ppm * draw(Draw::kClockDrift);
  clock.device_ns = Scaled(config_.device_clock_ns, draw(Draw::kDeviceClock));
  // One rank, the last but for the first, which is the one that others are compared with.
  if (config_.clock_jump_ns != 0 && rank == program_.ranks - 1) {
    clock.jump_at_ns = middle_ns;
    clock.jump_ns = config_.clock_jump_ns;
  }
  return clock;
}

std::vector<PlantedRow> Costs::Planted() const {
  std::vector<PlantedRow> rows;
  for (const auto& [key, ns] : planted_) {
    rows.push_back({std::get<0>(key), std::get<1>(key), std::string(std::get<2>(key)), ns});
  }
  return rows;
}

}  // namespace borescope::simulation
