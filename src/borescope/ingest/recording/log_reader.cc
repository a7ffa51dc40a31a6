#include "borescope/ingest/recording/log_reader.h"

#include <algorithm>
#include <string>

#include "borescope/base/stop.h"

namespace borescope::internal {
namespace {

using recording::DropSource;
using recording::RecordType;
using recording::StateKind;

// Whether a state means that something is missing which the program did.
bool IsGap(StateKind kind) {
  switch (kind) {
    case StateKind::kDiskFull:
    case StateKind::kLimitReached:
    case StateKind::kBackendMissing:
    case StateKind::kGap:
    case StateKind::kRingOverwrote:
      return true;
    case StateKind::kStarted:
    case StateKind::kStopped:
    case StateKind::kSlow:
      break;
  }
  return false;
}

// A ring says from its beginning how many chunks it has overwritten.
bool HasOverwritten(const LogRecord& state) {
  constexpr size_t kChunks = 2;
  return state.body.size() > kChunks && state.body[kChunks] != 0;
}

std::string_view StateText(StateKind kind) {
  switch (kind) {
    case StateKind::kDiskFull:
      return "the disk was full";
    case StateKind::kLimitReached:
      return "the limit of bytes was reached";
    case StateKind::kBackendMissing:
      return "a source could not be recorded";
    case StateKind::kGap:
      return "a source was off";
    case StateKind::kRingOverwrote:
      return "the log is a ring, which holds the last part";
    default:
      return "";
  }
}

}  // namespace

LogReader::LogReader(RecordingTrace& trace, const LogSource& source,
                     const recording::LogHeader& header, LogProcess process)
    : trace_(trace),
      source_(source),
      header_(header),
      process_(process),
      is_ring_((header.flags & recording::kIsRing) != 0),
      names_(trace, process_),
      threads_(trace, process_, names_),
      devices_(trace, process_, names_) {}

void LogReader::Read(const std::function<void(uint64_t)>& read) {
  chunks_ = FindChunks(source_, header_, trace_.diagnostics());
  if (is_ring_) {
    LeaveOutOverwritten();
  }
  ReadNames();
  uint64_t done = 0;
  for (const LogChunk& chunk : chunks_) {
    CheckStop();
    ReadEvents(chunk);
    read(done += chunk.bytes);
  }
  threads_.Finish();
  devices_.Finish();
}

// What a ring was about to overwrite, of which it may have overwritten what came next already.
void LogReader::LeaveOutOverwritten() {
  uint64_t until = 0;
  for (const LogChunk& chunk : chunks_) {
    if (chunk.header.kind != recording::ChunkKind::kStrings) continue;
    LogRecords records(buffer_.Read(source_, chunk, is_ring_));
    for (LogRecord record; records.Next(record);) {
      const bool is_note = record.type() == RecordType::kState &&
                           record.head.a == static_cast<uint32_t>(StateKind::kRingOverwrote);
      if (is_note && HasOverwritten(record)) until = std::max(until, record.body[0]);
    }
  }
  std::erase_if(chunks_, [until](const LogChunk& chunk) {
    return chunk.header.kind != recording::ChunkKind::kStrings && chunk.header.released_ns != 0 &&
           chunk.header.released_ns <= until;
  });
}

// Nothing is counted here: all records are read once more.
void LogReader::ReadNames() {
  for (const LogChunk& chunk : chunks_) {
    CheckStop();
    names_.AddChunk(chunk.header);
    LogRecords records(buffer_.Read(source_, chunk, is_ring_));
    for (LogRecord record; records.Next(record);) {
      if (record.body.size() >= LeastWords(record.head)) {
        names_.Add(record);
      }
    }
  }
  names_.Finish();
}

bool LogReader::IsUsable(const LogRecord& record) {
  const size_t least = LeastWords(record.head);
  if (least == kUnknownRecord) {
    trace_.diagnostics().Count(Diag::kUnreadRows, Diagnostics::kNoByte,
                               "records of type " + std::to_string(record.head.type));
  } else if (record.body.size() < least) {
    trace_.diagnostics().Count(Diag::kBadFieldType, Diagnostics::kNoByte,
                               "a record that is too short");
  }
  return record.body.size() >= least;
}

void LogReader::ReadEvents(const LogChunk& chunk) {
  threads_.BeginChunk(chunk.header.tid);
  LogRecords records(buffer_.Read(source_, chunk, is_ring_));
  for (LogRecord record; records.Next(record);) {
    if (IsUsable(record)) {
      AddEvent(record);
    }
  }
  if (records.is_torn()) {
    trace_.diagnostics().Count(Diag::kTornChunk, chunk.offset, "a record that cannot be");
  }
}

void LogReader::AddEvent(const LogRecord& record) {
  if (threads_.Add(record) || devices_.Add(record)) {
    return;
  }
  if (record.type() == RecordType::kState) {
    AddState(record);
  } else if (record.type() == RecordType::kDropped) {
    AddDropped(record);
  }
}

void LogReader::AddState(const LogRecord& record) {
  const auto kind = static_cast<StateKind>(record.head.a);
  trace_.Count('i', trace_.Category("state"));
  if (kind == StateKind::kRingOverwrote && !HasOverwritten(record)) {
    return;
  }
  if (IsGap(kind)) {
    const std::string_view text =
        kind == StateKind::kRingOverwrote ? std::string_view() : record.Text(1);
    trace_.diagnostics().Count(
        Diag::kRecordingGap, Diagnostics::kNoByte,
        trace_.data().strings.Get(trace_.Intern(text.empty() ? StateText(kind) : text)));
  }
}

void LogReader::AddDropped(const LogRecord& record) {
  const uint64_t count = record.body[0];
  if (static_cast<DropSource>(record.head.a) == DropSource::kUnmatched) {
    trace_.diagnostics().CountMany(Diag::kMissingTimestamp, count, Diagnostics::kNoByte,
                                   "a range that began before the recording");
    return;
  }
  trace_.diagnostics().CountMany(Diag::kDroppedRecords, count, Diagnostics::kNoByte,
                                 static_cast<DropSource>(record.head.a) == DropSource::kHost
                                     ? "records of threads"
                                     : "records of the vendor's library");
}

}  // namespace borescope::internal
