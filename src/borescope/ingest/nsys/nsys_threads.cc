#include "borescope/ingest/nsys/nsys_threads.h"

#include <algorithm>
#include <string>
#include <tuple>

#include "borescope/base/stop.h"

namespace borescope::internal {
namespace {

constexpr int64_t kLatest = int64_t{1} << 61;

int64_t Clamped(int64_t ns) { return std::clamp(ns, -kLatest, kLatest); }

// "libcuda.so.525" of "/usr/lib/libcuda.so.525".
std::string_view LastPart(std::string_view path) {
  const size_t slash = path.find_last_of('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

}  // namespace

NsysThreads::NsysThreads(TextTable& strings, CuptiTrace& trace) : strings_(strings), trace_(trace) {
  const Tracks& tracks = trace.part().data.tracks;
  for (size_t track = 0; track < tracks.size(); ++track) {
    if (tracks.kind[track] == TrackKind::kHost) {
      processes_.insert(tracks.pid[track]);
    }
  }
}

Result<void> NsysThreads::Read(const DatabaseInput& input) {
  BS_TRY(ReadSchedule(input));
  BS_ASSIGN(std::vector<Link> links, ReadChains(input));
  return ReadSamples(input, AddFrames(links));
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

enum ChainColumn : uint8_t { kChainSample, kChainSymbol, kChainModule, kUnresolved, kChainDepth };

// Addresses differ from call to call: what has no symbol is named by its module.
StringId NsysThreads::FrameName(TableRows& row) {
  TracePart& part = trace_.part();
  const StringId symbol = strings_.Find(row.Integer(kChainSymbol));
  const std::string_view text = symbol.valid() ? part.data.strings.Get(symbol) : "";
  if (!text.empty() && !text.starts_with("0x") && row.Integer(kUnresolved, 0) == 0) {
    return symbol;
  }
  const StringId module = strings_.Find(row.Integer(kChainModule));
  const auto [place, is_new] =
      unresolved_.try_emplace(module.valid() ? module.value : kNoDetail, StringId());
  if (is_new) {
    const std::string name(module.valid() ? LastPart(part.data.strings.Get(module)) : "unknown");
    place->second = part.Intern(name.starts_with("[") ? name : "[" + name + "]");
  }
  return place->second;
}

Result<std::vector<NsysThreads::Link>> NsysThreads::ReadChains(const DatabaseInput& input) {
  constexpr std::string_view kColumns[] = {"id", "symbol", "module", "unresolved", "stackDepth"};
  BS_ASSIGN(TableRows rows, TableRows::Open(input, kChainTable, kColumns, trace_.diagnostics()));
  std::vector<Link> links;
  BS_TRY(rows.ForEach([&] {
    links.push_back({rows.Integer(kChainSample), rows.Integer(kChainDepth, 0), FrameName(rows)});
  }));
  return links;
}

uint32_t NsysThreads::FrameBelow(uint32_t parent, StringId name) {
  StackFrames& frames = trace_.part().data.stack_frames;
  const uint64_t key = uint64_t{parent} << 32 | name.value;
  const auto [place, is_new] = frames_.try_emplace(key, static_cast<uint32_t>(frames.size()));
  if (is_new) {
    frames.name.push_back(name);
    frames.parent.push_back(parent);
  }
  return place->second;
}

// The innermost frame of each sample.
NsysThreads::FrameOfSample NsysThreads::AddFrames(std::vector<Link>& links) {
  std::stable_sort(links.begin(), links.end(), [](const Link& a, const Link& b) {
    return std::tuple(a.sample, b.depth) < std::tuple(b.sample, a.depth);  // outermost first
  });
  FrameOfSample innermost;
  for (size_t i = 0; i < links.size(); ++i) {
    CheckStopAt(i);
    const bool is_outermost = i == 0 || links[i].sample != links[i - 1].sample;
    uint32_t& frame = innermost[links[i].sample];
    frame = FrameBelow(is_outermost ? kNoDetail : frame, links[i].name);
  }
  return innermost;
}

Result<void> NsysThreads::ReadSamples(const DatabaseInput& input, const FrameOfSample& frames) {
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
