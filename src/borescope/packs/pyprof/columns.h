// The columns of PyProf's table, in two forms: Borescope's own, and those of --compat pyprof.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"

namespace borescope::internal {

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

}  // namespace borescope::internal
