#include "borescope/packs/chakra/convert/comm_calls.h"

#include <algorithm>
#include <vector>

#include "borescope/analysis/measures/collectives.h"
#include "borescope/base/each_row.h"
#include "borescope/base/text/text.h"
#include "borescope/index/names/kernel_class.h"
#include "borescope/json/json_cursor.h"
#include "borescope/json/json_string.h"

namespace borescope::internal {
namespace {

// record_param_comms and the operators of c10d around it.
constexpr size_t kMostCalls = 4;

// The node itself, which has the arguments of its operator, and the calls above.
std::vector<const LinkedNode*> CallsOf(const LinkedTrace& linked, const LinkedTree& tree,
                                       uint32_t node) {
  std::vector<const LinkedNode*> calls = {&linked.nodes[node]};
  for (std::optional<uint32_t> place = tree.Parent(node);
       place.has_value() && calls.size() <= kMostCalls; place = tree.Parent(*place)) {
    calls.push_back(&linked.nodes[*place]);
  }
  return calls;
}

// Older versions of record_param_comms, without attributes for it, have the name among their
// arguments.
CollectiveKind KindOfArguments(const LinkedNode& call) {
  if (call.name != "record_param_comms") {
    return CollectiveKind::kUnknown;
  }
  for (const std::string_view value : ElementsOf(call.inputs.values)) {
    const CollectiveKind kind = KindOfRecordedName(StringContent(value));
    if (kind != CollectiveKind::kUnknown) {
      return kind;
    }
  }
  return CollectiveKind::kUnknown;
}

CollectiveKind KindOfCall(const LinkedNode& call) {
  const CollectiveKind recorded = KindOfRecordedName(call.collective_name);
  if (recorded != CollectiveKind::kUnknown) {
    return recorded;
  }
  const CollectiveKind argument = KindOfArguments(call);
  return argument != CollectiveKind::kUnknown ? argument : KindOfOperatorName(call.name);
}

bool IsVague(CollectiveKind kind) {
  return kind == CollectiveKind::kUnknown || kind == CollectiveKind::kSendRecv;
}

// Kernels show what runs, and calls what it is for: a barrier runs as an all-reduce, an all-to-all
// as sends and receives, and everything of RCCL as "Generic".
CollectiveKind KindOf(const std::vector<const LinkedNode*>& calls) {
  const CollectiveKind by_kernel = KindOfKernelName(calls.front()->name);
  for (const LinkedNode* call : calls) {
    const CollectiveKind by_call = KindOfCall(*call);
    if (by_call == CollectiveKind::kBarrier || (IsVague(by_kernel) && !IsVague(by_call))) {
      return by_call;
    }
  }
  return by_kernel;
}

std::optional<EtCollective> EtKindOf(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::kAllReduce:
      return EtCollective::kAllReduce;
    case CollectiveKind::kAllGather:
      return EtCollective::kAllGather;
    case CollectiveKind::kReduceScatter:
      return EtCollective::kReduceScatter;
    case CollectiveKind::kAllToAll:
      return EtCollective::kAllToAll;
    case CollectiveKind::kBroadcast:
      return EtCollective::kBroadcast;
    case CollectiveKind::kReduce:
      return EtCollective::kReduce;
    case CollectiveKind::kGather:
      return EtCollective::kGather;
    case CollectiveKind::kScatter:
      return EtCollective::kScatter;
    case CollectiveKind::kBarrier:
      return EtCollective::kBarrier;
    default:
      return std::nullopt;
  }
}

std::optional<int64_t> Product(int64_t a, int64_t b) {
  int64_t product = 0;
  const bool fits = a >= 0 && b >= 0 && !__builtin_mul_overflow(a, b, &product);
  return fits ? std::optional(product) : std::nullopt;
}

std::optional<int64_t> RecordedBytes(const LinkedNode& call, CollectiveKind kind) {
  const std::optional<int64_t> element = ElementBytes(call.dtype);
  const bool takes_output = kind == CollectiveKind::kRecv || call.in_elems.value_or(0) == 0;
  const std::optional<int64_t> elems = takes_output ? call.out_elems : call.in_elems;
  return element && elems ? Product(*elems, *element) : std::nullopt;
}

// The tensors of one argument, which may be a list of them.
std::optional<int64_t> ArgumentBytes(std::string_view type, std::string_view value) {
  if (!type.starts_with("\"GenericList[Tensor")) {
    return TensorBytes(value);
  }
  int64_t sum = 0;
  for (const std::string_view tensor : ElementsOf(value)) {
    const std::optional<int64_t> bytes = TensorBytes(tensor);
    if (!bytes.has_value() || __builtin_add_overflow(sum, *bytes, &sum)) {
      return std::nullopt;
    }
  }
  return sum;
}

// The bytes of the first argument that consists of tensors; later ones are for the result.
std::optional<int64_t> FirstTensorBytes(const LinkedNode& call) {
  const std::vector<std::string_view> values = ElementsOf(call.inputs.values);
  const std::vector<std::string_view> types = ElementsOf(call.inputs.types);
  for (size_t i = 0; i < std::min(values.size(), types.size()); ++i) {
    if (types[i].find("Tensor") != std::string_view::npos) {
      return ArgumentBytes(types[i], values[i]);
    }
  }
  return std::nullopt;
}

// In operators of c10d, the tensors that a rank contributes come after those for the result, if
// both differ.
bool HasResultFirst(std::string_view name, CollectiveKind kind) {
  return name.starts_with("c10d::") &&
         (kind == CollectiveKind::kAllGather || kind == CollectiveKind::kReduceScatter ||
          kind == CollectiveKind::kAllToAll || kind == CollectiveKind::kGather ||
          kind == CollectiveKind::kScatter);
}

// The bytes of the arguments that consist of tensors; lists of lists have no size here.
std::optional<int64_t> InputBytes(const LinkedNode& call, CollectiveKind kind) {
  const std::vector<std::string_view> values = ElementsOf(call.inputs.values);
  const std::vector<std::string_view> types = ElementsOf(call.inputs.types);
  bool is_result = HasResultFirst(call.name, kind);
  for (size_t i = 0; i < std::min(values.size(), types.size()); ++i) {
    if (types[i].find("Tensor") == std::string_view::npos) continue;
    if (!is_result) return ArgumentBytes(types[i], values[i]);
    is_result = false;
  }
  return std::nullopt;
}

template <class Find>
auto FirstOf(const std::vector<const LinkedNode*>& calls, Find find) {
  auto found = find(*calls.front());
  for (size_t i = 1; i < calls.size() && !found; ++i) {
    found = find(*calls[i]);
  }
  return found;
}

std::optional<int64_t> BytesOf(const std::vector<const LinkedNode*>& calls, CollectiveKind kind) {
  if (kind == CollectiveKind::kBarrier) {
    return 0;
  }
  const auto recorded =
      FirstOf(calls, [kind](const LinkedNode& call) { return RecordedBytes(call, kind); });
  return recorded.has_value() ? recorded : FirstOf(calls, FirstTensorBytes);
}

std::optional<int64_t> HostBytes(const std::vector<const LinkedNode*>& calls, CollectiveKind kind) {
  const auto recorded =
      FirstOf(calls, [kind](const LinkedNode& call) { return RecordedBytes(call, kind); });
  return recorded.has_value()
             ? recorded
             : FirstOf(calls, [kind](const LinkedNode& call) { return InputBytes(call, kind); });
}

// Whether the operator records what it communicates.
bool Asks(const LinkedNode& node) {
  const CollectiveKind kind = KindOfCall(node);
  return IsCommunicationOperator(node.name) && !IsVague(kind);
}

// The nearest calls around a node.
std::vector<uint32_t> Above(const LinkedTree& tree, uint32_t node) {
  std::vector<uint32_t> above;
  for (std::optional<uint32_t> place = tree.Parent(node);
       place.has_value() && above.size() < kMostCalls; place = tree.Parent(*place)) {
    above.push_back(*place);
  }
  return above;
}

// "0" of ["0", "default_pg"], an argument of record_param_comms since schema 1.0.3.
std::string_view GroupArgument(const LinkedNode& call) {
  if (call.name != "record_param_comms") {
    return {};
  }
  const std::vector<std::string_view> values = ElementsOf(call.inputs.values);
  const std::vector<std::string_view> types = ElementsOf(call.inputs.types);
  for (size_t i = 0; i < std::min(values.size(), types.size()); ++i) {
    const std::vector<std::string_view> parts = ElementsOf(values[i]);
    if (types[i] == "\"Tuple[String,String]\"" && !parts.empty()) {
      return StringContent(parts.front());
    }
  }
  return {};
}

std::string_view GroupOf(const std::vector<const LinkedNode*>& calls) {
  for (const LinkedNode* call : calls) {
    const std::string_view group = call->pg_name.empty() ? GroupArgument(*call) : call->pg_name;
    if (!group.empty()) {
      return group;
    }
  }
  return {};
}

}  // namespace

bool IsCommKernel(const LinkedNode& node) {
  return node.is_device && ClassifyKernel(node.name) == KernelClass::kCollective;
}

std::optional<CommCall> DescribeComm(const LinkedTrace& linked, const LinkedTree& tree,
                                     uint32_t node) {
  const std::vector<const LinkedNode*> calls = CallsOf(linked, tree, node);
  const CollectiveKind kind = KindOf(calls);
  CommCall call;
  call.collective = EtKindOf(kind);
  if (kind == CollectiveKind::kSend || kind == CollectiveKind::kRecv) {
    call.type = kind == CollectiveKind::kSend ? EtNodeType::kCommSend : EtNodeType::kCommRecv;
  } else if (!call.collective.has_value()) {
    return std::nullopt;
  }
  call.bytes = BytesOf(calls, kind);
  call.pg_name = GroupOf(calls);
  return call;
}

std::vector<char> HostComms(const LinkedTrace& linked, const LinkedTree& tree) {
  const auto count = static_cast<uint32_t>(linked.nodes.size());
  std::vector<char> is_event(count, 0);
  std::vector<char> asks(count, 0);
  bool has_events = false;
  bool has_kernels = false;
  for (const uint32_t node : EachRow(count)) {
    const LinkedNode& call = linked.nodes[node];
    is_event[node] = !call.is_device && IsHostCollective(call.name) ? 1 : 0;
    asks[node] = !call.is_device && Asks(call) ? 1 : 0;
    has_events = has_events || is_event[node] != 0;
    has_kernels = has_kernels || IsCommKernel(call);
  }
  if (has_events) return is_event;
  std::vector<char> is_request(count, 0);
  for (uint32_t node = 0; node < count && !has_kernels; ++node) {
    const std::vector<uint32_t> above = Above(tree, node);
    const bool is_inside =
        std::ranges::any_of(above, [&](uint32_t call) { return asks[call] != 0; });
    is_request[node] = asks[node] != 0 && !is_inside ? 1 : 0;
  }
  return is_request;
}

CommCall DescribeHostComm(const LinkedTrace& linked, const LinkedTree& tree, uint32_t node) {
  std::vector<const LinkedNode*> calls = {&linked.nodes[node]};
  for (const uint32_t child : tree.Children(node)) {
    calls.push_back(&linked.nodes[child]);
  }
  const CollectiveKind kind = KindOfCall(*calls.front());
  CommCall call;
  call.collective = EtKindOf(kind);
  if (kind == CollectiveKind::kSend || kind == CollectiveKind::kRecv) {
    call.type = kind == CollectiveKind::kSend ? EtNodeType::kCommSend : EtNodeType::kCommRecv;
  }
  call.bytes = kind == CollectiveKind::kBarrier ? 0 : HostBytes(calls, kind);
  call.pg_name = GroupOf(calls);
  return call;
}

std::optional<int64_t> TensorBytes(std::string_view tensor_json) {
  const std::vector<std::string_view> parts = ElementsOf(tensor_json);
  if (parts.size() < 5) {
    return std::nullopt;
  }
  const std::optional<int64_t> elems = ParseNumber<int64_t>(parts[3]);
  const std::optional<int64_t> element = ParseNumber<int64_t>(parts[4]);
  return elems && element ? Product(*elems, *element) : std::nullopt;
}

}  // namespace borescope::internal
