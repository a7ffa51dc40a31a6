// Temporary files of SQLite, counted: what a sort or a group that does not fit into memory writes.
#pragma once

#include <cstdint>
#include <memory>

namespace borescope::internal::query {

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
