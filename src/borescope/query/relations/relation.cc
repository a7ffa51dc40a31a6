#include "borescope/query/relations/relation.h"

#include "borescope/query/relations/cells.h"

namespace borescope::internal::query {
namespace {

std::vector<uint32_t> RangesOfMetrics(const Trace& trace) {
  std::vector<uint32_t> ranges(trace.metrics().size(), kNoDetail);
  const DeviceEvents& device = trace.device();
  for (uint32_t row = 0; row < device.size(); ++row) {
    const uint32_t detail = device.detail[row];
    if (device.kind[row] != DeviceKind::kRange || detail == kNoDetail) {
      continue;
    }
    for (uint32_t metric = trace.ranges().first_metric[detail];
         metric < trace.ranges().end_metric[detail]; ++metric) {
      ranges[metric] = row;
    }
  }
  return ranges;
}

std::vector<Relation> AllRelations() {
  std::vector<Relation> all;
  for (const auto part : {HostRelations(), DeviceRelations(), EventRelations(), DetailRelations(),
                          ThreadRelations(), RunRelations()}) {
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

}  // namespace

RankRows::RankRows(const RankData& rank)
    : data(rank), trace(rank.trace), index(rank.index), range_of_metric(RangesOfMetrics(trace)) {}

std::string_view TypeName(ColumnType type) {
  constexpr std::string_view kNames[] = {"INTEGER", "REAL", "TEXT"};
  return kNames[static_cast<size_t>(type)];
}

std::span<const Relation> Relations() {
  static const std::vector<Relation> all = AllRelations();
  return all;
}

}  // namespace borescope::internal::query
