// HTA's TraceDiff.compare_traces and ops_diff. Times are not aligned and no step is dropped. The
// first step of each run is compared, or the steps of --step; a step that does not exist is an
// error, as in other verbs. All ranks of a run are added up. Durations of nested operators, and of
// the step itself, are counted as they are.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "borescope/analysis/core/param_specs.h"
#include "borescope/analysis/core/reduce.h"
#include "borescope/analysis/core/row.h"
#include "borescope/analysis/core/selection/selection.h"
#include "borescope/base/each_row.h"
#include "borescope/base/saturating.h"
#include "borescope/packs/hta/frame.h"
#include "borescope/packs/hta/hta.h"

namespace borescope::internal {
namespace {

// In the order of HTA's DeviceType.
constexpr std::string_view kSides[] = {"cpu", "gpu", "all"};
constexpr size_t kAll = 2;

struct Sum {
  int64_t count = 0;
  int64_t total_us = 0;

  void Add(const Sum& other) {
    count += other.count;
    total_us = AddSaturating(total_us, other.total_us);
  }
};
using Sums = std::map<std::string, Sum>;

// The rows of a rank that a question is about, by number of step.
class Chosen {
 public:
  Chosen(const HtaIterations& iterations, const Params& params)
      : iterations_(iterations), steps_(params.selection.steps) {}

  template <class Id>
  bool Contains(const Id& id) const {
    const std::vector<int64_t>& listed = iterations_.kept();
    const int64_t number = iterations_.Of(id);
    if (!steps_.empty()) {
      return number != HtaIterations::kNone && steps_.Contains(number);
    }
    return listed.empty() || number == listed.front();
  }

 private:
  const HtaIterations& iterations_;
  const NumberRanges& steps_;
};

class Collector {
 public:
  Collector(const HtaFrame& frame, const Params& params)
      : frame_(frame),
        iterations_(frame),
        chosen_(iterations_, params),
        short_names_(params.Flag(kShortNamesParam)) {}

  std::array<Sums, kAll> Collect() {
    AddHost();
    AddDevice();
    return std::move(sums_);
  }

 private:
  void AddHost();
  void AddDevice();
  void Add(size_t side, StringId name, const HtaTimes& times) {
    const std::string_view text = frame_.trace().Text(name);
    sums_[side][short_names_ ? HtaShortName(text) : std::string(text)].Add(
        {1, std::llround(times.dur_us)});
  }

  const HtaFrame& frame_;
  HtaIterations iterations_;
  Chosen chosen_;
  bool short_names_;
  std::vector<char> is_triton_;  // per host row: whether it is among the device rows
  std::array<Sums, kAll> sums_;
};

void Collector::AddHost() {
  const Trace& trace = frame_.trace();
  is_triton_.assign(trace.host().size(), 0);
  for (const HtaRow& row : HtaDeviceRows(frame_)) {
    if (row.op.valid()) {
      is_triton_[row.op.value] = 1;
    }
  }
  for (const uint32_t row : EachRow(trace.host().size())) {
    if (is_triton_[row] == 0 && chosen_.Contains(HostId{row})) {
      Add(0, trace.host().name[row], frame_.TimesOf(HostId{row}));
    }
  }
}

void Collector::AddDevice() {
  const Trace& trace = frame_.trace();
  for (const uint32_t row : EachRow(trace.device().size())) {
    if (frame_.StreamOf(DeviceId{row}) == -1 && chosen_.Contains(DeviceId{row})) {
      Add(0, trace.device().name[row], frame_.TimesOf(DeviceId{row}));
    }
  }
  for (const HtaRow& row : HtaDeviceRows(frame_)) {
    if (chosen_.Contains(row)) {
      Add(1, row.name, row);
    }
  }
}

Table NewSumTable() {
  Table table{"ops", "", {}};
  AddString(table, "side", Role::kKey, "");
  AddString(table, "name", Role::kKey, "");
  AddInt(table, "count", Unit::kCount, Role::kSum, "");
  AddInt(table, "total_us", Unit::kMicroseconds, Role::kSum, "");
  return table;
}

struct Pair {
  Sum base;
  Sum test;
};
using Pairs = std::map<std::string, Pair>;

// The pairs of every side, and of both sides together.
std::array<Pairs, 3> Join(const Tables& base, const Tables& test) {
  std::array<Pairs, 3> pairs;
  const auto read = [&](const Table& table, Sum Pair::* member) {
    for (size_t row = 0; row < table.rows(); ++row) {
      const std::string name(Texts(table, "name")[row]);
      const Sum sum{Ints(table, "count")[row], Ints(table, "total_us")[row]};
      for (const size_t side : {size_t{Texts(table, "side")[row] == kSides[1]}, kAll}) {
        (pairs[side][name].*member).Add(sum);
      }
    }
  };
  read(base[0], &Pair::base);
  read(test[0], &Pair::test);
  return pairs;
}

Table NewDiffTable() {
  Table table{"diff", "Differences by name (as HolisticTraceAnalysis)", {}};
  AddString(table, "side", Role::kKey, "cpu or gpu: rows without and with a stream.");
  AddString(table, "name", Role::kKey, "Name of the event.");
  AddInt(table, "base_count", Unit::kCount, Role::kSum, "Events of the base.");
  AddInt(table, "test_count", Unit::kCount, Role::kSum, "Events of the test.");
  AddInt(table, "diff_count", Unit::kCount, Role::kSum, "Test less base.");
  AddInt(table, "base_us", Unit::kMicroseconds, Role::kSum, "Summed duration in the base.");
  AddInt(table, "test_us", Unit::kMicroseconds, Role::kSum, "Summed duration in the test.");
  AddInt(table, "diff_us", Unit::kMicroseconds, Role::kSum, "Test less base.");
  AddString(table, "counts_change", Role::kDerived, "Sign of the difference of counts: +, -, =.");
  return table;
}

Table NewSummaryTable() {
  Table table{"diff_summary", "Names by what became of them (as HolisticTraceAnalysis)", {}};
  AddString(table, "side", Role::kKey, "cpu, gpu, or all: both by name.");
  const auto count = [&](std::string_view name, std::string_view doc) {
    AddInt(table, name, Unit::kCount, Role::kSum, doc);
  };
  count("names", "Names in base or test.");
  count("base_count", "Events of the base.");
  count("test_count", "Events of the test.");
  AddInt(table, "base_us", Unit::kMicroseconds, Role::kSum, "Summed duration in the base.");
  AddInt(table, "test_us", Unit::kMicroseconds, Role::kSum, "Summed duration in the test.");
  count("added", "Names only in the test.");
  count("deleted", "Names only in the base.");
  count("increased", "Names in both, more often in the test.");
  count("decreased", "Names in both, less often in the test.");
  count("unchanged", "Names in both, equally often.");
  return table;
}

enum Change : size_t { kAdded, kDeleted, kIncreased, kDecreased, kUnchanged, kChanges };

Change ChangeOf(const Pair& pair) {
  if (pair.base.count == 0 || pair.test.count == 0) {
    return pair.base.count == 0 ? kAdded : kDeleted;
  }
  if (pair.base.count == pair.test.count) {
    return kUnchanged;
  }
  return pair.test.count > pair.base.count ? kIncreased : kDecreased;
}

void AddDiffRows(Table& table, std::string_view side, const Pairs& pairs) {
  for (const auto& [name, pair] : pairs) {
    const int64_t change = pair.test.count - pair.base.count;
    Row(table)
        .Text(side)
        .Text(name)
        .Int(pair.base.count)
        .Int(pair.test.count)
        .Int(change)
        .Int(pair.base.total_us)
        .Int(pair.test.total_us)
        .Int(AddSaturating(pair.test.total_us, -pair.base.total_us))
        .Text(change == 0 ? "=" : (change > 0 ? "+" : "-"));
  }
}

void AddSummaryRow(Table& table, std::string_view side, const Pairs& pairs) {
  Pair all;
  std::array<int64_t, kChanges> changes{};
  for (const auto& [name, pair] : pairs) {
    all.base.Add(pair.base);
    all.test.Add(pair.test);
    ++changes[ChangeOf(pair)];
  }
  Row row(table);
  row.Text(side).Count(pairs.size()).Int(all.base.count).Int(all.test.count);
  row.Int(all.base.total_us).Int(all.test.total_us);
  for (const int64_t count : changes) {
    row.Int(count);
  }
}

}  // namespace

Result<Tables> MapHtaDiff(const RankView& view, const Params& params) {
  BS_TRY(Selected::Make(view, params.selection));
  const HtaFrame frame(view, HtaFrame::Steps::kAll);
  const std::array<Sums, kAll> sums = Collector(frame, params).Collect();
  Table table = NewSumTable();
  for (size_t side = 0; side < kAll; ++side) {
    for (const auto& [name, sum] : sums[side]) {
      Row(table).Text(kSides[side]).Text(name).Int(sum.count).Int(sum.total_us);
    }
  }
  return Tables{std::move(table)};
}

// NOLINTNEXTLINE(performance-unnecessary-value-param): the form of Pipeline::compare.
Result<Tables> CompareHtaDiff(Tables base, Tables test, const Params&) {
  const std::array<Pairs, 3> pairs = Join(base, test);
  Tables findings{NewDiffTable(), NewSummaryTable()};
  for (size_t side = 0; side <= kAll; ++side) {
    if (side != kAll) {
      AddDiffRows(findings[0], kSides[side], pairs[side]);
    }
    AddSummaryRow(findings[1], kSides[side], pairs[side]);
  }
  return findings;
}

}  // namespace borescope::internal
