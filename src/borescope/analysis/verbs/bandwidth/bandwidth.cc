// bandwidth: how fast every kind of copy is (copy_kind.h).
//
// The rate of a copy is its bytes / its duration; bytes per nanosecond are GB/s. A copy whose bytes
// were not recorded, or that is recorded as zero long, has no rate: it counts as `unrated`, and
// is part of no rate of the table. `mean_gbps` is the bytes of all rated copies / the sum of their
// durations, and missing if these are a small part of the time (coverage.h); the other rates are
// those of single copies.
//
// The series adds up the rates of the copies that run at a time, each from its start up to its end.
// Sums are exact integers, so that they come back to 0 and below it never.
#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

#include "borescope/analysis/core/key_columns.h"
#include "borescope/analysis/core/param_specs.h"
#include "borescope/analysis/core/reduce.h"
#include "borescope/analysis/core/row.h"
#include "borescope/analysis/core/selection/selection.h"
#include "borescope/analysis/measures/time/covered_time.h"
#include "borescope/analysis/measures/time/duration_stats.h"
#include "borescope/analysis/measures/work_groups.h"
#include "borescope/analysis/verbs/verbs.h"
#include "borescope/base/stop.h"
#include "borescope/index/names/kernel_class.h"

namespace borescope::internal {
namespace {

// No memory holds more; keeps the sum of 2^18 rates below 2^128. Limits rates alone.
constexpr int64_t kMostRatedBytes = int64_t{1} << 50;
constexpr int kFractionBits = 60;

struct Copy {
  int64_t gpu = 0;
  CopyKind kind = CopyKind::kOther;
  int64_t ts_ns = 0;
  int64_t dur_ns = 0;
  int64_t bytes = kMissing;

  bool is_rated() const { return bytes != kMissing && bytes > 0 && dur_ns > 0; }
  int64_t rated_bytes() const { return std::min(bytes, kMostRatedBytes); }
  double gbps() const { return static_cast<double>(rated_bytes()) / static_cast<double>(dur_ns); }
  // Bytes per ns in units of 2^-60, rounded.
  Uint128 ExactRate() const {
    const auto duration = static_cast<Uint128>(dur_ns);
    return ((static_cast<Uint128>(rated_bytes()) << kFractionBits) + duration / 2) / duration;
  }
};

double ToGbps(Uint128 rate) {
  return static_cast<double>(rate) / static_cast<double>(uint64_t{1} << kFractionBits);
}

// The copies of one kind on one GPU, by start.
using CopyGroup = std::span<const Copy>;

// All selected copies, by GPU, kind and start.
std::vector<Copy> CollectCopies(const RankView& view, const Selected& selected) {
  const DeviceEvents& device = view.trace.device();
  std::vector<Copy> copies;
  for (uint32_t row = 0; row < device.size(); ++row) {
    CheckStopAt(row);
    const DeviceId id{row};
    const DeviceKind kind = device.kind[row];
    if ((kind != DeviceKind::kMemcpy && kind != DeviceKind::kMemset) || !selected.Keeps(id)) {
      continue;
    }
    copies.push_back({view.trace.DeviceOf(id), ClassifyCopy(kind, view.trace.Name(id)),
                      device.ts_ns[row], device.dur_ns[row], CopyBytes(view.trace, id)});
  }
  std::stable_sort(copies.begin(), copies.end(), [](const Copy& a, const Copy& b) {
    return std::tie(a.gpu, a.kind, a.ts_ns) < std::tie(b.gpu, b.kind, b.ts_ns);
  });
  return copies;
}

std::vector<CopyGroup> GroupCopies(const std::vector<Copy>& copies) {
  std::vector<CopyGroup> groups;
  for (size_t begin = 0; begin < copies.size();) {
    size_t end = begin + 1;
    while (end < copies.size() && copies[end].gpu == copies[begin].gpu &&
           copies[end].kind == copies[begin].kind) {
      ++end;
    }
    groups.push_back(CopyGroup(copies).subspan(begin, end - begin));
    begin = end;
  }
  return groups;
}

// ---- Statistics ----

Table NewTable() {
  Table table{"bandwidth", "Rate of every kind of copy", {}};
  AddRankKey(table);
  AddGpuKey(table);
  AddString(table, "kind", Role::kKey, "Where from and where to, judged by the name of the copy.");
  AddInt(table, "count", Unit::kCount, Role::kSum, "Number of copies.");
  AddInt(table, "bytes", Unit::kBytes, Role::kSum,
         "Sum of their bytes as far as recorded; missing if no size was. Copies without one are "
         "unrated.");
  AddInt(table, "total_ns", Unit::kNanoseconds, Role::kSum, "Sum of their durations.");
  const auto rate = [&](std::string_view name, std::string_view doc) -> Column& {
    return AddFloat(table, name, Unit::kGigabytesPerSecond, Role::kDerived, doc);
  };
  rate("mean_gbps",
       "Bytes / durations, of all rated copies together; missing if coverage is below 0.9.");
  rate("min_gbps", "Rate of the slowest copy.");
  rate("p50_gbps", "Median rate of a copy.").hints.tone = Tone::kCopy;
  rate("max_gbps", "Rate of the fastest copy.");
  AddInt(table, "unrated", Unit::kCount, Role::kSum,
         "Copies without bytes or recorded as 0 ns long, which are in no rate.");
  AddFloat(table, "coverage", Unit::kShare, Role::kDerived,
           "Time of the rated copies / time of all. Below 0.9 there is no mean rate.");
  return table;
}

void PushRates(Row& row, CopyGroup group) {
  std::vector<double> rates;
  int64_t bytes = 0;
  TimeCovered time;
  for (const Copy& copy : group) {
    time.Add(copy.dur_ns, copy.is_rated());
    if (copy.is_rated()) {
      rates.push_back(copy.gbps());
      bytes = AddSaturating(bytes, copy.rated_bytes());
    }
  }
  if (rates.empty()) {
    row.Missing().Missing().Missing().Missing();
  } else {
    const auto [slowest, fastest] = std::minmax_element(rates.begin(), rates.end());
    const std::pair<double, double> ends{*slowest, *fastest};
    time.is_enough() ? row.Share(bytes, time.covered_ns) : row.Missing();
    row.Float(ends.first).Float(Quantile(rates, 0.5)).Float(ends.second);
  }
  row.Count(group.size() - rates.size());
  time.all_ns > 0 ? row.Share(time.covered_ns, time.all_ns) : row.Missing();
}

void PushGroup(Table& table, int64_t rank, CopyGroup group) {
  int64_t bytes = kMissing;
  int64_t total_ns = 0;
  for (const Copy& copy : group) {
    if (copy.bytes != kMissing) {
      bytes = AddSaturating(bytes == kMissing ? 0 : bytes, copy.bytes);
    }
    total_ns = AddSaturating(total_ns, copy.dur_ns);
  }
  Row row(table);
  row.Int(rank).Int(group.front().gpu).Text(CopyKindName(group.front().kind));
  row.Count(group.size()).MaybeInt(bytes).Int(total_ns);
  PushRates(row, group);
}

// ---- Series ----

struct RateChange {
  int64_t ts_ns = 0;
  int64_t copies = 0;  // that run from here on
  double gbps = 0;
};

// What runs at a moment. Numbers of copies are added up too, so that a single one is known: its own
// rate is shown to the last digit.
class RunningCopies {
 public:
  explicit RunningCopies(CopyGroup group) : group_(group) {}

  void Start(uint32_t number) {
    rate_ += group_[number].ExactRate();
    numbers_ += number;
    ++count_;
  }
  void End(uint32_t number) {
    rate_ -= group_[number].ExactRate();
    numbers_ -= number;
    --count_;
  }

  RateChange At(int64_t ts_ns) const {
    return {ts_ns, count_, count_ == 1 ? group_[numbers_].gbps() : ToGbps(rate_)};
  }

 private:
  CopyGroup group_;
  int64_t count_ = 0;
  uint64_t numbers_ = 0;
  Uint128 rate_ = 0;
};

// Every moment at which rated copies of the group start or end.
std::vector<RateChange> RateChanges(CopyGroup group) {
  struct Edge {
    int64_t ts_ns;
    bool is_start;
    uint32_t number;
  };
  std::vector<Edge> edges;
  for (uint32_t i = 0; i < group.size(); ++i) {
    if (group[i].is_rated()) {
      edges.push_back({group[i].ts_ns, true, i});
      edges.push_back({group[i].ts_ns + group[i].dur_ns, false, i});
    }
  }
  std::sort(edges.begin(), edges.end(),
            [](const Edge& a, const Edge& b) { return a.ts_ns < b.ts_ns; });
  RunningCopies running(group);
  std::vector<RateChange> changes;
  for (const Edge& edge : edges) {
    edge.is_start ? running.Start(edge.number) : running.End(edge.number);
    if (changes.empty() || changes.back().ts_ns != edge.ts_ns) {
      changes.emplace_back();
    }
    changes.back() = running.At(edge.ts_ns);
  }
  return changes;
}

Table SeriesTable(int64_t rank, const std::vector<CopyGroup>& groups) {
  Table table{"bandwidth_series", "Rate of the copies that run, after every change", {}, 20};
  AddRankKey(table);
  AddGpuKey(table);
  AddString(table, "kind", Role::kKey, "Where from and where to, judged by the name of the copy.");
  AddInt(table, "ts_ns", Unit::kNanoseconds, Role::kKey, "When, on the clock of the file.");
  AddInt(table, "copies", Unit::kCount, Role::kDerived, "Rated copies that run from then on.");
  AddFloat(table, "gbps", Unit::kGigabytesPerSecond, Role::kDerived, "Sum of their rates.");
  for (const CopyGroup group : groups) {
    for (const RateChange& change : RateChanges(group)) {
      Row row(table);
      row.Int(rank).Int(group.front().gpu).Text(CopyKindName(group.front().kind));
      row.Int(change.ts_ns).Int(change.copies).Float(change.gbps);
    }
  }
  return table;
}

Result<Tables> MapBandwidth(const RankView& view, const Params& params) {
  BS_ASSIGN(const Selected selected, Selected::Make(view, params.selection));
  const std::vector<Copy> copies = CollectCopies(view, selected);
  const std::vector<CopyGroup> groups = GroupCopies(copies);
  Tables findings{NewTable()};
  for (const CopyGroup group : groups) {
    PushGroup(findings[0], view.rank, group);
  }
  if (params.Flag(kSeriesParam)) {
    findings.push_back(SeriesTable(view.rank, groups));
  }
  return findings;
}

Result<Overlay> OverlayBandwidth(const RankView& view, const Params& params) {
  BS_ASSIGN(const Selected selected, Selected::Make(view, params.selection));
  const std::vector<Copy> copies = CollectCopies(view, selected);
  Overlay overlay;
  for (const CopyGroup group : GroupCopies(copies)) {
    const std::string kind(CopyKindName(group.front().kind));
    OverlayCounter counter{group.front().gpu, "Bandwidth, " + kind, "GB/s", {}};
    for (const RateChange& change : RateChanges(group)) {
      counter.points.push_back({change.ts_ns, change.gbps});
    }
    overlay.counters.push_back(std::move(counter));
  }
  return overlay;
}

constexpr const ParamSpec* kBandwidthParams[] = {&kSeriesParam, &kIncludeLastStepParam};
constexpr std::string_view kCopyKind[] = {"rank", "gpu", "kind"};
constexpr std::string_view kMedianRate[] = {"p50_gbps"};
constexpr std::string_view kRate[] = {"gbps"};
constexpr ViewSpec kViews[] = {
    {"bandwidth", ViewKind::kBars, "Median rate", kCopyKind, kMedianRate},
    {"bandwidth_series", ViewKind::kSeries, "Rate over time", kCopyKind, kRate, "ts_ns"}};

}  // namespace

const AnalysisSpec kBandwidthVerb{
    .name = "bandwidth",
    .summary = "rate of every kind of copy",
    .example = "borescope bandwidth trace.json.gz --overlay copies.json.gz",
    .needs = Needs::kCopies,
    .params = kBandwidthParams,
    .answer = {.map = MapBandwidth, .reduce = ConcatTables},
    .overlay = OverlayBandwidth,
    .views = kViews};

}  // namespace borescope::internal
