#include "cuda/buffers.h"

#include <sys/mman.h>

#include "core/clock.h"

namespace borescope::inject::cuda {

namespace {

constexpr uint32_t kPlaces = 64;
constexpr uint32_t kSpare = 3;  // that wait to be taken
constexpr uint32_t kNoPlace = 0xffffffff;
constexpr uint64_t kMagic = 0x6675625f72636272;  // what no other memory begins with, by all chance
constexpr uintptr_t kLeastPage = 4096;

// One bit for each place of the pool that is free. Places get memory when they are first taken.
std::atomic<uint64_t> free_places = ~uint64_t{0};
std::atomic<Buffer*> places[kPlaces];
std::atomic<Buffer*> returned;
std::atomic<uint32_t> out;

Buffer* MapBuffer(uint32_t place, int flags) {
  void* memory = mmap(nullptr, kBufferBytes + 64, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  auto* buffer = static_cast<Buffer*>(memory);
  buffer->magic = kMagic;
  buffer->place = place;
  return buffer;
}

// The bits are exchanged as a whole, so that a place is never given to two threads.
uint32_t TakePlace() {
  uint64_t bits = free_places.load();
  while (bits != 0) {
    const auto place = static_cast<uint32_t>(__builtin_ctzll(bits));
    if (free_places.compare_exchange_weak(bits, bits & ~(uint64_t{1} << place))) return place;
  }
  return kNoPlace;
}

}  // namespace

Buffer* TakeBuffer() {
  const uint32_t place = TakePlace();
  Buffer* buffer = place == kNoPlace ? nullptr : places[place].load();
  if (buffer == nullptr) buffer = MapBuffer(place, 0);
  if (place != kNoPlace) {
    places[place].store(buffer);
    if (buffer == nullptr) free_places.fetch_or(uint64_t{1} << place);
  }
  if (buffer == nullptr) return nullptr;
  buffer->taken_ns.store(Now(), std::memory_order_relaxed);
  buffer->is_out.store(1);
  out.fetch_add(1);
  return buffer;
}

bool ReturnBuffer(uint8_t* data, void* context, uint32_t stream, size_t valid) {
  // Ours begin a page, so that what is before the data of any buffer that looks like one can be
  // read.
  if (reinterpret_cast<uintptr_t>(data) % kLeastPage != 64) return false;
  auto* buffer = reinterpret_cast<Buffer*>(data - 64);
  if (buffer->magic != kMagic || buffer->is_out.exchange(0) == 0) return false;
  out.fetch_sub(1);
  buffer->context = context;
  buffer->stream = stream;
  buffer->valid = valid <= kBufferBytes ? valid : kBufferBytes;
  buffer->next = returned.load();
  while (!returned.compare_exchange_weak(buffer->next, buffer)) {
  }
  return true;
}

Buffer* TakeReturned() {
  Buffer* last = returned.exchange(nullptr);
  Buffer* first = nullptr;
  while (last != nullptr) {
    Buffer* next = last->next;
    last->next = first;
    first = last;
    last = next;
  }
  return first;
}

void RecycleBuffer(Buffer* buffer) {
  if (buffer->place == kNoPlace) {
    munmap(buffer, kBufferBytes + 64);
  } else {
    free_places.fetch_or(uint64_t{1} << buffer->place);
  }
}

// Places without memory come last, so that those that have some are taken first.
void PrepareBuffers() {
  const uint64_t free = free_places.load();
  uint32_t ready = 0;
  for (uint32_t place = 0; place < kPlaces && ready < kSpare; ++place) {
    const uint64_t bit = uint64_t{1} << place;
    if ((free & bit) == 0) continue;
    ++ready;
    if (places[place].load() != nullptr) continue;
    // It is taken meanwhile, so that nobody makes it at the same time.
    if ((free_places.fetch_and(~bit) & bit) == 0) continue;
    if (places[place].load() == nullptr) places[place].store(MapBuffer(place, MAP_POPULATE));
    free_places.fetch_or(bit);
  }
}

uint32_t BuffersOut() { return out.load(); }

uint64_t OldestTaken() {
  uint64_t oldest = 0;
  for (const std::atomic<Buffer*>& place : places) {
    const Buffer* buffer = place.load();
    if (buffer == nullptr || buffer->is_out.load() == 0) continue;
    const uint64_t taken = buffer->taken_ns.load(std::memory_order_relaxed);
    if (oldest == 0 || taken < oldest) oldest = taken;
  }
  return oldest;
}

}  // namespace borescope::inject::cuda
