// What threads did: host_events, and the operators and runtime calls among them.
#include "borescope/query/cells.h"

namespace borescope::query {
namespace {

using Rows = const RankRows&;

const HostEvents& Host(Rows r) { return r.trace.host(); }

int64_t PidOf(Rows r, uint32_t row) { return r.trace.tracks().pid[Host(r).track[row].value]; }
int64_t TidOf(Rows r, uint32_t row) { return r.trace.tracks().tid[Host(r).track[row].value]; }

Cell KindOf(Rows r, uint32_t row) {
  constexpr std::string_view kNames[] = {"python", "annotation", "op", "runtime", "other"};
  return Text(kNames[static_cast<size_t>(Host(r).kind[row])]);
}

// The number of the step an event starts in.
Cell StepOf(Rows r, uint32_t row) {
  const uint32_t step = r.index.steps.At(Host(r).ts_ns[row]);
  return step == kNoStep ? Null() : Int(r.index.steps.steps[step].number);
}

// The row of Ops or RuntimeCalls behind a host event, else kNoDetail.
uint32_t OpDetail(Rows r, uint32_t row) {
  const HostKind kind = Host(r).kind[row];
  return kind == HostKind::kOp || kind == HostKind::kAnnotation ? Host(r).detail[row] : kNoDetail;
}

uint32_t CallDetail(Rows r, uint32_t row) {
  const HostKind kind = Host(r).kind[row];
  return kind == HostKind::kRuntime || kind == HostKind::kOther ? Host(r).detail[row] : kNoDetail;
}

// The cell that `make` makes of one value of a detail column; NULL where there is no detail.
template <class Column, class Make>
Cell At(uint32_t detail, const Column& column, Make make) {
  return detail == kNoDetail ? Null() : make(column[detail]);
}

uint32_t TritonDetail(Rows r, uint32_t row) {
  const uint32_t op = OpDetail(r, row);
  return op == kNoDetail ? kNoDetail : r.trace.ops().triton[op];
}

Cell ExternalIdOf(Rows r, uint32_t row) {
  const uint32_t op = OpDetail(r, row);
  return op != kNoDetail ? Int(r.trace.ops().external_id[op])
                         : At(CallDetail(r, row), r.trace.runtime_calls().external_id, Int);
}

Cell CorrelationOf(Rows r, uint32_t row) {
  return At(CallDetail(r, row), r.trace.runtime_calls().correlation, Int);
}

// The innermost operator around a host event.
Cell OpAround(Rows r, uint32_t row) {
  HostId at = r.index.tree.parent[row];
  while (at.valid() && Host(r).kind[at.value] != HostKind::kOp) {
    at = r.index.tree.parent[at.value];
  }
  return RowId(at.value);
}

Cell DeviceEventsOf(Rows r, uint32_t row) {
  const uint32_t call = CallDetail(r, row);
  return call == kNoDetail ? Null()
                           : Int(static_cast<int64_t>(r.index.correlation.DevicesOf(call).size()));
}

// ---- Columns that several relations share ----

constexpr ColumnSpec kTs = {"ts_ns", kInteger, kMany, "Start on the clock of the file.",
                            [](Rows r, uint32_t row) { return Int(Host(r).ts_ns[row]); }};
constexpr ColumnSpec kDur = {"dur_ns", kInteger, kMany, "Duration.",
                             [](Rows r, uint32_t row) { return Int(Host(r).dur_ns[row]); }};
constexpr ColumnSpec kEnd = {
    "end_ns", kInteger, kMany, "End: ts_ns + dur_ns.",
    [](Rows r, uint32_t row) { return Int(EndOf(Host(r).ts_ns[row], Host(r).dur_ns[row])); }};
constexpr ColumnSpec kName = {"name", kText, kMany, "Name as recorded.",
                              [](Rows r, uint32_t row) { return Pooled(Host(r).name[row]); }};
constexpr ColumnSpec kNameId = {"name_id", kInteger, kMany,
                                "The name's id in strings: cheaper to group by within one rank.",
                                [](Rows r, uint32_t row) { return Int(Host(r).name[row].value); }};
constexpr ColumnSpec kPid = {"pid", kInteger, kFew, "Process.",
                             [](Rows r, uint32_t row) { return Int(PidOf(r, row)); }};
constexpr ColumnSpec kTid = {"tid", kInteger, kFew, "Thread.",
                             [](Rows r, uint32_t row) { return Int(TidOf(r, row)); }};
constexpr ColumnSpec kTrack = {
    "track_id", kInteger, kFew, "Its line in tracks.",
    [](Rows r, uint32_t row) { return RowId(Host(r).track[row].value); }};
constexpr ColumnSpec kParent = {
    "parent_id", kInteger, kKey, "The host event around it, of any kind.",
    [](Rows r, uint32_t row) { return RowId(r.index.tree.parent[row].value); }};
constexpr ColumnSpec kStep = {"step", kInteger, kFew, "Number of the training step it starts in.",
                              StepOf};
constexpr ColumnSpec kCorrelation = {"correlation", kInteger, kKey,
                                     "Correlation number of a runtime call.", CorrelationOf};
constexpr ColumnSpec kExternalId = {"external_id", kInteger, kKey, "\"External id\" as recorded.",
                                    ExternalIdOf};
constexpr ColumnSpec kOpAround = {"op_id", kInteger, kKey, "The innermost operator around it.",
                                  OpAround};

// ---- Relations ----

constexpr ColumnSpec kHostEvents[] = {
    kRank,
    IdSpec("Row number: by track, then by start."),
    kTs,
    kDur,
    kEnd,
    kName,
    {"kind", kText, kFew, "python, annotation, op, runtime or other.", KindOf},
    kPid,
    kTid,
    kTrack,
    kParent,
    kStep,
    kCorrelation,
    kExternalId,
    kNameId};

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
    {"input_dims", kText, kMany, "Shapes of the inputs as recorded: JSON.",
     [](Rows r, uint32_t row) {
       return At(OpDetail(r, row), r.trace.ops().input_dims, PooledOrNull);
     }},
    {"input_types", kText, kMany, "Types of the inputs as recorded: JSON.",
     [](Rows r, uint32_t row) {
       return At(OpDetail(r, row), r.trace.ops().input_types, PooledOrNull);
     }},
    {"input_strides", kText, kMany, "Strides of the inputs as recorded: JSON.",
     [](Rows r, uint32_t row) {
       return At(OpDetail(r, row), r.trace.ops().input_strides, PooledOrNull);
     }},
    {"concrete_inputs", kText, kMany, "Values of the inputs that are no tensors as recorded: JSON.",
     [](Rows r, uint32_t row) {
       return At(OpDetail(r, row), r.trace.ops().concrete_inputs, PooledOrNull);
     }},
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
    kNameId};

bool IsOp(Rows r, uint32_t row) { return Host(r).kind[row] == HostKind::kOp; }
bool IsCall(Rows r, uint32_t row) { return Host(r).kind[row] == HostKind::kRuntime; }
size_t SizeOf(Rows r) { return Host(r).size(); }

constexpr Relation kRelations[] = {
    {"host_events", "What threads did: frames, annotations, operators, runtime calls.", SizeOf,
     nullptr, kHostEvents},
    {"ops", "Calls of framework operators.", SizeOf, IsOp, kOps},
    {"launches", "Calls of the driver or runtime, launches among them.", SizeOf, IsCall, kLaunches},
};

}  // namespace

std::span<const Relation> HostRelations() { return kRelations; }

}  // namespace borescope::query
