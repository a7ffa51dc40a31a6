#include "borescope/convert/time_window.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace borescope {
namespace {

// No trace is longer (146 years): sums with its times cannot overflow.
constexpr int64_t kMostNs = int64_t{1} << 62;

Error UsageError(std::string message) { return {ErrorCode::kInvalidArgument, std::move(message)}; }

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// A number; decimals beyond the ninth do not count.
struct Decimal {
  int64_t whole = 0;
  int64_t billionths = 0;
  std::string_view rest;  // what follows the number
};

// Nothing where the text begins with no number or with one that is too large.
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
  constexpr Row kUnits[] = {
      {"", 1}, {"ns", 1}, {"us", 1000}, {"ms", 1'000'000}, {"s", 1'000'000'000}};
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

// The share of the span, to a millionth of a percent: no step overflows. REQUIRES: at most 100 %.
int64_t Share(const Trace& trace, const Decimal& percent) {
  constexpr int64_t kAll = 100'000'000;  // 100 % in millionths of a percent
  const int64_t share = std::min(percent.whole * 1'000'000 + percent.billionths / 1000, kAll);
  const int64_t span_ns = trace.span_ns();
  return trace.begin_ns() + span_ns / kAll * share + span_ns % kAll * share / kAll;
}

std::optional<int64_t> FirstKernel(const Trace& trace, std::string_view part) {
  const DeviceEvents& device = trace.device();
  std::optional<int64_t> first;
  for (uint32_t row = 0; row < device.size(); ++row) {
    if (device.kind[row] == DeviceKind::kKernel && (!first || device.ts_ns[row] < *first) &&
        trace.Name(DeviceId{row}).find(part) != std::string_view::npos) {
      first = device.ts_ns[row];
    }
  }
  return first;
}

}  // namespace

Result<int64_t> ResolveTime(const Trace& trace, std::string_view option, std::string_view text) {
  if (text.starts_with('+') || (text.starts_with('-') && text.size() > 1 && IsDigit(text[1]))) {
    const std::optional<int64_t> length = ReadLength(text.substr(1));
    if (!length.has_value()) {
      return UsageError(
          fmt::format("--{}: '{}' is no length of time; write +5ms or -2.5s", option, text));
    }
    return text[0] == '+' ? trace.begin_ns() + *length : trace.end_ns() - *length;
  }
  const std::optional<Decimal> number = ReadDecimal(text);
  if (number.has_value() && number->rest == "%" && number->whole <= 100) {
    return Share(trace, *number);
  }
  if (number.has_value() && number->rest.empty() && text.find('.') == std::string_view::npos) {
    return number->whole;
  }
  const std::optional<int64_t> kernel = FirstKernel(trace, text);
  if (!kernel.has_value()) {
    return UsageError(fmt::format(
        "--{}: '{}' is neither a time (nanoseconds, +5ms, -5ms, 10%) nor part of a kernel's name",
        option, text));
  }
  return *kernel;
}

Result<TimeWindow> ResolveWindow(const Trace& trace, std::string_view begin, std::string_view end) {
  TimeWindow window;
  if (!begin.empty()) {
    BS_ASSIGN(window.begin_ns, ResolveTime(trace, "begin", begin));
  }
  if (!end.empty()) {
    BS_ASSIGN(window.end_ns, ResolveTime(trace, "end", end));
  }
  if (window.begin_ns > window.end_ns) {
    return UsageError(fmt::format("--begin {} lies behind --end {}, at {} and {} ns", begin, end,
                                  window.begin_ns, window.end_ns));
  }
  return window;
}

}  // namespace borescope
