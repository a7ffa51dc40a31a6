// HTA's get_potential_stragglers by its own rule: it takes the long NCCL kernel whose length varies
// most between ranks, and gives a point per step to each of the ranks that start it last. Clocks of
// ranks are compared as they are. HTA only knows names that begin with ncclKernel.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "borescope/analysis/core/row.h"
#include "borescope/base/each_row.h"
#include "borescope/packs/hta/frame.h"
#include "borescope/packs/hta/hta.h"

namespace borescope::internal {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// What `map` leaves for `finish`, which alone knows all ranks.
Table NewStepTable() {
  Table table{"steps", "", {}};
  AddInt(table, "rank", Unit::kNone, Role::kKey, "");
  AddInt(table, "iteration", Unit::kNone, Role::kKey, "");
  AddFloat(table, "begin_us", Unit::kMicroseconds, Role::kMin, "");
  AddFloat(table, "end_us", Unit::kMicroseconds, Role::kMax, "");
  return table;
}

Table NewKernelTable() {
  Table table{"kernels", "", {}};
  AddInt(table, "rank", Unit::kNone, Role::kKey, "");
  AddInt(table, "stream", Unit::kNone, Role::kKey, "");
  AddInt(table, "iteration", Unit::kNone, Role::kKey, "");
  AddString(table, "name", Role::kKey, "");
  AddFloat(table, "ts_us", Unit::kMicroseconds, Role::kDerived, "");
  AddFloat(table, "dur_us", Unit::kMicroseconds, Role::kDerived, "");
  return table;
}

struct Extent {
  double begin_us = kInfinity;
  double end_us = -kInfinity;

  void Add(const HtaTimes& times) {
    begin_us = std::min(begin_us, times.ts_us);
    end_us = std::max(end_us, times.end_us());
  }
};

// All kept rows by step.
std::map<int64_t, Extent> Extents(const HtaFrame& frame, const HtaIterations& iterations,
                                  const std::vector<HtaRow>& rows) {
  std::map<int64_t, Extent> extents;
  for (const uint32_t row : EachRow(frame.trace().host().size())) {
    if (frame.Keeps(HostId{row})) {
      extents[iterations.Of(HostId{row})].Add(frame.TimesOf(HostId{row}));
    }
  }
  for (const uint32_t row : EachRow(frame.trace().device().size())) {
    const DeviceId id{row};
    if (frame.StreamOf(id) == -1 && frame.Repeats(id) > 0) {
      extents[iterations.Of(id)].Add(frame.TimesOf(id));
    }
  }
  for (const HtaRow& row : rows) {
    extents[iterations.Of(row)].Add(row);
  }
  std::erase_if(extents, [&](const auto& entry) {
    return !std::binary_search(iterations.kept().begin(), iterations.kept().end(), entry.first);
  });
  return extents;
}

// Start and length of a kernel in one step, by rank, in steps of the mean length.
struct Entry {
  double start;
  double length;
};
using ByRank = std::map<int64_t, Entry>;
using ByStep = std::map<int64_t, ByRank>;
using KernelSteps = std::map<std::pair<int64_t, std::string>, ByStep>;  // by stream and name

KernelSteps LongKernels(const Tables& findings) {
  Extent all;
  std::map<int64_t, int> steps;
  for (size_t row = 0; row < findings[0].rows(); ++row) {
    all.begin_us = std::min(all.begin_us, Floats(findings[0], "begin_us")[row]);
    all.end_us = std::max(all.end_us, Floats(findings[0], "end_us")[row]);
    ++steps[Ints(findings[0], "iteration")[row]];
  }
  const double mean = (all.end_us - all.begin_us) / static_cast<double>(steps.size());
  KernelSteps kernels;
  const Table& rows = findings[1];
  const auto names = std::get<StringValues>(rows.Find("name")->values);
  for (const size_t row : EachIndex(rows.rows())) {
    const double length = Floats(rows, "dur_us")[row];
    if (mean > 0 && length >= 0.01 * mean) {
      kernels[{Ints(rows, "stream")[row], std::string(names[row])}][Ints(rows, "iteration")[row]]
             [Ints(rows, "rank")[row]] = {(Floats(rows, "ts_us")[row] - all.begin_us) / mean,
                                          length / mean};
    }
  }
  return kernels;
}

// The deviation of a sample; negative for fewer than two ranks, for which HTA has NaN.
double Deviation(const ByRank& ranks) {
  if (ranks.size() < 2) {
    return -1;
  }
  const auto count = static_cast<double>(ranks.size());
  double mean = 0;
  for (const auto& [rank, entry] : ranks) {
    mean += entry.length / count;
  }
  double squares = 0;
  for (const auto& [rank, entry] : ranks) {
    squares += (entry.length - mean) * (entry.length - mean);
  }
  return std::sqrt(squares / (count - 1));
}

double MeanDeviation(const ByStep& steps) {
  double sum = 0;
  int count = 0;
  for (const auto& [step, ranks] : steps) {
    if (const double deviation = Deviation(ranks); deviation >= 0) {
      sum += deviation;
      ++count;
    }
  }
  return count == 0 ? -1 : sum / count;
}

// nullptr when no kernel can be compared.
const ByStep* MostVaried(const KernelSteps& kernels) {
  const ByStep* found = nullptr;
  double most = -1;
  for (const auto& [key, steps] : kernels) {
    if (const double deviation = MeanDeviation(steps); deviation > most) {
      most = deviation;
      found = &steps;
    }
  }
  return found;
}

// In how many steps each rank is among the `candidates` last ones.
std::map<int64_t, int64_t> Points(const ByStep& steps, size_t candidates) {
  std::map<int64_t, int64_t> points;
  for (const auto& [step, ranks] : steps) {
    std::vector<double> starts;
    for (const auto& [rank, entry] : ranks) {
      starts.push_back(entry.start);
    }
    std::sort(starts.rbegin(), starts.rend());
    const double limit = starts[std::min(candidates, starts.size()) - 1];
    for (const auto& [rank, entry] : ranks) {
      points[rank] += entry.start >= limit ? 1 : 0;
    }
  }
  return points;
}

Table NewTable() {
  Table table{"stragglers", "Potential stragglers (as HolisticTraceAnalysis)", {}};
  AddInt(table, "num_candidates", Unit::kNone, Role::kKey,
         "How many ranks are looked for; HTA's default is 2.");
  AddRankKey(table);
  AddInt(table, "count", Unit::kCount, Role::kDerived,
         "Steps in which it is among that many last ones.");
  AddInt(table, "position", Unit::kNone, Role::kDerived,
         "From 1, most points first; HTA names the first num_candidates.");
  return table;
}

void AddCandidates(Table& table, const ByStep& steps, size_t candidates) {
  std::vector<std::pair<int64_t, int64_t>> ranks;  // rank, points
  for (const auto& entry : Points(steps, candidates)) {
    ranks.push_back(entry);
  }
  if (ranks.size() < candidates) {
    return;
  }
  std::stable_sort(ranks.begin(), ranks.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  for (size_t i = 0; i < ranks.size(); ++i) {
    Row(table)
        .Int(static_cast<int64_t>(candidates))
        .Int(ranks[i].first)
        .Int(ranks[i].second)
        .Count(i + 1);
  }
}

}  // namespace

Result<Tables> MapHtaStragglers(const RankView& view, const Params& params) {
  const HtaFrame frame(view, HtaFrame::StepsOf(params));
  const HtaIterations iterations(frame);
  const std::vector<HtaRow> rows = HtaDeviceRows(frame);
  Tables findings{NewStepTable(), NewKernelTable()};
  const std::map<int64_t, Extent> extents = Extents(frame, iterations, rows);
  for (const auto& [iteration, extent] : extents) {
    Row(findings[0]).Int(view.rank).Int(iteration).Float(extent.begin_us).Float(extent.end_us);
  }
  for (const HtaRow& row : rows) {
    const int64_t iteration = iterations.Of(row);
    const std::string_view name = view.trace.Text(row.name);
    if (row.stream > 0 && iteration > 0 && extents.contains(iteration) &&
        name.starts_with("ncclKernel")) {
      Row(findings[1])
          .Int(view.rank)
          .Int(row.stream)
          .Int(iteration)
          .Text(name)
          .Float(row.ts_us)
          .Float(row.dur_us);
    }
  }
  return findings;
}

// Times are compared and sorted, which would not work with NaN, or with infinite numbers whose
// difference is NaN.
Result<void> CheckHtaStragglers(const Tables& findings, const Params&) {
  constexpr double kMost = 1e300;
  for (const Table& table : findings) {
    for (const Column& column : table.columns) {
      const auto* values = std::get_if<FloatValues>(&column.values);
      if (values != nullptr && !std::all_of(values->begin(), values->end(),
                                            [](double value) { return std::abs(value) < kMost; })) {
        return Error{ErrorCode::kCorrupt, column.name + " is no time"};
      }
    }
  }
  return {};
}

Result<Tables> FinishHtaStragglers(Tables findings, const Params&) {
  const KernelSteps kernels = LongKernels(findings);
  Table table = NewTable();
  if (const ByStep* steps = MostVaried(kernels); steps != nullptr) {
    AddCandidates(table, *steps, 1);
    AddCandidates(table, *steps, 2);
  }
  findings.clear();
  findings.push_back(std::move(table));
  return findings;
}

}  // namespace borescope::internal
