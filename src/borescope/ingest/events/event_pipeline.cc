#include "borescope/ingest/events/event_pipeline.h"

#include <algorithm>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "borescope/base/parallel.h"
#include "borescope/base/stop.h"
#include "borescope/ingest/events/chunk_parser.h"

namespace borescope::internal {
namespace {

// One run of the pipeline, from the reader's position to the first chunk that does not end between
// two events.
class Pipeline {
 public:
  Pipeline(TextReader& reader, TraceBuilder& builder, int threads, const std::string& rank_label)
      : reader_(reader),
        builder_(builder),
        threads_(threads),
        rank_label_(rank_label),
        ring_(RingSize(threads)) {}

  // Parses chunks of the usual size until the text ends or a chunk does not end between two events.
  void Run() {
    ParallelFor(static_cast<size_t>(threads_), threads_, [&](size_t) { Work(); });
    GiveBack();
  }

  // Parses one chunk of about `target` bytes, reading nothing ahead: the memory for an unusually
  // long event must not be needed several times. With `force`, an event that does not end in the
  // chunk counts as damaged.
  void RunOne(size_t target, bool force) {
    TextChunk chunk = reader_.NextChunk(target);
    const uint64_t ticket = ring_.Take(chunk);
    ring_.Deliver(ticket, ChunkParser(rank_label_).Parse(std::move(chunk), force));
    JoinAll();
    GiveBack();
  }

  // How parsing stopped; the text from there on was given back to the reader.
  const ParseOutcome& outcome() const { return outcome_; }
  bool exhausted() const { return ring_.exhausted(); }
  // Offset in the inflated text after the last event; 0 if there was none.
  uint64_t last_event_end_byte() const { return last_event_end_byte_; }
  const KinetoFacts& facts() const { return facts_; }

 private:
  static uint64_t RingSize(int threads) { return static_cast<uint64_t>(threads) * 2 + 1; }

  // If an exception ends one thread, the others must not wait for its chunk.
  void Work() {
    try {
      ParseChunks();
    } catch (...) {
      ring_.Stop();
      throw;
    }
  }

  void ParseChunks() {
    ChunkParser parser(rank_label_);
    while (std::optional<ReadChunk> read = ReadNext()) {
      ParsedChunk parsed = parser.Parse(std::move(read->chunk), false);
      parsed.stored_share = read->stored_share;
      if (ring_.Deliver(read->ticket, std::move(parsed))) {
        JoinAll();
      }
    }
  }

  struct ReadChunk {
    TextChunk chunk;
    uint64_t ticket = 0;
    double stored_share = 0;
  };

  std::optional<ReadChunk> ReadNext() {
    const std::scoped_lock lock(reading_);
    if (!ring_.WaitToRead()) {
      return std::nullopt;
    }
    Recycle();
    ReadChunk read{.chunk = reader_.NextChunk(TextReader::kChunkBytes)};
    read.stored_share = reader_.stored_share();
    read.ticket = ring_.Take(read.chunk);
    return read;
  }

  void Recycle() {
    for (TextChunk& chunk : ring_.TakeSpent()) {
      reader_.Recycle(std::move(chunk));
    }
  }

  // REQUIRES: no other thread joins.
  void JoinAll() {
    ParsedChunk* next = ring_.NextToJoin(false);
    while (next != nullptr) {
      const bool is_joined = Join(*next);
      if (!is_joined) {
        ring_.Stop();
      }
      next = ring_.NextToJoin(is_joined);
    }
  }

  // False if the chunk does not end between two events: what follows it was cut at a wrong place.
  bool Join(ParsedChunk& parsed) {
    facts_.Merge(parsed.facts, builder_.host_size());
    builder_.Append(std::exchange(parsed.part, TracePart()));
    outcome_ = parsed.outcome;
    if (outcome_.events_end != 0) {
      last_event_end_byte_ = parsed.chunk.byte + outcome_.events_end;
    }
    if (outcome_.stop != ParseStop::kEnd) {
      return false;
    }
    if (ring_.joined() + 1 == kSample) {
      ReserveAll(parsed.stored_share);
    }
    return true;
  }

  // Once the density of events is known well enough, reserves memory for all of them.
  void ReserveAll(double stored_share) {
    constexpr double kSlack = 1.03;
    constexpr double kMostGrowth = 256;
    if (stored_share <= 0 || stored_share >= 1) {
      return;
    }
    // The share is of the stored file, whose parts may be compressed very differently.
    builder_.Reserve(std::min(kSlack / stored_share, kMostGrowth));
  }

  void GiveBack() {
    Recycle();
    std::vector<std::string_view> pieces;
    for (const TextChunk* chunk : ring_.NotJoined()) {
      const std::string_view text = chunk->text();
      pieces.push_back(pieces.empty() ? text.substr(outcome_.position) : text);
    }
    reader_.PushBack(pieces);
  }

  static constexpr uint64_t kSample = 16;  // chunks, after which the density of events is known

  TextReader& reader_;
  TraceBuilder& builder_;
  const int threads_;
  const std::string& rank_label_;
  std::mutex reading_;  // before the ring's own
  ChunkRing ring_;
  // Of the one that joins.
  ParseOutcome outcome_;
  uint64_t last_event_end_byte_ = 0;
  KinetoFacts facts_;
};

}  // namespace

EventsEnd ReadEventsInOrder(TextReader& reader, EventSink& sink) {
  StructuralParser quick;
  TolerantParser tolerant;
  EventsEnd end;
  size_t target = TextReader::kChunkBytes;
  while (true) {
    CheckStop();
    TextChunk chunk = reader.NextChunk(target);
    const bool force = target >= TextReader::kLongestEvent;
    const ParseOutcome outcome = ParseEvents(quick, tolerant, chunk, force, sink);
    if (outcome.events_end != 0) {
      end.last_event_end_byte = chunk.byte + outcome.events_end;
    }
    if (outcome.stop == ParseStop::kEnd) {
      if (chunk.is_last) {
        return end;
      }
      target = TextReader::kChunkBytes;
      reader.Recycle(std::move(chunk));
      continue;
    }
    reader.PushBack({chunk.text().substr(outcome.position)});
    if (outcome.stop == ParseStop::kArrayEnd) {
      reader.Consume(1);
      end.array_closed = true;
      return end;
    }
    target = outcome.position == 0 ? target * 2 : 2 * TextReader::kChunkBytes;
    reader.Recycle(std::move(chunk));
  }
}

EventsEnd ReadEvents(TextReader& reader, TraceBuilder& builder, const LoadOptions& options) {
  EventsEnd end;
  size_t target = TextReader::kChunkBytes;
  for (;;) {
    const uint64_t begin = reader.byte();
    Pipeline pipeline(reader, builder, std::max(options.threads, 1), options.rank_label);
    if (target == TextReader::kChunkBytes) {
      pipeline.Run();
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
