#include "borescope/engine/partial/wire/partial_fields.h"
#include "borescope/engine/partial/wire/question_bytes.h"
#include "borescope/engine/partial/wire/wire_numbers.h"

namespace borescope::internal::wire {
namespace {

using protozero::pbf_writer;

void WriteRanges(uint32_t field, const NumberRanges& numbers, pbf_writer& out) {
  for (const auto& [first, last] : numbers.ranges) {
    pbf_writer one(out, field);
    one.add_sint64(range::kFirst, first);
    one.add_sint64(range::kLast, last);
  }
}

void WriteTimePoint(const TimePoint& point, pbf_writer out) {
  out.add_enum(time_point::kKind, static_cast<int32_t>(NumberOf(kTimeKinds, point.kind)));
  out.add_sint64(time_point::kNumber, point.number);
  out.add_bytes(time_point::kText, point.text);
}

void WriteSelection(const Selection& selected, pbf_writer out) {
  WriteRanges(selection::kSteps, selected.steps, out);
  WriteRanges(selection::kGpus, selected.gpus, out);
  WriteRanges(selection::kStreams, selected.streams, out);
  out.add_bytes(selection::kAnnotation, selected.annotation);
  WriteRanges(selection::kInstances, selected.instances, out);
  WriteTimePoint(selected.range.begin, pbf_writer(out, selection::kBegin));
  WriteTimePoint(selected.range.end, pbf_writer(out, selection::kEnd));
  out.add_enum(selection::kStepRule,
               static_cast<int32_t>(NumberOf(kStepRuleNumbers, selected.step_rule)));
  out.add_bytes(selection::kStepPattern, selected.step_pattern);
}

void WriteOption(const ParamValue& value, pbf_writer out) {
  out.add_string(option::kName, value.name.data(), value.name.size());
  out.add_sint64(option::kNumber, value.number);
  out.add_bytes(option::kText, value.text);
  out.add_bytes(option::kContent, value.content);
}

}  // namespace

void WriteQuestion(const Question& question, pbf_writer out) {
  for (const AnalysisSpec* verb : question.verbs) {
    out.add_string(question::kVerbs, verb->name.data(), verb->name.size());
  }
  WriteRanges(question::kRanks, question.ranks, out);
  WriteSelection(question.params.selection, pbf_writer(out, question::kSelection));
  for (const std::string& key : question.params.by) {
    out.add_string(question::kBy, key);
  }
  const std::string_view compat = CompatName(question.params.compat);
  out.add_string(question::kCompat, compat.data(), compat.size());
  out.add_bool(question::kAll, question.params.all);
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

}  // namespace borescope::internal::wire
