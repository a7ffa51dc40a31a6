#include "borescope/output/overlay_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "borescope/base/check.h"
#include "borescope/output/gzip_sink.h"
#include "borescope/output/json_writer.h"
#include "borescope/output/sink.h"

namespace borescope {
namespace {

constexpr size_t kPieceBytes = size_t{1} << 20;
// Above the thread ids of every system and below 2^31, beyond which viewers stop reading numbers.
constexpr int64_t kFirstOwnThread = 1'000'000'000;

std::string Quoted(std::string_view text) {
  std::string json;
  AppendJsonString(json, text);
  return json;
}

// Thread numbers that no recorded track has.
class OwnThreads {
 public:
  explicit OwnThreads(const Tracks& tracks) : recorded_(tracks.tid) {
    std::sort(recorded_.begin(), recorded_.end());
  }

  int64_t Next() {
    while (std::binary_search(recorded_.begin(), recorded_.end(), next_)) {
      ++next_;
    }
    return next_++;
  }

 private:
  std::vector<int64_t> recorded_;
  int64_t next_ = kFirstOwnThread;
};

// Writes the events of an overlay, each behind a comma but perhaps the first. What is the same for
// all points of a counter is made once. Failures of the sink are kept; Finish tells.
class EventWriter {
 public:
  EventWriter(Sink& sink, bool comma_first) : sink_(sink), needs_comma_(comma_first) {
    buffer_.reserve(kPieceBytes + kPieceBytes / 8);
  }

  void Add(const OverlayCounter& counter);
  void Add(const OverlayTrack& track, int64_t thread);
  Result<void> Finish() {
    Flush();
    return status_;
  }

 private:
  void Put(std::string_view text) { buffer_.append(text); }
  void PutTime(int64_t ns);
  void PutNumber(double value);
  void StartEvent();
  void Flush();

  Sink& sink_;
  bool needs_comma_;
  fmt::memory_buffer buffer_;
  Result<void> status_;
};

// Microseconds with three decimals, as profilers write them: exact, without a double.
void EventWriter::PutTime(int64_t ns) {
  const uint64_t magnitude = ns < 0 ? 0 - static_cast<uint64_t>(ns) : static_cast<uint64_t>(ns);
  const auto fraction = static_cast<unsigned>(magnitude % 1000);
  const char decimals[] = {'.', static_cast<char>('0' + fraction / 100),
                           static_cast<char>('0' + fraction / 10 % 10),
                           static_cast<char>('0' + fraction % 10)};
  Put(ns < 0 ? "-" : "");
  const fmt::format_int whole(magnitude / 1000);
  Put({whole.data(), whole.size()});
  Put({decimals, sizeof(decimals)});
}

void EventWriter::PutNumber(double value) {
  BS_DCHECK(std::isfinite(value));
  constexpr double kExact = 9007199254740992.0;  // 2^53
  if (std::abs(value) < kExact && value == std::trunc(value)) {
    const fmt::format_int whole(static_cast<int64_t>(value));
    Put({whole.data(), whole.size()});
  } else {
    fmt::format_to(std::back_inserter(buffer_), "{}", value);
  }
}

void EventWriter::StartEvent() {
  if (buffer_.size() >= kPieceBytes) {
    Flush();
  }
  Put(std::exchange(needs_comma_, true) ? ",\n" : "\n");
}

void EventWriter::Flush() {
  if (status_.ok()) {
    status_ = sink_.Write({buffer_.data(), buffer_.size()});
  }
  buffer_.clear();
}

void EventWriter::Add(const OverlayCounter& counter) {
  const std::string head =
      fmt::format(R"({{"ph":"C","cat":"borescope","name":{},"pid":{},"tid":0,"ts":)",
                  Quoted(counter.name), counter.pid);
  const std::string args = fmt::format(R"(,"args":{{{}:)", Quoted(counter.series));
  for (const OverlayCounter::Point& point : counter.points) {
    StartEvent();
    Put(head);
    PutTime(point.ts_ns);
    Put(args);
    PutNumber(point.value);
    Put("}}");
  }
}

void EventWriter::Add(const OverlayTrack& track, int64_t thread) {
  StartEvent();
  fmt::format_to(std::back_inserter(buffer_),
                 R"({{"ph":"M","name":"thread_name","pid":{},"tid":{},"args":{{"name":{}}}}})",
                 track.pid, thread, Quoted(track.name));
  std::vector<std::string> heads;
  heads.reserve(track.names.size());
  for (const std::string& name : track.names) {
    heads.push_back(fmt::format(R"({{"ph":"X","cat":"borescope","name":{},"pid":{},"tid":{},"ts":)",
                                Quoted(name), track.pid, thread));
  }
  for (const OverlaySpan& span : track.spans) {
    StartEvent();
    Put(heads[span.name]);
    PutTime(span.ts_ns);
    Put(",\"dur\":");
    PutTime(span.dur_ns);
    Put("}");
  }
}

Result<void> WriteEvents(const Trace& trace, const Overlay& overlay, Sink& sink) {
  EventWriter writer(sink, trace.meta().has_events_before_end);
  for (const OverlayCounter& counter : overlay.counters) {
    writer.Add(counter);
  }
  OwnThreads threads(trace.tracks());
  for (const OverlayTrack& track : overlay.tracks) {
    writer.Add(track, threads.Next());
  }
  return writer.Finish();
}

// Hands on the text of a source in large pieces.
class TextCopy {
 public:
  // `name` stands for the source in messages.
  TextCopy(ByteSource& source, std::string_view name, Sink& sink)
      : source_(source), name_(name), sink_(sink), piece_(kPieceBytes) {}

  // Copies `most` bytes, or up to the end of the source; says how many there were.
  Result<uint64_t> Copy(uint64_t most) {
    uint64_t copied = 0;
    while (copied < most) {
      const auto wanted = static_cast<size_t>(std::min<uint64_t>(piece_.size(), most - copied));
      const Result<size_t> size = source_.Read(piece_.data(), wanted);
      if (!size.ok()) {
        return Error{size.error().code, std::string(name_) + ": " + size.error().message};
      }
      if (*size == 0) {
        break;
      }
      BS_TRY(sink_.Write({piece_.data(), *size}));
      copied += *size;
    }
    return copied;
  }

 private:
  ByteSource& source_;
  std::string_view name_;
  Sink& sink_;
  std::vector<char> piece_;
};

Result<void> WriteCopy(ByteSource& source, const Trace& trace, const Overlay& overlay, Sink& sink) {
  const Meta& meta = trace.meta();
  TextCopy text(source, meta.file, sink);
  BS_ASSIGN(const uint64_t copied, text.Copy(meta.events_end_byte));
  if (copied < meta.events_end_byte) {
    return Error{ErrorCode::kIo, meta.file + ": changed while it was read; try again"};
  }
  BS_TRY(WriteEvents(trace, overlay, sink));
  if (meta.text_is_cut) {
    return sink.Write(meta.text_is_object ? "\n]}\n" : "\n]\n");
  }
  BS_TRY(text.Copy(std::numeric_limits<uint64_t>::max()));
  return {};
}

}  // namespace

Result<std::unique_ptr<FileSink>> DraftOverlayFile(ByteSource& source, const Trace& trace,
                                                   const Overlay& overlay,
                                                   const std::string& path) {
  if (trace.meta().events_end_byte == 0) {
    return Error{ErrorCode::kMissingData,
                 trace.meta().file + ": no list of trace events, to which --overlay could add"};
  }
  BS_ASSIGN(std::unique_ptr<FileSink> file, FileSink::Open(path));
  if (path.ends_with(".gz")) {
    GzipSink gzip(*file);
    BS_TRY(WriteCopy(source, trace, overlay, gzip));
    BS_TRY(gzip.Finish());
  } else {
    BS_TRY(WriteCopy(source, trace, overlay, *file));
  }
  BS_TRY(file->Close());
  return file;
}

}  // namespace borescope
