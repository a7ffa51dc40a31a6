#include "borescope/packs/pyprof/pyprof_rows.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "borescope/analysis/core/key_columns.h"
#include "borescope/analysis/core/param_specs.h"
#include "borescope/analysis/core/row.h"
#include "borescope/base/each_row.h"
#include "borescope/base/text/text.h"
#include "borescope/packs/pyprof/columns.h"
#include "borescope/packs/pyprof/formulas/formula.h"
#include "borescope/packs/pyprof/marker_work.h"

namespace borescope::internal {

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
