// The memory of replays, which is used again: new memory costs as much as a replay.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "borescope/analysis/measures/replay/replay.h"

namespace borescope::internal {

// Lends arrays to runs, those of runs that have ended first. Thread-safe.
class RunMemory {
 public:
  struct Arrays {
    ReplayLags lags;
    std::vector<int64_t> times;  // per place
  };

  // Arrays for one run, which go back when it ends.
  class Loan {
   public:
    explicit Loan(RunMemory& memory) : memory_(memory), arrays_(memory.Take()) {}
    Loan(const Loan&) = delete;
    Loan& operator=(const Loan&) = delete;
    ~Loan() { memory_.GiveBack(std::move(arrays_)); }

    Arrays* operator->() { return arrays_.get(); }

   private:
    RunMemory& memory_;
    std::unique_ptr<Arrays> arrays_;
  };

 private:
  std::unique_ptr<Arrays> Take() {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) {
      free_.reserve(++lent_);  // so that giving back takes no memory
      return std::make_unique<Arrays>();
    }
    std::unique_ptr<Arrays> arrays = std::move(free_.back());
    free_.pop_back();
    return arrays;
  }

  void GiveBack(std::unique_ptr<Arrays> arrays) {
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(arrays));
  }

  std::mutex mutex_;
  std::vector<std::unique_ptr<Arrays>> free_;
  size_t lent_ = 0;
};

}  // namespace borescope::internal
