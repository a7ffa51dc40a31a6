#include "borescope/ingest/events/tolerant_parser.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "borescope/base/text/text.h"
#include "borescope/json/json_cursor.h"
#include "borescope/json/json_string.h"

namespace borescope::internal {
namespace {

constexpr size_t kNowhere = std::string_view::npos;
// Limits on guessing; they also keep hostile input from making the search for the next event
// quadratic.
constexpr size_t kMaxStrayQuotes = 64;
constexpr size_t kMaxDepth = 64;

bool IsControl(char c) { return static_cast<unsigned char>(c) < 0x20; }

// FindEventField and FindArgsField read eight bytes from the key's start.
Field LookUp(std::string_view raw_key, bool is_args, std::string& scratch) {
  StringRepairs repairs;
  const std::string_view key = DecodeString(raw_key, scratch, repairs);
  std::array<char, 48> padded{};
  if (key.size() > padded.size() - 8) {
    return Field::kCount;
  }
  std::copy(key.begin(), key.end(), padded.begin());
  const std::string_view copy(padded.data(), key.size());
  return is_args ? FindArgsField(copy) : FindEventField(copy);
}

// Keys that an event may have besides those that are read.
bool IsOtherEventKey(std::string_view key) {
  return key == "bp" || key == "s" || key == "tts" || key == "cname" || key == "scope" ||
         key == "sf";
}

// A string token with every quote, control character and stray byte made harmless.
std::string RepairedString(std::string_view raw) {
  std::string scratch;
  StringRepairs repairs;
  const std::string_view text = DecodeString(raw, scratch, repairs);
  std::string token = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      token += '\\';
      token += c;
    } else if (IsControl(c)) {
      constexpr std::string_view kHex = "0123456789abcdef";
      token += "\\u00";
      token += kHex[static_cast<unsigned char>(c) >> 4];
      token += kHex[static_cast<unsigned char>(c) & 15];
    } else {
      token += c;
    }
  }
  return token += '"';
}

}  // namespace

size_t TolerantParser::SkipSpace(size_t at) const { return FindNonSpace(text_, at); }

ParseOutcome TolerantParser::Parse(std::string_view text, uint64_t byte, bool after_event,
                                   ChunkEnd end, EventSink& sink) {
  text_ = text;
  byte_ = byte;
  at_ = 0;
  end_ = end;
  needs_comma_ = after_event;
  sink_ = &sink;
  events_end_ = 0;
  ParseOutcome outcome;
  while (Step(outcome)) {
    sink.diagnostics().Merge(repairs_);
    repairs_ = Diagnostics();
  }
  sink.diagnostics().Merge(repairs_);
  repairs_ = Diagnostics();
  outcome.events_end = events_end_;
  return outcome;
}

bool TolerantParser::Step(ParseOutcome& outcome) {
  at_ = SkipSpace(at_);
  if (AtEnd()) {
    outcome = {ParseStop::kEnd, text_.size()};
    return false;
  }
  const char c = text_[at_];
  if (c == ']' && MayCloseArray(at_)) {
    outcome = {ParseStop::kArrayEnd, at_};
    return false;
  }
  if (c == ',') {
    const size_t next = SkipSpace(at_ + 1);
    if (!needs_comma_ || (next < text_.size() && text_[next] == ']')) {
      Count(Diag::kBadSyntax, at_, "a comma too many");
    }
    needs_comma_ = false;
    ++at_;
    return true;
  }
  const size_t start = at_;
  if (const Read read = ReadEvent(); read != Read::kOk) {
    repairs_ = Diagnostics();
    return Resynchronise(start, read, outcome);
  }
  if (needs_comma_) {
    Count(Diag::kBadSyntax, start, "a missing comma");
  }
  sink_->Add(event_);
  events_end_ = at_;
  needs_comma_ = true;
  return true;
}

// By the rules of JSON first: guessing where a string ends may fail even on an undamaged event.
TolerantParser::Read TolerantParser::ReadEvent() {
  if (text_[at_] != '{') {
    return Read::kDamaged;
  }
  const size_t start = at_;
  is_strict_ = true;
  Read read = TryEvent(start);
  if (read == Read::kDamaged || (read == Read::kOk && !FollowsEvent(at_))) {
    is_strict_ = false;
    read = TryEvent(start);
  }
  return read;
}

TolerantParser::Read TolerantParser::TryEvent(size_t start) {
  at_ = start;
  event_.Clear();
  event_.byte = byte_ + start;
  arena_.clear();
  repairs_ = Diagnostics();
  stray_quotes_ = 0;
  return ReadObject(false);
}

// Whether the text at `at` can follow an event.
bool TolerantParser::FollowsEvent(size_t at) const {
  at = SkipSpace(at);
  if (at < text_.size() && text_[at] == ',') {
    at = SkipSpace(at + 1);
  }
  return at >= text_.size() || text_[at] == '{' || text_[at] == ']' || text_[at] == ',';
}

TolerantParser::Read TolerantParser::ReadObject(bool is_args) {
  ++at_;  // the opening brace
  bool after_member = false;
  for (;;) {
    at_ = SkipSpace(at_);
    if (AtEnd()) {
      return Read::kIncomplete;
    }
    const char c = text_[at_];
    if (c == '}') {
      ++at_;
      return Read::kOk;
    }
    if (c == ',') {
      const size_t next = SkipSpace(at_ + 1);
      if (!after_member || (next < text_.size() && text_[next] == '}')) {
        if (is_strict_) {
          return Read::kDamaged;
        }
        Count(Diag::kBadSyntax, at_, "a comma too many");
      }
      after_member = false;
      ++at_;
      continue;
    }
    if (c != '"' || (is_strict_ && after_member)) {
      return Read::kDamaged;
    }
    if (after_member) {
      Count(Diag::kBadSyntax, at_, "a missing comma");
    }
    if (const Read read = ReadMember(is_args); read != Read::kOk) {
      return read;
    }
    after_member = true;
  }
}

TolerantParser::Read TolerantParser::ReadMember(bool is_args) {
  std::string_view key;
  if (const Read read = ReadString(Place::kKey, key); read != Read::kOk) {
    return read;
  }
  at_ = SkipSpace(at_);
  if (AtEnd()) {
    return Read::kIncomplete;
  }
  if (text_[at_] != ':') {
    return Read::kDamaged;
  }
  at_ = SkipSpace(at_ + 1);
  if (AtEnd()) {
    return Read::kIncomplete;
  }
  const Field field = LookUp(key.substr(1, key.size() - 2), is_args, scratch_);
  if (field == Field::kArgs && text_[at_] == '{') {
    return ReadArgs();
  }
  std::string_view token;
  const Read read = ReadValue(is_args ? Place::kArgsValue : Place::kEventValue, token);
  if (read == Read::kOk && field != Field::kCount) {
    event_.Set(field, token);
  }
  if (read == Read::kOk && is_args) {
    args_.append(args_.size() == 1 ? "" : ",").append(key).append(":").append(token);
  }
  return read;
}

// The text of the object is reassembled, so that it contains the repairs.
TolerantParser::Read TolerantParser::ReadArgs() {
  args_ = "{";
  const Read read = ReadObject(true);
  if (read == Read::kOk) {
    event_.Set(Field::kArgs, arena_.emplace_back(args_ + "}"));
  }
  return read;
}

TolerantParser::Read TolerantParser::ReadValue(Place place, std::string_view& token) {
  switch (text_[at_]) {
    case '"':
      return ReadString(place, token);
    case '{':
    case '[':
      return SkipContainer(token);
    default:
      return ReadScalar(token);
  }
}

// Everything up to the next delimiter; the reader of the field checks whether it is a number.
TolerantParser::Read TolerantParser::ReadScalar(std::string_view& token) {
  const size_t end = text_.find_first_of(",]}:{[\" \n\t\r", at_);
  if (end == kNowhere) {
    return Read::kIncomplete;
  }
  token = text_.substr(at_, end - at_);
  at_ = end;
  const bool clean = IsValidUtf8(token) && std::none_of(token.begin(), token.end(), IsControl);
  return token.empty() || !clean ? Read::kDamaged : Read::kOk;
}

TolerantParser::Read TolerantParser::ReadString(Place place, std::string_view& token) {
  const size_t stray_before = stray_quotes_;
  size_t quote = at_ + 1;
  for (;; ++quote) {
    quote = text_.find_first_of("\"\\", quote);
    if (quote == kNowhere) {
      return Read::kIncomplete;
    }
    if (text_[quote] == '\\') {
      ++quote;
    } else if (ClosesString(quote, place)) {
      break;
    } else if (is_strict_ || ++stray_quotes_ > kMaxStrayQuotes) {
      return Read::kDamaged;
    }
  }
  const std::string_view raw = text_.substr(at_ + 1, quote - at_ - 1);
  token = text_.substr(at_, quote + 1 - at_);
  const bool stray = stray_quotes_ != stray_before;
  const bool valid = IsValidUtf8(raw);
  const bool control = std::any_of(raw.begin(), raw.end(), IsControl);
  if (stray) {
    Count(Diag::kUnescapedQuote, at_, RepairedString(raw.substr(0, 60)));
  }
  if (!valid) {
    Count(Diag::kInvalidUtf8, at_);
  }
  if (control) {
    Count(Diag::kControlCharacter, at_);
  }
  if (stray || !valid || control) {
    token = arena_.emplace_back(RepairedString(raw));
  }
  at_ = quote + 1;
  return Read::kOk;
}

// Brackets must match; strings inside are only skipped.
TolerantParser::Read TolerantParser::SkipContainer(std::string_view& token) {
  const size_t begin = at_;
  std::string open;
  do {
    const char c = text_[at_];
    if (c == '"') {
      std::string_view inner;
      if (const Read read = ReadString(Place::kElement, inner); read != Read::kOk) {
        return read;
      }
      continue;
    }
    if (c == '{' || c == '[') {
      open += c == '{' ? '}' : ']';
      if (open.size() > kMaxDepth) {
        return Read::kDamaged;
      }
    } else if (c == '}' || c == ']') {
      if (open.back() != c) {
        return Read::kDamaged;
      }
      open.pop_back();
    }
    ++at_;
  } while (!open.empty() && !AtEnd());
  if (!open.empty()) {
    return Read::kIncomplete;
  }
  token = text_.substr(begin, at_ - begin);
  StringRepairs repairs;
  if (!IsValidUtf8(token)) {
    token = arena_.emplace_back(DecodeString(token, scratch_, repairs));
  }
  return Read::kOk;
}

// Whether the quote at `quote` ends its string, judged by the following text: an unescaped quote
// inside a name is hardly ever followed by text that must follow a value.
bool TolerantParser::ClosesString(size_t quote, Place place) const {
  const size_t next = SkipSpace(quote + 1);
  if (next >= text_.size()) {
    return true;
  }
  const char c = text_[next];
  if (place == Place::kKey) {
    return c == ':';
  }
  if (place == Place::kElement) {
    return c == ',' || c == ']' || c == '}' || c == ':';
  }
  if (is_strict_) {
    return c == ',' || c == '}';
  }
  const size_t after = SkipSpace(next + 1);
  const bool at_end = after >= text_.size();
  const bool of_event = place == Place::kEventValue;
  if (c == '}') {
    return at_end || text_[after] == ',' || text_[after] == (of_event ? ']' : '}');
  }
  if (c == ',') {
    return at_end || text_[after] == '}' || StartsMember(after, of_event);
  }
  return c == '"' && StartsMember(next, of_event);  // the comma is missing
}

// Whether `"key":` follows at `at`, with a key that an event may have if `of_event`.
bool TolerantParser::StartsMember(size_t at, bool of_event) const {
  if (at >= text_.size() || text_[at] != '"') {
    return false;
  }
  const size_t quote = text_.find('"', at + 1);
  if (quote == kNowhere) {
    return false;
  }
  const size_t colon = SkipSpace(quote + 1);
  if (colon >= text_.size() || text_[colon] != ':') {
    return false;
  }
  const std::string_view key = text_.substr(at + 1, quote - at - 1);
  std::string scratch;
  return !of_event || IsOtherEventKey(key) || LookUp(key, false, scratch) != Field::kCount;
}

// After the bracket that closes the array the text or the document ends, or a member follows; any
// other bracket is followed by more of its event.
bool TolerantParser::MayCloseArray(size_t bracket) const {
  const size_t next = SkipSpace(bracket + 1);
  if (next >= text_.size() || (text_[next] != '}' && text_[next] != ']')) {
    return true;
  }
  const size_t after = SkipSpace(next + 1);
  return after >= text_.size() ||
         (text_[after] != ',' && text_[after] != '}' && text_[after] != ']');
}

bool TolerantParser::Resynchronise(size_t event_start, Read why, ParseOutcome& outcome) {
  // More text may complete the event; it is damaged only if there is none.
  if (why == Read::kIncomplete && end_ == ChunkEnd::kMoreText) {
    outcome = {ParseStop::kIncomplete, event_start};
    return false;
  }
  const size_t next = FindEventStart(event_start + 1);
  const std::string_view lost = text_.substr(event_start, 60);
  if (next != kNowhere) {
    Count(Diag::kDroppedText, event_start, RepairedString(lost));
    needs_comma_ = false;
    at_ = next;
    return true;
  }
  const size_t array_end = FindArrayEnd(event_start);
  const bool is_incomplete = array_end == kNowhere && why == Read::kIncomplete;
  if (is_incomplete && end_ == ChunkEnd::kEndOfText) {
    Count(Diag::kTruncatedFile, event_start, "the text ends inside an event, which is lost");
  } else if (is_incomplete && end_ == ChunkEnd::kTooLong) {
    Count(Diag::kTooLongEvent, event_start, RepairedString(lost));
  } else {
    Count(Diag::kDroppedText, event_start, RepairedString(lost));
  }
  outcome = array_end == kNowhere ? ParseOutcome{ParseStop::kEnd, text_.size()}
                                  : ParseOutcome{ParseStop::kArrayEnd, array_end};
  return false;
}

// An event is recognised by its phase: objects in args may have a "name" as well, but no "ph".
bool TolerantParser::StartsEventAt(size_t brace) {
  const size_t key = SkipSpace(brace + 1);
  if (!StartsMember(key, true)) {
    return false;
  }
  if (text_.substr(key).starts_with("\"ph\"")) {
    return true;
  }
  at_ = brace;
  const bool is_event = ReadEvent() == Read::kOk && event_.Has(Field::kPhase);
  repairs_ = Diagnostics();  // the event is read again when its turn comes
  return is_event;
}

size_t TolerantParser::FindEventStart(size_t from) {
  for (size_t brace = text_.find('{', from); brace != kNowhere;
       brace = text_.find('{', brace + 1)) {
    if (StartsEventAt(brace)) {
      return brace;
    }
  }
  return kNowhere;
}

size_t TolerantParser::FindArrayEnd(size_t from) const {
  for (size_t at = text_.find(']', from); at != kNowhere; at = text_.find(']', at + 1)) {
    const size_t next = SkipSpace(at + 1);
    if (next >= text_.size()) {
      return at;
    }
    const size_t after = SkipSpace(next + 1);
    const bool closes_document = text_[next] == '}' && after >= text_.size();
    const bool newline_before = at > 0 && text_.substr(0, at).find_last_not_of(" \t") != kNowhere &&
                                text_[text_.find_last_not_of(" \t", at - 1)] == '\n';
    if (closes_document || (newline_before && text_[next] == ',' && StartsMember(after, false))) {
      return at;
    }
  }
  return kNowhere;
}

}  // namespace borescope::internal
