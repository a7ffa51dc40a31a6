#include "borescope/analysis/core/grouper.h"

#include <algorithm>

#include "borescope/analysis/core/row.h"
#include "borescope/analysis/core/selection/device_time.h"
#include "borescope/base/check.h"
#include "borescope/base/hash/input_hash.h"
#include "borescope/base/row_limit.h"

namespace borescope::internal {

namespace {

struct KeyRow {
  GroupKey key;
  std::string_view by;  // as written after --by
  std::string_view column;
  bool before_name;
  bool is_text;
  std::string_view doc;
};

constexpr KeyRow kKeyRows[] = {
    {GroupKey::kRank, "rank", "rank", true, false, kRankDoc},
    {GroupKey::kStep, "step", "step", true, false,
     "Number of the step in which the work was launched or the call began; missing outside of "
     "steps, and where the launch was not recorded (--step-rule time: where work without one began "
     "outside)."},
    {GroupKey::kThread, "thread", "thread", true, false,
     "Thread, of device work that of its launch; missing where the launch was not recorded."},
    {GroupKey::kGpu, "gpu", "gpu", true, false, kGpuDoc},
    {GroupKey::kStream, "stream", "stream", true, false, kStreamDoc},
    {GroupKey::kPhase, "phase", "phase", true, true,
     "forward, backward, recompute (forward repeated inside backward) or optimizer, from the "
     "launch's surroundings on the host; other if unknown."},
    {GroupKey::kDomain, "domain", "domain", true, true,
     "Domain of the innermost range (NVTX) or operator around; missing where that has none."},
    {GroupKey::kModule, "module", "module", true, true,
     "Class of the innermost nn.Module around the call: Linear for Linear_0, Linear_1 and so on; "
     "missing outside of modules, in backward, and without with_stack=True or with_modules=True."},
    {GroupKey::kModuleInstance, "module-instance", "module_instance", true, true,
     "Innermost nn.Module around the call, as recorded: one of its class; missing as above."},
    {GroupKey::kOp, "op", "op", false, true,
     "Innermost operator behind the launch; missing if there is none."},
    {GroupKey::kShape, "shape", "shapes", false, true,
     "Input shapes as recorded (profiler option record_shapes=True)."},
    {GroupKey::kDtype, "dtype", "dtypes", false, true,
     "Input types as recorded (profiler option record_shapes=True)."},
};

const KeyRow& RowOf(GroupKey key) { return kKeyRows[static_cast<size_t>(key)]; }

int64_t NumberOf(StringId id) { return id.valid() && id.value != 0 ? int64_t{id.value} : kMissing; }

}  // namespace

bool HasKey(std::span<const std::string> by, std::string_view key) {
  return std::find(by.begin(), by.end(), key) != by.end();
}

GroupKeys::GroupKeys(const RankView& view, std::span<const std::string> by, StepRule rule)
    : view_(view), rule_(rule) {
  for (const KeyRow& row : kKeyRows) {
    if (HasKey(by, row.by)) {
      keys_.push_back(row.key);
      if (row.key == GroupKey::kPhase) {
        host_phases_ = HostPhases(view);
      }
      if (row.key == GroupKey::kDomain) {
        FindDomains();
      }
      if (row.key == GroupKey::kModule || row.key == GroupKey::kModuleInstance) {
        UseModules();
      }
    }
  }
}

void GroupKeys::FindDomains() {
  const RangeDomains& domains = view_.trace.range_domains();
  domains_.resize(view_.trace.strings().size());
  for (size_t i = 0; i < domains.size(); ++i) {
    domains_[domains.name[i].value] = domains.domain[i];
  }
}

// What only has a name of that form and is no range is in no domain.
int64_t GroupKeys::DomainAround(HostId id) const {
  const HostEvents& host = view_.trace.host();
  const auto is_range = [&](HostId row) { return host.kind[row.value] == HostKind::kAnnotation; };
  while (id.valid() && !is_range(id) && host.kind[id.value] != HostKind::kOp) {
    id = view_.index.tree.parent[id.value];
  }
  return id.valid() && is_range(id) ? NumberOf(domains_[host.name[id.value].value]) : kMissing;
}

void GroupKeys::UseModules() {
  if (module_classes_ == nullptr) {
    modules_ = ModulesAround(view_);
    module_classes_ = std::make_shared<const ModuleClasses>(view_.trace.strings());
  }
}

bool GroupKeys::HasModuleClasses() const {
  return std::find(keys_.begin(), keys_.end(), GroupKey::kModule) != keys_.end();
}

int64_t GroupKeys::ModuleInstance(HostId id) const {
  return HostValue(GroupKey::kModuleInstance, id);
}

int64_t GroupKeys::ModuleInstance(DeviceId id) const {
  return DeviceValue(GroupKey::kModuleInstance, id);
}

void GroupKeys::Append(HostId id, std::vector<int64_t>& values) const {
  for (const GroupKey key : keys_) {
    values.push_back(HostValue(key, id));
  }
}

void GroupKeys::Append(DeviceId id, std::vector<int64_t>& values) const {
  for (const GroupKey key : keys_) {
    values.push_back(DeviceValue(key, id));
  }
}

void GroupKeys::Append(TrackId thread, int64_t ts_ns, std::vector<int64_t>& values) const {
  for (const GroupKey key : keys_) {
    values.push_back(ThreadValue(key, thread, ts_ns));
  }
}

int64_t GroupKeys::ThreadValue(GroupKey key, TrackId thread, int64_t ts_ns) const {
  switch (key) {
    case GroupKey::kRank:
      return view_.rank;
    case GroupKey::kStep:
      return StepNumber(view_.steps().At(thread, ts_ns));
    case GroupKey::kThread:
      return view_.trace.tracks().tid[thread.value];
    case GroupKey::kPhase:
      return static_cast<int64_t>(Phase::kOther);
    default:
      return kMissing;
  }
}

void GroupKeys::AppendReplayed(HostId op, DeviceId work, std::vector<int64_t>& values) const {
  for (const GroupKey key : keys_) {
    values.push_back(ReplayedValue(key, op, work));
  }
}

int64_t GroupKeys::ReplayedValue(GroupKey key, HostId op, DeviceId work) const {
  const bool is_own = key == GroupKey::kShape || key == GroupKey::kDtype ||
                      key == GroupKey::kModule || key == GroupKey::kModuleInstance;
  const int64_t own = is_own ? HostValue(key, op) : kMissing;
  return own == kMissing ? DeviceValue(key, work) : own;
}

void GroupKeys::AppendInferred(DeviceId work, const InferredPlace& place,
                               std::vector<int64_t>& values) const {
  for (const GroupKey key : keys_) {
    values.push_back(InferredValue(key, work, place));
  }
}

int64_t GroupKeys::InferredValue(GroupKey key, DeviceId work, const InferredPlace& place) const {
  switch (key) {
    case GroupKey::kRank:
    case GroupKey::kGpu:
    case GroupKey::kStream:
      return DeviceValue(key, work);
    case GroupKey::kStep:
      return place.step;
    case GroupKey::kModuleInstance:
      if (!place.knows_instance) {
        return kMissing;
      }
      break;
    default:
      break;
  }
  const HostId op = view_.index.correlation.op_of[place.like.value];
  return op.valid() ? ReplayedValue(key, op, place.like) : DeviceValue(key, place.like);
}

int64_t GroupKeys::StepNumber(uint32_t step) const {
  return step == kNoStep ? kMissing : view_.steps().steps[step].number;
}

int64_t GroupKeys::HostValue(GroupKey key, HostId id) const {
  const HostEvents& host = view_.trace.host();
  const uint32_t detail = host.detail[id.value];
  const bool has_ops = host.kind[id.value] == HostKind::kOp && detail != kNoDetail;
  switch (key) {
    case GroupKey::kRank:
      return view_.rank;
    case GroupKey::kStep:
      return StepNumber(view_.steps().At(host.track[id.value], host.ts_ns[id.value]));
    case GroupKey::kThread:
      return view_.trace.tracks().tid[host.track[id.value].value];
    case GroupKey::kPhase:
      return static_cast<int64_t>(host_phases_[id.value]);
    case GroupKey::kDomain:
      return DomainAround(id);
    case GroupKey::kModule:
      return module_classes_->Of(modules_[id.value]);
    case GroupKey::kModuleInstance:
      return modules_[id.value];
    case GroupKey::kShape:
      return has_ops ? NumberOf(view_.trace.ops().input_dims[detail]) : kMissing;
    case GroupKey::kDtype:
      return has_ops ? NumberOf(view_.trace.ops().input_types[detail]) : kMissing;
    default:
      return kMissing;
  }
}

int64_t GroupKeys::DeviceValue(GroupKey key, DeviceId id) const {
  const Trace& trace = view_.trace;
  const HostId op = view_.index.correlation.op_of[id.value];
  const HostId launch = view_.index.correlation.launch_of[id.value];
  switch (key) {
    case GroupKey::kRank:
      return view_.rank;
    case GroupKey::kStep:
      return StepNumber(StepOf(view_, id, rule_));
    case GroupKey::kThread:
      return launch.valid() ? HostValue(key, launch) : kMissing;
    case GroupKey::kGpu:
      return trace.DeviceOf(id);
    case GroupKey::kStream:
      return trace.StreamOf(id);
    case GroupKey::kPhase:
      return static_cast<int64_t>(PhaseOf(view_, host_phases_, id));
    case GroupKey::kDomain:
      return DomainAround(op.valid() ? op : launch);
    case GroupKey::kModule:
    case GroupKey::kModuleInstance:
      return ModuleValue(key, id);
    case GroupKey::kOp:
      return op.valid() ? NumberOf(trace.host().name[op.value]) : kMissing;
    default:
      return kMissing;
  }
}

// Within the capture of a graph, else around its launch.
int64_t GroupKeys::ModuleValue(GroupKey key, DeviceId id) const {
  const Correlation& links = view_.index.correlation;
  const HostId captured = links.CapturedCallOf(id);
  const int64_t inside = captured.valid() ? HostValue(key, captured) : kMissing;
  if (inside != kMissing) return inside;
  const HostId launch = links.launch_of[id.value];
  const HostId around = launch.valid() ? launch : links.op_of[id.value];
  return around.valid() ? HostValue(key, around) : kMissing;
}

void GroupKeys::AddColumns(Table& table, bool before_name) const {
  for (const GroupKey key : keys_) {
    const KeyRow& row = RowOf(key);
    if (row.before_name == before_name) {
      row.is_text ? AddString(table, row.column, Role::kKey, row.doc)
                  : AddInt(table, row.column, Unit::kNone, Role::kKey, row.doc);
    }
  }
}

void GroupKeys::PushCells(Row& row, std::span<const int64_t> values, bool before_name) const {
  for (size_t i = 0; i < keys_.size(); ++i) {
    if (RowOf(keys_[i]).before_name != before_name) {
      continue;
    }
    if (values[i] == kMissing || !RowOf(keys_[i]).is_text) {
      row.MaybeInt(values[i]);
    } else if (keys_[i] == GroupKey::kPhase) {
      row.Text(PhaseName(static_cast<Phase>(values[i])));
    } else if (keys_[i] == GroupKey::kModule) {
      row.Text(module_classes_->Name(values[i]));
    } else {
      row.Text(view_.trace.Text(StringId{static_cast<uint32_t>(values[i])}));
    }
  }
}

namespace {

constexpr uint32_t kFree = ~uint32_t{0};
// A tuple of one number below this has a place of its own: ids of names are small and dense.
constexpr uint64_t kPlaces = 1 << 16;

// Tuples are short: a loop beats a call.
bool AreEqual(std::span<const int64_t> a, std::span<const int64_t> b) {
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i] != b[i]) {
      return false;
    }
  }
  return true;
}

}  // namespace

bool Grouper::IsPlaced(std::span<const int64_t> key) const {
  return width_ == 1 && static_cast<uint64_t>(key[0]) < kPlaces;
}

Grouper::Grouper(size_t width) : width_(width), slots_(64, kFree) { BS_CHECK(width > 0); }

uint32_t Grouper::Add(std::span<const int64_t> key) {
  const uint32_t group = CheckedRows(size_ + 1, "groups") - 1;
  ++size_;
  keys_.insert(keys_.end(), key.begin(), key.end());
  return group;
}

uint32_t Grouper::FindPlaced(std::span<const int64_t> key) {
  const auto place = static_cast<size_t>(key[0]);
  if (place >= places_.size()) {
    places_.resize(std::max(place + 1, 2 * places_.size()), kFree);
  }
  if (places_[place] == kFree) {
    places_[place] = Add(key);
  }
  return places_[place];
}

uint32_t Grouper::Find(std::span<const int64_t> key) {
  BS_DCHECK(key.size() == width_);
  if (IsPlaced(key)) {
    return FindPlaced(key);
  }
  const size_t mask = slots_.size() - 1;
  size_t slot = HashNumbers(key) & mask;
  for (; slots_[slot] != kFree; slot = (slot + 1) & mask) {
    if (AreEqual(key, this->key(slots_[slot]))) {
      return slots_[slot];
    }
  }
  const uint32_t group = Add(key);
  slots_[slot] = group;
  if (size_ * 2 > slots_.size()) {
    Grow();
  }
  return group;
}

void Grouper::Grow() {
  slots_.assign(slots_.size() * 2, kFree);
  const size_t mask = slots_.size() - 1;
  for (uint32_t group = 0; group < size_; ++group) {
    if (IsPlaced(key(group))) {
      continue;
    }
    size_t slot = HashNumbers(key(group)) & mask;
    while (slots_[slot] != kFree) {
      slot = (slot + 1) & mask;
    }
    slots_[slot] = group;
  }
}

}  // namespace borescope::internal
