// The columns that host_events shares with the relations made of some of its rows.
#pragma once

#include "borescope/query/relations/cells.h"
#include "borescope/trace/call_stacks.h"
#include "borescope/trace/kind_names.h"

namespace borescope::internal::query::host {

using Rows = const RankRows&;

inline const HostEvents& Host(Rows r) { return r.trace.host(); }

inline int64_t PidOf(Rows r, uint32_t row) {
  return r.trace.tracks().pid[Host(r).track[row].value];
}
inline int64_t TidOf(Rows r, uint32_t row) {
  return r.trace.tracks().tid[Host(r).track[row].value];
}

inline Cell KindOf(Rows r, uint32_t row) { return Text(HostKindName(Host(r).kind[row])); }

// The number of the step an event starts in.
inline Cell StepOf(Rows r, uint32_t row) {
  const uint32_t step = r.index.steps.At(Host(r).track[row], Host(r).ts_ns[row]);
  return step == kNoStep ? Null() : Int(r.index.steps.steps[step].number);
}

// The row of Ops or RuntimeCalls behind a host event, else kNoDetail.
inline uint32_t OpDetail(Rows r, uint32_t row) {
  const HostKind kind = Host(r).kind[row];
  return kind == HostKind::kOp || kind == HostKind::kAnnotation ? Host(r).detail[row] : kNoDetail;
}

inline uint32_t CallDetail(Rows r, uint32_t row) {
  const HostKind kind = Host(r).kind[row];
  return kind == HostKind::kRuntime || kind == HostKind::kOther ? Host(r).detail[row] : kNoDetail;
}

// The cell that `make` makes of one value of a detail column; NULL where there is no detail.
template <class Column, class Make>
inline Cell At(uint32_t detail, const Column& column, Make make) {
  return detail == kNoDetail ? Null() : make(column[detail]);
}

inline uint32_t TritonDetail(Rows r, uint32_t row) {
  const uint32_t op = OpDetail(r, row);
  return op == kNoDetail ? kNoDetail : uint32_t{r.trace.ops().triton[op]};
}

inline Cell ExternalIdOf(Rows r, uint32_t row) {
  const uint32_t op = OpDetail(r, row);
  return op != kNoDetail ? Int(r.trace.ops().external_id[op])
                         : At(CallDetail(r, row), r.trace.runtime_calls().external_id, Int);
}

inline Cell CorrelationOf(Rows r, uint32_t row) {
  return At(CallDetail(r, row), r.trace.runtime_calls().correlation, Int);
}

// The innermost operator around a host event.
inline Cell OpAround(Rows r, uint32_t row) {
  HostId at = r.index.tree.parent[row];
  while (at.valid() && !r.index.IsOperator(r.trace, at)) {
    at = r.index.tree.parent[at.value];
  }
  return RowId(at.value);
}

inline Cell DeviceEventsOf(Rows r, uint32_t row) {
  const uint32_t call = CallDetail(r, row);
  return call == kNoDetail ? Null()
                           : Int(static_cast<int64_t>(r.index.correlation.DevicesOf(call).size()));
}

inline constexpr ColumnSpec kTs = {"ts_ns", kInteger, kMany, "Start on the clock of the file.",
                                   [](Rows r, uint32_t row) { return Int(Host(r).ts_ns[row]); }};
inline constexpr ColumnSpec kDur = {"dur_ns", kInteger, kMany, "Duration.",
                                    [](Rows r, uint32_t row) { return Int(Host(r).dur_ns[row]); }};
inline constexpr ColumnSpec kEnd = {
    "end_ns", kInteger, kMany, "End: ts_ns + dur_ns.",
    [](Rows r, uint32_t row) { return Int(EndOf(Host(r).ts_ns[row], Host(r).dur_ns[row])); }};
inline constexpr ColumnSpec kName = {
    "name", kText, kMany, "Name as recorded.",
    [](Rows r, uint32_t row) { return Pooled(Host(r).name[row]); }};
inline constexpr ColumnSpec kNameId = {
    "name_id", kInteger, kMany, "The name's id in strings: cheaper to group by within one rank.",
    [](Rows r, uint32_t row) { return Int(Host(r).name[row].value); }};
inline constexpr ColumnSpec kPid = {"pid", kInteger, kFew, "Process.",
                                    [](Rows r, uint32_t row) { return Int(PidOf(r, row)); }};
inline constexpr ColumnSpec kTid = {"tid", kInteger, kFew, "Thread.",
                                    [](Rows r, uint32_t row) { return Int(TidOf(r, row)); }};
inline constexpr ColumnSpec kTrack = {
    "track_id", kInteger, kFew, "Its line in tracks.",
    [](Rows r, uint32_t row) { return RowId(Host(r).track[row].value); }};
inline constexpr ColumnSpec kParent = {
    "parent_id", kInteger, kKey, "The host event around it, of any kind.",
    [](Rows r, uint32_t row) { return RowId(r.index.tree.parent[row].value); }};
inline constexpr ColumnSpec kStep = {"step", kInteger, kFew, "Number of the step it starts in.",
                                     StepOf};
inline constexpr ColumnSpec kCorrelation = {"correlation", kInteger, kKey,
                                            "Correlation number of a runtime call.", CorrelationOf};
inline constexpr ColumnSpec kExternalId = {"external_id", kInteger, kKey,
                                           "\"External id\" as recorded.", ExternalIdOf};
inline constexpr ColumnSpec kOpAround = {"op_id", kInteger, kKey,
                                         "The innermost operator around it.", OpAround};
inline constexpr ColumnSpec kParentOp = {
    "parent_op_id", kInteger, kKey, "The innermost operator around it, in captured_ops.", OpAround};
inline constexpr ColumnSpec kFrame = {
    "frame_id", kInteger, kKey,
    "The function from which a call was made, in stack_frames, if recorded.",
    [](Rows r, uint32_t row) { return RowId(StackOfCall(r.trace, HostId{row})); }};
inline constexpr ColumnSpec kKind = {"kind", kText, kFew,
                                     "python, annotation, op, runtime or other.", KindOf};

}  // namespace borescope::internal::query::host
