#include "borescope/analysis/measures/idle/host_time.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "borescope/analysis/measures/idle/data_loading.h"
#include "borescope/base/saturating.h"
#include "borescope/base/stop.h"
#include "borescope/index/syncs/sync_calls.h"

namespace borescope::internal {
namespace {

std::vector<char> FindBlockingNames(const Trace& trace) {
  std::vector<char> blocks(trace.strings().size());
  for (uint32_t i = 0; i < trace.strings().size(); ++i) {
    blocks[i] = AlwaysBlocks(ClassifyBlockingCall(trace.Text(StringId{i}))) ? 1 : 0;
  }
  return blocks;
}

int64_t SharedLength(Interval a, Interval b) {
  return std::max<int64_t>(0, std::min(a.end, b.end) - std::max(a.begin, b.begin));
}

}  // namespace

HostTime FindHostTime(const Trace& trace, std::span<const int64_t> pids) {
  const std::vector<char> blocks = FindBlockingNames(trace);
  const std::vector<char> loads = FindDataLoading(trace);
  const HostEvents& host = trace.host();
  std::vector<Interval> blocked;
  std::vector<Interval> loading;
  for (uint32_t row = 0; row < host.size(); ++row) {
    CheckStopAt(row);
    const int64_t pid = trace.tracks().pid[host.track[row].value];
    if (!pids.empty() && !std::binary_search(pids.begin(), pids.end(), pid)) {
      continue;
    }
    const Interval interval{host.ts_ns[row], host.end_ns(HostId{row})};
    const HostKind kind = host.kind[row];
    const uint32_t name = host.name[row].value;
    if (kind == HostKind::kRuntime && blocks[name] != 0) {
      blocked.push_back(interval);
    } else if ((kind == HostKind::kOp || kind == HostKind::kAnnotation) && loads[name] != 0) {
      loading.push_back(interval);
    }
  }
  return {Union(std::move(blocked)), Union(std::move(loading))};
}

HostTime Shifted(HostTime host, int64_t by_ns) {
  for (IntervalSet* set : {&host.blocked, &host.loading}) {
    for (Interval& time : *set) {
      time = {AddSaturating(time.begin, by_ns), AddSaturating(time.end, by_ns)};
    }
  }
  return host;
}

HostId MainEventIn(const Trace& trace, HostId launch, Interval time) {
  if (!launch.valid() || time.length() <= 0) {
    return {};
  }
  const HostEvents& host = trace.host();
  const uint32_t track = host.track[launch.value].value;
  HostId innermost;
  for (uint32_t row = trace.tracks().first_row[track]; row < trace.tracks().end_row[track]; ++row) {
    CheckStopAt(row);
    const HostId id{row};
    const int64_t inside_ns = SharedLength({host.ts_ns[row], host.end_ns(id)}, time);
    const bool fills_half = inside_ns >= time.length() - inside_ns;
    // Rows are in preorder: of two that are equally long the later one is inside the other.
    if (fills_half && (!innermost.valid() || host.dur_ns[row] <= host.dur_ns[innermost.value])) {
      innermost = id;
    }
  }
  return innermost;
}

}  // namespace borescope::internal
