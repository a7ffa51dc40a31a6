#include "borescope/packs/inductor/bench_output.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <memory>

namespace borescope::internal {
namespace {

// The line without escape sequences: ESC [ ... letter.
std::string WithoutColours(std::string_view line) {
  std::string plain;
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] != '\x1b') {
      plain += line[i];
      continue;
    }
    const auto is_letter = [](char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); };
    while (i < line.size() && !is_letter(line[i])) {
      ++i;
    }
  }
  return plain;
}

bool IsOfNumber(char c) { return (c >= '0' && c <= '9') || c == '.'; }

bool IsOfWord(char c) {
  return IsOfNumber(c) || c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// The number before `unit`, with or without blanks between them: 0.123 in "0.123ms". The unit must
// end there.
std::optional<double> NumberBefore(std::string_view line, std::string_view unit) {
  for (size_t at = line.find(unit); at != line.npos; at = line.find(unit, at + 1)) {
    const size_t behind = at + unit.size();
    if (behind < line.size() && (IsOfWord(line[behind]) || line[behind] == '/')) continue;
    size_t end = at;
    while (end > 0 && (line[end - 1] == ' ' || line[end - 1] == '\t')) {
      --end;
    }
    size_t begin = end;
    while (begin > 0 && IsOfNumber(line[begin - 1])) {
      --begin;
    }
    double number = 0;
    const auto [stop, code] = std::from_chars(line.data() + begin, line.data() + end, number);
    if (begin < end && code == std::errc() && stop == line.data() + end) return number;
  }
  return std::nullopt;
}

std::optional<int64_t> IntegerBefore(std::string_view line, std::string_view unit) {
  constexpr double kLargest = 1e15;
  const std::optional<double> number = NumberBefore(line, unit);
  if (!number.has_value() || *number > kLargest) return std::nullopt;
  return std::llround(*number);
}

std::optional<BenchLine> ParseLine(std::string_view text) {
  constexpr std::string_view kConfig = " @ ";
  constexpr double kLongest = 1e9;
  const std::string line = WithoutColours(text);
  const size_t at = line.find(kConfig);
  const std::string_view numbers = std::string_view(line).substr(0, at);
  const std::optional<double> ms = NumberBefore(numbers, "ms");
  const bool was_left_out = numbers.find("infms") != numbers.npos;
  if (ms.has_value() ? *ms > kLongest : !was_left_out) return std::nullopt;
  BenchLine parsed{.ms = ms,
                   .gigabytes = NumberBefore(numbers, "GB"),
                   .gigabytes_per_second = NumberBefore(numbers, "GB/s"),
                   .registers = IntegerBefore(numbers, "regs"),
                   .spills = IntegerBefore(numbers, "spills"),
                   .shared_bytes = IntegerBefore(numbers, "shared mem")};
  if (at != std::string::npos) parsed.config = line.substr(at + kConfig.size());
  return parsed;
}

}  // namespace

std::vector<BenchLine> ParseBenchOutput(std::string_view text) {
  std::vector<BenchLine> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (std::optional<BenchLine> parsed = ParseLine(line)) lines.push_back(std::move(*parsed));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::string TritonKernelIn(std::string_view code) {
  const size_t mark = code.find("@triton.jit");
  const size_t def = mark == code.npos ? mark : code.find("\ndef ", mark);
  if (def == code.npos) return {};
  std::string_view name = code.substr(def + 5);
  const auto* const end =
      std::find_if_not(std::to_address(name.begin()), std::to_address(name.end()), IsOfWord);
  name = name.substr(0, static_cast<size_t>(end - name.data()));
  return std::string(name);
}

}  // namespace borescope::internal
