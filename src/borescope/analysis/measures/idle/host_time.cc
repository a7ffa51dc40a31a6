#include "borescope/analysis/measures/idle/host_time.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "borescope/analysis/measures/idle/data_loading.h"
#include "borescope/analysis/measures/idle/launch_calls.h"
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

HostTimes::HostTimes(const RankView& view) {
  const Trace& trace = view.trace;
  const std::vector<HostId> copies = CopiesWithoutRecord(view);
  auto copy = copies.begin();
  const std::vector<char> blocks = FindBlockingNames(trace);
  const std::vector<char> loads = FindDataLoading(trace);
  const HostEvents& host = trace.host();
  for (uint32_t row = 0; row < host.size(); ++row) {
    CheckStopAt(row);
    const Interval interval{host.ts_ns[row], host.end_ns(HostId{row})};
    const HostKind kind = host.kind[row];
    const uint32_t name = host.name[row].value;
    const int64_t pid = trace.tracks().pid[host.track[row].value];
    if (kind == HostKind::kRuntime && blocks[name] != 0) {
      const bool is_untraced = copy != copies.end() && copy->value == row;
      copy += is_untraced ? 1 : 0;
      HostTime& time = by_process_[pid];
      (is_untraced ? time.untraced : time.blocked).push_back(interval);
    } else if ((kind == HostKind::kOp || kind == HostKind::kAnnotation) && loads[name] != 0) {
      by_process_[pid].loading.push_back(interval);
    }
  }
  std::vector<int64_t> pids;
  for (auto& [pid, time] : by_process_) {
    time = {Union(std::move(time.blocked)), Union(std::move(time.loading)),
            Union(std::move(time.untraced))};
    pids.push_back(pid);
  }
  all_ = Of(pids);
}

HostTime HostTimes::Of(std::span<const int64_t> pids) const {
  std::vector<Interval> blocked;
  std::vector<Interval> loading;
  std::vector<Interval> untraced;
  for (const int64_t pid : pids) {
    if (const auto found = by_process_.find(pid); found != by_process_.end()) {
      const HostTime& time = found->second;
      blocked.insert(blocked.end(), time.blocked.begin(), time.blocked.end());
      loading.insert(loading.end(), time.loading.begin(), time.loading.end());
      untraced.insert(untraced.end(), time.untraced.begin(), time.untraced.end());
    }
  }
  return {Union(std::move(blocked)), Union(std::move(loading)), Union(std::move(untraced))};
}

// Rows are in preorder: of two that are equally long the later one is inside the other.
HostId InnerOf(const HostEvents& host, HostId innermost, HostId row, Interval time) {
  const int64_t inside_ns = SharedLength({host.ts_ns[row.value], host.end_ns(row)}, time);
  const bool fills_half = inside_ns >= time.length() - inside_ns;
  const bool is_inner =
      !innermost.valid() || host.dur_ns[row.value] <= host.dur_ns[innermost.value];
  return fills_half && is_inner ? row : innermost;
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
    innermost = InnerOf(host, innermost, id, time);
  }
  return innermost;
}

}  // namespace borescope::internal
