#include "borescope/index/time_window.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "borescope/base/each_row.h"
#include "borescope/base/saturating.h"
#include "borescope/base/text/text.h"

namespace borescope::internal {
namespace {

// No trace is longer (146 years).
constexpr int64_t kMostNs = int64_t{1} << 62;

// A number; decimals beyond the ninth do not count.
struct Decimal {
  int64_t whole = 0;
  int64_t billionths = 0;
  std::string_view rest;  // what follows the number
};

// Nothing if the text does not begin with a number, or with one that is too large.
std::optional<Decimal> ReadDecimal(std::string_view text) {
  if (text.empty() || !IsDigit(text[0])) {
    return std::nullopt;
  }
  Decimal number;
  size_t i = 0;
  for (; i < text.size() && IsDigit(text[i]); ++i) {
    if (number.whole > (kMostNs - 9) / 10) {
      return std::nullopt;
    }
    number.whole = number.whole * 10 + (text[i] - '0');
  }
  if (i < text.size() && text[i] == '.') {
    int64_t place = 100'000'000;
    for (++i; i < text.size() && IsDigit(text[i]); ++i, place /= 10) {
      number.billionths += (text[i] - '0') * place;
    }
  }
  number.rest = text.substr(i);
  return number;
}

// `number` times `unit`, rounded down. REQUIRES: unit <= 10^9.
std::optional<int64_t> Times(const Decimal& number, int64_t unit) {
  int64_t whole = 0;
  if (__builtin_mul_overflow(number.whole, unit, &whole) || whole > kMostNs) {
    return std::nullopt;
  }
  return whole + number.billionths * unit / 1'000'000'000;
}

std::optional<int64_t> UnitNs(std::string_view unit) {
  struct Row {
    std::string_view name;
    int64_t ns;
  };
  constexpr Row kUnits[] = {{"", 1},
                            {"ns", 1},
                            {"us", 1000},
                            {"ms", 1'000'000},
                            {"s", 1'000'000'000},
                            {"sec", 1'000'000'000}};
  const auto* row = std::find_if(std::begin(kUnits), std::end(kUnits),
                                 [&](const Row& known) { return known.name == unit; });
  return row == std::end(kUnits) ? std::nullopt : std::optional(row->ns);
}

// "5ms": how long.
std::optional<int64_t> ReadLength(std::string_view text) {
  const std::optional<Decimal> number = ReadDecimal(text);
  if (!number.has_value()) {
    return std::nullopt;
  }
  const std::optional<int64_t> unit = UnitNs(number->rest);
  return unit.has_value() ? Times(*number, *unit) : std::nullopt;
}

constexpr int64_t kAll = 100'000'000;  // 100 % in millionths of a percent

// The share of the span: no step overflows.
int64_t Share(const Trace& trace, int64_t millionths) {
  const int64_t span_ns = trace.span_ns();
  return trace.begin_ns() + span_ns / kAll * millionths + span_ns % kAll * millionths / kAll;
}

// The earliest begin of a kernel whose name contains `part`. Checks every name once.
std::optional<int64_t> FirstKernel(const Trace& trace, std::string_view part) {
  enum class Looked : uint8_t { kNotYet, kHolds, kHasNot };
  std::vector<Looked> names(trace.strings().size(), Looked::kNotYet);
  const auto holds = [&](StringId name) {
    Looked& known = names[name.valid() ? name.value : 0];
    if (known == Looked::kNotYet) {
      const bool found = Contains(trace.Text(name), part);
      known = found ? Looked::kHolds : Looked::kHasNot;
    }
    return known == Looked::kHolds;
  };
  const DeviceEvents& device = trace.device();
  std::optional<int64_t> first;
  for (const uint32_t row : EachRow(device.size())) {
    if (device.kind[row] == DeviceKind::kKernel && (!first || device.ts_ns[row] < *first) &&
        holds(device.name[row])) {
      first = device.ts_ns[row];
    }
  }
  return first;
}

// Nothing if no kernel has the name.
std::optional<int64_t> OnClock(const Trace& trace, const TimePoint& point) {
  switch (point.kind) {
    case TimePoint::Kind::kAfterBegin:
      return AddSaturating(trace.begin_ns(), point.number);
    case TimePoint::Kind::kBeforeEnd:
      return AddSaturating(trace.end_ns(), -point.number);
    case TimePoint::Kind::kShare:
      return Share(trace, point.number);
    case TimePoint::Kind::kKernel:
      return FirstKernel(trace, point.text);
    case TimePoint::Kind::kClock:
    case TimePoint::Kind::kOpen:
      break;
  }
  return point.number;
}

Result<int64_t> Resolve(const Trace& trace, std::string_view option, const TimePoint& point) {
  const std::optional<int64_t> time = OnClock(trace, point);
  if (!time.has_value()) {
    return Error{ErrorCode::kMissingData,
                 fmt::format("`{}`: '{}' is neither a time (nanoseconds, +5ms, -5ms, 10%) nor part "
                             "of a kernel's name",
                             ParameterName(option), point.text),
                 {},
                 trace.meta().file};
  }
  return *time;
}

// The time range of the recording; events of monitors may be outside of it.
TimeWindow Recorded(const Trace& trace) {
  TimeWindow window{trace.begin_ns(), trace.end_ns()};
  const Samples& samples = trace.samples();
  for (size_t row = 0; row < samples.size(); ++row) {
    window.begin_ns = std::min(window.begin_ns, samples.ts_ns[row]);
    window.end_ns = std::max(window.end_ns, samples.end_ns[row]);
  }
  return window;
}

// REQUIRES: text begins with a sign.
Result<TimePoint> ParseSigned(std::string_view option, std::string_view text) {
  const std::optional<int64_t> length = ReadLength(text.substr(1));
  if (!length.has_value()) {
    return UsageError(fmt::format("'{}' is no length of time", text), "write +5ms or -2.5s",
                      ParameterName(option));
  }
  const auto kind = text[0] == '+' ? TimePoint::Kind::kAfterBegin : TimePoint::Kind::kBeforeEnd;
  return TimePoint{kind, *length, std::string(text)};
}

Result<TimePoint> ParseShare(std::string_view option, std::string_view text,
                             const Decimal& percent) {
  const int64_t whole = std::min<int64_t>(percent.whole, 101);
  const int64_t millionths = whole * 1'000'000 + percent.billionths / 1000;
  if (millionths > kAll) {
    return UsageError(fmt::format("{} is more than all", text), "write 0% to 100%",
                      ParameterName(option));
  }
  return TimePoint{TimePoint::Kind::kShare, millionths, std::string(text)};
}

}  // namespace

Result<TimePoint> TimePoint::Parse(std::string_view option, std::string_view text) {
  if (text.empty()) {
    return TimePoint{};
  }
  if (text.starts_with('+') || (text.starts_with('-') && text.size() > 1 && IsDigit(text[1]))) {
    return ParseSigned(option, text);
  }
  const std::optional<Decimal> number = ReadDecimal(text);
  if (number.has_value() && number->rest == "%") {
    return ParseShare(option, text, *number);
  }
  if (std::all_of(text.begin(), text.end(), IsDigit)) {
    if (!number.has_value()) {
      return UsageError(fmt::format("{} nanoseconds are too many", text), {},
                        ParameterName(option));
    }
    return TimePoint{Kind::kClock, number->whole, std::string(text)};
  }
  const std::optional<int64_t> length = ReadLength(text);
  const bool has_unit = length.has_value() && !number->rest.empty();
  return has_unit ? TimePoint{Kind::kAfterBegin, *length, std::string(text)}
                  : TimePoint{Kind::kKernel, 0, std::string(text)};
}

Result<TimeRange> TimeRange::Parse(std::string_view begin, std::string_view end) {
  TimeRange range;
  BS_ASSIGN(range.begin, TimePoint::Parse("begin", begin));
  BS_ASSIGN(range.end, TimePoint::Parse("end", end));
  return range;
}

Result<TimeWindow> ResolveWindow(const Trace& trace, const TimeRange& range) {
  TimeWindow window;
  if (!range.begin.is_open()) {
    BS_ASSIGN(window.begin_ns, Resolve(trace, "begin", range.begin));
  }
  if (!range.end.is_open()) {
    BS_ASSIGN(window.end_ns, Resolve(trace, "end", range.end));
  }
  if (window.begin_ns > window.end_ns) {
    return Error{ErrorCode::kMissingData,
                 fmt::format("`begin` {} is after `end` {}: {} and {} ns", range.begin.text,
                             range.end.text, window.begin_ns, window.end_ns),
                 {},
                 trace.meta().file};
  }
  const TimeWindow recorded = Recorded(trace);
  if (window.begin_ns > recorded.end_ns || window.end_ns < recorded.begin_ns) {
    return Error{
        ErrorCode::kMissingData, "nothing was recorded between `begin` and `end`",
        fmt::format("the recording goes from {} to {} ns", recorded.begin_ns, recorded.end_ns),
        trace.meta().file};
  }
  return window;
}

}  // namespace borescope::internal
