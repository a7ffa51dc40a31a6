#include "borescope/recorder/run_rules.h"

#include <algorithm>
#include <string>
#include <string_view>

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

namespace {

// The library keeps names of up to 255 bytes.
constexpr size_t kMostNameBytes = 255;

Result<void> CheckRange(const std::string& option, const RecordRule& rule) {
  if (rule.point != RecordPoint::kRange) return {};
  if (rule.range == "*") {
    return UsageError(option + "*: names no range", "a * stands for the rest of a name");
  }
  return CheckName(option, rule.range);
}

Result<void> CheckStop(const RunRules& rules, bool is_timed) {
  const RecordPoint start = rules.start.point;
  if (rules.stop.point == RecordPoint::kNone) return {};
  if (is_timed) {
    return UsageError("recording also stops after a time", "give one of the two", "stop");
  }
  if (rules.stop.point == RecordPoint::kRange && rules.stop.range.empty() &&
      start != RecordPoint::kRange) {
    return UsageError("`stop`=range: is the end of the range that started, and none does",
                      "name one as `stop`=range:TEXT, or start with `start`=range:TEXT", "stop");
  }
  if (start == RecordPoint::kStep && rules.stop.point == RecordPoint::kStep &&
      rules.stop.step <= rules.start.step) {
    return UsageError("`stop`=step:" + std::to_string(rules.stop.step) + ": is not after step " +
                          std::to_string(rules.start.step) + ", where recording starts",
                      "recording goes on until that step begins", "stop");
  }
  if (start == RecordPoint::kCall && rules.stop.point != RecordPoint::kCall) {
    return UsageError(
        "`stop`: with `start`=api the program stops what it started, or `stop`=after:TIME does", {},
        "stop");
  }
  if (rules.stop.point == RecordPoint::kCall &&
      (start == RecordPoint::kRange || start == RecordPoint::kStep)) {
    return UsageError("`stop`=api: goes with `start`=api, now, paused or after:TIME", {}, "stop");
  }
  return {};
}

Result<void> CheckRepeat(const RunRules& rules, bool is_timed) {
  if (rules.repeat == 1) return {};
  const RecordPoint start = rules.start.point;
  if (start != RecordPoint::kRange && start != RecordPoint::kStep) {
    return UsageError("goes with `start`=range:TEXT or `start`=step:N",
                      "other starts are followed each time anyway", "repeat");
  }
  if (start == RecordPoint::kStep && rules.stop.point == RecordPoint::kNone && !is_timed) {
    return UsageError("nothing stops recording, so it cannot start again", "add `stop`", "repeat");
  }
  return {};
}

}  // namespace

Result<void> CheckName(const std::string& option, const std::string& name) {
  if (name.empty()) return UsageError(option + ": the name is empty");
  if (name.size() <= kMostNameBytes) return {};
  return UsageError(option + ": the name has " + std::to_string(name.size()) + " bytes",
                    "at most " + std::to_string(kMostNameBytes) +
                        " are compared, and a * may stand for the rest");
}

std::string EncodedName(const std::string& name) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string encoded;
  for (const char letter : name) {
    const auto byte = static_cast<unsigned char>(letter);
    if (byte > 0x20 && byte < 0x7f && letter != '%' && letter != ';') {
      encoded += letter;
    } else {
      encoded += {'%', kDigits[byte >> 4U], kDigits[byte & 15U]};
    }
  }
  return encoded;
}

Result<RunRules> CompleteRules(const RunRules& rules, bool is_timed) {
  BS_TRY(CheckRange("`start`=range:", rules.start));
  if (!rules.stop.range.empty()) {
    BS_TRY(CheckRange("`stop`=range:", rules.stop));
  }
  BS_TRY(CheckStop(rules, is_timed));
  BS_TRY(CheckRepeat(rules, is_timed));
  RunRules complete = rules;
  if (is_timed || rules.stop.point != RecordPoint::kNone) return complete;
  const bool has_end = rules.start.point == RecordPoint::kRange ||  //
                       rules.start.point == RecordPoint::kCall;
  if (has_end) complete.stop.point = rules.start.point;
  return complete;
}

std::vector<std::string> WordsOf(const RunRules& rules) {
  std::vector<std::string> words;
  const auto add = [&words](std::string_view what, const RecordRule& rule) {
    const std::string word(what);
    if (rule.point == RecordPoint::kRange) {
      words.push_back(rule.range.empty() ? word + "-own-range"
                                         : word + "-range=" + EncodedName(rule.range));
    }
    if (rule.point == RecordPoint::kStep) {
      words.push_back(word + "-step=" + std::to_string(rule.step));
    }
    if (rule.point == RecordPoint::kCall) words.push_back(word + "-calls");
  };
  add("start", rules.start);
  add("stop", rules.stop);
  if (rules.repeat != 1) words.push_back("repeat=" + std::to_string(rules.repeat));
  return words;
}

}  // namespace borescope::internal
