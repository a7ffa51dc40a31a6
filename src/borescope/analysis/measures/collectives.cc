#include "borescope/analysis/measures/collectives.h"

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <utility>

#include "borescope/analysis/core/grouper.h"
#include "borescope/analysis/core/reduce.h"
#include "borescope/analysis/core/selection/selection.h"
#include "borescope/base/each_row.h"
#include "borescope/base/saturating.h"
#include "borescope/base/stop.h"
#include "borescope/base/text/text.h"
#include "borescope/index/steps/steps.h"
#include "borescope/opmodel/op_costs.h"
#include "borescope/opmodel/values/op_args.h"
#include "borescope/trace/tables.h"

namespace borescope::internal {

namespace {

struct SpellingRow {
  CollectiveKind kind;
  std::string_view
      words;  // in lower case, separated by '|': the row matches names that contain any of them
};

// The first match counts, so longer words come before the words that they contain.
constexpr SpellingRow kSpellings[] = {
    {CollectiveKind::kBarrier, "barrier"},
    {CollectiveKind::kAllReduce, "allreduce|all_reduce"},
    {CollectiveKind::kReduceScatter, "reduce_scatter|reducescatter"},
    {CollectiveKind::kAllGather, "allgather|all_gather"},
    {CollectiveKind::kAllToAll, "all_to_all|alltoall|all2all"},
    {CollectiveKind::kBroadcast, "broadcast"},
    {CollectiveKind::kSendRecv, "sendrecv|send_recv|batch_isend_irecv"},
    {CollectiveKind::kSend, "send"},
    {CollectiveKind::kRecv, "recv"},
    {CollectiveKind::kGather, "gather"},
    {CollectiveKind::kScatter, "scatter"},
    {CollectiveKind::kReduce, "reduce"},
};

// Kernels of inference engines, which have names of their own.
constexpr SpellingRow kKernelSpellings[] = {
    {CollectiveKind::kUnknown, "onerankreduce"},
    {CollectiveKind::kAllReduce,
     "cross_device_reduce|one_shot_all|two_shot_all|oneshotall|twoshotall|quickreduce|ar_fusion|"
     "lamport"},
};

// The prefixes of events of PyTorch's ProcessGroupGloo, ProcessGroupMPI and ProcessGroupUCC.
constexpr std::string_view kHostPrefixes[] = {"gloo:", "mpi:", "ucc:"};

constexpr std::string_view kOperatorPrefixes[] = {"nccl:",
                                                  "xccl:",
                                                  "c10d::",
                                                  "c10d_functional::",
                                                  "_c10d_functional::",
                                                  "symm_mem::",
                                                  "record_param_comms"};

bool HasAny(std::string_view text, std::string_view words) {
  while (!words.empty()) {
    const size_t bar = std::min(words.find('|'), words.size());
    if (Contains(text, words.substr(0, bar))) {
      return true;
    }
    words.remove_prefix(std::min(bar + 1, words.size()));
  }
  return false;
}

bool HasPrefix(std::string_view name, std::span<const std::string_view> prefixes) {
  return std::ranges::any_of(prefixes,
                             [name](std::string_view prefix) { return name.starts_with(prefix); });
}

template <size_t N>
const SpellingRow* FindSpelling(const SpellingRow (&rows)[N], std::string_view lower) {
  const SpellingRow* found = std::find_if(
      rows, rows + N, [lower](const SpellingRow& row) { return HasAny(lower, row.words); });
  return found == rows + N ? nullptr : found;
}

}  // namespace

std::string_view CollectiveKindName(CollectiveKind kind) {
  constexpr std::string_view kNames[] = {
      "all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast", "reduce", "gather",
      "scatter",    "send",       "recv",           "send_recv",  "barrier",   "unknown"};
  static_assert(std::size(kNames) == static_cast<size_t>(CollectiveKind::kCount));
  return kNames[static_cast<size_t>(kind)];
}

CollectiveKind KindOfRecordedName(std::string_view name) {
  const SpellingRow* row = FindSpelling(kSpellings, LowerCase(name));
  return row == nullptr ? CollectiveKind::kUnknown : row->kind;
}

bool IsHostCollective(std::string_view name) {
  return HasPrefix(name, kHostPrefixes) && KindOfRecordedName(name) != CollectiveKind::kUnknown;
}

bool IsCommunicationOperator(std::string_view name) {
  return HasPrefix(name, kOperatorPrefixes) || HasPrefix(name, kHostPrefixes);
}

CollectiveKind KindOfOperatorName(std::string_view name) {
  return IsCommunicationOperator(name) ? KindOfRecordedName(name) : CollectiveKind::kUnknown;
}

CollectiveKind KindOfKernelName(std::string_view name) {
  const std::string lower = LowerCase(name);
  if (const SpellingRow* row = FindSpelling(kKernelSpellings, lower)) {
    return row->kind;
  }
  // The last rows are everyday words, which count only in names that hold nothing else of the
  // library.
  const SpellingRow* row = FindSpelling(kSpellings, lower);
  const bool is_library = lower.starts_with("nccl") || lower.starts_with("rccl");
  return row == nullptr || (row->kind > CollectiveKind::kAllToAll && !is_library)
             ? CollectiveKind::kUnknown
             : row->kind;
}

bool IsCommunication(std::string_view recorded_name) {
  return recorded_name != "wait" && recorded_name != "init";
}

bool EndsTogether(CollectiveKind kind) {
  return kind <= CollectiveKind::kAllToAll || kind == CollectiveKind::kBarrier ||
         kind == CollectiveKind::kUnknown;
}

std::optional<int64_t> ElementBytes(std::string_view dtype) {
  if (dtype == "Bits8") return 1;
  if (dtype == "Bits16") return 2;
  const int bits = BitsPerElement(ParseScalarType(dtype));
  return bits == 0 || bits % 8 != 0 ? std::nullopt : std::optional<int64_t>(bits / 8);
}

int64_t SideOfMessage(CollectiveKind kind, int64_t in, int64_t out) {
  switch (kind) {
    case CollectiveKind::kBarrier:
      return kMissing;
    case CollectiveKind::kAllReduce:
    case CollectiveKind::kReduceScatter:
    case CollectiveKind::kAllToAll:
      return in;
    case CollectiveKind::kAllGather:
      return out;
    default:
      return std::max(in, out);
  }
}

std::optional<int64_t> MessageBytes(CollectiveKind kind, int64_t in_elems, int64_t out_elems,
                                    std::string_view dtype) {
  const int64_t elems = SideOfMessage(kind, in_elems, out_elems);
  const std::optional<int64_t> element = ElementBytes(dtype);
  int64_t bytes = 0;
  if (!element.has_value() || elems < 0 || __builtin_mul_overflow(elems, *element, &bytes)) {
    return std::nullopt;
  }
  return bytes;
}

int64_t CommonElems(CollectiveKind kind, int64_t in_elems, int64_t out_elems) {
  switch (kind) {
    case CollectiveKind::kAllReduce:
    case CollectiveKind::kReduceScatter:
      return in_elems;
    case CollectiveKind::kAllGather:
      return out_elems;
    default:
      return kMissing;
  }
}

std::optional<double> BusFactor(CollectiveKind kind, int64_t ranks) {
  const auto n = static_cast<double>(ranks);
  switch (kind) {
    case CollectiveKind::kBarrier:
    case CollectiveKind::kUnknown:
    case CollectiveKind::kSendRecv:
      return std::nullopt;
    case CollectiveKind::kAllReduce:
      return ranks < 1 ? std::nullopt : std::optional(2 * (n - 1) / n);
    case CollectiveKind::kAllGather:
    case CollectiveKind::kReduceScatter:
    case CollectiveKind::kAllToAll:
    case CollectiveKind::kGather:
    case CollectiveKind::kScatter:
      return ranks < 1 ? std::nullopt : std::optional((n - 1) / n);
    default:
      return 1.0;
  }
}

namespace {

// How many levels up the call tree operators are looked for. Real stacks are shallower; the limit
// bounds the cost of damaged files.
constexpr int kMostAncestors = 256;

// The arguments of an operator that communicates; kNoDetail for others.
uint32_t ArgsOf(const Trace& trace, HostId id) {
  const HostEvents& host = trace.host();
  const uint32_t detail = host.detail[id.value];
  const HostKind kind = host.kind[id.value];
  if ((kind != HostKind::kOp && kind != HostKind::kAnnotation) || detail == kNoDetail) {
    return kNoDetail;
  }
  const uint32_t args = trace.ops().collective[detail];
  const bool counts =
      args != kNoDetail && IsCommunication(trace.Text(trace.collectives().collective[args]));
  return counts ? args : kNoDetail;
}

uint32_t ArgsOf(const Trace& trace, DeviceId id) {
  const uint32_t detail = trace.device().detail[id.value];
  return detail == kNoDetail ? kNoDetail : uint32_t{trace.kernels().collective[detail]};
}

// The arguments of the operator if there is one, else of the kernel.
uint32_t ArgsOf(const Trace& trace, HostId op, DeviceId kernel) {
  return op.valid() ? ArgsOf(trace, op) : ArgsOf(trace, kernel);
}

// The outermost operator is what was asked for: a barrier may contain the all-reduce that
// implements it.
HostId OutermostWithArgs(const RankView& view, HostId id) {
  HostId found;
  for (int i = 0; i < kMostAncestors && id.valid(); ++i, id = view.index.tree.parent[id.value]) {
    if (ArgsOf(view.trace, id) != kNoDetail) {
      found = id;
    }
  }
  return found;
}

// What the operators and annotations around a kernel without arguments say about it.
struct Surroundings {
  CollectiveKind kind = CollectiveKind::kUnknown;
  HostId sized_by;  // the nearest of that kind with a cost model: its tensors are known
};

Surroundings SurroundingsOf(const RankView& view, DeviceId kernel) {
  Surroundings found;
  HostId id = view.index.correlation.OriginOf(kernel);
  for (int i = 0; i < kMostAncestors && id.valid(); ++i, id = view.index.tree.parent[id.value]) {
    const std::string_view name = view.trace.Name(id);
    const CollectiveKind kind = KindOfOperatorName(name);
    if (kind == CollectiveKind::kUnknown) continue;
    if (found.kind == CollectiveKind::kUnknown) found.kind = kind;
    if (kind == found.kind && FindOpModel(name) != nullptr) {
      found.sized_by = id;
      break;
    }
  }
  if (found.kind == CollectiveKind::kUnknown) {
    found.kind = KindOfKernelName(view.trace.Name(kernel));
  }
  return found;
}

// The operator of a call, and for an operator in a capture also the launch of the graph that
// replays it.
using SizedBy = std::pair<uint32_t, uint32_t>;

SizedBy SizedByOf(const RankView& view, const CollectiveCall& call) {
  const bool is_replayed = view.trace.host().IsCaptured(call.sized_by);
  return {call.sized_by.value,
          is_replayed ? view.index.correlation.launch_of[call.kernel.value].value : 0};
}

// Where several kernels of one operator are calls of their own, the operator's tensors are not
// those of any one of them.
void ForgetSharedOperators(const RankView& view, std::vector<CollectiveCall>& calls) {
  std::vector<SizedBy> operators;
  for (const CollectiveCall& call : calls) {
    if (call.sized_by.valid()) operators.push_back(SizedByOf(view, call));
  }
  std::sort(operators.begin(), operators.end());
  for (CollectiveCall& call : calls) {
    if (!call.sized_by.valid()) continue;
    const auto [first, last] =
        std::equal_range(operators.begin(), operators.end(), SizedByOf(view, call));
    if (last - first > 1) call.sized_by = {};
  }
}

bool IsCommunicationKernel(const RankView& view, DeviceId id) {
  return view.trace.device().kind[id.value] == DeviceKind::kKernel &&
         (view.index.ClassOf(view.trace, id) == KernelClass::kCollective ||
          ArgsOf(view.trace, id) != kNoDetail);
}

CollectiveCall NewCall(const RankView& view, HostId op, DeviceId kernel) {
  CollectiveCall call;
  call.op = op;
  call.kernel = kernel;
  call.args = ArgsOf(view.trace, op, kernel);
  if (call.args != kNoDetail) {
    call.kind = KindOfRecordedName(view.trace.Text(view.trace.collectives().collective[call.args]));
  }
  if (call.kind == CollectiveKind::kUnknown && call.args == kNoDetail) {
    const Surroundings around = SurroundingsOf(view, kernel);
    call.kind = around.kind;
    call.sized_by = around.sized_by;
  }
  return call;
}

void AddKernel(const DeviceEvents& device, DeviceId kernel, CollectiveCall& call) {
  ++call.kernels;
  call.end_ns =
      call.kernels == 1 ? device.end_ns(kernel) : std::max(call.end_ns, device.end_ns(kernel));
  call.dur_ns = AddSaturating(call.dur_ns, device.dur_ns[kernel.value]);
  if (device.ts_ns[kernel.value] < device.ts_ns[call.kernel.value]) {
    call.kernel = kernel;
  }
}

bool IsOpOrAnnotation(const Trace& trace, HostId id) {
  const HostKind kind = trace.host().kind[id.value];
  return kind == HostKind::kOp || kind == HostKind::kAnnotation;
}

CollectiveCall HostCall(const Trace& trace, HostId event) {
  CollectiveCall call;
  call.op = call.sized_by = event;
  call.kind = KindOfOperatorName(trace.Name(event));
  call.is_host_timed = IsHostCollective(trace.Name(event));
  call.dur_ns = call.is_host_timed ? trace.host().dur_ns[event.value] : 0;
  return call;
}

bool HasAny(const std::vector<char>& flags) {
  return std::find(flags.begin(), flags.end(), 1) != flags.end();
}

void AddHostCalls(const RankView& view, std::vector<CollectiveCall>& calls) {
  const Trace& trace = view.trace;
  const std::vector<char> is_collective = FlagNames(trace.strings(), IsHostCollective);
  if (!HasAny(is_collective)) return;
  for (const uint32_t row : EachRow(trace.host().size())) {
    const HostId id{row};
    const bool counts = is_collective[trace.host().name[row].value] != 0 &&
                        IsOpOrAnnotation(trace, id) && ArgsOf(trace, id) == kNoDetail;
    if (counts) calls.push_back(HostCall(trace, id));
  }
}

// Includes operators of c10d, which ask for communication.
bool IsNameOfHostCommunication(std::string_view name) {
  return IsHostCollective(name) ||
         (name.starts_with("c10d::") && KindOfOperatorName(name) != CollectiveKind::kUnknown);
}

bool IsInsideAnother(const RankView& view, HostId id) {
  for (int i = 0; i < kMostAncestors && id.valid(); ++i) {
    id = view.index.tree.parent[id.value];
    if (id.valid() && IsHostCommunication(view.trace, id)) return true;
  }
  return false;
}

// The requests for communication, for recordings that hold nothing about the communication itself.
void AddRequests(const RankView& view, std::vector<CollectiveCall>& calls) {
  const Trace& trace = view.trace;
  const std::vector<char> asks = FlagNames(trace.strings(), IsNameOfHostCommunication);
  if (!HasAny(asks)) return;
  for (const uint32_t row : EachRow(trace.host().size())) {
    const HostId id{row};
    if (asks[trace.host().name[row].value] != 0 && IsHostCommunication(trace, id) &&
        !IsInsideAnother(view, id)) {
      calls.push_back(HostCall(trace, id));
    }
  }
}

int64_t TensorBytes(const CallArgs& args) {
  int64_t sum = 0;
  for (size_t i = 0; i < args.size(); ++i) {
    const OpTensor* tensor = args.Tensor(i);
    if (tensor == nullptr) continue;
    int64_t bytes = BitsPerElement(tensor->type) / 8;
    for (const int64_t dim : tensor->dims) {
      if (__builtin_mul_overflow(bytes, dim, &bytes)) return kMissing;
    }
    if (bytes == 0 && BitsPerElement(tensor->type) == 0) return kMissing;
    AddSaturatingTo(sum, bytes);
  }
  return args.size() == 0 ? kMissing : sum;
}

// Events of communication between hosts list the tensors that this rank puts in. The size of a
// gather's result depends on the size of the group, which is not recorded.
CollectiveMessage HostMessage(CollectiveKind kind, const CallArgs& args) {
  const bool is_known = kind != CollectiveKind::kBarrier && kind != CollectiveKind::kAllGather &&
                        kind != CollectiveKind::kGather && kind != CollectiveKind::kScatter;
  const OpTensor* first = args.Tensor(0);
  return {is_known ? TensorBytes(args) : kMissing,
          first == nullptr ? std::string_view() : RecordedTypeName(first->type)};
}

}  // namespace

bool IsHostCommunication(const Trace& trace, HostId id) {
  return IsOpOrAnnotation(trace, id) && IsNameOfHostCommunication(trace.Name(id));
}

std::vector<CollectiveCall> CollectiveCalls(const RankView& view) {
  const Trace& trace = view.trace;
  std::vector<CollectiveCall> calls;
  Grouper groups(2);  // 0 and the operator's row, or 1 and the kernel's
  for (const uint32_t row : EachRow(trace.device().size())) {
    const DeviceId kernel{row};
    if (!IsCommunicationKernel(view, kernel)) {
      continue;
    }
    const HostId op = OutermostWithArgs(view, view.index.correlation.OriginOf(kernel));
    // A capture has the arguments; each replay is a call of its own, without an operator.
    const bool has_op = op.valid() && !trace.host().IsCaptured(op);
    const std::array<int64_t, 2> key = {has_op ? 0 : 1, has_op ? op.value : row};
    const uint32_t group = groups.Find(key);
    if (group == calls.size()) {
      calls.push_back(NewCall(view, op, kernel));
      if (!has_op) calls.back().op = {};
    }
    AddKernel(trace.device(), kernel, calls[group]);
  }
  ForgetSharedOperators(view, calls);
  for (const uint32_t row : EachRow(trace.host().size())) {
    const HostId op{row};
    if (ArgsOf(trace, op) == kNoDetail || OutermostWithArgs(view, op) != op) {
      continue;
    }
    const std::array<int64_t, 2> key = {0, row};
    if (groups.Find(key) == calls.size()) {
      calls.push_back(NewCall(view, op, {}));
    }
  }
  AddHostCalls(view, calls);
  if (calls.empty()) AddRequests(view, calls);
  return calls;
}

CollectiveMessage MessageOf(const RankView& view, const CollectiveCall& call) {
  const Trace& trace = view.trace;
  if (call.args != kNoDetail) {
    const Collectives& args = trace.collectives();
    const std::string_view dtype = trace.Text(args.dtype[call.args]);
    const auto bytes =
        MessageBytes(call.kind, args.in_elems[call.args], args.out_elems[call.args], dtype);
    return {bytes.value_or(kMissing), dtype};
  }
  if (!call.sized_by.valid()) {
    return {};
  }
  const CallArgs tensors = CallArgsOf(trace, call.sized_by);
  if (call.is_host_timed) {
    return HostMessage(call.kind, tensors);
  }
  const OpCost cost = CostOf(trace.Name(call.sized_by), tensors, {});
  if (cost.family != OpFamily::kCollective || cost.status != CostStatus::kOk) {
    return {};
  }
  return {SideOfMessage(call.kind, static_cast<int64_t>(cost.read_bytes),
                        static_cast<int64_t>(cost.written_bytes)),
          RecordedTypeName(cost.type)};
}

uint32_t CollectiveArgsOf(const RankView& view, DeviceId kernel) {
  if (!IsCommunicationKernel(view, kernel)) {
    return kNoDetail;
  }
  return ArgsOf(view.trace, OutermostWithArgs(view, view.index.correlation.OriginOf(kernel)),
                kernel);
}

std::string_view CallSite(const RankView& view, DeviceId kernel) {
  const HostEvents& host = view.trace.host();
  HostId id = view.index.correlation.OriginOf(kernel);
  for (int i = 0; i < kMostAncestors && id.valid(); ++i, id = view.index.tree.parent[id.value]) {
    const HostKind kind = host.kind[id.value];
    const std::string_view name = view.trace.Name(id);
    if ((kind == HostKind::kOp || kind == HostKind::kAnnotation) &&
        !IsCommunicationOperator(name) && !StepNumber(name).has_value()) {
      return name;
    }
  }
  return {};
}

}  // namespace borescope::internal
