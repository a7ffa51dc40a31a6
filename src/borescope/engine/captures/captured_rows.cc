#include "borescope/engine/captures/captured_rows.h"

#include <algorithm>
#include <set>

#include "borescope/trace/columns.h"

namespace borescope::internal {
namespace {

// Appends row `row` of one table to another, with the texts of the other trace.
template <class Table, class Text>
uint32_t CopyRow(const Table& from, uint32_t row, const Text& text, Table& to) {
  ForEachColumn(
      [&](auto& target, const auto& source) {
        using Value = typename std::remove_reference_t<decltype(target)>::value_type;
        if constexpr (std::is_same_v<Value, StringId>) {
          target.push_back(text(source[row]));
        } else {
          target.push_back(source[row]);
        }
      },
      to, from);
  return static_cast<uint32_t>(to.size() - 1);
}

}  // namespace

// By row, so that parents come first. What began before the capture is around the launch, too.
std::vector<uint32_t> CapturedRows::RowsOf(const CapturedGraph& graph) const {
  const CaptureFile& file = files_[graph.file];
  std::set<uint32_t> rows;
  for (HostId row : graph.calls) {
    while (row.valid() && file.trace.host().ts_ns[row.value] >= graph.begin_ns &&
           rows.insert(row.value).second) {
      row = file.index.tree.parent[row.value];
    }
  }
  return {rows.begin(), rows.end()};
}

uint32_t CapturedRows::AddDetail(const Trace& from, uint32_t detail, bool has_arguments) {
  const auto text = [&](StringId id) { return Text(from, id); };
  const uint32_t row = CopyRow(from.ops(), detail, text, data_.ops);
  Ops& ops = data_.ops;
  ops.external_id[row] = kMissing;
  ops.record_function_id[row] = kMissing;
  if (!has_arguments) {
    for (auto* column :
         {&ops.input_dims, &ops.input_types, &ops.input_strides, &ops.concrete_inputs}) {
      (*column)[row] = StringId{0};
    }
  }
  if (ops.collective[row] != kNoDetail) {
    ops.collective[row] = CopyRow(from.collectives(), ops.collective[row], text, data_.collectives);
  }
  if (ops.triton[row] != kNoDetail) {
    ops.triton[row] = CopyRow(from.triton(), ops.triton[row], text, data_.triton);
  }
  return row;
}

HostId CapturedRows::AddRow(const Trace& from, uint32_t row, bool has_arguments, TrackId track) {
  HostEvents& host = data_.host;
  const HostKind kind = from.host().kind[row];
  const uint32_t detail = from.host().detail[row];
  const bool has_detail =
      (kind == HostKind::kOp || kind == HostKind::kAnnotation) && detail != kNoDetail;
  host.ts_ns.push_back(0);
  host.dur_ns.push_back(0);
  host.name.push_back(Text(from, from.host().name[row]));
  host.track.push_back(track);
  host.kind.push_back(kind);
  host.detail.push_back(has_detail ? AddDetail(from, detail, has_arguments) : kNoDetail);
  if (!host.position.empty()) host.position.push_back(kNoPosition);
  ++host.captured;
  return HostId{static_cast<uint32_t>(host.all_size() - 1)};
}

const std::vector<HostId>& CapturedRows::Add(const CapturedGraph& graph, uint32_t number,
                                             bool has_arguments, TrackId track) {
  const auto [place, is_new] = added_.try_emplace({number, has_arguments});
  std::vector<HostId>& calls = place->second;
  if (!is_new) return calls;
  const CaptureFile& file = files_[graph.file];
  std::map<uint32_t, HostId> row_of;
  for (const uint32_t row : RowsOf(graph)) {
    const HostId around = file.index.tree.parent[row];
    const auto parent = around.valid() ? row_of.find(around.value) : row_of.end();
    row_of[row] = AddRow(file.trace, row, has_arguments, track);
    data_.captured.parent.push_back(parent == row_of.end() ? HostId{} : parent->second);
  }
  for (const HostId call : graph.calls) {
    calls.push_back(row_of.at(call.value));
  }
  return calls;
}

}  // namespace borescope::internal
