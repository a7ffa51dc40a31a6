// The flight recorder: chunks that are full wait here until what is in them is older than the
// window, and are then used again, oldest first.
//
// A queue without locks, of a fixed size: who finds it busy or empty takes new space of the file.
#pragma once

#include <cstddef>
#include <cstdint>

namespace borescope::inject {

struct FullChunk {
  uint64_t offset;       // in the file
  uint64_t released_ns;  // none of its records is later
  uint32_t bytes;        // with the header
  uint32_t generation;   // how often its place was used
};

class Ring;

// Memory for the ring of a log, not shared with children; a null pointer where there is none.
Ring* MakeRing();

// A chunk that its thread has left. False if the ring is full: the chunk then stays as it is.
bool PushFull(Ring* ring, const FullChunk& chunk);

// The chunk that was released first, if that was before a time.
bool PopFull(Ring* ring, uint64_t before_ns, FullChunk* chunk);

// Whether so many chunks wait that the next ones must be used again, whatever their age.
bool IsCrowded(const Ring* ring);

}  // namespace borescope::inject
