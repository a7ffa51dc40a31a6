// Partial: what one process has found out about some files of a run, to be joined elsewhere with
// what others found out about the rest. The answer of all of them is, byte for byte, the one that a
// single process gives for all files in the natural order of their paths.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/answer.h"
#include "borescope/error.h"
#include "borescope/export.h"
#include "borescope/output.h"
#include "borescope/progress.h"

namespace borescope {

// Immutable and cheap to copy; safe to read from any number of threads.
class BORESCOPE_EXPORT Partial {
 public:
  // The partial as bytes (docs/partials.md). The same partial gives the same bytes.
  Result<std::string> Serialize() const;

  // The same bytes to a file or a function.
  Result<void> Write(const Output& output) const;

  // How many files it holds the answers of.
  size_t num_files() const;

  // Reads what Serialize wrote; `name` represents the bytes in messages. Whatever the bytes are,
  // the result is a partial or an error: kUnsupportedFormat for another format or another major
  // version of it (the message says which program wrote it), kCorrupt for damage.
  static Result<Partial> Parse(std::string_view bytes, std::string_view name);

 private:
  friend struct PartialAccess;
  struct Data;
  std::shared_ptr<const Data> data_;
};

// The partials in the files that `inputs` (files, folders, globs) lead to. Errors as those of
// Parse, and of reading; kCancelled once `stop` is requested.
BORESCOPE_EXPORT Result<std::vector<Partial>> ReadPartials(std::span<const std::string> inputs,
                                                           const StopToken& stop = {});

// How an answer is shown; applied last, never before a merge.
struct Display {
  std::string sort = {};  // column by which every table that has it is sorted; empty: as it is
  std::optional<size_t> top = {};  // rows kept of each table
};

// The answer of all these partials, in any order. kInvalidArgument where they are of different
// questions, or hold a file twice with different content; kCancelled once `stop` is requested.
BORESCOPE_EXPORT Result<Answer> Reduce(std::span<const Partial> partials,
                                       const Display& display = {}, StopToken stop = {});
// One partial that holds them all, for reducing in a tree.
BORESCOPE_EXPORT Result<Partial> Merge(std::span<const Partial> partials, StopToken stop = {});

}  // namespace borescope
