// ledger: where the wall time of each GPU goes, so that the lines add up to the span exactly.
//
// Every instant belongs to one kind of work: where several run, to the first of
//   matrix operators (gemm, convolution, attention, recurrent), other operators with a model,
//   kernels without one, communication, copies.
// So kernels that compute have what `breakdown` calls compute, the last two are exposed, and the
// rest is idle. The time of a family of operators splits further, by what its calls would take at
// the roof (never more than they took, in proportion where the window cuts a kernel):
//   matrix math at peak    matrix FLOPs / peak
//   at the roof            what memory or vector units need beyond that
//   lost                   the rest
// Until the end of inherited work (inherited_work.h) the time is that of the row `inherited`, and
// the other rows are of what follows.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "borescope/analysis/core/reduce.h"
#include "borescope/analysis/core/row.h"
#include "borescope/analysis/verbs/roofline/roofline.h"
#include "borescope/base/check.h"
#include "borescope/base/intervals.h"
#include "borescope/base/stop.h"
#include "borescope/table/typed_rows.h"

namespace borescope::internal {

namespace {

// Divides time among works that overlap: at every instant the one of the first kind that runs
// has it.

struct KindOfTime {
  Interval time;
  uint32_t kind = 0;
};

struct Change {
  int64_t ns;
  uint32_t kind;
  bool begins;
};

std::vector<Change> ChangesOf(const std::vector<KindOfTime>& works) {
  std::vector<Change> changes;
  changes.reserve(2 * works.size());
  for (const KindOfTime& work : works) {
    if (work.time.begin < work.time.end) {
      changes.push_back({work.time.begin, work.kind, true});
      changes.push_back({work.time.end, work.kind, false});
    }
  }
  std::sort(changes.begin(), changes.end(),
            [](const Change& a, const Change& b) { return a.ns < b.ns; });
  return changes;
}

void Append(IntervalSet& set, Interval time) {
  if (time.begin == time.end) return;
  if (!set.empty() && set.back().end == time.begin) {
    set.back().end = time.end;
  } else {
    set.push_back(time);
  }
}

// The time of each kind; the sets are disjoint, and their union is that of `works`. REQUIRES: kinds
// below `kinds`, which is at most 64. O(n log n).
std::vector<IntervalSet> DivideTime(const std::vector<KindOfTime>& works, size_t kinds) {
  BS_CHECK(kinds <= 64);
  std::vector<IntervalSet> sets(kinds);
  std::vector<uint32_t> running(kinds);
  uint64_t any_running = 0;  // a bit for each kind
  int64_t since = 0;
  for (const Change& change : ChangesOf(works)) {
    if (any_running != 0) {
      Append(sets[static_cast<size_t>(std::countr_zero(any_running))], {since, change.ns});
    }
    since = change.ns;
    const uint64_t bit = uint64_t{1} << change.kind;
    change.begins ? ++running[change.kind] : --running[change.kind];
    any_running = running[change.kind] > 0 ? any_running | bit : any_running & ~bit;
  }
  return sets;
}

constexpr size_t kFamilies = kOpFamilies;
// Kinds of time by priority: families with a known roof, families without one, others.
constexpr size_t kNoModelKind = 2 * kFamilies;
constexpr size_t kCommunicationKind = kNoModelKind + 1;
constexpr size_t kCopyKind = kNoModelKind + 2;
constexpr size_t kKinds = kNoModelKind + 3;

struct AtRoof {
  int64_t math_ns = 0;  // of matrix units
  int64_t all_ns = 0;
};

// One GPU.
struct Account {
  std::vector<KindOfTime> works;
  std::array<AtRoof, kFamilies> at_roof;
};

struct LedgerRow {
  int64_t rank = 0;
  int64_t gpu = 0;
  std::string item = {};
  int64_t ns = 0;
  double share = 0;

  static constexpr TableNames kTable{"ledger", "Where the wall time goes"};
  static constexpr ColumnOf<LedgerRow> kColumns[] = {
      {"rank", &LedgerRow::rank, Role::kKey, kRankDoc},
      {"gpu", &LedgerRow::gpu, Role::kKey, kGpuDoc},
      {"item", &LedgerRow::item, Role::kKey,
       "What the time went to; at peak and at the roof: the least the work could have taken."},
      {"ns", &LedgerRow::ns, Unit::kNanoseconds, Role::kSum,
       "Wall time; the rows of a device add up to the span."},
      {"share", &LedgerRow::share, Unit::kShare, Role::kDerived, "Time / span."}};
};

class Ledger {
 public:
  explicit Ledger(const RooflineInput& in) : in_(in), device_(in.view.trace.device()) {}

  Table Build();

 private:
  void AddWork(DeviceId id);
  void AddAtRoof();
  size_t KindOf(DeviceId id) const;
  std::vector<LedgerRow> LinesOf(const Account& account, const IntervalSet& windows) const;
  void Push(int64_t gpu, const Account& account, std::vector<LedgerRow>& rows) const;

  const RooflineInput& in_;
  const DeviceEvents& device_;
  std::map<int64_t, Account> accounts_;  // by GPU
};

size_t Ledger::KindOf(DeviceId id) const {
  const KernelClass kind = in_.view.index.ClassOf(in_.view.trace, id);
  const Activity activity = ActivityOf(device_.kind[id.value], kind);
  if (activity == Activity::kCommunication) return kCommunicationKind;
  if (activity == Activity::kCopy) return kCopyKind;
  const WorkInfo& info = in_.work.info[id.value];
  if (info.status != WorkStatus::kModelled) return kNoModelKind;
  const auto family = static_cast<size_t>(in_.work.calls[info.call].cost().family);
  return in_.at_roof[info.call].has_value() ? family : kFamilies + family;
}

void Ledger::AddWork(DeviceId id) {
  Account& account = accounts_[in_.view.trace.DeviceOf(id)];
  account.works.push_back(
      {{device_.ts_ns[id.value], device_.end_ns(id)}, static_cast<uint32_t>(KindOf(id))});
}

void Ledger::AddAtRoof() {
  for (size_t i = 0; i < in_.work.calls.size(); ++i) {
    CheckStopAt(i);
    if (!in_.at_roof[i].has_value()) continue;
    const ModelledCall& call = in_.work.calls[i];
    const CallTime time = TimeOf(in_, call);
    const int64_t math_ns = std::min(in_.at_roof[i]->matrix_ns, time.total_ns);
    const int64_t all_ns = std::min(in_.at_roof[i]->longest(), time.total_ns);
    for (const DeviceId id : in_.work.WorksOf(call)) {
      const int64_t inside_ns = KindOf(id) < kFamilies ? InsideOf(in_, id) : 0;
      if (inside_ns == 0) continue;
      AtRoof& sums =
          accounts_[in_.view.trace.DeviceOf(id)].at_roof[static_cast<size_t>(call.cost().family)];
      sums.math_ns = AddSaturating(sums.math_ns, time.PartOf(math_ns, inside_ns));
      sums.all_ns = AddSaturating(sums.all_ns, time.PartOf(all_ns, inside_ns));
    }
  }
}

std::vector<LedgerRow> Ledger::LinesOf(const Account& account, const IntervalSet& windows) const {
  const std::vector<IntervalSet> sets = DivideTime(account.works, kKinds);
  const auto length = [&](size_t kind) { return Coverage(Intersect(sets[kind], windows)); };
  std::vector<LedgerRow> lines;
  const auto add = [&](std::string item, int64_t ns) {
    lines.push_back({.item = std::move(item), .ns = ns});
  };
  int64_t math_ns_of_all = 0;
  int64_t busy_ns = 0;
  for (size_t family = 0; family < kFamilies; ++family) {
    const std::string_view name = OpFamilyName(static_cast<OpFamily>(family));
    const int64_t own_ns = length(family);
    const int64_t roof_ns = std::min(own_ns, account.at_roof[family].all_ns);
    const int64_t math_ns = std::min(roof_ns, account.at_roof[family].math_ns);
    const int64_t unknown_ns = length(kFamilies + family);
    math_ns_of_all += math_ns;
    add(fmt::format("{}: at the roof", name), roof_ns - math_ns);
    add(fmt::format("{}: lost", name), own_ns - roof_ns);
    add(fmt::format("{}: no roof known", name), unknown_ns);
    busy_ns += own_ns + unknown_ns;
  }
  std::erase_if(lines, [](const LedgerRow& line) { return line.ns == 0; });
  add("kernels without a model", length(kNoModelKind));
  add("exposed communication", length(kCommunicationKind));
  add("exposed copies", length(kCopyKind));
  for (size_t kind = kNoModelKind; kind < kKinds; ++kind) {
    busy_ns += length(kind);
  }
  add("idle", Coverage(windows) - busy_ns);
  std::stable_sort(lines.begin(), lines.end(),
                   [](const LedgerRow& a, const LedgerRow& b) { return a.ns > b.ns; });
  if (math_ns_of_all > 0) {
    lines.insert(lines.begin(), {.item = "matrix math at peak", .ns = math_ns_of_all});
  }
  return lines;
}

void Ledger::Push(int64_t gpu, const Account& account, std::vector<LedgerRow>& rows) const {
  const IntervalSet& windows = in_.time_of.at(gpu);
  const auto inherited = in_.inherited_ns.find(gpu);
  const int64_t inherited_ns = inherited == in_.inherited_ns.end() ? 0 : inherited->second;
  const int64_t span_ns = Coverage(windows) + inherited_ns;
  std::vector<LedgerRow> lines = LinesOf(account, windows);
  if (inherited_ns > 0) {
    lines.push_back({.item = "inherited", .ns = inherited_ns});
  }
  for (LedgerRow& line : lines) {
    line.rank = in_.view.rank;
    line.gpu = gpu;
    line.share = ShareOf(line.ns, span_ns);
    rows.push_back(std::move(line));
  }
}

Table Ledger::Build() {
  for (uint32_t row = 0; row < device_.size(); ++row) {
    CheckStopAt(row);
    const bool is_kept =
        IsDeviceWork(device_.kind[row]) && in_.selected.KeepsTrack(device_.track[row]);
    if (is_kept) AddWork(DeviceId{row});
  }
  AddAtRoof();
  std::vector<LedgerRow> rows;
  for (const auto& [gpu, account] : accounts_) {
    Push(gpu, account, rows);
  }
  return MakeTable(rows);
}

}  // namespace

Table LedgerTable(const RooflineInput& in) { return Ledger(in).Build(); }

}  // namespace borescope::internal
