#include "core/ring.h"

#include <sys/mman.h>

#include <atomic>

namespace borescope::inject {

namespace {

constexpr uint64_t kCells = 64 * 1024;
constexpr uint64_t kCrowd = kCells - 4096;

// `turn` says whose turn it is: in lap L, 2 L is for the one who fills the cell, 2 L + 1 for the
// one who empties it. Memory that is zero is a ring that is empty.
struct Cell {
  std::atomic<uint64_t> turn;
  std::atomic<uint64_t> offset;
  std::atomic<uint64_t> released_ns;
  std::atomic<uint32_t> bytes;
  std::atomic<uint32_t> generation;
};

}  // namespace

class Ring {
 public:
  std::atomic<uint64_t> head;  // the next to be emptied
  std::atomic<uint64_t> tail;  // the next to be filled
  Cell cells[kCells];
};

Ring* MakeRing() {
  void* memory =
      mmap(nullptr, sizeof(Ring), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  madvise(memory, sizeof(Ring), MADV_DONTFORK);
  return static_cast<Ring*>(memory);
}

bool PushFull(Ring* ring, const FullChunk& chunk) {
  uint64_t at = ring->tail.load(std::memory_order_relaxed);
  for (;;) {
    Cell& cell = ring->cells[at % kCells];
    const uint64_t mine = 2 * (at / kCells);
    const uint64_t turn = cell.turn.load(std::memory_order_acquire);
    if (turn < mine) return false;
    if (turn > mine) {
      at = ring->tail.load(std::memory_order_relaxed);
      continue;
    }
    if (!ring->tail.compare_exchange_weak(at, at + 1)) continue;
    cell.offset.store(chunk.offset, std::memory_order_relaxed);
    cell.released_ns.store(chunk.released_ns, std::memory_order_relaxed);
    cell.bytes.store(chunk.bytes, std::memory_order_relaxed);
    cell.generation.store(chunk.generation, std::memory_order_relaxed);
    cell.turn.store(mine + 1, std::memory_order_release);
    return true;
  }
}

bool PopFull(Ring* ring, uint64_t before_ns, FullChunk* chunk) {
  uint64_t at = ring->head.load(std::memory_order_relaxed);
  for (;;) {
    Cell& cell = ring->cells[at % kCells];
    const uint64_t mine = 2 * (at / kCells) + 1;
    const uint64_t turn = cell.turn.load(std::memory_order_acquire);
    if (turn < mine) return false;
    if (turn > mine) {
      at = ring->head.load(std::memory_order_relaxed);
      continue;
    }
    // Another may empty it at the same time: then the place is not ours, and what was read is not
    // used.
    chunk->offset = cell.offset.load(std::memory_order_relaxed);
    chunk->released_ns = cell.released_ns.load(std::memory_order_relaxed);
    chunk->bytes = cell.bytes.load(std::memory_order_relaxed);
    chunk->generation = cell.generation.load(std::memory_order_relaxed);
    if (chunk->released_ns >= before_ns) return false;
    if (!ring->head.compare_exchange_weak(at, at + 1)) continue;
    cell.turn.store(mine + 1, std::memory_order_release);
    return true;
  }
}

bool IsCrowded(const Ring* ring) {
  return ring->tail.load(std::memory_order_relaxed) - ring->head.load(std::memory_order_relaxed) >
         kCrowd;
}

}  // namespace borescope::inject
