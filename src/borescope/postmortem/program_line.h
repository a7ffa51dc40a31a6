// Which frame of a stack is the line of the user's program: the innermost one that is of no
// library. For stacks of dumps, snapshots and tracebacks alike.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/base/result.h"

namespace borescope::internal {

struct ProgramFrame {
  std::string_view file;
  std::string_view function;
  int64_t line = 0;
};

// Immutable; used by any number of threads.
class LineFinder {
 public:
  // `skipped`: a regular expression of files whose frames are never the line, beside those of
  // PyTorch, of site-packages and of the standard library; empty for none. kInvalidArgument where
  // it is none.
  static Result<LineFinder> Make(const std::string& skipped);

  // The line of `frames`, innermost first, as "file:line function"; the innermost frame outside of
  // PyTorch where none is of the user. Empty without either.
  std::string LineOf(const std::vector<ProgramFrame>& frames) const;
  // Whether frames of that file may be the line.
  bool IsOfUser(std::string_view file) const;

 private:
  bool IsSkipped(std::string_view file) const;  // never the line

  struct Skipped;
  std::shared_ptr<const Skipped> skipped_;  // nullptr: none
};

}  // namespace borescope::internal
