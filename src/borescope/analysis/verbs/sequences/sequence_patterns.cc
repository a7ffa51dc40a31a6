#include "borescope/analysis/verbs/sequences/sequence_patterns.h"

#include <algorithm>
#include <tuple>

#include "borescope/analysis/core/finish.h"
#include "borescope/analysis/core/grouper.h"
#include "borescope/base/stop.h"
#include "borescope/base/text/text.h"

namespace borescope::internal {
namespace {

constexpr uint32_t kNowhere = ~uint32_t{0};

class PatternFinder {
 public:
  PatternFinder(const RankView& view, const Selected& selected, std::string_view text)
      : view_(view), selected_(selected), text_(text) {}

  SequencePatterns Find(size_t min_length) {
    FindOccurrences();
    PlaceWork();
    for (uint32_t i = 0; i < found_.occurrences.size(); ++i) {
      CheckStopAt(i);
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
  for (uint32_t row = 0; row < device.size(); ++row) {
    CheckStopAt(row);
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
  for (uint32_t row = 0; row < device.size(); ++row) {
    CheckStopAt(row);
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
  for (size_t i = 0; i < counts.size(); ++i) {
    CheckStopAt(i);
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

}  // namespace

SequencePatterns FindSequencePatterns(const RankView& view, const Selected& selected,
                                      std::string_view text, int64_t min_length) {
  return PatternFinder(view, selected, text).Find(static_cast<size_t>(min_length));
}

std::string PatternText(const Trace& trace, std::span<const DeviceId> work) {
  std::string text;
  for (size_t i = 0; i < work.size(); ++i) {
    CheckStopAt(i);
    text += i == 0 ? "" : "|";
    text += trace.Name(work[i]);
  }
  return text;
}

}  // namespace borescope::internal
