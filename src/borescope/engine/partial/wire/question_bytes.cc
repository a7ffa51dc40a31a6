#include "borescope/engine/partial/wire/question_bytes.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "borescope/catalog/catalog.h"
#include "borescope/engine/partial/wire/partial_fields.h"
#include "borescope/engine/question/question.h"
#include "borescope/engine/question/registry.h"

namespace borescope::internal::wire {
namespace {

using protozero::pbf_writer;

void WriteOption(const ParamValue& value, pbf_writer out) {
  out.add_string(option::kName, value.name.data(), value.name.size());
  out.add_sint64(option::kNumber, value.number);
  out.add_bytes(option::kText, value.text);
  out.add_bytes(option::kContent, value.content);
}

void WriteShared(const ParameterText& shared, pbf_writer out) {
  out.add_string(option::kName, shared.name);
  out.add_bytes(option::kText, shared.text);
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

const ParamSpec* FindOption(const MappedQuestion& question, std::string_view name) {
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

// An option of its verbs, which are known by now.
void AddOption(RawOption raw, WireReader& in, MappedQuestion& question) {
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

// Those that verbs share become typed as when they are asked.
void AddOptions(std::vector<RawOption> options, WireReader& in, MappedQuestion& question) {
  RunOptions shared;
  std::set<std::string> seen;
  for (RawOption& raw : options) {
    if (!seen.insert(raw.name).second) {
      return in.Fail(raw.name + " is given twice");
    }
    const ParameterRow* const row = FindShared(raw.name);
    if (row == nullptr || row->text == nullptr) {
      AddOption(std::move(raw), in, question);
      continue;
    }
    if (row->type == "flag" && !raw.value.text.empty() && raw.value.text != "true") {
      return in.Fail(raw.name + " has no value of its type");
    }
    const Result<void> read =
        raw.value.text.empty() ? Result<void>() : row->read(raw.value.text, shared);
    if (!read.ok()) {
      return in.Fail(raw.name + " has no value of its type: " + read.error().Sentence());
    }
  }
  shared.params.values = std::move(question.params.values);
  question.params = std::move(shared.params);
  question.ranks = std::move(shared.ranks);
}

void AddVerb(WireReader& in, MappedQuestion& question) {
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

}  // namespace

void WriteQuestion(const MappedQuestion& question, pbf_writer out) {
  for (const AnalysisSpec* verb : question.verbs) {
    out.add_string(question::kVerbs, verb->name.data(), verb->name.size());
  }
  for (const ParameterText& shared : SharedTexts(question.params, question.ranks)) {
    if (!shared.text.empty()) {
      WriteShared(shared, pbf_writer(out, question::kOptions));
    }
  }
  for (const ParamValue& value : question.params.values) {
    WriteOption(value, pbf_writer(out, question::kOptions));
  }
  if (question.for_report) {
    out.add_bool(question::kForReport, true);
  }
  if (question.for_check) {
    out.add_bool(question::kForCheck, true);
  }
}

MappedQuestion ReadQuestion(WireReader in) {
  MappedQuestion question;
  std::vector<RawOption> options;
  while (in.Next()) {
    switch (in.field()) {
      case question::kVerbs:
        AddVerb(in, question);
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
