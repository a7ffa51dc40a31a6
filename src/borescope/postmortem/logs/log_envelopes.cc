#include "borescope/postmortem/logs/log_envelopes.h"

#include <algorithm>
#include <cstdint>

#include "borescope/base/text/text.h"
#include "borescope/postmortem/logs/log_lines.h"

namespace borescope::internal {
namespace {

// The value of four hexadecimal digits at `at`.
std::optional<uint32_t> HexAt(std::string_view text, size_t at) {
  constexpr size_t kDigits = 4;
  uint32_t value = 0;
  if (at + kDigits > text.size()) {
    return std::nullopt;
  }
  for (const char c : text.substr(at, kDigits)) {
    const char lower = c >= 'A' && c <= 'F' ? static_cast<char>(c - 'A' + 'a') : c;
    if (!IsDigit(lower) && (lower < 'a' || lower > 'f')) {
      return std::nullopt;
    }
    value = value * 16 + static_cast<uint32_t>(IsDigit(lower) ? lower - '0' : lower - 'a' + 10);
  }
  return value;
}

// The code point of "\uXXXX", or of two of these, at `at`; moves `at` to its last character.
char32_t EscapedPoint(std::string_view text, size_t& at) {
  constexpr size_t kLength = 6;
  constexpr uint32_t kHigh = 0xD800;
  constexpr uint32_t kLow = 0xDC00;
  constexpr uint32_t kEnd = 0xE000;
  constexpr char32_t kReplacement = 0xFFFD;
  const std::optional<uint32_t> first = HexAt(text, at + 2);
  if (!first.has_value()) {
    ++at;
    return kReplacement;
  }
  at += kLength - 1;
  if (*first < kHigh || *first >= kEnd) {
    return *first;
  }
  const bool has_more = text.substr(at + 1).starts_with("\\u");
  const std::optional<uint32_t> second = has_more ? HexAt(text, at + 3) : std::nullopt;
  if (*first >= kLow || !second.has_value() || *second < kLow || *second >= kEnd) {
    return kReplacement;
  }
  at += kLength;
  return 0x10000 + ((*first - kHigh) << 10U) + (*second - kLow);
}

// The text of the string of JSON that begins `text`, after its quote, into `out`: up to its end or
// that of `text`. Returns what is after it.
std::string_view ReadJsonText(std::string_view text, std::string& out) {
  constexpr std::string_view kNames = "nrtbf";
  constexpr std::string_view kValues = "\n\r\t\b\f";
  out.clear();
  size_t at = 0;
  for (; at < text.size() && text[at] != '"'; ++at) {
    if (text[at] != '\\' || at + 1 == text.size()) {
      out.push_back(text[at]);
    } else if (text[at + 1] == 'u') {
      AppendUtf8(out, EscapedPoint(text, at));
    } else {
      const size_t name = kNames.find(text[++at]);
      out.push_back(name == std::string_view::npos ? text[at] : kValues[name]);
    }
  }
  return text.substr(std::min(at + 1, text.size()));
}

// What the text of that key begins with, after its quote; empty where the key or its text is not.
std::string_view AfterKey(std::string_view json, std::string_view key) {
  const size_t at = json.find(key);
  std::string_view rest = at == std::string_view::npos ? "" : json.substr(at + key.size());
  rest.remove_prefix(std::min(rest.find_first_not_of(" :"), rest.size()));
  rest.remove_prefix(rest.starts_with('"') ? 1 : rest.size());
  return rest;
}

}  // namespace

bool IsLineOfDocker(std::string_view line) {
  return line.starts_with("{\"log\":\"") || line.starts_with("{\"log\": \"");
}

// "2026-11-01T10:00:00.123456789Z stderr F text"; of tags only the first is of interest.
std::optional<LogEnvelopes::Part> LogEnvelopes::OfCri(std::string_view raw) const {
  constexpr size_t kDate = 10;
  constexpr size_t kLongest = 40;
  constexpr size_t kStream = 8;  // " stdout "
  if (raw.size() < kDate + kStream || !IsDigit(raw.front()) || raw[kDate] != 'T') {
    return std::nullopt;
  }
  const size_t end = raw.substr(0, kLongest).find(' ');
  if (end == std::string_view::npos) {
    return std::nullopt;
  }
  Part part;
  part.time = raw.substr(0, end);
  std::string_view rest = raw.substr(end);
  part.is_error = rest.starts_with(" stderr ");
  if (!part.is_error && !rest.starts_with(" stdout ")) {
    return std::nullopt;
  }
  rest.remove_prefix(kStream);
  if (!rest.starts_with('F') && !rest.starts_with('P')) {
    return std::nullopt;
  }
  part.is_cut = rest.front() == 'P';
  const size_t tags = rest.find(' ');
  const bool is_tag = rest.size() == 1 || rest[1] == ' ' || rest[1] == ':';
  part.text = tags == std::string_view::npos ? std::string_view() : rest.substr(tags + 1);
  return is_tag ? std::optional(part) : std::nullopt;
}

// {"log":"text\n","stream":"stderr","time":"2026-11-01T10:00:00Z"}, perhaps with blanks.
std::optional<LogEnvelopes::Part> LogEnvelopes::OfDocker(std::string_view raw) {
  if (!IsLineOfDocker(raw)) {
    return std::nullopt;
  }
  const std::string_view rest = ReadJsonText(AfterKey(raw, "\"log\""), text_);
  Part part;
  part.is_error = AfterKey(rest, "\"stream\"").starts_with("stderr\"");
  part.time = AfterKey(rest, "\"time\"");
  part.time = part.time.substr(0, part.time.find('"'));
  part.text = text_;
  // A line without its end is cut, unless the log itself is.
  part.is_cut = !part.text.ends_with('\n') && !rest.empty();
  while (part.text.ends_with('\n') || part.text.ends_with('\r')) {
    part.text.remove_suffix(1);
  }
  // What a bar of progress wrote over.
  part.text.remove_prefix(part.text.rfind('\r') + 1);
  return part;
}

std::optional<std::string_view> LogEnvelopes::Open(std::string_view raw) {
  std::optional<Part> part = OfCri(raw);
  if (!part.has_value()) {
    part = OfDocker(raw);
  }
  if (!part.has_value()) {
    return raw;
  }
  std::string& open = open_[part->is_error ? 1 : 0];
  if (open.empty()) {
    const bool is_known = !part->time.empty();
    open.append(part->time).append(is_known ? part->is_error ? " stderr F " : " stdout F " : "");
  }
  open.append(part->text.substr(0, kLogLineBytes - std::min(kLogLineBytes, open.size())));
  if (part->is_cut) {
    return std::nullopt;
  }
  line_.swap(open);
  open.clear();
  return line_;
}

std::optional<std::string_view> LogEnvelopes::Rest() {
  for (std::string& open : open_) {
    if (!open.empty()) {
      line_.swap(open);
      open.clear();
      return line_;
    }
  }
  return std::nullopt;
}

}  // namespace borescope::internal
