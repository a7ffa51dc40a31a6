#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <iterator>

#include "borescope/chakra.h"
#include "borescope/cli/answers.h"
#include "borescope/cli/commands.h"
#include "borescope/cli/commands/verb_commands.h"
#include "borescope/cli/options/values.h"
#include "borescope/cli/questions.h"
#include "borescope/cli/terminal/terminal.h"
#include "borescope/text.h"

namespace borescope::cli {
namespace {

// The command less its first word.
struct Task {
  const Command& command;
  std::vector<std::string> inputs;

  const RawOptions& raw() const { return command.raw; }
};

Result<bool> IsReference(const RawOptions& raw) {
  const std::string& compat = raw.Get("compat");
  if (!compat.empty() && compat != "chakra") {
    return UsageError(fmt::format("--compat: unknown tool '{}'; tools are chakra", compat));
  }
  return !compat.empty();
}

// `largest` is at most 2^63 - 1.
Result<uint64_t> ParseAmount(std::string_view option, const std::string& text, uint64_t smallest,
                             uint64_t largest) {
  BS_ASSIGN(const int64_t number, ParseWithin(option, text, static_cast<int64_t>(smallest),
                                              static_cast<int64_t>(largest)));
  return static_cast<uint64_t>(number);
}

constexpr uint64_t kMostNpus = 1'000'000;
constexpr uint64_t kMostPasses = 1'000'000;
constexpr uint64_t kMostBytes = uint64_t{1} << 62;

// The single input, and the output: named by -o or the second word.
struct Paths {
  std::string input;
  std::string output;  // empty: standard output
};

Result<Paths> FindPaths(const Task& task, std::string_view what, std::string_view needed) {
  Paths paths;
  const bool names_output = !task.raw().Get("output").empty();
  const size_t most = names_output ? 1 : 2;
  if (task.inputs.empty() || task.inputs.size() > most) {
    return UsageError(fmt::format("chakra {} reads one file; name {}", what, needed));
  }
  paths.input = task.inputs[0];
  paths.output = names_output              ? task.raw().Get("output")
                 : task.inputs.size() == 2 ? task.inputs[1]
                                           : "";
  const std::span<const std::string> inputs(&paths.input, 1);
  BS_TRY(paths.output.empty() ? CheckStandardOutput(inputs) : CheckOutput(paths.output, inputs));
  return paths;
}

// The output of a task whose input is named by options.
Result<Paths> FindOutput(const Task& task) {
  const bool names_output = !task.raw().Get("output").empty();
  if (task.inputs.size() != (names_output ? 0 : 1)) {
    return UsageError("with --host and --device the only other file is the one that is written");
  }
  return Paths{{}, names_output ? task.raw().Get("output") : task.inputs[0]};
}

// To standard output; a terminal gets nothing that it would obey.
Result<void> Show(const std::function<Result<void>(const Output&)>& write) {
  if (isatty(STDOUT_FILENO) == 0) {
    return WriteToOutput(write);
  }
  return WriteToOutput([&](const Output& terminal) {
    return write(Output::To(
        [&](std::string_view bytes) { return terminal.write(ToPrintableLines(bytes)); }));
  });
}

// Writes to the file, which appears complete or not at all, or to standard output.
Result<int> WriteTo(const Task& task, const std::string& output,
                    const std::function<Result<void>(const Output&)>& write) {
  BS_TRY(output.empty() ? Show(write) : write(output));
  if (!output.empty() && !task.raw().Has("quiet")) {
    WriteMessageLine(fmt::format("borescope: wrote {}", output));
  }
  return kDone;
}

// ---- What there is to do ----

Result<ChakraConvertOptions> UnderstandConvert(const Task& task) {
  ChakraConvertOptions options;
  options.host = task.raw().Get("host");
  options.device = task.raw().Get("device");
  const bool is_pair = !options.host.empty() || !options.device.empty();
  BS_ASSIGN(Paths paths, is_pair ? FindOutput(task) : FindPaths(task, "convert", "IN and OUT"));
  if (paths.output.empty()) {
    return UsageError("chakra convert writes a file; name OUT last, or with -o");
  }
  options.input = std::move(paths.input);
  options.output = std::move(paths.output);
  BS_ASSIGN(options.as_reference, IsReference(task.raw()));
  if (!task.raw().Get("num-npus").empty()) {
    BS_ASSIGN(options.npus, ParseAmount("num-npus", task.raw().Get("num-npus"), 1, kMostNpus));
  }
  if (!task.raw().Get("num-passes").empty()) {
    BS_ASSIGN(options.passes,
              ParseAmount("num-passes", task.raw().Get("num-passes"), 0, kMostPasses));
  }
  return options;
}

Result<int> Convert(const Task& task) {
  BS_ASSIGN(const OutputOptions output, UnderstandStandardOutput(task.raw()));
  BS_ASSIGN(const ChakraConvertOptions options, UnderstandConvert(task));
  BS_ASSIGN(const Answer answer, ChakraConvert(options));
  BS_TRY(WriteAnswer(output, answer, task.command));
  return kDone;
}

Result<int> Dump(const Task& task) {
  BS_ASSIGN(const Paths paths, FindPaths(task, "dump", "a .et"));
  BS_ASSIGN(const bool as_reference, IsReference(task.raw()));
  return WriteTo(task, paths.output, [&](const Output& output) {
    return ChakraDump(paths.input, as_reference, output);
  });
}

// By the ending of the file; empty for another.
std::string DrawFormatOf(const std::string& path) {
  const std::string ending = std::filesystem::path(path).extension().string();
  return ending == ".dot" || ending == ".graphml" ? ending.substr(1) : "";
}

Result<int> Draw(const Task& task) {
  BS_ASSIGN(const Paths paths, FindPaths(task, "draw", "a .et, and OUT.dot or OUT.graphml"));
  BS_ASSIGN(const bool as_reference, IsReference(task.raw()));
  const std::string format = paths.output.empty() ? "dot" : DrawFormatOf(paths.output);
  if (format.empty()) {
    return UsageError(fmt::format(
        "{}: unknown ending; name a .dot or .graphml (for a picture: dot -Tpdf of Graphviz)",
        paths.output));
  }
  return WriteTo(task, paths.output, [&](const Output& output) {
    return ChakraDraw(paths.input, format, as_reference, output);
  });
}

Result<ChakraGenerateOptions> UnderstandGenerate(const Task& task) {
  const RawOptions& raw = task.raw();
  if (task.inputs.size() > 1) {
    return UsageError("chakra generate writes into one folder; name one, or none");
  }
  ChakraGenerateOptions options;
  options.folder = task.inputs.empty() ? raw.Get("output") : task.inputs[0];
  const auto read = [](std::string_view option, const std::string& text, uint64_t largest,
                       uint64_t& number) -> Result<void> {
    if (!text.empty()) {
      BS_ASSIGN(number, ParseAmount(option, text, 0, largest));
    }
    return {};
  };
  BS_TRY(read("num-npus", raw.Get("num-npus"), kMostNpus, options.npus));
  BS_TRY(read("default-runtime", raw.Get("default-runtime"), kMostBytes, options.runtime_us));
  BS_TRY(read("default-tensor-size", raw.Get("default-tensor-size"), kMostBytes,
              options.tensor_bytes));
  BS_TRY(read("default-comm-size", raw.Get("default-comm-size"), kMostBytes, options.comm_bytes));
  return options;
}

Result<int> Generate(const Task& task) {
  BS_ASSIGN(const ChakraGenerateOptions options, UnderstandGenerate(task));
  BS_ASSIGN(const uint64_t files, ChakraGenerate(options));
  if (!task.raw().Has("quiet")) {
    WriteMessageLine(fmt::format("borescope: wrote {} file{} to {}", files, files == 1 ? "" : "s",
                                 options.folder.empty() ? "the current folder" : options.folder));
  }
  return kDone;
}

Result<ChakraTimelineOptions> UnderstandTimeline(const Task& task, const Paths& paths) {
  ChakraTimelineOptions options;
  options.input = paths.input;
  if (task.raw().Get("num-npus").empty() || task.raw().Get("npu-frequency").empty()) {
    return UsageError("chakra timeline needs --num-npus and --npu-frequency (MHz)");
  }
  BS_ASSIGN(options.npus, ParseAmount("num-npus", task.raw().Get("num-npus"), 0, kMostNpus));
  BS_ASSIGN(options.frequency_mhz,
            ParseAmount("npu-frequency", task.raw().Get("npu-frequency"), 1, 1'000'000'000));
  BS_ASSIGN(options.as_reference, IsReference(task.raw()));
  return options;
}

Result<int> DrawTimeline(const Task& task) {
  BS_ASSIGN(const Paths paths, FindPaths(task, "timeline", "the log of a simulator"));
  BS_ASSIGN(const ChakraTimelineOptions options, UnderstandTimeline(task, paths));
  std::vector<Diagnostic> diagnostics;
  const Result<int> status = WriteTo(task, paths.output, [&](const Output& output) -> Result<void> {
    BS_ASSIGN(diagnostics, ChakraTimeline(options, output));
    return {};
  });
  if (!task.raw().Has("quiet")) {
    ReportQuality(diagnostics);
  }
  return status;
}

Result<ChakraCheckOptions> UnderstandCheck(const Task& task, OutputOptions& output) {
  if (task.inputs.empty()) {
    return UsageError("chakra check: name the .et of one rank, or of all ranks of a run");
  }
  const RawOptions& raw = task.raw();
  BS_ASSIGN(std::vector<std::string> files, FindEtFiles(task.inputs));
  std::vector<std::string> inputs = files;
  inputs.insert(inputs.end(), {raw.Get("linked"), raw.Get("host"), raw.Get("device")});
  BS_TRY(ProtectInputs(inputs, output));
  return ChakraCheckOptions{std::move(files), raw.Get("linked"), raw.Get("host"), raw.Get("device"),
                            raw.Has("order")};
}

Result<int> Check(const Task& task) {
  BS_ASSIGN(OutputOptions output, UnderstandOutput(task.raw()));
  BS_ASSIGN(const ChakraCheckOptions options, UnderstandCheck(task, output));
  BS_ASSIGN(const ChakraVerdict verdict, ChakraCheck(options));
  BS_TRY(WriteAnswer(output, verdict.answer, task.command));
  return verdict.passed ? kDone : kCheckFailed;
}

using Names = std::span<const std::string_view>;
constexpr std::string_view kConvertOptions[] = {"host",     "device",     "compat",
                                                "num-npus", "num-passes", "memory-limit"};
constexpr std::string_view kCheckOptions[] = {"host", "device", "linked", "order", "memory-limit"};
constexpr std::string_view kDumpOptions[] = {"compat", "memory-limit"};
constexpr std::string_view kGenerateOptions[] = {"num-npus", "default-runtime",
                                                 "default-tensor-size", "default-comm-size"};
constexpr std::string_view kTimelineOptions[] = {"compat", "num-npus", "npu-frequency",
                                                 "memory-limit"};

struct TaskRow {
  std::string_view name;
  Result<int> (*run)(const Task& task);
  Names options;  // of those of the verb
};
constexpr TaskRow kTasks[] = {
    {"convert", Convert, kConvertOptions}, {"check", Check, kCheckOptions},
    {"dump", Dump, kDumpOptions},          {"generate", Generate, kGenerateOptions},
    {"draw", Draw, kDumpOptions},          {"timeline", DrawTimeline, kTimelineOptions}};

// Options of the verb that mean nothing to this task of it.
Result<void> CheckOptions(const TaskRow& task, const Command& command) {
  const auto has = [](Names names, std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  for (const Option& option : OptionsOf(*command.verb)) {
    const std::string& name = option.long_name;
    const bool is_of_verb = option.is_parameter || has(command.verb->options, name);
    if (is_of_verb && !has(task.options, name) && command.raw.Has(name)) {
      return UsageError(fmt::format("chakra {}: --{} is not defined for it", task.name, name));
    }
  }
  return {};
}

Error UnknownTask(std::string_view word) {
  std::vector<std::string_view> names;
  names.reserve(std::size(kTasks));
  for (const TaskRow& row : kTasks) {
    names.push_back(row.name);
  }
  const std::string_view nearest = Nearest(word, names);
  return UsageError(fmt::format(
      "chakra: {}; name one of {}{}",
      word.empty() ? "nothing to do" : fmt::format("unknown task '{}'", word),
      fmt::join(names, ", "), nearest.empty() ? "" : fmt::format("; did you mean '{}'?", nearest)));
}

}  // namespace

Result<int> RunChakraVerb(const Command& command) {
  const std::vector<std::string>& words = command.raw.inputs;
  const std::string_view name = words.empty() ? std::string_view() : std::string_view(words[0]);
  const auto* row = std::find_if(std::begin(kTasks), std::end(kTasks),
                                 [name](const TaskRow& item) { return item.name == name; });
  if (row == std::end(kTasks)) {
    return UnknownTask(name);
  }
  BS_TRY(CheckOptions(*row, command));
  BS_TRY(KeepMemoryLimit(command.raw));
  return row->run({command, {words.begin() + 1, words.end()}});
}

}  // namespace borescope::cli
