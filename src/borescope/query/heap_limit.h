// A limit of what SQLite allocates, for the moment in which a statement is prepared: it copies
// expressions where it merges subqueries, and 40 short ones can ask for 2^40 copies. It looks at no
// time meanwhile.
//
// SQLite counts for the whole process. So the limit is what it has plus an amount that no other
// thread takes in such a moment, and the limits that the process set itself are kept.
#pragma once

#include <cstdint>
#include <mutex>

namespace borescope::internal::query {

// While one exists, those of other threads wait.
class HeapLimit {
 public:
  explicit HeapLimit(int64_t more_bytes);
  HeapLimit(const HeapLimit&) = delete;
  HeapLimit& operator=(const HeapLimit&) = delete;
  ~HeapLimit();

 private:
  std::unique_lock<std::mutex> lock_;
  int64_t hard_before_;
  int64_t soft_before_;
};

}  // namespace borescope::internal::query
