// EventPipeline: the body of the "traceEvents" array, read and parsed by several threads at once.
//
// Every thread in turn takes the next chunk from the reader (which inflates it) and parses it into
// a part; parts are joined in the order of the text. The chunks are cut at guessed places; when
// each of them is found to end exactly between two events, this proves that the next one was cut
// correctly. A chunk that ends otherwise stops the pipeline: the text from there on goes back to
// the reader and the pipeline starts again with a longer first chunk.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "borescope/ingest/events/chunk_parser.h"
#include "borescope/ingest/events/text_reader.h"
#include "borescope/ingest/kineto/kineto_events.h"
#include "borescope/ingest/load.h"
#include "borescope/trace/trace_builder.h"

namespace borescope::internal {

// ChunkRing: the chunks that threads work on, in the order of the text.

// One thread at a time reads, and one at a time joins; neither waits for the other or for parsing.
class ChunkRing {
 public:
  explicit ChunkRing(uint64_t most) : slots_(most) {}

  // Waits until a chunk may be read. False: no more is to be read.
  // REQUIRES: one caller at a time.
  bool WaitToRead() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return stopped_ || exhausted_ || MayTake(); });
    return !stopped_ && !exhausted_;
  }

  // The place of a chunk that was read. REQUIRES: the caller of WaitToRead.
  uint64_t Take(const TextChunk& chunk) {
    const std::scoped_lock lock(mutex_);
    bytes_in_flight_ += chunk.capacity;
    exhausted_ = chunk.is_last;
    return taken_++;
  }

  // True: the caller has to join what follows, until NextToJoin returns nothing.
  bool Deliver(uint64_t ticket, ParsedChunk parsed) {
    const std::scoped_lock lock(mutex_);
    Slot(ticket) = std::move(parsed);
    const bool is_free = !joining_;
    joining_ = true;
    return is_free;
  }

  // The next chunk in the order of the text, null if it is not there yet. The one before, if there
  // is one, is joined now, and its memory is for the reader.
  ParsedChunk* NextToJoin(bool is_one_joined) {
    const std::scoped_lock lock(mutex_);
    if (is_one_joined) {
      FreeJoined();
    }
    if (stopped_ || !Slot(joined_).has_value()) {
      joining_ = false;
      return nullptr;
    }
    return &*Slot(joined_);
  }

  // Nothing more is to be read or joined.
  void Stop() {
    const std::scoped_lock lock(mutex_);
    stopped_ = true;
    changed_.notify_all();
  }

  std::vector<TextChunk> TakeSpent() {
    const std::scoped_lock lock(mutex_);
    return std::exchange(spent_, {});
  }

  // For when no thread works any more.
  bool exhausted() const { return exhausted_; }
  uint64_t joined() const { return joined_; }
  std::vector<const TextChunk*> NotJoined() {
    std::vector<const TextChunk*> chunks;
    for (uint64_t ticket = joined_; stopped_ && ticket < taken_; ++ticket) {
      chunks.push_back(&Slot(ticket)->chunk);
    }
    return chunks;
  }

 private:
  // Chunks are of 1 MiB, but one without a place to cut grows to the longest event.
  static constexpr size_t kMostBytesInFlight = size_t{256} << 20;

  std::optional<ParsedChunk>& Slot(uint64_t ticket) { return slots_[ticket % slots_.size()]; }

  bool MayTake() const {
    return taken_ - joined_ < slots_.size() && bytes_in_flight_ < kMostBytesInFlight;
  }

  void FreeJoined() {
    TextChunk& chunk = Slot(joined_)->chunk;
    bytes_in_flight_ -= std::min(bytes_in_flight_, chunk.capacity);
    spent_.push_back(std::move(chunk));
    Slot(joined_).reset();
    ++joined_;
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::optional<ParsedChunk>> slots_;  // by ticket, in a ring
  std::vector<TextChunk> spent_;
  uint64_t taken_ = 0;
  uint64_t joined_ = 0;
  size_t bytes_in_flight_ = 0;
  bool exhausted_ = false;
  bool stopped_ = false;
  bool joining_ = false;
};

struct EventsEnd {
  bool array_closed = false;  // the closing bracket was found and consumed; else the text ended
  // Offset in the inflated text after the last event; 0 if there was none.
  uint64_t last_event_end_byte = 0;
  KinetoFacts facts;
};

// Parses events until the array or the text ends. The reader is positioned after the opening
// bracket. The result does not depend on the number of threads.
EventsEnd ReadEvents(TextReader& reader, TraceBuilder& builder, const LoadOptions& options);

// The same by one thread and for any sink, which gets the events in their order; without facts.
EventsEnd ReadEventsInOrder(TextReader& reader, EventSink& sink);

}  // namespace borescope::internal
