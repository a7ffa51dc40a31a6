#include "borescope/ingest/kineto/kineto_ranges.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <string_view>
#include <vector>

#include "borescope/json/json_cursor.h"

namespace borescope::internal {
namespace {

// Fields of any event are not counters; see docs/formats/kineto.md.
bool IsOtherField(std::string_view key) {
  std::array<char, 64> padded{};  // FindArgsField reads eight bytes from the key's start
  if (key.size() > padded.size() - 8) {
    return false;
  }
  std::copy(key.begin(), key.end(), padded.begin());
  return FindArgsField({padded.data(), key.size()}) != Field::kCount;
}

void ReadMetrics(const RawEvent& event, EventValues& values, TracePart& part) {
  Metrics& metrics = part.data.metrics;
  JsonCursor args(event.Get(Field::kArgs));
  if (!args.EnterObject()) {
    return;
  }
  std::string_view key;
  while (args.NextMember(key)) {
    const std::string_view text = args.Value();
    if (IsOtherField(key)) {
      continue;
    }
    const std::optional<double> value = values.Number(event, key, text);
    if (value.has_value()) {
      metrics.name.push_back(part.Intern(values.Decoded(event, key)));
      metrics.value.push_back(*value);
    }
  }
}

// Drops metrics from row `first` on that one of the same name follows. True if there were any.
bool KeepLastOfEachName(Metrics& metrics, size_t first) {
  std::vector<size_t> rows(metrics.size() - first);
  std::iota(rows.begin(), rows.end(), first);
  std::stable_sort(rows.begin(), rows.end(), [&](size_t a, size_t b) {
    return metrics.name[a].value < metrics.name[b].value;
  });
  const auto is_repeated = [&](size_t a, size_t b) { return metrics.name[a] == metrics.name[b]; };
  if (std::adjacent_find(rows.begin(), rows.end(), is_repeated) == rows.end()) {
    return false;
  }
  std::vector<size_t> kept;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (i + 1 == rows.size() || !is_repeated(rows[i], rows[i + 1])) {
      kept.push_back(rows[i]);
    }
  }
  std::sort(kept.begin(), kept.end());
  for (size_t i = 0; i < kept.size(); ++i) {
    metrics.name[first + i] = metrics.name[kept[i]];
    metrics.value[first + i] = metrics.value[kept[i]];
  }
  metrics.name.resize(first + kept.size());
  metrics.value.resize(first + kept.size());
  return true;
}

}  // namespace

uint32_t AddProfilerRange(const RawEvent& event, EventValues& values, TracePart& part) {
  const size_t first = part.data.metrics.size();
  ReadMetrics(event, values, part);
  if (KeepLastOfEachName(part.data.metrics, first)) {
    part.data.diagnostics.Count(Diag::kDuplicateKey, event.byte);
  }
  ProfilerRanges& ranges = part.data.ranges;
  ranges.first_metric.push_back(static_cast<uint32_t>(first));
  ranges.end_metric.push_back(static_cast<uint32_t>(part.data.metrics.size()));
  return static_cast<uint32_t>(ranges.size() - 1);
}

}  // namespace borescope::internal
