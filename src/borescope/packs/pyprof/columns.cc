#include "borescope/packs/pyprof/columns.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>

#include "borescope/analysis/core/key_columns.h"
#include "borescope/analysis/core/row.h"

namespace borescope::internal {
namespace {

enum class CellType : uint8_t { kInt, kText };

struct ColumnRow {
  std::string_view option;  // of --columns
  std::string_view name;
  std::string_view heading;  // of PyProf; empty: it has no such column
  CellType type;
  size_t width;  // least one in lines of fixed width (as PyProf's); 0: shares what is left
  Unit unit;
  std::string_view doc;
};
using enum CellType;
constexpr ColumnRow kColumns[] = {
    {"rank", "rank", "Rank", kInt, 4, Unit::kNone, kRankDoc},
    {"idx", "idx", "Idx", kInt, 7, Unit::kNone,
     "Number of the row among those of its rank, from 1, in the order of the launches."},
    {"seq", "seq", "SeqId", kText, 7, Unit::kNone, "Autograd sequence number of the operator."},
    {"altseq", "altseq", "AltSeqId", kText, 7, Unit::kNone,
     "Other sequence numbers around the launch."},
    {"tid", "tid", "TId", kInt, 12, Unit::kNone, "Thread that launched the kernel."},
    {"layer", "layer", "Layer", kText, 10, Unit::kNone,
     "Layers around the operator, outermost first: ranges layer:NAME, else modules, else "
     "annotations; of a backward kernel those of its forward operator."},
    {"trace", "trace", "Trace", kText, 25, Unit::kNone,
     "Python call stack of the operator, outermost first, as file:line without the framework's."},
    {"dir", "dir", "Direction", kText, 5, Unit::kNone,
     "forward, backward, recompute (forward repeated inside backward), update (of parameters), "
     "unknown."},
    {"sub", "sub", "Sub", kInt, 3, Unit::kNone,
     "Number of the kernel among those of its operator call, from 0; missing without a call."},
    {"mod", "mod", "Module", kText, 15, Unit::kNone, "Module or namespace of the operator."},
    {"op", "op", "Op", kText, 15, Unit::kNone,
     "Operator whose mathematics the kernel does: the innermost with a cost model, else the "
     "innermost of all."},
    {"kernel", "kernel", "Kernel", kText, 0, Unit::kNone, "Name of the kernel as recorded."},
    {"params", "params", "Params", kText, 0, Unit::kNone,
     "Sizes and types of the operator's tensors; M, N and K as BLAS has them, by columns."},
    {"sil", "sil_ns", "Sil(ns)", kInt, 10, Unit::kNanoseconds, "Duration of the kernel."},
    {"tc", "tc", "TC", kText, 2, Unit::kNone,
     "Matrix units, by the kernel's name: 1 used, 0 could be but are not, - nothing for them, ? "
     "the name does not tell."},
    {"device", "device", "Device", kInt, 3, Unit::kNone, "Device the kernel ran on."},
    {"stream", "stream", "Stream", kInt, 3, Unit::kNone, "Stream the kernel ran on."},
    {"grid", "grid", "Grid", kText, 12, Unit::kNone, "Blocks as x,y,z (AMD: work-items)."},
    {"block", "block", "Block", kText, 12, Unit::kNone, "Threads of a block as x,y,z."},
    {"flops", "flops", "FLOPs", kInt, 12, Unit::kFlops,
     "FLOPs of the operator call by its arguments (of its products of matrices, if it has any), "
     "divided equally among its main kernels; 0 for its other kernels."},
    {"bytes", "bytes", "Bytes", kInt, 12, Unit::kBytes,
     "Least bytes the call reads and writes, divided in the same way."},
    {"status", "status", "Status", kText, 15, Unit::kNone,
     "modelled, helper (a kernel beside the main ones), or why flops and bytes are unknown."},
    {"tensor_flops", "tensor_flops", "TensorFLOPs", kInt, 12, Unit::kFlops,
     "Operations of matrix units, as measured in another run (counters); missing if they were not "
     "counted for the type of the operands."},
    {"dram_read", "dram_read", "DRAMRead", kInt, 12, Unit::kBytes,
     "Bytes read from device memory, as measured."},
    {"dram_written", "dram_written", "DRAMWritten", kInt, 12, Unit::kBytes,
     "Bytes written to device memory until the kernel ended, as measured."},
    {"source", "source", "Source", kText, 10, Unit::kNone,
     "How the kernel came by these: matched within a range or by order, or broadcast; else why "
     "not: ambiguous, other work, none."}};
// Shown by default only if a report was given.
constexpr std::string_view kCounterColumns[] = {"tensor_flops", "dram_read", "dram_written",
                                                "source"};

constexpr std::string_view kPyProfDefault = "idx,dir,sub,mod,op,kernel,params,sil";

// Finds a column by its name in --columns or in either table.
const ColumnRow* FindColumn(std::string_view name) {
  const auto* found =
      std::find_if(std::begin(kColumns), std::end(kColumns), [&](const ColumnRow& row) {
        return row.option == name || row.name == name || row.heading == name;
      });
  return found == std::end(kColumns) ? nullptr : found;
}

std::vector<std::string_view> SplitColumns(std::string_view list) {
  std::vector<std::string_view> names;
  while (!list.empty()) {
    const size_t end = std::min(list.find(','), list.size());
    names.push_back(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return names;
}

// A column may be requested twice.
Table TakeColumns(const Table& table, std::string_view columns) {
  Table selected{table.name, table.title, {}, table.preview_rows};
  for (const std::string_view option : SplitColumns(columns)) {
    const ColumnRow* row = FindColumn(option);
    if (row != nullptr) selected.columns.push_back(*table.Find(row->name));
  }
  return selected;
}

std::string Dimensions(int32_t x, int32_t y, int32_t z) {
  return x < 0 ? std::string() : fmt::format("{},{},{}", x, y, z);
}

// Keeps the last frame, and only the file name of its path, since a narrow column has no more room.
void KeepLastFrames(Table& table) {
  for (Column& column : table.columns) {
    if (column.name != "trace") continue;
    StringValues frames;
    for (size_t row = 0; row < column.size(); ++row) {
      std::string frame = std::get<StringValues>(column.values)[row];
      frame.erase(0, frame.rfind(',') + 1);
      frame.erase(0, frame.rfind('/') + 1);
      frames.push_back(frame);
    }
    column.values = std::move(frames);
  }
}

// A table of one rank does not show the column rank.
bool HasOneRank(const Table& table) {
  const IntValues& ranks = Ints(table, "rank");
  return std::adjacent_find(ranks.begin(), ranks.end(), std::not_equal_to<>()) == ranks.end();
}

// Whether reports of counters were given.
bool HasCounters(const Table& table) {
  const Column& source = *table.Find("source");
  for (size_t row = 0; row < source.size(); ++row) {
    if (!source.IsMissing(row)) return true;
  }
  return false;
}

// PyProf's own columns.
Table TakeDefaultColumns(const Table& table) {
  Table selected = TakeColumns(table, kPyProfDefault);
  if (!HasOneRank(table)) {
    selected.columns.insert(selected.columns.begin(), table.columns.front());
  }
  return selected;
}

void PushShape(const Trace& trace, DeviceId id, Row& out) {
  const uint32_t detail = trace.device().detail[id.value];
  if (trace.device().kind[id.value] != DeviceKind::kKernel || detail == kNoDetail) {
    out.Missing().Missing();
    return;
  }
  const Kernels& kernels = trace.kernels();
  out.MaybeText(Dimensions(kernels.grid_x[detail], kernels.grid_y[detail], kernels.grid_z[detail]));
  out.MaybeText(
      Dimensions(kernels.block_x[detail], kernels.block_y[detail], kernels.block_z[detail]));
}

}  // namespace

std::string Joined(std::span<const std::string> texts, std::string_view separator) {
  return fmt::format("{}", fmt::join(texts, separator));
}

Table NewProfTable() {
  constexpr size_t kPreviewRows = 20;
  Table table{"prof", "Kernels with their operators, arguments and work", {}, kPreviewRows};
  for (const ColumnRow& row : kColumns) {
    const Role role = row.option == "rank" ? Role::kKey : Role::kDerived;
    if (row.type == kInt) {
      AddInt(table, row.name, row.unit, role, row.doc);
    } else {
      AddString(table, row.name, role, row.doc);
    }
  }
  return table;
}

void PushProfRow(const RankView& view, const ProfRow& row, Table& table) {
  const Trace& trace = view.trace;
  Row out(table);
  out.Int(view.rank).Int(row.idx);
  out.MaybeText(fmt::format("{}", fmt::join(row.seq, ",")));
  out.MaybeText(fmt::format("{}", fmt::join(row.alt_seq, ",")));
  out.MaybeInt(row.tid).MaybeText(row.layer).MaybeText(row.trace).Text(row.dir).MaybeInt(row.sub);
  out.MaybeText(row.mod).MaybeText(row.op).Text(row.name).MaybeText(row.params);
  out.Int(trace.device().dur_ns[row.kernel.value]).Text(row.tc);
  out.Int(trace.DeviceOf(row.kernel)).Int(trace.StreamOf(row.kernel));
  PushShape(trace, row.kernel, out);
  out.MaybeInt(row.flops).MaybeInt(row.bytes).Text(row.status);
  out.MaybeInt(row.tensor_flops).MaybeInt(row.dram_read).MaybeInt(row.dram_written);
  out.MaybeText(row.source);
}

Result<void> CheckProfColumns(std::string_view columns) {
  for (const std::string_view option : SplitColumns(columns)) {
    const ColumnRow* row = FindColumn(option);
    if (row != nullptr && (row->option == option || row->name == option)) continue;
    std::vector<std::string_view> names;
    names.reserve(std::size(kColumns));
    for (const ColumnRow& known : kColumns) {
      names.push_back(known.option);
    }
    return Error{.code = ErrorCode::kInvalidArgument,
                 .cause = fmt::format("no column '{}'", option),
                 .remedy = fmt::format("columns are {}", fmt::join(names, ", ")),
                 .parameter = "columns"};
  }
  return {};
}

Result<void> CheckProfWidth(std::string_view columns, int64_t width) {
  constexpr int64_t kWidest = 1'000'000;
  const std::string_view shown = columns.empty() ? kPyProfDefault : columns;
  int64_t least = 0;
  for (const std::string_view option : SplitColumns(shown)) {
    least += static_cast<int64_t>(FindColumn(option)->width);
  }
  if (width < least || width > kWidest) {
    return Error{
        .code = ErrorCode::kInvalidArgument,
        .cause = fmt::format("`width` {}: expected at least {}, which {} need, and at most {}",
                             width, least, shown, kWidest),
        .parameter = "width"};
  }
  return {};
}

std::vector<size_t> ProfWidths(const Table& table, int64_t width) {
  std::vector<size_t> widths;
  widths.reserve(table.columns.size());
  int64_t left = width;
  int64_t sharing = 0;
  for (const Column& column : table.columns) {
    widths.push_back(FindColumn(column.name)->width);
    left -= static_cast<int64_t>(widths.back());
  }
  for (const std::string_view name : {"kernel", "params"}) {
    sharing += std::any_of(table.columns.begin(), table.columns.end(), [&](const Column& column) {
      return FindColumn(column.name)->option == name;
    });
  }
  const int64_t share = sharing == 0 ? 0 : std::max<int64_t>(left, 0) / sharing;
  std::replace(widths.begin(), widths.end(), size_t{0}, static_cast<size_t>(share));
  return widths;
}

Table SelectProfColumns(Table table, std::string_view columns, bool in_fixed_width) {
  if (in_fixed_width) KeepLastFrames(table);
  if (!columns.empty()) return TakeColumns(table, columns);
  if (in_fixed_width) return TakeDefaultColumns(table);
  if (!HasCounters(table)) {
    std::erase_if(table.columns, [](const Column& column) {
      return std::find(std::begin(kCounterColumns), std::end(kCounterColumns), column.name) !=
             std::end(kCounterColumns);
    });
  }
  if (HasOneRank(table)) table.columns.erase(table.columns.begin());
  return table;
}

Table SelectPyProfColumns(Table table, std::string_view columns, bool in_fixed_width) {
  if (in_fixed_width) KeepLastFrames(table);
  Table selected = columns.empty() ? TakeDefaultColumns(table) : TakeColumns(table, columns);
  for (Column& column : selected.columns) {
    if (column.name == "op") column.missing.clear();  // an operator may have an empty name
    column.name = FindColumn(column.name)->heading;
  }
  return selected;
}

}  // namespace borescope::internal
