#include "borescope/cli/commands/record_rules.h"

#include <fmt/format.h>

#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "borescope/cli/options/values.h"

namespace borescope::cli {
namespace {

constexpr std::string_view kStarts = "now, paused, after:TIME, range:TEXT, step:N or api";
constexpr std::string_view kStops = "after:TIME, range, range:TEXT, step:N or api";

// The text after a word such as "after:", or nothing where it does not begin so.
std::optional<std::string> AfterWord(std::string_view word, std::string_view text) {
  if (!text.starts_with(word)) return std::nullopt;
  return std::string(text.substr(word.size()));
}

// range:TEXT, step:N or api, the value of `option`; false for another one.
Result<bool> UnderstandPoint(std::string_view option, std::string_view text, RecordRule& rule) {
  if (const std::optional<std::string> name = AfterWord("range:", text)) {
    if (name->empty()) return UsageError(fmt::format("--{}={}: no name after it", option, text));
    rule = {.point = RecordPoint::kRange, .range = *name};
    return true;
  }
  if (const std::optional<std::string> number = AfterWord("step:", text)) {
    BS_ASSIGN(const int64_t step, ParseWithin(fmt::format("{}=step", option), *number, 0,
                                              std::numeric_limits<int64_t>::max() - 1));
    rule = {.point = RecordPoint::kStep, .range = {}, .step = static_cast<uint64_t>(step)};
    return true;
  }
  if (text == "api") rule.point = RecordPoint::kCall;
  return text == "api";
}

Result<void> UnderstandStart(const std::string& text, RecordOptions& options) {
  if (text == "now" || text.empty()) return {};
  options.starts_paused = true;
  if (text == "paused") return {};
  if (const std::optional<std::string> time = AfterWord("after:", text)) {
    BS_ASSIGN(options.start_after, ParseDuration("start", *time));
    return {};
  }
  BS_ASSIGN(const bool is_known, UnderstandPoint("start", text, options.start_at));
  return is_known ? Result<void>()
                  : UsageError(fmt::format("--start: '{}' is none of {}", text, kStarts));
}

Result<void> UnderstandStop(const std::string& text, RecordOptions& options) {
  if (text.empty()) return {};
  if (const std::optional<std::string> time = AfterWord("after:", text)) {
    if (options.record_for.count() != 0) {
      return UsageError(fmt::format("--stop={} and --for: give one of the two", text));
    }
    BS_ASSIGN(options.record_for, ParseDuration("stop", *time));
    return {};
  }
  if (text == "range") {
    options.stop_at.point = RecordPoint::kRange;
    return {};
  }
  BS_ASSIGN(const bool is_known, UnderstandPoint("stop", text, options.stop_at));
  return is_known ? Result<void>()
                  : UsageError(fmt::format("--stop: '{}' is none of {}", text, kStops));
}

Result<void> UnderstandRepeat(const std::string& text, RecordOptions& options) {
  constexpr int kMostRepeats = 1'000'000;
  if (text.empty()) return {};
  options.repeat = 0;
  if (text == "always") return {};
  BS_ASSIGN(const int count, ParseCount("repeat", text, kMostRepeats));
  options.repeat = static_cast<uint32_t>(count);
  return {};
}

Result<void> UnderstandChildren(const std::string& text, RecordOptions& options) {
  if (text.empty() || text == "all") return {};
  if (const std::optional<std::string> pattern = AfterWord("match:", text)) {
    if (pattern->empty()) {
      return UsageError("--children=match: no pattern after it, such as python*");
    }
    options.children_match = *pattern;
    return {};
  }
  options.children = false;
  if (text == "none") return {};
  return UsageError(fmt::format("--children: '{}' is none of all, none or match:PATTERN", text));
}

}  // namespace

Result<void> UnderstandRules(const RawOptions& raw, RecordOptions& options) {
  if (const std::string text = raw.Get("for"); !text.empty()) {
    BS_ASSIGN(options.record_for, ParseDuration("for", text));
  }
  BS_TRY(UnderstandStart(raw.Get("start"), options));
  BS_TRY(UnderstandStop(raw.Get("stop"), options));
  BS_TRY(UnderstandRepeat(raw.Get("repeat"), options));
  return UnderstandChildren(raw.Get("children"), options);
}

}  // namespace borescope::cli
