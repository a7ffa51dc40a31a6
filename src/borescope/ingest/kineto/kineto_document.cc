#include "borescope/ingest/kineto/kineto_document.h"

#include <algorithm>

#include "borescope/ingest/events/event_boundary.h"
#include "borescope/json/json_space.h"
#include "borescope/json/json_string.h"

namespace borescope::internal {
namespace {

// Members before the events that are longer than this cannot be distinguished from a file without
// events.
constexpr size_t kLongestHead = size_t{256} << 20;

// A bracket that closes the array too early costs reading a chunk again; more of them are not
// handled.
constexpr int kMaxBrackets = 64;

}  // namespace

bool DocumentReader::FillTo(size_t at) {
  while (at >= reader_.window().size()) {
    if (!reader_.Fill()) {
      return false;
    }
  }
  return true;
}

// `at` is on a quote; moves it past the closing one.
DocumentReader::Scan DocumentReader::ScanString(size_t& at) {
  for (++at; Ensure(at); ++at) {
    const char c = reader_.window()[at];
    if (at >= kLongestHead) {
      return Scan::kDamaged;
    }
    if (c == '\\') {
      ++at;
    } else if (c == '"') {
      ++at;
      return Scan::kOk;
    }
  }
  return Scan::kEnd;
}

// Whether a value scanned up to `at` may end there.
bool DocumentReader::EndsValue(size_t at) {
  return !Ensure(at) || IsSpace(reader_.window()[at]) ||
         std::string_view(",}]\"{[").find(reader_.window()[at]) != std::string_view::npos;
}

// Moves `at` past the value that starts there; only strings and brackets are considered.
DocumentReader::Scan DocumentReader::ScanValue(size_t& at) {
  std::string open;  // the closing brackets expected
  while (Ensure(at) && at < kLongestHead) {
    const char c = reader_.window()[at];
    if (c == '"') {
      if (const Scan scan = ScanString(at); scan != Scan::kOk) {
        return scan;
      }
    } else if (c == '{' || c == '[') {
      open += c == '{' ? '}' : ']';
      ++at;
    } else if (c == '}' || c == ']') {
      if (open.empty() || open.back() != c) {
        return Scan::kDamaged;
      }
      open.pop_back();
      ++at;
    } else {
      at = std::min(reader_.window().find_first_of("\"{}[],:", at + 1), reader_.window().size());
    }
    if (open.empty() && EndsValue(at)) {
      return Scan::kOk;
    }
  }
  return at >= kLongestHead ? Scan::kDamaged : Scan::kEnd;
}

bool DocumentReader::ReadKey(std::string& key) {
  size_t end = 0;
  if (reader_.SkipSpace() != '"' || ScanString(end) != Scan::kOk) {
    return false;
  }
  std::string scratch;
  StringRepairs repairs;
  key = DecodeString(reader_.window().substr(1, end - 2), scratch, repairs);
  reader_.Consume(end);
  if (reader_.SkipSpace() != ':') {
    return false;
  }
  reader_.Consume(1);
  return true;
}

// False if the members cannot be read any further.
bool DocumentReader::ReadOneMember() {
  std::string key;
  if (!ReadKey(key)) {
    return false;
  }
  NoteMember(key, members_);
  if (key == "traceEvents" && reader_.SkipSpace() == '[') {
    ReadEventArray();
    return true;
  }
  reader_.SkipSpace();
  size_t end = 0;
  if (ScanValue(end) != Scan::kOk) {
    return false;
  }
  const std::string_view value = reader_.window().substr(0, end);
  if (!ReadMember(key, value, members_)) {
    Count(Diag::kBadSyntax, "the member \"" + key.substr(0, 60) + "\" is not JSON");
  }
  reader_.Consume(end);
  return true;
}

void DocumentReader::ReadMembers() {
  for (;;) {
    const char c = reader_.SkipSpace();
    if (c == '}') {
      reader_.Consume(1);
      CheckTail();
      return;
    }
    if (c == 0) {
      CountTruncation("the text ends before the closing brace");
      members_.meta.text_is_cut = true;
      return;
    }
    if (c == ',') {
      reader_.Consume(1);
      continue;
    }
    if (!ReadOneMember() && !SkipToEvents() && !ResumeEvents()) {
      if (members_.has_events) {
        Count(Diag::kDroppedText, "members after the events cannot be read");
      }
      members_.meta.text_is_cut = true;
      return;
    }
  }
}

// Whether a colon and an opening bracket follow at `at`.
bool DocumentReader::OpensArray(size_t at) {
  for (const char wanted : {':', '['}) {
    while (Ensure(at) && IsSpace(reader_.window()[at])) {
      ++at;
    }
    if (!Ensure(at) || reader_.window()[at] != wanted) {
      return false;
    }
    ++at;
  }
  return true;
}

// Log lines and user metadata are not always valid JSON; the events after them can still be found.
bool DocumentReader::SkipToEvents() {
  constexpr std::string_view kKey = "\"traceEvents\"";
  if (members_.has_events) {
    return false;
  }
  size_t at = 0;
  for (;;) {
    at = reader_.window().find(kKey, at);
    if (at != std::string_view::npos) {
      if (OpensArray(at + kKey.size())) {
        break;
      }
      at += kKey.size();
      continue;
    }
    at = reader_.window().size() - std::min(reader_.window().size(), kKey.size());
    if (reader_.window().size() > kLongestHead || !reader_.Fill()) {
      return false;
    }
  }
  Count(Diag::kDroppedText, "members before the events cannot be read");
  reader_.Consume(at);
  return true;
}

void DocumentReader::ReadEventArray() {
  reader_.Consume(1);
  members_.has_events = true;
  Meta& meta = members_.meta;
  meta.events_begin_byte = reader_.byte();
  meta.events_end_byte = meta.events_begin_byte;
  meta.has_events_before_end = false;
  const uint64_t dropped = builder_.diagnostics().count(Diag::kDroppedText);
  ReadArrayBody();
  // A document with content but without events is not understood well enough to add events to it.
  if (!meta.has_events_before_end && !meta.text_is_cut &&
      builder_.diagnostics().count(Diag::kDroppedText) != dropped) {
    meta.events_end_byte = 0;
  }
}

void DocumentReader::ReadArrayBody() {
  Meta& meta = members_.meta;
  EventsEnd end;
  do {
    end = sink_ == nullptr ? ReadEvents(reader_, builder_, options_)
                           : ReadEventsInOrder(reader_, *sink_);
    facts_.Merge(end.facts);
    if (end.last_event_end_byte != 0) {
      meta.events_end_byte = end.last_event_end_byte;
      meta.has_events_before_end = true;
    }
  } while (end.array_closed && EventsGoOn());
  if (!end.array_closed) {
    meta.text_is_cut = true;
    CountTruncation("the text ends before the bracket that closes the events");
  }
}

// If the document cannot be read after its events, or continues after its end, an extra bracket may
// have ended the events early. False if no event follows.
bool DocumentReader::ResumeEvents() {
  constexpr size_t kInSight = size_t{64} << 10;
  constexpr size_t kEventHead = 4096;  // an event that starts with its name has its phase in here
  if (!members_.has_events || stray_brackets_ == kMaxBrackets) {
    return false;
  }
  Ensure(kInSight);
  const std::string_view text = reader_.window().substr(0, kInSight);
  for (size_t at = text.find('{'); at != std::string_view::npos; at = text.find('{', at + 1)) {
    if (StartsEvent(text.substr(at)) &&
        text.substr(at, kEventHead).find("\"ph\"") != std::string_view::npos) {
      ++stray_brackets_;
      Count(Diag::kDroppedText, "a bracket among the events, and the text behind it");
      reader_.Consume(at);
      ReadArrayBody();
      return true;
    }
  }
  return false;
}

// Whether another event follows the bracket that closed the array: then it did not close it.
bool DocumentReader::EventsGoOn() {
  constexpr size_t kEnough = 256;  // enough to recognise an event
  if (stray_brackets_ == kMaxBrackets) {
    return false;
  }
  size_t at = reader_.SkipSpace() == ',' ? 1 : 0;
  Ensure(at + kEnough);
  at = FindNonSpace(reader_.window(), at);
  if (!StartsEvent(reader_.window().substr(at))) {
    return false;
  }
  ++stray_brackets_;
  Count(Diag::kBadSyntax, "a bracket between two events");
  reader_.Consume(at);
  return true;
}

// Any number of missing brackets counts as one early end.
void DocumentReader::CountTruncation(std::string_view where) {
  if (builder_.diagnostics().count(Diag::kTruncatedFile) == 0) {
    Count(Diag::kTruncatedFile, where);
  }
}

void DocumentReader::CheckTail() {
  while (reader_.SkipSpace() != 0) {
    if (!ResumeEvents()) {
      Count(Diag::kTrailingData, "");
      return;
    }
  }
}

void DocumentReader::Read() {
  const char first = reader_.SkipSpace();
  members_.meta.text_is_object = first != '[';
  if (first == '[') {
    ReadEventArray();
    CheckTail();
  } else if (first == '{') {
    reader_.Consume(1);
    ReadMembers();
  }
}

}  // namespace borescope::internal
