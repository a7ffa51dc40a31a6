#include "borescope/engine/partial/questions.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/analysis/core/param_specs.h"
#include "borescope/catalog/catalog.h"
#include "borescope/catalog/report_sections.h"
#include "borescope/engine/answer_shape.h"
#include "borescope/engine/check_request.h"
#include "borescope/engine/question/question.h"
#include "borescope/engine/question/registry.h"
#include "borescope/output/utf8.h"

namespace borescope::internal {

namespace {

constexpr std::string_view kTimelineOfVerb = "timeline";

std::string VerbsOf(const MappedQuestion& question) {
  std::vector<std::string_view> names;
  names.reserve(question.verbs.size());
  for (const AnalysisSpec* verb : question.verbs) {
    names.push_back(verb->name);
  }
  return fmt::format("{}", fmt::join(names, ","));
}

bool IsPath(const ParamValue& value) {
  return value.type == ParamType::kFile || value.type == ParamType::kFolder;
}

// The value of an option as a text that is equal where the answer is. The folder of an option is
// where something was read while mapping, and may be another one on each machine.
std::string TextOf(const ParamValue& value) {
  if (IsPath(value)) {
    return value.content;
  }
  return value.text.empty() ? fmt::format("{}", value.number) : value.text;
}

struct Detail {
  std::string name;
  std::string value;
};

// Everything that makes one question different from another.
std::vector<Detail> DetailsOf(const MappedQuestion& question) {
  std::vector<Detail> details = {
      {"the verbs", VerbsOf(question)},
      {"whether it is of a report", question.for_report ? "yes" : "no"},
      {"whether it is of a check", question.for_check ? "yes" : "no"},
  };
  for (ParameterText& shared : SharedTexts(question.params, question.ranks)) {
    const bool is_flag = FindShared(shared.name)->type == "flag";
    details.push_back({"`" + ParameterName(shared.name) + "`",
                       is_flag && !shared.text.empty() ? "given" : std::move(shared.text)});
  }
  for (const ParamValue& value : question.params.values) {
    details.push_back({"`" + ParameterName(value.name) + "`", TextOf(value)});
  }
  return details;
}

// The order in which options are given says nothing.
void SortOptions(std::vector<Detail>& details, size_t options) {
  std::stable_sort(details.end() - static_cast<std::ptrdiff_t>(options), details.end(),
                   [](const Detail& a, const Detail& b) { return a.name < b.name; });
}

std::string Shown(const std::string& value) {
  constexpr size_t kWidth = 60;
  return value.empty() ? "none" : ShortenMiddle(ToPrintable(value), kWidth);
}

std::string Describe(const std::string& name, const std::string& a, const std::string& b) {
  return fmt::format("{} ({}; {})", name, Shown(a), Shown(b));
}

}  // namespace

std::string DifferenceOf(const MappedQuestion& a, const MappedQuestion& b) {
  std::vector<Detail> in_a = DetailsOf(a);
  std::vector<Detail> in_b = DetailsOf(b);
  SortOptions(in_a, a.params.values.size());
  SortOptions(in_b, b.params.values.size());
  for (size_t i = 0; i < std::min(in_a.size(), in_b.size()); ++i) {
    if (in_a[i].name != in_b[i].name) {
      const bool a_first = in_a[i].name < in_b[i].name;
      return a_first ? Describe(in_a[i].name, in_a[i].value, "")
                     : Describe(in_b[i].name, "", in_b[i].value);
    }
    if (in_a[i].value != in_b[i].value) {
      return Describe(in_a[i].name, in_a[i].value, in_b[i].value);
    }
  }
  if (in_a.size() == in_b.size()) {
    return {};
  }
  return in_a.size() > in_b.size() ? Describe(in_a[in_b.size()].name, in_a[in_b.size()].value, "")
                                   : Describe(in_b[in_a.size()].name, "", in_b[in_a.size()].value);
}

MappedQuestion QuestionOfReport(const Params& given, const NumberRanges& ranks,
                                std::string_view timeline) {
  MappedQuestion question{{}, ReportParams(), ranks, true};
  question.params.selection = given.selection;
  std::copy_if(given.values.begin(), given.values.end(), std::back_inserter(question.params.values),
               [](const ParamValue& value) { return value.name == kPlainStepParam.name; });
  for (const SectionSpec& section : ReportSections()) {
    question.verbs.push_back(section.analysis);
  }
  if (timeline != kNoTimeline) {
    question.verbs.push_back(FindAnalysis(kTimelineOfVerb));
    question.params.values.push_back({kTimelineDetailParam.name, 0, std::string(timeline)});
  }
  return question;
}

std::string TimelineOfReport(const MappedQuestion& question) {
  const bool has_timeline =
      std::any_of(question.verbs.begin(), question.verbs.end(),
                  [](const AnalysisSpec* verb) { return verb->name == kTimelineOfVerb; });
  return std::string(has_timeline ? question.params.Text(kTimelineDetailParam) : kNoTimeline);
}

void MergeQuestion(MappedQuestion& to, const MappedQuestion& other) {
  for (ParamValue& value : to.params.values) {
    for (const ParamValue& same : other.params.values) {
      if (same.name == value.name && IsPath(value)) {
        value.text = std::min(value.text, same.text);
      }
    }
  }
}

namespace {

Error Unfit(const PartialData& partial, ErrorCode code, std::string cause) {
  return {code, std::move(cause),
          fmt::format("it was written by Borescope {}: map again with the version that reduces",
                      ToPrintable(partial.program_version)),
          partial.name};
}

// There is only one question of a report.
Result<void> CheckReport(const PartialData& partial) {
  const MappedQuestion& question = partial.question;
  const std::string difference = DifferenceOf(
      question, QuestionOfReport(question.params, question.ranks, TimelineOfReport(question)));
  return difference.empty() ? Result<void>()
                            : Unfit(partial, ErrorCode::kInvalidArgument,
                                    "it answers another report, which differs in " + difference);
}

Result<void> CheckQuestion(const PartialData& partial) {
  if (partial.question.for_report) {
    return CheckReport(partial);
  }
  for (const AnalysisSpec* verb : partial.question.verbs) {
    if (const Result<void> fits = CheckOptions(*verb, partial.question.params); !fits.ok()) {
      return Unfit(partial, ErrorCode::kInvalidArgument, fits.error().Sentence());
    }
  }
  return {};
}

// Tables of one verb, of any file.
class VerbTables {
 public:
  static Result<VerbTables> Make(const AnalysisSpec& verb, const MappedQuestion& question) {
    VerbTables made(verb, question.params);
    BS_ASSIGN(made.shape_, ShapeOf(verb, question.params, !question.for_report));
    return made;
  }

  // What is wrong with these; empty: nothing.
  std::string FaultOf(const Tables& tables) const {
    const Pipeline& pipeline = verb_->PipelineFor(*params_);
    std::string found = MismatchOf(tables, shape_, pipeline.adds_columns);
    if (found.empty() && pipeline.check_tables != nullptr) {
      const Result<void> fit = pipeline.check_tables(tables, *params_);
      found = fit.ok() ? "" : fit.error().Sentence();
    }
    return found.empty() ? found : fmt::format("{}: {}", verb_->name, found);
  }

 private:
  VerbTables(const AnalysisSpec& verb, const Params& params) : verb_(&verb), params_(&params) {}

  const AnalysisSpec* verb_;
  const Params* params_;
  Tables shape_;
};

std::string MiscountOf(const PartialFile& file, size_t verbs) {
  return file.outcomes.size() == (file.load_error.has_value() ? 0 : verbs)
             ? std::string()
             : fmt::format("it has {} answers to {} verbs", file.outcomes.size(), verbs);
}

std::string FaultOf(const PartialFile& file, const std::vector<VerbTables>& verbs) {
  if (std::string miscount = MiscountOf(file, verbs.size()); !miscount.empty()) {
    return miscount;
  }
  for (size_t i = 0; i < file.outcomes.size(); ++i) {
    if (!file.outcomes[i].error.has_value()) {
      if (std::string found = verbs[i].FaultOf(file.outcomes[i].tables); !found.empty()) {
        return found;
      }
    }
  }
  return {};
}

Error UnfitFile(const PartialData& partial, const PartialFile& file, std::string_view fault) {
  return Unfit(partial, ErrorCode::kCorrupt,
               fmt::format("{}: {}", ToPrintable(file.path), ToPrintable(fault)));
}

// What a check needs of a partial: each file with its run, and the same files under each question.
std::string FaultOfCheck(const PartialData& partial) {
  for (const PartialFile& file : partial.files) {
    if (file.checked.has_value() != partial.question.for_check) {
      return partial.question.for_check ? "a file of a check is of no run"
                                        : "a file is of a run, and the question of no check";
    }
  }
  for (const PartialData& further : partial.further) {
    const bool are_same = std::equal(
        further.files.begin(), further.files.end(), partial.files.begin(), partial.files.end(),
        [](const PartialFile& a, const PartialFile& b) { return a.path == b.path; });
    if (!partial.question.for_check || !further.question.for_check || !are_same) {
      return "a further question is not of the same files, or of no check";
    }
  }
  return {};
}

Result<void> CheckAnswers(const PartialData& partial) {
  std::vector<VerbTables> verbs;
  for (const AnalysisSpec* verb : partial.question.verbs) {
    Result<VerbTables> tables = VerbTables::Make(*verb, partial.question);
    if (!tables.ok()) {
      return Unfit(partial, ErrorCode::kInvalidArgument, tables.error().Sentence());
    }
    verbs.push_back(std::move(*tables));
  }
  for (const PartialFile& file : partial.files) {
    if (const std::string found = FaultOf(file, verbs); !found.empty()) {
      return UnfitFile(partial, file, found);
    }
  }
  return {};
}

}  // namespace

Result<void> CheckPartialHead(const PartialData& partial) {
  BS_TRY(CheckQuestion(partial));
  for (const PartialFile& file : partial.files) {
    if (const std::string found = MiscountOf(file, partial.question.verbs.size()); !found.empty()) {
      return UnfitFile(partial, file, found);
    }
  }
  return {};
}

Result<void> CheckPartial(const PartialData& partial) {
  BS_TRY(CheckQuestion(partial));
  BS_TRY(CheckAnswers(partial));
  for (const PartialData& further : partial.further) {
    BS_TRY(CheckPartial(further));
  }
  const std::string fault = FaultOfCheck(partial);
  return fault.empty() ? Result<void>() : Unfit(partial, ErrorCode::kCorrupt, fault);
}

}  // namespace borescope::internal
