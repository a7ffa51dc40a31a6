#include "borescope/engine/question/question.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "borescope/analysis/measures/true_time/true_time.h"
#include "borescope/base/hash/hash_tables.h"
#include "borescope/base/io/byte_source.h"
#include "borescope/base/io/paths.h"
#include "borescope/base/text/text.h"
#include "borescope/catalog/catalog.h"
#include "borescope/engine/question/registry.h"

namespace borescope::internal {
namespace {

// What was given: texts by the names of rows and options, the last one of each name.
using Given = std::map<std::string, std::string, std::less<>>;

Error UnknownVerb(std::string_view name) {
  std::vector<std::string_view> names;
  for (const AnalysisSpec* spec : Analyses()) {
    names.push_back(spec->name);
  }
  const std::string_view nearest = Nearest(name, names);
  return UsageError(fmt::format("unknown verb '{}'", name),
                    nearest.empty() ? "" : fmt::format("did you mean '{}'?", nearest));
}

// What can be given to the verbs of a question, or to its task.
struct Accepted {
  std::string_view name;                       // of the first verb, or of the task
  std::vector<const ParameterRow*> rows = {};  // in the order in which they are read
  std::vector<const ParamSpec*> params = {};   // of single verbs
};

bool Applies(const ParameterRow& row, Specs specs) {
  return std::any_of(specs.begin(), specs.end(),
                     [&](const AnalysisSpec* spec) { return row.applies(*spec); });
}

// The word before INPUT of the first verb is an option, too.
Accepted AcceptedBy(Specs specs) {
  Accepted accepted{.name = specs.front()->name, .params = ParamsOf(specs)};
  for (const ParameterRow& row : SharedParameters()) {
    if (Applies(row, specs)) {
      accepted.rows.push_back(&row);
    }
  }
  if (specs.front()->leading != nullptr) {
    accepted.params.push_back(specs.front()->leading);
  }
  return accepted;
}

// What a task does not read from a question, as its files, is an argument of its own.
Accepted AcceptedBy(const TaskRow& task, Specs specs) {
  Accepted accepted{.name = task.name};
  const std::vector<const ParamSpec*> params = ParamsOf(specs);
  for (const ParameterRow* const row : ParametersOf(task)) {
    const auto param = std::find_if(params.begin(), params.end(),
                                    [&](const ParamSpec* one) { return one->name == row->name; });
    if (row->read != nullptr) {
      accepted.rows.push_back(row);
    } else if (param != params.end()) {
      accepted.params.push_back(*param);
    }
  }
  return accepted;
}

Error UnknownName(const Accepted& accepted, std::string_view name) {
  std::vector<std::string_view> names;
  names.reserve(accepted.rows.size() + accepted.params.size());
  for (const ParameterRow* row : accepted.rows) {
    names.push_back(row->name);
  }
  for (const ParamSpec* param : accepted.params) {
    names.push_back(param->name);
  }
  std::string nearest(Nearest(name, names));
  std::replace(nearest.begin(), nearest.end(), '-', '_');  // as programs write names
  return UsageError(fmt::format("no such parameter of {}", accepted.name),
                    nearest.empty() ? "" : fmt::format("did you mean '{}'?", nearest),
                    ParameterName(name));
}

// The value of a flag: true or false.
Result<bool> ParseFlag(std::string_view name, const std::string& value) {
  if (value == "true" || value == "1" || value.empty()) {
    return true;
  }
  if (value == "false" || value == "0") {
    return false;
  }
  return UsageError(fmt::format("'{}' is neither true nor false", value), {}, ParameterName(name));
}

// Notes one value; a flag that is not set is none.
Result<void> Note(std::string_view name, bool is_flag, const std::string& value, Given& given) {
  bool is_set = true;
  if (is_flag) {
    BS_ASSIGN(is_set, ParseFlag(name, value));
  }
  if (is_set) {
    given[std::string(name)] = is_flag ? "true" : value;
  } else {
    given.erase(std::string(name));
  }
  return {};
}

// Every name must be one of those.
Result<Given> LookUp(const Question& question, const Accepted& accepted) {
  const auto& rows = accepted.rows;
  const auto& params = accepted.params;
  Given given;
  for (const auto& [written, value] : question.entries()) {
    std::string name = written;
    std::replace(name.begin(), name.end(), '_', '-');
    const auto is_it = [&](const auto* each) { return each->name == name; };
    const auto row = std::find_if(rows.begin(), rows.end(), is_it);
    const auto param = std::find_if(params.begin(), params.end(), is_it);
    if (row != rows.end()) {
      BS_TRY(Note(name, (*row)->type == "flag", value, given));
    } else if (param != params.end()) {
      BS_TRY(Note(name, (*param)->type == ParamType::kFlag, value, given));
    } else {
      return UnknownName(accepted, name);
    }
  }
  return given;
}

Result<void> CheckTogether(const Given& given, const RunOptions& options) {
  if (!options.params.selection.instances.empty() && options.params.selection.annotation.empty()) {
    return UsageError("`instance` counts occurrences of an annotation", "name it with `annotation`",
                      "instance");
  }
  // Options that say how the overlay is drawn mean nothing without it.
  for (const auto& [name, value] : given) {
    if (name.starts_with("overlay-") && options.overlay.empty()) {
      return UsageError(fmt::format("`{}` says what `overlay` draws", ParameterName(name)),
                        "add `overlay` FILE", ParameterName(name));
    }
  }
  return {};
}

}  // namespace

Result<std::vector<const AnalysisSpec*>> FindVerbs(std::span<const std::string> names) {
  std::vector<const AnalysisSpec*> specs;
  for (const std::string& name : names) {
    const AnalysisSpec* const spec = FindAnalysis(name);
    if (spec == nullptr) {
      return UnknownVerb(name);
    }
    specs.push_back(spec);
  }
  if (specs.empty()) {
    return Error{.code = ErrorCode::kInvalidArgument, .cause = "no verb"};
  }
  return specs;
}

bool IsOf(const Question& question, std::string_view task) {
  return question.verbs().size() == 1 && question.verbs().front() == task;
}

Result<void> ReadQuestion(const Question& question, RunOptions& options) {
  const bool is_task = IsOf(question, "report") || IsOf(question, "check");
  const std::string like[] = {"summary"};
  BS_ASSIGN(const std::vector<const AnalysisSpec*> specs,
            FindVerbs(is_task ? std::span<const std::string>(like) : question.verbs()));
  const Accepted accepted =
      is_task ? AcceptedBy(*FindTask(question.verbs().front()), specs) : AcceptedBy(specs);
  BS_ASSIGN(const Given given, LookUp(question, accepted));
  options.params = {};
  for (const ParameterRow* row : accepted.rows) {
    if (const auto found = given.find(row->name); found != given.end() && !found->second.empty()) {
      BS_TRY(row->read(found->second, options));
    }
  }
  for (const ParamSpec* param : accepted.params) {
    if (const auto found = given.find(param->name); found != given.end()) {
      const bool is_flag = param->type == ParamType::kFlag;
      BS_ASSIGN(ParamValue value, ParseParam(*param, is_flag ? std::string() : found->second));
      options.params.values.push_back(std::move(value));
    }
  }
  BS_TRY(CheckTogether(given, options));
  return IsOf(question, "report") ? CheckTrueTimeParams("report", options.params) : Result<void>();
}

std::vector<ParameterText> SharedTexts(const Params& params, const NumberRanges& ranks) {
  std::vector<ParameterText> texts;
  for (const ParameterRow& row : SharedParameters()) {
    if (row.text != nullptr) {
      texts.push_back({std::string(row.name), row.text(params, ranks)});
    }
  }
  return texts;
}

std::vector<const ParamSpec*> ParamsOf(Specs specs) {
  std::vector<const ParamSpec*> params;
  for (const AnalysisSpec* spec : specs) {
    for (const ParamSpec* param : spec->params) {
      if (std::find(params.begin(), params.end(), param) == params.end()) {
        params.push_back(param);
      }
    }
  }
  return params;
}

Result<NumberRanges> ParseRanges(std::string_view option, const std::string& text) {
  if (text.empty()) {
    return NumberRanges();
  }
  Result<NumberRanges> ranges = NumberRanges::Parse(text);
  if (!ranges.ok()) {
    return OfParameter(ParameterName(option), ranges.error());
  }
  return ranges;
}

Result<int64_t> ParseWithin(std::string_view option, const std::string& text, int64_t smallest,
                            int64_t largest) {
  const std::optional<int64_t> number = ParseNumber<int64_t>(text);
  if (!number.has_value() || *number < smallest || *number > largest) {
    return UsageError(fmt::format("'{}' is no number between {} and {}", text, smallest, largest),
                      {}, ParameterName(option));
  }
  return *number;
}

Result<int> ParseCount(std::string_view option, const std::string& text, int largest,
                       int smallest) {
  BS_ASSIGN(const int64_t number, ParseWithin(option, text, smallest, largest));
  return static_cast<int>(number);
}

std::vector<std::string> SplitList(std::string_view text) {
  std::vector<std::string> items;
  HashSet<std::string_view> seen;
  while (!text.empty()) {
    std::string_view item = text.substr(0, text.find(','));
    text.remove_prefix(std::min(item.size() + 1, text.size()));
    item.remove_prefix(std::min(item.find_first_not_of(' '), item.size()));
    item = item.substr(0, item.find_last_not_of(' ') + 1);
    if (!item.empty() && seen.insert(item).second) {
      items.emplace_back(item);
    }
  }
  return items;
}

namespace {

// Nobody writes more than this by hand; a wrong file should not fill the memory.
constexpr size_t kMostBytes = size_t{1} << 20;

Result<std::string> ReadText(const std::string& path) {
  BS_ASSIGN(const std::unique_ptr<ByteSource> source, OpenFile(path));
  std::string text(kMostBytes + 1, '\0');
  Result<size_t> size = ReadFully(*source, text.data(), text.size());
  if (!size.ok()) {
    return InFile(path, size.error());
  }
  if (*size > kMostBytes) {
    return Error{ErrorCode::kInvalidArgument, "larger than 1 MiB", "is it the right file?", path};
  }
  text.resize(*size);
  return text;
}

// What cannot be found would answer as if nothing had been named.
Result<void> FindFolder(const std::string& path) {
  BS_ASSIGN(const FileKind kind, KindOf(path));
  if (kind == FileKind::kFolder) {
    return {};
  }
  return Error{ErrorCode::kInvalidArgument,
               kind == FileKind::kNothing ? "No such file or directory" : "no folder",
               {},
               path};
}

Result<void> ReadParam(ParamType type, ParamValue& value) {
  if (type == ParamType::kFolder) {
    return FindFolder(value.text);
  }
  if (type == ParamType::kFile) {
    BS_ASSIGN(value.content, ReadText(value.text));
  }
  return {};
}

Result<void> ReadParams(const AnalysisSpec& spec, Params& params) {
  for (const ParamSpec* param : spec.params) {
    for (ParamValue& value : params.values) {
      const Result<void> read =
          value.name == param->name ? ReadParam(param->type, value) : Result<void>();
      if (!read.ok()) {
        return OfParameter(ParameterName(param->name), read.error());
      }
    }
  }
  return {};
}

}  // namespace

Result<void> ReadParamFiles(std::span<const AnalysisSpec* const> specs, Params& params) {
  for (const AnalysisSpec* spec : specs) {
    BS_TRY(ReadParams(*spec, params));
  }
  return {};
}

}  // namespace borescope::internal
