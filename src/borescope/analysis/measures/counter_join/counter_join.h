// The counters of reports (trace/counter_report.h) for the kernels of a trace of the same program:
// one join per device and report, by the rules of join_sequences.h.
//
// The engine hands the reports of a run to the measures of each rank (GiveReports) before anything
// asks for them. Counters that the trace itself has win: such a trace is not joined.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/analysis/measures/counter_join/join_sequences.h"
#include "borescope/analysis/measures/counter_join/measured.h"
#include "borescope/trace/counter_report.h"

namespace borescope::internal {

struct RankCounters;

// The reports for one rank, in the order in which they were given; of several with counters for a
// kernel the first wins.
struct GivenReports {
  std::vector<std::shared_ptr<const CounterReport>> reports = {};
  bool of_any_device = false;  // also those of another model of device than the trace's
  // Called once with the join, where something asks for it and it succeeds.
  std::function<void(const RankCounters&)> when_joined = nullptr;

  bool empty() const { return reports.empty(); }
};

// Says which reports `shared` is about. REQUIRES: nothing has asked for them yet.
void GiveReports(SharedMeasures& shared, GivenReports reports);
// Whether there are any.
bool HasReports(const RankView& view);

// Values that kernels of the trace share: of one counted kernel, or the mean of several.
struct CounterGroup {
  uint32_t report = 0;             // of RankCounters::reports
  std::vector<uint32_t> kernels;   // of the report, ascending
  std::vector<CounterValue> mean;  // by metric of the report
  MeasuredKernel measured;
};

// A report and a device of the trace.
struct DeviceJoin {
  int64_t gpu = 0;
  uint32_t report = 0;
  int64_t profiled = 0;  // kernels of the process and device in the report
  int64_t launches = 0;  // kernels of the device in the trace
  std::array<int64_t, kJoinSources> by_source = {};
  int64_t only_in_report = 0;  // counted kernels whose key the trace does not have
  int64_t total_ns = 0;        // of the launches
  int64_t valued_ns = 0;       // of those with counters from this report
  int64_t ambiguous_ns = 0;
  int64_t unmatched_ns = 0;                // of source none
  std::string_view first_without = {};     // name of the first kernel without counters
  std::string_view largest_none = {};      // of the trace, whose key the report does not have
  std::string_view largest_reported = {};  // of the report, whose key the trace does not have
  double only_in_report_ns = 0;            // of the report's own time
  double report_ns = 0;
  int64_t other_build = 0;  // matched, but registers or shared memory differ
  // Kernels that have counters from a report before, which counted other operations.
  int64_t disagreeing = 0;
  std::optional<double> clock_ratio = {};
  std::optional<double> passes = {};
};

struct RankCounters {
  std::vector<std::shared_ptr<const CounterReport>> reports;
  std::vector<std::vector<std::string_view>> metrics;  // names, per report
  std::vector<DeviceJoin> joins;                       // by device, then report
  std::vector<JoinedItem> items;                       // per device row; empty without reports
  std::vector<CounterGroup> groups;
  bool has_shapes = false;          // the trace has shapes of operators
  bool is_of_other_device = false;  // a report is of another model than the trace's device
  // Kernels of devices with a report, in the order of their launches.
  std::vector<DeviceId> kernels;

  bool empty() const { return items.empty(); }
  JoinSource SourceOf(DeviceId id) const {
    return empty() ? JoinSource::kNone : items[id.value].source;
  }
  // nullptr where the row has no counters.
  const CounterGroup* GroupOf(DeviceId id) const {
    const uint32_t group = empty() ? kNoGroup : items[id.value].group;
    return group == kNoGroup ? nullptr : &groups[group];
  }
  const MeasuredKernel* MeasuredOf(DeviceId id) const {
    const CounterGroup* const group = GroupOf(id);
    return group == nullptr ? nullptr : &group->measured;
  }
  // How near the kernel came to the peak of compute or of memory, 0 to 1; missing if that was not
  // measured, or on another model of device.
  std::optional<double> SpeedOfLightOf(DeviceId id) const {
    const MeasuredKernel* const measured = is_of_other_device ? nullptr : MeasuredOf(id);
    return measured == nullptr ? std::nullopt : ShareOfPeak(*measured);
  }
};

// Joins the reports with the trace. kInvalidArgument where a report is of another model of device,
// or where none has a kernel of the trace. Empty without reports, without kernels, and where the
// trace has counters of its own.
Result<RankCounters> JoinCounters(const RankView& view, const GivenReports& given);

// The same for the reports that the engine gave, once for each rank and question.
Result<std::shared_ptr<const RankCounters>> SharedRankCounters(const RankView& view);

// The counters that the recording itself has, where it says by numbers which kernel each is of:
// reports that are read alone, and recordings of borescope record. Their source is `recorded`, and
// texts of a report, such as its list of the parts of a throughput, are not kept. Empty for others.
RankCounters OwnCounters(const RankView& view);

// Those of reports that were given, else those that the recording itself has. Errors as above.
Result<std::shared_ptr<const RankCounters>> SharedKernelCounters(const RankView& view);

// What people should know of how a report fits a device of the trace, and what to do about it:
// little of the kernel time has counters, kernels do several amounts of work, the runs chose
// different kernels, types were not counted. A sentence each, without its full stop; empty: nothing
// is wrong.
std::vector<std::string> RemediesOf(const RankCounters& counters, const DeviceJoin& join,
                                    const Trace& trace);

// The names of counters with numbers that become columns of a table, of all reports, in order of
// first appearance, at most `most`. Without `all` these are no attributes of the device and of the
// launch, and nothing that the tool says about itself; and of .sum, .avg, .min and .max of a
// counter one: the mean of a rate, else the sum, else what there is. Views of the reports.
std::vector<std::string_view> NamesOfCounters(const RankCounters& counters, bool all, size_t most);

// Of the parts of which the throughput of compute, or of memory, is made up (as Nsight Compute's
// breakdown lists them) the one with the largest share of its peak; empty if they were not
// measured.
std::string_view NearestPart(const RankCounters& counters, const CounterGroup& group,
                             bool of_memory);

}  // namespace borescope::internal
