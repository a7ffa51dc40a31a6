// sequences: which patterns of device work recur under operators, and how
// much of the device's time they make up. `sequence_coverage` says where all selected device work
// is counted, so that nothing is left out silently.
//
// The overlay marks the five patterns with the most device time: every occurrence is a span over
// the operator beside the host's threads, and on each device a span from the first start to the
// last end of its work.
#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <queue>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/analysis/core/grouper.h"
#include "borescope/analysis/core/param_specs.h"
#include "borescope/analysis/core/reduce.h"
#include "borescope/analysis/core/row.h"
#include "borescope/analysis/core/selection/selection.h"
#include "borescope/analysis/verbs/verbs.h"
#include "borescope/base/each_row.h"
#include "borescope/base/text/text.h"
#include "borescope/table/typed_rows.h"

namespace borescope::internal {

namespace {

// Patterns of device work under operators.
//
// An occurrence is a call of an operator (or annotation) whose name contains `text`, and that lies
// in no other such call; with an empty text it is an operator that lies in no other operator. Its
// work is all device work of its whole subtree: launched by a call inside it or, where no launch
// inside an occurrence is known, of an operator inside it. The names of the work, by start, are its
// pattern.
//
// An occurrence is selected by its own start, and brings all its work on the selected streams.
// Linear in the rows but for the sorting of the work of each occurrence.

struct Occurrence {
  HostId op;
  bool is_selected = false;
  uint32_t work_begin = 0;  // its work, a slice of SequencePatterns::work
  uint32_t work_end = 0;

  size_t length() const { return work_end - work_begin; }
};

struct SequencePattern {
  std::vector<uint32_t> occurrences;  // by row
  int64_t device_ns = 0;              // sums over them: of their work,
  int64_t host_ns = 0;                // and of the operators
};

// Where selected device work is counted.
enum class WorkPlace : uint8_t {
  kInPattern,  // in one of `patterns`
  kInShorter,  // in a pattern that is too short
  kOutside,    // under no such operator
  kUnlinked,   // neither launch nor operator was recorded
  kCount
};

struct WorkSum {
  int64_t count = 0;
  int64_t device_ns = 0;
};

struct SequencePatterns {
  std::vector<Occurrence> occurrences;    // by row
  std::vector<DeviceId> work;             // of all occurrences, each by start
  std::vector<SequencePattern> patterns;  // in order of first appearance
  std::array<WorkSum, static_cast<size_t>(WorkPlace::kCount)> places;

  std::span<const DeviceId> WorkOf(const Occurrence& occurrence) const {
    return std::span(work).subspan(occurrence.work_begin, occurrence.length());
  }
  const Occurrence& FirstOf(const SequencePattern& pattern) const {
    return occurrences[pattern.occurrences.front()];
  }
};

constexpr uint32_t kNowhere = ~uint32_t{0};

class PatternFinder {
 public:
  PatternFinder(const RankView& view, const Selected& selected, std::string_view text)
      : view_(view), selected_(selected), text_(text) {}

  SequencePatterns Find(size_t min_length) {
    FindOccurrences();
    PlaceWork();
    for (const uint32_t i : EachRow(found_.occurrences.size())) {
      if (found_.occurrences[i].length() >= min_length) {
        AddToPattern(i);
        AddWork(WorkPlace::kInPattern, found_.WorkOf(found_.occurrences[i]));
      } else {
        AddWork(WorkPlace::kInShorter, found_.WorkOf(found_.occurrences[i]));
      }
    }
    return std::move(found_);
  }

 private:
  void FindOccurrences();
  void PlaceWork();
  uint32_t OccurrenceAround(uint32_t device_row) const;
  void CountWork(std::span<const uint32_t> occurrence_of_work);
  void SortWork();
  void AddToPattern(uint32_t occurrence);
  void AddWork(WorkPlace place, std::span<const DeviceId> work);

  const RankView& view_;
  const Selected& selected_;
  std::string_view text_;
  SequencePatterns found_;
  std::vector<uint32_t> occurrence_of_row_;  // per host row
  Grouper prefixes_{2};                      // (a longer prefix's number, the next name)
  std::vector<uint32_t> pattern_of_prefix_;
};

// Which names are looked for.
std::vector<char> Matches(const Trace& trace, std::string_view text) {
  std::vector<char> matches(trace.strings().size(), 1);
  for (uint32_t i = 0; i < matches.size() && !text.empty(); ++i) {
    matches[i] = Contains(trace.Text(StringId{i}), text) ? 1 : 0;
  }
  return matches;
}

// One past the last row of the thread that begins in the call of `row`. Where calls overlap instead
// of nesting, some of these are not below it in the call tree.
uint32_t EndOfCall(const Trace& trace, uint32_t row) {
  const HostEvents& host = trace.host();
  const uint32_t track = host.track[row].value;
  const bool contains_nothing = trace.tracks().is_async[track] != 0;
  const uint32_t thread_end = contains_nothing ? row + 1 : trace.tracks().end_row[track];
  const int64_t end_ns = host.end_ns(HostId{row});
  uint32_t next = row + 1;
  while (next < thread_end &&
         (host.ts_ns[next] < end_ns || (host.ts_ns[next] == end_ns && host.dur_ns[next] == 0))) {
    ++next;
  }
  return next;
}

void PatternFinder::FindOccurrences() {
  const HostEvents& host = view_.trace.host();
  const std::vector<char> matches = Matches(view_.trace, text_);
  occurrence_of_row_.assign(host.all_size(), kNowhere);
  for (uint32_t row = 0; row < host.size();) {
    const HostKind kind = host.kind[row];
    const bool can_match = view_.index.IsOperator(view_.trace, HostId{row}) ||
                           (kind == HostKind::kAnnotation && !text_.empty());
    if (!can_match || matches[host.name[row].value] == 0) {
      ++row;
      continue;
    }
    const auto number = static_cast<uint32_t>(found_.occurrences.size());
    const uint32_t end_row = EndOfCall(view_.trace, row);
    std::fill(occurrence_of_row_.begin() + row, occurrence_of_row_.begin() + end_row, number);
    found_.occurrences.push_back({HostId{row}, selected_.Keeps(HostId{row}), 0, 0});
    row = end_row;
  }
}

uint32_t PatternFinder::OccurrenceAround(uint32_t device_row) const {
  const Correlation& correlation = view_.index.correlation;
  for (const HostId id : {correlation.launch_of[device_row], correlation.op_of[device_row]}) {
    if (id.valid() && occurrence_of_row_[id.value] != kNowhere) {
      return occurrence_of_row_[id.value];
    }
  }
  return kNowhere;
}

void PatternFinder::PlaceWork() {
  const DeviceEvents& device = view_.trace.device();
  std::vector<uint32_t> occurrence_of_work(device.size(), kNowhere);
  for (const uint32_t row : EachRow(device.size())) {
    const DeviceId id{row};
    if (!IsDeviceWork(device.kind[row]) || !selected_.KeepsTrack(device.track[row])) {
      continue;
    }
    const uint32_t occurrence = OccurrenceAround(row);
    if (occurrence != kNowhere) {
      occurrence_of_work[row] = found_.occurrences[occurrence].is_selected ? occurrence : kNowhere;
    } else if (selected_.Keeps(id)) {
      const bool is_linked = view_.index.correlation.rule[row] != LinkRule::kNone;
      AddWork(is_linked ? WorkPlace::kOutside : WorkPlace::kUnlinked, std::span(&id, 1));
    }
  }
  CountWork(occurrence_of_work);
  for (const uint32_t row : EachRow(device.size())) {
    if (occurrence_of_work[row] != kNowhere) {
      found_.work[found_.occurrences[occurrence_of_work[row]].work_end++] = DeviceId{row};
    }
  }
  SortWork();
}

// Gives every occurrence its slice, still empty.
void PatternFinder::CountWork(std::span<const uint32_t> occurrence_of_work) {
  std::vector<uint32_t> counts(found_.occurrences.size(), 0);
  for (const uint32_t occurrence : occurrence_of_work) {
    if (occurrence != kNowhere) {
      ++counts[occurrence];
    }
  }
  uint32_t begin = 0;
  for (const size_t i : EachIndex(counts.size())) {
    found_.occurrences[i].work_begin = begin;
    found_.occurrences[i].work_end = begin;
    begin += counts[i];
  }
  found_.work.resize(begin);
}

void PatternFinder::SortWork() {
  const DeviceEvents& device = view_.trace.device();
  for (const Occurrence& occurrence : found_.occurrences) {
    std::sort(found_.work.begin() + occurrence.work_begin,
              found_.work.begin() + occurrence.work_end, [&](DeviceId a, DeviceId b) {
                return std::tie(device.ts_ns[a.value], a) < std::tie(device.ts_ns[b.value], b);
              });
  }
}

// Walks a tree of prefixes, the first of which is the operator's name.
void PatternFinder::AddToPattern(uint32_t occurrence) {
  const HostEvents& host = view_.trace.host();
  const DeviceEvents& device = view_.trace.device();
  const HostId op = found_.occurrences[occurrence].op;
  uint32_t prefix = prefixes_.Find(std::array<int64_t, 2>{-1, host.name[op.value].value});
  for (const DeviceId id : found_.WorkOf(found_.occurrences[occurrence])) {
    prefix = prefixes_.Find(std::array<int64_t, 2>{prefix, device.name[id.value].value});
  }
  pattern_of_prefix_.resize(prefixes_.size(), kNowhere);
  if (pattern_of_prefix_[prefix] == kNowhere) {
    pattern_of_prefix_[prefix] = static_cast<uint32_t>(found_.patterns.size());
    found_.patterns.emplace_back();
  }
  SequencePattern& pattern = found_.patterns[pattern_of_prefix_[prefix]];
  pattern.occurrences.push_back(occurrence);
  pattern.host_ns = AddSaturating(pattern.host_ns, host.dur_ns[op.value]);
  for (const DeviceId id : found_.WorkOf(found_.occurrences[occurrence])) {
    pattern.device_ns = AddSaturating(pattern.device_ns, device.dur_ns[id.value]);
  }
}

void PatternFinder::AddWork(WorkPlace place, std::span<const DeviceId> work) {
  WorkSum& sum = found_.places[static_cast<size_t>(place)];
  for (const DeviceId id : work) {
    ++sum.count;
    sum.device_ns = AddSaturating(sum.device_ns, view_.trace.device().dur_ns[id.value]);
  }
}

// Patterns of at least `min_length` pieces of work. REQUIRES: min_length > 0.
SequencePatterns FindSequencePatterns(const RankView& view, const Selected& selected,
                                      std::string_view text, int64_t min_length) {
  return PatternFinder(view, selected, text).Find(static_cast<size_t>(min_length));
}

// The names of the work of an occurrence, joined by "|".
std::string PatternText(const Trace& trace, std::span<const DeviceId> work) {
  std::string text;
  for (const size_t i : EachIndex(work.size())) {
    text += i == 0 ? "" : "|";
    text += trace.Name(work[i]);
  }
  return text;
}

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

struct PatternRow {
  std::string_view op = {};
  std::string pattern = {};
  int64_t kernels = 0;
  int64_t count = 0;
  int64_t device_ns = 0;
  int64_t host_ns = 0;
  std::optional<double> share = {};

  static constexpr TableNames kTable{"sequences", "Patterns of device work under operators"};
  static constexpr ColumnOf<PatternRow> kColumns[] = {
      {"operator", &PatternRow::op, Role::kKey, "Name of the operator or annotation."},
      {"pattern", &PatternRow::pattern, Role::kKey,
       "Names of the device work of one call, by start, joined by \"|\"."},
      {"kernels", &PatternRow::kernels, Unit::kCount, Role::kKey,
       "Kernels and copies in the pattern."},
      {"count", &PatternRow::count, Unit::kCount, Role::kSum, "Calls with this pattern."},
      {"device_ns", &PatternRow::device_ns, Unit::kNanoseconds, Role::kSum,
       "Sum of the durations of the work."},
      {"host_ns", &PatternRow::host_ns, Unit::kNanoseconds, Role::kSum,
       "Sum of the durations of the calls."},
      {"share", &PatternRow::share, Unit::kShare, Role::kDerived,
       "Device time / all device work."}};
};

Table PatternTable(const Trace& trace, const SequencePatterns& found) {
  std::vector<PatternRow> rows;
  rows.reserve(found.patterns.size());
  for (const SequencePattern& pattern : found.patterns) {
    const Occurrence& first = found.FirstOf(pattern);
    rows.push_back({.op = trace.Name(first.op),
                    .pattern = PatternText(trace, found.WorkOf(first)),
                    .kernels = static_cast<int64_t>(first.length()),
                    .count = static_cast<int64_t>(pattern.occurrences.size()),
                    .device_ns = pattern.device_ns,
                    .host_ns = pattern.host_ns});
  }
  return MakeTable(rows);
}

// The length of the longest pattern of a place.
std::optional<int64_t> LongestIn(const SequencePatterns& found, WorkPlace place,
                                 size_t min_length) {
  if (place != WorkPlace::kInPattern && place != WorkPlace::kInShorter) {
    return std::nullopt;
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

struct PlaceRow {
  std::string_view place = {};
  int64_t count = 0;
  int64_t device_ns = 0;
  std::optional<int64_t> longest = {};
  std::optional<double> share = {};

  static constexpr TableNames kTable{"sequence_coverage", "Where the device work is"};
  static constexpr ColumnOf<PlaceRow> kColumns[] = {
      {"place", &PlaceRow::place, Role::kKey, "Whether the work belongs to a pattern, or why not."},
      {"count", &PlaceRow::count, Unit::kCount, Role::kSum, "Kernels and copies."},
      {"device_ns", &PlaceRow::device_ns, Unit::kNanoseconds, Role::kSum,
       "Sum of their durations."},
      {"longest", &PlaceRow::longest, Unit::kCount, Role::kMax,
       "Kernels and copies of the longest pattern; missing outside of patterns."},
      {"share", &PlaceRow::share, Unit::kShare, Role::kDerived, "Device time / all device work."}};
};

Table CoverageTable(const SequencePatterns& found, size_t min_length) {
  constexpr std::string_view kNames[] = {"in these patterns", "in shorter patterns",
                                         "under no such operator", "not linked to the host"};
  static_assert(std::size(kNames) == static_cast<size_t>(WorkPlace::kCount));
  std::vector<PlaceRow> rows;
  rows.reserve(found.places.size());
  for (size_t i = 0; i < found.places.size(); ++i) {
    rows.push_back({.place = kNames[i],
                    .count = found.places[i].count,
                    .device_ns = found.places[i].device_ns,
                    .longest = LongestIn(found, static_cast<WorkPlace>(i), min_length)});
  }
  return MakeTable(rows);
}

// An empty table would not say how close the question came.
Result<void> CheckThereArePatterns(const Tables& findings, const Params& params) {
  if (TableOf<PatternRow>(findings).rows() > 0) {
    return {};
  }
  int64_t longest = 0;
  for (const PlaceRow& row : ReadRows<PlaceRow>(findings)) {
    longest = std::max(longest, row.longest.value_or(0));
  }
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
  Table& patterns = TableOf<PatternRow>(findings);
  Table& places = TableOf<PlaceRow>(findings);
  const int64_t whole_ns = SumOf(ReadRows<PlaceRow>(places), &PlaceRow::device_ns);
  UpdateRows<PatternRow>(patterns,
                         [&](PatternRow& row) { row.share = ShareOf(row.device_ns, whole_ns); });
  UpdateRows<PlaceRow>(places,
                       [&](PlaceRow& row) { row.share = ShareOf(row.device_ns, whole_ns); });
  patterns = Sorted(patterns, "device_ns");
  places = Sorted(places, "device_ns");
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
