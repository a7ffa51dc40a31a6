// Counters as text: what `ncu --csv` prints, and the *_counter_collection.csv of rocprofv3
// (docs/formats/counters.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "borescope/base/diagnostics.h"
#include "borescope/base/result.h"
#include "borescope/ingest/cupti/demangle.h"
#include "borescope/trace/counter_report.h"

namespace borescope::internal {

// Rows of comma-separated values: cells may be in quotation marks, which are doubled inside of
// them, and may then hold commas and ends of lines. Not thread-safe; the text must outlive it.
class CsvRows {
 public:
  explicit CsvRows(std::string_view text) : text_(text) {}

  // Moves to the next row that is not empty; false at the end.
  bool Next(std::vector<std::string>& cells);
  // Where the row began, in bytes.
  uint64_t row_begin() const { return begin_; }
  // The last row ended inside of a quoted cell: the text is cut off.
  bool is_cut() const { return is_cut_; }
  // The last row is not ended by a line break.
  bool at_end() const { return at_ == text_.size(); }

 private:
  void TakeCell(std::string& cell);

  std::string_view text_;
  size_t at_ = 0;
  size_t begin_ = 0;
  bool is_cut_ = false;
};

// Where the line of names of `ncu --csv` begins in the first part of a text, behind what ncu and
// the program printed before; npos: it is no such text. O(text).
size_t FindNcuCsv(std::string_view text);

// Whether the first part of a text, of which the first kCsvBeginBytes are looked at, is one of
// those. JSON never is.
inline constexpr size_t kCsvBeginBytes = size_t{1} << 16;
bool IsNcuCsv(std::string_view begin);

// Reads the text of `ncu --csv`, wide (--page raw) or long (a row for each metric). What is odd is
// counted; an Error if it has no names of kernels. `name` is the name of the file.
Result<CounterReport> ReadNcuCsv(std::string_view text, const std::string& name,
                                 Diagnostics& diagnostics);

// Whether a text begins with the line of names of rocprofv3's counters.
bool IsRocprofCounters(std::string_view begin);

// The counters of one run of rocprofv3, which writes a file for each process and for each pass, in
// which it runs the program once more. Not thread-safe.
class RocprofCounters {
 public:
  // Adds a file; `name` also shows by its folder (pass_2, pmc_2) to which pass it belongs: the
  // processes of passes are the same in their order.
  Result<void> Add(std::string_view text, const std::string& name, Diagnostics& diagnostics);
  // Call once, after all files. REQUIRES: Add succeeded once at least.
  CounterReport Finish(Diagnostics& diagnostics);

 private:
  struct Columns;
  // Process, agent, number of the dispatch, name of the kernel.
  using Key = std::tuple<int64_t, int64_t, int64_t, std::string>;

  int64_t ProcessOf(const std::string& pass, int64_t pid);
  size_t KernelOf(const std::vector<std::string>& cells, const Columns& columns, int64_t pid,
                  Diagnostics& diagnostics);
  void AddValue(const std::vector<std::string>& cells, const Columns& columns,
                CountedKernel& kernel, uint64_t at, Diagnostics& diagnostics);

  CounterReport report_;
  size_t files_ = 0;
  std::map<Key, size_t> kernels_;
  std::map<std::string, uint32_t, std::less<>> metrics_;
  std::map<std::string, std::vector<int64_t>> processes_;  // of each pass, in their order
  std::string first_pass_;
  std::vector<int64_t> dispatches_;  // numbers, by kernel
  Demangler demangle_;
};

}  // namespace borescope::internal
