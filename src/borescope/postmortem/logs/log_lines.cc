#include "borescope/postmortem/logs/log_lines.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "borescope/base/stop.h"
#include "borescope/base/text/text.h"
#include "borescope/postmortem/logs/log_envelopes.h"

namespace borescope::internal {
namespace {

bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// Escape sequences of terminals ("\x1b[31m") and other control characters but tabs.
void CopyPlain(std::string_view raw, std::string& kept) {
  const auto is_plain = [](char c) { return static_cast<unsigned char>(c) >= ' ' || c == '\t'; };
  if (std::all_of(raw.begin(), raw.end(), is_plain)) {
    kept.assign(raw);
    return;
  }
  kept.clear();
  for (size_t i = 0; i < raw.size(); ++i) {
    const char c = raw[i];
    if (c == '\x1b' && i + 1 < raw.size() && raw[i + 1] == '[') {
      i += 2;
      while (i < raw.size() && !IsLetter(raw[i])) {
        ++i;
      }
    } else if (is_plain(c)) {
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

// "[1,3]<stderr>:" of Open MPI's --tag-output, whose first number is that of the job;
// "[prterun-node7-77@1,3]<stderr>:" since its version 5.
bool TakeTag(LogLine& line) {
  constexpr size_t kLongest = 200;
  constexpr size_t kMostDigits = 9;
  const size_t close = line.text.starts_with('[') ? line.text.substr(0, kLongest).find("]<std")
                                                  : std::string_view::npos;
  if (close == std::string_view::npos) {
    return false;
  }
  const std::string_view name = line.text.substr(1, close - 1);
  const std::string_view numbers = name.substr(name.rfind('@') + 1);
  const size_t job = DigitsAt(numbers, 0);
  const size_t rank = DigitsAt(numbers, job + 1);
  if (job == 0 || job > kMostDigits || rank == 0 || rank > kMostDigits || numbers[job] != ',' ||
      job + 1 + rank != numbers.size()) {
    return false;
  }
  std::string_view rest = line.text.substr(close);
  for (const std::string_view tag : {"]<stdout>:", "]<stderr>:", "]<stddiag>:"}) {
    if (rest.starts_with(tag)) {
      line.rank = ParseNumber<int32_t>(numbers.substr(job + 1));
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

// "[pod/train-worker-2/pytorch] " of kubectl logs --prefix. The number of a pod is not the rank.
bool TakePod(LogLine& line) {
  constexpr std::string_view kBegin = "[pod/";
  constexpr size_t kLongest = 400;
  const size_t close = line.text.starts_with(kBegin) ? line.text.substr(0, kLongest).find("] ")
                                                     : std::string_view::npos;
  if (close == std::string_view::npos) {
    return false;
  }
  const std::string_view pod = line.text.substr(kBegin.size(), close - kBegin.size());
  line.source = pod.substr(0, pod.find('/'));
  line.text.remove_prefix(close + 2);
  return true;
}

// "node7 train[4242]: " or "node7 kernel: ", which syslog and the journal write after the time.
// After `is_loose` times any name without a process counts.
bool TakeSyslogName(LogLine& line, bool is_loose) {
  constexpr size_t kLongest = 200;
  const std::string_view text = line.text.substr(0, kLongest);
  const size_t host = text.find(' ');
  const size_t end = host == std::string_view::npos ? host : text.find(": ", host + 1);
  if (end == std::string_view::npos || host == 0) {
    return false;
  }
  std::string_view name = text.substr(host + 1, end - host - 1);
  const size_t bracket = name.find('[');
  std::optional<int64_t> pid;
  if (bracket != std::string_view::npos && name.ends_with(']')) {
    pid = ParseNumber<int64_t>(name.substr(bracket + 1, name.size() - bracket - 2));
    name = name.substr(0, bracket);
  }
  if (name.empty() || Contains(name, " ") || (!pid.has_value() && !is_loose && name != "kernel")) {
    return false;
  }
  line.source = text.substr(0, host);
  line.pid = pid;
  line.text.remove_prefix(end + 2);
  return true;
}

// "Nov  1 10:00:31 node7 train[4242]: " of syslog and the journal.
bool TakeSyslog(LogLine& line) {
  constexpr size_t kTime = 16;
  const bool is_named_month = !line.text.empty() && IsLetter(line.text.front());
  const int64_t year_ns = is_named_month && line.text.size() > kTime && line.text[kTime - 1] == ' '
                              ? YearNsOf(line.text)
                              : 0;
  LogLine named = line;
  named.text.remove_prefix(year_ns == 0 ? 0 : kTime);
  if (year_ns == 0 || !TakeSyslogName(named, true)) {
    return false;
  }
  line = named;
  line.year_ns = year_ns;
  return true;
}

// "stderr F " of container runtimes, after the time.
bool TakeOutput(LogLine& line) {
  const bool is_error = line.text.starts_with("stderr F ") || line.text == "stderr F";
  if (!is_error && !line.text.starts_with("stdout F ") && line.text != "stdout F") {
    return false;
  }
  constexpr size_t kLength = 9;
  line.output = is_error ? LogOutput::kError : LogOutput::kStandard;
  line.text.remove_prefix(std::min(kLength, line.text.size()));
  return true;
}

// "[ERROR] " and "[rank 5] " of loggers, after a time or at the begin, and the dash after them.
bool TakeLoggerField(LogLine& line, bool is_after_time) {
  std::string_view text = line.text;
  if (is_after_time && text.starts_with("- ")) {
    line.text.remove_prefix(2);
    return true;
  }
  constexpr size_t kLongest = 16;
  const size_t close =
      text.starts_with('[') ? text.substr(0, kLongest).find(']') : std::string_view::npos;
  if (close == std::string_view::npos) {
    return false;
  }
  const std::string_view name = text.substr(1, close - 1);
  constexpr std::string_view kLevels[] = {"DEBUG", "INFO",     "WARNING", "WARN",
                                          "ERROR", "CRITICAL", "FATAL"};
  const bool is_level =
      is_after_time && std::find(std::begin(kLevels), std::end(kLevels), name) != std::end(kLevels);
  constexpr std::string_view kRank = "rank";
  std::optional<int32_t> rank;
  if (name.starts_with(kRank)) {
    std::string_view number = name.substr(kRank.size());
    const bool is_apart = number.starts_with(' ') || number.starts_with(": ");
    number.remove_prefix(std::min(number.find_first_not_of(": "), number.size()));
    rank = is_apart || is_after_time ? ParseNumber<int32_t>(number) : std::nullopt;
    if (rank.value_or(0) < 0) rank.reset();
  }
  if (!is_level && !rank.has_value()) {
    return false;
  }
  if (rank.has_value()) {
    line.rank = rank;
    line.basis = LogRankBasis::kRank;
    line.is_place = false;
  }
  text.remove_prefix(close + 1);
  text.remove_prefix(text.starts_with(' ') ? 1 : 0);
  line.text = text;
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
  const bool has_zone = time.ends_with('Z') || time.find_first_of("+-", kShortest) < time.size();
  const std::optional<int64_t> unix_ns = has_zone ? UnixNsOf(time) : std::nullopt;
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
  if (at + size > text.size()) {
    return std::nullopt;
  }
  int number = 0;
  for (size_t i = at; i < at + size; ++i) {
    if (!IsDigit(text[i])) {
      return std::nullopt;
    }
    number = number * 10 + (text[i] - '0');
  }
  return number;
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

// Times of other forms at the begin, with a blank after them: "1793527531.25" of seconds since
// 1970, "11/01/2026 10:05:31" and "Sun Nov  1 10:05:31 2026".
bool TakeOtherTime(LogLine& line) {
  const std::string_view text = line.text;
  constexpr size_t kSeconds = 10;
  constexpr size_t kDate = 11;  // "11/01/2026 "
  constexpr size_t kClock = 8;
  constexpr size_t kNamed = 24;  // "Sun Nov  1 10:05:31 2026"
  size_t end = 0;
  if (const size_t digits = DigitsAt(text, 0); digits == kSeconds && text.front() == '1') {
    end = digits;
    int64_t fraction_ns = 0;
    int64_t place = 100'000'000;
    if (text.substr(end).starts_with('.')) {
      for (++end; end < text.size() && IsDigit(text[end]); ++end, place /= 10) {
        fraction_ns += (text[end] - '0') * place;
      }
    }
    if (!text.substr(end).starts_with(' ')) {
      return false;
    }
    line.unix_ns =
        ParseNumber<int64_t>(text.substr(0, kSeconds)).value_or(0) * 1'000'000'000 + fraction_ns;
  } else if (digits == 2 && text.size() > kDate + kClock && text[2] == '/' && text[5] == '/') {
    line.year_ns = YearNs(NumberAt(text, 0, 2), NumberAt(text, 3, 2), text.substr(kDate, kClock));
    end = kDate + kClock;
  } else if (text.size() > kNamed && text[3] == ' ' && DigitsAt(text, 20) == 4) {
    line.year_ns = YearNsOf(text.substr(4, kNamed - 9));
    end = kNamed;
  }
  const bool is_time =
      end > 0 && (line.unix_ns != 0 || line.year_ns != 0) && text.substr(end).starts_with(' ');
  if (is_time) {
    line.text.remove_prefix(end + 1);
  }
  return is_time;
}

void TakePrefixes(LogLine& line) {
  constexpr int kMostPrefixes = 8;
  bool is_after_time = false;
  const auto take_one = [&](bool is_first) {
    if (TakeBracket(line) || TakePod(line) || TakeLoggerField(line, is_after_time) ||
        (is_first && (TakeWorker(line) || TakeSyslog(line)))) {
      return true;
    }
    if (!TakeTime(line)) {
      return is_first && TakeOtherTime(line);
    }
    // rsyslog writes the same names after a time with its zone, container runtimes the output.
    if (!is_after_time && line.unix_ns != 0 && !TakeOutput(line)) {
      TakeSyslogName(line, false);
    }
    is_after_time = true;
    return true;
  };
  for (int i = 0; i < kMostPrefixes && take_one(i == 0); ++i) {
  }
}

// The prefix with one zero for each number, and one blank for several; those at its end stay.
std::string ShapeOf(std::string_view prefix) {
  std::string shape;
  const size_t last = prefix.find_last_not_of(' ');
  for (size_t i = 0; i < prefix.size(); ++i) {
    const char c = IsDigit(prefix[i]) ? '0' : prefix[i];
    const bool is_repeated = !shape.empty() && shape.back() == c && (c == '0' || c == ' ');
    if (!is_repeated || i > last) shape.push_back(c);
  }
  return shape;
}

// How much of `text` a prefix of that shape takes; 0: it does not begin with one.
size_t LengthOfShape(std::string_view shape, std::string_view text) {
  const size_t last = shape.find_last_not_of(' ');
  size_t at = 0;
  for (size_t i = 0; i < shape.size(); ++i) {
    const bool is_number = shape[i] == '0';
    const bool is_match =
        at < text.size() && (is_number ? IsDigit(text[at]) : text[at] == shape[i]);
    if (!is_match) {
      return 0;
    }
    ++at;
    while (at < text.size() &&
           ((is_number && IsDigit(text[at])) || (shape[i] == ' ' && i < last && text[at] == ' '))) {
      ++at;
    }
  }
  return at;
}

// What is before the header of a traceback, up to a rank; empty if it is none of a logger.
std::string_view PrefixOfHeader(std::string_view text) {
  constexpr size_t kLongest = 200;
  const size_t at = text.find("Traceback (most recent call last):");
  std::string_view prefix = text.substr(0, at == std::string_view::npos ? 0 : at);
  for (const std::string_view rank : {"[rank", "[default"}) {
    prefix = prefix.substr(0, prefix.find(rank));
  }
  const bool is_ended = prefix.ends_with(' ') || prefix.ends_with(']') || prefix.ends_with(':');
  const bool is_marked = prefix.find_first_of("0123456789:|]") != std::string_view::npos;
  return is_ended && is_marked && prefix.size() <= kLongest && prefix.front() != ' '
             ? prefix
             : std::string_view();
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

// Text of a file in UTF-16, as PowerShell writes it, piece by piece; other texts as they are.
class Utf16Text {
 public:
  // Takes the mark off the first bytes of the file, which says how it is written.
  std::string_view Begin(std::string_view first) {
    is_big_ = first.starts_with("\xFE\xFF");
    is_wide_ = is_big_ || first.starts_with("\xFF\xFE");
    first.remove_prefix(is_wide_ ? 2 : first.starts_with("\xEF\xBB\xBF") ? 3 : 0);
    return first;
  }

  // Valid until the next call.
  std::string_view Of(std::string_view bytes) {
    if (!is_wide_) {
      return bytes;
    }
    text_.clear();
    for (const char c : bytes) {
      const auto byte = static_cast<unsigned char>(c);
      if (!half_.has_value()) {
        half_ = byte;
        continue;
      }
      const auto high = static_cast<uint32_t>(is_big_ ? *half_ : byte);
      const auto low = static_cast<uint32_t>(is_big_ ? byte : *half_);
      half_.reset();
      Add(high << 8U | low);
    }
    return text_;
  }

 private:
  void Add(uint32_t unit) {
    constexpr uint32_t kHigh = 0xD800;
    constexpr uint32_t kLow = 0xDC00;
    constexpr uint32_t kEnd = 0xE000;
    const bool is_low = unit >= kLow && unit < kEnd;
    if (surrogate_ != 0 && is_low) {
      AppendUtf8(text_, 0x10000 + ((surrogate_ - kHigh) << 10U) + (unit - kLow));
      surrogate_ = 0;
      return;
    }
    if (surrogate_ != 0 || is_low) text_ += kReplacementUtf8;
    surrogate_ = unit >= kHigh && unit < kLow ? unit : 0;
    if (surrogate_ == 0 && !is_low) AppendUtf8(text_, unit);
  }

  bool is_wide_ = false;
  bool is_big_ = false;
  std::optional<unsigned char> half_;  // the first byte of two
  uint32_t surrogate_ = 0;
  std::string text_;
};

}  // namespace

Result<uint64_t> ForEachLogLine(
    ByteSource& source, uint64_t most,
    const std::function<void(std::string_view line, int64_t number)>& use) {
  std::array<char, size_t{64} << 10U> buffer;
  std::string line;
  LogEnvelopes envelopes;
  Utf16Text wide;
  int64_t number = 1;
  uint64_t bytes = 0;
  bool is_open = false;  // something of the line was read
  const auto use_opened = [&](std::string_view raw) {
    if (const std::optional<std::string_view> opened = envelopes.Open(raw)) {
      use(*opened, number);
    }
  };
  while (bytes < most) {
    CheckStop();
    BS_ASSIGN(const size_t got, ReadFully(source, buffer.data(), buffer.size()));
    if (got == 0) {
      break;
    }
    std::string_view rest(buffer.data(), got);
    if (bytes == 0) {
      rest = wide.Begin(rest);
    }
    bytes += got;
    rest = wide.Of(rest);
    size_t newline = 0;  // of `rest`; one that was passed is looked for again
    bool is_newline_known = false;
    while (!rest.empty()) {
      newline = is_newline_known ? newline : std::min(rest.find('\n'), rest.size());
      const size_t end = std::min(rest.substr(0, newline).find('\r'), newline);
      is_newline_known = end < newline;
      newline -= is_newline_known ? end + 1 : 0;
      const size_t room = kLogLineBytes - std::min(kLogLineBytes, line.size());
      line.append(rest.substr(0, std::min(end, room)));
      is_open = true;
      if (end == rest.size()) {
        break;
      }
      use_opened(line);
      number += rest[end] == '\n' ? 1 : 0;
      line.clear();
      is_open = false;
      rest.remove_prefix(end + 1);
    }
  }
  if (is_open) {
    use_opened(line);
  }
  while (const std::optional<std::string_view> opened = envelopes.Rest()) {
    use(*opened, number);
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
  TakePrefixes(line);
  if (line.year_ns == 0 && line.unix_ns == 0) {
    line.year_ns = YearNsOfLogger(line.text);
  }
  return line;
}

void LearnedPrefixes::TakeOff(LogLine& line) {
  constexpr size_t kMostShapes = 16;
  size_t taken = 0;
  for (size_t i = 0; i < shapes_.size() && taken == 0; ++i) {
    taken = LengthOfShape(shapes_[i], line.text);
  }
  if (taken == 0) {
    const std::string_view prefix = PrefixOfHeader(line.text);
    if (prefix.empty() || shapes_.size() == kMostShapes) {
      return;
    }
    taken = prefix.size();
    shapes_.push_back(ShapeOf(prefix));
  }
  // "worker-3 |" and "node1:" name who wrote; levels and letters of loggers do not.
  const std::string_view name =
      line.text.substr(0, line.text.substr(0, taken).find_first_of(" :|"));
  const bool is_name =
      std::any_of(name.begin(), name.end(), [](char c) { return c >= 'a' && c <= 'z'; });
  if (line.source.empty() && is_name && IsLetter(name.front())) {
    line.source = name;
  }
  line.text.remove_prefix(taken);
  TakePrefixes(line);
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
