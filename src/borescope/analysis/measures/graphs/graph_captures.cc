#include "borescope/analysis/measures/graphs/graph_captures.h"

#include <algorithm>
#include <utility>

#include "borescope/analysis/measures/graphs/graph_launches.h"
#include "borescope/base/text/text.h"
#include "borescope/index/launches/correlation.h"

namespace borescope::internal {
namespace {

enum class CallRole : char { kUnknown, kNone, kBegin, kEnd, kInstantiate, kLaunch };

CallRole RoleOf(std::string_view name) {
  const auto has = [&](std::string_view part) { return Contains(name, part); };
  if (has("BeginCapture")) {
    return CallRole::kBegin;
  }
  if (has("EndCapture")) {
    return CallRole::kEnd;
  }
  if (has("GraphInstantiate")) {
    return CallRole::kInstantiate;
  }
  return IsLaunchName(name) && !IsGraphLaunchName(name) ? CallRole::kLaunch : CallRole::kNone;
}

class CaptureFinder {
 public:
  explicit CaptureFinder(const RankView& view)
      : view_(view), host_(view.trace.host()), roles_(view.trace.strings().size()) {}

  std::vector<GraphCapture> Find();

 private:
  using Place = std::pair<int64_t, int64_t>;  // process and time

  // kNone for all but the outermost call of a role: drivers' calls lie inside the runtime's.
  CallRole RoleOfRow(uint32_t row);
  CallRole RoleOfName(uint32_t row);
  void Take(uint32_t row, CallRole role);
  // Neither the call nor the driver's inside it.
  bool StartsNothing(uint32_t row) const;
  GraphCapture& New(uint32_t row);
  Place PlaceOf(TrackId track, int64_t ts_ns) const;
  // Those with both ends, in order of their begins.
  std::vector<GraphCapture*> WholeCaptures();
  void CountLaunches();

  const RankView& view_;
  const HostEvents& host_;
  std::vector<CallRole> roles_;  // per text
  std::vector<GraphCapture> found_;
  std::vector<uint32_t> launches_;  // rows of launch calls without work
  bool is_open_ = false;            // whether the last capture waits for its end
};

CallRole CaptureFinder::RoleOfName(uint32_t row) {
  if (host_.kind[row] != HostKind::kRuntime) {
    return CallRole::kNone;
  }
  CallRole& role = roles_[host_.name[row].value];
  if (role == CallRole::kUnknown) {
    role = RoleOf(view_.trace.Text(host_.name[row]));
  }
  return role;
}

CallRole CaptureFinder::RoleOfRow(uint32_t row) {
  const CallRole role = RoleOfName(row);
  const HostId parent = view_.index.tree.parent[row];
  const bool is_inner = parent.valid() && RoleOfName(parent.value) == role;
  return is_inner ? CallRole::kNone : role;
}

bool CaptureFinder::StartsNothing(uint32_t row) const {
  const auto starts_work = [&](uint32_t call) {
    return host_.kind[call] == HostKind::kRuntime && host_.detail[call] != kNoDetail &&
           !view_.index.correlation.DevicesOf(host_.detail[call]).empty();
  };
  const bool has_inner = row + 1 < view_.index.tree.subtree_end[row];
  return !starts_work(row) && !(has_inner && starts_work(row + 1));
}

GraphCapture& CaptureFinder::New(uint32_t row) {
  GraphCapture& capture = found_.emplace_back();
  capture.track = host_.track[row];
  capture.begin_ns = host_.ts_ns[row];
  return capture;
}

void CaptureFinder::Take(uint32_t row, CallRole role) {
  const bool same_track = !found_.empty() && found_.back().track == host_.track[row];
  const bool in_capture = same_track && is_open_;
  if (role == CallRole::kBegin) {
    New(row);
    is_open_ = true;
  } else if (role == CallRole::kEnd) {
    GraphCapture& capture = in_capture ? found_.back() : New(row);
    if (in_capture) {
      capture.capture_ns = host_.end_ns(HostId{row}) - capture.begin_ns;
    }
    is_open_ = false;
  } else if (role == CallRole::kInstantiate) {
    const bool follows = same_track && found_.back().instantiate_ns == kMissing;
    GraphCapture& capture = follows ? found_.back() : New(row);
    capture.instantiate_ns = host_.dur_ns[row];
    is_open_ = is_open_ && follows;
  } else if (role == CallRole::kLaunch && StartsNothing(row)) {
    launches_.push_back(row);
  }
}

CaptureFinder::Place CaptureFinder::PlaceOf(TrackId track, int64_t ts_ns) const {
  return {view_.trace.tracks().pid[track.value], ts_ns};
}

std::vector<GraphCapture*> CaptureFinder::WholeCaptures() {
  std::vector<GraphCapture*> captures;
  for (GraphCapture& capture : found_) {
    if (capture.capture_ns != kMissing) {
      capture.launches = 0;
      captures.push_back(&capture);
    }
  }
  std::stable_sort(captures.begin(), captures.end(),
                   [&](const GraphCapture* a, const GraphCapture* b) {
                     return PlaceOf(a->track, a->begin_ns) < PlaceOf(b->track, b->begin_ns);
                   });
  return captures;
}

// Process by process in order of time. Captures that began before a launch lie on a stack, the last
// one on top; what ended before a launch ended before all later launches, too.
void CaptureFinder::CountLaunches() {
  const auto place_of = [&](uint32_t row) { return PlaceOf(host_.track[row], host_.ts_ns[row]); };
  std::stable_sort(launches_.begin(), launches_.end(),
                   [&](uint32_t a, uint32_t b) { return place_of(a) < place_of(b); });
  const std::vector<GraphCapture*> captures = WholeCaptures();
  auto next = captures.begin();
  std::vector<GraphCapture*> open;
  for (const uint32_t row : launches_) {
    const Place place = place_of(row);
    for (; next != captures.end() && PlaceOf((*next)->track, (*next)->begin_ns) <= place; ++next) {
      open.push_back(*next);
    }
    const auto is_over = [&](const GraphCapture& capture) {
      const Place end = PlaceOf(capture.track, capture.begin_ns + capture.capture_ns);
      return end.first != place.first || end.second <= place.second;
    };
    while (!open.empty() && is_over(*open.back())) {
      open.pop_back();
    }
    if (!open.empty()) {
      ++open.back()->launches;
      open.back()->calls.push_back(HostId{row});
    }
  }
}

std::vector<GraphCapture> CaptureFinder::Find() {
  for (uint32_t row = 0; row < host_.size(); ++row) {
    Take(row, RoleOfRow(row));
  }
  CountLaunches();
  std::stable_sort(found_.begin(), found_.end(), [](const GraphCapture& a, const GraphCapture& b) {
    return a.begin_ns < b.begin_ns;
  });
  return std::move(found_);
}

}  // namespace

std::vector<GraphCapture> FindGraphCaptures(const RankView& view, const Selected& selected) {
  std::vector<GraphCapture> captures = CaptureFinder(view).Find();
  std::erase_if(captures,
                [&](const GraphCapture& capture) { return !selected.KeepsTime(capture.begin_ns); });
  return captures;
}

bool IsCaptureName(std::string_view name) {
  const CallRole role = RoleOf(name);
  return role == CallRole::kBegin || role == CallRole::kEnd || role == CallRole::kInstantiate;
}

}  // namespace borescope::internal
