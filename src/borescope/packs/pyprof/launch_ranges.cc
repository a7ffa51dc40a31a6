#include "borescope/packs/pyprof/launch_ranges.h"

#include <fmt/format.h>

#include <algorithm>

#include "borescope/base/stop.h"
#include "borescope/base/text/text.h"

namespace borescope::internal {
namespace {

constexpr size_t kDeepest = 512;

bool IsRange(HostKind kind) {
  return kind == HostKind::kAnnotation || kind == HostKind::kOp || kind == HostKind::kPython;
}

void Delete(std::string& text, std::string_view part) {
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at)) {
    text.erase(at, part.size());
  }
}

}  // namespace

std::vector<DeviceId> LaunchOrder(const RankView& view, const Selected& selected,
                                  bool with_copies) {
  const DeviceEvents& device = view.trace.device();
  std::vector<DeviceId> order;
  for (uint32_t row = 0; row < device.size(); ++row) {
    const bool is_listed = with_copies || device.kind[row] == DeviceKind::kKernel;
    if (is_listed && selected.Keeps(DeviceId{row})) order.push_back(DeviceId{row});
  }
  std::sort(order.begin(), order.end(), [&](DeviceId a, DeviceId b) {
    return std::pair(RequestTime(view, a), a) < std::pair(RequestTime(view, b), b);
  });
  return order;
}

// Rows come after those around them, captured ones too.
RangesAround::RangesAround(const RankView& view)
    : tree_(view.index.tree), innermost_(view.index.tree.parent.size()) {
  const HostEvents& host = view.trace.host();
  for (uint32_t row = 0; row < innermost_.size(); ++row) {
    CheckStopAt(row);
    const HostId parent = tree_.parent[row];
    innermost_[row] = IsRange(host.kind[row]) ? HostId{row}
                      : parent.valid()        ? innermost_[parent.value]
                                              : HostId{};
  }
}

std::vector<HostId> RangesAround::Of(HostId row) const {
  std::vector<HostId> ranges;
  while (row.valid() && innermost_[row.value].valid() && ranges.size() < kDeepest) {
    ranges.push_back(innermost_[row.value]);
    row = tree_.parent[ranges.back().value];
  }
  std::reverse(ranges.begin(), ranges.end());
  return ranges;
}

HostId AnchorOf(const RankView& view, DeviceId id) {
  const HostId launch = view.index.correlation.launch_of[id.value];
  return launch.valid() ? launch : view.index.correlation.op_of[id.value];
}

bool IsBackwardNode(std::string_view name) {
  if (Contains(name, "evaluate_function") || name.ends_with("AccumulateGrad")) {
    return true;
  }
  const size_t end = name.find_last_not_of("0123456789");
  return end != std::string_view::npos && name.substr(0, end + 1).ends_with("Backward");
}

int64_t SequenceOf(const Trace& trace, HostId row) {
  const uint32_t detail = trace.host().detail[row.value];
  const bool is_op = trace.host().kind[row.value] == HostKind::kOp && detail != kNoDetail;
  return is_op ? int64_t{trace.ops().sequence[detail]} : kMissing;
}

ForwardOperators::Key ForwardOperators::KeyOf(HostId row) const {
  const int64_t process = trace_.tracks().pid[trace_.host().track[row.value].value];
  return {process, SequenceOf(trace_, row)};
}

ForwardOperators::ForwardOperators(const Trace& trace) : trace_(trace) {
  const HostEvents& host = trace.host();
  for (uint32_t row = 0; row < host.size(); ++row) {
    CheckStopAt(row);
    if (SequenceOf(trace, HostId{row}) > 0 && !IsBackwardNode(trace.Name(HostId{row}))) {
      rows_[KeyOf(HostId{row})].push_back(HostId{row});
    }
  }
  for (auto& [key, rows] : rows_) {
    std::stable_sort(rows.begin(), rows.end(),
                     [&](HostId a, HostId b) { return host.ts_ns[a.value] < host.ts_ns[b.value]; });
  }
}

HostId ForwardOperators::Find(HostId backward) const {
  const auto found = rows_.find(KeyOf(backward));
  if (found == rows_.end()) return {};
  const HostEvents& host = trace_.host();
  const std::vector<HostId>& rows = found->second;
  const auto after = std::partition_point(rows.begin(), rows.end(), [&](HostId row) {
    return host.ts_ns[row.value] < host.ts_ns[backward.value];
  });
  return after == rows.begin() ? HostId{} : *(after - 1);
}

std::string PyProfShortName(std::string_view kernel) {
  std::string name(kernel.substr(0, kernel.find('<')));
  for (const std::string_view part :
       {"void ", "at::", "cuda::", "native::", "(anonymous namespace)::"}) {
    Delete(name, part);
  }
  return name.substr(0, name.find('('));
}

std::string FrameText(std::string_view frame) {
  const size_t close = frame.find("): ");
  const size_t open = frame.rfind('(', close);
  const bool is_line = close != std::string_view::npos && open != std::string_view::npos;
  if (!is_line || open == 0 || open + 1 == close) return {};
  const std::string_view line = frame.substr(open + 1, close - open - 1);
  if (line.find_first_not_of("0123456789") != std::string_view::npos) return {};
  return fmt::format("{}:{}", frame.substr(0, open), line);
}

}  // namespace borescope::internal
