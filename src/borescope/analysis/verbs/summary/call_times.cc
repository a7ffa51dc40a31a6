#include "borescope/analysis/verbs/summary/call_times.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "borescope/analysis/core/keyed_rows.h"
#include "borescope/analysis/core/reduce.h"
#include "borescope/analysis/core/row.h"
#include "borescope/analysis/measures/collectives.h"
#include "borescope/base/saturating.h"
#include "borescope/table/typed_rows.h"

namespace borescope::internal {

namespace {

bool IsPointToPoint(CollectiveKind kind) {
  return kind == CollectiveKind::kSend || kind == CollectiveKind::kRecv ||
         kind == CollectiveKind::kSendRecv;
}

// What calls have in common that take equally long where nobody is waited for.
using Kind = std::tuple<CollectiveKind, std::string_view, std::optional<int64_t>, std::string_view,
                        std::optional<int64_t>>;

Kind KindOf(const RankView& view, const CollectiveCall& call) {
  const Collectives& args = view.trace.collectives();
  const bool has_args = call.args != kNoDetail;
  const StringId group = has_args ? args.group[call.args] : StringId{};
  return {call.kind, group.valid() ? view.trace.Text(group) : std::string_view(),
          Recorded(has_args ? args.group_size[call.args] : kMissing), view.trace.Name(call.kernel),
          Recorded(MessageOf(view, call).bytes)};
}

}  // namespace

Table CallTimesTable(const RankView& view, const Selected& selected) {
  std::map<Kind, CallTimeRow> rows;
  for (const CollectiveCall& call : CollectiveCalls(view)) {
    if (!call.timed() || !selected.Keeps(call.kernel)) {
      continue;
    }
    const Kind kind = KindOf(view, call);
    const auto& [sort, group, group_size, kernel, bytes] = kind;
    CallTimeRow& row =
        rows.try_emplace(kind, CallTimeRow{.rank = view.rank,
                                           .collective = CollectiveKindName(sort),
                                           .group = group,
                                           .group_size = group_size,
                                           .kernel = kernel,
                                           .bytes = bytes,
                                           .is_point_to_point = IsPointToPoint(sort) ? 1 : 0,
                                           .fastest_ns = call.dur_ns})
            .first->second;
    ++row.calls;
    AddSaturatingTo(row.total_ns, call.dur_ns);
    row.fastest_ns = std::min(row.fastest_ns, call.dur_ns);
    row.slowest_ns = std::max(row.slowest_ns, call.dur_ns);
  }
  std::vector<CallTimeRow> table;
  table.reserve(rows.size());
  for (const auto& [kind, row] : rows) {
    table.push_back(row);
  }
  return MakeTable(table);
}

int64_t CallSums::excess_ns() const {
  return std::max<int64_t>(0, SubtractSaturating(all_ns, at_best_ns));
}

bool CallSums::HasSlowCalls() const {
  constexpr int64_t kEnoughCalls = 8;
  constexpr int64_t kMuchLonger = 3;  // networks that are disturbed seldom reach this
  return calls >= kEnoughCalls && slowest_ns / kMuchLonger >= fastest_ns;
}

bool CallSums::IsMostlyExcess() const { return HasSlowCalls() && excess_ns() > all_ns / 2; }

CallSums SumCalls(const SummaryTables& tables, CallSort sort) {
  using Size = std::tuple<std::string_view, std::string_view, std::optional<int64_t>,
                          std::string_view, std::optional<int64_t>>;
  std::map<Size, CallTimeRow> sizes;  // of all ranks
  for (const CallTimeRow& row : tables.call_times) {
    if ((row.is_point_to_point != 0) != (sort == CallSort::kPointToPoint)) {
      continue;
    }
    // A transfer is as fast for the one who sends as for the one who receives.
    const std::string_view what = row.is_point_to_point != 0 ? std::string_view() : row.collective;
    const auto [at, is_new] =
        sizes.try_emplace(Size{what, row.group, row.group_size, row.kernel, row.bytes}, row);
    if (is_new) {
      continue;
    }
    CallTimeRow& sum = at->second;
    AddSaturatingTo(sum.calls, row.calls);
    AddSaturatingTo(sum.total_ns, row.total_ns);
    sum.fastest_ns = std::min(sum.fastest_ns, row.fastest_ns);
    sum.slowest_ns = std::max(sum.slowest_ns, row.slowest_ns);
  }
  CallSums sums;
  int64_t most_ns = -1;
  for (const auto& [size, row] : sizes) {
    AddSaturatingTo(sums.calls, row.calls);
    AddSaturatingTo(sums.all_ns, row.total_ns);
    const bool is_sized = row.bytes.has_value();
    const bool overflows =
        row.calls > 0 && row.fastest_ns > std::numeric_limits<int64_t>::max() / row.calls;
    AddSaturatingTo(sums.at_best_ns,
                    is_sized && !overflows ? row.calls * row.fastest_ns : row.total_ns);
    if (is_sized && row.total_ns > most_ns) {
      most_ns = row.total_ns;
      sums.fastest_ns = row.fastest_ns;
      sums.slowest_ns = row.slowest_ns;
    }
  }
  return sums;
}

int64_t WorldSize(const SummaryTables& tables) {
  int64_t world_size = 0;
  for (const OverviewRow& row : tables.overview) {
    world_size = std::max(world_size, row.world_size.value_or(0));
  }
  return world_size;
}

bool IsMostlyPointToPoint(const SummaryTables& tables) {
  const int64_t transfers_ns = SumCalls(tables, CallSort::kPointToPoint).all_ns;
  return transfers_ns > 0 && transfers_ns > SumCalls(tables, CallSort::kCollective).all_ns;
}

CollectiveWaiting WaitingInCollectives(const SummaryTables& tables) {
  CollectiveWaiting waiting{.all_ns = SumCalls(tables, CallSort::kCollective).all_ns};
  for (const StragglerRow& row : tables.stragglers) {
    AddSaturatingTo(waiting.waiting_ns, row.waited_ns);
  }
  waiting.waiting_ns = std::min(waiting.waiting_ns, waiting.all_ns);
  return waiting;
}

}  // namespace borescope::internal
