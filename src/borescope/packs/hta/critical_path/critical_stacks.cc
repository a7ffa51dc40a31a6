// Operators and calls of a thread, nested: time flows from start to start, from end to end, and
// between the end of one and the start of the next. Which events contain which follows HTA's older
// call stack: an end closes whatever was opened last.
#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

#include "borescope/base/text/text.h"
#include "borescope/packs/hta/critical_path/critical_build.h"
#include "borescope/packs/hta/names.h"

namespace borescope::internal {
namespace {

// ---- Threads ----

// The only thread with operators or annotations whose name holds `part`; none if there are several.
std::optional<int64_t> OnlyThreadWith(const CriticalBuild& build, std::string_view part) {
  std::optional<int64_t> only;
  const HostEvents& host = build.events.trace().host();
  for (const HtaEventRow row : build.window) {
    const HtaEvent& event = build.events[row];
    if (!event.is_host() || (host.kind[event.host.value] != HostKind::kOp &&
                             host.kind[event.host.value] != HostKind::kAnnotation)) {
      continue;
    }
    if (only != event.tid && Contains(build.events.NameOf(row), part)) {
      if (only.has_value()) {
        return std::nullopt;
      }
      only = event.tid;
    }
  }
  return only == 0 ? std::nullopt : only;
}

struct ThreadRow {
  int64_t pid;
  int64_t tid;
  HtaEventRow row;
};

// By thread, then by position. HTA takes the thread of the backward pass for that of the forward
// one. Threads with a stream have no stacks.
std::vector<ThreadRow> ThreadRows(const CriticalBuild& build) {
  const std::optional<int64_t> forward = OnlyThreadWith(build, "forward");
  const std::optional<int64_t> backward = OnlyThreadWith(build, "autograd");
  std::vector<ThreadRow> rows;
  for (const HtaEventRow row : build.window) {
    const HtaEvent& event = build.events[row];
    const bool moves = forward.has_value() && event.tid == backward;
    rows.push_back({event.pid, moves ? *forward : event.tid, row});
  }
  std::stable_sort(rows.begin(), rows.end(), [](const ThreadRow& a, const ThreadRow& b) {
    return std::tie(a.pid, a.tid) < std::tie(b.pid, b.tid);
  });
  return rows;
}

// ---- Stacks ----

struct Mark {
  HtaEventRow row;
  int64_t ts_us;
  bool is_start;
};

// Starts and ends of a thread as they follow each other. REQUIRES: durations above 0.
std::vector<Mark> MarksOf(const HtaEvents& events, const ThreadRow* begin, const ThreadRow* end) {
  std::vector<Mark> marks;
  for (const ThreadRow* thread = begin; thread != end; ++thread) {
    const HtaEvent& event = events[thread->row];
    marks.push_back({thread->row, event.ts_us, true});
    marks.push_back({thread->row, event.end_us(), false});
  }
  std::sort(marks.begin(), marks.end(), [&](const Mark& a, const Mark& b) {
    const int64_t a_dur = events[a.row].dur_us;
    const int64_t b_dur = events[b.row].dur_us;
    if (a.ts_us != b.ts_us || a.is_start != b.is_start) {
      return a.ts_us != b.ts_us ? a.ts_us < b.ts_us : b.is_start;
    }
    if (a_dur != b_dur) {
      return a.is_start ? a_dur > b_dur : a_dur < b_dur;
    }
    return a.is_start ? a.row < b.row : a.row > b.row;
  });
  return marks;
}

// Walks the events of one thread.
class StackWalk {
 public:
  explicit StackWalk(CriticalBuild& build) : build_(build) {}

  void Walk(const std::vector<Mark>& marks);

 private:
  void Enter(HtaEventRow row, HtaEventRow parent);
  void Exit(HtaEventRow row, HtaEventRow parent);
  void Link(CriticalNodeId to, CriticalKind kind, bool is_free);
  bool SharesLock(CriticalNodeId from, CriticalNodeId to) const;

  CriticalBuild& build_;
  CriticalNodeId last_ = kNoCriticalNode;
  HtaEventRow last_parent_ = kNoHtaEvent;
  int64_t depth_ = 0;
};

// An event that does not end where it is the innermost one leaves others to be closed in its place:
// HTA's tree, and this walk, have them nested.
void StackWalk::Walk(const std::vector<Mark>& marks) {
  std::vector<HtaEventRow> open;
  for (const Mark& mark : marks) {
    if (mark.is_start) {
      Enter(mark.row, open.empty() ? kNoHtaEvent : open.back());
      open.push_back(mark.row);
    } else if (!open.empty()) {
      const HtaEventRow row = open.back();
      open.pop_back();
      Exit(row, open.empty() ? kNoHtaEvent : open.back());
    }
  }
}

// Calls that hold the lock are tied to each other already.
bool StackWalk::SharesLock(CriticalNodeId from, CriticalNodeId to) const {
  return build_.IsLock(from) && build_.IsLock(to) &&
         (build_.graph.nodes()[from].is_start || !build_.graph.nodes()[to].is_start);
}

void StackWalk::Link(CriticalNodeId to, CriticalKind kind, bool is_free) {
  if (last_ == kNoCriticalNode || SharesLock(last_, to)) {
    return;
  }
  HtaCriticalGraph& graph = build_.graph;
  const size_t edge = graph.Add(last_, to, kind, is_free);
  if (kind != CriticalKind::kOperator || edge == HtaCriticalGraph::kNoEdge) {
    return;
  }
  const CriticalNode& from_node = graph.nodes()[last_];
  const CriticalNode& to_node = graph.nodes()[to];
  const HtaEventRow between = to_node.is_start ? last_parent_ : to_node.event;
  graph.Attribute(edge, from_node.is_start ? from_node.event : between);
}

void StackWalk::Enter(HtaEventRow row, HtaEventRow parent) {
  if (!build_.HasNodes(row)) {
    return;
  }
  Link(build_.start_of[row], depth_ == 0 ? CriticalKind::kDependency : CriticalKind::kOperator,
       false);
  last_ = build_.start_of[row];
  last_parent_ = parent;
  ++depth_;
}

void StackWalk::Exit(HtaEventRow row, HtaEventRow parent) {
  if (!build_.HasNodes(row)) {
    return;
  }
  Link(build_.end_of[row], CriticalKind::kOperator, HtaIsBlockingCall(build_.events.NameOf(row)));
  last_ = build_.end_of[row];
  last_parent_ = parent;
  --depth_;
}

}  // namespace

void AddStackEdges(CriticalBuild& build) {
  const std::vector<ThreadRow> rows = ThreadRows(build);
  for (size_t begin = 0; begin < rows.size();) {
    size_t end = begin;
    bool has_stream = false;
    for (;
         end < rows.size() && rows[end].pid == rows[begin].pid && rows[end].tid == rows[begin].tid;
         ++end) {
      has_stream |= build.events[rows[end].row].stream >= 0;
    }
    if (!has_stream) {
      StackWalk(build).Walk(MarksOf(build.events, rows.data() + begin, rows.data() + end));
    }
    begin = end;
  }
}

}  // namespace borescope::internal
