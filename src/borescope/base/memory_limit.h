// How much memory the process may take from the system while some work is done.
//
// Counted is what it can write to for itself alone, used or not: the heap with what was freed and
// not given back, stacks of threads, what libraries allocate (VmData of /proc/PID/status, which is
// also what RLIMIT_DATA bounds). All of the process counts, from when the object was made.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "borescope/base/spill_files.h"

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

}  // namespace borescope::internal
