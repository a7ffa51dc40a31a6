#include <algorithm>
#include <string>
#include <utility>

#include "borescope/catalog/catalog.h"
#include "borescope/engine/partial/wire/partial_fields.h"
#include "borescope/engine/partial/wire/question_bytes.h"
#include "borescope/engine/partial/wire/wire_numbers.h"

namespace borescope::internal::wire {
namespace {

void ReadRange(WireReader in, NumberRanges& numbers) {
  std::pair<int64_t, int64_t> read;
  while (in.Next()) {
    switch (in.field()) {
      case range::kFirst:
        read.first = in.Signed();
        break;
      case range::kLast:
        read.second = in.Signed();
        break;
      default:
        in.Skip();
    }
  }
  if (read.first > read.second) {
    in.Fail("a range of numbers ends before it begins");
  }
  numbers.ranges.push_back(read);
}

TimePoint ReadTimePoint(WireReader in) {
  TimePoint point;
  uint64_t kind = 0;
  while (in.Next()) {
    switch (in.field()) {
      case time_point::kKind:
        kind = in.Number();
        break;
      case time_point::kNumber:
        point.number = in.Signed();
        break;
      case time_point::kText:
        point.text = in.Text();
        break;
      default:
        in.Skip();
    }
  }
  if (const auto known = ValueOf(kTimeKinds, kind); known.has_value()) {
    point.kind = *known;
  } else {
    in.Fail("a moment is of the unknown kind " + std::to_string(kind));
  }
  return point;
}

void ReadStepRule(WireReader& in, StepRule& rule) {
  const uint64_t number = in.Number();
  if (const auto known = ValueOf(kStepRuleNumbers, number); known.has_value()) {
    rule = *known;
  } else {
    in.Fail("the steps of a device are by the unknown rule " + std::to_string(number));
  }
}

Selection ReadSelection(WireReader in) {
  Selection selected;
  selected.step_rule = StepRule::kTime;  // of formats before 1.2
  while (in.Next()) {
    switch (in.field()) {
      case selection::kSteps:
        ReadRange(in.Message(), selected.steps);
        break;
      case selection::kGpus:
        ReadRange(in.Message(), selected.gpus);
        break;
      case selection::kStreams:
        ReadRange(in.Message(), selected.streams);
        break;
      case selection::kAnnotation:
        selected.annotation = in.Text();
        break;
      case selection::kInstances:
        ReadRange(in.Message(), selected.instances);
        break;
      case selection::kBegin:
        selected.range.begin = ReadTimePoint(in.Message());
        break;
      case selection::kEnd:
        selected.range.end = ReadTimePoint(in.Message());
        break;
      case selection::kStepRule:
        ReadStepRule(in, selected.step_rule);
        break;
      case selection::kStepPattern:
        selected.step_pattern = in.Text();
        break;
      default:
        in.Skip();
    }
  }
  return selected;
}

// An option as it is in the bytes.
struct RawOption {
  std::string name;
  ParamValue value;
};

RawOption ReadOption(WireReader in) {
  RawOption raw;
  while (in.Next()) {
    switch (in.field()) {
      case option::kName:
        raw.name = in.Text();
        break;
      case option::kNumber:
        raw.value.number = in.Signed();
        break;
      case option::kText:
        raw.value.text = in.Text();
        break;
      case option::kContent:
        raw.value.content = in.Text();
        break;
      default:
        in.Skip();
    }
  }
  return raw;
}

const ParamSpec* FindOption(const Question& question, std::string_view name) {
  for (const AnalysisSpec* verb : question.verbs) {
    for (const ParamSpec* param : verb->AllParams()) {
      if (param->name == name) {
        return param;
      }
    }
  }
  return nullptr;
}

// Whether the value is such as ParseParam gives, whose text need not be there where the number
// says all.
bool IsOfType(const ParamSpec& spec, const ParamValue& value) {
  switch (spec.type) {
    case ParamType::kFlag:
      return value.number == 0 || value.number == 1;
    case ParamType::kCount:
      return value.number >= 1;
    case ParamType::kNumber:
    case ParamType::kTime:
      return value.number >= 0;
    case ParamType::kTimes:
    case ParamType::kShare:
    case ParamType::kChoice:
      return ParseParam(spec, value.text).ok();
    case ParamType::kFile:
    case ParamType::kFolder:
    case ParamType::kText:
    case ParamType::kTexts:
      return true;
  }
  return false;
}

// Options can be distinguished only once the verbs are known.
void AddOptions(std::vector<RawOption> options, WireReader& in, Question& question) {
  for (RawOption& raw : options) {
    const ParamSpec* spec = FindOption(question, raw.name);
    if (spec == nullptr) {
      return in.Fail("no verb of it has an option --" + raw.name);
    }
    if (!IsOfType(*spec, raw.value)) {
      return in.Fail(raw.name + " has no value of its type");
    }
    raw.value.name = spec->name;
    raw.value.type = spec->type;
    question.params.values.push_back(std::move(raw.value));
  }
}

void AddVerb(WireReader& in, Question& question) {
  const std::string name = in.Text();
  const AnalysisSpec* verb = FindAnalysis(name);
  if (verb == nullptr) {
    return in.Fail("the verb \"" + name + "\" is not known here");
  }
  if (std::find(question.verbs.begin(), question.verbs.end(), verb) != question.verbs.end()) {
    return in.Fail("the verb \"" + name + "\" is named twice");
  }
  question.verbs.push_back(verb);
}

void SetCompat(WireReader& in, Question& question) {
  const std::string name = in.Text();
  const auto* row = std::find_if(std::begin(kCompats), std::end(kCompats),
                                 [&](const CompatRow& one) { return one.name == name; });
  if (row != std::end(kCompats)) {
    question.params.compat = row->id;
  } else if (!name.empty()) {
    in.Fail("the tool \"" + name + "\" of --compat is not known here");
  }
}

}  // namespace

Question ReadQuestion(WireReader in) {
  Question question;
  std::vector<RawOption> options;
  while (in.Next()) {
    switch (in.field()) {
      case question::kVerbs:
        AddVerb(in, question);
        break;
      case question::kRanks:
        ReadRange(in.Message(), question.ranks);
        break;
      case question::kSelection:
        question.params.selection = ReadSelection(in.Message());
        break;
      case question::kBy:
        question.params.by.push_back(in.Text());
        break;
      case question::kCompat:
        SetCompat(in, question);
        break;
      case question::kAll:
        question.params.all = in.Flag();
        break;
      case question::kOptions:
        options.push_back(ReadOption(in.Message()));
        break;
      case question::kForReport:
        question.for_report = in.Flag();
        break;
      case question::kForCheck:
        question.for_check = in.Flag();
        break;
      default:
        in.Skip();
    }
  }
  if (question.verbs.empty()) {
    in.Fail("it names no verb");
  }
  AddOptions(std::move(options), in, question);
  return question;
}

}  // namespace borescope::internal::wire
