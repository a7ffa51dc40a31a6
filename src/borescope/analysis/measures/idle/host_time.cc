#include "borescope/analysis/measures/idle/host_time.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "borescope/analysis/core/selection/selection.h"
#include "borescope/analysis/measures/recorded.h"
#include "borescope/analysis/measures/stacks/op_stacks.h"
#include "borescope/base/column_data.h"
#include "borescope/base/each_row.h"
#include "borescope/base/saturating.h"
#include "borescope/base/sort_runs.h"
#include "borescope/base/stop.h"
#include "borescope/base/text/text.h"
#include "borescope/index/id_map.h"
#include "borescope/index/launches/correlation.h"
#include "borescope/index/steps/steps.h"
#include "borescope/index/syncs/sync_edges.h"
#include "borescope/trace/trace.h"

namespace borescope::internal {

namespace {

// The names in PyTorch's loader and in most training loops.
constexpr std::string_view kWords[] = {"DataLoader", "dataloader", "data_load"};

}  // namespace

std::vector<char> FindDataLoading(const Trace& trace, std::string_view also) {
  std::vector<char> is_loading(trace.strings().size());
  for (uint32_t name = 0; name < is_loading.size(); ++name) {
    const auto is_in = [text = trace.Text(StringId{name})](std::string_view word) {
      return Contains(text, word);
    };
    const bool loads =
        std::any_of(std::begin(kWords), std::end(kWords), is_in) || (!also.empty() && is_in(also));
    is_loading[name] = loads ? 1 : 0;
  }
  return is_loading;
}

std::vector<char> FindArrivals(const Trace& trace) {
  std::vector<char> is_arrival(trace.strings().size());
  for (uint32_t name = 0; name < is_arrival.size(); ++name) {
    is_arrival[name] =
        Contains(trace.Text(StringId{name}), "_MultiProcessingDataLoaderIter") ? 1 : 0;
  }
  return is_arrival;
}

namespace {

bool IsCallWithDetail(const HostEvents& host, uint32_t row) {
  return host.kind[row] == HostKind::kRuntime && host.detail[row] != kNoDetail;
}

bool StartsWork(const RankView& view, uint32_t row) {
  const std::span<const DeviceId> started =
      view.index.correlation.DevicesOf(view.trace.host().detail[row]);
  return std::any_of(started.begin(), started.end(),
                     [&](DeviceId id) { return IsDeviceWork(view.trace.device().kind[id.value]); });
}

// The correlation numbers of all linked device work; values are not used.
IdMap64 NumbersOfWork(const RankView& view) {
  const DeviceEvents& device = view.trace.device();
  ColumnData<int64_t> numbers;
  for (const uint32_t row : EachRow(device.size())) {
    if (IsDeviceWork(device.kind[row]) && view.index.correlation.launch_of[row].valid()) {
      numbers.push_back(device.correlation[row]);
    }
  }
  IdMap64 rows(numbers, [](int64_t) { return true; });
  for (uint32_t row = 0; row < numbers.size(); ++row) {
    rows[numbers[row]] = row;
  }
  return rows;
}

// Whether a text of the trace is the name of a launch, found out when first asked.
class LaunchNames {
 public:
  explicit LaunchNames(const Trace& trace) : trace_(trace), known_(trace.strings().size()) {}

  bool Contains(StringId name) {
    char& known = known_[name.value];
    if (known == 0) {
      known = IsLaunchName(trace_.Text(name)) ? 'y' : 'n';
    }
    return known == 'y';
  }

 private:
  const Trace& trace_;
  std::vector<char> known_;
};

bool HasCopiesWithoutCall(const RankView& view) {
  const DeviceEvents& device = view.trace.device();
  for (const uint32_t row : EachRow(device.size())) {
    if (device.kind[row] == DeviceKind::kMemcpy && !view.index.correlation.launch_of[row].valid()) {
      return true;
    }
  }
  return false;
}

// Per host row: whether it is a call that started work, or is around one.
std::vector<char> CallsAroundWork(const RankView& view) {
  const HostEvents& host = view.trace.host();
  std::vector<char> around(host.all_size());
  for (const uint32_t row : EachRow(host.size())) {
    if (!IsCallWithDetail(host, row) || !StartsWork(view, row)) {
      continue;
    }
    for (HostId id{row}; id.valid() && around[id.value] == 0;
         id = view.index.tree.parent[id.value]) {
      around[id.value] = 1;
    }
  }
  return around;
}

// Whether calls of this name start device work that is recorded. This excludes calls that build a
// graph, launch host functions, or block until they have copied, and memsets, which leave no record
// on some devices.
bool StartsDeviceWork(std::string_view name) {
  return IsLaunchName(name) && !Contains(name, "Node") && !Contains(name, "HostFunc") &&
         !Contains(name, "Memset") && ClassifyBlockingCall(name) != BlockingCall::kCopy;
}

bool HasCaptures(const Trace& trace) {
  const std::vector<char> captures = FlagNames(
      trace.strings(), [](std::string_view name) { return Contains(name, "BeginCapture"); });
  return std::find(captures.begin(), captures.end(), 1) != captures.end();
}

}  // namespace

void FindWorks(const RankView& view, HostId call, std::vector<DeviceId>& works) {
  const DeviceEvents& device = view.trace.device();
  works.clear();
  for (const DeviceId id : view.index.correlation.DevicesOf(view.trace.host().detail[call.value])) {
    if (IsDeviceWork(device.kind[id.value])) {
      works.push_back(id);
    }
  }
  std::stable_sort(works.begin(), works.end(), [&](DeviceId a, DeviceId b) {
    return device.ts_ns[a.value] < device.ts_ns[b.value];
  });
}

std::vector<HostId> CallsWithWork(const RankView& view) {
  const HostEvents& host = view.trace.host();
  std::vector<HostId> calls;
  for (const uint32_t row : EachRow(host.size())) {
    if (IsCallWithDetail(host, row) && StartsWork(view, row)) {
      calls.push_back(HostId{row});
    }
  }
  SortRuns(std::span(calls),
           [&](HostId a, HostId b) { return host.ts_ns[a.value] < host.ts_ns[b.value]; });
  return calls;
}

int64_t CountCallsWithoutWork(const RankView& view, const Selected& selected) {
  const HostEvents& host = view.trace.host();
  const IdMap64 numbers = NumbersOfWork(view);
  LaunchNames launches(view.trace);
  int64_t count = 0;
  for (const uint32_t row : EachRow(host.size())) {
    if (host.kind[row] != HostKind::kRuntime || !launches.Contains(host.name[row]) ||
        !selected.Keeps(HostId{row})) {
      continue;
    }
    const uint32_t detail = host.detail[row];
    const int64_t number =
        detail == kNoDetail ? kMissing : view.trace.runtime_calls().correlation[detail];
    count += numbers.Get(number) == IdMap64::kNone ? 1 : 0;
  }
  return count;
}

namespace {

// When graphs were captured, by whatever thread: from the begin of a capture to the end that the
// same thread made, or to that of the recording.
class Captures {
 public:
  explicit Captures(const Trace& trace) {
    if (!HasCaptures(trace)) {
      return;
    }
    const auto flag = [&](std::string_view part) {
      return FlagNames(trace.strings(),
                       [part](std::string_view name) { return Contains(name, part); });
    };
    const std::vector<char> begins = flag("BeginCapture");
    const std::vector<char> ends = flag("EndCapture");
    const HostEvents& host = trace.host();
    std::vector<Interval> captures;
    uint32_t track = 0;
    int64_t begin_ns = kMissing;
    const auto close = [&](int64_t end_ns) {
      if (begin_ns != kMissing) {
        captures.push_back({begin_ns, end_ns});
      }
      begin_ns = kMissing;
    };
    for (const uint32_t row : EachRow(host.size())) {
      if (host.track[row].value != track) {
        close(kNever);
        track = host.track[row].value;
      }
      const uint32_t name = host.name[row].value;
      if (ends[name] != 0) {
        close(host.end_ns(HostId{row}));
      } else if (begins[name] != 0 && begin_ns == kMissing) {
        begin_ns = host.ts_ns[row];
      }
    }
    close(kNever);
    captures_ = Union(std::move(captures));
  }

  bool Contain(int64_t ts_ns) const {
    const auto next = std::partition_point(captures_.begin(), captures_.end(),
                                           [=](const Interval& one) { return one.end <= ts_ns; });
    return next != captures_.end() && next->begin <= ts_ns;
  }

 private:
  static constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

  IntervalSet captures_;
};

// How long any device of the rank works, by its records.
class BusyTime {
 public:
  // O(rows log rows).
  explicit BusyTime(const Trace& trace) {
    const DeviceEvents& device = trace.device();
    std::vector<Interval> works;
    for (const uint32_t row : EachRow(device.size())) {
      if (IsDeviceWork(device.kind[row])) {
        works.push_back({device.ts_ns[row], device.end_ns(DeviceId{row})});
      }
    }
    busy_ = Union(std::move(works));
    before_ns_.reserve(busy_.size() + 1);
    before_ns_.push_back(0);
    for (const Interval& part : busy_) {
      before_ns_.push_back(before_ns_.back() + part.length());
    }
  }

  // O(log rows).
  int64_t In(Interval time) const { return Until(time.end) - Until(time.begin); }

 private:
  int64_t Until(int64_t ts_ns) const {
    const auto next = std::partition_point(busy_.begin(), busy_.end(),
                                           [=](const Interval& one) { return one.end <= ts_ns; });
    const int64_t part_ns = next == busy_.end() ? 0 : std::max<int64_t>(0, ts_ns - next->begin);
    return before_ns_[static_cast<size_t>(next - busy_.begin())] + part_ns;
  }

  IntervalSet busy_;
  std::vector<int64_t> before_ns_;  // of each part, and of all
};

// The next call of the thread, if it waits for what was started before; calls that record an event
// for it may come between, and few other rows do.
HostId WaitAfter(const Trace& trace, HostId call) {
  constexpr uint32_t kMostRows = 64;
  const HostEvents& host = trace.host();
  const auto end =
      static_cast<uint32_t>(std::min<uint64_t>(host.size(), uint64_t{call.value} + kMostRows));
  for (uint32_t row = call.value + 1; row < end && host.track[row] == host.track[call.value];
       ++row) {
    const std::string_view name = trace.Name(HostId{row});
    const bool is_inside = host.ts_ns[row] < host.end_ns(call);
    if (host.kind[row] != HostKind::kRuntime || is_inside || IsEventRecordName(name)) {
      continue;
    }
    const BlockingCall kind = ClassifyBlockingCall(name);
    const bool waits = AlwaysBlocks(kind) && kind != BlockingCall::kCopy;
    return waits ? HostId{row} : HostId{};
  }
  return {};
}

}  // namespace

Interval TimeOf(const HostEvents& host, const CopyWithoutRecord& copy) {
  return {host.ts_ns[copy.call.value], host.end_ns(copy.wait.valid() ? copy.wait : copy.call)};
}

std::vector<CopyWithoutRecord> CopiesWithoutRecord(const RankView& view) {
  const HostEvents& host = view.trace.host();
  const std::vector<char> copies = FlagNames(view.trace.strings(), [](std::string_view name) {
    const BlockingCall kind = ClassifyBlockingCall(name);
    return Contains(name, "Memcpy") && !Contains(name, "Node") &&
           (kind == BlockingCall::kCopy || kind == BlockingCall::kAsyncCopy);
  });
  const bool has_any =
      std::find(copies.begin(), copies.end(), 1) != copies.end() && HasDeviceWork(view.trace);
  std::vector<HostId> calls;
  for (uint32_t row = 0; has_any && row < host.size(); ++row) {
    CheckStopAt(row);
    if (IsCallWithDetail(host, row) && copies[host.name[row].value] != 0 &&
        !StartsWork(view, row)) {
      calls.push_back(HostId{row});
    }
  }
  if (calls.empty() || HasCopiesWithoutCall(view)) {
    return {};
  }
  const std::vector<char> with_work = CallsAroundWork(view);
  std::erase_if(calls, [&](HostId call) { return with_work[call.value] != 0; });
  if (calls.empty()) {
    return {};
  }
  const Captures captures(view.trace);
  const BusyTime busy(view.trace);
  constexpr int64_t kLeastNs = 100'000;  // a call that only enqueues takes 5 to 20 us
  std::vector<CopyWithoutRecord> found;
  for (const HostId call : calls) {
    CopyWithoutRecord copy{.call = call, .wait = {}};
    if (AlwaysBlocks(ClassifyBlockingCall(view.trace.Name(call)))) {
      found.push_back(copy);
      continue;
    }
    copy.wait = WaitAfter(view.trace, call);
    const Interval time = TimeOf(host, copy);
    if (time.length() - busy.In(time) >= kLeastNs && !captures.Contain(time.begin)) {
      found.push_back(copy);
    }
  }
  return found;
}

std::vector<HostId> CallsOfUntracedKinds(const RankView& view) {
  constexpr uint32_t kLeastCalls = 3;
  const HostEvents& host = view.trace.host();
  const std::vector<char> starts = FlagNames(view.trace.strings(), StartsDeviceWork);
  std::vector<uint32_t> calls_of(view.trace.strings().size());  // calls without work, by name
  std::vector<char> has_work(view.trace.strings().size());
  for (const uint32_t row : EachRow(host.size())) {
    const uint32_t name = host.name[row].value;
    if (starts[name] != 0 && has_work[name] == 0 && IsCallWithDetail(host, row)) {
      ++calls_of[name];
      has_work[name] = StartsWork(view, row) ? 1 : 0;
    }
  }
  const auto is_untraced = [&](uint32_t name) {
    return has_work[name] == 0 && calls_of[name] >= kLeastCalls;
  };
  bool has_any = false;
  for (uint32_t name = 0; name < calls_of.size(); ++name) {
    has_any = has_any || is_untraced(name);
  }
  if (!has_any || !HasDeviceWork(view.trace) || HasCaptures(view.trace)) {
    return {};
  }
  const std::vector<char> with_work = CallsAroundWork(view);
  std::vector<HostId> calls;
  for (const uint32_t row : EachRow(host.size())) {
    const uint32_t name = host.name[row].value;
    if (starts[name] != 0 && is_untraced(name) && IsCallWithDetail(host, row)) {
      if (with_work[row] != 0) {
        has_work[name] = 1;  // a call around another one that started work
      }
      calls.push_back(HostId{row});
    }
  }
  std::erase_if(calls, [&](HostId call) { return has_work[host.name[call.value].value] != 0; });
  return calls;
}

int64_t LaunchDelay(const RankView& view, HostId call, DeviceId work) {
  return std::max<int64_t>(0,
                           view.trace.device().ts_ns[work.value] - view.trace.host().end_ns(call));
}

namespace {

std::vector<char> FindBlockingNames(const Trace& trace) {
  std::vector<char> blocks(trace.strings().size());
  for (uint32_t i = 0; i < trace.strings().size(); ++i) {
    blocks[i] = AlwaysBlocks(ClassifyBlockingCall(trace.Text(StringId{i}))) ? 1 : 0;
  }
  return blocks;
}

int64_t SharedLength(Interval a, Interval b) {
  return std::max<int64_t>(0, std::min(a.end, b.end) - std::max(a.begin, b.begin));
}

}  // namespace

HostTimes::HostTimes(const RankView& view) {
  const Trace& trace = view.trace;
  const std::vector<CopyWithoutRecord> copies = CopiesWithoutRecord(view);
  auto copy = copies.begin();
  HostId wait;  // for the last of them
  const std::vector<char> blocks = FindBlockingNames(trace);
  const std::vector<char> loads = FindDataLoading(trace);
  const HostEvents& host = trace.host();
  for (const uint32_t row : EachRow(host.size())) {
    const Interval interval{host.ts_ns[row], host.end_ns(HostId{row})};
    const HostKind kind = host.kind[row];
    const uint32_t name = host.name[row].value;
    const int64_t pid = trace.tracks().pid[host.track[row].value];
    if (copy != copies.end() && copy->call.value == row) {
      by_process_[pid].untraced.push_back(TimeOf(host, *copy));
      wait = copy->wait;
      ++copy;
    } else if (kind == HostKind::kRuntime && blocks[name] != 0 && wait != HostId{row}) {
      by_process_[pid].blocked.push_back(interval);
    } else if ((kind == HostKind::kOp || kind == HostKind::kAnnotation) && loads[name] != 0) {
      by_process_[pid].loading.push_back(interval);
    }
  }
  std::vector<int64_t> pids;
  for (auto& [pid, time] : by_process_) {
    time = {Union(std::move(time.blocked)), Union(std::move(time.loading)),
            Union(std::move(time.untraced))};
    pids.push_back(pid);
  }
  all_ = Of(pids);
}

HostTime HostTimes::Of(std::span<const int64_t> pids) const {
  std::vector<Interval> blocked;
  std::vector<Interval> loading;
  std::vector<Interval> untraced;
  for (const int64_t pid : pids) {
    if (const auto found = by_process_.find(pid); found != by_process_.end()) {
      const HostTime& time = found->second;
      blocked.insert(blocked.end(), time.blocked.begin(), time.blocked.end());
      loading.insert(loading.end(), time.loading.begin(), time.loading.end());
      untraced.insert(untraced.end(), time.untraced.begin(), time.untraced.end());
    }
  }
  return {Union(std::move(blocked)), Union(std::move(loading)), Union(std::move(untraced))};
}

// Rows are in preorder: if two are equally long, the later one is inside the other.
HostId InnerOf(const HostEvents& host, HostId innermost, HostId row, Interval time) {
  const int64_t inside_ns = SharedLength({host.ts_ns[row.value], host.end_ns(row)}, time);
  const bool fills_half = inside_ns >= time.length() - inside_ns;
  const bool is_inner =
      !innermost.valid() || host.dur_ns[row.value] <= host.dur_ns[innermost.value];
  return fills_half && is_inner ? row : innermost;
}

HostId MainEventIn(const Trace& trace, HostId launch, Interval time) {
  if (!launch.valid() || time.length() <= 0) {
    return {};
  }
  const HostEvents& host = trace.host();
  const uint32_t track = host.track[launch.value].value;
  HostId innermost;
  for (const uint32_t row :
       EachRow(trace.tracks().first_row[track], trace.tracks().end_row[track])) {
    const HostId id{row};
    innermost = InnerOf(host, innermost, id, time);
  }
  return innermost;
}

namespace {

// Walks over the rows of one thread.
class HostWalk {
 public:
  HostWalk(const RankView& view, TrackId track, std::span<const Interval> times, int64_t period_ns,
           const UseHostPiece& use)
      : view_(view),
        host_(view.trace.host()),
        track_(track),
        times_(times),
        period_ns_(period_ns),
        use_(use),
        pauses_(RowsOfThread(view.trace.pauses().track, track)),
        samples_(RowsOfThread(view.trace.stack_samples().track, track)),
        now_ns_(times.front().begin) {}

  void Run();

 private:
  // An open row, and what is around it.
  struct Frame {
    HostId row;
    HostId call;      // outermost
    HostId op;        // innermost
    StringId caller;  // of `call`
  };

  void Open(HostId row);
  void CloseUntil(int64_t ns);
  void MoveTo(int64_t ns);
  void WalkPiece(Interval time);
  void WalkOutsideCalls(Interval time);
  void WalkSampled(Interval time);
  void WalkEvent(Interval time);
  void Use(HostActivity activity, StringId name, Interval time);
  StringId NameOf(HostId id) const { return id.valid() ? host_.name[id.value] : StringId(); }
  StringId OperationOf() const { return open_.empty() ? StringId() : NameOf(open_.back().op); }
  StringId FunctionOf(size_t sample) const;

  const RankView& view_;
  const HostEvents& host_;
  const TrackId track_;
  std::span<const Interval> times_;  // from the first one that has not passed
  const int64_t period_ns_;
  const UseHostPiece& use_;
  const std::pair<size_t, size_t> pauses_;
  const std::pair<size_t, size_t> samples_;
  std::vector<Frame> open_;
  int64_t now_ns_;
};

void HostWalk::Use(HostActivity activity, StringId name, Interval time) {
  if (time.begin < time.end) {
    const bool is_call = activity == HostActivity::kCall;
    use_({activity, name, is_call ? open_.back().caller : StringId(), OperationOf()}, time);
  }
}

void HostWalk::Run() {
  const int64_t end_ns = times_.back().end;
  const Tracks& tracks = view_.trace.tracks();
  const uint32_t end_row = tracks.end_row[track_.value];
  for (uint32_t row = tracks.first_row[track_.value]; row < end_row && !times_.empty(); ++row) {
    CheckStopAt(row);
    CloseUntil(host_.ts_ns[row]);
    MoveTo(host_.ts_ns[row]);
    Open(HostId{row});
  }
  CloseUntil(end_ns);
  MoveTo(end_ns);
}

// Closes the rows that `row` is not inside of, and opens `row`.
void HostWalk::Open(HostId row) {
  const ColumnData<uint32_t>& subtree_end = view_.index.tree.subtree_end;
  while (!open_.empty() && subtree_end[open_.back().row.value] <= row.value) {
    open_.pop_back();
  }
  Frame frame = open_.empty() ? Frame() : open_.back();
  frame.row = row;
  if (!frame.call.valid() && IsCall(host_.kind[row.value])) {
    frame.call = row;
    frame.caller = CallerOf(view_.trace, row, subtree_end[row.value]);
  }
  if (view_.index.IsOperator(view_.trace, row)) {
    frame.op = row;
  }
  open_.push_back(frame);
}

void HostWalk::CloseUntil(int64_t ns) {
  while (!open_.empty() && host_.end_ns(open_.back().row) <= ns) {
    MoveTo(host_.end_ns(open_.back().row));
    open_.pop_back();
  }
}

void HostWalk::MoveTo(int64_t ns) {
  while (now_ns_ < ns && !times_.empty()) {
    const Interval next = times_.front();
    const Interval piece{std::max(now_ns_, next.begin), std::min(ns, next.end)};
    if (piece.begin < piece.end) {
      WalkPiece(piece);
    }
    if (next.end > ns) {
      break;
    }
    times_ = times_.subspan(1);
  }
  now_ns_ = std::max(now_ns_, ns);
}

void HostWalk::WalkPiece(Interval time) {
  if (!open_.empty() && open_.back().call.valid()) {
    Use(HostActivity::kCall, NameOf(open_.back().call), time);
  } else {
    WalkOutsideCalls(time);
  }
}

void HostWalk::WalkOutsideCalls(Interval time) {
  if (pauses_.first == pauses_.second && samples_.first == samples_.second) {
    WalkEvent(time);  // most recordings have neither samples nor pauses
    return;
  }
  const Pauses& pauses = view_.trace.pauses();
  const auto first = pauses.end_ns.begin() + static_cast<ptrdiff_t>(pauses_.first);
  const auto end = pauses.end_ns.begin() + static_cast<ptrdiff_t>(pauses_.second);
  const auto next = std::upper_bound(first, end, time.begin);
  auto row = static_cast<size_t>(next - pauses.end_ns.begin());
  for (; row < pauses_.second && pauses.ts_ns[row] < time.end; ++row) {
    const Interval pause{std::max(pauses.ts_ns[row], time.begin),
                         std::min(pauses.end_ns[row], time.end)};
    WalkSampled({time.begin, pause.begin});
    Use(HostActivity::kNoProcessor, {}, pause);
    time.begin = pause.end;
  }
  WalkSampled(time);
}

// An instant belongs to the last sample before it, for at most two periods: by then a running
// thread has the next sample.
void HostWalk::WalkSampled(Interval time) {
  const StackSamples& samples = view_.trace.stack_samples();
  const auto first = samples.ts_ns.begin() + static_cast<ptrdiff_t>(samples_.first);
  const auto end = samples.ts_ns.begin() + static_cast<ptrdiff_t>(samples_.second);
  auto next = std::upper_bound(first, end, time.begin);
  while (time.begin < time.end) {
    const int64_t until = next == end ? time.end : std::min(*next, time.end);
    int64_t covered = time.begin;
    if (next != first) {
      const int64_t reach = AddSaturating(*std::prev(next), AddSaturating(period_ns_, period_ns_));
      covered = std::clamp(reach, time.begin, until);
      const auto sample = static_cast<size_t>(std::prev(next) - samples.ts_ns.begin());
      Use(HostActivity::kSampled, FunctionOf(sample), {time.begin, covered});
    }
    WalkEvent({covered, until});
    time.begin = until;
    next += next == end ? 0 : 1;
  }
}

void HostWalk::WalkEvent(Interval time) {
  const bool is_inside = !open_.empty();
  Use(is_inside ? HostActivity::kEvent : HostActivity::kUnknown,
      is_inside ? NameOf(open_.back().row) : StringId(), time);
}

// The innermost frame that has a function name and not only a module.
StringId HostWalk::FunctionOf(size_t sample) const {
  const StackFrames& frames = view_.trace.stack_frames();
  const uint32_t innermost = view_.trace.stack_samples().frame[sample];
  for (uint32_t frame = innermost; frame != kNoDetail; frame = frames.parent[frame]) {
    if (!view_.trace.Text(frames.name[frame]).starts_with("[")) {
      return frames.name[frame];
    }
  }
  return innermost == kNoDetail ? StringId() : frames.name[innermost];
}

}  // namespace

std::string_view HostActivityName(HostActivity activity) {
  constexpr std::string_view kNames[] = {"call", "no processor", "sampled", "event", "unknown"};
  return kNames[static_cast<size_t>(activity)];
}

bool SaysNothing(const Trace& trace, HostActivity activity, StringId name) {
  return activity == HostActivity::kUnknown || !name.valid() ||
         StepNumber(trace.Text(name)).has_value() || IsServerStep(trace.Text(name));
}

void WalkHostPieces(const RankView& view, TrackId track, std::span<const Interval> times,
                    int64_t period_ns, const UseHostPiece& use) {
  HostWalk(view, track, times, period_ns, use).Run();
}

std::pair<size_t, size_t> RowsOfThread(const ColumnData<TrackId>& tracks, TrackId track) {
  const auto [first, end] = std::equal_range(
      tracks.begin(), tracks.end(), track, [](TrackId a, TrackId b) { return a.value < b.value; });
  return {static_cast<size_t>(first - tracks.begin()), static_cast<size_t>(end - tracks.begin())};
}

int64_t SamplingPeriod(const Trace& trace) {
  const StackSamples& samples = trace.stack_samples();
  std::vector<int64_t> distances;
  for (const size_t row : EachIndex(1, samples.size())) {
    if (samples.track[row] == samples.track[row - 1]) {
      distances.push_back(SubtractSaturating(samples.ts_ns[row], samples.ts_ns[row - 1]));
    }
  }
  if (distances.empty()) {
    return 0;
  }
  const auto middle = distances.begin() + static_cast<ptrdiff_t>((distances.size() - 1) / 2);
  std::nth_element(distances.begin(), middle, distances.end());
  return *middle;
}

}  // namespace borescope::internal
