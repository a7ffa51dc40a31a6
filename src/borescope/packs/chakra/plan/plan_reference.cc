// The rules of chakra_converter PyTorch of MLCommons Chakra 21585d8, defects included: no
// dependency on device work is ever written, unknown collectives end the conversion.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "borescope/base/text/text.h"
#include "borescope/json/json_cursor.h"
#include "borescope/packs/chakra/check/et_graph.h"
#include "borescope/packs/chakra/linked/linked_tree.h"
#include "borescope/packs/chakra/plan/et_plan.h"

namespace borescope::internal {
namespace {

constexpr std::string_view kSchemas[] = {"1.0.2-chakra.0.0.4", "1.0.3-chakra.0.0.4",
                                         "1.1.0-chakra.0.0.4", "1.1.1-chakra.0.0.4"};

Error Refusal(std::string cause, std::string remedy = {}) {
  return {ErrorCode::kCorrupt, std::move(cause), std::move(remedy)};
}

// The place a .et counts from: whole microseconds, cut off.
Result<uint64_t> DurationOf(const LinkedNode& node) {
  if (node.exclusive_us.empty() || Contains(node.name, "Optimizer.step")) {
    return uint64_t{0};
  }
  const std::optional<double> value = ParseNumber<double>(node.exclusive_us);
  if (!value.has_value() || !(*value > -1 && *value < 18446744073709551616.0)) {
    return Refusal(
        fmt::format("node {}: exclusive_dur {} is no duration", node.id, node.exclusive_us));
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

// Bytes of all tensors among the arguments.
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
      return Error{ErrorCode::kUnsupportedFormat,
                   fmt::format("schema \"{}\" is none that the reference converts", linked_.schema),
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
        return Refusal(fmt::format("node {}: '{}' is no collective that the reference knows",
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

  // One chain of the operators of a thread; device work follows its operator and leads nowhere.
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

  // Drops what depends on nothing and nothing depends on. A dependency must be there.
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
