// The tables of counters that were measured in another run of the program (counter_join.h), which
// `counters` and `roofline` share. Each row is complete for its rank: they are concatenated.
//
//   counter_join     how the kernels of each report and device were matched
//   counter_ops      what operators did, against what their models say
//   speed_of_light   how near kernels came to the peaks of the device, and what held them back
//   counter_rules    what the tool itself says about kernels; of counters alone
#pragma once

#include <span>
#include <string>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/analysis/core/params.h"
#include "borescope/analysis/core/selection/selection.h"
#include "borescope/analysis/measures/counter_join/counter_join.h"
#include "borescope/analysis/measures/flops/modelled_work.h"
#include "borescope/table/table.h"

namespace borescope::internal {

// Of counters.
inline constexpr ParamSpec kAllCountersParam{
    "all-counters", "", "of reports: a column for every counter, with attributes of the device"};
// Of counters and roofline.
inline constexpr ParamSpec kDisagreeParam{
    .name = "disagree",
    .value = "SHARE",
    .help = "measured amounts that differ by more from the modelled ones are named",
    .type = ParamType::kShare,
    .default_text = "10%"};

// What the tables are of.
struct CountersInput {
  const RankView& view;
  const Selected& selected;
  const RankCounters& counters;
  const ModelledWork& work;  // of the whole recording
};

Table CounterJoinTable(const RankView& view, const RankCounters& counters);

// By operator, and by the keys `shape` and `dtype` where --by has them. `disagree`: the share by
// which a measured amount may differ from the modelled one.
Table CounterOpsTable(const CountersInput& in, std::span<const std::string> by, double disagree);

// Kernels by name and size; none without the percentages of Nsight Compute's sections, and none of
// reports of another model of device.
Table SpeedOfLightTable(const CountersInput& in);

// By kernel, its rules in their order; those with most time first. None of a report without rules.
Table CounterRulesTable(const CountersInput& in);

// Whether a table of these is of counters from reports, and has no rows: it is left out.
bool IsWithoutReports(const Table& table);

}  // namespace borescope::internal
