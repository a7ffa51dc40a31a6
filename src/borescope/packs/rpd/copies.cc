// The views copy and copyop: copies as their calls asked for them, with the times of the call, and
// with those of the device. Both know only copies whose call was recorded with its arguments.
#include <utility>
#include <vector>

#include "borescope/analysis/core/key_columns.h"
#include "borescope/analysis/core/row.h"
#include "borescope/packs/rpd/tables.h"

namespace borescope::internal {
namespace {

// What the call of a copy said; kNoDetail where that was not recorded.
uint32_t CallDetail(const RankView& view, DeviceId id) {
  const DeviceEvents& device = view.trace.device();
  const uint32_t detail = device.detail[id.value];
  const bool is_known = device.kind[id.value] != DeviceKind::kKernel && detail != kNoDetail &&
                        view.index.correlation.launch_of[id.value].valid();
  return is_known ? view.trace.copies().call[detail] : kNoDetail;
}

std::vector<DeviceId> DescribedCopies(const RankView& view) {
  std::vector<DeviceId> copies;
  for (const DeviceId id : RpdOps(view)) {
    if (CallDetail(view, id) != kNoDetail) {
      copies.push_back(id);
    }
  }
  return copies;
}

void AddArgumentColumns(Table& table) {
  AddString(table, "stream", Role::kDerived, "Stream as the call named it.");
  AddRpdInts(table, {"size", "width", "height", "kind"});
  AddString(table, "dst", Role::kDerived, "Address copied to.");
  AddString(table, "src", Role::kDerived, "Address copied from.");
  AddRpdInts(table, {"dstDevice", "srcDevice", "sync", "pinned"});
}

void PushArguments(Row& row, const RankView& view, DeviceId id) {
  const CopyCalls& calls = view.trace.copy_calls();
  const uint32_t detail = CallDetail(view, id);
  row.MaybeText(view.trace.Text(calls.stream_handle[detail]));
  row.MaybeInt(view.trace.copies().bytes[view.trace.device().detail[id.value]]);
  row.MaybeInt(calls.width[detail]).MaybeInt(calls.height[detail]).MaybeInt(calls.kind[detail]);
  row.MaybeText(view.trace.Text(calls.target[detail]));
  row.MaybeText(view.trace.Text(calls.source[detail]));
  row.MaybeInt(calls.target_device[detail]).MaybeInt(calls.source_device[detail]);
  row.MaybeInt(calls.is_sync[detail]).MaybeInt(calls.is_pinned[detail]);
}

Table CopyTable(const RankView& view, const std::vector<DeviceId>& copies) {
  Table table{"copy", "Calls that copy (as rocmProfileData)", {}, 20};
  AddRankKey(table);
  AddRpdInts(table, {"id", "pid", "tid", "start", "end"});
  AddString(table, "apiName", Role::kDerived, "The call.");
  AddArgumentColumns(table);
  const HostEvents& host = view.trace.host();
  const Tracks& tracks = view.trace.tracks();
  std::vector<char> is_listed(host.size());
  for (const DeviceId id : copies) {
    const HostId call = view.index.correlation.launch_of[id.value];
    if (std::exchange(is_listed[call.value], 1) != 0) {
      continue;
    }
    const uint32_t thread = host.track[call.value].value;
    Row row(table);
    row.Int(view.rank).MaybeInt(view.trace.device().correlation[id.value]);
    row.Int(tracks.pid[thread]).Int(tracks.tid[thread]);
    row.Int(host.ts_ns[call.value]).Int(host.end_ns(call)).Text(view.trace.Name(call));
    PushArguments(row, view, id);
  }
  return table;
}

Table CopyOpTable(const RankView& view, const std::vector<DeviceId>& copies) {
  Table table{"copyop", "Copies on the device (as rocmProfileData)", {}, 20};
  AddRankKey(table);
  AddRpdInts(table, {"gpuId", "queueId", "start", "end", "duration"});
  AddArgumentColumns(table);
  AddString(table, "apiName", Role::kDerived, "The call.");
  const DeviceEvents& device = view.trace.device();
  for (const DeviceId id : copies) {
    Row row(table);
    row.Int(view.rank).Int(view.trace.DeviceOf(id)).Int(view.trace.StreamOf(id));
    row.Int(device.ts_ns[id.value]).Int(device.end_ns(id)).Int(device.dur_ns[id.value]);
    PushArguments(row, view, id);
    row.Text(view.trace.Name(view.index.correlation.launch_of[id.value]));
  }
  return table;
}

}  // namespace

Result<Tables> MapRpdCopies(const RankView& view, const Params&) {
  const std::vector<DeviceId> copies = DescribedCopies(view);
  return Tables{CopyTable(view, copies), CopyOpTable(view, copies)};
}

}  // namespace borescope::internal
