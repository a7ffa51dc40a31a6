// What a statement may do and use: it may only read, and memory, values and temporary files are
// limited.
#pragma once

#include <sqlite3.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "borescope/base/result.h"
#include "borescope/base/sqlite/sqlite.h"

namespace borescope::internal::query {

class Guard {
 public:
  Guard() = default;
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;

  // Checks the statements of `database` from now on. Must outlive it. An error if SQLite cannot
  // make what statements may use.
  Result<void> Watch(SqlDatabase& database);

  // Why the last statement was refused: "ATTACH"; empty if it was not.
  const std::string& refused() const { return refused_; }
  void Forget() { refused_.clear(); }

 private:
  static int Decide(void* guard, int action, const char* first, const char* second, const char*,
                    const char*);
  std::string refused_;
};

// Limits SQLite's memory while a statement is prepared. SQLite copies expressions when it merges
// subqueries, so that 40 short ones may result in 2^40 copies, and does not check the time
// meanwhile.
//
// SQLite counts memory for the whole process. So the limit is the memory in use plus an amount that
// no other thread takes in this short time, and limits that the process has set itself are kept.

// Waits until no other thread has one.
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

// How long a text or blob may be while a statement runs. SQLite checks the time only where a
// program loops; the time between two such places is bounded by the number of operations times the
// length of their values.

inline constexpr int kLongestValue = 1 << 24;  // bytes

// How many operations in the program of `statement` take time proportional to the length of a
// value.
size_t CountValueOperations(sqlite3_stmt* statement);

// The longest value in bytes: 16 MiB for up to 64 operations, and less for more, so that all
// operations together touch at most 1 GiB.
int LongestValueFor(size_t operations);

// A file system for a database in memory that limits the total size of its temporary files, which
// SQLite writes for sorts and groups that do not fit into memory. SQLite removes each file from its
// folder as soon as it is open. Must outlive the database that is opened with its name. Used by one
// thread at a time.
class TemporarySpace {
 public:
  // nullptr if SQLite has no file system or no memory.
  static std::unique_ptr<TemporarySpace> Make();
  TemporarySpace(const TemporarySpace&) = delete;
  TemporarySpace& operator=(const TemporarySpace&) = delete;
  ~TemporarySpace();

  const char* name() const;  // for sqlite3_open_v2

  // Sets the limit from now on; 0: none.
  void SetLimit(uint64_t bytes);
  uint64_t limit() const;
  // Whether a file was refused more space since the limit was set.
  bool is_exceeded() const;

  struct State;

 private:
  explicit TemporarySpace(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace borescope::internal::query
