#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/analysis/core/reduce.h"
#include "borescope/analysis/core/selection/selection.h"
#include "borescope/base/hash/hash_tables.h"
#include "borescope/packs/pyprof/marker_work.h"

namespace borescope::internal {

// prof and its twin of --compat pyprof: one row per kernel, with the operator, the layer and the
// line of Python that it comes from, and what it computes and moves.
//
//   python_literal.cc            the language of PyProf's markers
//   markers.cc                   the markers
//   launch_ranges.cc             what is around a launch
//   analysis/verbs/prof/prof.cc  the rows by our rules
//   compat.cc                    the rows by PyProf's
//   parse_stage.cc               what PyProf makes the rows from
//   formulas/formula_table.cc    PyProf's FLOPs and bytes, in formulas/*_formulas.cc
//   columns.cc                   the columns of both

Result<Tables> MapPyProf(const RankView& view, const Params& params);
Result<Tables> FinishPyProf(Tables tables, const Params& params);
inline constexpr Pipeline kPyProf{.map = MapPyProf, .reduce = ConcatTables, .finish = FinishPyProf};

// What PyProf's parse stage writes of every kernel, and how its second stage ties a backward kernel
// to a forward one. Quirks included (docs/use/compat-pyprof.md).

struct PyProfRecord {
  DeviceId kernel = {};
  std::string name = {};              // short
  std::vector<int64_t> seq = {};      // sequence numbers
  std::vector<int64_t> alt_seq = {};  // more of them
  int64_t sub = 0;                    // number of the kernel of its operator
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

  // As the parse stage has it: a backward kernel has nothing yet of its forward operator.
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
  // The last forward kernel with arguments or without, by its numbers: what a backward kernel gets.
  std::vector<PyProfRecord> forward_;
  HashMap<int64_t, size_t> by_seq_, by_alt_seq_;
};

// What PyProf's parse stage writes (`parse.py net.sql > net.dict`): for each kernel a line, a dict
// of Python with the markers around its launch, from which its second stage makes the table.

// A table "prof" with the columns rank and record.
Table ParsedRecords(const RankView& view, const std::vector<DeviceId>& all,
                    const Selected& selected);

// The table with the records alone.
Table TakeRecords(Table table);

// A text as repr() of Python writes it. Bytes that are not ASCII stay as they are.
std::string PythonRepr(std::string_view text);

}  // namespace borescope::internal
