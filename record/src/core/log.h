// The log of this process: opening it, handing out chunks, ending it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "borescope/recording/log_format.h"
#include "core/state.h"

namespace borescope::inject {

// Ensures that the log is open. `*opened_now` is set for the one thread that opened it, which then
// writes the strings and names that were known before.
bool OpenLog(bool* opened_now);

struct Chunk {
  uint64_t* words = nullptr;  // after the header; a null pointer: there is none
  size_t count = 0;
};

// A mapped chunk of at least `least_words`, wanted with `bytes`. Ends the recording where the disk
// or the limit is reached.
Chunk ClaimChunk(uint32_t bytes, size_t least_words, recording::ChunkKind kind, uint32_t tid,
                 uint64_t pthread_self);

// Unmaps a chunk that its thread has left. Its records stay in the file; those of a ring until they
// are old.
void ReleaseChunk(uint64_t* words, size_t count);

// Whether chunks are used again.
inline bool IsRing() { return g_options.ring_ns != 0; }

// Gives the pages of a chunk after its first `used` words back to the disk: of a thread that ended.
void TrimChunk(uint64_t* words, size_t count, size_t used);

// A record in the process chunk, for what must be said when no other chunk can be had.
void WriteProcessRecord(recording::RecordType type, uint32_t a, const uint64_t* body, size_t words,
                        const char* text);

// Nothing more is recorded in this process; the log says why. False where that was so already.
bool EndRecording(recording::StateKind state, const char* why);

void CountDropped();

}  // namespace borescope::inject
