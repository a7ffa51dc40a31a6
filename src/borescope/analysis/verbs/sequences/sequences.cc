// sequences: which patterns of device work recur under operators (sequence_patterns.h), and how
// much of the device's time they make up. `sequence_coverage` says what became of all selected
// device work, so that nothing is missed in silence.
//
// The overlay marks the five patterns with the most device time: every occurrence is a span over
// the operator beside the host's threads, and on each device a span from the first start to the
// last end of its work.
#include <algorithm>
#include <map>
#include <queue>
#include <string>
#include <utility>

#include "borescope/analysis/core/finish.h"
#include "borescope/analysis/core/param_specs.h"
#include "borescope/analysis/core/reduce.h"
#include "borescope/analysis/core/row.h"
#include "borescope/analysis/verbs/sequences/sequence_patterns.h"
#include "borescope/analysis/verbs/verbs.h"

namespace borescope::internal {
namespace {

constexpr size_t kPatternsDrawn = 5;

Result<SequencePatterns> FindPatterns(const RankView& view, const Params& params) {
  BS_ASSIGN(const Selected selected, Selected::Make(view, params.selection));
  const std::string text(params.Text(kOperatorParam));
  SequencePatterns found =
      FindSequencePatterns(view, selected, text, params.Number(kMinLengthParam));
  if (!text.empty() && found.occurrences.empty()) {
    return Error{ErrorCode::kMissingData,
                 "no operator or annotation contains \"" + text + "\"",
                 {},
                 view.trace.meta().file};
  }
  return found;
}

// ---- Tables ----

Table PatternTable(const Trace& trace, const SequencePatterns& found) {
  Table table{"sequences", "Patterns of device work under operators", {}};
  AddString(table, "operator", Role::kKey, "Name of the operator or annotation.");
  AddString(table, "pattern", Role::kKey,
            "Names of the device work of one call, by start, joined by \"|\".");
  AddInt(table, "kernels", Unit::kCount, Role::kKey, "Kernels and copies in the pattern.");
  AddInt(table, "count", Unit::kCount, Role::kSum, "Calls with this pattern.");
  AddInt(table, "device_ns", Unit::kNanoseconds, Role::kSum, "Sum of the durations of the work.");
  AddInt(table, "host_ns", Unit::kNanoseconds, Role::kSum, "Sum of the durations of the calls.");
  AddFloat(table, "share", Unit::kShare, Role::kDerived, "Device time / all device work.");
  for (const SequencePattern& pattern : found.patterns) {
    const Occurrence& first = found.FirstOf(pattern);
    Row row(table);
    row.Text(trace.Name(first.op)).Text(PatternText(trace, found.WorkOf(first)));
    row.Count(first.length()).Count(pattern.occurrences.size());
    row.Int(pattern.device_ns).Int(pattern.host_ns).Missing();
  }
  return table;
}

// The length of the longest pattern of a place.
int64_t LongestIn(const SequencePatterns& found, WorkPlace place, size_t min_length) {
  if (place != WorkPlace::kInPattern && place != WorkPlace::kInShorter) {
    return kMissing;
  }
  size_t longest = 0;
  for (const Occurrence& occurrence : found.occurrences) {
    const bool is_in_pattern = occurrence.length() >= min_length;
    if (is_in_pattern == (place == WorkPlace::kInPattern)) {
      longest = std::max(longest, occurrence.length());
    }
  }
  return static_cast<int64_t>(longest);
}

Table CoverageTable(const SequencePatterns& found, size_t min_length) {
  constexpr std::string_view kNames[] = {"in these patterns", "in shorter patterns",
                                         "under no such operator", "not linked to the host"};
  static_assert(std::size(kNames) == static_cast<size_t>(WorkPlace::kCount));
  Table table{"sequence_coverage", "Where the device work is", {}};
  AddString(table, "place", Role::kKey, "Whether the work belongs to a pattern, or why not.");
  AddInt(table, "count", Unit::kCount, Role::kSum, "Kernels and copies.");
  AddInt(table, "device_ns", Unit::kNanoseconds, Role::kSum, "Sum of their durations.");
  AddInt(table, "longest", Unit::kCount, Role::kMax,
         "Kernels and copies of the longest pattern; missing outside of patterns.");
  AddFloat(table, "share", Unit::kShare, Role::kDerived, "Device time / all device work.");
  for (size_t i = 0; i < found.places.size(); ++i) {
    Row row(table);
    row.Text(kNames[i]).Int(found.places[i].count).Int(found.places[i].device_ns);
    row.MaybeInt(LongestIn(found, static_cast<WorkPlace>(i), min_length)).Missing();
  }
  return table;
}

// An empty table would not say how close the question came.
Result<void> CheckThereArePatterns(const Tables& findings, const Params& params) {
  if (findings[0].rows() > 0) {
    return {};
  }
  const IntValues& lengths = Ints(findings[1], "longest");
  const int64_t longest = lengths.empty() ? 0 : *std::max_element(lengths.begin(), lengths.end());
  if (longest == 0) {
    const std::string text(params.Text(kOperatorParam));
    if (text.empty()) {
      return Error{ErrorCode::kMissingData, "no device work lies under operators",
                   "borescope top shows it by name"};
    }
    return Error{ErrorCode::kMissingData,
                 "no device work lies under operators whose name contains \"" + text + "\"",
                 "borescope ops lists them"};
  }
  return Error{ErrorCode::kMissingData,
               "no operator has " + std::to_string(params.Number(kMinLengthParam)) +
                   " or more kernels and copies",
               "the most are " + std::to_string(longest) + ": lower `min_length`"};
}

// ---- Overlay ----

// The patterns with the most device time; of equal ones the first to appear.
std::vector<const SequencePattern*> LargestPatterns(const SequencePatterns& found) {
  std::vector<const SequencePattern*> largest;
  largest.reserve(found.patterns.size());
  for (const SequencePattern& pattern : found.patterns) {
    largest.push_back(&pattern);
  }
  std::stable_sort(largest.begin(), largest.end(),
                   [](const SequencePattern* a, const SequencePattern* b) {
                     return a->device_ns > b->device_ns;
                   });
  largest.resize(std::min(kPatternsDrawn, largest.size()));
  return largest;
}

using SpansByProcess = std::map<int64_t, std::vector<OverlaySpan>>;

void AddDeviceSpans(const Trace& trace, std::span<const DeviceId> work, SpansByProcess& spans) {
  const DeviceEvents& device = trace.device();
  std::map<int64_t, Interval> extents;
  for (const DeviceId id : work) {
    const Interval own{device.ts_ns[id.value], device.end_ns(id)};
    Interval& extent = extents.try_emplace(trace.DeviceOf(id), own).first->second;
    extent.end = std::max(extent.end, own.end);
  }
  for (const auto& [gpu, extent] : extents) {
    spans[gpu].push_back({extent.begin, extent.length(), 0});
  }
}

// Spread over as few lines as hold them without overlap.
std::vector<std::vector<OverlaySpan>> LinesOf(std::vector<OverlaySpan> spans) {
  std::stable_sort(spans.begin(), spans.end(),
                   [](const OverlaySpan& a, const OverlaySpan& b) { return a.ts_ns < b.ts_ns; });
  using EndAndLine = std::pair<int64_t, size_t>;
  std::priority_queue<EndAndLine, std::vector<EndAndLine>, std::greater<>> ends;
  std::vector<std::vector<OverlaySpan>> lines;
  for (const OverlaySpan& span : spans) {
    size_t line = lines.size();
    if (!ends.empty() && ends.top().first <= span.ts_ns) {
      line = ends.top().second;
      ends.pop();
    } else {
      lines.emplace_back();
    }
    lines[line].push_back(span);
    ends.emplace(span.ts_ns + span.dur_ns, line);
  }
  return lines;
}

void AddTracks(const std::string& name, const std::string& operator_name, SpansByProcess spans,
               Overlay& overlay) {
  for (auto& [pid, of_process] : spans) {
    std::vector<std::vector<OverlaySpan>> lines = LinesOf(std::move(of_process));
    for (size_t i = 0; i < lines.size(); ++i) {
      const std::string number = i == 0 ? "" : " (" + std::to_string(i + 1) + ")";
      overlay.tracks.push_back({pid, name + number, {operator_name}, std::move(lines[i])});
    }
  }
}

void DrawPattern(const Trace& trace, const SequencePatterns& found, const SequencePattern& pattern,
                 size_t number, Overlay& overlay) {
  const HostEvents& host = trace.host();
  const Occurrence& first = found.FirstOf(pattern);
  const std::string operator_name(trace.Name(first.op));
  const std::string name = "Pattern " + std::to_string(number) + ": " + operator_name + ", " +
                           std::to_string(first.length()) +
                           (first.length() == 1 ? " kernel" : " kernels");
  SpansByProcess host_spans;
  SpansByProcess device_spans;
  for (const uint32_t i : pattern.occurrences) {
    const HostId op = found.occurrences[i].op;
    host_spans[trace.tracks().pid[host.track[op.value].value]].push_back(
        {host.ts_ns[op.value], host.dur_ns[op.value], 0});
    AddDeviceSpans(trace, found.WorkOf(found.occurrences[i]), device_spans);
  }
  AddTracks(name, operator_name, std::move(host_spans), overlay);
  AddTracks(name, operator_name, std::move(device_spans), overlay);
}

Result<Tables> MapSequences(const RankView& view, const Params& params) {
  BS_ASSIGN(const SequencePatterns found, FindPatterns(view, params));
  const auto min_length = static_cast<size_t>(params.Number(kMinLengthParam));
  return Tables{PatternTable(view.trace, found), CoverageTable(found, min_length)};
}

Result<Tables> FinishSequences(Tables findings, const Params& params) {
  BS_TRY(CheckThereArePatterns(findings, params));
  const int64_t whole_ns = SumOf(findings[1], "device_ns");
  for (Table& table : findings) {
    const IntValues& device_ns = Ints(table, "device_ns");
    FloatValues& share = FillFloats(table, "share");
    for (size_t row = 0; row < table.rows(); ++row) {
      share[row] = ShareOf(device_ns[row], whole_ns);
    }
    table = Sorted(table, "device_ns");
  }
  return findings;
}

Result<Overlay> OverlaySequences(const RankView& view, const Params& params) {
  BS_ASSIGN(const SequencePatterns found, FindPatterns(view, params));
  Overlay overlay;
  size_t number = 0;
  for (const SequencePattern* pattern : LargestPatterns(found)) {
    DrawPattern(view.trace, found, *pattern, ++number, overlay);
  }
  return overlay;
}

constexpr const ParamSpec* kSequenceParams[] = {&kOperatorParam, &kMinLengthParam,
                                                &kIncludeLastStepParam};

}  // namespace

const AnalysisSpec kSequencesVerb{
    .name = "sequences",
    .summary = "kernel patterns that recur under an operator",
    .example = "borescope sequences trace.json.gz --operator linear --min-length 1",
    .needs = Needs::kLaunches,
    .params = kSequenceParams,
    .answer = {.map = MapSequences, .reduce = MergeTables, .finish = FinishSequences},
    .overlay = OverlaySequences};

}  // namespace borescope::internal
