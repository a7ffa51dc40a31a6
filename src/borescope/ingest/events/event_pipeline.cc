#include "borescope/ingest/events/event_pipeline.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <vector>

#include "borescope/base/parallel.h"
#include "borescope/ingest/events/fast_parser.h"
#include "borescope/ingest/events/tolerant_parser.h"

namespace borescope::internal {
namespace {

struct ParsedChunk {
  TextChunk chunk;
  ParseOutcome outcome;
  TracePart part;
  KinetoFacts facts;
};

// The last character of `text` that is not white space, or 0.
char LastCharacter(std::string_view text) {
  const size_t last = text.find_last_not_of(" \n\t\r");
  return last == std::string_view::npos ? '\0' : text[last];
}

class ChunkParser {
 public:
  // With `force`, an event that does not end in the chunk counts as damaged.
  ParsedChunk Parse(TextChunk chunk, bool force) {
    KinetoEvents events(rows_);
    ParsedChunk parsed;
    parsed.outcome = fast_.Parse(chunk.text(), chunk.byte, events);
    const ChunkEnd end = chunk.is_last ? ChunkEnd::kEndOfText
                         : force       ? ChunkEnd::kTooLong
                                       : ChunkEnd::kMoreText;
    const ParseStop stop = parsed.outcome.stop;
    if (stop == ParseStop::kDamaged ||
        (stop == ParseStop::kIncomplete && end != ChunkEnd::kMoreText)) {
      const size_t from = parsed.outcome.position;
      const size_t events_end = parsed.outcome.events_end;
      const bool after_event = LastCharacter(chunk.text().substr(0, from)) == '}';
      parsed.outcome =
          tolerant_.Parse(chunk.text().substr(from), chunk.byte + from, after_event, end, events);
      parsed.outcome.position += from;
      parsed.outcome.events_end =
          parsed.outcome.events_end == 0 ? events_end : from + parsed.outcome.events_end;
    }
    parsed.facts = events.facts();
    parsed.part = events.TakePart();
    rows_ = parsed.part.row_counts();
    parsed.chunk = std::move(chunk);
    return parsed;
  }

 private:
  FastParser fast_;
  TolerantParser tolerant_;
  TracePart::RowCounts rows_{};  // of the last chunk: the next one is mostly like it
};

// One run of the pipeline, from the reader's position to the first chunk that does not end between
// two events.
class Pipeline {
 public:
  Pipeline(TextReader& reader, TraceBuilder& builder) : reader_(reader), builder_(builder) {}

  // Parses chunks of the usual size until the text ends or a chunk does not end between two events.
  void Run(int threads) {
    in_flight_limit_ = static_cast<uint64_t>(threads) * 2 + 1;
    slots_.resize(in_flight_limit_);
    ParallelFor(static_cast<size_t>(threads), threads, [&](size_t) { Work(); });
    GiveBack();
  }

  // Parses one chunk of about `target` bytes, reading nothing ahead: the memory for an unusually
  // long event must not be needed several times. With `force`, an event that does not end in the
  // chunk counts as damaged.
  void RunOne(size_t target, bool force) {
    slots_.resize(in_flight_limit_);
    TextChunk chunk = reader_.NextChunk(target);
    exhausted_ = chunk.is_last;
    Slot(taken_++) = ChunkParser().Parse(std::move(chunk), force);
    JoinNext();
    GiveBack();
  }

  // How parsing stopped; the text from there on was given back to the reader.
  const ParseOutcome& outcome() const { return outcome_; }
  bool exhausted() const { return exhausted_; }
  // Offset in the inflated text after the last event; 0 if there was none.
  uint64_t last_event_end_byte() const { return last_event_end_byte_; }
  const KinetoFacts& facts() const { return facts_; }

 private:
  std::optional<ParsedChunk>& Slot(uint64_t ticket) { return slots_[ticket % in_flight_limit_]; }

  // If an exception ends one thread, the others must not wait for its chunk.
  void Work() {
    try {
      TakeChunks();
    } catch (...) {
      const std::scoped_lock lock(mutex_);
      stopped_ = true;
      changed_.notify_all();
      throw;
    }
  }

  bool MayTake() const {
    return taken_ - joined_ < in_flight_limit_ && bytes_in_flight_ < kMostBytesInFlight;
  }

  void TakeChunks() {
    ChunkParser parser;
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [&] { return stopped_ || exhausted_ || MayTake(); });
      if (stopped_ || exhausted_) {
        return;
      }
      const uint64_t ticket = taken_++;
      TextChunk chunk = reader_.NextChunk(TextReader::kChunkBytes);
      bytes_in_flight_ += chunk.capacity;
      exhausted_ = chunk.is_last;
      lock.unlock();
      ParsedChunk parsed = parser.Parse(std::move(chunk), false);
      lock.lock();
      Slot(ticket) = std::move(parsed);
      while (!stopped_ && Slot(joined_).has_value()) {
        JoinNext();
      }
      changed_.notify_all();
    }
  }

  void JoinNext() {
    ParsedChunk& parsed = *Slot(joined_);
    facts_.Merge(parsed.facts, builder_.host_size());
    builder_.Append(std::move(parsed.part));
    outcome_ = parsed.outcome;
    if (outcome_.events_end != 0) {
      last_event_end_byte_ = parsed.chunk.byte + outcome_.events_end;
    }
    if (parsed.outcome.stop == ParseStop::kEnd) {
      bytes_in_flight_ -= std::min(bytes_in_flight_, parsed.chunk.capacity);
      reader_.Recycle(std::move(parsed.chunk));
      Slot(joined_).reset();
      ++joined_;
      ReserveOnce();
    } else {
      stopped_ = true;
    }
  }

  // Once the density of events is known well enough, reserves memory for all of them.
  void ReserveOnce() {
    constexpr uint64_t kSample = 16;
    constexpr double kSlack = 1.03;
    constexpr double kMostGrowth = 256;
    const double share = reader_.stored_share();
    if (joined_ != kSample || share <= 0 || share >= 1) {
      return;
    }
    // The share is of the stored file, whose parts may be compressed very differently.
    const double factor = std::min(kSlack / share, kMostGrowth);
    builder_.Reserve(static_cast<size_t>(static_cast<double>(builder_.host_size()) * factor),
                     static_cast<size_t>(static_cast<double>(builder_.device_size()) * factor));
  }

  void GiveBack() {
    std::vector<std::string_view> pieces;
    for (uint64_t ticket = joined_; stopped_ && ticket < taken_; ++ticket) {
      const std::string_view text = Slot(ticket)->chunk.text();
      pieces.push_back(ticket == joined_ ? text.substr(outcome_.position) : text);
    }
    reader_.PushBack(pieces);
  }

  // Chunks are of 1 MiB, but one without a place to cut grows to the longest event.
  static constexpr size_t kMostBytesInFlight = size_t{256} << 20;

  TextReader& reader_;
  TraceBuilder& builder_;
  uint64_t in_flight_limit_ = 1;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::optional<ParsedChunk>> slots_;  // by ticket, in a ring
  uint64_t taken_ = 0;
  uint64_t joined_ = 0;
  size_t bytes_in_flight_ = 0;
  bool exhausted_ = false;
  bool stopped_ = false;
  ParseOutcome outcome_;
  uint64_t last_event_end_byte_ = 0;
  KinetoFacts facts_;
};

}  // namespace

EventsEnd ReadEvents(TextReader& reader, TraceBuilder& builder, int threads) {
  EventsEnd end;
  size_t target = TextReader::kChunkBytes;
  for (;;) {
    const uint64_t begin = reader.byte();
    Pipeline pipeline(reader, builder);
    if (target == TextReader::kChunkBytes) {
      pipeline.Run(std::max(threads, 1));
    } else {
      pipeline.RunOne(target, target >= TextReader::kLongestEvent);
    }
    end.facts.Merge(pipeline.facts());
    end.last_event_end_byte = std::max(end.last_event_end_byte, pipeline.last_event_end_byte());
    switch (pipeline.outcome().stop) {
      case ParseStop::kArrayEnd:
        reader.Consume(1);
        end.array_closed = true;
        return end;
      case ParseStop::kEnd:
        if (pipeline.exhausted()) {
          return end;
        }
        target = TextReader::kChunkBytes;
        break;
      case ParseStop::kIncomplete:
      case ParseStop::kDamaged:
        // An event crosses the end of its chunk. The next chunk starts with it and is longer; much
        // longer if there was no progress.
        target = reader.byte() == begin ? target * 2 : 2 * TextReader::kChunkBytes;
    }
  }
}

}  // namespace borescope::internal
