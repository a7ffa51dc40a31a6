#include "tests/support/synth_simulate.h"

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>

#include "tests/support/simulation/kineto.h"
#include "tests/support/simulation/simulate.h"
#include "tests/support/simulation/truth_json.h"
#include "tests/support/writing/scenario_sink.h"

namespace borescope::simulation {
namespace {

constexpr int64_t kMostClockNs = 100'000'000'000;  // times in files are not negative

template <class E, class NameOf>
std::string JoinNames(NameOf name_of) {
  std::string names;
  for (int i = 0; i < static_cast<int>(E::kCount); ++i) {
    names += fmt::format("{}{}", i == 0 ? "" : ", ", name_of(static_cast<E>(i)));
  }
  return names;
}

void AddProgramOptions(CLI::App* app, SimulateOptions* options) {
  SimulationConfig* config = &options->config;
  app->add_flag("--simulate", options->is_on,
                "Another kind of run: simulated, moment by moment, with its truth");
  app->add_option_function<std::string>(
         "--program",
         [config](const std::string& name) {
           const std::optional<ProgramKind> kind = FindProgramKind(name);
           if (!kind) throw CLI::ValidationError("--program", "no such program: " + name);
           config->program = *kind;
         },
         "What is simulated: " + JoinNames<ProgramKind>(ProgramKindName))
      ->option_text("TEXT");
  app->add_option("--counterfactual", options->plan,
                  "A file of changes: writes the twin of the run of the same seed")
      ->option_text("FILE");
  app->add_option("--run", config->run, "Runs of equal seed do the same in other times");
  app->add_option("--queue-depth", config->constants.queue_depth,
                  "Launches of a stream that may wait to start")
      ->check(CLI::PositiveNumber);
  app->add_flag("--sync-events", config->has_syncs, "Record what waits for what (cuda_sync)");
  app->add_flag("--whole-us", config->has_whole_us, "Times without fractions of microseconds");
  app->add_flag("!--no-flows", config->has_flows, "No arrows from calls to work (ac2g)");
}

void AddNoiseOptions(CLI::App* app, SimulateOptions* options) {
  SimulationConfig* config = &options->config;
  app->add_option("--jitter", config->jitter, "Standard deviation of every time, as a share")
      ->check(CLI::Range(0.0, 1.0));
  app->add_option("--step-noise", config->step_noise, "Likewise of all times of a step together")
      ->check(CLI::Range(0.0, 1.0));
  app->add_option("--step-correlation", config->step_correlation,
                  "Of the noise of a step with that of the step before")
      ->check(CLI::Range(0.0, 1.0));
  app->add_option("--run-noise", config->run_noise, "Of all host times of a run together")
      ->check(CLI::Range(0.0, 1.0));
  app->add_option("--run-device-noise", config->run_device_noise, "Likewise of device times")
      ->check(CLI::Range(0.0, 1.0));
  app->add_option("--clock-offset", config->clock_offset_ns,
                  "Clocks of ranks are off by up to this, ns")
      ->check(CLI::Range(int64_t{0}, kMostClockNs));
  app->add_option("--clock-drift", config->clock_drift_ppm, "And drift by up to this, ppm")
      ->check(CLI::Range(0.0, 10'000.0));
  app->add_option("--clock-jump", config->clock_jump_ns,
                  "The clock of the last rank is set in the middle of the run, by this, ns")
      ->check(CLI::Range(-kMostClockNs, kMostClockNs));
  app->add_option("--device-clock", config->device_clock_ns,
                  "Clocks of devices are off from those of their hosts by up to this, ns")
      ->check(CLI::Range(int64_t{0}, kMostClockNs));
  app->add_option("--exit-bias", config->exit_bias_ns,
                  "Ranks leave all collectives later by up to this, each by its own, ns")
      ->check(CLI::NonNegativeNumber);
  app->add_option("--tail", config->tail_ns, "Ranks leave any collective later by up to this, ns")
      ->check(CLI::NonNegativeNumber);
  app->add_option("--stragglers", options->stragglers,
                  "rank:cause:percent,... of " + JoinNames<StragglerCause>(StragglerCauseName));
  app->add_option("--slow-steps", options->slow_steps,
                  "cause:percent,... of " + JoinNames<SlowCause>(SlowCauseName));
}

void AddLieOptions(CLI::App* app, SimulateOptions* options) {
  SimulationConfig* config = &options->config;
  app->add_option("--shifted", config->shifted_share,
                  "This share of device work is written later than it was; truth.json is not")
      ->check(CLI::Range(0.0, 1.0));
  app->add_option("--shifted-by", config->shifted_ns, "By this, ns")->check(CLI::NonNegativeNumber);
  app->add_option("--unlinked", config->unlinked_share,
                  "The calls of this share of launches are not written")
      ->check(CLI::Range(0.0, 1.0));
}

int Fail(const std::string& message) {
  fmt::print(stderr, "borescope-synth: {}\n", message);
  return 2;
}

// Nothing if the file cannot be read.
std::optional<std::string> ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(file), {});
}

bool WriteFile(const std::string& path, std::string_view text) {
  const std::unique_ptr<scenario::FileSink> file = scenario::FileSink::Open(path);
  return file != nullptr && file->Write(text) && file->Close();
}

// Returns an error message, empty when all is well.
std::string Complete(SimulateOptions* options, Plan* plan) {
  SimulationConfig& config = options->config;
  const auto stragglers = ParseStragglers(options->stragglers);
  if (!stragglers) return "--stragglers: unknown cause or bad number: " + options->stragglers;
  config.stragglers = *stragglers;
  const auto slow_steps = ParseSlowSteps(options->slow_steps);
  if (!slow_steps) return "--slow-steps: unknown cause or bad number: " + options->slow_steps;
  config.slow_steps = *slow_steps;
  if (options->plan.empty()) return "";
  const std::optional<std::string> json = ReadFile(options->plan);
  if (!json) return "--counterfactual: cannot read " + options->plan;
  ParsedPlan parsed = ParsePlan(*json);
  if (!parsed.error.empty()) return "--counterfactual: " + parsed.error;
  *plan = std::move(parsed.plan);
  return "";
}

}  // namespace

void AddSimulateOptions(CLI::App* app, SimulateOptions* options) {
  CLI::Option_group* group = app->add_option_group("Simulated runs");
  AddProgramOptions(group, options);
  AddNoiseOptions(group, options);
  AddLieOptions(group, options);
}

int WriteSimulated(SimulateOptions* options, const std::string& out) {
  Plan plan;
  if (const std::string error = Complete(options, &plan); !error.empty()) return Fail(error);
  if (out.empty()) return Fail("--simulate needs --out");
  const SimulatedRun run = Simulate(options->config, plan);
  if (!run.error.empty()) return Fail(run.error);
  for (const Straggler& straggler : options->config.stragglers) {
    if (straggler.rank >= 0 && straggler.rank < run.program.ranks) continue;
    return Fail(fmt::format("--stragglers: no rank {}", straggler.rank));
  }
  std::error_code error;
  std::filesystem::create_directories(out, error);
  bool is_ok = WriteFile(out + "/truth.json", TruthJson(run));
  for (int32_t rank = 0; rank < run.program.ranks; ++rank) {
    is_ok = is_ok && WriteFile(fmt::format("{}/rank-{}.json", out, rank), KinetoText(run, rank));
  }
  if (!is_ok) return Fail("cannot write to " + out);
  fmt::print(stderr, "{} ranks, {} steps\n", run.program.ranks, run.program.steps);
  return 0;
}

}  // namespace borescope::simulation
