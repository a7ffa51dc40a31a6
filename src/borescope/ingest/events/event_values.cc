#include "borescope/ingest/events/event_values.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "borescope/base/text/text.h"
#include "borescope/ingest/time_limit.h"
#include "borescope/json/json_string.h"

namespace borescope::internal {
namespace {

// "ts" beyond this many ns (2001) is Unix time, not relative to a base.
constexpr int64_t kAbsoluteNs = 1'000'000'000LL * 1'000'000'000LL;

// Numbers also come as strings; what is between the quotes counts.
std::string_view Unquoted(std::string_view token) {
  return IsString(token) ? StringContent(token) : token;
}

bool IsAbsent(std::string_view token) { return token.empty() || token == "null"; }

// The first bytes of a text for messages, cut between two characters.
std::string_view Head(std::string_view text, size_t most) {
  if (text.size() <= most) {
    return text;
  }
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xc0) == 0x80) {
    --most;
  }
  return text.substr(0, most);
}

// The name of an event, for diagnostics.
std::string_view NameOf(const RawEvent& event) {
  return Head(Unquoted(event.Get(Field::kName)), 80);
}

// Digits after the point of a number. Nearly all writers give three.
size_t Decimals(std::string_view number) {
  if (number.size() > 4 && number[number.size() - 4] == '.') {
    return 3;
  }
  const size_t point = number.find('.');
  return point == std::string_view::npos ? 0 : number.size() - point - 1;
}

}  // namespace

char EscapedPhaseOf(std::string_view token) {
  const std::string text = HasEscapes(token) ? StringText(token) : std::string();
  return text.size() == 1 && text[0] > ' ' && text[0] < 0x7F ? text[0] : '\0';
}

std::string_view ProcessText(std::string_view token, std::string& scratch) {
  const std::string_view raw = StringContent(token);
  StringRepairs repairs;
  return HasEscapes(raw) ? DecodeString(raw, scratch, repairs) : raw;
}

std::optional<int64_t> ProcessNumberIn(std::string_view text) {
  if (const ParsedNumber whole = ParseInteger(text); whole.status == NumberStatus::kOk) {
    return whole.value;
  }
  const ParsedNumber tail = ParseInteger(text.substr(text.find_last_not_of("0123456789") + 1));
  return tail.status == NumberStatus::kOk ? std::optional(tail.value) : std::nullopt;
}

bool EventValues::UsableIfRare(const ParsedNumber& number, const RawEvent& event, Field field) {
  switch (number.status) {
    case NumberStatus::kOk:
      return true;
    case NumberStatus::kOverflow:
      diagnostics_.Count(Diag::kIntegerOverflow, event.byte, Head(event.Get(field), 40));
      return true;
    case NumberStatus::kNotFinite:
      diagnostics_.Count(Diag::kNonFiniteNumber, event.byte, NameOf(event));
      return false;
    case NumberStatus::kNotNumber:
      break;
  }
  diagnostics_.Count(Diag::kBadFieldType, event.byte, Head(event.Get(field), 40));
  return false;
}

int64_t EventValues::Integer(const RawEvent& event, Field field, int64_t missing) {
  const std::string_view token = event.Get(field);
  if (IsAbsent(token)) {
    return missing;
  }
  const ParsedNumber number = ParseInteger(Unquoted(token));
  return Usable(number, event, field) ? number.value : missing;
}

int32_t EventValues::SmallInteger(const RawEvent& event, Field field) {
  const int64_t value = Integer(event, field, -1);
  return static_cast<int32_t>(std::clamp<int64_t>(value, -1, std::numeric_limits<int32_t>::max()));
}

std::string_view RankLabelOf(std::string_view text) {
  if (text.empty() || text.front() != '[') {
    return {};
  }
  const size_t end = text.find("] ");
  return end == std::string_view::npos || end < 2 ? std::string_view() : text.substr(0, end + 2);
}

namespace {

// Where the last `"key"` before `end` is; npos: nowhere.
size_t FindLastKey(std::string_view args, std::string_view key, size_t end) {
  for (size_t at = end; at-- > 0;) {
    if (args[at] == '"' && args.substr(at).starts_with(key)) {
      return at;
    }
  }
  return std::string_view::npos;
}

// What is written after a key, up to the comma or bracket that ends it. Searched from the end on,
// where TraceFuse adds its keys: from the begin it took half of the time of reading a rank.
std::string_view ValueOf(std::string_view args, std::string_view key) {
  constexpr std::string_view kBlank = " \t\r\n";
  for (size_t at = FindLastKey(args, key, args.size()); at != std::string_view::npos;
       at = FindLastKey(args, key, at)) {
    const size_t colon = args.find_first_not_of(kBlank, at + key.size());
    if (colon == std::string_view::npos || args[colon] != ':') {
      continue;  // a value of this text
    }
    const size_t begin = args.find_first_not_of(kBlank, colon + 1);
    const size_t end = begin == std::string_view::npos ? begin : args.find_first_of(",}\n", begin);
    return end == std::string_view::npos ? std::string_view()
                                         : Trimmed(args.substr(begin, end - begin));
  }
  return {};
}

}  // namespace

FusedRank FusedRankOf(std::string_view args) {
  const std::string_view pid = ValueOf(args, "\"pid_raw\"");
  const FusedRank fused{pid.empty() ? pid : ValueOf(args, "\"rank\""), pid};
  const bool is_rank = !fused.rank.empty() && fused.rank.size() <= 9 &&
                       std::all_of(fused.rank.begin(), fused.rank.end(), IsDigit);
  return is_rank && !fused.pid.empty() ? fused : FusedRank();
}

std::string FusedRankLabel(const FusedRank& fused) { return "rank " + std::string(fused.rank); }

void RankLabels::Note(std::string_view label) {
  if (!label.empty() && first != label) {
    differ |= !first.empty();
    first = first.empty() ? label : std::string_view(first);
  }
}

void RankLabels::Merge(const RankLabels& other) {
  differ |= other.differ;
  Note(other.first);
}

void EventValues::NoteFusedRank(const RawEvent& event) {
  if (const FusedRank fused = FusedRankOf(event.Get(Field::kArgs)); !fused.rank.empty()) {
    rank_labels_.Note(FusedRankLabel(fused));
  }
}

int64_t EventValues::ProcessNumber(const RawEvent& event, Field field) {
  const std::string_view token = event.Get(field);
  if (!IsString(token)) {
    const ParsedNumber number = ParseInteger(token);
    const bool is_number =
        number.status == NumberStatus::kOk || (!IsAbsent(token) && Usable(number, event, field));
    return is_number ? number.value : -1;
  }
  const std::string_view text = ProcessText(token, scratch_);
  if (field == Field::kPid) {
    rank_labels_.Note(RankLabelOf(text));
  }
  if (const std::optional<int64_t> number = ProcessNumberIn(text)) {
    return *number;
  }
  // A number of its own (FNV-1a), the same in every chunk and run.
  uint32_t hash = 2166136261U;
  for (const char c : text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
  }
  return -2 - static_cast<int64_t>(hash);
}

int64_t EventValues::Unsigned(const RawEvent& event, Field field, int64_t missing) {
  const std::string_view token = event.Get(field);
  if (IsAbsent(token)) {
    return missing;
  }
  const ParsedNumber number = ParseUnsigned(Unquoted(token));
  return Usable(number, event, field) ? number.value : missing;
}

bool EventValues::Timestamp(const RawEvent& event, int64_t& ts_ns) {
  const std::string_view token = event.Get(Field::kTs);
  const ParsedNumber number = ParseMicroseconds(Unquoted(token));
  if (IsAbsent(token) || !Usable(number, event, Field::kTs)) {
    diagnostics_.Count(Diag::kMissingTimestamp, event.byte, NameOf(event));
    return false;
  }
  ++timestamps_.decimals[std::min<size_t>(Decimals(token), 3)];
  timestamps_.absolute |= number.value > kAbsoluteNs;
  ts_ns = std::clamp(number.value, -kTimeLimitNs, kTimeLimitNs);
  if (ts_ns != number.value && number.status == NumberStatus::kOk) {
    diagnostics_.Count(Diag::kIntegerOverflow, event.byte, Head(token, 40));
  }
  return true;
}

int64_t EventValues::Duration(const RawEvent& event) {
  const std::string_view token = event.Get(Field::kDur);
  const ParsedNumber number = ParseMicroseconds(Unquoted(token));
  if (IsAbsent(token) || !Usable(number, event, Field::kDur)) {
    diagnostics_.Count(Diag::kMissingDuration, event.byte, NameOf(event));
    return 0;
  }
  if (number.value < 0) {
    diagnostics_.Count(Diag::kNegativeDuration, event.byte, NameOf(event));
    return 0;
  }
  return std::min(number.value, kTimeLimitNs);
}

EventTime EventValues::Time(const RawEvent& event) {
  EventTime time;
  time.has_ts = Timestamp(event, time.ts_ns);
  time.dur_ns = Duration(event);
  return time;
}

std::optional<double> EventValues::Number(const RawEvent& event, std::string_view key,
                                          std::string_view value) {
  if (IsAbsent(value)) {
    return std::nullopt;
  }
  const ParsedDouble number = ParseDouble(Unquoted(value));
  if (number.status == NumberStatus::kOk) {
    return number.value;
  }
  const bool is_number = number.status == NumberStatus::kNotFinite;
  diagnostics_.Count(is_number ? Diag::kNonFiniteNumber : Diag::kBadFieldType, event.byte,
                     is_number ? Head(key, 80) : Head(value, 40));
  return std::nullopt;
}

std::string_view EventValues::Text(const RawEvent& event, Field field) {
  const std::string_view token = event.Get(field);
  if (!IsString(token)) {
    return token == "null" ? std::string_view() : token;
  }
  return Decoded(event, StringContent(token));
}

std::string_view EventValues::Decoded(const RawEvent& event, std::string_view raw) {
  // Both parsers pass valid UTF-8 without control characters, so only escapes are left.
  if (std::memchr(raw.data(), '\\', raw.size()) == nullptr) {
    return raw;
  }
  StringRepairs repairs;
  const std::string_view text = DecodeString(raw, scratch_, repairs);
  if (repairs.invalid_utf8) {
    diagnostics_.Count(Diag::kInvalidUtf8, event.byte, "a lone surrogate");
  }
  if (repairs.bad_escape) {
    diagnostics_.Count(Diag::kBadSyntax, event.byte, "a backslash that escapes nothing");
  }
  return text;
}

}  // namespace borescope::internal
