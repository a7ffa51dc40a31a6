#include "borescope/packs/chakra/reference/link_compat.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "borescope/base/each_row.h"
#include "borescope/base/hash/hash_tables.h"
#include "borescope/base/text/text.h"
#include "borescope/json/json_cursor.h"
#include "borescope/json/json_string.h"
#include "borescope/packs/chakra/link/link.h"
#include "borescope/packs/chakra/reference/cpu_ops.h"
#include "borescope/packs/chakra/reference/sync_deps.h"

namespace borescope::internal::chakra::compat {

namespace {

constexpr int64_t kProcessNode = 1;
constexpr uint32_t kNoOp = ~uint32_t{0};
constexpr uint64_t kMostDevices = 20'000'000;  // in the linked trace: some 50 GB of text

// The nodes below the node of the process; the reference only looks at these.
std::vector<char> UnderProcess(const HostTrace& host, uint32_t process) {
  const size_t count = host.nodes.size();
  std::vector<std::vector<uint32_t>> children(count);
  for (uint32_t row = 0; row < count; ++row) {
    const HostNode& node = host.nodes[row];
    const std::optional<uint32_t> parent =
        row != process && node.parent.has_value() ? host.Find(*node.parent) : std::nullopt;
    if (parent.has_value()) {
      children[*parent].push_back(row);
    }
  }
  std::vector<char> is_under(count, 0);
  std::vector<uint32_t> open = {process};
  while (!open.empty()) {
    const uint32_t row = open.back();
    open.pop_back();
    is_under[row] = 1;
    open.insert(open.end(), children[row].begin(), children[row].end());
  }
  return is_under;
}

int64_t Nanoseconds(Number us) {
  constexpr double kLimit = 9e15;
  const double value = us.AsDouble();
  return std::abs(value) < kLimit ? std::llround(value * 1000) : 0;
}

class Linker {
 public:
  Linker(const HostTrace& host, DeviceTrace device)
      : host_(host), device_(std::move(device)), ops_(SortOps(device_)) {}

  Result<LinkPlan> Link() {
    const std::optional<uint32_t> process = host_.Find(kProcessNode);
    if (!process.has_value()) {
      return Error{ErrorCode::kCorrupt, "the execution trace has no node 1, that of the process",
                   "link it without `compat`"};
    }
    FindExclusive(ops_);
    FindThreadDeps(ops_);
    AttachSyncs();
    gpu_of_op_ = GroupGpuOps(device_, ops_);
    plan_.hosts.resize(host_.nodes.size());
    MatchHosts(UnderProcess(host_, *process));
    BS_TRY(CheckCopies());
    AddDevices();
    AddSyncs();
    Count();
    BS_TRY(CheckLinked(plan_.counts));
    plan_.diagnostics.Merge(device_.diagnostics);
    plan_.diagnostics.Merge(ops_.diagnostics);
    plan_.document = std::move(device_.text);
    return std::move(plan_);
  }

 private:
  // ---- Who waits for device work ----

  void AttachSyncs() {
    const SyncDeps deps = FindSyncDeps(device_);
    if (!deps.failure.empty()) {
      plan_.diagnostics.Count(Diag::kMissingData, Diagnostics::kNoByte, deps.failure);
    }
    if (deps.by_waiting.empty()) {
      return;
    }
    HashMap<int64_t, uint32_t> by_external_id;  // the last in time
    for (const uint32_t row : ops_.by_time) {
      by_external_id[device_.events[row].external_id] = row;
    }
    for (const uint32_t row : EventsByThread()) {
      const auto waits = deps.by_waiting.find(device_.events[row].external_id);
      if (waits != deps.by_waiting.end()) {
        Attach(device_.events[row], waits->second, by_external_id);
      }
    }
  }

  // All events, thread by thread in the order in which threads first appear.
  std::vector<uint32_t> EventsByThread() const {
    std::vector<uint32_t> rank(device_.threads, kNoOp);
    uint32_t next = 0;
    for (const uint32_t row : ops_.by_time) {
      uint32_t& own = rank[device_.events[row].thread];
      own = own == kNoOp ? next++ : own;
    }
    std::vector<uint32_t> rows = ops_.by_time;
    std::stable_sort(rows.begin(), rows.end(), [&](uint32_t a, uint32_t b) {
      return rank[device_.events[a].thread] < rank[device_.events[b].thread];
    });
    return rows;
  }

  // Attaches the wait to the next operator of any thread after the begin of `event`. (The reference
  // looks for existing waits in the wrong list, so that it only finds those of events that wait for
  // themselves; duplicates are dropped later.)
  void Attach(const DeviceEvent& event, const std::vector<int64_t>& waits_for,
              const HashMap<int64_t, uint32_t>& by_external_id) {
    const auto target = std::partition_point(
        ops_.cpu.begin(), ops_.cpu.end(), [&](const CpuOp& op) { return op.begin <= event.begin; });
    if (target == ops_.cpu.end()) {
      return;
    }
    const auto target_row = static_cast<uint32_t>(target - ops_.cpu.begin());
    for (const int64_t id : waits_for) {
      const auto start = by_external_id.find(id);
      if (start == by_external_id.end()) {
        continue;
      }
      const std::vector<uint32_t>& others = waiting_[target->event];
      if (std::none_of(others.begin(), others.end(),
                       [&](uint32_t other) { return ops_.cpu[other].event == start->second; })) {
        waiting_[start->second].push_back(target_row);
      }
    }
  }

  // ---- Host nodes ----

  void MatchHosts(const std::vector<char>& is_under) {
    op_of_host_.assign(host_.nodes.size(), kNoOp);
    host_of_op_.assign(ops_.cpu.size(), kNoOp);
    for (const uint32_t row : EachRow(host_.nodes.size())) {
      const HostNode& node = host_.nodes[row];
      if (is_under[row] == 0 || !node.rf_id.has_value()) {
        continue;
      }
      const auto found = ops_.cpu_by_rf_id.find(*node.rf_id);
      if (found != ops_.cpu_by_rf_id.end()) {
        op_of_host_[row] = found->second;
        host_of_op_[found->second] = row;
        CountMatch(node, device_.events[ops_.cpu[found->second].event]);
        waits_for_.push_back({row, HostOfRfId(ops_.cpu[found->second].waits_for)});
      }
    }
  }

  // The reference does not compare names, and treats 0 as a number: both make pairs that do not
  // belong together.
  void CountMatch(const HostNode& node, const DeviceEvent& event) {
    const auto has_escapes = [](std::string_view name) { return name.find('\\') != name.npos; };
    if (*node.rf_id == 0) {
      plan_.counts.by_zero += 1;
    } else if (node.name != event.name && !has_escapes(node.name) && !has_escapes(event.name)) {
      plan_.counts.renamed += 1;
    }
  }

  // The row of the latest node that was linked.
  uint32_t HostOfRfId(std::optional<int64_t> rf_id) const {
    const auto found = rf_id.has_value() ? ops_.cpu_by_rf_id.find(*rf_id) : ops_.cpu_by_rf_id.end();
    return found == ops_.cpu_by_rf_id.end() ? kNoOp : host_of_op_[found->second];
  }

  // Work without the id of an operator is repeated under every operator without one.
  Result<void> CheckCopies() const {
    uint64_t count = 0;
    for (const uint32_t op : op_of_host_) {
      const auto own = op == kNoOp ? gpu_of_op_.end() : gpu_of_op_.find(ops_.cpu[op].external_id);
      count += own == gpu_of_op_.end() ? 0 : own->second.size();
    }
    if (count <= kMostDevices) {
      return {};
    }
    return Error{ErrorCode::kMissingData,
                 fmt::format("by the rules of the reference {} kernels and copies would be "
                             "repeated {} times, since operators carry no \"External id\"",
                             ops_.gpu.size(), count),
                 "link without `compat`"};
  }

  void AddDevices() {
    for (const uint32_t row : EachRow(host_.nodes.size())) {
      LinkedHost& linked = plan_.hosts[row];
      linked.first_device = static_cast<uint32_t>(plan_.devices.size());
      if (op_of_host_[row] != kNoOp) {
        const CpuOp& op = ops_.cpu[op_of_host_[row]];
        linked.is_matched = true;
        linked.inclusive = op.duration.AsTime();
        linked.exclusive = op.exclusive.AsTime();
        linked.begin = op.begin.AsTime();
        if (const auto own = gpu_of_op_.find(op.external_id); own != gpu_of_op_.end()) {
          std::for_each(own->second.begin(), own->second.end(),
                        [&](uint32_t event) { AddDevice(row, event); });
        }
      }
      linked.end_device = static_cast<uint32_t>(plan_.devices.size());
    }
    for (const auto& [row, other] : waits_for_) {
      if (other != kNoOp) {
        plan_.hosts[row].inter_thread_dep = plan_.IdOf(other);
      }
    }
  }

  void AddDevice(uint32_t row, uint32_t event_row) {
    const DeviceEvent& event = device_.events[event_row];
    const auto or_null = [](std::string_view json) { return json.empty() ? "null" : json; };
    LinkedDevice device;
    device.host = row;
    device.name = event.name_json.empty() ? "\"\"" : event.name_json;
    device.phase = or_null(event.phase);
    device.stream = or_null(event.stream);
    if (event.name.find("ncclDevKernel") != std::string_view::npos) {
      device.group = event.group;
    }
    device.category = event.category;
    device.begin = event.begin.AsTime();
    device.duration = event.duration.AsTime();
    plan_.devices.push_back(device);
    event_of_device_.push_back(event_row);
  }

  // ---- Waits as the reference numbers them ----

  // The number by which the reference knows the node while it processes the node `at`: its new
  // number, if it already has one then.
  int64_t KeyOf(uint32_t node, uint32_t at) const {
    return node <= at ? plan_.IdOf(node) : host_.nodes[node].id;
  }

  // Keys are translated once more at the end, also those that are new numbers already.
  int64_t Translate(int64_t key) const {
    const std::optional<uint32_t> row = host_.Find(key);
    return row.has_value() ? plan_.IdOf(*row) : key;
  }

  void AddSyncs() {
    HashMap<int64_t, std::vector<int64_t>> by_key;
    std::vector<int64_t> keys;
    for (uint32_t i = 0; i < plan_.devices.size(); ++i) {
      for (const int64_t key : KeysOf(i)) {
        std::vector<int64_t>& ids = by_key[key];
        if (ids.empty()) {
          keys.push_back(key);
        }
        ids.push_back(plan_.IdOfDevice(i));
      }
    }
    HashMap<int64_t, int64_t> key_of_node;  // the last one counts
    for (const int64_t key : keys) {
      key_of_node[Translate(key)] = key;
    }
    for (const auto& [node, key] : key_of_node.InAnyOrder()) {  // put in order by node below
      for (const int64_t id : by_key[key]) {
        plan_.syncs.push_back({node, id});
      }
    }
    std::stable_sort(plan_.syncs.begin(), plan_.syncs.end(),
                     [](const LinkedSync& a, const LinkedSync& b) { return a.waits < b.waits; });
  }

  std::vector<int64_t> KeysOf(uint32_t device) const {
    std::vector<int64_t> keys;
    const auto waiting = waiting_.find(event_of_device_[device]);
    if (waiting == waiting_.end()) {
      return keys;
    }
    for (const uint32_t op : waiting->second) {
      if (host_of_op_[op] == kNoOp) {
        continue;
      }
      const int64_t key = KeyOf(host_of_op_[op], plan_.devices[device].host);
      if (std::find(keys.begin(), keys.end(), key) == keys.end()) {
        keys.push_back(key);
      }
    }
    return keys;
  }

  // ---- Coverage ----

  void Count() {
    LinkCounts& counts = plan_.counts;
    counts.host_nodes = host_.nodes.size();
    for (const LinkedHost& linked : plan_.hosts) {
      counts.host_matched += linked.is_matched ? 1 : 0;
      counts.thread_deps += linked.inter_thread_dep.has_value() ? 1 : 0;
    }
    std::vector<char> is_linked(device_.events.size(), 0);
    for (const uint32_t event : event_of_device_) {
      is_linked[event] = 1;
    }
    for (const uint32_t event : ops_.gpu) {
      const int64_t time = Nanoseconds(device_.events[event].duration);
      counts.device_linked += is_linked[event] != 0 ? 1 : 0;
      counts.device_orphaned += is_linked[event] != 0 ? 0 : 1;
      (is_linked[event] != 0 ? counts.linked_ns : counts.orphaned_ns) += time;
    }
    counts.sync_attached = plan_.syncs.size();
    counts.sync_found = counts.sync_attached;
  }

  const HostTrace& host_;
  DeviceTrace device_;
  SortedOps ops_;
  GpuOfOp gpu_of_op_;
  HashMap<uint32_t, std::vector<uint32_t>> waiting_;  // event -> rows of ops_.cpu
  std::vector<uint32_t> op_of_host_;
  std::vector<uint32_t> host_of_op_;
  std::vector<std::pair<uint32_t, uint32_t>> waits_for_;  // rows of nodes
  std::vector<uint32_t> event_of_device_;
  LinkPlan plan_;
};

}  // namespace

Result<LinkPlan> LinkAsChakra(const HostTrace& host, DeviceTrace device) {
  return Linker(host, std::move(device)).Link();
}

namespace {

// Below this, sums of times are exact in 64 bits and nearly exact in a double.
constexpr double kLatest = 4e18;

std::optional<Number> NumberOf(std::string_view text) {
  if (const std::optional<int64_t> whole = ParseNumber<int64_t>(text); whole.has_value()) {
    return std::abs(static_cast<double>(*whole)) < kLatest ? std::optional(Number::Int(*whole))
                                                           : std::nullopt;
  }
  const std::optional<double> value = ParseNumber<double>(text);
  const bool is_good = value.has_value() && std::abs(*value) < kLatest;
  return is_good ? std::optional(Number::Double(*value)) : std::nullopt;
}

class DeviceReader {
 public:
  explicit DeviceReader(std::string text) {
    trace_.text = std::make_unique<const std::string>(std::move(text));
  }

  Result<DeviceTrace> Read() {
    JsonCursor cursor(*trace_.text);
    std::string_view key;
    bool has_events = false;
    if (!cursor.EnterObject()) {
      return Unsupported();
    }
    while (cursor.NextMember(key)) {
      if (key == "traceEvents" && cursor.EnterArray()) {
        has_events = true;
        BS_TRY(ReadEvents(cursor));
      } else {
        static_cast<void>(cursor.Value());
      }
    }
    if (cursor.failed()) {
      return Damaged(cursor);
    }
    trace_.threads = static_cast<uint32_t>(threads_.size());
    if (const auto zero = threads_.find("0"); zero != threads_.end()) {
      trace_.thread_zero = zero->second;
    }
    return has_events ? Result<DeviceTrace>(std::move(trace_)) : Unsupported();
  }

 private:
  static Error Unsupported() {
    return {ErrorCode::kUnsupportedFormat,
            "not a trace of Kineto: it is not a JSON object with a list \"traceEvents\""};
  }
  static Error Damaged(const JsonCursor& cursor) {
    return {.code = ErrorCode::kCorrupt,
            .cause = "the text ends early or is damaged here",
            .remedy = "without `compat` it is repaired",
            .offset = cursor.offset()};
  }

  Result<void> ReadEvents(JsonCursor& cursor) {
    constexpr size_t kBytesPerEvent = 256;
    trace_.events.clear();
    trace_.events.reserve(trace_.text->size() / kBytesPerEvent);
    while (cursor.NextElement()) {
      if (!cursor.EnterObject()) {
        return Damaged(cursor);
      }
      ReadEvent(cursor);
    }
    return cursor.failed() ? Damaged(cursor) : Result<void>();
  }

  void ReadEvent(JsonCursor& cursor) {
    DeviceEvent event;
    std::string_view key;
    while (cursor.NextMember(key)) {
      if (key == "args" && cursor.EnterObject()) {
        ReadArguments(cursor, event);
      } else {
        Take(key, cursor.Value(), event);
      }
    }
    event.thread = ThreadNumber(event.tid);
    trace_.events.push_back(event);
  }

  void Take(std::string_view key, std::string_view value, DeviceEvent& event) {
    if (key == "cat") {
      event.category = StringContent(value);
    } else if (key == "name") {
      event.name = StringContent(value);
      event.name_json = value;
    } else if (key == "ph") {
      event.phase = value;
    } else if (key == "pid") {
      event.pid = value;
    } else if (key == "tid") {
      event.tid = value;
    } else if (key == "ts") {
      event.has_begin = TakeTime(value, event.begin);
    } else if (key == "dur") {
      event.has_duration = TakeTime(value, event.duration);
    }
  }

  bool TakeTime(std::string_view value, Number& time) {
    const std::optional<Number> number = NumberOf(value);
    if (!number.has_value()) {
      trace_.diagnostics.Count(Diag::kBadFieldType, Diagnostics::kNoByte, "a time");
      return false;
    }
    time = *number;
    return true;
  }

  static void ReadArguments(JsonCursor& cursor, DeviceEvent& event) {
    std::string_view key;
    while (cursor.NextMember(key)) {
      const std::string_view value = cursor.Value();
      if (key == "External id") {
        event.external_id_given = LooseIntValue(value);
        event.external_id = event.external_id_given.value_or(kNone);
      } else if (key == "Record function id") {
        event.rf_id = ParseNumber<int64_t>(value);
      } else if (key == "correlation") {
        event.correlation = ParseNumber<int64_t>(value).value_or(kNone);
      } else if (key == "stream") {
        event.stream = value;
      } else if (key == "Process Group Name") {
        event.group = value == "null" ? std::string_view() : value;
      } else if (key == "wait_on_stream") {
        event.wait_on_stream = ParseNumber<int64_t>(value).value_or(kNone);
      } else if (key == "wait_on_cuda_event_record_corr_id") {
        event.wait_on_record_correlation = ParseNumber<int64_t>(value).value_or(kNone);
      }
    }
  }

  uint32_t ThreadNumber(std::string_view tid) {
    tid = tid.empty() ? "0" : tid;
    if (tid == last_tid_) {
      return last_thread_;
    }
    last_tid_ = tid;
    last_thread_ = threads_.try_emplace(tid, static_cast<uint32_t>(threads_.size())).first->second;
    return last_thread_;
  }

  DeviceTrace trace_;
  HashMap<std::string_view, uint32_t> threads_;
  std::string_view last_tid_;
  uint32_t last_thread_ = 0;
};

}  // namespace

Result<DeviceTrace> ReadDeviceTrace(std::string text) {
  return DeviceReader(std::move(text)).Read();
}

}  // namespace borescope::internal::chakra::compat
