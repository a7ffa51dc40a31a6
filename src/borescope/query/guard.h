// What a statement may do: read. Everything else is refused by name.
#pragma once

#include <sqlite3.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "borescope/base/sqlite/sqlite.h"

namespace borescope::internal::query {

class Guard {
 public:
  Guard() = default;
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;

  // Watches the statements of `database` from now on; has to outlive it.
  void Watch(SqlDatabase& database);

  // What the last statement was refused for: "ATTACH"; empty when it was not.
  const std::string& refused() const { return refused_; }
  void Forget() { refused_.clear(); }

 private:
  static int Decide(void* guard, int action, const char* first, const char* second, const char*,
                    const char*);
  std::string refused_;
};

// A limit of what SQLite allocates, for the moment in which a statement is prepared: it copies
// expressions where it merges subqueries, and 40 short ones can ask for 2^40 copies. It looks at no
// time meanwhile.
//
// SQLite counts for the whole process. So the limit is what it has plus an amount that no other
// thread takes in such a moment, and the limits that the process set itself are kept.

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

// How long a text or blob may be while a statement runs. SQLite looks at the time only where a
// program loops: what lies between two such places is bounded by the number of its operations times
// the length of their values.

inline constexpr int kLongestValue = 1 << 24;  // bytes

// The operations of the program of `statement` that may take as long as a value is long.
size_t CountValueOperations(sqlite3_stmt* statement);

// In bytes: 16 MiB for up to 64 operations, and less for more, so that all together touch 1 GiB.
int LongestValueFor(size_t operations);

// Temporary files of SQLite, counted: what a sort or a group that does not fit into memory writes.

// A file system for a database in memory, in which its temporary files together may not become
// larger than a limit. SQLite removes each from its folder as soon as it is open. Has to outlive
// the database that is opened with its name; used by one thread at a time.
class TemporarySpace {
 public:
  // nullptr where SQLite has no file system or no memory.
  static std::unique_ptr<TemporarySpace> Make();
  TemporarySpace(const TemporarySpace&) = delete;
  TemporarySpace& operator=(const TemporarySpace&) = delete;
  ~TemporarySpace();

  const char* name() const;  // for sqlite3_open_v2

  // From now on; 0: none.
  void SetLimit(uint64_t bytes);
  uint64_t limit() const;
  // Whether a file was refused more since the limit was set.
  bool is_exceeded() const;

  struct State;

 private:
  explicit TemporarySpace(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace borescope::internal::query
