#include "borescope/analysis/core/params.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <memory>
#include <optional>

#include "borescope/base/check.h"
#include "borescope/base/text/text.h"

namespace borescope::internal {
namespace {

Error BadRange(std::string_view text) {
  return {ErrorCode::kInvalidArgument, "\"" + std::string(text) + "\" is no list of numbers",
          "write 0 or 0,3 or 2..5"};
}

// "7" or "2..5".
std::optional<std::pair<int64_t, int64_t>> ParseRange(std::string_view text) {
  const size_t dots = text.find("..");
  const bool is_one = dots == std::string_view::npos;
  const auto first = ParseNumber<int64_t>(text.substr(0, dots));
  const auto last = is_one ? first : ParseNumber<int64_t>(text.substr(dots + 2));
  return first && last && *first <= *last ? std::optional(std::pair(*first, *last)) : std::nullopt;
}

struct TimeUnit {
  std::string_view name;
  int64_t ns;
};
// The empty name: a bare number is microseconds, as in HolisticTraceAnalysis.
constexpr TimeUnit kTimeUnits[] = {
    {"ns", 1}, {"us", 1'000}, {"ms", 1'000'000}, {"s", 1'000'000'000}, {"", 1'000}};

std::optional<int64_t> ParseTime(std::string_view text) {
  constexpr double kLongest = 1e18;
  double number = 0;
  const char* end = std::to_address(text.end());
  const auto [stop, code] = std::from_chars(std::to_address(text.begin()), end, number);
  if (code != std::errc()) {
    return std::nullopt;
  }
  const std::string_view unit(stop, static_cast<size_t>(end - stop));
  const auto* row = std::find_if(std::begin(kTimeUnits), std::end(kTimeUnits),
                                 [unit](const TimeUnit& one) { return one.name == unit; });
  if (row == std::end(kTimeUnits) || !(number >= 0) ||
      number * static_cast<double>(row->ns) > kLongest) {
    return std::nullopt;
  }
  return std::llround(number * static_cast<double>(row->ns));
}

// "1%" or "0.01".
std::optional<double> ParseShare(std::string_view text) {
  double number = 0;
  const char* end = std::to_address(text.end());
  const auto [stop, code] = std::from_chars(std::to_address(text.begin()), end, number);
  const bool is_percent = code == std::errc() && std::string_view(stop, end) == "%";
  const double share = is_percent ? number / 100 : number;
  const bool is_share = code == std::errc() && (stop == end || is_percent);
  return is_share && share >= 0 && share <= 1 ? std::optional(share) : std::nullopt;
}

// Lengths of time above 0, each longer than the one before.
std::optional<std::vector<int64_t>> ParseTimes(std::string_view text) {
  std::vector<int64_t> times;
  for (size_t at = 0; at <= text.size();) {
    const size_t comma = std::min(text.find(',', at), text.size());
    const std::optional<int64_t> time_ns = ParseTime(text.substr(at, comma - at));
    if (!time_ns.has_value() || *time_ns <= (times.empty() ? 0 : times.back())) {
      return std::nullopt;
    }
    times.push_back(*time_ns);
    at = comma + 1;
  }
  return times;
}

// `choices` have "|" between them.
bool IsChoice(std::string_view choices, std::string_view text) {
  for (size_t at = 0; at <= choices.size();) {
    const size_t bar = std::min(choices.find('|', at), choices.size());
    if (choices.substr(at, bar - at) == text) {
      return true;
    }
    at = bar + 1;
  }
  return false;
}

// What a value of this type is, where `text` is none; empty where it is one. Of what counts it sets
// `number`.
std::string_view WhatItIsNot(const ParamSpec& spec, std::string_view text, int64_t& number) {
  switch (spec.type) {
    case ParamType::kCount:
      number = ParseNumber<int64_t>(text).value_or(0);
      return number >= 1 ? "" : "no number from 1 on";
    case ParamType::kNumber:
      number = ParseNumber<int64_t>(text).value_or(-1);
      return number >= 0 ? "" : "no number from 0 on";
    case ParamType::kTime:
      number = ParseTime(text).value_or(-1);
      return number >= 0 ? "" : "no length of time; write 30us, 1.5ms or 2s";
    case ParamType::kTimes:
      return ParseTimes(text).has_value() ? ""
                                          : "no list of lengths of time, each longer than the one "
                                            "before; write 10us,1ms,2s";
    case ParamType::kShare:
      return ParseShare(text).has_value() ? "" : "no share; write 1% or 0.01";
    case ParamType::kChoice:
      return IsChoice(spec.value, text) ? "" : spec.value;
    case ParamType::kFlag:
    case ParamType::kFile:
    case ParamType::kFolder:
    case ParamType::kText:
    case ParamType::kTexts:
      return "";
  }
  return "";
}

const ParamValue* FindValue(const std::vector<ParamValue>& values, const ParamSpec& spec) {
  const auto found = std::find_if(values.begin(), values.end(),
                                  [&](const ParamValue& value) { return value.name == spec.name; });
  return found == values.end() ? nullptr : &*found;
}

}  // namespace

bool NumberRanges::Contains(int64_t number) const {
  return std::any_of(ranges.begin(), ranges.end(), [number](const auto& range) {
    return range.first <= number && number <= range.second;
  });
}

Result<NumberRanges> NumberRanges::Parse(std::string_view text) {
  NumberRanges result;
  for (std::string_view rest = text; true;) {
    const size_t comma = std::min(rest.find(','), rest.size());
    const auto range = ParseRange(rest.substr(0, comma));
    if (!range.has_value()) {
      return BadRange(text);
    }
    result.ranges.push_back(*range);
    if (comma == rest.size()) {
      return result;
    }
    rest.remove_prefix(comma + 1);
  }
}

Result<ParamValue> ParseParam(const ParamSpec& spec, std::string_view text) {
  ParamValue value{spec.name, 1, std::string(text), {}, spec.type};
  const std::string_view wanted = WhatItIsNot(spec, text, value.number);
  if (wanted.empty()) {
    return value;
  }
  const std::string_view relation = spec.type == ParamType::kChoice ? "not one of " : "";
  return Error{.code = ErrorCode::kInvalidArgument,
               .cause = fmt::format("'{}' is {}{}", text, relation, wanted),
               .parameter = ParameterName(spec.name)};
}

std::string FormatParamTime(int64_t ns) {
  for (const std::string_view unit : {"s", "ms", "us"}) {
    const auto* row = std::find_if(std::begin(kTimeUnits), std::end(kTimeUnits),
                                   [unit](const TimeUnit& one) { return one.name == unit; });
    if (ns != 0 && ns % row->ns == 0) {
      return fmt::format("{}{}", ns / row->ns, unit);
    }
  }
  return fmt::format("{}ns", ns);
}

int64_t Params::Number(const ParamSpec& spec) const {
  const ParamValue* value = FindValue(values, spec);
  return value == nullptr ? spec.default_number : value->number;
}

std::string_view Params::Text(const ParamSpec& spec) const {
  const ParamValue* value = FindValue(values, spec);
  return value == nullptr ? spec.default_text : std::string_view(value->text);
}

std::vector<int64_t> Params::Times(const ParamSpec& spec) const {
  std::optional<std::vector<int64_t>> times = ParseTimes(Text(spec));
  BS_CHECK(times.has_value());
  return std::move(*times);
}

std::vector<std::string_view> Params::Texts(const ParamSpec& spec) const {
  std::vector<std::string_view> texts;
  std::string_view rest = Text(spec);
  while (!rest.empty()) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    if (end > 0) {
      texts.push_back(rest.substr(0, end));
    }
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return texts;
}

double Params::Share(const ParamSpec& spec) const {
  const std::string_view text = Text(spec);
  const std::optional<double> share = text.empty() ? 0 : ParseShare(text);
  BS_CHECK(share.has_value());
  return *share;
}

const std::string* Params::Content(const ParamSpec& spec) const {
  const ParamValue* value = FindValue(values, spec);
  return value == nullptr ? nullptr : &value->content;
}

}  // namespace borescope::internal
