#include "borescope/ingest/recording/recording_tail.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <tuple>

#include "borescope/base/stop.h"
#include "borescope/ingest/recording/log_reader.h"
#include "borescope/ingest/recording/recording.h"

namespace borescope::internal {
namespace {

using recording::ChunkHeader;
using recording::ChunkKind;
using recording::LogHeader;

constexpr uint64_t kNever = std::numeric_limits<uint64_t>::max();

// A place that a thread took and has not begun is looked at again, until the log is so much longer.
constexpr uint64_t kPatienceBytes = uint64_t{64} << 20U;

constexpr uint64_t kWord = sizeof(uint64_t);

// Times of damaged records are cut, so that nothing is later than the last one.
int64_t MomentOf(uint64_t ns) {
  constexpr uint64_t kLast = uint64_t{1} << 62U;
  return static_cast<int64_t>(std::min(ns, kLast));
}

}  // namespace

void LogTail::Add(LogChunk chunk) {
  const Writer writer{chunk.header.tid, chunk.header.kind};
  const auto [last, is_first] = last_of_.try_emplace(writer, chunk.offset);
  if (!is_first && last->second != chunk.offset) {
    // Its writer has left the one before. Places of a ring are no order: times are.
    const auto before = chunks_.find(last->second);
    const bool is_its =
        before != chunks_.end() &&
        Writer{before->second.chunk.header.tid, before->second.chunk.header.kind} == writer;
    if (!is_its) {
      last->second = chunk.offset;  // a ring has given its place to another writer
    } else if (before->second.chunk.header.first_ns <= chunk.header.first_ns) {
      before->second.next_ns = std::max<uint64_t>(1, chunk.header.first_ns);
      last->second = chunk.offset;
    }
  }
  chunks_.insert_or_assign(chunk.offset, Known{chunk});
}

// Chunks that have begun since. Those of a ring are looked at again from its begin: a place may
// have been given to another writer.
void LogTail::FindMore(const LogSource& source, uint64_t begin, uint64_t alignment, bool is_ring,
                       const TailLimits& limits) {
  uint64_t offset = is_ring ? begin : std::max(begin, next_);
  uint64_t hole = kNever;  // the first place that was taken and not begun, or is not all there
  // A header of which the file has not all yet is none.
  for (size_t turn = 0; offset + sizeof(ChunkHeader) <= source.size() && turn < limits.headers;
       ++turn) {
    CheckStopAt(turn);
    LogChunk chunk{offset, 0, {}};
    source.Read(offset, &chunk.header, sizeof(chunk.header));
    if (!IsLogChunk(chunk.header)) {
      hole = chunk.header.magic == 0 ? std::min(hole, offset) : hole;
      offset += alignment;
      continue;
    }
    offset = (offset + chunk.header.bytes + alignment - 1) / alignment * alignment;
    const auto known = chunks_.find(chunk.offset);
    if (chunk.header.magic == recording::kReusedChunkMagic) {
      if (known != chunks_.end()) chunks_.erase(known);
      continue;
    }
    chunk.bytes =
        static_cast<uint32_t>(std::min<uint64_t>(chunk.header.bytes, source.size() - chunk.offset));
    if (chunk.bytes < chunk.header.bytes) hole = std::min(hole, chunk.offset);  // more may come
    if (known != chunks_.end() &&
        known->second.chunk.header.generation == chunk.header.generation) {
      known->second.chunk = chunk;  // a ring says when it was left; a log that was cut may grow
    } else {
      Add(chunk);
    }
  }
  next_ = hole != kNever && offset - hole < kPatienceBytes ? hole : offset;
}

void LogTail::Keep(const LogRecord& record, const TailLimits& limits, Tail& tail) {
  if ((names_.size() + record.body.size() + 1) * kWord > limits.name_bytes) {
    tail.are_names_left_out = true;
    return;
  }
  names_.push_back(recording::PackHead(record.head));
  names_.insert(names_.end(), record.body.begin(), record.body.end());
}

// What a chunk holds beyond what was looked at before.
void LogTail::Scan(const LogSource& source, Known& known, const TailLimits& limits, Tail& tail) {
  const uint64_t all_words =
      (known.chunk.bytes - std::min<uint64_t>(known.chunk.bytes, sizeof(ChunkHeader))) / kWord;
  const uint64_t place = known.chunk.offset + sizeof(ChunkHeader) + known.scanned_words * kWord;
  uint64_t first = 0;
  if (known.scanned_words < all_words && source.Read(place, &first, kWord) == kWord && first != 0) {
    words_.resize(all_words - known.scanned_words);
    const size_t read = source.Read(place, words_.data(), words_.size() * kWord) / kWord;
    const std::span<const uint64_t> words(words_.data(), read);
    LogRecords records(words);
    for (LogRecord record; records.Next(record);) {
      known.scanned_words += record.head.words;
      if (record.body.size() < LeastWords(record.head)) continue;
      known.last_ns = std::max(known.last_ns, LastMomentOf(record));
      if (IsNameRecord(record)) Keep(record, limits, tail);
      if (record.type() == recording::RecordType::kEnd) {
        end_ = LogEnd{0, static_cast<recording::EndKind>(record.head.a),
                      static_cast<int64_t>(record.body[1])};
      }
    }
  }
  known.is_done = known.next_ns != 0 && source.failure().ok();
}

// The last chunks of all writers first, then the newest. Returns how many bytes were not come to.
uint64_t LogTail::ScanNew(const LogSource& source, const TailLimits& limits, Tail& tail) {
  std::vector<Known*> open;
  for (auto& [place, known] : chunks_) {
    if (!known.is_done) open.push_back(&known);
  }
  std::stable_sort(open.begin(), open.end(), [](const Known* a, const Known* b) {
    const auto order = [](const Known& one) { return one.next_ns == 0 ? kNever : one.next_ns; };
    return order(*a) > order(*b);
  });
  uint64_t looked_at = 0;
  uint64_t rest = 0;
  for (Known* known : open) {
    if (looked_at >= limits.scan_bytes) {
      rest += known->chunk.bytes;
      // Later than all it may hold, which the next chunk of its writer follows.
      tail.complete_from_ns =
          std::max(tail.complete_from_ns, MomentOf(known->next_ns == 0 ? kNever : known->next_ns));
      continue;
    }
    const uint64_t before = known->scanned_words;
    Scan(source, *known, limits, tail);
    looked_at += (known->scanned_words - before) * kWord;
  }
  tail.new_bytes += looked_at;
  return rest;
}

std::vector<LogChunk> LogTail::Update(const LogSource& source, const LogHeader& header,
                                      const TailLimits& limits, uint64_t from_ns, Tail& tail) {
  const bool is_ring = (header.flags & recording::kIsRing) != 0;
  const uint64_t alignment = ChunkAlignmentOf(header);
  const uint64_t begin =
      (std::max<uint64_t>(header.header_bytes, 1) + alignment - 1) / alignment * alignment;
  FindMore(source, begin, alignment, is_ring, limits);
  tail.unread_bytes += ScanNew(source, limits, tail);

  const auto leave_out = [&](const Known& known) {
    tail.complete_from_ns = std::max(tail.complete_from_ns, MomentOf(known.last_ns) + 1);
  };
  std::vector<LogChunk> all;
  all.reserve(chunks_.size());
  for (const auto& [place, known] : chunks_) all.push_back(known.chunk);
  const uint64_t overwritten_until = is_ring ? OverwrittenUntil(source, all) : 0;
  std::vector<const Known*> wanted;
  for (const auto& [place, known] : chunks_) {
    const ChunkHeader& of = known.chunk.header;
    tail.last_ns = std::max(tail.last_ns, MomentOf(known.last_ns));
    const bool may_be_overwritten = of.kind != ChunkKind::kStrings && of.released_ns != 0 &&
                                    of.released_ns <= overwritten_until;
    if (known.last_ns >= from_ns && known.last_ns != 0 && !may_be_overwritten) {
      wanted.push_back(&known);
    } else if (known.last_ns != 0) {
      leave_out(known);
    }
  }
  std::stable_sort(wanted.begin(), wanted.end(),
                   [](const Known* a, const Known* b) { return a->last_ns > b->last_ns; });
  std::vector<LogChunk> chosen;
  uint64_t bytes = 0;
  for (const Known* known : wanted) {
    bytes += sizeof(ChunkHeader) + known->scanned_words * kWord;
    if (bytes > limits.window_bytes) {
      leave_out(*known);
      continue;
    }
    chosen.push_back(known->chunk);
    // Without what has come since it was looked at, whose names are not known.
    chosen.back().bytes = static_cast<uint32_t>(sizeof(ChunkHeader) + known->scanned_words * kWord);
  }
  SortChunks(chosen);
  return chosen;
}

Result<Tail> RecordingTail::Read(std::span<const std::string> paths, int64_t from_ns,
                                 const LoadOptions& options) {
  Tail tail;
  std::vector<RecordedLog> parts;
  std::vector<Error> errors;
  for (const std::string& path : paths) {
    Result<RecordedLog> part = RecordedLog::Open(path);
    if (!part.ok()) {
      errors.push_back(part.error());
      continue;
    }
    LogTail& log = logs_[path];
    tail.log_bytes += part->source.size();
    part->chunks = log.Update(part->source, part->header, limits_,
                              static_cast<uint64_t>(std::max<int64_t>(0, from_ns)), tail);
    part->names = log.names();
    if (!part->source.failure().ok()) {
      before_ns_ = -1;  // what was looked at must be loaded by the next reading
      return InFile(path, part->source.failure().error());
    }
    if (log.end().has_value()) {
      tail.ends.push_back(*log.end());
      tail.ends.back().pid = part->header.pid;
    }
    parts.push_back(std::move(*part));
  }
  if (parts.empty()) {
    before_ns_ = -1;
    return errors.front();
  }
  if (!errors.empty()) {
    tail.unreadable = std::move(errors);
    tail.complete_from_ns = MomentOf(kNever);
  }
  if (tail.new_bytes == 0 && from_ns == before_ns_) {
    return tail;
  }
  before_ns_ = -1;  // unless all that was looked at is loaded, the next reading does it
  BS_ASSIGN(LoadedParts loaded, LoadRecordingParts(parts, paths.front(), options));
  before_ns_ = from_ns;
  tail.trace = std::move(loaded.trace);
  tail.open_begins = std::move(loaded.open_begins);
  return tail;
}

}  // namespace borescope::internal
