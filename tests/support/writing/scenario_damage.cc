#include "tests/support/writing/scenario_damage.h"

#include <string_view>

namespace borescope::scenario {
namespace {

// Begin and end of a number or bare word that is the value of `key`; equal when there is none.
struct Range {
  size_t begin = 0;
  size_t end = 0;
};

size_t ValueOf(const std::string& event, std::string_view key) {
  const std::string quoted = '"' + std::string(key) + '"';
  const size_t at = event.find(quoted);
  if (at == std::string::npos) return std::string::npos;
  return event.find_first_not_of(": ", at + quoted.size());
}

Range NumberOf(const std::string& event, std::string_view key) {
  const size_t begin = ValueOf(event, key);
  if (begin == std::string::npos) return {};
  return {begin, event.find_first_not_of("+-.0123456789eE", begin)};
}

void QuoteNumber(std::string_view key, std::string* event) {
  const Range range = NumberOf(*event, key);
  if (range.end <= range.begin) return;
  event->insert(range.end, "\"");
  event->insert(range.begin, "\"");
}

void ReplaceNumber(std::string_view key, std::string_view text, std::string* event) {
  const Range range = NumberOf(*event, key);
  if (range.end > range.begin) event->replace(range.begin, range.end - range.begin, text);
}

// Takes out `key`, its value and the comma before it.
void RemoveNumber(std::string_view key, std::string* event) {
  const Range range = NumberOf(*event, key);
  if (range.end <= range.begin) return;
  const size_t comma = event->rfind(',', range.begin);
  event->erase(comma, range.end - comma);
}

// Puts text into the middle of the event's name.
void InsertInName(std::string_view text, std::string* event) {
  const size_t begin = ValueOf(*event, "name");
  const size_t end = event->find('"', begin + 1);
  event->insert(begin + 1 + (end - begin - 1) / 2, text);
}

void AddFirstArg(std::string_view key, std::string_view value, const TextLayout& layout,
                 std::string* event) {
  const size_t first = ValueOf(*event, "args") + layout.args_begin().size();
  const size_t key_end = event->find('"', first + 1);
  const std::string next_key = event->substr(first + 1, key_end - first - 1);
  const std::string added = layout.Key(Depth::kArgs, Gap::kFirst, key) + std::string(value);
  // The old first member now follows another one.
  event->replace(first, layout.Key(Depth::kArgs, Gap::kFirst, next_key).size(),
                 added + layout.Key(Depth::kArgs, Gap::kSame, next_key));
}

void NullArgs(const TextLayout& layout, std::string* event) {
  const size_t begin = ValueOf(*event, "args");
  event->replace(begin, event->size() - layout.event_end().size() - begin, "null");
}

}  // namespace

void DamageText(Fault fault, int64_t variant, const TextLayout& layout, std::string* event) {
  const size_t pick = static_cast<size_t>(variant);
  constexpr std::string_view kNotNumbers[] = {"nan", "inf", "-nan", "NaN", "Infinity"};
  switch (fault) {
    case Fault::kNanValue:
      ReplaceNumber("blocks per SM", kNotNumbers[pick % 5], event);
      return ReplaceNumber("memory bandwidth (GB/s)", kNotNumbers[pick % 5], event);
    case Fault::kBadUtf8:
      return InsertInName("\xC3\x28\xFF", event);
    case Fault::kControlChar:
      return InsertInName(pick % 2 == 0 ? "\n" : "\t\x01", event);
    case Fault::kUnescapedQuote:
      return InsertInName(R"({"device": "cpu"})", event);
    case Fault::kBigInteger:
      return AddFirstArg("Comms Id", "340282366920938463463374607431768211455", layout, event);
    case Fault::kDuplicateKey:
      return AddFirstArg("correlation", "0", layout, event);
    case Fault::kNullArgs:
      return NullArgs(layout, event);
    case Fault::kStringNumbers:
      for (const std::string_view key : {"pid", "tid", "stream", "bytes"}) QuoteNumber(key, event);
      return;
    case Fault::kMissingField:
      return RemoveNumber(pick % 2 == 0 ? "dur" : "ts", event);
    default:
      return;
  }
}

}  // namespace borescope::scenario
