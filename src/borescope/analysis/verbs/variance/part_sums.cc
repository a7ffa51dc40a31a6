#include "borescope/analysis/verbs/variance/part_sums.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include "borescope/base/saturating.h"
#include "borescope/base/stop.h"
#include "borescope/index/steps/steps.h"

namespace borescope::internal {
namespace {

// In the place of a StringId.
constexpr int64_t kUnnamed = -1;
constexpr int64_t kStepItself = -2;
constexpr int64_t kOtherNames = -3;

}  // namespace

std::string_view PartCauseName(PartCause cause) {
  if (cause < PartCause::kCompute) {
    return BoundByName(static_cast<BoundBy>(cause));
  }
  constexpr std::string_view kNames[] = {"compute",        "exposed_comm", "exposed_copy", "idle",
                                         "operator",       "call",         "annotation",   "python",
                                         "between_events", "unknown"};
  return kNames[static_cast<size_t>(cause) - static_cast<size_t>(PartCause::kCompute)];
}

PartSums::PartSums(const RankView& view, const StepSpans& spans)
    : view_(view), spans_(spans), groups_(3), is_step_name_(view.trace.strings().size(), 0) {
  for (const Step& step : view.steps().steps) {
    is_step_name_[view.trace.host().name[step.annotation.value].value] = 2;
  }
}

bool PartSums::IsStepName(StringId name) {
  char& known = is_step_name_[name.value];
  if (known == 0) {
    const std::string_view text = view_.trace.Text(name);
    known = IsServerStep(text) || FoldStepName(text) != text ? 2 : 1;
  }
  return known == 2;
}

void PartSums::Add(uint32_t span, PartCause cause, StringId name, int64_t ns) {
  if (ns <= 0) {
    return;
  }
  const int64_t id = !name.valid() ? kUnnamed : IsStepName(name) ? kStepItself : name.value;
  const std::array<int64_t, 3> key = {span, static_cast<int64_t>(cause), id};
  const uint32_t group = groups_.Find(key);
  ns_.resize(groups_.size(), 0);
  AddSaturatingTo(ns_[group], ns);
}

void PartSums::AddUnnamed(uint32_t span, PartCause cause, int64_t ns) {
  Add(span, cause, StringId(), ns);
}

void PartSums::AddTime(Interval time, PartCause cause, StringId name) {
  const std::vector<StepPiece>& pieces = spans_.pieces;
  while (next_piece_ < pieces.size() && pieces[next_piece_].time.end <= time.begin) {
    ++next_piece_;
  }
  for (size_t i = next_piece_; i < pieces.size() && pieces[i].time.begin < time.end; ++i) {
    const int64_t begin_ns = std::max(time.begin, pieces[i].time.begin);
    Add(pieces[i].span, cause, name, std::min(time.end, pieces[i].time.end) - begin_ns);
  }
}

void PartSums::AddRest() {
  std::vector<int64_t> rest(spans_.spans.size());
  for (size_t i = 0; i < rest.size(); ++i) {
    rest[i] = spans_.spans[i].length_ns;
  }
  for (uint32_t group = 0; group < groups_.size(); ++group) {
    rest[static_cast<size_t>(groups_.key(group)[0])] -= ns_[group];
  }
  for (uint32_t i = 0; i < rest.size(); ++i) {
    AddUnnamed(i, PartCause::kUnknown, rest[i]);
  }
}

// Per kind, a cause with a name: whether it is among those that vary most.
std::vector<char> PartSums::NamesToKeep(const std::vector<uint32_t>& kind_of, size_t kinds) const {
  std::vector<char> keeps(kinds, 1);
  if (kinds <= kMostNames) {
    return keeps;
  }
  std::vector<double> sum(kinds, 0);
  std::vector<double> squares(kinds, 0);
  for (uint32_t group = 0; group < groups_.size(); ++group) {
    if (!spans_.spans[static_cast<size_t>(groups_.key(group)[0])].is_first) {
      const auto ns = static_cast<double>(ns_[group]);
      sum[kind_of[group]] += ns;
      squares[kind_of[group]] += ns * ns;
    }
  }
  const auto counted = static_cast<double>(std::count_if(
      spans_.spans.begin(), spans_.spans.end(), [](const auto& span) { return !span.is_first; }));
  std::vector<double> spread(kinds);
  for (size_t kind = 0; kind < kinds; ++kind) {
    spread[kind] = squares[kind] - sum[kind] * sum[kind] / std::max(counted, 1.0);
  }
  std::vector<uint32_t> by_spread(kinds);
  std::iota(by_spread.begin(), by_spread.end(), 0U);
  std::stable_sort(by_spread.begin(), by_spread.end(),
                   [&](uint32_t a, uint32_t b) { return spread[a] > spread[b]; });
  for (size_t i = kMostNames; i < by_spread.size(); ++i) {
    keeps[by_spread[i]] = 0;
  }
  return keeps;
}

std::string_view PartSums::TextOf(int64_t name) const {
  switch (name) {
    case kUnnamed:
      return {};
    case kStepItself:
      return "(the step itself)";
    case kOtherNames:
      return kOtherNamesText;
    default:
      return view_.trace.Text(StringId{static_cast<uint32_t>(name)});
  }
}

std::vector<StepPart> PartSums::Finish() {
  AddRest();
  Grouper kinds(2);
  std::vector<uint32_t> kind_of(groups_.size());
  for (uint32_t group = 0; group < groups_.size(); ++group) {
    CheckStopAt(group);
    kind_of[group] = kinds.Find(groups_.key(group).subspan(1));
  }
  const std::vector<char> keeps = NamesToKeep(kind_of, kinds.size());
  // By text: what an event is named may be a placeholder here.
  std::map<std::tuple<int64_t, int64_t, std::string_view>, int64_t> sums;
  for (uint32_t group = 0; group < groups_.size(); ++group) {
    CheckStopAt(group);
    const std::span<const int64_t> key = groups_.key(group);
    const bool is_kept = keeps[kind_of[group]] != 0 || key[2] == kUnnamed;
    AddSaturatingTo(sums[{key[0], key[1], TextOf(is_kept ? key[2] : kOtherNames)}], ns_[group]);
  }
  std::vector<StepPart> parts;
  parts.reserve(sums.size());
  for (const auto& [key, ns] : sums) {
    parts.push_back({static_cast<uint32_t>(std::get<0>(key)),
                     static_cast<PartCause>(std::get<1>(key)), std::get<2>(key), ns});
  }
  return parts;
}

}  // namespace borescope::internal
