#include "borescope/output/overlay/overlay_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "borescope/base/check.h"
#include "borescope/json/json_string.h"
#include "borescope/output/json_writer.h"
#include "borescope/output/overlay/event_text.h"
#include "borescope/output/sink/sink.h"

namespace borescope::internal {

namespace {

constexpr std::string_view kSpace = " \n\t\r";

size_t SkipSpace(std::string_view text, size_t at) {
  return std::min(text.find_first_not_of(kSpace, at), text.size());
}

// The position after the string whose opening quotation mark is at `at`.
size_t SkipString(std::string_view text, size_t at) {
  return std::min(FindClosingQuote(text, at + 1) + 1, text.size());
}

// The position after the value that starts at `at`: that of the comma or bracket that follows.
// Whatever precedes those is taken for the value: an event that was repaired when it was read may
// have a text with quotation marks in the middle, which ends the walk of a JsonCursor.
size_t SkipValue(std::string_view text, size_t at) {
  size_t depth = 0;
  while (at < text.size()) {
    const char c = text[at];
    if (c == '"') {
      at = SkipString(text, at);
      continue;
    }
    const bool closes = c == '}' || c == ']';
    if (depth == 0 && (closes || c == ',')) {
      return at;
    }
    depth += c == '{' || c == '[' ? 1 : 0;
    depth -= closes ? 1 : 0;
    ++at;
  }
  return at;
}

// Adds a member behind the others. REQUIRES: as FindMember.
std::string WithMember(std::string_view object, std::string_view member) {
  const size_t end = object.find_last_not_of(kSpace, object.size() - 2) + 1;
  std::string result(object.substr(0, end));
  result.append(end == 1 ? "" : ", ").append(member).append(object.substr(end));
  return result;
}

}  // namespace

std::optional<std::string_view> FindMember(std::string_view object, std::string_view key) {
  std::optional<std::string_view> found;
  size_t at = SkipSpace(object, 1);
  while (at < object.size() && object[at] == '"') {
    const size_t key_end = SkipString(object, at);
    const std::string_view name = object.substr(at + 1, key_end - at - 2);
    at = SkipSpace(object, key_end);
    if (at == object.size() || object[at] != ':') {
      break;
    }
    const size_t begin = SkipSpace(object, at + 1);
    const size_t end = SkipValue(object, begin);
    if (name == key) {
      const std::string_view value = object.substr(begin, end - begin);
      found = value.substr(0, value.find_last_not_of(kSpace) + 1);
    }
    at = SkipSpace(object, std::min(end + 1, object.size()));
  }
  return found;
}

std::string MarkedCritical(std::string_view event) {
  const std::optional<std::string_view> args = FindMember(event, "args");
  if (!args.has_value()) {
    return WithMember(event, R"("args": {"critical": 1})");
  }
  if (args->size() < 2 || args->front() != '{' || args->back() != '}') {
    return WithMember(event, R"("critical": 1)");
  }
  const auto begin = static_cast<size_t>(args->data() - event.data());
  std::string result(event.substr(0, begin));
  result.append(WithMember(*args, R"("critical": 1)")).append(event.substr(begin + args->size()));
  return result;
}

namespace {

constexpr std::string_view kSeparators = ", \n\t\r";

bool IsQuoted(std::string_view token, std::string_view text) {
  return token.size() == text.size() + 2 && token.front() == '"' &&
         token.substr(1, text.size()) == text && token.back() == '"';
}

}  // namespace

Result<void> EventListSink::Write(std::string_view text) {
  while (!text.empty() && status_.ok()) {
    text.remove_prefix(depth_ == 0 ? CopyGap(text) : CopyEvent(text));
  }
  return status_;
}

// Keeps the text up to the next event; says how much it was.
size_t EventListSink::CopyGap(std::string_view text) {
  const size_t brace = std::min(text.find('{'), text.size());
  gap_.append(text.substr(0, brace));
  if (brace == text.size()) {
    return brace;
  }
  StartEvent();
  event_ += '{';
  depth_ = 1;
  return brace + 1;
}

void EventListSink::StartEvent() {
  is_marked_ = next_mark_ < marks_.critical.size() && marks_.critical[next_mark_] == position_;
  next_mark_ += is_marked_ ? 1 : 0;
  ++position_;
}

// Keeps the text up to the end of the event; says how much it was.
size_t EventListSink::CopyEvent(std::string_view text) {
  size_t at = 0;
  while (at < text.size() && depth_ != 0) {
    const char c = text[at++];
    if (in_string_) {
      in_string_ = after_backslash_ || c != '"';
      after_backslash_ = !after_backslash_ && c == '\\';
    } else {
      in_string_ = c == '"';
      depth_ += c == '{' || c == '[' ? 1 : 0;
      depth_ -= c == '}' || c == ']' ? 1 : 0;
    }
  }
  event_.append(text.substr(0, at));
  if (depth_ == 0) {
    status_ = EndEvent();
  }
  return at;
}

Result<void> EventListSink::EndEvent() {
  if (!IsLeftOut()) {
    BS_TRY(PutGap());
    BS_TRY(target_.Write(is_marked_ ? MarkedCritical(event_) : event_));
    has_events_ = true;
  }
  gap_.clear();
  event_.clear();
  return {};
}

bool EventListSink::IsLeftOut() const {
  if (is_marked_ || !marks_.only_critical) {
    return false;
  }
  const std::optional<std::string_view> phase = FindMember(event_, "ph");
  if (!phase.has_value() || !IsQuoted(*phase, "X")) {
    return false;
  }
  const std::optional<std::string_view> category = FindMember(event_, "cat");
  return !category.has_value() ||
         std::none_of(marks_.kept_categories.begin(), marks_.kept_categories.end(),
                      [&](const std::string& kept) { return IsQuoted(*category, kept); });
}

// The first event that stays may not have been the first one: no comma belongs before it.
Result<void> EventListSink::PutGap() {
  if (!has_events_ && gap_.find_first_not_of(kSeparators) == std::string::npos) {
    std::erase(gap_, ',');
  }
  return target_.Write(gap_);
}

namespace {

constexpr size_t kReadPieceBytes = size_t{1} << 20;

std::string Quoted(std::string_view text) {
  std::string json;
  AppendJsonString(json, text);
  return json;
}

// Draws the points of a counter. What is the same for all of them is made once.
void Draw(const OverlayCounter& counter, EventText& text) {
  const std::string head =
      fmt::format(R"({{"ph":"C","cat":"borescope","name":{},"pid":{},"tid":0,"ts":)",
                  Quoted(counter.name), counter.pid);
  const std::string args = fmt::format(R"(,"args":{{{}:)", Quoted(counter.series));
  for (const OverlayCounter::Point& point : counter.points) {
    BS_DCHECK(std::isfinite(point.value));
    text.StartEvent();
    text.Put(head);
    text.PutTime(point.ts_ns);
    text.Put(args);
    text.PutNumber(point.value);
    text.Put("}}");
  }
}

void Draw(const OverlayTrack& track, int64_t thread, EventText& text) {
  text.StartEvent();
  text.Put(
      fmt::format(R"({{"ph":"M","name":"thread_name","pid":{},"tid":{},"args":{{"name":{}}}}})",
                  track.pid, thread, Quoted(track.name)));
  std::vector<std::string> heads;
  heads.reserve(track.names.size());
  for (const std::string& name : track.names) {
    heads.push_back(fmt::format(R"({{"ph":"X","cat":"borescope","name":{},"pid":{},"tid":{},"ts":)",
                                Quoted(name), track.pid, thread));
  }
  for (const OverlaySpan& span : track.spans) {
    text.StartEvent();
    text.Put(heads[span.name]);
    text.PutTime(span.ts_ns);
    text.Put(",\"dur\":");
    text.PutTime(span.dur_ns);
    text.Put("}");
  }
}

// Flow events are tied to the event around their time; "bp":"e" says so of the end.
void DrawEnd(const OverlayArrow::End& end, bool is_start, EventText& text) {
  text.Put(is_start ? R"("ph":"s","pid":)" : R"("ph":"f","bp":"e","pid":)");
  text.PutInt(end.pid);
  text.Put(",\"tid\":");
  text.PutInt(end.tid);
  text.Put(",\"ts\":");
  text.PutTime(end.ts_ns);
}

void Draw(const OverlayArrows& arrows, EventText& text) {
  const std::string name = Quoted(arrows.name);
  const std::string head = fmt::format(R"({{"name":{},"cat":{},"id":)", name, name);
  std::vector<std::string> types;
  types.reserve(arrows.types.size());
  for (const std::string& type : arrows.types) {
    types.push_back(Quoted(type));
  }
  uint64_t id = 0;
  for (const OverlayArrow& arrow : arrows.arrows) {
    BS_DCHECK(std::isfinite(arrow.weight_us));
    for (const bool is_start : {true, false}) {
      text.StartEvent();
      text.Put(head);
      text.PutUint(id);
      text.Put(",");
      DrawEnd(is_start ? arrow.from : arrow.to, is_start, text);
      text.Put(",\"args\":{\"weight\":");
      text.PutNumber(arrow.weight_us);
      text.Put(arrow.critical ? ",\"critical\":true,\"type\":" : ",\"critical\":false,\"type\":");
      text.Put(types[arrow.type]);
      text.Put("}}");
    }
    ++id;
  }
}

Result<void> WriteEvents(const Trace& trace, const Overlay& overlay, bool comma_first, Sink& sink) {
  EventText text(sink, comma_first);
  for (const OverlayCounter& counter : overlay.counters) {
    Draw(counter, text);
  }
  OwnThreads threads(trace.tracks());
  for (const OverlayTrack& track : overlay.tracks) {
    Draw(track, threads.Next(), text);
  }
  Draw(overlay.arrows, text);
  return text.Finish();
}

// Hands on the text of a source in large pieces.
class TextCopy {
 public:
  // `name` is that of the source in messages.
  TextCopy(ByteSource& source, std::string_view name)
      : source_(source), name_(name), piece_(kReadPieceBytes) {}

  // Copies `most` bytes, or up to the end of the source; says how many there were.
  Result<uint64_t> Copy(uint64_t most, Sink& sink) {
    uint64_t copied = 0;
    while (copied < most) {
      const auto wanted = static_cast<size_t>(std::min<uint64_t>(piece_.size(), most - copied));
      const Result<size_t> size = source_.Read(piece_.data(), wanted);
      if (!size.ok()) {
        return InFile(std::string(name_), size.error());
      }
      if (*size == 0) {
        break;
      }
      BS_TRY(sink.Write({piece_.data(), *size}));
      copied += *size;
    }
    return copied;
  }

 private:
  ByteSource& source_;
  std::string_view name_;
  std::vector<char> piece_;
};

Error Changed(const Meta& meta) {
  return {ErrorCode::kIo, "changed while it was read", "try again", meta.file};
}

// The text before and of the events. Says whether an event was written.
Result<bool> WriteRecorded(TextCopy& text, const Meta& meta, const OverlayMarks& marks,
                           Sink& sink) {
  const uint64_t plain = marks.empty() ? meta.events_end_byte : meta.events_begin_byte;
  BS_ASSIGN(const uint64_t copied, text.Copy(plain, sink));
  EventListSink list(sink, marks);
  BS_ASSIGN(const uint64_t listed, text.Copy(meta.events_end_byte - plain, list));
  if (copied + listed < meta.events_end_byte || (!marks.empty() && !list.is_complete())) {
    return Changed(meta);
  }
  return marks.empty() ? meta.has_events_before_end : list.has_events();
}

Result<void> WriteCopy(ByteSource& source, const Trace& trace, const Overlay& overlay, Sink& sink) {
  const Meta& meta = trace.meta();
  TextCopy text(source, meta.file);
  BS_ASSIGN(const bool has_events, WriteRecorded(text, meta, overlay.marks, sink));
  BS_TRY(WriteEvents(trace, overlay, has_events, sink));
  if (meta.text_is_cut) {
    return sink.Write(meta.text_is_object ? "\n]}\n" : "\n]\n");
  }
  BS_TRY(text.Copy(std::numeric_limits<uint64_t>::max(), sink));
  return {};
}

}  // namespace

Result<std::unique_ptr<FileSink>> DraftOverlayFile(ByteSource& source, const Trace& trace,
                                                   const Overlay& overlay,
                                                   const std::string& path) {
  const Meta& meta = trace.meta();
  const bool is_placed =
      meta.events_end_byte != 0 && (overlay.marks.empty() || meta.events_begin_byte != 0);
  if (!is_placed) {
    return Error{ErrorCode::kMissingData,
                 "no list of trace events, to which `overlay` could add",
                 {},
                 meta.file};
  }
  BS_ASSIGN(std::unique_ptr<FileSink> file, FileSink::Open(path));
  BS_TRY(WriteMaybeGzip(path, *file,
                        [&](Sink& sink) { return WriteCopy(source, trace, overlay, sink); }));
  BS_TRY(file->Close());
  return file;
}

}  // namespace borescope::internal
