#include "borescope/packs/pyprof/pyprof_rows.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <iterator>
#include <string>
#include <utility>

#include "borescope/analysis/core/param_specs.h"
#include "borescope/analysis/core/row.h"
#include "borescope/base/each_row.h"
#include "borescope/base/text/text.h"
#include "borescope/packs/pyprof/formulas/formula.h"
#include "borescope/packs/pyprof/marker_work.h"

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

namespace {

bool IsCell(std::string_view mod) {
  return mod == "LSTMCell" || mod == "GRUCell" || mod == "RNNCell";
}

// PyProf looks for two spellings, "Backward, seq = " and "backward, seq = ".
bool EndsBackward(std::string_view name) {
  return name.ends_with("Backward") || name.ends_with("backward");
}

std::string OperatorOfBackward(std::string name) {
  for (const std::string_view part :
       {"torch", "autograd", "_backward", "::", "jit", "(anonymous namespace)"}) {
    for (size_t at = name.find(part); at != std::string::npos; at = name.find(part, at)) {
      name.erase(at, part.size());
    }
  }
  return name.substr(0, name.find("Backward"));
}

bool IsPart(std::string_view a, std::string_view b) { return Contains(a, b) || Contains(b, a); }

void SortUnique(std::vector<int64_t>& ids) {
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
}

// The elements that PyProf's loop removes: it removes elements while it walks the list, so that the
// element after each removed one is skipped.
void MoveOthers(int64_t current, std::vector<int64_t>& ids, std::vector<int64_t>& others) {
  for (size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] != current) {
      others.push_back(ids[i]);
      ids.erase(ids.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
}

}  // namespace

void PyProfRecords::ReadMarkers(PyProfRecord& record, std::vector<SequenceMarker>& sequences) {
  const Trace& trace = view_.trace;
  std::string other;
  for (const HostId row : ranges_.Of(AnchorOf(view_, record.kernel))) {
    if (Contains(trace.Name(row), "CheckpointFunctionBackward")) continue;
    const int64_t number = SequenceOf(trace, row);
    if (number != kMissing) {
      sequences.push_back({number, std::string(trace.Name(row))});
    }
    if (trace.host().kind[row.value] != HostKind::kAnnotation) continue;
    const PyProfMarker& marker = markers_.Of(row);
    if (marker.kind == MarkerKind::kArguments && !marker.call.args.empty()) {
      if (!record.call.valid()) record.call = row;
      if (record.ops.size() == kMostSequences) continue;
      record.mods.push_back(marker.call.mod);
      record.ops.push_back(marker.call.op);
    } else if (marker.kind == MarkerKind::kLayer) {
      record.layers.push_back(marker.layer);
    } else if (marker.kind == MarkerKind::kTrace) {
      record.trace = row;
    } else if (marker.kind == MarkerKind::kBad) {
      record.is_damaged = true;
    } else if (marker.kind != MarkerKind::kModule && other.empty()) {
      other = trace.Name(row);
    }
  }
  KeepInnermost(sequences, kMostSequences);
  KeepInnermost(record.layers, kMostFrames);
  if (record.ops.empty() && sequences.empty() && !other.empty()) record.ops.push_back(other);
}

void PyProfRecords::NumberKernel(PyProfRecord& record, std::vector<int64_t> ids) {
  if (ids.empty()) return;
  int64_t current = ids.front();
  if (!record.is_backward) {
    const auto next = std::upper_bound(ids.begin(), ids.end(), previous_seq_);
    current = next == ids.end() ? previous_seq_ : *next;
  }
  const bool is_same = record.ops == previous_ops_;
  const bool is_cell = !record.ops.empty() && record.ops.front() == "forward" &&
                       !record.mods.empty() && IsCell(record.mods.front());
  if (is_same && (current == previous_seq_ || is_cell)) record.sub = previous_sub_ + 1;
  previous_seq_ = current;
  previous_sub_ = record.sub;
  previous_ops_ = record.ops;
  MoveOthers(current, ids, record.alt_seq);
  record.seq = std::move(ids);
  SortUnique(record.alt_seq);
}

void PyProfRecords::BorrowFromForward(PyProfRecord& record) const {
  auto found = by_seq_.find(record.seq.front());
  if (found == by_seq_.end()) {
    found = by_alt_seq_.find(record.seq.front());
    if (found == by_alt_seq_.end()) return;
  }
  const PyProfRecord& forward = forward_[found->second];
  record.call = forward.call;
  record.mods = forward.mods;
  record.ops = forward.ops;
  record.layers = forward.layers;
  record.trace = forward.trace;
}

void PyProfRecords::Remember(const PyProfRecord& record) {
  if (record.is_backward || (record.seq.empty() && record.alt_seq.empty())) return;
  for (const int64_t number : record.seq) {
    by_seq_[number] = forward_.size();
  }
  for (const int64_t number : record.alt_seq) {
    by_alt_seq_[number] = forward_.size();
  }
  forward_.push_back(record);
}

// Sorted as texts. Of neighbours with one number, those whose name is a part of the other's are
// dropped.
std::vector<int64_t> PyProfRecords::ReadSequences(std::vector<SequenceMarker> sequences,
                                                  PyProfRecord& record) {
  const auto key = [](const SequenceMarker& marker) {
    return std::to_string(marker.number) + marker.name;
  };
  std::sort(sequences.begin(), sequences.end(),
            [&](const auto& a, const auto& b) { return key(a) < key(b); });
  std::vector<int64_t> ids;
  std::vector<std::string> ops;
  std::vector<std::string> backward_ops;
  for (size_t i = 0; i < sequences.size(); ++i) {
    const auto& [number, name] = sequences[i];
    if (i > 0 && sequences[i - 1].number == number && IsPart(sequences[i - 1].name, name)) continue;
    ids.push_back(number);
    ops.push_back(name);
    record.seq_markers.push_back(fmt::format("{}, seq = {}", name, number));
    record.is_backward |= EndsBackward(name) || name.ends_with("Backward0");
    if (EndsBackward(name)) backward_ops.push_back(OperatorOfBackward(name));
  }
  if (!record.call.valid() && !ops.empty()) {
    record.ops = std::move(backward_ops.empty() ? ops : backward_ops);
  }
  SortUnique(ids);
  if (ids.size() > 1) std::erase(ids, 0);
  return ids;
}

PyProfRecord PyProfRecords::NextParsed(DeviceId kernel) {
  PyProfRecord record{.kernel = kernel, .name = PyProfShortName(view_.trace.Name(kernel))};
  std::vector<SequenceMarker> sequences;
  ReadMarkers(record, sequences);
  std::vector<int64_t> ids = ReadSequences(std::move(sequences), record);
  if (record.mods.empty()) record.mods = {"na"};
  NumberKernel(record, std::move(ids));
  return record;
}

PyProfRecord PyProfRecords::Next(DeviceId kernel) {
  PyProfRecord record = NextParsed(kernel);
  if (record.is_backward && !record.call.valid() && !record.seq.empty()) BorrowFromForward(record);
  Remember(record);
  return record;
}

namespace {

constexpr std::string_view kRecordDoc =
    "A dict of Python, as PyProf's parse stage writes it for the kernel.";

std::string ListOf(const std::vector<std::string>& texts) {
  std::string list;
  for (const std::string& text : texts) {
    list += (list.empty() ? "" : ", ") + PythonRepr(text);
  }
  return "[" + list + "]";
}

std::string ListOf(const std::vector<int64_t>& numbers) {
  return fmt::format("[{}]", fmt::join(numbers, ", "));
}

// Empty if it was not recorded.
std::string DimensionsOf(int32_t x, int32_t y, int32_t z) {
  return x < 0 ? "()" : fmt::format("({}, {}, {})", x, y, z);
}

// The texts of markers around a launch, outermost first.
struct MarkerTexts {
  std::vector<std::string> modules = {};
  std::vector<std::string> arguments = {};
};

class ParseStage {
 public:
  explicit ParseStage(const RankView& view)
      : view_(view), markers_(view.trace), ranges_(view), records_(view, markers_, ranges_) {}

  // The line of the next kernel, in the order of the launches.
  std::string Line(DeviceId kernel);

 private:
  MarkerTexts TextsAround(HostId launch);
  std::string Context(const PyProfRecord& record, HostId launch);
  std::string Place(DeviceId kernel, HostId launch) const;

  const RankView& view_;
  PyProfMarkers markers_;
  RangesAround ranges_;
  PyProfRecords records_;
};

MarkerTexts ParseStage::TextsAround(HostId launch) {
  MarkerTexts texts;
  for (const HostId row : ranges_.Of(launch)) {
    if (view_.trace.host().kind[row.value] != HostKind::kAnnotation) continue;
    const PyProfMarker& marker = markers_.Of(row);
    if (marker.kind == MarkerKind::kModule) {
      texts.modules.emplace_back(view_.trace.Name(row));
    } else if (marker.kind == MarkerKind::kBad ||
               (marker.kind == MarkerKind::kArguments && !marker.call.args.empty())) {
      texts.arguments.emplace_back(view_.trace.Name(row));
    }
  }
  return texts;
}

// The part of the line that comes from the markers.
std::string ParseStage::Context(const PyProfRecord& record, HostId launch) {
  const MarkerTexts texts = TextsAround(launch);
  const std::vector<std::string> frames =
      record.trace.valid() ? markers_.Of(record.trace).frames : std::vector<std::string>();
  return fmt::format(
      "'layer': {}, 'trace': {}, 'reprMarkers': {}, 'marker': {}, 'seqMarker': {}, 'seqId': {}, "
      "'subSeqId': {}, 'altSeqId': {}, 'dir': '{}', 'mod': {}, 'op': {}",
      ListOf(record.layers), ListOf(frames), ListOf(texts.modules), ListOf(texts.arguments),
      ListOf(record.seq_markers), ListOf(record.seq), record.sub, ListOf(record.alt_seq),
      record.is_backward ? "bprop" : "fprop", ListOf(record.mods), ListOf(record.ops));
}

// The part of the line about the place of the launch and of the kernel.
std::string ParseStage::Place(DeviceId kernel, HostId launch) const {
  const Trace& trace = view_.trace;
  const std::string thread =
      launch.valid() ? fmt::format("{}", trace.tracks().tid[trace.host().track[launch.value].value])
                     : "None";
  std::string grid = "()";
  std::string block = "()";
  if (const uint32_t detail = trace.device().detail[kernel.value]; detail != kNoDetail) {
    const Kernels& kernels = trace.kernels();
    grid = DimensionsOf(kernels.grid_x[detail], kernels.grid_y[detail], kernels.grid_z[detail]);
    block = DimensionsOf(kernels.block_x[detail], kernels.block_y[detail], kernels.block_z[detail]);
  }
  return fmt::format("'tid': {}, 'device': {}, 'stream': {}, 'grid': {}, 'block': {}", thread,
                     trace.DeviceOf(kernel), trace.StreamOf(kernel), grid, block);
}

std::string ParseStage::Line(DeviceId kernel) {
  const PyProfRecord record = records_.NextParsed(kernel);
  const HostId launch = AnchorOf(view_, kernel);
  return fmt::format("{{'kShortName': {}, 'kDuration': {}, {}, {}, 'kLongName': {}}}",
                     PythonRepr(record.name), view_.trace.device().dur_ns[kernel.value],
                     Context(record, launch), Place(kernel, launch),
                     PythonRepr(view_.trace.Name(kernel)));
}

}  // namespace

std::string PythonRepr(std::string_view text) {
  const bool has_single = text.find('\'') != std::string_view::npos;
  const char quote = has_single && text.find('"') == std::string_view::npos ? '"' : '\'';
  std::string literal(1, quote);
  for (const char c : text) {
    if (c == quote || c == '\\') {
      literal += {'\\', c};
    } else if (c == '\n' || c == '\r' || c == '\t') {
      literal += {'\\', c == '\n' ? 'n' : c == '\r' ? 'r' : 't'};
    } else if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') {
      literal += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      literal += c;
    }
  }
  return literal + quote;
}

Table ParsedRecords(const RankView& view, const std::vector<DeviceId>& all,
                    const Selected& selected) {
  Table table{"prof", "Kernels as PyProf's parse stage writes them", {}, 20};
  AddInt(table, "rank", Unit::kNone, Role::kKey, kRankDoc);
  AddString(table, "record", Role::kDerived, kRecordDoc);
  ParseStage stage(view);
  for (const size_t i : EachIndex(all.size())) {
    std::string line = stage.Line(all[i]);
    if (selected.Keeps(all[i])) Row(table).Int(view.rank).Text(line);
  }
  return table;
}

Table TakeRecords(Table table) {
  table.columns.erase(table.columns.begin());
  return table;
}

// The table of NVIDIA PyProf 3.11 from the same recording.

namespace {

constexpr std::string_view kStopped = "PyProf stops";  // at a marker, its types, the kernel
constexpr std::string_view kNoSequence =
    "no sequence number";  // of a backward kernel: PyProf stops

class PyProfTable {
 public:
  explicit PyProfTable(const RankView& view)
      : view_(view),
        markers_(view.trace),
        ranges_(view),
        records_(view, markers_, ranges_),
        table_(NewProfTable()) {}

  // `all` are the kernels that are numbered and paired, in order; those that are also selected have
  // rows.
  Table Build(const std::vector<DeviceId>& all, const Selected& selected);

 private:
  void AddWork(const PyProfRecord& record, ProfRow& row);
  PyProfKernel KernelOf(const PyProfRecord& record) const;

  const RankView& view_;
  PyProfMarkers markers_;
  RangesAround ranges_;
  PyProfRecords records_;
  Table table_;
};

PyProfKernel PyProfTable::KernelOf(const PyProfRecord& record) const {
  PyProfKernel kernel{.name = record.name, .is_backward = record.is_backward, .sub = record.sub};
  const uint32_t detail = view_.trace.device().detail[record.kernel.value];
  if (detail != kNoDetail) {
    kernel.grid_x = view_.trace.kernels().grid_x[detail];
    kernel.grid_y = view_.trace.kernels().grid_y[detail];
  }
  return kernel;
}

std::optional<int64_t> NumberOf(Quantity quantity) {
  const bool fits = quantity.value() <= static_cast<uint64_t>(INT64_MAX);
  return fits ? std::optional(static_cast<int64_t>(quantity.value())) : std::nullopt;
}

void PyProfTable::AddWork(const PyProfRecord& record, ProfRow& row) {
  row.op = record.ops.empty() ? "" : record.ops.front();
  row.mod = record.mods.front();
  row.params = "na=na,";
  row.tc = "na";
  row.status = "no arguments";
  row.flops = row.bytes = 0;
  if (record.is_damaged || (record.is_backward && record.seq.empty())) {
    row.status = record.is_damaged ? kStopped : kNoSequence;
    row.flops = row.bytes = std::nullopt;
  } else if (record.call.valid()) {
    const auto work = PyProfWorkOf(markers_.Of(record.call).call, KernelOf(record));
    row.status = work ? "modelled" : kStopped;
    row.flops = work ? NumberOf(work->flops) : std::nullopt;
    row.bytes = work ? NumberOf(work->bytes) : std::nullopt;
    if (!work) return;
    row.op = work->op;
    row.params = work->params;
    row.tc = work->tc;
  }
}

std::string Underscored(std::string name) {
  for (char& c : name) {
    c = c == ' ' ? '_' : c;
  }
  return name;
}

Table PyProfTable::Build(const std::vector<DeviceId>& all, const Selected& selected) {
  int64_t idx = 0;
  for (const DeviceId id : all) {
    const PyProfRecord record = records_.Next(id);
    if (!selected.Keeps(id)) continue;
    ProfRow row{.kernel = id, .idx = ++idx, .seq = record.seq, .alt_seq = record.alt_seq};
    const HostId anchor = AnchorOf(view_, id);
    if (anchor.valid()) {
      row.tid = view_.trace.tracks().tid[view_.trace.host().track[anchor.value].value];
    }
    row.layer = Joined(record.layers, ":");
    if (record.trace.valid()) row.trace = Joined(markers_.Of(record.trace).frames, ",");
    row.dir = record.is_backward ? "bprop" : "fprop";
    row.sub = record.sub;
    row.name = Underscored(record.name);
    AddWork(record, row);
    PushProfRow(view_, row, table_);
  }
  return std::move(table_);
}

}  // namespace

Result<Tables> MapPyProf(const RankView& view, const Params& params) {
  BS_ASSIGN(const Selected selected, Selected::Make(view, params.selection));
  BS_ASSIGN(const Selected everything, Selected::Make(view, Selection{}));
  const std::vector<DeviceId> all = LaunchOrder(view, everything, false);
  Tables findings;
  findings.push_back(params.Flag(kParseParam) ? ParsedRecords(view, all, selected)
                                              : PyProfTable(view).Build(all, selected));
  return findings;
}

Result<Tables> FinishPyProf(Tables findings, const Params& params) {
  if (params.Flag(kParseParam)) {
    findings[0] = TakeRecords(std::move(findings[0]));
    return findings;
  }
  findings[0] = SelectPyProfColumns(std::move(findings[0]), params.Text(kColumnsParam),
                                    params.Number(kWidthParam) != 0);
  return findings;
}

}  // namespace borescope::internal
