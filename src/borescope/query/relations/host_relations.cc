// What threads did: host_events, and the operators and runtime calls among them.
#include "borescope/query/relations/host_columns.h"

namespace borescope::internal::query {
namespace host {
namespace {

constexpr ColumnSpec kHostEvents[] = {kRank,        IdSpec("Row number: by track, then by start."),
                                      kTs,          kDur,
                                      kEnd,         kName,
                                      kKind,        kPid,
                                      kTid,         kTrack,
                                      kParent,      kStep,
                                      kCorrelation, kExternalId,
                                      kFrame,       kNameId};

// The arguments of an operator.
constexpr ColumnSpec kInputDims = {
    "input_dims", kText, kMany, "Shapes of the inputs as recorded: JSON.",
    [](Rows r, uint32_t row) {
      return At(OpDetail(r, row), r.trace.ops().input_dims, PooledOrNull);
    }};
constexpr ColumnSpec kInputTypes = {
    "input_types", kText, kMany, "Types of the inputs as recorded: JSON.",
    [](Rows r, uint32_t row) {
      return At(OpDetail(r, row), r.trace.ops().input_types, PooledOrNull);
    }};
constexpr ColumnSpec kInputStrides = {
    "input_strides", kText, kMany, "Strides of the inputs as recorded: JSON.",
    [](Rows r, uint32_t row) {
      return At(OpDetail(r, row), r.trace.ops().input_strides, PooledOrNull);
    }};
constexpr ColumnSpec kConcreteInputs = {
    "concrete_inputs", kText, kMany, "Values of the inputs that are no tensors as recorded: JSON.",
    [](Rows r, uint32_t row) {
      return At(OpDetail(r, row), r.trace.ops().concrete_inputs, PooledOrNull);
    }};

constexpr ColumnSpec kOps[] = {
    kRank,
    IdSpec("Row number in host_events."),
    kTs,
    kDur,
    kEnd,
    kName,
    kPid,
    kTid,
    kTrack,
    kParent,
    kOpAround,
    kStep,
    kExternalId,
    {"record_function_id", kInteger, kKey, "\"Record function id\"; rf_id of an execution trace.",
     [](Rows r, uint32_t row) {
       return At(OpDetail(r, row), r.trace.ops().record_function_id, Int);
     }},
    {"sequence", kInteger, kKey, "Autograd sequence number.",
     [](Rows r, uint32_t row) { return At(OpDetail(r, row), r.trace.ops().sequence, Int); }},
    {"forward_thread", kInteger, kFew, "Above 0 on backward operators: the forward thread.",
     [](Rows r, uint32_t row) { return At(OpDetail(r, row), r.trace.ops().forward_thread, Int); }},
    kInputDims,
    kInputTypes,
    kInputStrides,
    kConcreteInputs,
    {"collective_id", kInteger, kKey, "What it says of a collective, in collectives.",
     [](Rows r, uint32_t row) { return At(OpDetail(r, row), r.trace.ops().collective, RowId); }},
    {"kernel_backend", kText, kFew, "What compiled the kernel it launches: triton.",
     [](Rows r, uint32_t row) {
       return At(TritonDetail(r, row), r.trace.triton().backend, PooledOrNull);
     }},
    {"kernel_file", kText, kMany, "File that kernel was compiled from, as recorded.",
     [](Rows r, uint32_t row) {
       return At(TritonDetail(r, row), r.trace.triton().kernel_file, PooledOrNull);
     }},
    {"kernel_bytes", kInteger, kMany, "What that kernel reads and writes at least, as recorded.",
     [](Rows r, uint32_t row) { return At(TritonDetail(r, row), r.trace.triton().bytes, Int); }},
    {"kernel_flops", kInteger, kMany, "FLOPs of that kernel, as recorded.",
     [](Rows r, uint32_t row) { return At(TritonDetail(r, row), r.trace.triton().flops, Int); }},
    kNameId};

constexpr ColumnSpec kLaunches[] = {
    kRank,
    IdSpec("Row number in host_events."),
    kTs,
    kDur,
    kEnd,
    kName,
    kPid,
    kTid,
    kTrack,
    kParent,
    kOpAround,
    kStep,
    kCorrelation,
    kExternalId,
    {"domain", kText, kFew, "Interface it belongs to, where recorded: hip, cuda, ….",
     [](Rows r, uint32_t row) {
       return At(CallDetail(r, row), r.trace.runtime_calls().domain, PooledOrNull);
     }},
    {"args", kText, kMany, "Arguments as recorded.",
     [](Rows r, uint32_t row) {
       return At(CallDetail(r, row), r.trace.runtime_calls().args, PooledOrNull);
     }},
    {"device_events", kInteger, kFew, "How many device events it started.", DeviceEventsOf},
    kFrame,
    kNameId};

constexpr ColumnSpec kCapturedOps[] = {
    kRank,         IdSpec("What op_id of device events refers to."),
    kName,         kParentOp,
    kInputDims,    kInputTypes,
    kInputStrides, kConcreteInputs,
    kNameId};

bool IsOp(Rows r, uint32_t row) { return r.index.IsOperator(r.trace, HostId{row}); }
bool IsCall(Rows r, uint32_t row) { return Host(r).kind[row] == HostKind::kRuntime; }
size_t SizeOf(Rows r) { return Host(r).size(); }
bool IsCapturedOp(Rows r, uint32_t row) { return Host(r).IsCaptured(HostId{row}) && IsOp(r, row); }
size_t SizeWithCaptured(Rows r) { return Host(r).captured == 0 ? 0 : Host(r).all_size(); }

constexpr Relation kHostRelations[] = {
    {"host_events", "What threads did: frames, annotations, operators, runtime calls.", SizeOf,
     nullptr, kHostEvents},
    {"ops", "Calls of operators; in programs without them, the ranges that take their place.",
     SizeOf, IsOp, kOps},
    {"captured_ops",
     "Operators that requested kernels of graphs when these were captured, in another recording "
     "(docs/use/captures.md): they have no times here.",
     SizeWithCaptured, IsCapturedOp, kCapturedOps},
    {"launches", "Calls of the driver or runtime, launches among them.", SizeOf, IsCall, kLaunches},
};

}  // namespace
}  // namespace host

std::span<const Relation> HostRelations() { return host::kHostRelations; }

}  // namespace borescope::internal::query
