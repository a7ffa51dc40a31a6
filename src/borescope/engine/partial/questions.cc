#include "borescope/engine/partial/questions.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <vector>

#include "borescope/analysis/core/param_specs.h"
#include "borescope/catalog/catalog.h"
#include "borescope/catalog/report_sections.h"
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

}  // namespace borescope::internal
