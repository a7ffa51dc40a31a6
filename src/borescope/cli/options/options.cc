#include "borescope/cli/options/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "borescope/cli/verbs.h"

namespace borescope::cli {
namespace {

using Choices = std::vector<std::string_view>;

bool Always(const VerbInfo*) { return true; }
// An option of single verbs that are no analyses, which name it.
bool OnlyNamed(const VerbInfo*) { return false; }
bool IsAnalysis(const VerbInfo* verb) { return verb != nullptr; }
bool HasSaved(const VerbInfo* verb) { return verb != nullptr && verb->saves; }

Choices WriterNames(const VerbInfo* verb) {
  Choices names;
  for (const FormatInfo& row : Describe().writers) {
    if (!row.draws || (verb != nullptr && verb->draws)) {
      names.push_back(row.name);
    }
  }
  return names;
}

Choices ScrubWords(const VerbInfo*) { return {"secrets", "names"}; }

Choices TraceForms(const VerbInfo*) { return {"perfetto", "json"}; }

Choices Whens(const VerbInfo*) { return {"auto", "always", "never"}; }

constexpr auto kSelection = OptionGroup::kSelection;
constexpr auto kQuestion = OptionGroup::kQuestion;
constexpr auto kOutput = OptionGroup::kOutput;
constexpr auto kRun = OptionGroup::kRun;
using Raw = RawOptions;

// A parameter that many verbs have; WithTexts says what it is for.
constexpr OptionRow FromParameter(OptionGroup group, std::string_view name) {
  return {group, "", name, "", "", nullptr, nullptr, nullptr, nullptr};
}

// A parameter of tasks, in RawOptions::params if it has no member; WithTexts says what it is for.
constexpr OptionRow FromTask(OptionGroup group, std::string_view name,
                             std::string Raw::* text = nullptr, bool Raw::* flag = nullptr) {
  return {group, "", name, "", "", text, flag, OnlyNamed, nullptr};
}

// Order = order in --help.
const OptionRow kRows[] = {
    FromTask(kSelection, "host", &Raw::host),
    FromTask(kSelection, "device", &Raw::device),
    {kSelection, "", "chakra-host-trace", "FILE", "as --host", &Raw::host, nullptr, OnlyNamed,
     nullptr},
    {kSelection, "", "pytorch-et-file", "FILE", "as --host", &Raw::host, nullptr, OnlyNamed,
     nullptr},
    {kSelection, "", "chakra-device-trace", "FILE", "as --device", &Raw::device, nullptr, OnlyNamed,
     nullptr},
    {kSelection, "", "kineto-file", "FILE", "as --device", &Raw::device, nullptr, OnlyNamed,
     nullptr},
    FromParameter(kSelection, "rank"),
    FromParameter(kSelection, "step"),
    FromParameter(kSelection, "step-rule"),
    FromParameter(kSelection, "step-pattern"),
    FromParameter(kSelection, "gpu"),
    FromParameter(kSelection, "stream"),
    FromParameter(kSelection, "annotation"),
    FromParameter(kSelection, "instance"),
    FromParameter(kSelection, "base-rank"),
    FromParameter(kSelection, "test-rank"),
    FromParameter(kSelection, "base-step"),
    FromParameter(kSelection, "test-step"),
    FromParameter(kSelection, "begin"),
    FromParameter(kSelection, "end"),
    FromParameter(kQuestion, "by"),
    FromParameter(kQuestion, "compat"),
    FromParameter(kQuestion, "all"),
    {kOutput, "", "output-file", "FILE", "as --output", &Raw::output, nullptr, OnlyNamed, nullptr},
    FromTask(kOutput, "to", &Raw::to),
    FromTask(kQuestion, "against", &Raw::against),
    FromTask(kQuestion, "timeline", &Raw::timeline),
    FromParameter(kQuestion, "plain-step"),
    FromTask(kQuestion, "align", &Raw::align),
    FromTask(kQuestion, "no-context", nullptr, &Raw::no_context),
    FromTask(kQuestion, "schema", nullptr, &Raw::schema),
    FromTask(kQuestion, "linked", &Raw::linked),
    FromTask(kQuestion, "order", nullptr, &Raw::order),
    FromTask(kQuestion, "num-npus", &Raw::npus),
    FromTask(kQuestion, "num-passes", &Raw::passes),
    FromTask(kQuestion, "npu-frequency", &Raw::frequency),
    FromTask(kQuestion, "default-runtime", &Raw::runtime),
    FromTask(kQuestion, "default-tensor-size", &Raw::tensor_size),
    FromTask(kQuestion, "default-comm-size", &Raw::comm_size),
    FromTask(kQuestion, "row-limit", &Raw::row_limit),
    FromTask(kQuestion, "time-limit", &Raw::time_limit),
    FromTask(kQuestion, "temp-limit", &Raw::temp_limit),
    FromTask(kQuestion, "trace", &Raw::trace),
    {kQuestion, "", "report", "", "the HTML report instead of the trace", nullptr, &Raw::report,
     OnlyNamed, nullptr},
    FromTask(kQuestion, "shard", &Raw::shard),
    FromTask(kQuestion, "expect", &Raw::expect),
    FromTask(kQuestion, "budget", &Raw::budget),
    FromTask(kQuestion, "baseline", &Raw::baseline),
    FromTask(kQuestion, "history", &Raw::history),
    FromTask(kQuestion, "fail", &Raw::fail),
    FromTask(kQuestion, "strict", nullptr, &Raw::strict),
    FromTask(kOutput, "partial", &Raw::partial),
    FromTask(kQuestion, "paused"),
    FromTask(kQuestion, "no-nvtx"),
    FromTask(kQuestion, "no-roctx"),
    FromTask(kQuestion, "no-cuda"),
    FromTask(kQuestion, "rocm"),
    FromTask(kQuestion, "api"),
    FromTask(kQuestion, "api-skip"),
    FromTask(kQuestion, "no-children"),
    FromTask(kQuestion, "attach"),
    FromTask(kQuestion, "iterations"),
    FromTask(kQuestion, "start"),
    FromTask(kQuestion, "stop"),
    FromTask(kQuestion, "repeat"),
    FromTask(kQuestion, "for"),
    FromTask(kQuestion, "children"),
    FromTask(kQuestion, "rank-only"),
    FromTask(kQuestion, "memory"),
    FromTask(kQuestion, "sync"),
    FromTask(kQuestion, "warm"),
    FromTask(kQuestion, "graph-nodes"),
    FromTask(kQuestion, "max-bytes"),
    FromTask(kQuestion, "ops"),
    FromTask(kQuestion, "shapes"),
    FromTask(kQuestion, "ops-steps"),
    FromTask(kQuestion, "python", &Raw::python),
    FromTask(kQuestion, "timeout", &Raw::timeout),
    FromTask(kQuestion, "rpd-compat"),
    FromTask(kQuestion, "ring"),
    FromTask(kQuestion, "flush"),
    FromTask(kQuestion, "sample"),
    FromTask(kOutput, "spool"),
    FromTask(kOutput, "save-baseline", &Raw::save_baseline),
    FromTask(kOutput, "junit", &Raw::junit),
    FromTask(kOutput, "sarif", &Raw::sarif),
    FromTask(kOutput, "card", &Raw::card),
    FromTask(kOutput, "markdown", &Raw::markdown),
    FromTask(kOutput, "html", &Raw::html),
    FromTask(kOutput, "force", nullptr, &Raw::force),
    FromTask(kOutput, "replace"),
    {kOutput, "", "as", "FORM",
     "of the trace: perfetto, its compact protobuf (default), or json, the text of the file",
     &Raw::as, nullptr, OnlyNamed, TraceForms},
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
    {kOutput, "", "csv-safe", "",
     "-f csv: a ' before text that a spreadsheet would take for a formula", nullptr, &Raw::csv_safe,
     Always, nullptr},
    FromParameter(kOutput, "sort"),
    FromParameter(kOutput, "top"),
    FromParameter(kOutput, "overlay"),
    FromParameter(kOutput, "save"),
    {kOutput, "", "load", "FILE",
     "instead of INPUT: answer from what --save wrote, or from a folder of it", &Raw::load, nullptr,
     HasSaved, nullptr},
    {kOutput, "", "scrub", "WHAT",
     "leave out what may say who, where and with which secrets; --scrub=names: new names for "
     "kernels, modules and annotations, too",
     &Raw::scrub, nullptr, IsAnalysis, ScrubWords},
    {kOutput, "", "scrub-key", "FILE",
     "the key of hashes in scrubbed texts, so that files of one run agree (default: random)",
     &Raw::scrub_key, nullptr, IsAnalysis, nullptr},
    {kOutput, "", "scrub-map", "FILE", "write here what the new names were", &Raw::scrub_map,
     nullptr, IsAnalysis, nullptr},
    {kRun, "", "shards", "N",
     "parts to map the run in, a task each (default: a file each, but at most 4 a node, and 10 s "
     "of "
     "work)",
     &Raw::shards, nullptr, OnlyNamed, nullptr},
    {kRun, "", "nodes", "N", "nodes that will work on it (16)", &Raw::nodes, nullptr, OnlyNamed,
     nullptr},
    {kRun, "", "cpus", "N", "processors, and threads, of a task (1)", &Raw::cpus, nullptr,
     OnlyNamed, nullptr},
    {kRun, "", "mem", "SIZE", "memory of a task (k8s: 2Gi; slurm: what the cluster gives)",
     &Raw::memory, nullptr, OnlyNamed, nullptr},
    {kRun, "", "name", "NAME", "what to call the jobs (borescope)", &Raw::job_name, nullptr,
     OnlyNamed, nullptr},
    {kRun, "", "partition", "NAME", "slurm: where to submit to", &Raw::partition, nullptr,
     OnlyNamed, nullptr},
    {kRun, "", "account", "NAME", "slurm: who is charged", &Raw::account, nullptr, OnlyNamed,
     nullptr},
    {kRun, "", "time", "TIME", "slurm: limit of a task, as sbatch takes it", &Raw::time, nullptr,
     OnlyNamed, nullptr},
    {kRun, "", "sbatch", "OPTIONS", "slurm: more options of sbatch, with blanks between",
     &Raw::sbatch, nullptr, OnlyNamed, nullptr},
    {kRun, "", "image", "IMAGE", "k8s: the container image that has borescope", &Raw::image,
     nullptr, OnlyNamed, nullptr},
    {kRun, "", "volume", "CLAIM:PATH[,...]",
     "k8s: persistent volume claims, and where containers see them", &Raw::volumes, nullptr,
     OnlyNamed, nullptr},
    {kRun, "", "user", "UID", "k8s: the user who reads the run and writes the parts (10001)",
     &Raw::user, nullptr, OnlyNamed, nullptr},
    {kRun, "", "captures", "DIR",
     "where the graphs that INPUT launches were captured: a folder or file; by default what is "
     "next to INPUT and called captures",
     &Raw::captures, nullptr, IsAnalysis, nullptr},
    {kRun, "", "threads", "N", "threads to use (default: one per processor)", &Raw::threads,
     nullptr, IsAnalysis, nullptr},
    {kRun, "", "memory-limit", "SIZE", "stay below (fewer ranks at once), or end; e.g. 8G",
     &Raw::memory_limit, nullptr, IsAnalysis, nullptr},
    {kRun, "", "cache", "DIR",
     "keep the indexed trace in this folder, and answer from there next time (default: "
     "$BORESCOPE_CACHE; else none)",
     &Raw::cache, nullptr, IsAnalysis, nullptr},
    {kRun, "", "cache-size", "SIZE", "what the cache may take; the oldest files go first (10Gi)",
     &Raw::cache_size, nullptr, IsAnalysis, nullptr},
    {kRun, "", "no-progress", "", "no progress bar on the terminal", nullptr, &Raw::no_progress,
     IsAnalysis, nullptr},
    {kRun, "q", "quiet", "", "nothing on standard error but errors", nullptr, &Raw::quiet, Always,
     nullptr},
    {kRun, "v", "verbose", "", "sizes and times of every file on standard error", nullptr,
     &Raw::verbose, IsAnalysis, nullptr},
    {kRun, "h", "help", "", "this help", nullptr, &Raw::help, Always, nullptr},
};

// The parameter of the first verb that has it, and of tasks else; nullptr for none.
const ParameterInfo* FindAnywhere(const OptionRow& row) {
  const Schema& schema = Describe();
  if (row.is_parameter()) {
    for (const VerbInfo& verb : schema.verbs) {
      if (const ParameterInfo* const found = FindParameter(verb, row.long_name)) {
        return found;
      }
    }
  }
  for (const TaskInfo& task : schema.tasks) {
    if (const ParameterInfo* const found = FindParameter(task, row.long_name)) {
      return found;
    }
  }
  return nullptr;
}

// The row with the words of the library, where it has none of its own.
OptionRow WithTexts(OptionRow row) {
  row.parameter = row.help.empty() ? FindAnywhere(row) : nullptr;
  if (row.parameter != nullptr) {
    row.value = row.parameter->placeholder;
    row.help = row.parameter->doc;
  }
  return row;
}

// The same with the words of one task, where several have a parameter of the name.
OptionRow WithTextsOf(const VerbRow& verb, OptionRow row) {
  for (const TaskInfo& task : Describe().tasks) {
    const ParameterInfo* const own = task.name == verb.name && row.parameter != nullptr
                                         ? FindParameter(task, row.long_name)
                                         : nullptr;
    if (own != nullptr) {
      row.parameter = own;
      row.value = own->placeholder;
      row.help = own->doc;
    }
  }
  return row;
}

// The same with the words of the verb, where the option means something else there.
OptionView InWordsOf(const VerbRow& verb, OptionView view) {
  for (const WordsRow& row : verb.words) {
    if (row.option == view.long_name) {
      view.value = row.value;
      view.help = row.help;
    }
  }
  return view;
}

std::vector<OptionRow> MakeOptions() {
  std::vector<OptionRow> options;
  std::transform(std::begin(kRows), std::end(kRows), std::back_inserter(options), WithTexts);
  return options;
}

// Options of analyses that have a short name, as in the tool they come from.
struct ShortName {
  std::string_view parameter;
  std::string_view name;
};
constexpr ShortName kShortNames[] = {{"columns", "c"}, {"width", "w"}};

// What an option is for, and its default.
std::string ParamHelp(const ParameterInfo& parameter) {
  const std::string_view type = parameter.type;
  const std::string& value = parameter.default_text;
  if (type == "time" && !value.empty()) {
    return fmt::format("{} ({}; a bare number is us)", parameter.doc, value);
  }
  if (type == "number" && !value.empty()) {
    return fmt::format("{} ({}; from 0 on)", parameter.doc, value);
  }
  const bool shows =
      !value.empty() && (type == "times" || type == "count" || type == "file" || type == "share");
  return shows ? fmt::format("{} ({})", parameter.doc, value) : parameter.doc;
}

// Verbs that are no analyses imitate one other tool.
Choices ChoicesOf(const OptionRow& row, const VerbInfo* verb) {
  if (row.choices != nullptr) {
    return row.choices(verb);
  }
  if (row.parameter == nullptr) {
    return {};
  }
  if (!row.is_parameter()) {
    return {row.parameter->choices.begin(), row.parameter->choices.end()};
  }
  if (verb == nullptr) {
    return row.long_name == "compat" ? Choices{"chakra"} : Choices{};
  }
  const std::vector<std::string>& choices = FindParameter(*verb, row.long_name)->choices;
  return {choices.begin(), choices.end()};
}

OptionView ViewOf(const OptionRow& row, const VerbInfo* verb) {
  std::string help = row.parameter == nullptr ? std::string(row.help) : ParamHelp(*row.parameter);
  return {row.group, row.short_name,  std::string(row.long_name),
          row.value, std::move(help), ChoicesOf(row, verb)};
}

bool AppliesTo(const OptionRow& row, const VerbInfo* verb) {
  return row.applies != nullptr ? row.applies(verb)
                                : verb != nullptr && FindParameter(*verb, row.long_name) != nullptr;
}

}  // namespace

std::string_view GroupTitle(OptionGroup group) {
  constexpr std::string_view kTitles[] = {"Selection", "Question", "Output", "Run"};
  return kTitles[static_cast<size_t>(group)];
}

std::span<const OptionRow> Options() {
  static const std::vector<OptionRow> options = MakeOptions();
  return options;
}

std::string RawOptions::Param(std::string_view name) const {
  const auto found = params.find(name);
  return found == params.end() ? "" : found->second;
}

Params RawOptions::ToParams() const {
  Params result;
  for (const auto& [name, value] : params) {
    result.Set(name, value);
  }
  return result;
}

bool Applies(const OptionRow& row, Verbs verbs) {
  return verbs.empty() ? AppliesTo(row, nullptr)
                       : std::any_of(verbs.begin(), verbs.end(),
                                     [&](const VerbInfo* verb) { return AppliesTo(row, verb); });
}

bool Applies(const OptionRow& row, const VerbRow& verb) {
  return AppliesTo(row, nullptr) ||
         std::find(verb.options.begin(), verb.options.end(), row.long_name) != verb.options.end();
}

bool IsGiven(const OptionRow& row, const RawOptions& raw) {
  if (row.is_parameter()) {
    return raw.params.contains(row.long_name);
  }
  return row.text != nullptr ? !(raw.*row.text).empty() : raw.*row.flag;
}

std::vector<const ParameterInfo*> OwnParameters(Verbs verbs) {
  const auto has_row = [](const ParameterInfo& parameter) {
    const std::string name = OptionName(parameter);
    return std::any_of(Options().begin(), Options().end(), [&](const OptionRow& row) {
      return row.is_parameter() && row.long_name == name;
    });
  };
  std::vector<const ParameterInfo*> own;
  for (const VerbInfo* verb : verbs) {
    for (const ParameterInfo& parameter : verb->parameters) {
      const bool is_known = std::any_of(own.begin(), own.end(), [&](const ParameterInfo* each) {
        return each->name == parameter.name;
      });
      if (!is_known && parameter.name != verb->word && !has_row(parameter)) {
        own.push_back(&parameter);
      }
    }
  }
  return own;
}

std::string_view ShortNameOf(const ParameterInfo& parameter) {
  const auto* row =
      std::find_if(std::begin(kShortNames), std::end(kShortNames),
                   [&](const ShortName& one) { return one.parameter == parameter.name; });
  return row == std::end(kShortNames) ? "" : row->name;
}

std::vector<OptionView> OptionViews(const VerbInfo& verb) {
  const VerbInfo* const verbs[] = {&verb};
  std::vector<OptionView> views;
  bool own_are_in = false;
  for (const OptionRow& row : Options()) {
    if (row.group > kQuestion && !own_are_in) {
      own_are_in = true;
      for (const ParameterInfo* own : OwnParameters(verbs)) {
        views.push_back({kQuestion,
                         ShortNameOf(*own),
                         OptionName(*own),
                         own->placeholder,
                         ParamHelp(*own),
                         {}});
      }
    }
    if (AppliesTo(row, &verb)) {
      views.push_back(ViewOf(row, &verb));
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
      views.push_back(InWordsOf(verb, ViewOf(WithTextsOf(verb, row), nullptr)));
    }
  }
  return views;
}

std::string OptionSyntax(const OptionView& row) {
  const std::string first = row.short_name.empty() ? "    " : fmt::format("-{}, ", row.short_name);
  return fmt::format("{}--{}{}{}", first, row.long_name, row.value.empty() ? "" : " ", row.value);
}

}  // namespace borescope::cli
