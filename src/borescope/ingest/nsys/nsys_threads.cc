#include "borescope/ingest/nsys/nsys_threads.h"

#include <algorithm>
#include <tuple>

#include "borescope/base/stop.h"

namespace borescope::internal {
namespace {

constexpr int64_t kLatest = int64_t{1} << 61;

int64_t Clamped(int64_t ns) { return std::clamp(ns, -kLatest, kLatest); }

}  // namespace

NsysThreads::NsysThreads(NsysStacks& stacks, CuptiTrace& trace) : stacks_(stacks), trace_(trace) {
  const Tracks& tracks = trace.part().data.tracks;
  for (size_t track = 0; track < tracks.size(); ++track) {
    if (tracks.kind[track] == TrackKind::kHost) {
      processes_.insert(tracks.pid[track]);
    }
  }
}

Result<void> NsysThreads::Read(const DatabaseInput& input) {
  BS_TRY(ReadSchedule(input));
  BS_ASSIGN(const FrameOfChain frames, stacks_.Read(input, kChainTable));
  return ReadSamples(input, frames);
}

Result<void> NsysThreads::ReadSchedule(const DatabaseInput& input) {
  constexpr std::string_view kColumns[] = {"start", "isSchedIn", "globalTid"};
  TracePart& part = trace_.part();
  BS_ASSIGN(TableRows rows, TableRows::Open(input, kScheduleTable, kColumns, trace_.diagnostics()));
  const StringId category = part.Intern(kScheduleTable);
  std::vector<Switch> switches;
  BS_TRY(rows.ForEach([&] {
    part.CountEvent('i', category, 0);
    const int64_t start = rows.Integer(0);
    const int64_t thread = rows.Integer(2);
    if (start == kMissing) {
      trace_.diagnostics().Count(Diag::kMissingTimestamp, Diagnostics::kNoByte, kScheduleTable);
      return;
    }
    const TrackId track = thread == kMissing
                              ? TrackId()
                              : part.FindTrack(TrackKind::kHost, CuptiTrace::ProcessOf(thread),
                                               CuptiTrace::ThreadOf(thread), kMissing, false);
    if (track.valid()) {
      switches.push_back({track, Clamped(start), rows.Integer(1, 0) != 0});
    }
  }));
  AddPauses(switches);
  return {};
}

// From where a thread loses its processor to where it gets one. Before the first and after the last
// switch nothing is known: the thread may not have begun yet, or have ended.
void NsysThreads::AddPauses(std::vector<Switch>& switches) {
  std::stable_sort(switches.begin(), switches.end(), [](const Switch& a, const Switch& b) {
    return std::tuple(a.track.value, a.ts_ns) < std::tuple(b.track.value, b.ts_ns);
  });
  Pauses& pauses = trace_.part().data.pauses;
  const Switch* off = nullptr;
  for (size_t i = 0; i < switches.size(); ++i) {
    CheckStopAt(i);
    const Switch& one = switches[i];
    if (off != nullptr && (off->track != one.track || one.is_on)) {
      if (off->track == one.track && one.ts_ns > off->ts_ns) {
        pauses.ts_ns.push_back(off->ts_ns);
        pauses.end_ns.push_back(one.ts_ns);
        pauses.track.push_back(one.track);
      }
      off = nullptr;
    }
    if (!one.is_on && off == nullptr) {
      off = &one;
    }
  }
}

Result<void> NsysThreads::ReadSamples(const DatabaseInput& input, const FrameOfChain& frames) {
  constexpr std::string_view kColumns[] = {"id", "start", "globalTid"};
  TracePart& part = trace_.part();
  BS_ASSIGN(TableRows rows, TableRows::Open(input, kSampleTable, kColumns, trace_.diagnostics()));
  const StringId category = part.Intern(kSampleTable);
  return rows.ForEach([&] {
    part.CountEvent('i', category, 0);
    const int64_t start = rows.Integer(1);
    const int64_t thread = rows.Integer(2);
    if (start == kMissing) {
      trace_.diagnostics().Count(Diag::kMissingTimestamp, Diagnostics::kNoByte, kSampleTable);
    } else if (IsWatched(thread)) {
      const auto frame = frames.find(rows.Integer(0));
      part.data.stack_samples.ts_ns.push_back(Clamped(start));
      part.data.stack_samples.track.push_back(trace_.Thread(thread));
      part.data.stack_samples.frame.push_back(frame == frames.end() ? kNoDetail : frame->second);
    }
  });
}

}  // namespace borescope::internal
