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
    line.is_place = false;
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

// "[1,3]<stderr>:" of Open MPI's --tag-output, whose first number is that of the job.
bool TakeTag(LogLine& line) {
  if (!line.text.starts_with('[')) {
    return false;
  }
  const size_t job = DigitsAt(line.text, 1);
  const size_t rank = DigitsAt(line.text, job + 2);
  constexpr size_t kMostDigits = 9;
  if (job == 0 || job > kMostDigits || rank == 0 || rank > kMostDigits ||
      line.text[job + 1] != ',') {
    return false;
  }
  std::string_view rest = line.text.substr(job + rank + 2);
  for (const std::string_view tag : {"]<stdout>:", "]<stderr>:", "]<stddiag>:"}) {
    if (rest.starts_with(tag)) {
      line.rank = ParseNumber<int32_t>(line.text.substr(job + 2, rank));
      line.basis = LogRankBasis::kTask;
      rest.remove_prefix(tag.size());
      rest.remove_prefix(rest.starts_with(' ') ? 1 : 0);
      line.text = rest;
      return true;
    }
  }
  return false;
}

// "[3] " of MPICH's and Intel's -prepend-rank.
bool TakePlace(LogLine& line) {
  constexpr size_t kMostDigits = 6;
  const size_t digits = line.text.starts_with('[') ? DigitsAt(line.text, 1) : 0;
  if (digits == 0 || digits > kMostDigits || !line.text.substr(digits + 1).starts_with("] ")) {
    return false;
  }
  line.rank = ParseNumber<int32_t>(line.text.substr(1, digits));
  line.basis = LogRankBasis::kLocal;
  line.is_place = true;
  line.text.remove_prefix(digits + 3);
  return true;
}

// "(TrainWorker pid=1234, ip=10.0.0.2) " of Ray.
bool TakeWorker(LogLine& line) {
  constexpr size_t kLongest = 120;
  if (!line.text.starts_with('(')) {
    return false;
  }
  const size_t close = line.text.substr(0, kLongest).find(") ");
  const size_t key = line.text.substr(0, kLongest).find(" pid=");
  if (close == std::string_view::npos || key == std::string_view::npos || key > close) {
    return false;
  }
  constexpr size_t kKey = 5;
  const size_t digits = DigitsAt(line.text, key + kKey);
  const std::optional<int64_t> pid = ParseNumber<int64_t>(line.text.substr(key + kKey, digits));
  if (!pid.has_value()) {
    return false;
  }
  line.pid = pid;
  line.text.remove_prefix(close + 2);
  return true;
}

// A time of a date and a clock at the begin, in brackets or not.
bool TakeTime(LogLine& line) {
  constexpr size_t kShortest = 19;  // 2026-11-28T12:00:00
  constexpr size_t kLongest = 40;
  const bool is_bracketed = line.text.starts_with('[');
  const std::string_view rest = line.text.substr(is_bracketed ? 1 : 0);
  if (rest.size() < kShortest || DigitsAt(rest, 0) != 4 || (rest[4] != '-' && rest[4] != '/') ||
      rest[7] != rest[4] || rest[13] != ':' || rest[16] != ':') {
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
  line.year_ns = unix_ns.has_value() ? line.year_ns : YearNsOf(time);
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

// Nanoseconds since the begin of a year of 366 days, plus one; `clock` is "12:00:00.123". 0 of what
// is no time.
int64_t YearNs(std::optional<int> month, std::optional<int> day, std::string_view clock) {
  constexpr int kDaysBefore[] = {0, 31, 60, 91, 121, 152, 182, 213, 244, 274, 305, 335};
  const std::optional<int> hour = NumberAt(clock, 0, 2);
  const std::optional<int> minute = NumberAt(clock, 3, 2);
  const std::optional<int> second = NumberAt(clock, 6, 2);
  if (!month || !day || !hour || !minute || !second || clock[2] != ':' || clock[5] != ':' ||
      *month < 1 || *month > 12 || *day < 1 || *day > 31 || *hour < 0 || *hour > 23 ||
      *minute < 0 || *minute > 59 || *second < 0 || *second > 60) {
    return 0;
  }
  constexpr size_t kClock = 8;
  std::string_view rest = clock.substr(kClock);
  int64_t fraction_ns = 0;
  if (rest.starts_with('.') || rest.starts_with(',')) {
    int64_t place = 100'000'000;
    for (size_t i = 1; i < rest.size() && IsDigit(rest[i]); ++i, place /= 10) {
      fraction_ns += (rest[i] - '0') * place;
    }
  }
  const int64_t days = kDaysBefore[*month - 1] + *day - 1;
  return (((days * 24 + *hour) * 60 + *minute) * 60 + *second) * 1'000'000'000 + fraction_ns + 1;
}

// The time of glog ("E1128 12:00:00.5 file.cpp:1]", in a bracket or not) or of syslog at the begin
// of a line, which keeps it.
int64_t YearNsOfLogger(std::string_view text) {
  text.remove_prefix(text.starts_with('[') ? 1 : 0);
  const bool is_glog = text.size() > 6 && Contains("IWEFDC", text.substr(0, 1)) &&
                       DigitsAt(text, 1) == 4 && text[5] == ' ';
  return YearNsOf(is_glog ? text.substr(1) : text);
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
  if (!TakeTask(line) && !TakeTag(line)) {
    TakePlace(line);
  }
  constexpr int kMostPrefixes = 6;
  for (int i = 0;
       i < kMostPrefixes && (TakeBracket(line) || TakeTime(line) || (i == 0 && TakeWorker(line)));
       ++i) {
  }
  if (line.year_ns == 0 && line.unix_ns == 0) {
    line.year_ns = YearNsOfLogger(line.text);
  }
  return line;
}

int64_t YearNsOf(std::string_view time) {
  const auto number = [&](size_t at, size_t size) { return NumberAt(time, at, size); };
  // A date with its year has the month after it.
  const bool has_year =
      DigitsAt(time, 0) == 4 && time.size() > 4 && (time[4] == '-' || time[4] == '/');
  if (has_year) {
    return YearNs(number(5, 2), number(8, 2), time.substr(std::min<size_t>(11, time.size())));
  }
  if (DigitsAt(time, 0) == 4) {
    return YearNs(number(0, 2), number(2, 2), time.substr(std::min<size_t>(5, time.size())));
  }
  constexpr std::string_view kMonths = "JanFebMarAprMayJunJulAugSepOctNovDec";
  constexpr size_t kName = 3;
  const size_t month =
      time.size() < 7 ? std::string_view::npos : kMonths.find(time.substr(0, kName));
  if (month == std::string_view::npos || month % kName != 0 || time[kName] != ' ') {
    return 0;
  }
  const bool is_short = time[4] == ' ';  // "Nov  1"
  return YearNs(static_cast<int>(month / kName) + 1, is_short ? number(5, 1) : number(4, 2),
                time.substr(7));
}

int64_t YearNsBetween(int64_t a, int64_t b) {
  constexpr int64_t kYearNs = int64_t{366} * 86'400 * 1'000'000'000;
  const int64_t later = b - a;
  return later > kYearNs / 2 ? later - kYearNs : later < -kYearNs / 2 ? later + kYearNs : later;
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
