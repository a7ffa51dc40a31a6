// The relations of events: what devices did, what threads did, and both as one table.
#include "borescope/query/relations/cells.h"
#include "borescope/query/relations/relation.h"
#include "borescope/trace/trace.h"

namespace borescope::internal::query {

// What devices did: device_events, the kernels, copies and waits among them, and how each was
// linked to its launch.
namespace device {
namespace {

using Rows = const RankRows&;

const DeviceEvents& Device(Rows r) { return r.trace.device(); }

Cell KindOf(Rows r, uint32_t row) { return Text(DeviceKindName(Device(r).kind[row])); }

bool IsKernel(Rows r, uint32_t row) { return Device(r).kind[row] == DeviceKind::kKernel; }

bool IsSync(Rows r, uint32_t row) { return Device(r).kind[row] == DeviceKind::kSync; }

bool IsCopy(Rows r, uint32_t row) {
  return Device(r).kind[row] == DeviceKind::kMemcpy || Device(r).kind[row] == DeviceKind::kMemset;
}

Cell StepOf(Rows r, uint32_t row) {
  const Steps& steps = r.index.steps;
  const uint32_t step = steps.device_step.empty() ? kNoStep : steps.device_step[row];
  return step == kNoStep ? Null() : Int(steps.steps[step].number);
}

Cell ClassOf(Rows r, uint32_t row) {
  return IsKernel(r, row) ? Text(KernelClassName(r.index.ClassOf(r.trace, DeviceId{row}))) : Null();
}

// The cell that `make` makes of one value of a detail column; NULL where there is no detail.
template <class Column, class Make>
Cell At(Rows r, uint32_t row, const Column& column, Make make) {
  const uint32_t detail = Device(r).detail[row];
  return detail == kNoDetail ? Null() : make(column[detail]);
}

template <auto kTable, auto kMember, auto kMake>
Cell Of(Rows r, uint32_t row) {
  return At(r, row, (r.trace.*kTable)().*kMember, kMake);
}

constexpr ColumnSpec kTs = {"ts_ns", kInteger, kMany, "Start on the clock of the file.",
                            [](Rows r, uint32_t row) { return Int(Device(r).ts_ns[row]); }};

constexpr ColumnSpec kDur = {"dur_ns", kInteger, kMany, "Duration.",
                             [](Rows r, uint32_t row) { return Int(Device(r).dur_ns[row]); }};

constexpr ColumnSpec kEnd = {
    "end_ns", kInteger, kMany, "End: ts_ns + dur_ns.",
    [](Rows r, uint32_t row) { return Int(EndOf(Device(r).ts_ns[row], Device(r).dur_ns[row])); }};

constexpr ColumnSpec kName = {"name", kText, kMany, "Name as recorded.",
                              [](Rows r, uint32_t row) { return Pooled(Device(r).name[row]); }};

constexpr ColumnSpec kNameId = {
    "name_id", kInteger, kMany, "The name's id in strings: cheaper to group by within one rank.",
    [](Rows r, uint32_t row) { return Int(Device(r).name[row].value); }};

constexpr ColumnSpec kGpu = {
    "gpu", kInteger, kFew, "Device number as recorded.",
    [](Rows r, uint32_t row) { return Int(r.trace.DeviceOf(DeviceId{row})); }};

constexpr ColumnSpec kStream = {
    "stream", kInteger, kFew, "Stream number.",
    [](Rows r, uint32_t row) { return Int(r.trace.StreamOf(DeviceId{row})); }};

constexpr ColumnSpec kProcess = {
    "process", kInteger, kFew, "Process whose stream it is, in files of several processes.",
    [](Rows r, uint32_t row) { return Int(r.trace.tracks().process[Device(r).track[row].value]); }};

constexpr ColumnSpec kTrack = {
    "track_id", kInteger, kFew, "Its line in tracks.",
    [](Rows r, uint32_t row) { return RowId(Device(r).track[row].value); }};

constexpr ColumnSpec kCorrelation = {
    "correlation", kInteger, kKey, "Correlation number, shared with its launch.",
    [](Rows r, uint32_t row) { return Int(Device(r).correlation[row]); }};

constexpr ColumnSpec kExternalId = {
    "external_id", kInteger, kKey, "\"External id\" as recorded.",
    [](Rows r, uint32_t row) { return Int(Device(r).external_id[row]); }};

constexpr ColumnSpec kClass = {"class", kText, kFew,
                               "Kernel class read from the name: gemm, attention, collective, ….",
                               ClassOf};

constexpr ColumnSpec kLaunch = {
    "launch_id", kInteger, kKey, "The runtime call that started it, in launches.",
    [](Rows r, uint32_t row) { return RowId(r.index.correlation.launch_of[row].value); }};

constexpr ColumnSpec kOp = {
    "op_id", kInteger, kKey,
    "The innermost operator that launched it, in ops; for kernels of graphs, in captured_ops.",
    [](Rows r, uint32_t row) { return RowId(r.index.correlation.op_of[row].value); }};

constexpr ColumnSpec kStep = {"step", kInteger, kFew,
                              "Number of the step in which it was launched.", StepOf};

constexpr ColumnSpec kKind = {"kind", kText, kFew,
                              "kernel, memcpy, memset, sync, annotation, range or other.", KindOf};

constexpr ColumnSpec kIsWork = {
    "is_work", kInteger, kFew, "1 for kernels, copies and memsets: what occupies the device.",
    [](Rows r, uint32_t row) { return Bool(IsDeviceWork(Device(r).kind[row])); }};

Cell RatioOf(double gbps) { return gbps < 0 ? Null() : Real(gbps); }

// The cell that `make` makes from what the call of a copy recorded about it.
template <class Column, class Make>
Cell AtCall(Rows r, uint32_t row, const Column& column, Make make) {
  const uint32_t copy = Device(r).detail[row];
  const uint32_t call = copy == kNoDetail ? kNoDetail : r.trace.copies().call[copy];
  return call == kNoDetail ? Null() : make(column[call]);
}

constexpr ColumnSpec kDeviceEvents[] = {
    kRank,        IdSpec("Row number: by track, then by start."),
    kTs,          kDur,
    kEnd,         kName,
    kKind,        kIsWork,
    kGpu,         kStream,
    kProcess,     kTrack,
    kCorrelation, kExternalId,
    kClass,       kLaunch,
    kOp,          kStep,
    kNameId};

// A column of Kernels, whose narrow numbers are negative if nothing was recorded.
template <auto kMember>
constexpr ColumnSpec KernelColumn(std::string_view name, std::string_view doc) {
  return {name, kInteger, kMany, doc,
          [](Rows r, uint32_t row) { return At(r, row, r.trace.kernels().*kMember, Positive); }};
}

constexpr ColumnSpec kKernels[] = {
    kRank,
    IdSpec("Row number in device_events."),
    kTs,
    kDur,
    kEnd,
    kName,
    kClass,
    kGpu,
    kStream,
    kProcess,
    kCorrelation,
    kLaunch,
    kOp,
    kStep,
    KernelColumn<&Kernels::grid_x>("grid_x", "Blocks in x (AMD dispatches: work-items)."),
    KernelColumn<&Kernels::grid_y>("grid_y", "Blocks in y."),
    KernelColumn<&Kernels::grid_z>("grid_z", "Blocks in z."),
    KernelColumn<&Kernels::block_x>("block_x", "Threads of a block in x."),
    KernelColumn<&Kernels::block_y>("block_y", "Threads of a block in y."),
    KernelColumn<&Kernels::block_z>("block_z", "Threads of a block in z."),
    KernelColumn<&Kernels::registers>("registers", "Registers per thread."),
    KernelColumn<&Kernels::shared_bytes>("shared_bytes", "Shared memory, static and dynamic."),
    KernelColumn<&Kernels::private_bytes>("private_bytes", "Scratch or local memory per thread."),
    KernelColumn<&Kernels::occupancy_percent>("occupancy_percent", "The producer's estimate."),
    {"graph_node_id", kInteger, kKey, "Node of the CUDA graph.",
     Of<&Trace::kernels, &Kernels::graph_node_id, Int>},
    {"stream_handle", kText, kFew, "The stream as the launch named it.",
     Of<&Trace::kernels, &Kernels::stream_handle, PooledOrNull>},
    {"collective_id", kInteger, kKey, "Its arguments as a collective, in collectives.",
     Of<&Trace::kernels, &Kernels::collective, RowId>},
    kNameId};

// A number that the call of a copy recorded.
template <auto kMember>
constexpr ColumnSpec CallColumn(std::string_view name, std::string_view doc) {
  return {name, kInteger, kFew, doc,
          [](Rows r, uint32_t row) { return AtCall(r, row, r.trace.copy_calls().*kMember, Int); }};
}

template <auto kMember>
constexpr ColumnSpec CallText(std::string_view name, std::string_view doc) {
  return {name, kText, kMany, doc, [](Rows r, uint32_t row) {
            return AtCall(r, row, r.trace.copy_calls().*kMember, PooledOrNull);
          }};
}

constexpr ColumnSpec kCopies[] = {
    kRank,
    IdSpec("Row number in device_events."),
    kTs,
    kDur,
    kEnd,
    kName,
    kKind,
    kGpu,
    kStream,
    kProcess,
    kCorrelation,
    kLaunch,
    kOp,
    kStep,
    {"bytes", kInteger, kMany, "Bytes moved or set.", Of<&Trace::copies, &Copies::bytes, Int>},
    {"gbps", kReal, kMany, "Bandwidth as recorded, in GB/s.",
     Of<&Trace::copies, &Copies::gbps, RatioOf>},
    CallColumn<&CopyCalls::kind>("call_kind", "Copy kind as the call named it (a number)."),
    CallText<&CopyCalls::source>("source", "Source address as text."),
    CallText<&CopyCalls::target>("target", "Target address as text."),
    CallColumn<&CopyCalls::source_device>("source_device", "Device it reads from."),
    CallColumn<&CopyCalls::target_device>("target_device", "Device it writes to."),
    CallColumn<&CopyCalls::width>("width", "Width of a two-dimensional copy."),
    CallColumn<&CopyCalls::height>("height", "Height of a two-dimensional copy."),
    CallColumn<&CopyCalls::is_sync>("is_sync", "1 when the call waits for the copy."),
    CallColumn<&CopyCalls::is_pinned>("is_pinned", "1 when the host memory is pinned."),
    CallText<&CopyCalls::stream_handle>("stream_handle", "The stream as the call named it."),
    kNameId};

constexpr ColumnSpec kSyncs[] = {
    kRank,
    IdSpec("Row number in device_events."),
    kTs,
    kDur,
    kEnd,
    kName,
    kGpu,
    kStream,
    kCorrelation,
    kLaunch,
    {"waiting_stream", kInteger, kFew, "The stream that waits.",
     Of<&Trace::syncs, &Syncs::stream, Int>},
    {"wait_on_stream", kInteger, kFew, "The stream it waits for.",
     Of<&Trace::syncs, &Syncs::wait_on_stream, Int>},
    {"wait_on_record", kInteger, kKey, "Correlation number of the event record it waits for.",
     Of<&Trace::syncs, &Syncs::wait_on_record_correlation, Positive>}};

constexpr ColumnSpec kLinks[] = {
    kRank,
    IdSpec("Row number in device_events."),
    kLaunch,
    kOp,
    {"rule", kText, kFew,
     "How they were linked: launch nesting, external id, launch only, capture or none.",
     [](Rows r, uint32_t row) { return Text(LinkRuleName(r.index.correlation.rule[row])); }}};

size_t SizeOf(Rows r) { return Device(r).size(); }

constexpr Relation kDeviceRelations[] = {
    {"device_events", "What device streams did: kernels, copies, waits, annotations.", SizeOf,
     nullptr, kDeviceEvents},
    {"kernels", "Device functions.", SizeOf, IsKernel, kKernels},
    {"copies", "Copies and memsets.", SizeOf, IsCopy, kCopies},
    {"syncs", "Recorded waits of streams and of the host.", SizeOf, IsSync, kSyncs},
    {"links", "Device event, launch and operator, and the rule that linked them.", SizeOf, nullptr,
     kLinks},
};

}  // namespace
}  // namespace device

std::span<const Relation> DeviceRelations() { return device::kDeviceRelations; }

// What threads did: host_events, and the operators and runtime calls among them.
namespace host {
namespace {

using Rows = const RankRows&;

const HostEvents& Host(Rows r) { return r.trace.host(); }

int64_t PidOf(Rows r, uint32_t row) { return r.trace.tracks().pid[Host(r).track[row].value]; }

int64_t TidOf(Rows r, uint32_t row) { return r.trace.tracks().tid[Host(r).track[row].value]; }

Cell KindOf(Rows r, uint32_t row) { return Text(HostKindName(Host(r).kind[row])); }

// The number of the step an event starts in.
Cell StepOf(Rows r, uint32_t row) {
  const uint32_t step = r.index.steps.At(Host(r).track[row], Host(r).ts_ns[row]);
  return step == kNoStep ? Null() : Int(r.index.steps.steps[step].number);
}

// The row of Ops or RuntimeCalls of a host event, else kNoDetail.
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

template <auto kMember, auto kMake>
Cell OfOp(Rows r, uint32_t row) {
  return At(OpDetail(r, row), r.trace.ops().*kMember, kMake);
}

template <auto kMember, auto kMake>
Cell OfCall(Rows r, uint32_t row) {
  return At(CallDetail(r, row), r.trace.runtime_calls().*kMember, kMake);
}

uint32_t TritonDetail(Rows r, uint32_t row) {
  const uint32_t op = OpDetail(r, row);
  return op == kNoDetail ? kNoDetail : uint32_t{r.trace.ops().triton[op]};
}

template <auto kMember, auto kMake>
Cell OfTriton(Rows r, uint32_t row) {
  return At(TritonDetail(r, row), r.trace.triton().*kMember, kMake);
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
  while (at.valid() && !r.index.IsOperator(r.trace, at)) {
    at = r.index.tree.parent[at.value];
  }
  return RowId(at.value);
}

Cell DeviceEventsOf(Rows r, uint32_t row) {
  const uint32_t call = CallDetail(r, row);
  return call == kNoDetail ? Null()
                           : Int(static_cast<int64_t>(r.index.correlation.DevicesOf(call).size()));
}

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

constexpr ColumnSpec kStep = {"step", kInteger, kFew, "Number of the step it starts in.", StepOf};

constexpr ColumnSpec kCorrelation = {"correlation", kInteger, kKey,
                                     "Correlation number of a runtime call.", CorrelationOf};

constexpr ColumnSpec kExternalId = {"external_id", kInteger, kKey, "\"External id\" as recorded.",
                                    ExternalIdOf};

constexpr ColumnSpec kOpAround = {"op_id", kInteger, kKey, "The innermost operator around it.",
                                  OpAround};

constexpr ColumnSpec kParentOp = {"parent_op_id", kInteger, kKey,
                                  "The innermost operator around it, in captured_ops.", OpAround};

constexpr ColumnSpec kFrame = {
    "frame_id", kInteger, kKey,
    "The function from which a call was made, in stack_frames, if recorded.",
    [](Rows r, uint32_t row) { return RowId(StackOfCall(r.trace, HostId{row})); }};

constexpr ColumnSpec kKind = {"kind", kText, kFew, "python, annotation, op, runtime or other.",
                              KindOf};

constexpr ColumnSpec kHostEvents[] = {kRank,        IdSpec("Row number: by track, then by start."),
                                      kTs,          kDur,
                                      kEnd,         kName,
                                      kKind,        kPid,
                                      kTid,         kTrack,
                                      kParent,      kStep,
                                      kCorrelation, kExternalId,
                                      kFrame,       kNameId};

// The arguments of an operator.
constexpr ColumnSpec kInputDims = {"input_dims", kText, kMany,
                                   "Shapes of the inputs as recorded: JSON.",
                                   OfOp<&Ops::input_dims, PooledOrNull>};
constexpr ColumnSpec kInputTypes = {"input_types", kText, kMany,
                                    "Types of the inputs as recorded: JSON.",
                                    OfOp<&Ops::input_types, PooledOrNull>};
constexpr ColumnSpec kInputStrides = {"input_strides", kText, kMany,
                                      "Strides of the inputs as recorded: JSON.",
                                      OfOp<&Ops::input_strides, PooledOrNull>};
constexpr ColumnSpec kConcreteInputs = {
    "concrete_inputs", kText, kMany, "Values of the inputs that are no tensors as recorded: JSON.",
    OfOp<&Ops::concrete_inputs, PooledOrNull>};

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
     OfOp<&Ops::record_function_id, Int>},
    {"sequence", kInteger, kKey, "Autograd sequence number.", OfOp<&Ops::sequence, Int>},
    {"forward_thread", kInteger, kFew, "Above 0 on backward operators: the forward thread.",
     OfOp<&Ops::forward_thread, Int>},
    kInputDims,
    kInputTypes,
    kInputStrides,
    kConcreteInputs,
    {"collective_id", kInteger, kKey, "Its arguments as a collective, in collectives.",
     OfOp<&Ops::collective, RowId>},
    {"kernel_backend", kText, kFew, "What compiled the kernel it launches: triton.",
     OfTriton<&TritonLaunches::backend, PooledOrNull>},
    {"kernel_file", kText, kMany, "File that kernel was compiled from, as recorded.",
     OfTriton<&TritonLaunches::kernel_file, PooledOrNull>},
    {"kernel_bytes", kInteger, kMany, "What that kernel reads and writes at least, as recorded.",
     OfTriton<&TritonLaunches::bytes, Int>},
    {"kernel_flops", kInteger, kMany, "FLOPs of that kernel, as recorded.",
     OfTriton<&TritonLaunches::flops, Int>},
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
     OfCall<&RuntimeCalls::domain, PooledOrNull>},
    {"args", kText, kMany, "Arguments as recorded.", OfCall<&RuntimeCalls::args, PooledOrNull>},
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

// host_events and device_events as one table, so that grouping all events needs no sorting by
// SQLite.
namespace {

using Rows = const RankRows&;

// Rows are those of host_events, then those of device_events.
uint32_t HostRows(Rows r) { return static_cast<uint32_t>(r.trace.host().size()); }
size_t HostAndDeviceRows(Rows r) { return HostRows(r) + r.trace.device().size(); }

Cell SideOf(Rows r, uint32_t row) { return Text(row < HostRows(r) ? "host" : "device"); }

Cell IdOf(Rows r, uint32_t row) {
  const uint32_t host_rows = HostRows(r);
  return Int(row < host_rows ? row : row - host_rows);
}

// A column that both tables have.
template <const ColumnSpec& kHost, const ColumnSpec& kDevice>
constexpr ColumnSpec Both(std::string_view doc = kHost.doc) {
  static_assert(kHost.name == kDevice.name && kHost.type == kDevice.type);
  return {kHost.name, kHost.type, kHost.spread, doc, [](Rows r, uint32_t row) {
            const uint32_t host_rows = HostRows(r);
            return row < host_rows ? kHost.get(r, row) : kDevice.get(r, row - host_rows);
          }};
}

template <const ColumnSpec& kHost>
constexpr ColumnSpec HostOnly() {
  return {kHost.name, kHost.type, kHost.spread, kHost.doc,
          [](Rows r, uint32_t row) { return row < HostRows(r) ? kHost.get(r, row) : Null(); }};
}

template <const ColumnSpec& kDevice>
constexpr ColumnSpec DeviceOnly() {
  return {kDevice.name, kDevice.type, kDevice.spread, kDevice.doc, [](Rows r, uint32_t row) {
            const uint32_t host_rows = HostRows(r);
            return row < host_rows ? Null() : kDevice.get(r, row - host_rows);
          }};
}

constexpr ColumnSpec kEvents[] = {
    kRank,
    {"side", kText, kFew, "host or device: the table of its id.", SideOf},
    {"id", kInteger, kKey, "Row number in host_events or device_events.", IdOf},
    Both<host::kTs, device::kTs>(),
    Both<host::kDur, device::kDur>(),
    Both<host::kEnd, device::kEnd>(),
    Both<host::kName, device::kName>(),
    Both<host::kKind, device::kKind>("What it is, in the words of its table."),
    HostOnly<host::kPid>(),
    HostOnly<host::kTid>(),
    DeviceOnly<device::kGpu>(),
    DeviceOnly<device::kStream>(),
    DeviceOnly<device::kProcess>(),
    Both<host::kCorrelation, device::kCorrelation>("Correlation number."),
    Both<host::kExternalId, device::kExternalId>(),
    Both<host::kStep, device::kStep>("Number of the step in which it starts, or its launch does.")};

constexpr Relation kEventRelations[] = {{"events", "host_events and device_events together.",
                                         HostAndDeviceRows, nullptr, kEvents, false}};

}  // namespace

std::span<const Relation> EventRelations() { return kEventRelations; }

}  // namespace borescope::internal::query
