// Reports of kernels and of calls on the host.
#include <algorithm>
#include <array>
#include <utility>

#include "borescope/analysis/core/key_columns.h"
#include "borescope/analysis/verbs/stats/stats_reports.h"
#include "borescope/base/stop.h"

namespace borescope::internal {
namespace {

// What readers write as RuntimeCalls::domain of a call of the operating system.
constexpr std::string_view kOsDomain = "osrt";

int64_t Number(StringId name) { return name.value; }

bool IsOsCall(const RankView& view, uint32_t row) {
  const uint32_t detail = view.trace.host().detail[row];
  const HostKind kind = view.trace.host().kind[row];
  return (kind == HostKind::kRuntime || kind == HostKind::kOther) && detail != kNoDetail &&
         view.trace.Text(view.trace.runtime_calls().domain[detail]) == kOsDomain;
}

enum class Calls : bool { kApi, kOs };

Table CollectCalls(Table table, const RankView& view, const Selected& selected, Calls calls) {
  const HostEvents& host = view.trace.host();
  SampleGroups groups(1);
  for (uint32_t row = 0; row < host.size(); ++row) {
    CheckStopAt(row);
    const bool is_os = IsOsCall(view, row);
    const bool is_asked_for =
        calls == Calls::kOs ? is_os : host.kind[row] == HostKind::kRuntime && !is_os;
    if (is_asked_for && selected.Keeps(HostId{row})) {
      groups.Add(std::array{Number(host.name[row])}, 0, host.dur_ns[row]);
    }
  }
  AddString(table, "Name", Role::kKey, "Name of the call.");
  return groups.Fill(std::move(table), [&](Row& row, std::span<const int64_t> key) {
    row.Text(view.trace.Text(NameOfKey(key[0])));
  });
}

// The parts of a kernel's way from its call to its end, in the order of the measures.
struct Execution {
  int64_t total_ns;
  int64_t api_ns;
  int64_t queue_ns;  // 0: it started before the call returned
  int64_t kernel_ns;
};

Execution ExecutionOf(const RankView& view, HostId call, DeviceId kernel) {
  const HostEvents& host = view.trace.host();
  const DeviceEvents& device = view.trace.device();
  const int64_t call_end_ns = host.end_ns(call);
  const int64_t end_ns = std::max(call_end_ns, device.end_ns(kernel));
  return {end_ns - host.ts_ns[call.value], host.dur_ns[call.value],
          std::max<int64_t>(0, device.ts_ns[kernel.value] - call_end_ns),
          device.dur_ns[kernel.value]};
}

void AddExecution(std::span<const int64_t> key, const Execution& execution, SampleGroups& groups) {
  groups.Add(key, 0, execution.total_ns);
  groups.Add(key, 1, execution.api_ns);
  if (execution.queue_ns > 0) {
    groups.Add(key, 2, execution.queue_ns);
  }
  groups.Add(key, 3, execution.kernel_ns);
}

}  // namespace

Table CollectKernels(Table table, const RankView& view, const Selected& selected) {
  const DeviceEvents& device = view.trace.device();
  SampleGroups groups(1);
  for (uint32_t row = 0; row < device.size(); ++row) {
    CheckStopAt(row);
    if (device.kind[row] == DeviceKind::kKernel && selected.Keeps(DeviceId{row})) {
      groups.Add(std::array{Number(device.name[row])}, 0, device.dur_ns[row]);
    }
  }
  AddString(table, "Name", Role::kKey, "Name of the kernel.");
  return groups.Fill(std::move(table), [&](Row& row, std::span<const int64_t> key) {
    row.Text(view.trace.Text(NameOfKey(key[0])));
  });
}

Table CollectApiCalls(Table table, const RankView& view, const Selected& selected) {
  return CollectCalls(std::move(table), view, selected, Calls::kApi);
}

Table CollectOsCalls(Table table, const RankView& view, const Selected& selected) {
  return CollectCalls(std::move(table), view, selected, Calls::kOs);
}

Table CollectKernelLaunches(Table table, const RankView& view, const Selected& selected) {
  const HostEvents& host = view.trace.host();
  const DeviceEvents& device = view.trace.device();
  const Tracks& tracks = view.trace.tracks();
  SampleGroups groups(5);
  for (uint32_t row = 0; row < device.size(); ++row) {
    CheckStopAt(row);
    const HostId call = view.index.correlation.launch_of[row];
    if (device.kind[row] != DeviceKind::kKernel || !call.valid() ||
        !selected.Keeps(DeviceId{row})) {
      continue;
    }
    const uint32_t thread = host.track[call.value].value;
    const std::array key{tracks.pid[thread], tracks.tid[thread], view.trace.DeviceOf(DeviceId{row}),
                         Number(host.name[call.value]), Number(device.name[row])};
    AddExecution(key, ExecutionOf(view, call, DeviceId{row}), groups);
  }
  AddInt(table, "PID", Unit::kNone, Role::kKey, "Process that made the call.");
  AddInt(table, "TID", Unit::kNone, Role::kKey, "Thread that made the call.");
  AddInt(table, "DevId", Unit::kNone, Role::kKey, kGpuDoc);
  AddString(table, "API Name", Role::kKey, "The call that started the kernels.");
  AddString(table, "Kernel Name", Role::kKey, "Name of the kernel.");
  return groups.Fill(std::move(table), [&](Row& row, std::span<const int64_t> key) {
    row.Int(key[0]).Int(key[1]).Int(key[2]);
    row.Text(view.trace.Text(NameOfKey(key[3]))).Text(view.trace.Text(NameOfKey(key[4])));
  });
}

}  // namespace borescope::internal
