#include "borescope/compat/chakra/hta_rows.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <utility>

#include "borescope/base/hash/hash_tables.h"
#include "borescope/base/stop.h"
#include "borescope/base/text/text.h"
#include "borescope/json/json_cursor.h"

namespace borescope::internal::chakra::compat {
namespace {

constexpr std::string_view kStep = "ProfilerStep";

bool NamesStep(const HtaRow& row) { return row.name.find(kStep) != std::string_view::npos; }

// Rounded inwards where any begin of the trace has a fraction.
void SetTimes(const DeviceEvent& event, bool has_fractions, HtaRow& row) {
  if (!has_fractions) {
    row.begin = event.begin.whole;
    row.duration = event.duration.is_double ? static_cast<int64_t>(event.duration.fraction)
                                            : event.duration.whole;
    return;
  }
  row.begin = static_cast<int64_t>(std::ceil(event.begin.AsDouble()));
  row.duration = static_cast<int64_t>(std::floor(event.end().AsDouble())) - row.begin;
}

HtaRow RowOf(const DeviceEvent& event, uint32_t number, bool has_fractions) {
  HtaRow row;
  row.event = number;
  row.category = event.category;
  row.name = event.name;
  row.pid = LooseIntValue(event.pid).value_or(0);
  row.tid = LooseIntValue(event.tid).value_or(0);
  row.stream = ParseNumber<int64_t>(event.stream).value_or(kNone);
  row.correlation = event.correlation;
  row.wait_on_stream = event.wait_on_stream;
  row.wait_on_record_correlation = event.wait_on_record_correlation;
  SetTimes(event, has_fractions, row);
  return row;
}

std::vector<HtaRow> ReadRows(const DeviceTrace& trace) {
  const bool has_fractions = std::any_of(
      trace.events.begin(), trace.events.end(),
      [](const DeviceEvent& event) { return !event.has_begin || event.begin.is_double; });
  std::vector<HtaRow> rows;
  for (uint32_t i = 0; i < trace.events.size(); ++i) {
    CheckStopAt(i);
    const DeviceEvent& event = trace.events[i];
    if (event.has_duration && !event.category.empty() && event.category != "Trace") {
      rows.push_back(RowOf(event, i, has_fractions));
    }
  }
  return rows;
}

// Streams up to 0 count as no device.
bool IsOnDevice(const HtaRow& row) { return row.stream > 0 || WaitsWithoutStream(row); }

void SetPartners(std::vector<HtaRow>& rows) {
  HashMap<int64_t, uint32_t> calls;
  HashMap<int64_t, uint32_t> works;
  for (const HtaRow& row : rows) {
    if (row.correlation != kNone) {
      (IsOnDevice(row) ? works : calls)[row.correlation] = row.event;
    }
  }
  for (HtaRow& row : rows) {
    row.partner = std::min<int64_t>(row.correlation, 0);
    if (row.correlation != kNone) {
      const auto& others = IsOnDevice(row) ? calls : works;
      const auto other = others.find(row.correlation);
      row.partner = other == others.end() ? row.partner : static_cast<int64_t>(other->second);
    }
  }
}

// Of several steps the last one is left out: what its thread began before it stays, and device work
// of that; device work comes first in the new order.
std::vector<HtaRow> WithoutLastStep(std::vector<HtaRow> rows) {
  HashSet<std::string_view> steps;
  std::optional<int64_t> last;
  for (const HtaRow& row : rows) {
    if (NamesStep(row)) {
      steps.insert(row.name);
      last = IsOnDevice(row) ? last : std::max(last.value_or(row.begin), row.begin);
    }
  }
  if (steps.size() < 2) {
    return rows;
  }
  const auto stays = [&](const HtaRow& row) {
    return !IsOnDevice(row) && last.has_value() && row.begin < *last;
  };
  HashSet<int64_t> correlations;
  for (const HtaRow& row : rows) {
    if (stays(row)) {
      correlations.insert(row.correlation);
    }
  }
  std::vector<HtaRow> kept;
  std::copy_if(rows.begin(), rows.end(), std::back_inserter(kept), [&](const HtaRow& row) {
    return IsOnDevice(row) && correlations.contains(row.correlation);
  });
  std::copy_if(rows.begin(), rows.end(), std::back_inserter(kept), stays);
  return kept;
}

// What the threads began in the first step, the device work of that, and all waits of streams.
void Clip(HtaTable& table) {
  const auto step = std::find_if(table.rows.begin(), table.rows.end(), NamesStep);
  if (step == table.rows.end()) {
    table.failure = "there is no ProfilerStep, without which the reference ends with an error";
    return;
  }
  const auto is_inside = [&](const HtaRow& row) {
    return row.stream == kNone && step->begin <= row.begin && row.begin <= step->end() &&
           row.duration > 0;
  };
  for (size_t i = 0; i < table.rows.size(); ++i) {
    CheckStopAt(i);
    const HtaRow& row = table.rows[i];
    const HtaRow* const call = row.stream != kNone ? table.Find(row.partner) : nullptr;
    if (is_inside(row) || row.name == "Stream Wait Event" ||
        (call != nullptr && row.partner > 0 && is_inside(*call))) {
      table.clipped.push_back(i);
    }
  }
  std::sort(table.clipped.begin(), table.clipped.end(),
            [&](size_t a, size_t b) { return table.rows[a].event < table.rows[b].event; });
}

}  // namespace

HtaTable BuildHtaTable(const DeviceTrace& trace) {
  HtaTable table;
  std::vector<HtaRow> rows = ReadRows(trace);
  SetPartners(rows);
  table.rows = WithoutLastStep(std::move(rows));
  table.at.assign(trace.events.size(), kNone);
  for (size_t i = 0; i < table.rows.size(); ++i) {
    table.at[table.rows[i].event] = static_cast<int64_t>(i);
  }
  Clip(table);
  return table;
}

bool IsHtaLaunch(const HtaRow& row) {
  constexpr std::string_view kNames[] = {"cudaMemsetAsync", "cudaMemcpyAsync", "cudaLaunchKernel",
                                         "cudaLaunchKernelExC", "cuLaunchKernel"};
  return row.partner > 0 &&
         std::find(std::begin(kNames), std::end(kNames), row.name) != std::end(kNames);
}

}  // namespace borescope::internal::chakra::compat
