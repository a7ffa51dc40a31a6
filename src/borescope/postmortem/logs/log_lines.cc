#include "borescope/postmortem/logs/log_lines.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include "borescope/base/stop.h"
#include "borescope/base/text/text.h"

namespace borescope::internal {
namespace {

bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// Escape sequences of terminals ("\x1b[31m") and other control characters but tabs.
void CopyPlain(std::string_view raw, std::string& kept) {
  kept.clear();
  for (size_t i = 0; i < raw.size(); ++i) {
    const char c = raw[i];
    if (c == '\x1b' && i + 1 < raw.size() && raw[i + 1] == '[') {
      i += 2;
      while (i < raw.size() && !IsLetter(raw[i])) {
        ++i;
      }
    } else if (static_cast<unsigned char>(c) >= ' ' || c == '\t') {
      kept.push_back(c);
    }
  }
}

size_t DigitsAt(std::string_view text, size_t at) {
  size_t end = at;
  while (end < text.size() && IsDigit(text[end])) {
    ++end;
  }
  return end - at;
}

// "[rank3]:" and "[default3]:", with one blank behind.
bool TakeBracket(LogLine& line) {
  if (!line.text.starts_with('[')) {
    return false;
  }
  size_t name = 1;
  while (name < line.text.size() && (IsLetter(line.text[name]) || line.text[name] == '_')) {
    ++name;
  }
  const size_t digits = DigitsAt(line.text, name);
  const size_t close = name + digits;
  if (name == 1 || digits == 0 || !line.text.substr(close).starts_with("]:")) {
    return false;
  }
  const std::optional<int32_t> rank = ParseNumber<int32_t>(line.text.substr(name, digits));
  const LogRankBasis basis =
      line.text.substr(1, name - 1) == "rank" ? LogRankBasis::kRank : LogRankBasis::kLocal;
  if (rank.has_value() && basis >= line.basis) {
    line.rank = rank;
    line.basis = basis;
  }
  line.text.remove_prefix(close + 2);
  line.text.remove_prefix(line.text.starts_with(' ') ? 1 : 0);
  return true;
}

// "3: " of srun --label, which is the first of all.
bool TakeTask(LogLine& line) {
  constexpr size_t kMostDigits = 6;
  size_t begin = 0;
  while (begin < line.text.size() && begin < kMostDigits && line.text[begin] == ' ') {
    ++begin;
  }
  const size_t digits = DigitsAt(line.text, begin);
  if (digits == 0 || digits > kMostDigits || !line.text.substr(begin + digits).starts_with(": ")) {
    return false;
  }
  line.rank = ParseNumber<int32_t>(line.text.substr(begin, digits));
  line.basis = LogRankBasis::kTask;
  line.text.remove_prefix(begin + digits + 2);
  return true;
}

// A time of a date and a clock at the begin, in brackets or not.
bool TakeTime(LogLine& line) {
  constexpr size_t kShortest = 19;  // 2026-11-28T12:00:00
  constexpr size_t kLongest = 40;
  const bool is_bracketed = line.text.starts_with('[');
  const std::string_view rest = line.text.substr(is_bracketed ? 1 : 0);
  if (rest.size() < kShortest || DigitsAt(rest, 0) != 4 || rest[4] != '-' || rest[7] != '-' ||
      rest[13] != ':' || rest[16] != ':') {
    return false;
  }
  size_t end = kShortest;
  while (end < rest.size() && end < kLongest &&
         (IsDigit(rest[end]) || rest[end] == '.' || rest[end] == ',' || rest[end] == '+' ||
          rest[end] == '-' || rest[end] == ':' || rest[end] == 'Z')) {
    ++end;
  }
  std::string_view time = rest.substr(0, end);
  while (time.ends_with(':')) {
    time.remove_suffix(1);
  }
  const std::optional<int64_t> unix_ns = UnixNsOf(time);
  line.unix_ns = unix_ns.value_or(line.unix_ns);
  line.text = rest.substr(end);
  if (is_bracketed && line.text.starts_with(']')) {
    line.text.remove_prefix(1);
  }
  line.text.remove_prefix(line.text.starts_with(' ') ? 1 : 0);
  return true;
}

// A number of `size` digits at `at`.
std::optional<int> NumberAt(std::string_view text, size_t at, size_t size) {
  return at + size > text.size() ? std::nullopt : ParseNumber<int>(text.substr(at, size));
}

// Minutes that "+01:00", "-0800" or "Z" is ahead of UTC.
std::optional<int> ZoneMinutes(std::string_view zone) {
  if (zone == "Z") {
    return 0;
  }
  if (!zone.starts_with('+') && !zone.starts_with('-')) {
    return std::nullopt;
  }
  const std::optional<int> hours = NumberAt(zone, 1, 2);
  const bool has_colon = zone.size() > 3 && zone[3] == ':';
  const std::optional<int> minutes = NumberAt(zone, has_colon ? 4 : 3, 2);
  if (!hours.has_value() || !minutes.has_value()) {
    return std::nullopt;
  }
  const int ahead = *hours * 60 + *minutes;
  return zone.front() == '-' ? -ahead : ahead;
}

}  // namespace

Result<uint64_t> ForEachLogLine(
    ByteSource& source, uint64_t most,
    const std::function<void(std::string_view line, int64_t number)>& use) {
  std::array<char, size_t{64} << 10U> buffer;
  std::string line;
  int64_t number = 1;
  uint64_t bytes = 0;
  bool is_open = false;  // something of the line was read
  while (bytes < most) {
    CheckStop();
    BS_ASSIGN(const size_t got, source.Read(buffer.data(), buffer.size()));
    if (got == 0) {
      break;
    }
    bytes += got;
    std::string_view rest(buffer.data(), got);
    while (!rest.empty()) {
      const size_t end = std::min(rest.find_first_of("\n\r"), rest.size());
      const size_t room = kLogLineBytes - std::min(kLogLineBytes, line.size());
      line.append(rest.substr(0, std::min(end, room)));
      is_open = true;
      if (end == rest.size()) {
        break;
      }
      use(line, number);
      number += rest[end] == '\n' ? 1 : 0;
      line.clear();
      is_open = false;
      rest.remove_prefix(end + 1);
    }
  }
  if (is_open) {
    use(line, number);
  }
  return bytes;
}

LogLine CleanLogLine(std::string_view raw, std::string& kept) {
  CopyPlain(raw, kept);
  LogLine line;
  line.text = kept;
  TakeTask(line);
  constexpr int kMostPrefixes = 6;
  for (int i = 0; i < kMostPrefixes && (TakeBracket(line) || TakeTime(line)); ++i) {
  }
  return line;
}

std::optional<int64_t> UnixNsOf(std::string_view time) {
  const std::optional<int> year = NumberAt(time, 0, 4);
  const std::optional<int> month = NumberAt(time, 5, 2);
  const std::optional<int> day = NumberAt(time, 8, 2);
  const std::optional<int> hour = NumberAt(time, 11, 2);
  const std::optional<int> minute = NumberAt(time, 14, 2);
  const std::optional<int> second = NumberAt(time, 17, 2);
  if (!year || !month || !day || !hour || !minute || !second) {
    return std::nullopt;
  }
  const std::chrono::year_month_day date{std::chrono::year(*year),
                                         std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day))};
  constexpr size_t kClockEnd = 19;
  std::string_view rest = time.substr(std::min(kClockEnd, time.size()));
  int64_t fraction_ns = 0;
  if (rest.starts_with('.') || rest.starts_with(',')) {
    rest.remove_prefix(1);
    int64_t place = 100'000'000;
    while (!rest.empty() && IsDigit(rest.front())) {
      fraction_ns += (rest.front() - '0') * place;
      place /= 10;
      rest.remove_prefix(1);
    }
  }
  const std::optional<int> ahead = ZoneMinutes(rest);
  // 1970 to 2261: what 64 bits of nanoseconds hold.
  if (!date.ok() || *year < 1970 || *year > 2261 || !ahead.has_value() || *hour < 0 || *hour > 23 ||
      *minute < 0 || *minute > 59 || *second < 0 || *second > 60) {
    return std::nullopt;
  }
  const int64_t days = std::chrono::sys_days(date).time_since_epoch().count();
  const int64_t seconds = ((days * 24 + *hour) * 60 + *minute - *ahead) * 60 + *second;
  return seconds * 1'000'000'000 + fraction_ns;
}

}  // namespace borescope::internal
