#include "borescope/recorder/rule_outcome.h"

#include <algorithm>

namespace borescope::internal {
namespace {

std::string Quoted(const std::string& name) { return "'" + name + "'"; }

std::string SeenText(const RuleFacts& facts) {
  if (facts.seen.empty()) return "; there was none of another name";
  constexpr size_t kMostShown = 8;
  std::string text = "; there were ";
  const size_t count = std::min(facts.seen.size(), kMostShown);
  for (size_t i = 0; i < count; ++i) text += (i == 0 ? "" : ", ") + Quoted(facts.seen[i]);
  return text + (facts.has_more || count < facts.seen.size() ? " and more" : "");
}

// Recording is a matter of the whole run: the range may have ended before, or in other processes.
std::string OpenRangeText(const std::string& name) {
  return "the last " + Quoted(name) +
         " was still open when the program ended, or its process was killed, or it was a mark, "
         "which has no end";
}

std::string StepText(const RuleFacts& facts) {
  if (!facts.last_step.has_value()) {
    return "; there was no step: say them by borescope_record.step, or by NVTX as ProfilerStep#N";
  }
  return "; the last was step " + std::to_string(*facts.last_step);
}

}  // namespace

std::string WhyNeverStarted(const RunRules& rules, const RuleFacts& facts, bool is_by_clock) {
  if (facts.has_started) return "";
  switch (rules.start.point) {
    case RecordPoint::kRange:
      return "no range or mark named " + Quoted(rules.start.range) + " began" + SeenText(facts);
    case RecordPoint::kStep:
      return "step " + std::to_string(rules.start.step) + " never began" + StepText(facts);
    case RecordPoint::kCall:
      return "the program called none of cudaProfilerStart, hipProfilerStart and "
             "borescope_record_start";
    case RecordPoint::kNone:
      break;
  }
  return is_by_clock ? "the program ended before it was to start" : "nobody started it";
}

std::string WhyNeverStopped(const RunRules& rules, const RuleFacts& facts) {
  if (!facts.is_recording) return "";
  switch (rules.stop.point) {
    case RecordPoint::kRange:
      return rules.stop.range.empty()
                 ? OpenRangeText(rules.start.range)
                 : "no range or mark named " + Quoted(rules.stop.range) + " ended";
    case RecordPoint::kStep:
      return "step " + std::to_string(rules.stop.step) + " never began" + StepText(facts);
    case RecordPoint::kCall:
      return "the program called none of cudaProfilerStop and hipProfilerStop";
    case RecordPoint::kNone:
      break;
  }
  return "";
}

}  // namespace borescope::internal
