// The buffers that CUPTI fills with records.
//
// CUPTI asks for them and returns them on the program's threads, within locks of the driver: both
// callbacks take no lock and call nothing of CUPTI. Returned buffers wait in a list for the
// flusher, which also keeps some ready, so that no page is touched first on the program's threads.
// CUPTI fills them with zeros there: were that done before, on another processor, each record would
// fetch its memory from that one's cache.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace borescope::inject::cuda {

inline constexpr size_t kBufferBytes = size_t{1} << 20U;

struct Buffer {
  uint64_t magic;                // of a buffer of ours
  std::atomic<uint32_t> is_out;  // CUPTI has it
  uint32_t place;                // in the pool; kNoPlace: of its own
  Buffer* next;
  void* context;
  size_t valid;
  uint32_t stream;
  uint32_t reserved;
  std::atomic<uint64_t> taken_ns;  // by CUPTI, the last time

  uint8_t* data() { return reinterpret_cast<uint8_t*>(this) + 64; }
};
static_assert(sizeof(Buffer) <= 64);

// A null pointer where memory has run out.
Buffer* TakeBuffer();

// From CUPTI. False if it is not ours, but another profiler's, or CUPTI does not have it; it is
// then left alone.
bool ReturnBuffer(uint8_t* data, void* context, uint32_t stream, size_t valid);

// What was returned since the last call, first returned first.
Buffer* TakeReturned();

// After its records were read.
void RecycleBuffer(Buffer* buffer);

// Makes buffers until some wait to be taken. On the flusher only.
void PrepareBuffers();

// How many CUPTI has, and when it took the one of the pool that it has longest; 0: it has none.
uint32_t BuffersOut();
uint64_t OldestTaken();

}  // namespace borescope::inject::cuda
