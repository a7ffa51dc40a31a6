#include "borescope/packs/hta/critical_path/critical_window.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "borescope/base/text/text.h"

namespace borescope::internal {
namespace {

struct Span {
  int64_t begin_us = std::numeric_limits<int64_t>::max();
  int64_t end_us = std::numeric_limits<int64_t>::min();

  bool Holds(int64_t ts_us) const { return begin_us <= ts_us && ts_us <= end_us; }
};

// Inclusive; HTA's default is the first occurrence.
Result<std::pair<int64_t, int64_t>> InstancesOf(const Selection& selection) {
  const auto& ranges = selection.instances.ranges;
  if (ranges.size() > 1) {
    return Error{.code = ErrorCode::kInvalidArgument,
                 .cause = "HTA looks at one occurrence or at one range of them",
                 .remedy = "give N or N..M",
                 .parameter = "instance"};
  }
  return ranges.empty() ? std::pair<int64_t, int64_t>{0, 0} : ranges.front();
}

std::vector<HtaEventRow> RowsNamed(const HtaEvents& events, std::string_view part) {
  std::vector<char> matches(events.trace().strings().size(), 0);
  for (uint32_t id = 0; id < matches.size(); ++id) {
    matches[id] = Contains(events.trace().Text(StringId{id}), part) ? 1 : 0;
  }
  std::vector<HtaEventRow> rows = events.FrameOrder();
  std::erase_if(rows, [&](HtaEventRow row) { return matches[events[row].name.value] == 0; });
  return rows;
}

Error NoOccurrence(const HtaEvents& events, const std::string& annotation, int64_t wanted,
                   size_t there) {
  const std::string where = " in what HTA keeps of " + events.trace().meta().file;
  if (there == 0) {
    return {ErrorCode::kMissingData, "no name with '" + annotation + "'" + where,
            "give another `annotation`"};
  }
  return {ErrorCode::kMissingData,
          "no occurrence " + std::to_string(wanted) + " of names with '" + annotation + "'" + where,
          "give an `instance` below " + std::to_string(there)};
}

Result<Span> SpanOf(const HtaEvents& events, const Selection& selection) {
  if (selection.annotation.empty()) {
    return Span{std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()};
  }
  BS_ASSIGN(const auto instances, InstancesOf(selection));
  const std::vector<HtaEventRow> rows = RowsNamed(events, selection.annotation);
  Span span;
  const auto end =
      static_cast<size_t>(std::min(instances.second, static_cast<int64_t>(rows.size()) - 1) + 1);
  for (auto i = static_cast<size_t>(instances.first); i < end; ++i) {
    span.begin_us = std::min(span.begin_us, events[rows[i]].ts_us);
    span.end_us = std::max(span.end_us, events[rows[i]].end_us());
  }
  if (span.begin_us > span.end_us) {
    return NoOccurrence(events, selection.annotation, instances.first, rows.size());
  }
  return span;
}

bool IsHostSide(const HtaEvents& events, HtaEventRow row) { return events[row].stream == -1; }

}  // namespace

Result<std::vector<HtaEventRow>> HtaCriticalWindow(const HtaEvents& events,
                                                   const Selection& selection) {
  BS_ASSIGN(const Span span, SpanOf(events, selection));
  std::vector<char> keeps(events.size(), 0);
  for (HtaEventRow row = 0; row < events.size(); ++row) {
    const HtaEvent& event = events[row];
    if (!IsHostSide(events, row)) {
      if (events.NameOf(row) == "Stream Wait Event") {
        keeps[row] = 1;
      }
    } else if (span.Holds(event.ts_us) && event.dur_us > 0) {
      keeps[row] = 1;
      if (event.partner != kNoHtaEvent && !IsHostSide(events, event.partner)) {
        keeps[event.partner] = 1;
      }
    }
  }
  std::vector<HtaEventRow> window;
  for (HtaEventRow row = 0; row < events.size(); ++row) {
    if (keeps[row] != 0) {
      window.push_back(row);
    }
  }
  return window;
}

bool HasCriticalNodes(const HtaEvents& events, HtaEventRow row, std::string_view data_load) {
  const HtaEvent& event = events[row];
  if (!data_load.empty() && Contains(events.NameOf(row), data_load)) {
    return true;
  }
  if (event.stream != -1 && event.correlation >= 0) {
    return true;
  }
  const HostKind kind =
      event.is_host() ? events.trace().host().kind[event.host.value] : HostKind::kOther;
  return kind == HostKind::kOp || kind == HostKind::kRuntime;
}

std::vector<CriticalNode> CriticalNodes(const HtaEvents& events,
                                        const std::vector<HtaEventRow>& window,
                                        std::string_view data_load) {
  std::vector<CriticalNode> nodes;
  for (const HtaEventRow row : window) {
    if (HasCriticalNodes(events, row, data_load)) {
      nodes.push_back({row, events[row].ts_us, true});
      nodes.push_back({row, events[row].end_us(), false});
    }
  }
  std::stable_sort(nodes.begin(), nodes.end(), [](const CriticalNode& a, const CriticalNode& b) {
    return a.ts_us != b.ts_us ? a.ts_us < b.ts_us : a.event < b.event;
  });
  return nodes;
}

}  // namespace borescope::internal
