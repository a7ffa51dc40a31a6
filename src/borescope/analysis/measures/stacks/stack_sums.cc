#include "borescope/analysis/measures/stacks/stack_sums.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "borescope/analysis/core/grouper.h"
#include "borescope/analysis/core/reduce.h"
#include "borescope/analysis/measures/align_inherited.h"
#include "borescope/analysis/measures/idle/late_host.h"
#include "borescope/analysis/measures/time/covered_time.h"
#include "borescope/base/each_row.h"
#include "borescope/base/text/text.h"
#include "borescope/index/steps/steps.h"
#include "borescope/trace/tables.h"
#include "borescope/trace/trace.h"

namespace borescope::internal {

// The distinct paths of call stacks: a tree in which each node knows the one around it.

namespace {

inline constexpr uint32_t kNoPath = ~uint32_t{0};

// The kind of a frame: a function of a sampled stack or of a stack recorded with a call, a
// HostKind, or a DeviceKind, numbered after those.
using FrameKind = int64_t;

inline constexpr FrameKind kSampledFrame = -1;

inline constexpr FrameKind kFunctionFrame = -2;

inline constexpr FrameKind kDeviceKinds = static_cast<FrameKind>(HostKind::kOther) + 1;

inline FrameKind KindOf(HostKind kind) { return static_cast<FrameKind>(kind); }

inline FrameKind KindOf(DeviceKind kind) { return kDeviceKinds + static_cast<FrameKind>(kind); }

// Not thread-safe.
class Paths {
 public:
  uint32_t Find(uint32_t parent, int64_t name, FrameKind kind) {
    const int64_t key[] = {parent == kNoPath ? -1 : int64_t{parent}, name, kind};
    return nodes_.Find(key);
  }
  // A node above all others that is not a frame.
  uint32_t FindNoFrame(int64_t name) { return Find(kNoPath, name, KindOf(HostKind::kOther)); }

  size_t size() const { return nodes_.size(); }
  // A parent has a smaller number than its children.
  uint32_t parent(uint32_t path) const {
    const int64_t parent = nodes_.key(path)[0];
    return parent < 0 ? kNoPath : static_cast<uint32_t>(parent);
  }
  int64_t name(uint32_t path) const { return nodes_.key(path)[1]; }
  FrameKind kind(uint32_t path) const { return nodes_.key(path)[2]; }

 private:
  Grouper nodes_{3};
};

// The place of every node in preorder, and its depth.
struct PathOrder {
  std::vector<uint32_t> place;
  std::vector<uint32_t> depth;
};

std::string_view FrameKindName(FrameKind kind) {
  return kind == kSampledFrame    ? "sampled"
         : kind == kFunctionFrame ? "function"
         : kind < kDeviceKinds    ? HostKindName(static_cast<HostKind>(kind))
                                  : DeviceKindName(static_cast<DeviceKind>(kind - kDeviceKinds));
}

// Subtree sizes, summed from below, give the places of siblings.
PathOrder OrderOf(const Paths& paths) {
  std::vector<uint32_t> size(paths.size(), 1);
  for (auto path = static_cast<uint32_t>(paths.size()); path-- > 0;) {
    if (paths.parent(path) != kNoPath) {
      size[paths.parent(path)] += size[path];
    }
  }
  PathOrder order{std::vector<uint32_t>(paths.size()), std::vector<uint32_t>(paths.size())};
  std::vector<uint32_t> next(paths.size());  // the place of the next child of a node
  uint32_t next_root = 0;
  for (uint32_t path = 0; path < paths.size(); ++path) {
    const uint32_t parent = paths.parent(path);
    uint32_t& place = parent == kNoPath ? next_root : next[parent];
    order.place[path] = place;
    order.depth[path] = parent == kNoPath ? 0 : order.depth[parent] + 1;
    next[path] = place + 1;
    place += size[path];
  }
  return order;
}

// Numbers in place of a StringId.
constexpr int64_t kNoLaunchName = -1;
constexpr int64_t kElsewhereName = -2;
constexpr int64_t kStepName = -3;  // any training step
constexpr int64_t kNoOperatorName = -4;
constexpr int64_t kNoStackName = -5;

// The names of nodes that are not frames; empty for frames.
std::string_view NoFrameName(int64_t name) {
  return name == kNoLaunchName     ? kNoLaunch
         : name == kNoOperatorName ? kNoOperator
         : name == kElsewhereName  ? kElsewhere
         : name == kNoStackName    ? kNoStack
                                   : "";
}

struct SelfTimes {
  int64_t calls = 0;
  int64_t host_ns = 0;
  int64_t device_ns = 0;
  int64_t aligned_ns = 0;
};

std::string_view TitleOf(StackKind stacks) {
  switch (stacks) {
    case StackKind::kSampled:
      return "Sampled host call stacks: samples x sampling period";
    case StackKind::kCalls:
      return "Stacks of calls: the time in calls, and the device work that they launched";
    case StackKind::kHost:
    case StackKind::kDevice:
      break;
  }
  return "Host call stacks and the device work below them";
}

// A text as the name of a frame.
struct Label {
  int64_t name;  // a StringId, or kStepName
  bool is_root;  // whether it contains the text of roots
};

std::vector<Label> LabelsOf(const Trace& trace, std::string_view root) {
  std::vector<Label> labels;
  labels.reserve(trace.strings().size());
  for (uint32_t name = 0; name < trace.strings().size(); ++name) {
    const std::string_view text = trace.Text(StringId{name});
    labels.push_back(
        {FoldStepName(text) == kAnyStep ? kStepName : int64_t{name}, Contains(text, root)});
  }
  return labels;
}

class StackSums {
 public:
  StackSums(const RankView& view, const Selected& selected, std::span<const std::string> by,
            StackKind stacks)
      : view_(view),
        selected_(selected),
        stacks_(stacks),
        keys_(view, by, selected.step_rule()),
        sums_(keys_.size() + 2) {}

  // False if a root was asked for and no frame has such a name.
  bool PlaceFrames(std::string_view root);
  // Adds the time of the requested kind of stacks.
  void AddTime();
  Table Write() const;

 private:
  // A node of one tree with self time.
  struct Entry {
    uint32_t path;
    uint32_t sums;
  };

  // Whether frames are rows of StackFrames.
  bool IsOfFunctions() const {
    return stacks_ == StackKind::kSampled || stacks_ == StackKind::kCalls;
  }
  bool IsFrame(HostKind kind) const {
    return stacks_ == StackKind::kCalls ? IsCall(kind)
                                        : stacks_ == StackKind::kHost || kind != HostKind::kRuntime;
  }
  void PlaceHostFrames();
  void PlaceFunctions();
  bool HasRoot() const;
  uint32_t Place(uint32_t parent, const Label& label, FrameKind kind);
  uint32_t PlaceRow(uint32_t parent, uint32_t row);
  void AddHostTime();
  void AddDeviceTime();
  void AddAlignedTime();
  uint32_t LeafOf(DeviceId work, DeviceId like);
  void AddSampledTime();
  void AddCallTime();
  void PlaceCalls();
  uint32_t PathOfCall(HostId call);
  uint32_t FrameOf(DeviceId work);
  uint32_t LaunchFrameOf(DeviceId work);
  // The sums of a path with the keys of a host or device row.
  template <class Id>
  SelfTimes& SumsOf(Id id, uint32_t path);
  SelfTimes& SumsOfSample(size_t sample, uint32_t path);
  SelfTimes& SumsOfKey(uint32_t path);
  std::vector<std::vector<Entry>> EntriesByGroup() const;
  Table EmptyTable() const;
  void WriteTree(std::span<const int64_t> keys, std::vector<Entry> entries, const PathOrder& order,
                 Table& table) const;
  void WriteNode(std::span<const int64_t> keys, const Entry& entry, const PathOrder& order,
                 Table& table) const;

  const RankView& view_;
  const Selected& selected_;
  StackKind stacks_;
  GroupKeys keys_;
  Paths paths_;
  uint32_t elsewhere_ = kNoPath;
  std::vector<Label> labels_;         // per text
  std::vector<uint32_t> path_of_;     // per host row, or sampled frame; kNoPath above all frames
  std::vector<uint32_t> call_paths_;  // for stacks of calls, per host row; kNoPath without a stack
  // Paths of calls in captures below the launch of their graph; keys: the path of the launch, and
  // the call.
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> captured_paths_;
  Grouper sums_;                 // key values, 0, then the path
  std::vector<SelfTimes> self_;  // per tuple of sums_
  std::vector<int64_t> key_;
};

bool StackSums::PlaceFrames(std::string_view root) {
  labels_ = LabelsOf(view_.trace, root);
  elsewhere_ = root.empty() ? kNoPath : paths_.FindNoFrame(kElsewhereName);
  if (IsOfFunctions()) {
    PlaceFunctions();
    if (stacks_ == StackKind::kCalls) PlaceCalls();
  } else {
    PlaceHostFrames();
  }
  return root.empty() || HasRoot();
}

void StackSums::PlaceHostFrames() {
  const HostEvents& host = view_.trace.host();
  path_of_.reserve(host.size());
  for (const uint32_t row : EachRow(host.size())) {
    const HostId above = view_.index.tree.parent[row];
    path_of_.push_back(PlaceRow(above.valid() ? path_of_[above.value] : elsewhere_, row));
  }
}

void StackSums::PlaceFunctions() {
  const StackFrames& frames = view_.trace.stack_frames();
  path_of_.reserve(frames.size());
  for (const uint32_t row : EachRow(frames.size())) {
    const uint32_t above = frames.parent[row];
    const uint32_t parent = above == kNoDetail ? elsewhere_ : path_of_[above];
    path_of_.push_back(Place(parent, labels_[frames.name[row].value],
                             stacks_ == StackKind::kSampled ? kSampledFrame : kFunctionFrame));
  }
}

// Whether a frame, captured ones included, is a root.
bool StackSums::HasRoot() const {
  const ColumnData<StringId>& functions = view_.trace.stack_frames().name;
  const bool is_function =
      IsOfFunctions() && std::any_of(functions.begin(), functions.end(),
                                     [this](StringId name) { return labels_[name.value].is_root; });
  if (is_function || stacks_ == StackKind::kSampled) {
    return is_function;
  }
  const HostEvents& host = view_.trace.host();
  for (const uint32_t row : EachRow(host.all_size())) {
    if (IsFrame(host.kind[row]) && labels_[host.name[row].value].is_root) return true;
  }
  return false;
}

// The path of a host row below another path.
uint32_t StackSums::PlaceRow(uint32_t parent, uint32_t row) {
  const HostEvents& host = view_.trace.host();
  return IsFrame(host.kind[row])
             ? Place(parent, labels_[host.name[row].value], KindOf(host.kind[row]))
             : parent;
}

// The path of a frame inside that of another one.
uint32_t StackSums::Place(uint32_t parent, const Label& label, FrameKind kind) {
  if (parent != elsewhere_) {
    return paths_.Find(parent, label.name, kind);
  }
  return label.is_root ? paths_.Find(kNoPath, label.name, kind) : elsewhere_;
}

template <class Id>
SelfTimes& StackSums::SumsOf(Id id, uint32_t path) {
  key_.clear();
  keys_.Append(id, key_);
  return SumsOfKey(path);
}

SelfTimes& StackSums::SumsOfSample(size_t sample, uint32_t path) {
  const StackSamples& samples = view_.trace.stack_samples();
  key_.clear();
  keys_.Append(samples.track[sample], samples.ts_ns[sample], key_);
  return SumsOfKey(path);
}

// The sums of a path with the keys in key_.
SelfTimes& StackSums::SumsOfKey(uint32_t path) {
  key_.push_back(0);
  key_.push_back(path);
  const uint32_t found = sums_.Find(key_);
  self_.resize(sums_.size());
  return self_[found];
}

void StackSums::AddTime() {
  switch (stacks_) {
    case StackKind::kHost:
      AddHostTime();
      AddDeviceTime();
      AddAlignedTime();
      return;
    case StackKind::kDevice:
      AddDeviceTime();
      AddAlignedTime();
      return;
    case StackKind::kSampled:
      AddSampledTime();
      return;
    case StackKind::kCalls:
      AddCallTime();
      AddDeviceTime();
      AddAlignedTime();
      return;
  }
}

void StackSums::AddSampledTime() {
  const StackSamples& samples = view_.trace.stack_samples();
  const int64_t period_ns = SamplingPeriod(view_.trace);
  for (const size_t row : EachIndex(samples.size())) {
    if (!selected_.Keeps(samples.track[row], samples.ts_ns[row])) {
      continue;
    }
    const uint32_t frame = samples.frame[row];
    const uint32_t path = frame == kNoDetail ? paths_.FindNoFrame(kNoStackName) : path_of_[frame];
    SelfTimes& sums = SumsOfSample(row, path);
    ++sums.calls;
    sums.host_ns = AddSaturating(sums.host_ns, period_ns);
  }
}

// Places calls below the function that made them. A call without a recorded stack is below the call
// around it, if that has a stack; a row that is no call has the path of the call around it.
void StackSums::PlaceCalls() {
  const HostEvents& host = view_.trace.host();
  call_paths_.reserve(host.size());
  for (const uint32_t row : EachRow(host.size())) {
    const HostId outer = view_.index.tree.parent[row];
    const uint32_t frame = StackOfCall(view_.trace, HostId{row});
    const uint32_t above = frame != kNoDetail ? path_of_[frame]
                           : outer.valid()    ? call_paths_[outer.value]
                                              : kNoPath;
    call_paths_.push_back(above == kNoPath ? kNoPath : PlaceRow(above, row));
  }
}

uint32_t StackSums::PathOfCall(HostId call) {
  const uint32_t path = call.valid() ? call_paths_[call.value] : kNoPath;
  return path != kNoPath ? path : paths_.FindNoFrame(call.valid() ? kNoStackName : kNoLaunchName);
}

void StackSums::AddCallTime() {
  const HostEvents& host = view_.trace.host();
  const auto is_call = [&](HostId id) { return IsCall(host.kind[id.value]); };
  const std::vector<int64_t> self_ns = InnermostTimes(view_.trace, is_call);
  for (const uint32_t row : EachRow(host.size())) {
    if (is_call(HostId{row}) && selected_.Keeps(HostId{row})) {
      SelfTimes& sums = SumsOf(HostId{row}, PathOfCall(HostId{row}));
      ++sums.calls;
      sums.host_ns = AddSaturating(sums.host_ns, self_ns[row]);
    }
  }
}

void StackSums::AddHostTime() {
  const std::vector<int64_t> self_ns = InnermostTimes(view_.trace, [](HostId) { return true; });
  for (const uint32_t row : EachRow(path_of_.size())) {
    if (selected_.Keeps(HostId{row})) {
      SelfTimes& sums = SumsOf(HostId{row}, path_of_[row]);
      ++sums.calls;
      sums.host_ns = AddSaturating(sums.host_ns, self_ns[row]);
    }
  }
}

// The innermost frame around a launch, or the operator if the launch was not recorded.
uint32_t StackSums::LaunchFrameOf(DeviceId work) {
  const HostId launch = view_.index.correlation.launch_of[work.value];
  const HostId op = view_.index.correlation.op_of[work.value];
  if (stacks_ == StackKind::kCalls) {
    return PathOfCall(launch);
  }
  if (stacks_ == StackKind::kHost) {
    const HostId frame = launch.valid() ? launch : op;
    return frame.valid() ? path_of_[frame.value] : paths_.FindNoFrame(kNoLaunchName);
  }
  for (const HostId frame : {launch, op}) {
    const bool has_path = frame.valid() && !view_.trace.host().IsCaptured(frame);
    if (has_path && path_of_[frame.value] != kNoPath) {
      return path_of_[frame.value];
    }
  }
  return kNoPath;
}

// The frames of a capture follow below the launch of its graph, as they would be around a launch of
// the kernel itself.
uint32_t StackSums::FrameOf(DeviceId work) {
  uint32_t path = LaunchFrameOf(work);
  if (stacks_ == StackKind::kCalls) {
    return path;
  }
  if (const HostId call = view_.index.correlation.CapturedCallOf(work); call.valid()) {
    const auto [place, is_new] = captured_paths_.try_emplace({path, call.value}, path);
    if (is_new) {
      std::vector<uint32_t> rows;
      for (HostId row = call; row.valid(); row = view_.index.tree.parent[row.value]) {
        rows.push_back(row.value);
      }
      for (; !rows.empty(); rows.pop_back()) {
        place->second = PlaceRow(place->second, rows.back());
      }
    }
    path = place->second;
  }
  return path == kNoPath ? paths_.FindNoFrame(kNoOperatorName) : path;
}

// The path of `work`, as launched by the launch of `like`, which may be `work` itself.
uint32_t StackSums::LeafOf(DeviceId work, DeviceId like) {
  const DeviceEvents& device = view_.trace.device();
  const uint32_t path = FrameOf(like);
  const bool is_leaf = stacks_ == StackKind::kDevice && path != elsewhere_;
  return is_leaf ? paths_.Find(path, int64_t{device.name[work.value].value},
                               KindOf(device.kind[work.value]))
                 : path;
}

// Adds the time of work from before the recording to the inferred frames around its launch, if the
// instances of modules are known and not only their classes.
void StackSums::AddAlignedTime() {
  const std::shared_ptr<const AlignedWork> aligned = SharedAlignedWork(view_);
  if (!aligned->IsConfident() || !aligned->knows_place) {
    return;
  }
  for (const uint32_t row : EachRow(aligned->like.size())) {
    const DeviceId id{row};
    const DeviceId like = aligned->LikeOf(id);
    if (like.valid() && selected_.Keeps(id)) {
      key_.clear();
      keys_.AppendInferred(id, aligned->PlaceOf(id), key_);
      AddSaturatingTo(SumsOfKey(LeafOf(id, like)).aligned_ns, view_.trace.device().dur_ns[row]);
    }
  }
}

void StackSums::AddDeviceTime() {
  const DeviceEvents& device = view_.trace.device();
  for (const uint32_t row : EachRow(device.size())) {
    const DeviceId id{row};
    if (!selected_.Keeps(id)) {
      continue;
    }
    SelfTimes& sums = SumsOf(id, LeafOf(id, id));
    sums.calls += stacks_ == StackKind::kDevice ? 1 : 0;
    sums.device_ns = AddSaturating(sums.device_ns, device.dur_ns[row]);
  }
}

std::vector<std::vector<StackSums::Entry>> StackSums::EntriesByGroup() const {
  Grouper groups(keys_.size() + 1);
  std::vector<std::vector<Entry>> entries;
  for (uint32_t i = 0; i < sums_.size(); ++i) {
    const std::span<const int64_t> key = sums_.key(i);
    const uint32_t group = groups.Find(key.first(key.size() - 1));
    entries.resize(groups.size());
    entries[group].push_back({static_cast<uint32_t>(key.back()), i});
  }
  return entries;
}

Table StackSums::EmptyTable() const {
  Table table{"stacks", std::string(TitleOf(stacks_)), {}};
  keys_.AddColumnsBeforeName(table);
  AddInt(table, "depth", Unit::kNone, Role::kKey,
         "How many frames are around it. Rows are in tree order: a row is below the last one "
         "before it with a smaller depth.");
  AddString(table, "name", Role::kKey,
            "Name of the frame; all steps are ProfilerStep#*. \"(no launch)\" holds device work "
            "whose launch was not recorded, "
            "\"(other)\" what was left out below the frame around it, \"(elsewhere)\" what is "
            "outside of the frames of --root.");
  AddString(table, "kind", Role::kKey,
            "python, annotation, op, runtime or other, sampled or function; missing for rows that "
            "are no frames.")
      .hints.palette = Palette::kFrame;
  const auto ns = [&](std::string_view name, std::string_view doc) {
    AddInt(table, name, Unit::kNanoseconds, Role::kSum, doc);
  };
  AddInt(table, "calls", Unit::kCount, Role::kSum,
         "Calls that began in the selected time; with --sampled the number of samples in the frame "
         "itself.");
  ns("self_host_ns",
     "Host time in this frame and in none inside it; with --sampled samples x sampling period.");
  ns("total_host_ns", "Host time of the frame and all below it.");
  ns("self_device_ns", "Device work launched by the frame itself.");
  ns("total_device_ns", "Device work launched by the frame and all below it.");
  ns("self_aligned_ns",
     "Device work from before the recording that is inferred to be launched by the frame itself. "
     "The other columns do not contain it.");
  ns("total_aligned_ns", "The same of the frame and all below it.");
  return table;
}

void StackSums::WriteNode(std::span<const int64_t> keys, const Entry& entry, const PathOrder& order,
                          Table& table) const {
  const SelfTimes self = entry.sums == kNoPath ? SelfTimes() : self_[entry.sums];
  const int64_t name = paths_.name(entry.path);
  Row row(table);
  keys_.PushBeforeName(row, keys);
  row.Int(order.depth[entry.path]);
  if (const std::string_view no_frame = NoFrameName(name); !no_frame.empty()) {
    row.Text(no_frame).Missing();
  } else {
    row.Text(name == kStepName ? kAnyStep
                               : view_.trace.Text(StringId{static_cast<uint32_t>(name)}));
    row.Text(FrameKindName(paths_.kind(entry.path)));
  }
  row.Int(self.calls).Int(self.host_ns).Int(0).Int(self.device_ns).Int(0);
  row.Int(self.aligned_ns).Int(0);
}

// Adds the frames around the entries, and writes all in preorder.
void StackSums::WriteTree(std::span<const int64_t> keys, std::vector<Entry> entries,
                          const PathOrder& order, Table& table) const {
  const auto comes_first = [&](const Entry& a, const Entry& b) {
    return order.place[a.path] < order.place[b.path];
  };
  std::sort(entries.begin(), entries.end(), comes_first);
  std::vector<Entry> around;  // the path to the last written entry
  std::vector<Entry> missing;
  for (const Entry& entry : entries) {
    around.resize(std::min<size_t>(around.size(), order.depth[entry.path]));
    missing.assign(1, entry);
    for (uint32_t path = paths_.parent(entry.path); path != kNoPath; path = paths_.parent(path)) {
      const uint32_t depth = order.depth[path];
      if (depth < around.size() && around[depth].path == path) {
        break;
      }
      missing.push_back({path, kNoPath});
    }
    around.resize(order.depth[missing.back().path]);
    for (auto node = missing.rbegin(); node != missing.rend(); ++node) {
      WriteNode(keys, *node, order, table);
      around.push_back(*node);
    }
  }
}

Table StackSums::Write() const {
  Table table = EmptyTable();
  const PathOrder order = OrderOf(paths_);
  for (std::vector<Entry>& entries : EntriesByGroup()) {
    const std::span<const int64_t> key = sums_.key(entries.front().sums);
    WriteTree(key, std::move(entries), order, table);
  }
  return table;
}

}  // namespace

Result<Table> SumStacks(const RankView& view, const Selected& selected,
                        std::span<const std::string> by, std::string_view root, StackKind stacks) {
  StackSums sums(view, selected, by, stacks);
  if (!sums.PlaceFrames(root)) {
    return Error{ErrorCode::kMissingData, "no frame contains \"" + std::string(root) + "\"",
                 "leave out `root` to see the names", view.trace.meta().file};
  }
  sums.AddTime();
  return sums.Write();
}

}  // namespace borescope::internal
