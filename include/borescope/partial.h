// Partial: what one process has found out about some files of a run, to be joined elsewhere with
// what others found out about the rest. The answer of all of them is, byte for byte, the one that a
// single process gives for all files in the natural order of their paths.
#pragma once

#include <cstdint>
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

// One part of a run that is divided among processes: of its files in natural order those whose
// place, from 0, leaves the remainder `index` when divided by `count`.
struct Shard {
  uint32_t index = 0;
  uint32_t count = 1;  // at most 1,000,000
};

// Immutable and cheap to copy; safe to read from any number of threads.
class BORESCOPE_EXPORT Partial {
 public:
  // The partial as bytes (docs/use/partials.md). The same partial gives the same bytes.
  Result<std::string> Serialize() const;

  // The same bytes to a file or a function.
  Result<void> Write(const Output& output) const;

  // How many files it holds the answers of.
  size_t num_files() const;

  // How many of these could be loaded.
  size_t num_loaded() const;

  // Why files have no answer, in the order of their paths; without those that are no trace at all,
  // found in a folder.
  std::vector<std::string> load_errors() const;

  // Reads what Serialize wrote; `name` represents the bytes in messages. Whatever the bytes are,
  // the result is a partial or an error: kUnsupportedFormat for another format or another major
  // version of it (the message says which program wrote it), kCorrupt for damage.
  static Result<Partial> Parse(std::string_view bytes, std::string_view name);

 private:
  friend struct PartialAccess;
  struct Data;
  std::shared_ptr<const Data> data_;
};

// The partials in the files of FindParts. Errors as its own, those of Parse, and of reading;
// kCancelled once `stop` is requested.
BORESCOPE_EXPORT Result<std::vector<Partial>> ReadPartials(std::span<const std::string> inputs,
                                                           const StopToken& stop = {});

// A partial as it was written, which is read only when it is needed: thousands of them are joined
// in the memory of the largest, and of the answer. A plain value.
struct StoredPart {
  std::string name;                            // its path, or what represents `bytes` in messages
  std::optional<std::string_view> bytes = {};  // in memory, outliving the call; else the file's
};

struct FoundParts {
  std::vector<StoredPart> parts;
  size_t passed_over = 0;  // other files of folders
};

// The files with partials that `inputs` (files, folders, globs) lead to. Of a folder those that are
// called *.part, and others that begin as a partial does. kIo or kInvalidArgument where there is
// none.
BORESCOPE_EXPORT Result<FoundParts> FindParts(std::span<const std::string> inputs);

// Whether any of the files that `inputs` lead to begins as a partial does; false where they lead to
// none. kIo if the system cannot tell.
BORESCOPE_EXPORT Result<bool> HoldParts(std::span<const std::string> inputs);

// How an answer is shown; applied last, never before a merge.
struct Display {
  std::string sort = {};  // column by which every table that has it is sorted; empty: as it is
  std::optional<size_t> top = {};  // rows kept of each table
};

struct ReduceOptions {
  Display display = {};
  // How many traces the run has, those that could not be read included; nothing: not known. Fewer
  // of them are counted by the diagnostic missing-parts, more are an error.
  std::optional<uint64_t> expected_files = {};
  StopToken stop = {};
};

// The answer of all these partials, in any order. Parts of a run that was divided (Shard) and are
// missing are counted by the diagnostic missing-parts. kInvalidArgument where they are of different
// questions, or hold a file twice with different content; kCancelled once `stop` is requested.
BORESCOPE_EXPORT Result<Answer> Reduce(std::span<const Partial> partials,
                                       const ReduceOptions& options = {});
// The same; errors as those of Parse and of reading, too.
BORESCOPE_EXPORT Result<Answer> Reduce(std::span<const StoredPart> parts,
                                       const ReduceOptions& options = {});

// Run::Report and Run::WriteReport of partials that answer the verb "report". Of the display they
// take `top`.
BORESCOPE_EXPORT Result<std::vector<FileInfo>> ReportOf(std::span<const StoredPart> parts,
                                                        const Output& output,
                                                        const ReduceOptions& options = {});
BORESCOPE_EXPORT Result<std::vector<FileInfo>> WriteReportOf(std::span<const StoredPart> parts,
                                                             const ReportOutputs& outputs,
                                                             const ReduceOptions& options = {});

// One partial that holds them all, for reducing in a tree. It is as large as they are together.
BORESCOPE_EXPORT Result<Partial> Merge(std::span<const Partial> partials, StopToken stop = {});

}  // namespace borescope
