// The rows of --compat pyprof. PyProf's table has one row per kernel, with the operator, the layer
// and the line of Python that it comes from, and what it computes and moves:
//
//   markers.h           the markers of PyProf, and the language they are written in
//   marker_work.h       the ranges around a launch, and what a kernel computes by the markers
//   prof.cc             the rows of the verb `prof`, by Borescope's rules
//   pyprof_rows.cc      the rows by PyProf's rules, and what PyProf makes them from
//   formulas/formula.h  PyProf's FLOPs and bytes
//   columns.h           the columns of both tables
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/analysis/core/reduce.h"
#include "borescope/analysis/core/selection/selection.h"
#include "borescope/base/hash/hash_tables.h"
#include "borescope/packs/pyprof/marker_work.h"

namespace borescope::internal {

// The columns of PyProf's table, in two forms: Borescope's own, and those of --compat pyprof.

// One kernel, ready to be shown. Empty texts are missing.
struct ProfRow {
  DeviceId kernel = {};
  int64_t idx = 0;
  std::vector<int64_t> seq = {}, alt_seq = {};
  int64_t tid = kMissing;
  std::string layer = {}, trace = {};
  std::string_view dir = {};
  std::optional<int64_t> sub = {};
  std::string mod = {}, op = {}, name = {}, params = {};
  std::string_view tc = {};
  std::optional<int64_t> flops = {}, bytes = {};
  std::string_view status = {};
  // By counters of reports (counter_join.h): amounts of this kernel, and where they are from.
  std::optional<int64_t> tensor_flops = {}, dram_read = {}, dram_written = {};
  std::string_view source = {};
};

// Adds a row; `table` is from NewProfTable.
Table NewProfTable();
void PushProfRow(const RankView& view, const ProfRow& row, Table& table);

// Whether the names in --columns are columns; kInvalidArgument lists the columns there are.
Result<void> CheckProfColumns(std::string_view columns);

// Whether lines of `width` have room for these columns (for an empty list, PyProf's own), which
// must have passed CheckProfColumns; kInvalidArgument says how much they need.
Result<void> CheckProfWidth(std::string_view columns, int64_t width);

// The table with the requested columns, in that order; all of them for an empty list. In columns of
// fixed width a call stack is its last frame, and an empty list means PyProf's own columns.
Table SelectProfColumns(Table table, std::string_view columns, bool in_fixed_width);

// The same with PyProf's headings; its own columns for an empty list.
Table SelectPyProfColumns(Table table, std::string_view columns, bool in_fixed_width);

// The widths of the columns of such a table in lines of `width`: each has its least width, and
// kernel and params share the rest.
std::vector<size_t> ProfWidths(const Table& table, int64_t width);

// The texts with `separator` between them.
std::string Joined(std::span<const std::string> texts, std::string_view separator);

Result<Tables> MapPyProf(const RankView& view, const Params& params);
Result<Tables> FinishPyProf(Tables tables, const Params& params);
inline constexpr Pipeline kPyProf{.map = MapPyProf, .reduce = ConcatTables, .finish = FinishPyProf};

// What PyProf's parse stage writes about every kernel, and how its second stage ties a backward
// kernel to a forward one. Quirks included (docs/use/compat-pyprof.md).

struct PyProfRecord {
  DeviceId kernel = {};
  std::string name = {};              // short
  std::vector<int64_t> seq = {};      // sequence numbers
  std::vector<int64_t> alt_seq = {};  // more of them
  int64_t sub = 0;                    // number of the kernel among those of its operator
  bool is_backward = false;
  std::vector<std::string> seq_markers = {};  // "conv2d, seq = 5", those that count
  std::vector<std::string> mods = {}, ops = {};
  std::vector<std::string> layers = {};  // outermost first
  HostId trace = {};                     // innermost trace marker; may be invalid
  HostId call = {};                      // outermost argument marker; may be invalid
  bool is_damaged = false;               // a marker cannot be read
};

class PyProfRecords {
 public:
  // `ranges` are those of `view`.
  PyProfRecords(const RankView& view, PyProfMarkers& markers, const RangesAround& ranges)
      : view_(view), markers_(markers), ranges_(ranges) {}

  // Kernels must come in the order of their launches.
  PyProfRecord Next(DeviceId kernel);

  // As the parse stage writes it: a backward kernel has no data of its forward operator yet.
  PyProfRecord NextParsed(DeviceId kernel);

 private:
  struct SequenceMarker {
    int64_t number;
    std::string name;
  };

  void ReadMarkers(PyProfRecord& record, std::vector<SequenceMarker>& sequences);
  static std::vector<int64_t> ReadSequences(std::vector<SequenceMarker> sequences,
                                            PyProfRecord& record);
  void NumberKernel(PyProfRecord& record, std::vector<int64_t> ids);
  void BorrowFromForward(PyProfRecord& record) const;
  void Remember(const PyProfRecord& record);

  const RankView& view_;
  PyProfMarkers& markers_;
  const RangesAround& ranges_;
  int64_t previous_seq_ = -1;
  int64_t previous_sub_ = -1;
  std::vector<std::string> previous_ops_ = {"na"};
  // The last forward kernel, with or without arguments, by its numbers: its data go to the backward
  // kernel.
  std::vector<PyProfRecord> forward_;
  HashMap<int64_t, size_t> by_seq_, by_alt_seq_;
};

// What PyProf's parse stage writes (`parse.py net.sql > net.dict`): for each kernel a line, a dict
// of Python with the markers around its launch, from which its second stage makes the table.

// A table "prof" with the columns rank and record.
Table ParsedRecords(const RankView& view, const std::vector<DeviceId>& all,
                    const Selected& selected);

// The table with only the records.
Table TakeRecords(Table table);

// A text as repr() of Python writes it. Bytes that are not ASCII stay as they are.
std::string PythonRepr(std::string_view text);

}  // namespace borescope::internal
