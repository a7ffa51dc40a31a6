#include "borescope/packs/chakra/convert/et_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <tuple>
#include <utility>

#include "borescope/base/stop.h"
#include "borescope/base/text/text.h"
#include "borescope/json/json_cursor.h"
#include "borescope/packs/chakra/convert/comm_calls.h"
#include "borescope/packs/chakra/convert/linked_trace.h"
#include "borescope/packs/chakra/et/et_check.h"
#include "borescope/packs/chakra/et/et_stream.h"
#include "borescope/packs/chakra/json/python_json.h"

namespace borescope::internal {

namespace {

constexpr size_t kMostNamed = 12;  // nodes of a circle in a message

// The place of a node in a plan whose nodes are sorted by id.
uint32_t PlaceOf(const LinkedTrace& linked, const EtPlan& plan, uint64_t id) {
  const auto found = std::lower_bound(plan.nodes.begin(), plan.nodes.end(), id,
                                      [&](const PlannedNode& node, uint64_t wanted) {
                                        return linked.nodes[node.source].id < wanted;
                                      });
  return static_cast<uint32_t>(found - plan.nodes.begin());
}

std::string NamesOf(const LinkedTrace& linked, const EtPlan& plan,
                    const std::vector<uint32_t>& cycle) {
  std::string names;
  for (size_t i = 0; i < std::min(cycle.size(), kMostNamed); ++i) {
    const LinkedNode& node = linked.nodes[plan.nodes[cycle[i]].source];
    names += fmt::format("{} ({}) -> ", node.name, node.id);
  }
  return names + (cycle.size() > kMostNamed
                      ? fmt::format("{} more", cycle.size() - kMostNamed)
                      : fmt::format("{}", linked.nodes[plan.nodes[cycle[0]].source].name));
}

void AddDocumentAttrs(const LinkedTrace& linked, EtMetadata& metadata) {
  metadata.attrs.push_back(EtAttr::String("schema", linked.schema));
  const auto add = [&](std::string_view name, const std::optional<uint64_t>& number) {
    if (number.has_value()) {
      metadata.attrs.push_back(EtAttr::Uint64(name, *number));
    }
  };
  add("pid", linked.pid);
  metadata.attrs.push_back(EtAttr::String("time", linked.time));
  add("start_ts", linked.start_ts);
  add("finish_ts", linked.finish_ts);
}

// The texts of the arguments and results of one node, whose memory is used again for the next one.
class IoTexts {
 public:
  EtIo Make(const LinkedIo& io, size_t first) {
    return {Text(io.values, first), Text(io.shapes, first + 1), Text(io.types, first + 2), true};
  }

 private:
  std::string_view Text(std::string_view json, size_t place) {
    texts_[place].clear();
    AppendPythonStr(json, texts_[place]);
    return texts_[place];
  }

  std::string texts_[6];
};

void AddSourceAttrs(const LinkedNode& source, std::vector<EtAttr>& attrs) {
  for (size_t i = 0; i < kLinkedAttrs; ++i) {
    if (source.attrs[i].has_value()) {
      attrs.push_back(EtAttr::Int64(LinkedAttrName(static_cast<LinkedAttr>(i)), *source.attrs[i]));
    }
  }
  if (source.op_schema.has_value()) {
    attrs.push_back(EtAttr::String("op_schema", *source.op_schema));
  }
  attrs.push_back(EtAttr::Bool("is_cpu_op", !source.is_device));
  if (source.stream.has_value() || !source.is_device) {
    attrs.push_back(EtAttr::Int64("stream", source.stream.value_or(0)));
  }
}

void AddCommAttrs(const PlannedNode& planned, std::vector<EtAttr>& attrs) {
  if (planned.collective.has_value()) {
    attrs.push_back(EtAttr::Int64("comm_type", static_cast<int64_t>(*planned.collective)));
  }
  if (planned.comm_bytes.has_value()) {
    attrs.push_back(EtAttr::Int64("comm_size", *planned.comm_bytes));
  }
  if (!planned.pg_name.empty()) {
    attrs.push_back(EtAttr::String("pg_name", planned.pg_name));
  }
}

// Adds attributes that the reference does not write.
void AddExactly(const PlannedNode& planned, std::vector<EtAttr>& attrs) {
  if (planned.start_ns.has_value()) {
    attrs.push_back(EtAttr::Uint64("start_time_nanos", *planned.start_ns));
  }
  if (planned.duration_ns.has_value()) {
    attrs.push_back(EtAttr::Uint64("duration_nanos", *planned.duration_ns));
  }
  if (planned.device.has_value()) {
    attrs.push_back(EtAttr::Int64("device", *planned.device));
  }
}

}  // namespace

Result<void> CheckAcyclic(const LinkedTrace& linked, const EtPlan& plan) {
  DependencyGraph graph;
  std::vector<uint32_t> deps;
  for (const PlannedNode& node : plan.nodes) {
    deps.clear();
    for (const uint64_t id : node.data_deps) {
      deps.push_back(PlaceOf(linked, plan, id));
    }
    graph.Add(deps);
  }
  const std::vector<uint32_t> cycle = graph.FindCycle();
  if (cycle.empty()) {
    return {};
  }
  return Error{ErrorCode::kCorrupt,
               fmt::format("dependencies go in a circle: {}", NamesOf(linked, plan, cycle)),
               "link the traces again with borescope link"};
}

Result<void> WriteEt(const LinkedTrace& linked, const EtPlan& plan, Sink& sink) {
  EtWriter writer(sink);
  EtMetadata metadata;
  AddDocumentAttrs(linked, metadata);
  writer.Add(metadata);
  EtNode node;
  IoTexts texts;
  for (const PlannedNode& planned : plan.nodes) {
    CheckStop();
    const LinkedNode& source = linked.nodes[planned.source];
    node.Clear();
    node.id = source.id;
    node.name = source.name;
    node.type = planned.type;
    if (planned.ctrl_dep.has_value()) {
      node.ctrl_deps.push_back(*planned.ctrl_dep);
    }
    node.data_deps = planned.data_deps;
    node.start_us = planned.start_us;
    node.duration_us = planned.duration_us;
    node.inputs = texts.Make(source.inputs, 0);
    node.outputs = texts.Make(source.outputs, 3);
    AddSourceAttrs(source, node.attrs);
    AddCommAttrs(planned, node.attrs);
    AddExactly(planned, node.attrs);
    writer.Add(node);
  }
  return writer.Finish();
}

// The rules of Borescope for a .et; docs/use/chakra.md says how they differ from the reference's,
// and why.

namespace {

constexpr double kNanosecondsPerMicrosecond = 1e3;
constexpr int64_t kMostMicroseconds = 9'000'000'000'000'000;

// Text of microseconds as nanoseconds, rounded to the nearest; nothing for text that is not a
// number.
std::optional<int64_t> NanosecondsOf(std::string_view us) {
  const std::optional<int64_t> whole = ParseNumber<int64_t>(us);
  if (whole.has_value() && *whole > -kMostMicroseconds && *whole < kMostMicroseconds) {
    return *whole * 1000;
  }
  const std::optional<double> value = ParseNumber<double>(us);
  if (!value.has_value()) {
    return std::nullopt;
  }
  // The whole part is converted separately, so that the nanoseconds of a time since 1970 are not
  // lost.
  const double floor = std::floor(*value);
  if (!(std::abs(floor) < static_cast<double>(kMostMicroseconds))) {
    return std::nullopt;
  }
  return static_cast<int64_t>(floor) * 1000 +
         std::llround((*value - floor) * kNanosecondsPerMicrosecond);
}

class EtPlanner {
 public:
  explicit EtPlanner(const LinkedTrace& linked)
      : linked_(linked), tree_(linked), host_comms_(HostComms(linked, tree_)) {}

  Result<EtPlan> Make() {
    Choose();
    AddThreadOrder();
    AddDeviceDeps();
    AddRecordedDeps();
    if (!linked_.has_stream_deps) {
      AddStreamOrder();
    }
    plan_.nodes.reserve(order_.size());
    std::sort(order_.begin(), order_.end(),
              [&](uint32_t a, uint32_t b) { return Node(a).id < Node(b).id; });
    for (const uint32_t place : order_) {
      plan_.nodes.push_back(std::move(planned_[place]));
    }
    BS_TRY(CheckAcyclic(linked_, plan_));
    return std::move(plan_);
  }

 private:
  const LinkedNode& Node(uint32_t place) const { return linked_.nodes[place]; }

  // Leaves out processes, and threads without operators, which do nothing.
  void Choose() {
    const auto count = static_cast<uint32_t>(linked_.nodes.size());
    planned_.resize(count);
    is_kept_.assign(count, 0);
    starts_.resize(count);
    for (uint32_t place = 0; place < count; ++place) {
      const bool is_container = IsThread(Node(place)) || IsProcess(Node(place));
      const bool is_loose = IsProcess(Node(place)) || tree_.Children(place).empty();
      if (is_container && is_loose) {
        plan_.counts.containers += 1;
        continue;
      }
      is_kept_[place] = 1;
      order_.push_back(place);
    }
    for (const uint32_t place : order_) {
      Describe(place);
    }
  }

  void Describe(uint32_t place) {
    const LinkedNode& node = Node(place);
    PlannedNode& planned = planned_[place];
    planned.source = place;
    planned.type = EtNodeType::kComp;
    planned.device = node.device;
    const std::optional<uint32_t> parent = tree_.Parent(place);
    if (parent.has_value() && *parent != place && is_kept_[*parent] != 0) {
      planned.ctrl_dep = node.parent;
    }
    SetTimes(node, place, planned);
    if (node.name.find("process_group:init") != std::string_view::npos) {
      planned.type = EtNodeType::kMetadata;
    } else if (IsCommKernel(node)) {
      SetCommunication(DescribeComm(linked_, tree_, place), planned);
    } else if (host_comms_[place] != 0) {
      SetCommunication(DescribeHostComm(linked_, tree_, place), planned);
    }
  }

  void SetTimes(const LinkedNode& node, uint32_t place, PlannedNode& planned) {
    starts_[place] = NanosecondsOf(node.ts_us);
    if (starts_[place].value_or(-1) >= 0) {
      planned.start_ns = static_cast<uint64_t>(*starts_[place]);
      planned.start_us = *planned.start_ns / 1000;
    }
    if (node.exclusive_us.empty()) {
      return;
    }
    const std::optional<int64_t> duration = NanosecondsOf(node.exclusive_us);
    plan_.counts.bad_durations += duration.value_or(-1) < 0 ? 1 : 0;
    planned.duration_ns = static_cast<uint64_t>(std::max<int64_t>(duration.value_or(0), 0));
    planned.duration_us = (*planned.duration_ns + 500) / 1000;
  }

  void SetCommunication(const std::optional<CommCall>& call, PlannedNode& planned) {
    if (!call.has_value()) {
      plan_.counts.unknown_collectives += 1;
      return;
    }
    planned.type = call->type;
    planned.collective = call->collective;
    planned.comm_bytes = call->bytes.value_or(0);
    planned.pg_name = call->pg_name;
    plan_.counts.unknown_sizes += call->bytes.has_value() ? 0 : 1;
  }

  void AddDep(uint32_t place, uint64_t id) {
    std::vector<uint64_t>& deps = planned_[place].data_deps;
    if (std::find(deps.begin(), deps.end(), id) == deps.end()) {
      deps.push_back(id);
    }
  }

  // The operators of a thread follow each other in the order in which they began. Operators that
  // are not below a thread are a thread of their own, also those whose parents are circular.
  void AddThreadOrder() {
    std::vector<char> is_done(linked_.nodes.size(), 0);
    for (const uint32_t place : order_) {
      if (IsThread(Node(place))) {
        AddThread(place, is_done);
      }
    }
    for (const uint32_t place : order_) {
      if (is_done[place] == 0 && !Node(place).is_device && IsTop(place)) {
        plan_.counts.unreached += AddThread(place, is_done);
      }
    }
    std::vector<char> is_passed(linked_.nodes.size(), 0);
    for (const uint32_t place : order_) {
      if (is_done[place] == 0 && !Node(place).is_device) {
        plan_.counts.unreached += AddThread(Uppermost(place, is_passed), is_done);
      }
    }
  }

  // The ancestor without a parent, or one of a circle of parents: all other nodes around are below
  // it.
  uint32_t Uppermost(uint32_t place, std::vector<char>& is_passed) const {
    while (!IsTop(place) && is_passed[place] == 0) {
      is_passed[place] = 1;
      place = *tree_.Parent(place);
    }
    return place;
  }

  bool IsTop(uint32_t place) const { return !planned_[place].ctrl_dep.has_value(); }

  // Returns the number of operators in it.
  uint64_t AddThread(uint32_t root, std::vector<char>& is_done) {
    uint64_t count = 0;
    std::optional<uint64_t> last;
    for (const uint32_t place : tree_.Preorder(root)) {
      if (is_done[place] != 0 || is_kept_[place] == 0 || Node(place).is_device) {
        continue;
      }
      is_done[place] = 1;
      count += 1;
      if (last.has_value()) {
        AddDep(place, *last);
      }
      last = Node(place).id;
    }
    return count;
  }

  // Device work follows its operator.
  void AddDeviceDeps() {
    for (const uint32_t place : order_) {
      if (!Node(place).is_device) {
        continue;
      }
      if (planned_[place].ctrl_dep.has_value()) {
        AddDep(place, Node(place).parent);
      } else {
        plan_.counts.orphaned_device += 1;
      }
    }
  }

  // Whether `earlier` began first; without times, by number. A dependency on anything else could
  // close a circle.
  bool IsBefore(uint32_t earlier, uint32_t later) const {
    const auto key = [&](uint32_t place, bool with_time) {
      return std::tuple(with_time ? *starts_[place] : 0, Node(place).id);
    };
    const bool with_time = starts_[earlier].has_value() && starts_[later].has_value();
    return key(earlier, with_time) < key(later, with_time);
  }

  // Adds a dependency that the document names, if it is possible; `kept` counts it then.
  void AddRecorded(uint32_t place, uint64_t id, uint64_t* kept) {
    const std::optional<uint32_t> target = tree_.Find(id);
    if (!target.has_value() || is_kept_[*target] == 0) {
      plan_.counts.dangling_deps += 1;
    } else if (!IsBefore(*target, place)) {
      plan_.counts.backward_deps += 1;
    } else {
      AddDep(place, id);
      if (kept != nullptr) {
        *kept += 1;
      }
    }
  }

  void AddRecordedDeps() {
    for (const uint32_t place : order_) {
      CheckStopAt(place);
      const LinkedNode& node = Node(place);
      // Device work has the dependency of its operator, on which it depends itself.
      if (!node.is_device && node.inter_thread_dep.has_value()) {
        AddRecorded(place, *node.inter_thread_dep, nullptr);
      }
      for (const uint64_t id : linked_.Ids(node.sync_deps)) {
        AddRecorded(place, id, &plan_.counts.sync_deps);
      }
      for (const uint64_t id : linked_.Ids(node.stream_deps)) {
        AddRecorded(place, id, &plan_.counts.stream_deps);
      }
    }
  }

  // Streams have numbers of their own on every device.
  std::pair<int64_t, int64_t> StreamOf(uint32_t place) const {
    return {Node(place).device.value_or(0), Node(place).stream.value_or(0)};
  }

  // A stream does one thing after the other. If the document does not record the order, it follows
  // from times.
  void AddStreamOrder() {
    std::vector<uint32_t> places;
    for (const uint32_t place : order_) {
      if (Node(place).is_device && Node(place).stream.has_value() && starts_[place].has_value()) {
        places.push_back(place);
      }
    }
    std::sort(places.begin(), places.end(), [&](uint32_t a, uint32_t b) {
      return std::tuple(StreamOf(a), *starts_[a], Node(a).id) <
             std::tuple(StreamOf(b), *starts_[b], Node(b).id);
    });
    for (size_t i = 1; i < places.size(); ++i) {
      if (StreamOf(places[i]) == StreamOf(places[i - 1])) {
        AddDep(places[i], Node(places[i - 1]).id);
        plan_.counts.stream_deps += 1;
      }
    }
  }

  const LinkedTrace& linked_;
  const LinkedTree tree_;
  std::vector<char> host_comms_;                // per place
  std::vector<PlannedNode> planned_;            // by place in the document
  std::vector<char> is_kept_;                   // likewise
  std::vector<std::optional<int64_t>> starts_;  // likewise, in nanoseconds
  std::vector<uint32_t> order_;                 // the nodes that are kept
  EtPlan plan_;
};

}  // namespace

Result<EtPlan> PlanEt(const LinkedTrace& linked) { return EtPlanner(linked).Make(); }

// The rules of chakra_converter PyTorch of MLCommons Chakra 21585d8, including its defects: no
// dependency on device work is ever written, and unknown collectives end the conversion.

namespace {

constexpr std::string_view kSchemas[] = {"1.0.2-chakra.0.0.4", "1.0.3-chakra.0.0.4",
                                         "1.1.0-chakra.0.0.4", "1.1.1-chakra.0.0.4"};

Error Refusal(std::string cause, std::string remedy = {}) {
  return {ErrorCode::kCorrupt, std::move(cause), std::move(remedy)};
}

// The duration in whole microseconds, cut off, as the reference writes it.
Result<uint64_t> DurationOf(const LinkedNode& node) {
  if (node.exclusive_us.empty() || Contains(node.name, "Optimizer.step")) {
    return uint64_t{0};
  }
  const std::optional<double> value = ParseNumber<double>(node.exclusive_us);
  if (!value.has_value() || !(*value > -1 && *value < 18446744073709551616.0)) {
    return Refusal(
        fmt::format("node {}: exclusive_dur {} is not a duration", node.id, node.exclusive_us));
  }
  return static_cast<uint64_t>(std::max(*value, 0.0));
}

struct SpellingRow {
  std::string_view part;
  EtCollective kind;
};

std::optional<EtCollective> CollectiveOf(std::string_view kernel) {
  constexpr SpellingRow kSpellings[] = {{"allreduce", EtCollective::kAllReduce},
                                        {"alltoall", EtCollective::kAllToAll},
                                        {"allgather", EtCollective::kAllGather},
                                        {"reducescatter", EtCollective::kReduceScatter},
                                        {"broadcast", EtCollective::kBroadcast}};
  std::string plain;
  for (const char c : kernel) {
    if (c != '_' && c != '-') {
      plain += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    }
  }
  for (const SpellingRow& row : kSpellings) {
    if (Contains(plain, row.part)) {
      return row.kind;
    }
  }
  return Contains(kernel, "ncclDevKernel_SendRecv") ? std::optional(EtCollective::kAllToAll)
                                                    : std::nullopt;
}

int64_t TensorBytes(std::string_view tensor) {
  const std::vector<std::string_view> parts = ElementsOf(tensor);
  if (parts.size() < 5) {
    return 0;
  }
  const auto elems = static_cast<uint64_t>(ParseNumber<int64_t>(parts[3]).value_or(0));
  return static_cast<int64_t>(elems *
                              static_cast<uint64_t>(ParseNumber<int64_t>(parts[4]).value_or(0)));
}

// The bytes of all tensors among the arguments.
int64_t CommBytes(const LinkedNode& node) {
  const std::vector<std::string_view> values = ElementsOf(node.inputs.values);
  const std::vector<std::string_view> types = ElementsOf(node.inputs.types);
  uint64_t bytes = 0;
  for (size_t i = 0; i < std::min(values.size(), types.size()); ++i) {
    if (types[i].starts_with("\"GenericList[Tensor")) {
      for (const std::string_view tensor : ElementsOf(values[i])) {
        bytes += static_cast<uint64_t>(TensorBytes(tensor));
      }
    } else if (Contains(types[i], "Tensor")) {
      bytes += static_cast<uint64_t>(TensorBytes(values[i]));
    }
  }
  return static_cast<int64_t>(bytes);
}

class ReferencePlan {
 public:
  explicit ReferencePlan(const LinkedTrace& linked) : linked_(linked), tree_(linked) {}

  Result<EtPlan> Make() {
    BS_TRY(CheckDocument());
    BS_TRY(ConvertAll());
    AddDataDependencies();
    BS_TRY(DropLooseNodes());
    std::sort(plan_.nodes.begin(), plan_.nodes.end(),
              [&](const PlannedNode& a, const PlannedNode& b) { return IdOf(a) < IdOf(b); });
    BS_TRY(CheckCycles());
    return std::move(plan_);
  }

 private:
  static constexpr uint32_t kNone = ~uint32_t{0};

  const LinkedNode& Source(const PlannedNode& node) const { return linked_.nodes[node.source]; }
  uint64_t IdOf(const PlannedNode& node) const { return Source(node).id; }

  Result<void> CheckDocument() const {
    if (std::find(std::begin(kSchemas), std::end(kSchemas), linked_.schema) == std::end(kSchemas)) {
      return Error{
          ErrorCode::kUnsupportedFormat,
          fmt::format("schema \"{}\" is not one that the reference converts", linked_.schema),
          "leave out `compat` chakra"};
    }
    if (!linked_.pid || !linked_.start_ts || !linked_.finish_ts) {
      return Refusal("pid, start_ts or finish_ts is missing", "leave out `compat` chakra");
    }
    return {};
  }

  // Operators in the order of the document, each followed by its device work.
  Result<void> ConvertAll() {
    planned_.assign(linked_.nodes.size(), kNone);
    for (uint32_t i = 0; i < linked_.nodes.size(); ++i) {
      if (linked_.nodes[i].is_device) {
        continue;
      }
      BS_TRY(Convert(i));
      for (const uint32_t child : tree_.Children(i)) {
        if (linked_.nodes[child].is_device) {
          BS_TRY(Convert(child));
        }
      }
    }
    return {};
  }

  Result<void> Convert(uint32_t place) {
    const LinkedNode& node = linked_.nodes[place];
    PlannedNode planned;
    planned.source = place;
    BS_TRY(CheckAttrs(node));
    BS_ASSIGN(planned.duration_us, DurationOf(node));
    const std::optional<uint32_t> parent = tree_.Parent(place);
    if (parent.has_value() && planned_[*parent] != kNone) {
      planned.ctrl_dep = node.parent;
    }
    planned.pg_name = node.pg_name;
    BS_ASSIGN(planned.type, TypeOf(place, planned.pg_name));
    BS_TRY(AddCommunication(node, planned));
    planned_[place] = static_cast<uint32_t>(plan_.nodes.size());
    plan_.nodes.push_back(std::move(planned));
    return {};
  }

  static Result<void> CheckAttrs(const LinkedNode& node) {
    for (size_t i = 0; i < kLinkedAttrs; ++i) {
      if (!node.attrs[i].has_value()) {
        return Refusal(fmt::format("node {}: attribute {} is missing or no number of 64 bits",
                                   node.id, LinkedAttrName(static_cast<LinkedAttr>(i))));
      }
    }
    if (!node.op_schema.has_value()) {
      return Refusal(fmt::format("node {}: attribute op_schema is missing", node.id));
    }
    return {};
  }

  Result<EtNodeType> TypeOf(uint32_t place, std::string_view& pg_name) const {
    const LinkedNode& node = linked_.nodes[place];
    if (Contains(node.name, "process_group:init")) {
      return EtNodeType::kMetadata;
    }
    if (!node.is_device) {
      return EtNodeType::kComp;
    }
    if (Contains(node.name, "ncclDevKernel_SendRecv")) {
      return SendRecvType(place, pg_name);
    }
    const bool is_collective =
        Contains(node.name, "ncclKernel") || Contains(node.name, "ncclDevKernel");
    return is_collective ? EtNodeType::kCommColl : EtNodeType::kComp;
  }

  Result<EtNodeType> SendRecvType(uint32_t place, std::string_view& pg_name) const {
    const LinkedNode& parent = linked_.nodes[*tree_.Parent(place)];
    std::string_view keyword = parent.name;
    if (parent.name == "record_param_comms") {
      pg_name = parent.pg_name.empty() ? pg_name : parent.pg_name;
      const std::optional<uint32_t> grandparent = tree_.Parent(*tree_.Parent(place));
      if (!grandparent.has_value()) {
        return Refusal(fmt::format("node {}: its parent is missing", parent.id));
      }
      keyword = linked_.nodes[*grandparent].name;
    }
    return Contains(keyword, "send")              ? EtNodeType::kCommSend
           : Contains(keyword, "recv")            ? EtNodeType::kCommRecv
           : Contains(keyword, "nccl:all_to_all") ? EtNodeType::kCommColl
                                                  : EtNodeType::kComp;
  }

  static Result<void> AddCommunication(const LinkedNode& node, PlannedNode& planned) {
    if (planned.type == EtNodeType::kCommColl) {
      planned.collective = CollectiveOf(node.name);
      if (!planned.collective.has_value()) {
        return Refusal(fmt::format("node {}: '{}' is not a collective that the reference knows",
                                   node.id, node.name),
                       "leave out `compat` chakra");
      }
    }
    if (planned.type >= EtNodeType::kCommSend) {
      planned.comm_bytes = CommBytes(node);
    } else {
      planned.pg_name = {};
    }
    return {};
  }

  void AddDataDependencies() {
    for (const PlannedNode& root : std::vector<PlannedNode>(plan_.nodes)) {
      if (IsThread(Source(root))) {
        AddThread(root.source);
      }
    }
  }

  static void AddOnce(uint64_t id, std::vector<uint64_t>& ids) {
    if (std::find(ids.begin(), ids.end(), id) == ids.end()) {
      ids.push_back(id);
    }
  }

  // Adds one chain of the operators of a thread; device work follows its operator, and nothing
  // follows device work.
  void AddThread(uint32_t root) {
    std::optional<uint64_t> last;
    for (const uint32_t place : tree_.Preorder(root)) {
      if (planned_[place] == kNone) {
        continue;
      }
      const LinkedNode& node = linked_.nodes[place];
      std::vector<uint64_t>& deps = plan_.nodes[planned_[place]].data_deps;
      if (!node.is_device && node.inter_thread_dep.value_or(0) != 0) {
        AddOnce(*node.inter_thread_dep, deps);
      }
      if (last.has_value()) {
        AddOnce(*last, deps);
      }
      if (!node.is_device) {
        last = node.id;
      }
    }
  }

  // Drops nodes without dependencies and dependents. The dependencies of others must exist.
  Result<void> DropLooseNodes() {
    std::vector<char> is_needed(plan_.nodes.size(), 0);
    for (const PlannedNode& node : plan_.nodes) {
      for (const uint64_t dep : node.data_deps) {
        const std::optional<uint32_t> target = tree_.Find(dep);
        if (!target.has_value() || planned_[*target] == kNone) {
          return Refusal(
              fmt::format("node {} depends on node {}, which is not there", IdOf(node), dep),
              "leave out `compat` chakra");
        }
        is_needed[planned_[*target]] = 1;
      }
    }
    std::vector<PlannedNode> kept;
    kept.reserve(plan_.nodes.size());
    for (size_t i = 0; i < plan_.nodes.size(); ++i) {
      if (is_needed[i] != 0 || !plan_.nodes[i].data_deps.empty()) {
        kept.push_back(std::move(plan_.nodes[i]));
      }
    }
    plan_.nodes = std::move(kept);
    return {};
  }

  Result<void> CheckCycles() const { return CheckAcyclic(linked_, plan_); }

  const LinkedTrace& linked_;
  const LinkedTree tree_;
  std::vector<uint32_t> planned_;  // by place in the document: place in the plan
  EtPlan plan_;
};

}  // namespace

Result<EtPlan> PlanEtAsReference(const LinkedTrace& linked) { return ReferencePlan(linked).Make(); }

}  // namespace borescope::internal
