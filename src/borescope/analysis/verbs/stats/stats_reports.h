// The reports of `stats`: what `nsys stats` prints, with its column names, of any input. One row
// each; a report is found by its name in nsys.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/analysis/core/grouper.h"
#include "borescope/analysis/core/row.h"
#include "borescope/analysis/core/selection/selection.h"
#include "borescope/base/id.h"
#include "borescope/table/table.h"

namespace borescope::internal {

// Samples: what the reports of `stats` are made of. A report collects values (durations, bytes) by
// its keys; from map to finish they travel as a table with a row for each distinct value and how
// often it came, which merges over ranks exactly and in any order. Only then are medians and
// deviations computed, of all ranks together.

// The name that a key member has as its number.
inline StringId NameOfKey(int64_t number) { return StringId{static_cast<uint32_t>(number)}; }

// A report may collect several quantities for one row: each is a measure, numbered from 0.
class SampleGroups {
 public:
  // Keys of `keys` members.
  explicit SampleGroups(size_t keys) : groups_(keys + 1) {}

  // `times` values alike. REQUIRES: value >= 0.
  void Add(std::span<const int64_t> key, int64_t measure, int64_t value, int64_t times = 1);

  // Fills an empty table that has its key columns: `push_keys(row, key)` writes their cells. The
  // columns of the samples are added.
  template <class PushKeys>
  Table Fill(Table table, const PushKeys& push_keys) {
    AddColumns(table);
    for (size_t group = 0; group < values_.size(); ++group) {
      for (const Sample& sample : Distinct(values_[group])) {
        const std::span<const int64_t> key = groups_.key(group);
        Row row(table);
        push_keys(row, key.first(key.size() - 1));
        row.Int(key.back()).Int(sample.value).Int(sample.times);
      }
    }
    return table;
  }

 private:
  struct Sample {
    int64_t value;
    int64_t times;
  };
  static void AddColumns(Table& table);
  // Sorted by value, each value once. Replaces `samples`.
  static const std::vector<Sample>& Distinct(std::vector<Sample>& samples);

  Grouper groups_;  // key values, then the measure
  std::vector<int64_t> key_;
  std::vector<std::vector<Sample>> values_;
};

enum class Stat : uint8_t {
  kKey,    // the key column of that name
  kShare,  // percent of the total in that of all rows
  kTotal,
  kCount,
  kMean,
  kMedian,  // of an even number of values the mean of the middle two
  kMin,
  kMax,
  kStdDev,  // of a sample (n - 1); 0 for a single value
};

// A column of a finished report.
struct StatColumn {
  std::string_view name;  // as nsys heads it
  Stat stat = Stat::kKey;
  int64_t measure = 0;
  double unit = 1;  // values are shown in multiples of this; 1: counts and sums stay integers
};

// The finished report: `columns` in order; rows by the total of measure 0, largest first, then by
// key. REQUIRES: `samples` was filled by SampleGroups and merged by key.
Table FinishSamples(const Table& samples, std::span<const StatColumn> columns);

inline constexpr double kMegabyte = 1e6;  // as nsys counts

struct StatsReport {
  std::string_view name;     // "cuda_gpu_kern_sum"
  std::string_view summary;  // the title of its table
  // One rank: samples by key, or finished rows whose first column is `rank`. Takes the empty table.
  Table (*collect)(Table table, const RankView& view, const Selected& selected);
  std::span<const StatColumn> columns;  // of the report; none: rows are finished
};

std::span<const StatsReport> StatsReports();

// The reports that a list with commas names, in its order, each once; "all" names every one.
// kInvalidArgument, listing the known ones, when one is unknown or none is named.
Result<std::vector<const StatsReport*>> FindStatsReports(std::string_view list);

// What each report collects (StatsReport::collect).
Table CollectKernels(Table table, const RankView& view, const Selected& selected);
Table CollectApiCalls(Table table, const RankView& view, const Selected& selected);
Table CollectOsCalls(Table table, const RankView& view, const Selected& selected);
Table CollectKernelLaunches(Table table, const RankView& view, const Selected& selected);
Table CollectCopyTimes(Table table, const RankView& view, const Selected& selected);
Table CollectCopySizes(Table table, const RankView& view, const Selected& selected);
Table CollectTrace(Table table, const RankView& view, const Selected& selected);
Table CollectRanges(Table table, const RankView& view, const Selected& selected);
Table CollectRangeProjections(Table table, const RankView& view, const Selected& selected);
Table CollectRangeKernels(Table table, const RankView& view, const Selected& selected);

// "[CUDA memcpy Host-to-Device]": how nsys names a copy, whatever the vendor. REQUIRES: `id` is a
// memcpy or memset.
std::string_view NsysCopyName(const RankView& view, DeviceId id);

}  // namespace borescope::internal
