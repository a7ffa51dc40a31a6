#include "borescope/trace/report_texts.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <utility>

#include "borescope/base/text/text.h"

namespace borescope::internal {
namespace {

struct UnitRule {
  std::string_view part;  // of the name
  std::string_view unit;
};

// Of names that begin with launch__: the end of the name, else any part of it.
constexpr UnitRule kLaunchEnds[] = {{"_cache_size", "byte"}, {"config_size", "byte"}};
constexpr UnitRule kLaunchParts[] = {{"shared_mem_per_block", "byte/block"},
                                     {"cluster_max_active", "cluster"},
                                     {"cluster_max_potential", "block"},
                                     {"occupancy_limit", "block"},
                                     {"block_dim", "block"},
                                     {"registers_per_thread", "register/thread"},
                                     {"sm_count", "SM"},
                                     {"thread_count", "thread"}};

constexpr std::string_view kWithoutUnit[] = {
    "device__attribute_", "nvlink__", "c2clink__", "numa__", "breakdown:", "group:", "regex:"};

std::string_view UnitOfLaunchMetric(std::string_view metric) {
  for (const UnitRule& rule : kLaunchEnds) {
    if (metric.ends_with(rule.part)) {
      return rule.unit;
    }
  }
  for (const UnitRule& rule : kLaunchParts) {
    if (Contains(metric, rule.part)) {
      return rule.unit;
    }
  }
  return {};
}

// What follows the way of summing up: ".per_second" of "dram__bytes.sum.per_second".
std::string_view BehindSum(std::string_view metric) {
  size_t first = std::string_view::npos;
  for (const std::string_view sum : {".sum", ".avg", ".min", ".max"}) {
    first = std::min(first, metric.find(sum));
  }
  constexpr size_t kSumBytes = 4;
  return first == std::string_view::npos ? std::string_view() : metric.substr(first + kSumBytes);
}

// "_bytes" after an underscore or two, as in "dram__bytes_read" and "lts__t_bytes".
bool CountsBytes(std::string_view metric) {
  const size_t place = metric.find("_bytes");
  return place != std::string_view::npos && place > 0;
}

}  // namespace

std::string_view UnitOfMetric(std::string_view metric) {
  if (std::any_of(std::begin(kWithoutUnit), std::end(kWithoutUnit),
                  [metric](std::string_view begin) { return metric.starts_with(begin); })) {
    return {};
  }
  if (Contains(metric, ".pct") || metric.ends_with("_pct")) {
    return "%";
  }
  if (metric.starts_with("launch__")) {
    return UnitOfLaunchMetric(metric);
  }
  const bool is_rate = BehindSum(metric) == ".per_second";
  if (CountsBytes(metric)) {
    return is_rate ? "byte/second" : "byte";
  }
  if (Contains(metric, "__time_duration")) {
    return "ns";
  }
  if (Contains(metric, "maximum_warps")) {
    return "warp";
  }
  if (Contains(metric, "replayer_passes")) {
    return "pass";
  }
  if (Contains(metric, "cycles")) {
    return is_rate ? "Hz" : "cycle";
  }
  for (const std::string_view counted : {"inst_executed", "inst_issued", "thread_inst"}) {
    if (Contains(metric, counted)) {
      return "inst";
    }
  }
  return {};
}

namespace {

// The name without template arguments: all that is between < and > goes. The arrows and comparisons
// of operators are left as they are.
std::string WithoutTemplates(std::string_view name) {
  std::string kept;
  int depth = 0;
  for (size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    const bool is_operator = depth == 0 && kept.ends_with("operator");
    if (c == '<' && !is_operator) {
      ++depth;
    } else if (c == '>' && depth > 0 && name[i - 1] != '-') {
      --depth;
    } else if (depth == 0) {
      kept += c;
    }
  }
  return kept;
}

void ReplaceAll(std::string& text, std::string_view from, std::string_view to) {
  size_t at = text.find(from);
  if (at == std::string::npos) {
    return;
  }
  std::string replaced;
  size_t kept = 0;
  for (; at != std::string::npos; at = text.find(from, kept)) {
    replaced.append(text, kept, at - kept).append(to);
    kept = at + from.size();
  }
  replaced.append(text, kept);
  text = std::move(replaced);
}

}  // namespace

std::string FunctionInName(std::string_view kernel) {
  constexpr std::string_view kUnnamed = "unnamed";
  constexpr std::string_view kVoid = "void ";
  std::string name(kernel);
  ReplaceAll(name, "(anonymous namespace)", kUnnamed);
  ReplaceAll(name, "<unnamed>", kUnnamed);
  name = WithoutTemplates(name);
  if (name.starts_with(kVoid)) {
    name.erase(0, kVoid.size());
  }
  size_t parameters = name.find('(');
  if (parameters != std::string::npos && name.substr(0, parameters).ends_with("operator")) {
    parameters = name.find('(', parameters + 1);  // those of operator()
  }
  name.resize(std::min(parameters, name.size()));
  const size_t scope = name.rfind("::");
  return std::string(Trimmed(scope == std::string::npos ? name : name.substr(scope + 2)));
}

namespace {

struct TimeUnit {
  std::string_view text;
  int power;  // of ns
};
constexpr TimeUnit kTimes[] = {{"ns", 0}, {"nsecond", 0}, {"us", 3},     {"usecond", 3},
                               {"ms", 6}, {"msecond", 6}, {"second", 9}, {"s", 9}};

int PowerOf(char prefix) {
  switch (prefix) {
    case 'K':
      return 3;
    case 'M':
      return 6;
    case 'G':
      return 9;
    case 'T':
      return 12;
    default:
      return 0;
  }
}

// "Kbyte", "GHz" and "Ghz", but not "SM" and "%".
bool HasPrefix(std::string_view unit) {
  return unit.size() > 2 && PowerOf(unit.front()) != 0 &&
         ((unit[1] >= 'a' && unit[1] <= 'z') || unit.substr(1) == "Hz");
}

}  // namespace

PrefixedUnit ParseUnit(std::string_view text) {
  text = Trimmed(text);
  const size_t slash = text.find('/');
  std::string_view counted = text.substr(0, slash);
  std::string per(slash == std::string_view::npos ? std::string_view() : text.substr(slash));
  per = per == "/s" || per == "/sec" ? "/second" : per;
  const auto* const time = std::find_if(std::begin(kTimes), std::end(kTimes),
                                        [&](const TimeUnit& row) { return row.text == counted; });
  if (time != std::end(kTimes)) {
    return {"ns" + per, time->power};
  }
  PrefixedUnit unit;
  if (HasPrefix(counted)) {
    unit.power = PowerOf(counted.front());
    counted.remove_prefix(1);
  }
  unit.unit = counted == "hz" || counted == "Hz" ? "Hz" : std::string(counted);
  unit.unit += per;
  return unit;
}

namespace {

constexpr std::string_view kBlanks[] = {" ", "'", "\xC2\xA0", "\xE2\x80\xAF", "\xE2\x80\x99"};

// The text of a number without what groups its digits beside points and commas. Empty if it is
// something else.
std::string DigitsAndSigns(std::string_view text) {
  std::string number(Trimmed(text));
  for (const std::string_view blank : kBlanks) {
    ReplaceAll(number, blank, "");
  }
  const bool is_number = std::all_of(number.begin(), number.end(), [](char c) {
    return IsDigit(c) || c == '.' || c == ',' || c == '-' || c == '+' || c == 'e' || c == 'E';
  });
  return is_number ? number : std::string();
}

}  // namespace

bool ProvesDecimalComma(std::string_view text) {
  const std::string number = DigitsAndSigns(text);
  const size_t comma = number.rfind(',');
  if (number.empty() || comma == std::string::npos || number.find(',') != comma) {
    return false;  // several commas group digits
  }
  const size_t point = number.rfind('.');
  if (point != std::string::npos) {
    return point < comma;
  }
  // One comma alone: groups have three digits, and none begins with 0.
  const size_t end = std::min(number.find_first_of("eE"), number.size());
  const size_t begin = number.find_first_of("0123456789");
  return end - comma - 1 != 3 || begin >= comma || number[begin] == '0' || comma - begin > 3;
}

std::optional<PrintedNumber> ParsePrinted(std::string_view text, bool decimal_comma, int power) {
  std::string number = DigitsAndSigns(text);
  const size_t comma = number.rfind(',');
  const size_t point = number.rfind('.');
  if (comma != std::string::npos && point != std::string::npos) {
    decimal_comma = comma > point;
  }
  std::erase(number, decimal_comma ? '.' : ',');
  std::replace(number.begin(), number.end(), ',', '.');
  if (number.starts_with('+')) {
    number.erase(0, 1);
  }
  const size_t exponent_at = number.find_first_of("eE");
  const std::string digits = number.substr(0, exponent_at);
  int exponent = power;
  if (exponent_at != std::string::npos) {
    const std::string_view written = std::string_view(number).substr(exponent_at + 1);
    const std::optional<int> printed =
        ParseNumber<int>(written.starts_with('+') ? written.substr(1) : written);
    constexpr int kMost = 400;
    if (!printed.has_value() || *printed < -kMost || *printed > kMost) {
      return std::nullopt;
    }
    exponent += *printed;
  }
  // One conversion of all digits: a product of two doubles would be another number.
  const std::optional<double> value = ParseNumber<double>(digits + "e" + std::to_string(exponent));
  if (!value.has_value() || !std::isfinite(*value) ||
      digits.find_first_of("0123456789") == std::string::npos) {
    return std::nullopt;
  }
  const size_t decimal = digits.find('.');
  const int decimals =
      decimal == std::string::npos ? 0 : static_cast<int>(digits.size() - decimal - 1);
  const bool is_exact = decimals == 0 && exponent == 0;
  return PrintedNumber{*value, is_exact ? 0 : 0.5 * std::pow(10.0, exponent - decimals)};
}

}  // namespace borescope::internal
