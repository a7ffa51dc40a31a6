// The columns that device_events shares with the relations made of some of its rows.
#pragma once

#include "borescope/query/relations/cells.h"
#include "borescope/trace/kind_names.h"

namespace borescope::internal::query::device {

using Rows = const RankRows&;

inline const DeviceEvents& Device(Rows r) { return r.trace.device(); }

inline Cell KindOf(Rows r, uint32_t row) { return Text(DeviceKindName(Device(r).kind[row])); }

inline bool IsKernel(Rows r, uint32_t row) { return Device(r).kind[row] == DeviceKind::kKernel; }
inline bool IsSync(Rows r, uint32_t row) { return Device(r).kind[row] == DeviceKind::kSync; }
inline bool IsCopy(Rows r, uint32_t row) {
  return Device(r).kind[row] == DeviceKind::kMemcpy || Device(r).kind[row] == DeviceKind::kMemset;
}

inline Cell StepOf(Rows r, uint32_t row) {
  const Steps& steps = r.index.steps;
  const uint32_t step = steps.device_step.empty() ? kNoStep : steps.device_step[row];
  return step == kNoStep ? Null() : Int(steps.steps[step].number);
}

inline Cell ClassOf(Rows r, uint32_t row) {
  return IsKernel(r, row) ? Text(KernelClassName(r.index.ClassOf(r.trace, DeviceId{row}))) : Null();
}

// The cell that `make` makes of one value of a detail column; NULL where there is no detail.
template <class Column, class Make>
inline Cell At(Rows r, uint32_t row, const Column& column, Make make) {
  const uint32_t detail = Device(r).detail[row];
  return detail == kNoDetail ? Null() : make(column[detail]);
}

inline constexpr ColumnSpec kTs = {"ts_ns", kInteger, kMany, "Start on the clock of the file.",
                                   [](Rows r, uint32_t row) { return Int(Device(r).ts_ns[row]); }};
inline constexpr ColumnSpec kDur = {
    "dur_ns", kInteger, kMany, "Duration.",
    [](Rows r, uint32_t row) { return Int(Device(r).dur_ns[row]); }};
inline constexpr ColumnSpec kEnd = {
    "end_ns", kInteger, kMany, "End: ts_ns + dur_ns.",
    [](Rows r, uint32_t row) { return Int(EndOf(Device(r).ts_ns[row], Device(r).dur_ns[row])); }};
inline constexpr ColumnSpec kName = {
    "name", kText, kMany, "Name as recorded.",
    [](Rows r, uint32_t row) { return Pooled(Device(r).name[row]); }};
inline constexpr ColumnSpec kNameId = {
    "name_id", kInteger, kMany, "The name's id in strings: cheaper to group by within one rank.",
    [](Rows r, uint32_t row) { return Int(Device(r).name[row].value); }};
inline constexpr ColumnSpec kGpu = {
    "gpu", kInteger, kFew, "Device number as recorded.",
    [](Rows r, uint32_t row) { return Int(r.trace.DeviceOf(DeviceId{row})); }};
inline constexpr ColumnSpec kStream = {
    "stream", kInteger, kFew, "Stream number.",
    [](Rows r, uint32_t row) { return Int(r.trace.StreamOf(DeviceId{row})); }};
inline constexpr ColumnSpec kProcess = {
    "process", kInteger, kFew, "Process whose stream it is, in files of several processes.",
    [](Rows r, uint32_t row) { return Int(r.trace.tracks().process[Device(r).track[row].value]); }};
inline constexpr ColumnSpec kTrack = {
    "track_id", kInteger, kFew, "Its line in tracks.",
    [](Rows r, uint32_t row) { return RowId(Device(r).track[row].value); }};
inline constexpr ColumnSpec kCorrelation = {
    "correlation", kInteger, kKey, "Correlation number, shared with its launch.",
    [](Rows r, uint32_t row) { return Int(Device(r).correlation[row]); }};
inline constexpr ColumnSpec kExternalId = {
    "external_id", kInteger, kKey, "\"External id\" as recorded.",
    [](Rows r, uint32_t row) { return Int(Device(r).external_id[row]); }};
inline constexpr ColumnSpec kClass = {
    "class", kText, kFew, "Kernel class read from the name: gemm, attention, collective, ….",
    ClassOf};
inline constexpr ColumnSpec kLaunch = {
    "launch_id", kInteger, kKey, "The runtime call that started it, in launches.",
    [](Rows r, uint32_t row) { return RowId(r.index.correlation.launch_of[row].value); }};
inline constexpr ColumnSpec kOp = {
    "op_id", kInteger, kKey,
    "The innermost operator that launched it, in ops; for kernels of graphs, in captured_ops.",
    [](Rows r, uint32_t row) { return RowId(r.index.correlation.op_of[row].value); }};
inline constexpr ColumnSpec kStep = {"step", kInteger, kFew,
                                     "Number of the step in which it was launched.", StepOf};
inline constexpr ColumnSpec kKind = {
    "kind", kText, kFew, "kernel, memcpy, memset, sync, annotation, range or other.", KindOf};

inline constexpr ColumnSpec kIsWork = {
    "is_work", kInteger, kFew, "1 for kernels, copies and memsets: what occupies the device.",
    [](Rows r, uint32_t row) { return Bool(IsDeviceWork(Device(r).kind[row])); }};

}  // namespace borescope::internal::query::device
