// bandwidth: how fast every kind of copy is (kernel_class.h).
//
// The rate of a copy is its bytes / its duration; bytes per nanosecond are GB/s. A copy whose bytes
// were not recorded, or that is recorded as zero long, has no rate: it counts as `unrated`, and
// is part of no rate of the table. `mean_gbps` is the bytes of all rated copies / the sum of their
// durations, and missing if these are a small part of the time (covered_time.h); the other rates
// are those of single copies.
//
// The series adds up the rates of the copies that run at a time, each from its start up to its end.
// Sums are exact integers, so that they come back to 0 and below it never.
#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

#include "borescope/analysis/core/param_specs.h"
#include "borescope/analysis/core/reduce.h"
#include "borescope/analysis/core/row.h"
#include "borescope/analysis/core/selection/selection.h"
#include "borescope/analysis/measures/time/covered_time.h"
#include "borescope/analysis/measures/time/duration_stats.h"
#include "borescope/analysis/measures/work_groups.h"
#include "borescope/analysis/verbs/verbs.h"
#include "borescope/base/each_row.h"
#include "borescope/index/names/kernel_class.h"
#include "borescope/table/typed_rows.h"

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
  for (const uint32_t row : EachRow(device.size())) {
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

struct RateRow {
  int64_t rank = 0;
  int64_t gpu = 0;
  std::string_view kind = {};
  int64_t count = 0;
  std::optional<int64_t> bytes = {};
  int64_t total_ns = 0;
  std::optional<double> mean_gbps = {};
  std::optional<double> min_gbps = {};
  std::optional<double> p50_gbps = {};
  std::optional<double> max_gbps = {};
  int64_t unrated = 0;
  std::optional<double> coverage = {};

  static constexpr TableNames kTable{"bandwidth", "Rate of every kind of copy"};
  static constexpr ColumnOf<RateRow> kColumns[] = {
      {"rank", &RateRow::rank, Role::kKey, kRankDoc},
      {"gpu", &RateRow::gpu, Role::kKey, kGpuDoc},
      {"kind", &RateRow::kind, Role::kKey,
       "Where from and where to, judged by the name of the copy."},
      {"count", &RateRow::count, Unit::kCount, Role::kSum, "Number of copies."},
      {"bytes", &RateRow::bytes, Unit::kBytes, Role::kSum,
       "Sum of their bytes as far as recorded; missing if no size was. Copies without one are "
       "unrated."},
      {"total_ns", &RateRow::total_ns, Unit::kNanoseconds, Role::kSum, "Sum of their durations."},
      {"mean_gbps", &RateRow::mean_gbps, Unit::kGigabytesPerSecond, Role::kDerived,
       "Bytes / durations, of all rated copies together; missing if coverage is below 0.9."},
      {"min_gbps", &RateRow::min_gbps, Unit::kGigabytesPerSecond, Role::kDerived,
       "Rate of the slowest copy."},
      {"p50_gbps", &RateRow::p50_gbps, Unit::kGigabytesPerSecond, Role::kDerived,
       "Median rate of a copy.", InTone(Tone::kCopy)},
      {"max_gbps", &RateRow::max_gbps, Unit::kGigabytesPerSecond, Role::kDerived,
       "Rate of the fastest copy."},
      {"unrated", &RateRow::unrated, Unit::kCount, Role::kSum,
       "Copies without bytes or recorded as 0 ns long, which are in no rate."},
      {"coverage", &RateRow::coverage, Unit::kShare, Role::kDerived,
       "Time of the rated copies / time of all. Below 0.9 there is no mean rate."}};
};

void AddRates(CopyGroup group, RateRow& row) {
  std::vector<double> rates;
  int64_t bytes = 0;
  TimeCovered time;
  for (const Copy& copy : group) {
    time.Add(copy.dur_ns, copy.is_rated());
    if (copy.is_rated()) {
      rates.push_back(copy.gbps());
      AddSaturatingTo(bytes, copy.rated_bytes());
    }
  }
  row.unrated = static_cast<int64_t>(group.size() - rates.size());
  if (time.all_ns > 0) row.coverage = ShareOf(time.covered_ns, time.all_ns);
  if (rates.empty()) return;
  const auto [slowest, fastest] = std::minmax_element(rates.begin(), rates.end());
  row.min_gbps = *slowest;
  row.max_gbps = *fastest;
  row.p50_gbps = Quantile(rates, 0.5);  // puts them in another order
  if (time.is_enough()) row.mean_gbps = ShareOf(bytes, time.covered_ns);
}

RateRow RowOf(int64_t rank, CopyGroup group) {
  RateRow row{.rank = rank,
              .gpu = group.front().gpu,
              .kind = CopyKindName(group.front().kind),
              .count = static_cast<int64_t>(group.size())};
  for (const Copy& copy : group) {
    if (copy.bytes != kMissing) row.bytes = AddSaturating(row.bytes.value_or(0), copy.bytes);
    AddSaturatingTo(row.total_ns, copy.dur_ns);
  }
  AddRates(group, row);
  return row;
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

struct ChangeRow {
  int64_t rank = 0;
  int64_t gpu = 0;
  std::string_view kind = {};
  int64_t ts_ns = 0;
  int64_t copies = 0;
  double gbps = 0;

  static constexpr TableNames kTable{"bandwidth_series",
                                     "Rate of the copies that run, after every change", 20};
  static constexpr ColumnOf<ChangeRow> kColumns[] = {
      {"rank", &ChangeRow::rank, Role::kKey, kRankDoc},
      {"gpu", &ChangeRow::gpu, Role::kKey, kGpuDoc},
      {"kind", &ChangeRow::kind, Role::kKey,
       "Where from and where to, judged by the name of the copy."},
      {"ts_ns", &ChangeRow::ts_ns, Unit::kNanoseconds, Role::kKey,
       "When, on the clock of the file."},
      {"copies", &ChangeRow::copies, Unit::kCount, Role::kDerived,
       "Rated copies that run from then on."},
      {"gbps", &ChangeRow::gbps, Unit::kGigabytesPerSecond, Role::kDerived, "Sum of their rates."}};
};

Table SeriesTable(int64_t rank, const std::vector<CopyGroup>& groups) {
  Table table = NewTable<ChangeRow>();
  RowWriter<ChangeRow> rows(table);
  for (const CopyGroup group : groups) {
    for (const RateChange& change : RateChanges(group)) {
      rows.Push({.rank = rank,
                 .gpu = group.front().gpu,
                 .kind = CopyKindName(group.front().kind),
                 .ts_ns = change.ts_ns,
                 .copies = change.copies,
                 .gbps = change.gbps});
    }
  }
  return table;
}

Result<Tables> MapBandwidth(const RankView& view, const Params& params) {
  BS_ASSIGN(const Selected selected, Selected::Make(view, params.selection));
  const std::vector<Copy> copies = CollectCopies(view, selected);
  const std::vector<CopyGroup> groups = GroupCopies(copies);
  std::vector<RateRow> rows;
  rows.reserve(groups.size());
  for (const CopyGroup group : groups) {
    rows.push_back(RowOf(view.rank, group));
  }
  Tables findings{MakeTable(rows)};
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
