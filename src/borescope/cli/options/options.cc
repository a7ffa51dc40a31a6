#include "borescope/cli/options/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "borescope/cli/verbs.h"

namespace borescope::cli {
namespace {

using Choices = std::vector<std::string_view>;

bool Always(const VerbInfo*) { return true; }
// For options of single verbs that are no analyses, which name it.
bool OnlyNamed(const VerbInfo*) { return false; }
bool IsAnalysis(const VerbInfo* verb) { return verb != nullptr; }
bool TakesCounters(const VerbInfo* verb) {
  constexpr std::string_view kVerbs[] = {"counters", "roofline", "prof", "summary", "whatif"};
  return verb != nullptr &&
         std::find(std::begin(kVerbs), std::end(kVerbs), verb->name) != std::end(kVerbs);
}
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

// An option that is no parameter of the library.
struct OwnRow {
  OptionGroup group;
  std::string_view short_name;
  std::string_view long_name;
  std::string_view value;  // what represents the value in help; empty for a flag
  std::string_view help;
  // Whether a verb takes it that does not name it; nullptr for a verb that is no analysis.
  bool (*applies)(const VerbInfo* verb);
  // The values to choose from; nullptr when anything goes.
  Choices (*choices)(const VerbInfo* verb) = nullptr;
  std::string_view sets = {};  // another option, whose value it is, too
  bool may_repeat = false;     // Option::may_repeat
};

// Order = order in --help.
constexpr OwnRow kRows[] = {
    {kSelection, "", "chakra-host-trace", "FILE", "as --host", OnlyNamed, nullptr, "host"},
    {kSelection, "", "pytorch-et-file", "FILE", "as --host", OnlyNamed, nullptr, "host"},
    {kSelection, "", "chakra-device-trace", "FILE", "as --device", OnlyNamed, nullptr, "device"},
    {kSelection, "", "kineto-file", "FILE", "as --device", OnlyNamed, nullptr, "device"},
    {kOutput, "", "output-file", "FILE", "as --output", OnlyNamed, nullptr, "output"},
    {kQuestion, "", "report", "", "the HTML report instead of the trace", OnlyNamed},
    {kOutput, "", "as", "FORM",
     "of the trace: perfetto, its compact protobuf (default), or json, the text of the file",
     OnlyNamed, TraceForms},
    {kOutput, "", "port", "N", "serve on this port (9001); 0: any free one", OnlyNamed},
    {kOutput, "", "no-browser", "", "open none; print the address", OnlyNamed},
    {kOutput, "f", "format", "FORMAT", "how to write tables, text by default", Always, WriterNames},
    {kOutput, "o", "output", "FILE",
     "write to this file instead of standard output; tables as its ending says", Always},
    {kOutput, "", "color", "WHEN", "colours and bars in text, on a terminal by default", Always,
     Whens},
    {kOutput, "", "csv-safe", "",
     "-f csv: a ' before text that a spreadsheet or build server would obey", Always},
    {kOutput, "", "load", "FILE",
     "instead of INPUT: answer from what --save wrote, or from a folder of it", HasSaved},
    {kOutput, "", "scrub", "WHAT",
     "leave out what may say who, where and with which secrets; --scrub=names: new names for "
     "kernels, modules and annotations, too",
     IsAnalysis, ScrubWords},
    {kOutput, "", "scrub-key", "FILE",
     "the key of hashes in scrubbed texts, so that files of one run agree (default: random)",
     IsAnalysis},
    {kOutput, "", "scrub-map", "FILE", "write here what the new names were", IsAnalysis},
    {kRun, "", "shards", "N",
     "parts to map the run in, a task each (default: a file each, but at most 4 a node, and 10 s "
     "of work)",
     OnlyNamed},
    {kRun, "", "nodes", "N", "nodes that will work on it (16)", OnlyNamed},
    {kRun, "", "cpus", "N", "processors, and threads, of a task (1)", OnlyNamed},
    {kRun, "", "mem", "SIZE", "memory of a task (k8s: 2Gi; slurm: what the cluster gives)",
     OnlyNamed},
    {kRun, "", "name", "NAME", "what to call the jobs (borescope)", OnlyNamed},
    {kRun, "", "partition", "NAME", "slurm: where to submit to", OnlyNamed},
    {kRun, "", "account", "NAME", "slurm: who is charged", OnlyNamed},
    {kRun, "", "time", "TIME", "slurm: limit of a task, as sbatch takes it", OnlyNamed},
    {kRun, "", "sbatch", "OPTIONS", "slurm: more options of sbatch, with blanks between",
     OnlyNamed},
    {kRun, "", "image", "IMAGE", "k8s: the container image that has borescope", OnlyNamed},
    {kRun, "", "volume", "CLAIM:PATH[,...]",
     "k8s: persistent volume claims, and where containers see them", OnlyNamed},
    {kRun, "", "user", "UID", "k8s: the user who reads the run and writes the parts (10001)",
     OnlyNamed},
    {kRun, "", "captures", "DIR",
     "where the graphs that INPUT launches were captured: a folder or file; by default what is "
     "next to INPUT and called captures",
     IsAnalysis},
    {kRun,
     "",
     "counters",
     "[RANK=]PATH",
     "reports of hardware counters measured in another run of the program (.ncu-rep, ncu --csv, "
     "rocprofv3): a file, glob or folder, for all ranks or one; may be given several times",
     TakesCounters,
     nullptr,
     {},
     true},
    {kRun, "", "counters-anyway", "",
     "take counters of another model of device, for their counts alone", TakesCounters},
    {kRun, "", "threads", "N", "threads to use (default: one per processor)", IsAnalysis},
    {kRun, "", "memory-limit", "SIZE", "stay below (fewer ranks at once), or end; e.g. 8G",
     IsAnalysis},
    {kRun, "", "cache", "DIR",
     "keep the indexed trace in this folder, and answer from there next time (default: "
     "$BORESCOPE_CACHE; else none)",
     IsAnalysis},
    {kRun, "", "cache-size", "SIZE", "what the cache may take; the oldest files go first (10Gi)",
     IsAnalysis},
    {kRun, "", "no-progress", "", "no progress bar on the terminal", IsAnalysis},
    {kRun, "q", "quiet", "", "nothing on standard error but errors", Always},
    {kRun, "v", "verbose", "", "sizes and times of every file on standard error", IsAnalysis},
    {kRun, "h", "help", "", "this help, as far as it fits two screens", Always},
    {kRun, "", "help-all", "", "all options, with all that is said about them", Always},
};

// Options of analyses that have a short name, as in the tool they come from.
struct ShortName {
  std::string_view parameter;
  std::string_view name;
};
constexpr ShortName kShortNames[] = {{"columns", "c"}, {"width", "w"}};

std::string ShortNameOf(const ParameterInfo& parameter) {
  const auto* row =
      std::find_if(std::begin(kShortNames), std::end(kShortNames),
                   [&](const ShortName& one) { return one.parameter == parameter.name; });
  return std::string(row == std::end(kShortNames) ? "" : row->name);
}

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

OptionGroup GroupOf(const ParameterInfo& parameter) {
  return parameter.group == "selection" ? kSelection
         : parameter.group == "output"  ? kOutput
                                        : kQuestion;
}

// The choices are shown unless they represent the value.
Option OptionOf(const ParameterInfo& parameter) {
  const std::string name = OptionName(parameter);
  const bool shows_choices = parameter.placeholder.find('|') == std::string::npos;
  return {.group = GroupOf(parameter),
          .short_name = ShortNameOf(parameter),
          .long_name = name,
          .value = parameter.placeholder,
          .help = ParamHelp(parameter),
          .choices = shows_choices ? parameter.choices : std::vector<std::string>(),
          .sets = name,
          .is_parameter = true,
          .may_repeat = parameter.type == "texts"};
}

Option OptionOf(const OwnRow& row, const VerbInfo* verb) {
  const Choices choices = row.choices == nullptr ? Choices() : row.choices(verb);
  return {.group = row.group,
          .short_name = std::string(row.short_name),
          .long_name = std::string(row.long_name),
          .value = std::string(row.value),
          .help = std::string(row.help),
          .choices = {choices.begin(), choices.end()},
          .sets = std::string(row.sets.empty() ? row.long_name : row.sets),
          .may_repeat = row.may_repeat};
}

bool IsIn(std::span<const std::string_view> names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Parameters come before the options of the command line, but after those that say in which format
// and where to write.
size_t PlaceOf(const Option& option) {
  constexpr std::string_view kFirst[] = {"format", "output", "color", "csv-safe"};
  const size_t within = IsIn(kFirst, option.long_name) ? 0 : option.is_parameter ? 1 : 2;
  return 3 * static_cast<size_t>(option.group) + within;
}

std::vector<Option> InOrder(std::vector<Option> options) {
  std::stable_sort(options.begin(), options.end(),
                   [](const Option& a, const Option& b) { return PlaceOf(a) < PlaceOf(b); });
  return options;
}

void AddOwn(const VerbInfo* verb, std::span<const std::string_view> named,
            std::vector<Option>& options) {
  for (const OwnRow& row : kRows) {
    if (row.applies(verb) || IsIn(named, row.long_name)) {
      options.push_back(OptionOf(row, verb));
    }
  }
}

bool IsOwn(std::string_view name) {
  return std::any_of(std::begin(kRows), std::end(kRows),
                     [&](const OwnRow& row) { return row.long_name == name; });
}

// Parameters of tasks that a verb names.
void AddNamed(std::span<const std::string_view> named, std::vector<Option>& options) {
  for (const std::string_view name : named) {
    const ParameterInfo* parameter = nullptr;
    for (const TaskInfo& task : Describe().tasks) {
      if (const ParameterInfo* const found = IsOwn(name) ? nullptr : FindParameter(task, name)) {
        parameter = found;  // of several, the last one
      }
    }
    if (parameter != nullptr) {
      options.push_back(OptionOf(*parameter));
    }
  }
}

// With the words of the verb, where the option means something else there.
Option InWordsOf(const VerbRow& verb, Option option) {
  for (const WordsRow& row : verb.words) {
    if (row.option == option.long_name) {
      option.value = row.value;
      option.help = row.help;
    }
  }
  return option;
}

bool HasName(const std::vector<Option>& options, std::string_view name) {
  return std::any_of(options.begin(), options.end(),
                     [&](const Option& option) { return option.long_name == name; });
}

}  // namespace

const std::string& RawOptions::Get(std::string_view option) const {
  static const std::string none;
  const auto found = values.find(option);
  return found == values.end() ? none : found->second;
}

std::string_view GroupTitle(OptionGroup group) {
  constexpr std::string_view kTitles[] = {"Selection", "Question", "Output", "Run"};
  return kTitles[static_cast<size_t>(group)];
}

std::vector<Option> OptionsOf(const VerbInfo& verb) {
  std::vector<Option> options;
  for (const ParameterInfo& parameter : verb.parameters) {
    if (parameter.name != verb.word) {
      options.push_back(OptionOf(parameter));
    }
  }
  AddOwn(&verb, {}, options);
  return InOrder(std::move(options));
}

std::vector<Option> OptionsOf(const VerbRow& verb) {
  std::vector<Option> options;
  const auto add = [&](const TaskInfo* task, bool with_files) {
    for (const ParameterInfo& parameter :
         task == nullptr ? std::vector<ParameterInfo>() : task->parameters) {
      if (with_files || parameter.group != "output" || parameter.type != "file") {
        options.push_back(OptionOf(parameter));
      }
    }
  };
  add(FindTask(verb.name), true);
  add(FindTask(verb.like), false);
  AddNamed(verb.options, options);
  AddOwn(nullptr, verb.options, options);
  for (Option& option : options) {
    option = InWordsOf(verb, std::move(option));
  }
  return InOrder(std::move(options));
}

std::vector<Option> ShownOptions(const VerbRow& verb) {
  std::vector<Option> options = OptionsOf(verb);
  std::erase_if(options,
                [&](const Option& option) { return IsIn(verb.pointless, option.long_name); });
  return options;
}

std::vector<Option> OptionsOf(Verbs verbs, const VerbRow* before) {
  std::vector<Option> all;
  const auto add = [&](std::vector<Option> options) {
    for (Option& option : options) {
      if (!HasName(all, option.long_name)) {
        all.push_back(std::move(option));
      }
    }
  };
  if (before != nullptr) {
    add(OptionsOf(*before));
  }
  for (const VerbInfo* const verb : verbs) {
    add(OptionsOf(*verb));
  }
  return all;
}

bool IsOptionOfAny(std::string_view name) {
  const Schema& schema = Describe();
  const auto has_it = [&](const auto& owner) { return FindParameter(owner, name) != nullptr; };
  return IsOwn(name) || std::any_of(schema.tasks.begin(), schema.tasks.end(), has_it) ||
         std::any_of(schema.verbs.begin(), schema.verbs.end(),
                     [&](const VerbInfo& verb) { return has_it(verb) && verb.word != name; });
}

std::string OptionSyntax(const Option& option) {
  const std::string first =
      option.short_name.empty() ? "    " : fmt::format("-{}, ", option.short_name);
  return fmt::format("{}--{}{}{}", first, option.long_name, option.value.empty() ? "" : " ",
                     option.value);
}

}  // namespace borescope::cli
