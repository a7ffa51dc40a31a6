#include "borescope/engine/inputs/question_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

#include "borescope/base/check.h"
#include "borescope/base/text/nearest.h"
#include "borescope/base/text/text.h"
#include "borescope/index/steps/steps.h"

namespace borescope::internal {
namespace {

using Choices = std::vector<std::string_view>;

bool IsAnalysis(const AnalysisSpec* spec) { return spec != nullptr; }
bool Selects(const AnalysisSpec* spec) { return spec != nullptr && spec->takes_selection; }
bool SelectsInSteps(const AnalysisSpec* spec) {
  return Selects(spec) && !spec->is_about_whole_steps;
}
bool HasKeys(const AnalysisSpec* spec) { return spec != nullptr && !spec->by.empty(); }
bool HasOverlay(const AnalysisSpec* spec) { return spec != nullptr && spec->overlay != nullptr; }
bool HasSaved(const AnalysisSpec* spec) { return spec != nullptr && spec->saved != nullptr; }
bool TakesTwo(const AnalysisSpec* spec) { return spec != nullptr && spec->takes_two(); }
bool HasAll(const AnalysisSpec* spec) {
  return spec != nullptr && (spec->takes_all || spec->ToolThatTakesAll() != nullptr);
}

Choices Keys(const AnalysisSpec* spec) {
  return spec == nullptr ? Choices() : Choices(spec->by.begin(), spec->by.end());
}

Choices Compats(const AnalysisSpec* spec) {
  if (spec == nullptr) {
    return {"chakra"};  // of link and chakra, the only other verbs with the option
  }
  Choices names;
  for (const CompatRow& tool : kCompats) {
    if (spec->FindPipeline(tool.id) != nullptr) {
      names.push_back(tool.name);
    }
  }
  return names;
}

Choices StepRules(const AnalysisSpec*) { return {kStepRules.begin(), kStepRules.end()}; }

bool HasCompat(const AnalysisSpec* spec) { return spec != nullptr && !Compats(spec).empty(); }

// Order = order in --help.
constexpr QuestionRow kRows[] = {
    {"rank", "selection", "ranges", "LIST", "only these ranks: 0 or 0,3 or 2..5",
     &QuestionText::rank, nullptr, IsAnalysis, nullptr},
    {"step", "selection", "ranges", "LIST",
     "only these steps (the N of ProfilerStep#N; others are counted from 0)", &QuestionText::step,
     nullptr, Selects, nullptr},
    {"step-rule", "selection", "choice", "RULE",
     "what belongs to a step on a device, by launch (default) the work launched in it, by time "
     "what "
     "runs in its window on the host",
     &QuestionText::step_rule, nullptr, Selects, StepRules},
    {"step-pattern", "selection", "text", "TEXT",
     "steps are the annotations whose name matches this regular expression, instead of "
     "ProfilerStep#N",
     &QuestionText::step_pattern, nullptr, Selects, nullptr},
    {"gpu", "selection", "ranges", "LIST", "only these devices", &QuestionText::gpu, nullptr,
     SelectsInSteps, nullptr},
    {"stream", "selection", "ranges", "LIST", "only these device streams", &QuestionText::stream,
     nullptr, SelectsInSteps, nullptr},
    {"annotation", "selection", "text", "NAME", "only inside the host annotation of this name",
     &QuestionText::annotation, nullptr, SelectsInSteps, nullptr},
    {"instance", "selection", "ranges", "LIST",
     "which of its occurrences, counted from 0: 0 or 0,3 or 2..5", &QuestionText::instance, nullptr,
     SelectsInSteps, nullptr},
    {"base-rank", "selection", "ranges", "LIST", "of the first input, instead of --rank",
     &QuestionText::base_rank, nullptr, TakesTwo, nullptr},
    {"test-rank", "selection", "ranges", "LIST", "of the second input, instead of --rank",
     &QuestionText::test_rank, nullptr, TakesTwo, nullptr},
    {"base-step", "selection", "ranges", "LIST", "of the first input, instead of --step",
     &QuestionText::base_step, nullptr, TakesTwo, nullptr},
    {"test-step", "selection", "ranges", "LIST", "of the second input, instead of --step",
     &QuestionText::test_step, nullptr, TakesTwo, nullptr},
    {"begin", "selection", "time", "TIME",
     "only from here on: nanoseconds, +5ms from the begin, -5ms from the end, 10%, or part of the "
     "name of a kernel, the first of which starts there",
     &QuestionText::begin, nullptr, SelectsInSteps, nullptr},
    {"end", "selection", "time", "TIME", "only up to here, as --begin", &QuestionText::end, nullptr,
     SelectsInSteps, nullptr},
    {"by", "question", "list", "KEYS", "group by these, too", &QuestionText::by, nullptr, HasKeys,
     Keys},
    {"compat", "question", "choice", "TOOL", "rows, units and rounding of this tool",
     &QuestionText::compat, nullptr, HasCompat, Compats},
    {"all", "question", "flag", "",
     "also copies and memsets; ops --compat key_averages: also kernels and runtime calls", nullptr,
     &QuestionText::all, HasAll, nullptr},
    {"sort", "output", "text", "COLUMN", "sort rows by this column, numbers from large to small",
     &QuestionText::sort, nullptr, IsAnalysis, nullptr},
    {"top", "output", "count", "N", "show the first N rows of each table", &QuestionText::top,
     nullptr, IsAnalysis, nullptr},
    {"overlay", "output", "file", "FILE",
     "also write the whole trace with what was selected drawn into it; into a folder under its own "
     "name, several traces so only; .gz compresses. It copies all that the source holds, but for "
     "what --scrub leaves out",
     &QuestionText::overlay, nullptr, HasOverlay, nullptr},
    {"save", "output", "file", "FILE",
     "also write what the answer follows from, for --load; into a folder as NAME.graph, several "
     "traces so only; .gz compresses",
     &QuestionText::save, nullptr, HasSaved, nullptr},
};

Result<Compat> ParseCompat(const std::string& name) {
  if (name.empty()) {
    return Compat::kNone;
  }
  std::vector<std::string_view> names;
  for (const CompatRow& tool : kCompats) {
    if (tool.name == name) {
      return tool.id;
    }
    names.push_back(tool.name);
  }
  return UsageError(fmt::format("unknown tool '{}'", name),
                    fmt::format("tools are {}", fmt::join(names, ", ")), "compat");
}

Result<StepRule> ParseStepRule(const std::string& name) {
  const auto found = std::find(kStepRules.begin(), kStepRules.end(), name);
  if (found == kStepRules.end() && !name.empty()) {
    return UsageError(fmt::format("unknown rule '{}'", name),
                      fmt::format("rules are {}", fmt::join(kStepRules, ", ")), "step_rule");
  }
  return found == kStepRules.end() ? StepRule::kLaunch
                                   : static_cast<StepRule>(found - kStepRules.begin());
}

Result<Selection> ReadSelection(const QuestionText& text) {
  Selection selection;
  BS_ASSIGN(selection.steps, ParseRanges("step", text.step));
  BS_ASSIGN(selection.step_rule, ParseStepRule(text.step_rule));
  BS_ASSIGN(selection.gpus, ParseRanges("gpu", text.gpu));
  BS_ASSIGN(selection.streams, ParseRanges("stream", text.stream));
  BS_ASSIGN(selection.instances, ParseRanges("instance", text.instance));
  BS_ASSIGN(selection.range, TimeRange::Parse(text.begin, text.end));
  selection.annotation = text.annotation;
  selection.step_pattern = text.step_pattern;
  if (!text.step_pattern.empty()) {
    BS_TRY(StepPattern::Parse(text.step_pattern));
  }
  if (!text.instance.empty() && text.annotation.empty()) {
    return UsageError("`instance` counts occurrences of an annotation", "name it with `annotation`",
                      "instance");
  }
  return selection;
}

// The options of these verbs, and the word in front of INPUT of the first.
std::vector<const ParamSpec*> WithLeading(Specs specs) {
  std::vector<const ParamSpec*> params = ParamsOf(specs);
  if (specs.front()->leading != nullptr) {
    params.push_back(specs.front()->leading);
  }
  return params;
}

Result<Params> ReadParams(Specs specs, const QuestionText& text) {
  Params params;
  BS_ASSIGN(params.selection, ReadSelection(text));
  params.by = SplitList(text.by);
  params.all = text.all;
  for (const ParamSpec* param : WithLeading(specs)) {
    if (const auto given = text.params.find(param->name); given != text.params.end()) {
      BS_ASSIGN(ParamValue value, ParseParam(*param, given->second));
      params.values.push_back(std::move(value));
    }
  }
  BS_ASSIGN(params.compat, ParseCompat(text.compat));
  return params;
}

// What differs between the two runs of a comparison.
Result<void> ReadTwo(const QuestionText& text, RunOptions& options) {
  const auto either = [](const std::string& own, const std::string& common) {
    return own.empty() ? common : own;
  };
  BS_ASSIGN(options.ranks, ParseRanges("base-rank", either(text.base_rank, text.rank)));
  BS_ASSIGN(options.test.ranks, ParseRanges("test-rank", either(text.test_rank, text.rank)));
  BS_ASSIGN(options.params.selection.steps,
            ParseRanges("base-step", either(text.base_step, text.step)));
  BS_ASSIGN(options.test.steps, ParseRanges("test-step", either(text.test_step, text.step)));
  return {};
}

// Options that say how --overlay draws mean nothing without it.
Result<void> CheckOverlayDetails(const QuestionText& text) {
  for (const auto& [name, value] : text.params) {
    if (name.starts_with("overlay-") && text.overlay.empty()) {
      return UsageError(fmt::format("`{}` says what `overlay` draws", ParameterName(name)),
                        "add `overlay` FILE", ParameterName(name));
    }
  }
  return {};
}

bool Applies(const QuestionRow& row, Specs specs) {
  return std::any_of(specs.begin(), specs.end(), row.applies);
}

// The names that these verbs have.
std::vector<std::string_view> NamesOf(Specs specs) {
  std::vector<std::string_view> names;
  for (const QuestionRow& row : kRows) {
    if (Applies(row, specs)) {
      names.push_back(row.name);
    }
  }
  for (const ParamSpec* param : ParamsOf(specs)) {
    names.push_back(param->name);
  }
  return names;
}

Error UnknownName(Specs specs, std::string_view name) {
  std::string nearest(Nearest(name, NamesOf(specs)));
  std::replace(nearest.begin(), nearest.end(), '-', '_');  // as programs write names
  return UsageError(fmt::format("no such parameter of {}", specs.front()->name),
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

// Whether `name` is an option of these verbs alone; it is set then.
Result<bool> SetParam(Specs specs, std::string_view name, const std::string& value,
                      QuestionText& text) {
  for (const ParamSpec* param : WithLeading(specs)) {
    if (param->name != name) {
      continue;
    }
    if (param->type != ParamType::kFlag) {
      text.params[param->name] = value;
      return true;
    }
    BS_ASSIGN(const bool is_set, ParseFlag(name, value));
    if (is_set) {
      text.params[param->name] = "";
    } else {
      text.params.erase(param->name);
    }
    return true;
  }
  return false;
}

Result<void> SetRow(const QuestionRow& row, const std::string& value, QuestionText& text) {
  if (row.text != nullptr) {
    text.*row.text = value;
    return {};
  }
  BS_ASSIGN(text.*row.flag, ParseFlag(row.name, value));
  return {};
}

}  // namespace

std::span<const QuestionRow> QuestionRows() { return kRows; }

const QuestionRow& GetQuestionRow(std::string_view name) {
  const auto* row = std::find_if(std::begin(kRows), std::end(kRows),
                                 [&](const QuestionRow& each) { return each.name == name; });
  BS_CHECK(row != std::end(kRows));
  return *row;
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
  while (!text.empty()) {
    std::string_view item = text.substr(0, text.find(','));
    text.remove_prefix(std::min(item.size() + 1, text.size()));
    item.remove_prefix(std::min(item.find_first_not_of(' '), item.size()));
    item = item.substr(0, item.find_last_not_of(' ') + 1);
    if (!item.empty() && std::find(items.begin(), items.end(), item) == items.end()) {
      items.emplace_back(item);
    }
  }
  return items;
}

Result<void> ReadQuestion(Specs specs, const QuestionText& text, RunOptions& options) {
  BS_ASSIGN(options.params, ReadParams(specs, text));
  BS_TRY(CheckOverlayDetails(text));
  options.overlay = text.overlay;
  options.save = text.save;
  BS_ASSIGN(options.ranks, ParseRanges("rank", text.rank));
  options.sort = text.sort;
  if (!text.top.empty()) {
    BS_ASSIGN(const int top, ParseCount("top", text.top, 1'000'000'000));
    options.top = static_cast<size_t>(top);
  }
  return specs.front()->takes_two() ? ReadTwo(text, options) : Result<void>();
}

Result<QuestionText> QuestionOf(Specs specs,
                                std::span<const std::pair<std::string, std::string>> entries) {
  QuestionText text;
  for (const auto& [given, value] : entries) {
    std::string name = given;
    std::replace(name.begin(), name.end(), '_', '-');
    const auto* row = std::find_if(
        std::begin(kRows), std::end(kRows),
        [&](const QuestionRow& each) { return each.name == name && Applies(each, specs); });
    if (row != std::end(kRows)) {
      BS_TRY(SetRow(*row, value, text));
      continue;
    }
    BS_ASSIGN(const bool is_param, SetParam(specs, name, value, text));
    if (!is_param) {
      return UnknownName(specs, name);
    }
  }
  return text;
}

}  // namespace borescope::internal
