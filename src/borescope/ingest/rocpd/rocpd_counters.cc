// Hardware counters of a rocpd database: values by event, which belongs to a kernel or a sample.
#include <algorithm>
#include <cmath>
#include <tuple>

#include "borescope/base/sort_runs.h"
#include "borescope/ingest/rocpd/rocpd_tables.h"
#include "borescope/trace/columns.h"

namespace borescope::internal {
namespace {

// Description of a counter.
struct Counter {
  StringId name;
  uint32_t agent;  // row of the agents, RowIds::kNone if unknown
};

struct Counters {
  RowIds ids;
  std::vector<Counter> rows;
};

Result<Counters> ReadDescriptions(RocpdTables& tables) {
  enum Column : uint8_t { kId, kAgent, kName, kSymbol };
  constexpr std::string_view kColumns[] = {"id", "agent_id", "name", "symbol"};
  Counters counters;
  BS_TRY(tables.ForEach("info_pmc", kColumns, [&](const TableRows& rows) {
    const std::string name(rows.Text(kName));
    counters.ids.Add(rows.Integer(kId));
    counters.rows.push_back(
        {tables.part.Intern(name.empty() ? rows.Text(kSymbol) : std::string_view(name)),
         tables.AgentOf(rows.Integer(kAgent))});
  }));
  tables.diagnostics().CountMany(Diag::kDuplicateKey, counters.ids.Finish(), Diagnostics::kNoByte,
                                 tables.Name("info_pmc"));
  return counters;
}

// Larger than any count, and small enough to add up.
constexpr double kLargest = 1e290;

void AddValue(RocpdTables& tables, Counters& counters, int64_t event, int64_t id, double value) {
  if (!(std::abs(value) <= kLargest)) {  // NaN, too
    tables.diagnostics().Count(Diag::kNonFiniteNumber, Diagnostics::kNoByte,
                               tables.Name("pmc_event"));
    return;
  }
  const uint32_t row = id == kMissing ? RowIds::kNone : counters.ids.Find(id);
  if (row == RowIds::kNone) {
    tables.diagnostics().Count(Diag::kDanglingReference, Diagnostics::kNoByte,
                               tables.Name("info_pmc"));
    return;
  }
  tables.values.push_back({event, counters.rows[row].name, counters.rows[row].agent, value});
}

// Values with one name and one event are those of the parts of a device and are added up.
void SumParts(std::vector<RocpdValue>& values) {
  SortRuns(std::span(values), [](const RocpdValue& a, const RocpdValue& b) {
    return std::tie(a.event, a.name.value, a.agent) < std::tie(b.event, b.name.value, b.agent);
  });
  size_t kept = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    const bool is_part = kept > 0 && values[kept - 1].event == values[i].event &&
                         values[kept - 1].name == values[i].name &&
                         values[kept - 1].agent == values[i].agent;
    if (is_part) {
      values[kept - 1].value += values[i].value;
    } else {
      values[kept++] = values[i];
    }
  }
  values.resize(kept);
}

void AddSample(RocpdTables& tables, const RowTime& time, const RocpdValue& value) {
  Samples& samples = tables.part.data.samples;
  const bool is_known = value.agent != RowIds::kNone;
  const uint32_t row = AddMissingRow(samples);
  samples.ts_ns[row] = time.ts_ns;
  samples.end_ns[row] = time.ts_ns;
  samples.device_type[row] = tables.part.Intern(!is_known                                ? ""
                                                : tables.agents.is_gpu[value.agent] != 0 ? "gpu"
                                                                                         : "cpu");
  samples.device[row] = is_known ? tables.agents.device[value.agent] : kMissing;
  samples.name[row] = value.name;
  samples.value[row] = value.value;
}

auto FirstOf(std::vector<RocpdValue>& values, int64_t event) {
  return std::lower_bound(
      values.begin(), values.end(), event,
      [](const RocpdValue& value, int64_t wanted) { return value.event < wanted; });
}

}  // namespace

bool RocpdTables::HasValues(int64_t event) {
  const auto first = FirstOf(values, event);
  return event != kMissing && first != values.end() && first->event == event;
}

std::span<RocpdValue> RocpdTables::ValuesOf(int64_t event) {
  const auto first = FirstOf(values, event);
  if (event == kMissing || first == values.end() || first->is_used) {
    return {};
  }
  auto end = first;
  for (; end != values.end() && end->event == event; ++end) {
    end->is_used = true;
  }
  return {first, end};
}

// Values of a stream of counters (3.0.3) belong to a time, not to a kernel.
Result<void> ReadRocpdCounters(RocpdTables& tables) {
  enum Column : uint8_t { kEvent, kCounter, kValue, kStreamSample };
  constexpr std::string_view kColumns[] = {"event_id", "pmc_id", "value", "sample_id"};
  tables.values.clear();
  BS_ASSIGN(Counters counters, ReadDescriptions(tables));
  const std::string name = tables.Name("pmc_event");
  const StringId category = tables.part.Intern("PMC_EVENT");
  BS_TRY(tables.ForEach("pmc_event", kColumns, [&](const TableRows& rows) {
    if (rows.Integer(kStreamSample) != kMissing) {
      tables.diagnostics().Count(Diag::kUnreadRows, Diagnostics::kNoByte, name);
      return;
    }
    tables.part.CountEvent('C', category, 0);
    const std::optional<double> value = rows.Number(kValue);
    if (value.has_value()) {
      AddValue(tables, counters, rows.Integer(kEvent), rows.Integer(kCounter), *value);
    }
  }));
  SumParts(tables.values);
  return {};
}

// Several samples may refer to one event: its values belong to the first.
Result<void> ReadRocpdSamples(RocpdTables& tables) {
  enum Column : uint8_t { kTime, kEvent };
  constexpr std::string_view kColumns[] = {"timestamp", "event_id"};
  const std::string name = tables.Name("sample");
  BS_TRY(tables.ForEach("sample", kColumns, [&](const TableRows& rows) {
    const int64_t event = rows.Integer(kEvent);
    const RowTime time = rows.Time(kTime, kTime, name);
    if (!tables.HasValues(event)) {
      tables.diagnostics().Count(Diag::kUnreadRows, Diagnostics::kNoByte, name);
    }
    for (const RocpdValue& value : tables.ValuesOf(event)) {
      if (time.has_start) {
        AddSample(tables, time, value);
      }
    }
  }));
  const auto unused = std::count_if(tables.values.begin(), tables.values.end(),
                                    [](const RocpdValue& value) { return !value.is_used; });
  tables.diagnostics().CountMany(Diag::kUnusedDetail, static_cast<uint64_t>(unused),
                                 Diagnostics::kNoByte, tables.Name("pmc_event"));
  return {};
}

}  // namespace borescope::internal
