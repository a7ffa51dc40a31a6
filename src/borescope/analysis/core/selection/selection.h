// Selected: the part of one rank that a Selection keeps.
//
// --annotation names windows of host time, --begin and --end a window of any time; time must be in
// all that are given. Things that are counted belong to the annotation in which they were launched:
// device work by the start of its launch (its own start if the launch is unknown), host events by
// their start. Between --begin and --end they belong by their own start, both ends included, as
// with `convert`. --gpu and --stream concern the device side only.
//
// --step keeps host events that start in the window of a step, and device work and time by the rule
// of --step-rule:
//
//   launch   the work launched in the step, and of the time of a device or stream what belongs to
//            the step (device_time.h)
//   time     the same work, and work without a recorded launch that starts in the window; the time
//            inside the window
//
// Of several processes each has windows of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/analysis/core/params.h"
#include "borescope/base/intervals.h"
#include "borescope/base/result.h"
#include "borescope/trace/string_pool.h"
#include "borescope/trace/trace.h"

namespace borescope::internal {

// What holds for names, asked once for each text of a trace and not once for each row that has it.

// Per text, by its StringId: 1 where `holds(text)`. O(texts).
template <class Predicate>
std::vector<char> FlagNames(const StringPool& strings, const Predicate& holds) {
  std::vector<char> flags(strings.size());
  for (uint32_t i = 0; i < flags.size(); ++i) {
    flags[i] = holds(strings.Get(StringId{i})) ? 1 : 0;
  }
  return flags;
}

// The single numbers of the lists of a selection: 101 and 7, but not 2..5, of "--step 101,2..5,7".
// A range takes what there is of it; a number of its own that is nowhere is a slip, which an answer
// about the others would hide. A list of which nothing is known is an error (selection.h).

struct SelectionMembers {
  std::set<int64_t> steps;
  std::set<int64_t> gpus;
  std::set<int64_t> streams;
  std::set<int64_t> instances;
};

std::set<int64_t> SinglesOf(const NumberRanges& numbers);

// Those of the selection that the rank does not have. Devices and streams are there if some work
// ran on them.
SelectionMembers FindUnknown(const RankView& view, const Selection& selection);

// The numbers of the selected steps to which no device work of the rank belongs by rule launch;
// none if that rule is not asked for, or the rank has no device work at all. O(rows).
std::set<int64_t> FindStepsWithoutWork(const RankView& view, const Selection& selection);

// Keeps in `unknown` what is in `other`, too: what neither of two ranks has.
void Intersect(SelectionMembers& unknown, const SelectionMembers& other);

// "step 199", "gpu 9": one text for each.
std::vector<std::string> NamesOf(const SelectionMembers& members);

// What is selected of a file that holds a part of a recording (trace/recorded_cut.h).

// What `asked` selects of the recording, and inside of the part that the file was cut to. Steps by
// another pattern than those of the part have other numbers, so that its steps do not limit them.
// Unchanged for a whole recording. kMissingData, naming the file and the part, where nothing is
// left.
Result<Selection> WithinCut(const Selection& asked, const Trace& trace);

class Selected {
 public:
  // An error if a step, annotation, kernel, device or stream that was requested does not exist, and
  // if --begin and --end leave no time.
  static Result<Selected> Make(const RankView& view, const Selection& selection);

  // Selected time of the host, sorted and disjoint; without a selection of time the whole
  // recording. Of steps their windows.
  const IntervalSet& windows() const { return windows_; }
  // Selected time of a device or stream, whose work is in `tracks`; without --step the same.
  IntervalSet TimeOf(std::span<const uint32_t> tracks) const;
  // To which selected step the time of such a line belongs, from the smallest time on.
  std::vector<Steps::Piece> PiecesOf(std::span<const uint32_t> tracks) const;
  // Selected time but for --step.
  const IntervalSet& time_of_all_steps() const { return time_of_all_steps_; }

  // Indices into the steps of the view of those selected by number, all of them by default, whose
  // windows are not outside of --begin and --end.
  const std::vector<uint32_t>& steps() const { return steps_; }
  // The same, wherever their windows are: work may run later than it was launched.
  const std::vector<uint32_t>& steps_at_any_time() const { return steps_at_any_time_; }
  bool has_steps() const { return has_steps_; }
  StepRule step_rule() const { return rule_; }
  // Whether some device tracks may be left out.
  bool by_track() const { return by_track_; }

  // A device stream that passes --gpu and --stream.
  bool KeepsTrack(TrackId track) const { return keeps_track_[track.value] != 0; }
  bool KeepsTime(int64_t ts_ns) const { return KeepsTime(ts_ns, ts_ns); }
  // Of something that was launched at another time than its own.
  bool KeepsTime(int64_t ts_ns, int64_t asked_ns) const {
    return range_.Holds(ts_ns) && IsAskedFor(asked_ns);
  }
  bool Keeps(HostId id) const { return keeps_all_ || KeepsSelected(id); }
  // Of what a thread did at a time, outside of any row.
  bool Keeps(TrackId thread, int64_t ts_ns) const;
  // REQUIRES: nothing of its kind; annotations and waits of the device are never kept.
  bool Keeps(DeviceId id) const {
    return IsDeviceWork(view_->trace.device().kind[id.value]) && (keeps_all_ || KeepsWork(id));
  }

 private:
  explicit Selected(const RankView& view);

  Result<void> SelectSteps(const Selection& selection);
  Result<void> SelectAnnotation(const Selection& selection);
  Result<void> SelectRange(const TimeRange& range);
  void SelectTracks(const Selection& selection);
  // Whether the time is in the steps and annotations.
  bool IsAskedFor(int64_t ts_ns) const;
  // Whether something on a track at a time is in the selected steps, with --step.
  bool IsInSteps(TrackId track, int64_t ts_ns) const;
  bool KeepsSelected(HostId id) const;
  bool KeepsWork(DeviceId id) const;
  bool KeepsStep(DeviceId id) const;
  bool KeepsAnyWork() const;
  // The selected steps of the processes that may use these tracks; of all, if there are none.
  std::vector<uint32_t> StepsOf(std::span<const uint32_t> tracks) const;
  // kMissingData when --gpu or --stream leaves none of the device work there is.
  Result<void> CheckTracks() const;

  const RankView* view_;    // outlives this
  bool keeps_all_ = false;  // nothing is left out
  StepRule rule_ = StepRule::kLaunch;
  bool has_steps_ = false;
  bool has_annotation_ = false;
  bool by_track_ = false;
  TimeWindow range_;
  IntervalSet annotations_;  // if has_annotation_
  IntervalSet asked_;        // of the steps and annotations, if there are any
  IntervalSet time_of_all_steps_;
  IntervalSet windows_;
  std::vector<uint32_t> steps_;
  std::vector<uint32_t> steps_at_any_time_;
  std::vector<char> keeps_step_;                   // per step, if has_steps_
  std::vector<IntervalSet> windows_of_processes_;  // of those steps; last of all processes together
  std::vector<char> keeps_track_;
};

// How many host annotations have this name.
size_t CountInstances(const Trace& trace, std::string_view annotation);

// When device work was asked for: the start of its launch, or its own start.
int64_t RequestTime(const RankView& view, DeviceId id);

}  // namespace borescope::internal
