#include "cuda/buffers.h"

#include <sys/mman.h>

namespace borescope::inject::cuda {

namespace {

constexpr uint32_t kPlaces = 64;
constexpr uint32_t kNoPlace = 0xffffffff;
constexpr uint64_t kMagic = 0x6675625f72636272;  // what no other memory begins with, by all chance
constexpr uintptr_t kLeastPage = 4096;

// One bit for each place of the pool that is free. Places get memory when they are first taken.
std::atomic<uint64_t> free_places = ~uint64_t{0};
std::atomic<Buffer*> places[kPlaces];
std::atomic<Buffer*> returned;
std::atomic<uint32_t> out;

Buffer* MapBuffer(uint32_t place) {
  void* memory =
      mmap(nullptr, kBufferBytes + 64, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
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
  if (buffer == nullptr) buffer = MapBuffer(place);
  if (place != kNoPlace) {
    places[place].store(buffer);
    if (buffer == nullptr) free_places.fetch_or(uint64_t{1} << place);
  }
  if (buffer == nullptr) return nullptr;
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

uint32_t BuffersOut() { return out.load(); }

}  // namespace borescope::inject::cuda
