#include "borescope/analysis/measures/time/innermost_time.h"

#include <algorithm>

#include "borescope/base/stop.h"

namespace borescope::internal {
namespace {

// The open rows of a thread, outermost first. One that another outlives is closed when that begins:
// from then on until its end the other began later.
class OpenRows {
 public:
  OpenRows(const HostEvents& host, std::vector<int64_t>& times) : host_(host), times_(times) {}

  void Begin(HostId id) {
    int64_t at_ns = host_.ts_ns[id.value];
    const int64_t end_ns = host_.end_ns(id);
    while (!open_.empty() &&
           (host_.end_ns(open_.back()) <= at_ns || host_.end_ns(open_.back()) < end_ns)) {
      at_ns = TakeFrom(open_.back(), at_ns, host_.end_ns(open_.back()));
      open_.pop_back();
    }
    if (!open_.empty()) {
      TakeFrom(open_.back(), at_ns, end_ns);
    }
    times_[id.value] = host_.dur_ns[id.value];
    open_.push_back(id);
  }

  void EndThread() { open_.clear(); }

 private:
  // Returns from where on the next row outward loses time.
  int64_t TakeFrom(HostId open, int64_t begin_ns, int64_t end_ns) {
    times_[open.value] -= std::max<int64_t>(0, end_ns - begin_ns);
    return std::max(begin_ns, end_ns);
  }

  const HostEvents& host_;
  std::vector<int64_t>& times_;
  std::vector<HostId> open_;
};

}  // namespace

std::vector<int64_t> InnermostTimes(const Trace& trace, const std::function<bool(HostId)>& counts) {
  const HostEvents& host = trace.host();
  std::vector<int64_t> times(host.size(), 0);
  OpenRows open(host, times);
  for (uint32_t row = 0; row < host.size(); ++row) {
    CheckStopAt(row);
    if (row > 0 && host.track[row] != host.track[row - 1]) {
      open.EndThread();
    }
    if (!counts(HostId{row})) {
      continue;
    }
    if (trace.tracks().is_async[host.track[row].value] != 0) {
      times[row] = host.dur_ns[row];
    } else {
      open.Begin(HostId{row});
    }
  }
  return times;
}

}  // namespace borescope::internal
