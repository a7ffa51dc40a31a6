#include "borescope/cli/options/options.h"

#include <fmt/format.h>

#include <algorithm>

#include "borescope/cli/verbs.h"
#include "borescope/engine/targets/saved_drafts.h"
#include "borescope/verbs/convert/convert_run.h"

namespace borescope::internal::cli {
namespace {

using Choices = std::vector<std::string_view>;

bool Always(const AnalysisSpec*) { return true; }
// An option of single verbs that are no analyses, which name it.
bool OnlyNamed(const AnalysisSpec*) { return false; }
bool IsAnalysis(const AnalysisSpec* spec) { return spec != nullptr; }
bool HasSaved(const AnalysisSpec* spec) { return spec != nullptr && CanBeSaved(*spec); }

Choices WriterNames(const AnalysisSpec* spec) {
  Choices names;
  for (const TableWriter& row : TableWriters()) {
    if (!row.draws || (spec != nullptr && HasPicture(*spec))) {
      names.push_back(row.name);
    }
  }
  return names;
}

Choices Whens(const AnalysisSpec*) { return {"auto", "always", "never"}; }

Choices Targets(const AnalysisSpec*) {
  Choices names;
  for (const ConvertFormat& format : ConvertFormats()) {
    names.push_back(format.name);
  }
  return names;
}

constexpr auto kSelection = OptionGroup::kSelection;
constexpr auto kQuestion = OptionGroup::kQuestion;
constexpr auto kOutput = OptionGroup::kOutput;
constexpr auto kRun = OptionGroup::kRun;
using Raw = RawOptions;

OptionRow FromQuestion(OptionGroup group, std::string_view name) {
  const QuestionRow& row = GetQuestionRow(name);
  return {group, "", row.name, row.value, row.help, row.text, row.flag, row.applies, row.choices};
}

// Order = order in --help.
const OptionRow kOptions[] = {
    {kSelection, "", "host", "FILE", "execution trace of PyTorch (ExecutionTraceObserver)",
     &Raw::host, nullptr, OnlyNamed, nullptr},
    {kSelection, "", "device", "FILE", "trace of PyTorch's profiler, recorded at the same time",
     &Raw::device, nullptr, OnlyNamed, nullptr},
    {kSelection, "", "chakra-host-trace", "FILE", "as --host", &Raw::host, nullptr, OnlyNamed,
     nullptr},
    {kSelection, "", "pytorch-et-file", "FILE", "as --host", &Raw::host, nullptr, OnlyNamed,
     nullptr},
    {kSelection, "", "chakra-device-trace", "FILE", "as --device", &Raw::device, nullptr, OnlyNamed,
     nullptr},
    {kSelection, "", "kineto-file", "FILE", "as --device", &Raw::device, nullptr, OnlyNamed,
     nullptr},
    FromQuestion(kSelection, "rank"),
    FromQuestion(kSelection, "step"),
    FromQuestion(kSelection, "gpu"),
    FromQuestion(kSelection, "stream"),
    FromQuestion(kSelection, "annotation"),
    FromQuestion(kSelection, "instance"),
    FromQuestion(kSelection, "base-rank"),
    FromQuestion(kSelection, "test-rank"),
    FromQuestion(kSelection, "base-step"),
    FromQuestion(kSelection, "test-step"),
    FromQuestion(kSelection, "begin"),
    FromQuestion(kSelection, "end"),
    FromQuestion(kQuestion, "by"),
    FromQuestion(kQuestion, "compat"),
    FromQuestion(kQuestion, "all"),
    {kOutput, "", "output-file", "FILE", "as --output", &Raw::output, nullptr, OnlyNamed, nullptr},
    {kOutput, "", "to", "FORMAT", "what to write (default: what the ending of OUT says)", &Raw::to,
     nullptr, OnlyNamed, Targets},
    {kQuestion, "", "against", "INPUT",
     "compare every section with the run INPUT, and tell what changed", &Raw::against, nullptr,
     OnlyNamed, nullptr},
    {kQuestion, "", "schema", "", "show the tables, columns and functions there are", nullptr,
     &Raw::schema, OnlyNamed, nullptr},
    {kQuestion, "", "linked", "FILE", "check: the linked trace the .et was made from", &Raw::linked,
     nullptr, OnlyNamed, nullptr},
    {kQuestion, "", "order", "", "check: also the order in which a simulator starts the nodes",
     nullptr, &Raw::order, OnlyNamed, nullptr},
    {kQuestion, "", "num-npus", "N", "devices: of a workload (1), generate (64), timeline",
     &Raw::npus, nullptr, OnlyNamed, nullptr},
    {kQuestion, "", "num-passes", "N", "convert: passes over the layers of a workload (1)",
     &Raw::passes, nullptr, OnlyNamed, nullptr},
    {kQuestion, "", "npu-frequency", "MHZ", "timeline: clock whose cycles the log counts",
     &Raw::frequency, nullptr, OnlyNamed, nullptr},
    {kQuestion, "", "default-runtime", "US", "generate: of computation (5)", &Raw::runtime, nullptr,
     OnlyNamed, nullptr},
    {kQuestion, "", "default-tensor-size", "BYTES", "generate: of memory, send and receive (1024)",
     &Raw::tensor_size, nullptr, OnlyNamed, nullptr},
    {kQuestion, "", "default-comm-size", "BYTES", "generate: of collectives (65536)",
     &Raw::comm_size, nullptr, OnlyNamed, nullptr},
    {kQuestion, "", "row-limit", "N", "give the first N rows at most (1000000)", &Raw::row_limit,
     nullptr, OnlyNamed, nullptr},
    {kQuestion, "", "time-limit", "SECONDS", "stop a statement that works longer", &Raw::time_limit,
     nullptr, OnlyNamed, nullptr},
    {kQuestion, "", "trace", "INPUT", "also the times of the kernel in this recording", &Raw::trace,
     nullptr, OnlyNamed, nullptr},
    {kQuestion, "", "python", "PROGRAM", "the Python to run it with (python3)", &Raw::python,
     nullptr, OnlyNamed, nullptr},
    {kQuestion, "", "report", "", "the HTML report instead of the trace", nullptr, &Raw::report,
     OnlyNamed, nullptr},
    {kQuestion, "", "timeout", "SECONDS", "give up after this time (300)", &Raw::timeout, nullptr,
     OnlyNamed, nullptr},
    {kOutput, "", "port", "N", "serve on this port (9001); 0: any free one", &Raw::port, nullptr,
     OnlyNamed, nullptr},
    {kOutput, "", "no-browser", "", "open none; print the address", nullptr, &Raw::no_browser,
     OnlyNamed, nullptr},
    {kOutput, "f", "format", "FORMAT", "how to write tables, text by default", &Raw::format,
     nullptr, Always, WriterNames},
    {kOutput, "o", "output", "FILE",
     "write to this file instead of standard output; tables as its ending says", &Raw::output,
     nullptr, Always, nullptr},
    {kOutput, "", "color", "WHEN", "colours and bars in text, on a terminal by default",
     &Raw::color, nullptr, Always, Whens},
    FromQuestion(kOutput, "sort"),
    FromQuestion(kOutput, "top"),
    FromQuestion(kOutput, "overlay"),
    FromQuestion(kOutput, "save"),
    {kOutput, "", "load", "FILE",
     "instead of INPUT: answer from what --save wrote, or from a folder of it", &Raw::load, nullptr,
     HasSaved, nullptr},
    {kRun, "", "threads", "N", "threads to use (default: one per processor)", &Raw::threads,
     nullptr, IsAnalysis, nullptr},
    {kRun, "", "memory-limit", "SIZE", "load fewer ranks at once to stay below, e.g. 8G",
     &Raw::memory_limit, nullptr, IsAnalysis, nullptr},
    {kRun, "", "no-progress", "", "no progress bar on the terminal", nullptr, &Raw::no_progress,
     IsAnalysis, nullptr},
    {kRun, "q", "quiet", "", "nothing on standard error but errors", nullptr, &Raw::quiet, Always,
     nullptr},
    {kRun, "v", "verbose", "", "sizes and times of every file on standard error", nullptr,
     &Raw::verbose, IsAnalysis, nullptr},
    {kRun, "h", "help", "", "this help", nullptr, &Raw::help, Always, nullptr},
};

// Options of analyses that have a short name, as in the tool they come from.
struct ShortName {
  std::string_view param;
  std::string_view name;
};
constexpr ShortName kShortNames[] = {{"columns", "c"}, {"width", "w"}};

// What an option is for, and its default.
std::string ParamHelp(const ParamSpec& param) {
  std::string help(param.help);
  if (param.type == ParamType::kTime) {
    help += fmt::format(" ({}; a bare number is us)", FormatParamTime(param.default_number));
  } else if (param.type == ParamType::kCount && param.default_number != 0) {
    help += fmt::format(" ({})", param.default_number);
  } else if (param.type == ParamType::kNumber && param.default_number != 0) {
    help += fmt::format(" ({}; from 0 on)", param.default_number);
  } else if (param.type == ParamType::kTimes) {
    help += fmt::format(" ({})", param.default_text);
  }
  return help;
}

OptionView ViewOf(const OptionRow& row, const AnalysisSpec* spec) {
  return {row.group, row.short_name,        row.long_name,
          row.value, std::string(row.help), row.choices == nullptr ? Choices() : row.choices(spec)};
}

}  // namespace

std::string_view GroupTitle(OptionGroup group) {
  constexpr std::string_view kTitles[] = {"Selection", "Question", "Output", "Run"};
  return kTitles[static_cast<size_t>(group)];
}

std::span<const OptionRow> Options() { return kOptions; }

bool Applies(const OptionRow& row, Specs specs) {
  return specs.empty() ? row.applies(nullptr)
                       : std::any_of(specs.begin(), specs.end(), row.applies);
}

bool Applies(const OptionRow& row, const VerbRow& verb) {
  return row.applies(nullptr) ||
         std::find(verb.options.begin(), verb.options.end(), row.long_name) != verb.options.end();
}

std::string_view ShortNameOf(const ParamSpec& param) {
  const auto* row = std::find_if(std::begin(kShortNames), std::end(kShortNames),
                                 [&](const ShortName& one) { return one.param == param.name; });
  return row == std::end(kShortNames) ? "" : row->name;
}

std::vector<OptionView> OptionViews(const AnalysisSpec& spec) {
  std::vector<OptionView> views;
  bool params_are_in = false;
  for (const OptionRow& row : Options()) {
    if (row.group > kQuestion && !params_are_in) {
      params_are_in = true;
      for (const ParamSpec* param : spec.params) {
        views.push_back(
            {kQuestion, ShortNameOf(*param), param->name, param->value, ParamHelp(*param), {}});
      }
    }
    if (row.applies(&spec)) {
      views.push_back(ViewOf(row, &spec));
    }
  }
  return views;
}

std::vector<OptionView> OptionViews(const VerbRow& verb) {
  std::vector<OptionView> views;
  const auto is_pointless = [&](const OptionRow& row) {
    return std::find(verb.pointless.begin(), verb.pointless.end(), row.long_name) !=
           verb.pointless.end();
  };
  for (const OptionRow& row : Options()) {
    if (Applies(row, verb) && !is_pointless(row)) {
      views.push_back(ViewOf(row, nullptr));
    }
  }
  return views;
}

std::string OptionSyntax(const OptionView& row) {
  const std::string first = row.short_name.empty() ? "    " : fmt::format("-{}, ", row.short_name);
  return fmt::format("{}--{}{}{}", first, row.long_name, row.value.empty() ? "" : " ", row.value);
}

}  // namespace borescope::internal::cli
