// borescope-synth: writes a run of synthetic Kineto traces and, beside it, what must be found in
// them. `borescope-synth --help` lists the options.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <map>
#include <string>

#include "tests/support/captured_run.h"
#include "tests/support/planted/planted_run.h"
#include "tests/support/scenario.h"
#include "tests/support/synth_compress.h"
#include "tests/support/synth_simulate.h"

namespace borescope::scenario {
namespace {

struct Options {
  ScenarioConfig config;
  std::string out;
  std::string faults;
  std::string size;
  std::string plants;
  Setting setting = Setting::kCount;               // kCount: not a planted run
  CaptureChange captures = CaptureChange::kCount;  // kCount: no run with captures
  int stdout_rank = -1;
  bool gzip = false;
  bool zstd = false;
  simulation::SimulateOptions simulate;
  bool has_ranks = false;  // was given
  bool has_steps = false;
};

// An option that takes one of the names; help lists the names, not the numbers behind them.
template <class E>
void AddChoice(CLI::App* app, const std::string& name, const std::map<std::string, E>& choices,
               E* value, const std::string& help) {
  std::string names;
  for (const auto& [choice, unused] : choices) names += (names.empty() ? "" : "|") + choice;
  app->add_option_function<std::string>(
         name, [choices, value](const std::string& choice) { *value = choices.at(choice); }, help)
      ->check(CLI::IsMember(choices).description(""))
      ->option_text(names);
}

void AddShapeOptions(CLI::App* app, ScenarioConfig* config) {
  const std::map<std::string, Vendor> vendors = {{"nvidia", Vendor::kNvidia},
                                                 {"amd", Vendor::kAmd}};
  const std::map<std::string, Era> eras = {
      {"int-us", Era::kIntUs}, {"float-us", Era::kFloatUs}, {"ns", Era::kNs}};
  const std::map<std::string, LayoutKind> layouts = {{"kineto", LayoutKind::kKineto},
                                                     {"compact", LayoutKind::kCompact},
                                                     {"oneline", LayoutKind::kOneLine},
                                                     {"indent4", LayoutKind::kIndent4}};
  const std::map<std::string, BasePlace> places = {
      {"none", BasePlace::kNone}, {"before", BasePlace::kBefore}, {"after", BasePlace::kAfter}};
  AddChoice(app, "--vendor", vendors, &config->vendor, "Whose runtime and kernel names");
  AddChoice(app, "--era", eras, &config->era, "How times are written");
  AddChoice(app, "--layout", layouts, &config->layout, "Where blanks and line breaks stand");
  AddChoice(app, "--base-time", places, &config->base_time,
            "Where baseTimeNanoseconds stands, seen from the events");
  app->add_flag("--absolute", config->absolute, "Times since the Unix epoch, without a base");
  app->add_flag("--bare-list", config->bare_list, "Only the list of events, no object around it");
}

void AddModelOptions(CLI::App* app, ScenarioConfig* config) {
  app->add_option("--ranks", config->ranks, "Files to write")->check(CLI::Range(1, 4096));
  app->add_option("--world-size", config->world_size,
                  "Ranks of the job, if more than --ranks; one has no collectives")
      ->check(CLI::Range(1, 1000000));
  app->add_option("--steps", config->steps, "Steps, at least")->check(CLI::NonNegativeNumber);
  app->add_option("--seed", config->seed, "Equal seed and options give equal bytes");
  app->add_option("--layers", config->layers, "Transformer blocks")->check(CLI::Range(1, 100));
  app->add_option("--straggler", config->straggler, "This rank's kernels are slow");
  app->add_flag("--with-stack", config->with_stack, "Record Python frames");
  app->add_flag("--with-shapes", config->with_shapes, "Record inputs of ops");
  app->add_flag("--with-memory", config->with_memory, "Record allocations");
  app->add_flag("--known-path", config->known_path,
                "Other steps: one thing after another, so that the critical path is known");
  app->add_flag("--cuda-graph", config->cuda_graph, "Replay a graph in each step");
}

void AddPlantOptions(CLI::App* app, Options* options) {
  std::map<std::string, Setting> settings;
  for (int i = 0; i < static_cast<int>(Setting::kCount); ++i) {
    settings.emplace(SettingName(static_cast<Setting>(i)), static_cast<Setting>(i));
  }
  std::string names;
  for (int i = 0; i < static_cast<int>(Cause::kCount); ++i) {
    names += fmt::format("{}{}", i == 0 ? "" : ", ", CauseName(static_cast<Cause>(i)));
  }
  app->add_option("--plant", options->plants,
                  "A run in which causes of lost time are planted, instead of a training: "
                  "cause:percent,... of " +
                      names)
      ->option_text("TEXT");
  AddChoice(app, "--setting", settings, &options->setting,
            "The kind of program they are planted in");
}

void AddCaptureOptions(CLI::App* app, Options* options) {
  std::map<std::string, CaptureChange> changes;
  for (int i = 0; i < static_cast<int>(CaptureChange::kCount); ++i) {
    const auto change = static_cast<CaptureChange>(i);
    changes.emplace(CaptureChangeName(change), change);
  }
  AddChoice(app, "--captures", changes, &options->captures,
            "A run of graphs, with the recording in which they were captured, changed so");
}

void AddOutputOptions(CLI::App* app, Options* options) {
  app->add_option("--out", options->out, "Folder for rank-<N>.json and truth.json");
  app->add_option("--stdout", options->stdout_rank, "Write this rank to standard output instead")
      ->expected(0, 1)
      ->default_str("0");
  app->add_option("--size", options->size,
                  "Repeat steps until all files together have this size: 64MB, 10GB");
  app->add_flag("--gzip", options->gzip, "Write .json.gz");
  app->add_flag("--zstd", options->zstd, "Write .json.zst")->excludes("--gzip");
  app->add_option("--faults", options->faults,
                  "Faults to plant: name:count,name:count,... (names below)");
  std::string names;
  for (int i = 1; i < static_cast<int>(Fault::kCount); ++i) {
    names += fmt::format("\n  {}", FaultName(static_cast<Fault>(i)));
  }
  app->footer("Faults:" + names);
}

// Returns an error message, empty when all is well.
std::string Complete(Options* options) {
  ScenarioConfig& config = options->config;
  if (options->out.empty() == (options->stdout_rank < 0)) return "give either --out or --stdout";
  if (options->stdout_rank >= config.ranks) return "--stdout: no such rank";
  if (!options->size.empty()) {
    const std::optional<int64_t> size = ParseSize(options->size);
    if (!size) return "--size: not a size: " + options->size;
    config.size_bytes = *size;
  }
  const std::optional<std::vector<FaultRequest>> faults = ParseFaults(options->faults);
  if (!faults) return "--faults: unknown name or bad count in " + options->faults;
  config.faults = *faults;
  return "";
}

Codec CodecOf(const Options& options) {
  if (options.gzip) return Codec::kGzip;
  return options.zstd ? Codec::kZstd : Codec::kNone;
}

// Replaces a file that cannot be opened: the first write fails.
class ClosedSink : public Sink {
 public:
  bool Write(std::string_view) override { return false; }
};

std::unique_ptr<Sink> OpenFor(const Options& options, const RankInfo& info) {
  std::unique_ptr<FileSink> file;
  if (options.stdout_rank >= 0) {
    if (info.rank != options.stdout_rank) return nullptr;
    file = std::make_unique<FileSink>(stdout);
  } else {
    file = FileSink::Open(options.out + "/" + info.file);
  }
  if (file == nullptr) return std::make_unique<ClosedSink>();
  return Compress(CodecOf(options), std::move(file));
}

bool WriteTruth(const Options& options, const RunResult& result) {
  if (options.out.empty()) return true;
  const std::unique_ptr<FileSink> file = FileSink::Open(options.out + "/truth.json");
  return file != nullptr && file->Write(result.truth_json) && file->Close();
}

bool IsPlantedRun(const Options& options) {
  return !options.plants.empty() || options.setting != Setting::kCount;
}

// Writes the files of a planted run, and nothing else.
int WritePlanted(const Options& options) {
  const std::optional<std::vector<Plant>> plants = ParsePlants(options.plants);
  if (!plants || options.out.empty()) {
    fmt::print(stderr, "borescope-synth: --plant: {}\n",
               plants ? "needs --out" : "unknown cause or bad share in " + options.plants);
    return 2;
  }
  const Setting setting = options.setting == Setting::kCount ? Setting::kPlain : options.setting;
  const PlantedRun run = MakePlantedRun({options.config.seed, setting, *plants});
  std::error_code error;
  std::filesystem::create_directories(options.out, error);
  for (int rank = 0; rank < static_cast<int>(run.ranks.size()); ++rank) {
    const bool is_json = setting != Setting::kWholeProcess;
    const std::string path =
        fmt::format("{}/rank-{}.{}", options.out, rank, is_json ? "json" : "sql");
    const std::unique_ptr<FileSink> file = FileSink::Open(path);
    const std::string text = is_json ? PlantedJson(run, rank) : PlantedSql(run, rank);
    if (file == nullptr || !file->Write(text) || !file->Close()) {
      fmt::print(stderr, "borescope-synth: cannot write to {}\n", path);
      return 2;
    }
  }
  fmt::print(stderr, "{} ranks\n", run.ranks.size());
  return 0;
}

bool WriteText(const std::string& path, std::string_view text) {
  const std::unique_ptr<FileSink> file = FileSink::Open(path);
  return file != nullptr && file->Write(text) && file->Close();
}

// Writes a run of graphs: rank-0.json, captures/rank-0.json and truth.json.
int WriteCaptured(const Options& options) {
  if (options.out.empty()) {
    fmt::print(stderr, "borescope-synth: --captures: needs --out\n");
    return 2;
  }
  const CapturedRun run = MakeCapturedRun(options.config.seed, options.captures);
  std::error_code error;
  std::filesystem::create_directories(options.out + "/captures", error);
  if (!WriteText(options.out + "/rank-0.json", run.execution) ||
      !WriteText(options.out + "/captures/rank-0.json", run.captures) ||
      !WriteText(options.out + "/truth.json", run.truth)) {
    fmt::print(stderr, "borescope-synth: cannot write to {}\n", options.out);
    return 2;
  }
  return 0;
}

// The options that both kinds of run have.
int WriteSimulation(Options* options) {
  simulation::SimulationConfig& config = options->simulate.config;
  config.seed = options->config.seed;
  config.has_shapes = options->config.with_shapes;
  if (options->has_ranks) config.ranks = options->config.ranks;
  if (options->has_steps) config.steps = static_cast<int32_t>(options->config.steps);
  return simulation::WriteSimulated(&options->simulate, options->out);
}

int Main(Options* options) {
  if (options->simulate.is_on) return WriteSimulation(options);
  if (options->captures != CaptureChange::kCount) return WriteCaptured(*options);
  if (IsPlantedRun(*options)) return WritePlanted(*options);
  if (const std::string error = Complete(options); !error.empty()) {
    fmt::print(stderr, "borescope-synth: {}\n", error);
    return 2;
  }
  std::error_code error;
  if (!options->out.empty()) std::filesystem::create_directories(options->out, error);
  options->config.file_suffix = FileSuffix(CodecOf(*options));
  const RunResult result = RunScenario(
      options->config, [options](const RankInfo& info) { return OpenFor(*options, info); });
  if (!result.is_ok || !WriteTruth(*options, result)) {
    fmt::print(stderr, "borescope-synth: cannot write to {}\n",
               options->out.empty() ? "standard output" : options->out);
    return 2;
  }
  fmt::print(stderr, "{} ranks, {} steps, {} events, {} bytes\n", options->config.ranks,
             result.steps, result.events, result.bytes);
  return 0;
}

}  // namespace
}  // namespace borescope::scenario

int main(int argc, char** argv) {
  try {
    CLI::App app("Writes synthetic GPU traces with known truth.", "borescope-synth");
    borescope::scenario::Options options;
    borescope::scenario::AddModelOptions(&app, &options.config);
    borescope::scenario::AddShapeOptions(&app, &options.config);
    borescope::scenario::AddPlantOptions(&app, &options);
    borescope::scenario::AddCaptureOptions(&app, &options);
    borescope::scenario::AddOutputOptions(&app, &options);
    borescope::simulation::AddSimulateOptions(&app, &options.simulate);
    CLI11_PARSE(app, argc, argv);
    options.has_ranks = app.count("--ranks") > 0;
    options.has_steps = app.count("--steps") > 0;
    return borescope::scenario::Main(&options);
  } catch (const std::exception& error) {
    fmt::print(stderr, "borescope-synth: {}\n", error.what());
    return 2;
  }
}
