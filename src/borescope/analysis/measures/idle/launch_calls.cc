#include "borescope/analysis/measures/idle/launch_calls.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "borescope/analysis/core/selection/name_flags.h"
#include "borescope/analysis/measures/recorded.h"
#include "borescope/base/column_data.h"
#include "borescope/base/sort_runs.h"
#include "borescope/base/stop.h"
#include "borescope/base/text/text.h"
#include "borescope/index/id_map.h"
#include "borescope/index/launches/correlation.h"
#include "borescope/index/syncs/sync_calls.h"

namespace borescope::internal {
namespace {

bool IsCallWithDetail(const HostEvents& host, uint32_t row) {
  return host.kind[row] == HostKind::kRuntime && host.detail[row] != kNoDetail;
}

bool StartsWork(const RankView& view, uint32_t row) {
  const std::span<const DeviceId> started =
      view.index.correlation.DevicesOf(view.trace.host().detail[row]);
  return std::any_of(started.begin(), started.end(),
                     [&](DeviceId id) { return IsDeviceWork(view.trace.device().kind[id.value]); });
}

// The correlation numbers of all linked device work, each with some row.
IdMap64 NumbersOfWork(const RankView& view) {
  const DeviceEvents& device = view.trace.device();
  ColumnData<int64_t> numbers;
  for (uint32_t row = 0; row < device.size(); ++row) {
    CheckStopAt(row);
    if (IsDeviceWork(device.kind[row]) && view.index.correlation.launch_of[row].valid()) {
      numbers.push_back(device.correlation[row]);
    }
  }
  IdMap64 rows(numbers, [](int64_t) { return true; });
  for (uint32_t row = 0; row < numbers.size(); ++row) {
    rows[numbers[row]] = row;
  }
  return rows;
}

// Whether each text of the trace names a launch, judged when it is first asked for.
class LaunchNames {
 public:
  explicit LaunchNames(const Trace& trace) : trace_(trace), known_(trace.strings().size()) {}

  bool Contains(StringId name) {
    char& known = known_[name.value];
    if (known == 0) {
      known = IsLaunchName(trace_.Text(name)) ? 'y' : 'n';
    }
    return known == 'y';
  }

 private:
  const Trace& trace_;
  std::vector<char> known_;
};

bool HasCopiesWithoutCall(const RankView& view) {
  const DeviceEvents& device = view.trace.device();
  for (uint32_t row = 0; row < device.size(); ++row) {
    CheckStopAt(row);
    if (device.kind[row] == DeviceKind::kMemcpy && !view.index.correlation.launch_of[row].valid()) {
      return true;
    }
  }
  return false;
}

// Of each row of the host whether it is a call that started work, or around one.
std::vector<char> CallsAroundWork(const RankView& view) {
  const HostEvents& host = view.trace.host();
  std::vector<char> around(host.all_size());
  for (uint32_t row = 0; row < host.size(); ++row) {
    CheckStopAt(row);
    if (!IsCallWithDetail(host, row) || !StartsWork(view, row)) {
      continue;
    }
    for (HostId id{row}; id.valid() && around[id.value] == 0;
         id = view.index.tree.parent[id.value]) {
      around[id.value] = 1;
    }
  }
  return around;
}

// Whether calls of the name start work of a device: not those that describe a graph, or have the
// host do something, nor copies that wait for themselves; memsets leave no record on some devices.
bool StartsDeviceWork(std::string_view name) {
  return IsLaunchName(name) && !Contains(name, "Node") && !Contains(name, "HostFunc") &&
         !Contains(name, "Memset") && ClassifyBlockingCall(name) != BlockingCall::kCopy;
}

bool HasCaptures(const Trace& trace) {
  const std::vector<char> captures = FlagNames(
      trace.strings(), [](std::string_view name) { return Contains(name, "BeginCapture"); });
  return std::find(captures.begin(), captures.end(), 1) != captures.end();
}

}  // namespace

void FindWorks(const RankView& view, HostId call, std::vector<DeviceId>& works) {
  const DeviceEvents& device = view.trace.device();
  works.clear();
  for (const DeviceId id : view.index.correlation.DevicesOf(view.trace.host().detail[call.value])) {
    if (IsDeviceWork(device.kind[id.value])) {
      works.push_back(id);
    }
  }
  std::stable_sort(works.begin(), works.end(), [&](DeviceId a, DeviceId b) {
    return device.ts_ns[a.value] < device.ts_ns[b.value];
  });
}

std::vector<HostId> CallsWithWork(const RankView& view) {
  const HostEvents& host = view.trace.host();
  std::vector<HostId> calls;
  for (uint32_t row = 0; row < host.size(); ++row) {
    CheckStopAt(row);
    if (IsCallWithDetail(host, row) && StartsWork(view, row)) {
      calls.push_back(HostId{row});
    }
  }
  SortRuns(std::span(calls),
           [&](HostId a, HostId b) { return host.ts_ns[a.value] < host.ts_ns[b.value]; });
  return calls;
}

int64_t CountCallsWithoutWork(const RankView& view, const Selected& selected) {
  const HostEvents& host = view.trace.host();
  const IdMap64 numbers = NumbersOfWork(view);
  LaunchNames launches(view.trace);
  int64_t count = 0;
  for (uint32_t row = 0; row < host.size(); ++row) {
    CheckStopAt(row);
    if (host.kind[row] != HostKind::kRuntime || !launches.Contains(host.name[row]) ||
        !selected.Keeps(HostId{row})) {
      continue;
    }
    const uint32_t detail = host.detail[row];
    const int64_t number =
        detail == kNoDetail ? kMissing : view.trace.runtime_calls().correlation[detail];
    count += numbers.Get(number) == IdMap64::kNone ? 1 : 0;
  }
  return count;
}

std::vector<HostId> CopiesWithoutRecord(const RankView& view) {
  const HostEvents& host = view.trace.host();
  const std::vector<char> copies = FlagNames(view.trace.strings(), [](std::string_view name) {
    return Contains(name, "Memcpy") && ClassifyBlockingCall(name) == BlockingCall::kCopy;
  });
  const bool has_any =
      std::find(copies.begin(), copies.end(), 1) != copies.end() && HasDeviceWork(view.trace);
  std::vector<HostId> calls;
  for (uint32_t row = 0; has_any && row < host.size(); ++row) {
    CheckStopAt(row);
    if (IsCallWithDetail(host, row) && copies[host.name[row].value] != 0 &&
        !StartsWork(view, row)) {
      calls.push_back(HostId{row});
    }
  }
  if (calls.empty() || HasCopiesWithoutCall(view)) {
    return {};
  }
  const std::vector<char> with_work = CallsAroundWork(view);
  std::erase_if(calls, [&](HostId call) { return with_work[call.value] != 0; });
  return calls;
}

std::vector<HostId> CallsOfUntracedKinds(const RankView& view) {
  constexpr uint32_t kLeastCalls = 3;
  const HostEvents& host = view.trace.host();
  const std::vector<char> starts = FlagNames(view.trace.strings(), StartsDeviceWork);
  std::vector<uint32_t> calls_of(view.trace.strings().size());  // without work, until one has some
  std::vector<char> has_work(view.trace.strings().size());
  for (uint32_t row = 0; row < host.size(); ++row) {
    CheckStopAt(row);
    const uint32_t name = host.name[row].value;
    if (starts[name] != 0 && has_work[name] == 0 && IsCallWithDetail(host, row)) {
      ++calls_of[name];
      has_work[name] = StartsWork(view, row) ? 1 : 0;
    }
  }
  const auto is_untraced = [&](uint32_t name) {
    return has_work[name] == 0 && calls_of[name] >= kLeastCalls;
  };
  bool has_any = false;
  for (uint32_t name = 0; name < calls_of.size(); ++name) {
    has_any = has_any || is_untraced(name);
  }
  if (!has_any || !HasDeviceWork(view.trace) || HasCaptures(view.trace)) {
    return {};
  }
  const std::vector<char> with_work = CallsAroundWork(view);
  std::vector<HostId> calls;
  for (uint32_t row = 0; row < host.size(); ++row) {
    CheckStopAt(row);
    const uint32_t name = host.name[row].value;
    if (starts[name] != 0 && is_untraced(name) && IsCallWithDetail(host, row)) {
      if (with_work[row] != 0) {
        has_work[name] = 1;  // a call around another one that started work
      }
      calls.push_back(HostId{row});
    }
  }
  std::erase_if(calls, [&](HostId call) { return has_work[host.name[call.value].value] != 0; });
  return calls;
}

int64_t LaunchDelay(const RankView& view, HostId call, DeviceId work) {
  return std::max<int64_t>(0,
                           view.trace.device().ts_ns[work.value] - view.trace.host().end_ns(call));
}

}  // namespace borescope::internal
