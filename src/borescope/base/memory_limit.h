// How much memory the process may take from the system while some work is done.
//
// Counted is what it can write to for itself alone, used or not: the heap with what was freed and
// not given back, stacks of threads, what libraries allocate (VmData of /proc/PID/status, which is
// also what RLIMIT_DATA bounds). All of the process counts, from when the object was made.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <optional>
#include <type_traits>
#include <utility>

#include "borescope/base/spilled_blocks.h"
#include "borescope/base/stop.h"

namespace borescope::internal {

// What the process has now; 0 where the system does not say.
uint64_t TakenMemory();

// Thread-safe. Asked by the scope of stop.h that names it, so that work ends where it would end for
// a stop.
class MemoryLimit {
 public:
  // Of 0 bytes: none. With `spill` large columns lie in such files where they would take more than
  // a quarter of the limit; what files show is not counted, as the system can take it from memory.
  explicit MemoryLimit(uint64_t bytes, std::shared_ptr<SpillFiles> spill = nullptr)
      : bytes_(bytes), base_(TakenMemory()), spill_(std::move(spill)) {}
  MemoryLimit(const MemoryLimit&) = delete;
  MemoryLimit& operator=(const MemoryLimit&) = delete;

  uint64_t bytes() const { return bytes_; }
  const std::shared_ptr<SpillFiles>& spill() const { return spill_; }
  // Whether so many bytes more of columns belong into files.
  bool SpillsColumns(uint64_t more) const;
  // Beyond what there was when this was made.
  uint64_t taken() const;
  // Looks at the system once in a millisecond; once true, it stays so until Forget.
  bool IsExceeded() const;
  void Forget() { exceeded_ = false; }

 private:
  uint64_t bytes_;
  uint64_t base_;
  std::shared_ptr<SpillFiles> spill_;
  mutable std::atomic<bool> exceeded_ = false;
  mutable std::atomic<int64_t> next_look_ns_ = 0;  // of the steady clock
};

// Work that ends when it takes more memory than it may.

// What `body` returns; nothing if it was left because it took more than `limit`, or the system gave
// no more. Without a limit, memory that runs out is an exception for the caller.
template <class Body>
std::optional<std::invoke_result_t<Body>> WithinMemory(const MemoryLimit& limit, const Body& body) {
  if (limit.bytes() == 0) {
    return body();
  }
  try {
    const StopScope scope({}, &limit);
    return body();
  } catch (const StopRequested&) {
    CheckStop();
    return std::nullopt;
  } catch (const std::bad_alloc&) {
    return std::nullopt;
  }
}

// What RE2 takes at most for expressions as people write them.
inline constexpr size_t kExpressionBytes = size_t{256} << 10;

// Asks the system for so many bytes and gives them back: where there are none, std::bad_alloc is
// thrown here, and not in a library that does not survive it (RE2 while it reads an expression).
inline void AskForMemory(size_t bytes) {
  void* volatile memory = std::malloc(bytes);  // volatile: else compilers leave the pair out
  if (memory == nullptr) {
    throw std::bad_alloc();
  }
  std::free(memory);
}

}  // namespace borescope::internal
