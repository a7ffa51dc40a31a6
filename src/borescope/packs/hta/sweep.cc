#include "borescope/packs/hta/sweep.h"

#include <algorithm>
#include <iterator>

namespace borescope::internal {
namespace {

HtaTypeSet BitOf(HtaType type) { return 1U << static_cast<unsigned>(type); }

struct Edge {
  double time_us;
  int change;  // + or - the bit of the type
};

// Starts and ends of the merged rows of each type, by time.
std::vector<Edge> EdgesOf(const std::vector<HtaRow>& rows) {
  std::vector<Edge> edges;
  for (const HtaType type : kHtaTypes) {
    const int bit = static_cast<int>(BitOf(type));
    const std::vector<HtaInterval> merged = HtaMerge(RowsOfType(rows, type));
    for (const HtaInterval& interval : merged) {
      edges.push_back({interval.begin_us, bit});
    }
    for (const HtaInterval& interval : merged) {
      edges.push_back({interval.end_us, -bit});
    }
  }
  std::stable_sort(edges.begin(), edges.end(),
                   [](const Edge& a, const Edge& b) { return a.time_us < b.time_us; });
  return edges;
}

}  // namespace

std::string HtaTypeSetName(HtaTypeSet types) {
  std::string name;
  for (const HtaType type : kHtaTypes) {
    if ((types & BitOf(type)) != 0) {
      name += (name.empty() ? "" : " overlapping ") + std::string(HtaTypeName(type));
    }
  }
  return name;
}

HtaSweep SweepTypes(const std::vector<HtaRow>& rows) {
  const std::vector<Edge> edges = EdgesOf(rows);
  HtaSweep sweep;
  int running = 0;
  for (size_t i = 0; i + 1 < edges.size(); ++i) {
    running += edges[i].change;
    if (running > 0 && running <= static_cast<int>(kAllHtaTypes)) {
      sweep.total_us[static_cast<size_t>(running)] += edges[i + 1].time_us - edges[i].time_us;
    }
  }
  return sweep;
}

std::vector<HtaRow> RowsOfType(const std::vector<HtaRow>& rows, HtaType type) {
  std::vector<HtaRow> result;
  std::copy_if(rows.begin(), rows.end(), std::back_inserter(result),
               [type](const HtaRow& row) { return row.type == type; });
  return result;
}

}  // namespace borescope::internal
