// HTA's get_cuda_kernel_launch_stats: the launch calls of CUDA and what they started, joined by
// correlation number. HIP calls, cuLaunchKernel and graph launches are not among the names it
// knows.
#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "borescope/analysis/core/key_columns.h"
#include "borescope/analysis/core/param_specs.h"
#include "borescope/analysis/core/row.h"
#include "borescope/base/hash/hash_tables.h"
#include "borescope/base/stop.h"
#include "borescope/packs/hta/rows.h"
#include "borescope/packs/hta/tables.h"

namespace borescope::internal {
namespace {

bool IsLaunch(std::string_view name, bool with_memory) {
  constexpr std::string_view kNames[] = {"cudaLaunchKernel", "cudaLaunchKernelExC",
                                         "runFunction - job_prep_and_submit_for_execution"};
  constexpr std::string_view kOfMemory[] = {"cudaMemsetAsync", "cudaMemcpyAsync"};
  return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames) ||
         (with_memory &&
          std::find(std::begin(kOfMemory), std::end(kOfMemory), name) != std::end(kOfMemory));
}

// HTA joins every host row with every device row of one correlation number, and repeats device rows
// for that reason already. More rows of one number than this are not joined: a file of one number
// would make more rows than fit into memory.
constexpr size_t kMostPartners = 16;

struct Launch {
  int64_t correlation;
  HtaTimes host;
  HtaTimes device;
};

// All kept host rows of the correlation numbers that a launch call carries.
std::map<int64_t, std::vector<HostId>> HostRows(const HtaFrame& frame, bool with_memory) {
  const HostEvents& host = frame.trace().host();
  HashSet<int64_t> launched;
  for (uint32_t row = 0; row < host.size(); ++row) {
    CheckStopAt(row);
    if (frame.CorrelationOf(HostId{row}) >= 0 &&
        IsLaunch(frame.trace().Name(HostId{row}), with_memory) && frame.Keeps(HostId{row})) {
      launched.insert(frame.CorrelationOf(HostId{row}));
    }
  }
  std::map<int64_t, std::vector<HostId>> rows;
  for (uint32_t row = 0; row < host.size(); ++row) {
    CheckStopAt(row);
    const int64_t number = frame.CorrelationOf(HostId{row});
    if (launched.contains(number) && frame.Keeps(HostId{row})) {
      rows[number].push_back(HostId{row});
    }
  }
  return rows;
}

void AddPairs(const HtaFrame& frame, const std::vector<HostId>& hosts, const HtaRow& row,
              std::vector<Launch>& launches) {
  const size_t copies = std::min<size_t>(static_cast<size_t>(row.times), kMostPartners);
  for (size_t i = 0; i < std::min(hosts.size(), kMostPartners); ++i) {
    const Launch launch{frame.CorrelationOf(row.device), frame.TimesOf(hosts[i]), row};
    launches.insert(launches.end(), copies, launch);
  }
}

// By start of the call, then of the work.
std::vector<Launch> FindLaunches(const HtaFrame& frame, const Params& params) {
  const std::map<int64_t, std::vector<HostId>> hosts =
      HostRows(frame, !params.Flag(kNoMemoryEventsParam));
  std::vector<Launch> launches;
  for (const HtaRow& row : HtaDeviceRows(frame)) {
    const auto found =
        row.device.valid() ? hosts.find(frame.CorrelationOf(row.device)) : hosts.end();
    if (found != hosts.end()) {
      AddPairs(frame, found->second, row, launches);
    }
  }
  std::stable_sort(launches.begin(), launches.end(),
                   [](const Launch& a, const Launch& b) { return a.host.ts_us < b.host.ts_us; });
  return launches;
}

Table NewLaunchTable() {
  Table table{"launches", "Launches (as HolisticTraceAnalysis)", {}};
  AddRankKey(table);
  AddInt(table, "correlation", Unit::kNone, Role::kDerived, "Correlation number of call and work.");
  const auto us = [&](std::string_view name, std::string_view doc) {
    AddInt(table, name, Unit::kMicroseconds, Role::kDerived, doc);
  };
  us("cpu_duration_us", "Length of the call.");
  us("gpu_duration_us", "Length of the work.");
  us("launch_delay_us", "From the end of the call to the start of the work; 0 if it began before.");
  table.preview_rows = 20;
  return table;
}

Table NewSummaryTable() {
  Table table{"launch_summary", "Launches by rank (as HolisticTraceAnalysis)", {}};
  AddRankKey(table);
  AddInt(table, "count", Unit::kCount, Role::kSum, "Launches.");
  const auto us = [&](std::string_view name, std::string_view doc) {
    AddInt(table, name, Unit::kMicroseconds, Role::kSum, doc);
  };
  us("cpu_total_us", "Sum of the lengths of the calls.");
  us("gpu_total_us", "Sum of the lengths of the works.");
  us("delay_total_us", "Sum of the delays.");
  AddInt(table, "short_kernels", Unit::kCount, Role::kSum,
         "Works shorter than their call, which is not longer than --long-call.");
  AddInt(table, "runtime_outliers", Unit::kCount, Role::kSum, "Calls longer than --long-call.");
  AddInt(table, "delay_outliers", Unit::kCount, Role::kSum, "Delays longer than --long-delay.");
  return table;
}

// Sums of one rank.
struct Totals {
  int64_t cpu_us = 0;
  int64_t gpu_us = 0;
  int64_t delay_us = 0;
  int64_t short_kernels = 0;
  int64_t long_calls = 0;
  int64_t long_delays = 0;
};

bool IsLonger(int64_t us, int64_t limit_ns) { return us > limit_ns / 1000; }

}  // namespace

Result<Tables> MapHtaLaunches(const RankView& view, const Params& params) {
  const std::vector<Launch> launches =
      FindLaunches(HtaFrame(view, HtaFrame::StepsOf(params)), params);
  Tables findings{NewLaunchTable(), NewSummaryTable()};
  Totals totals;
  for (const auto& [correlation, host, device] : launches) {
    const int64_t cpu = std::llround(host.dur_us);
    const int64_t gpu = std::llround(device.dur_us);
    const int64_t delay = std::max<int64_t>(0, std::llround(device.ts_us - host.end_us()));
    Row(findings[0]).Int(view.rank).Int(correlation).Int(cpu).Int(gpu).Int(delay);
    totals.cpu_us += cpu;
    totals.gpu_us += gpu;
    totals.delay_us += delay;
    const bool is_long = IsLonger(cpu, params.Number(kLongCallParam));
    totals.long_calls += is_long ? 1 : 0;
    totals.short_kernels += !is_long && gpu < cpu ? 1 : 0;
    totals.long_delays += IsLonger(delay, params.Number(kLongDelayParam)) ? 1 : 0;
  }
  Row(findings[1])
      .Int(view.rank)
      .Count(launches.size())
      .Int(totals.cpu_us)
      .Int(totals.gpu_us)
      .Int(totals.delay_us)
      .Int(totals.short_kernels)
      .Int(totals.long_calls)
      .Int(totals.long_delays);
  return findings;
}

}  // namespace borescope::internal
