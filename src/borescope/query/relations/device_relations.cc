// What devices did: device_events, the kernels, copies and waits among them, and what tied each to
// its launch.
#include "borescope/query/relations/device_columns.h"

namespace borescope::internal::query {
namespace device {
namespace {

Cell RatioOf(double gbps) { return gbps < 0 ? Null() : Real(gbps); }

// The cell that `make` makes of what the call behind a copy said of it.
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

// A column of Kernels, whose narrow numbers are negative where nothing was recorded.
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
     [](Rows r, uint32_t row) { return At(r, row, r.trace.kernels().graph_node_id, Int); }},
    {"stream_handle", kText, kFew, "The stream as the launch named it.",
     [](Rows r, uint32_t row) {
       return At(r, row, r.trace.kernels().stream_handle, PooledOrNull);
     }},
    {"collective_id", kInteger, kKey, "What it says of a collective, in collectives.",
     [](Rows r, uint32_t row) { return At(r, row, r.trace.kernels().collective, RowId); }},
    kNameId};

// A number that the call behind a copy recorded.
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
    {"bytes", kInteger, kMany, "Bytes moved or set.",
     [](Rows r, uint32_t row) { return At(r, row, r.trace.copies().bytes, Int); }},
    {"gbps", kReal, kMany, "Bandwidth as the producer gives it, in GB/s.",
     [](Rows r, uint32_t row) { return At(r, row, r.trace.copies().gbps, RatioOf); }},
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
     [](Rows r, uint32_t row) { return At(r, row, r.trace.syncs().stream, Int); }},
    {"wait_on_stream", kInteger, kFew, "The stream it waits for.",
     [](Rows r, uint32_t row) { return At(r, row, r.trace.syncs().wait_on_stream, Int); }},
    {"wait_on_record", kInteger, kKey, "Correlation number of the event record it waits for.",
     [](Rows r, uint32_t row) {
       return At(r, row, r.trace.syncs().wait_on_record_correlation, Positive);
     }}};

constexpr ColumnSpec kLinks[] = {
    kRank,
    IdSpec("Row number in device_events."),
    kLaunch,
    kOp,
    {"rule", kText, kFew,
     "What tied them: launch nesting, external id, launch only, capture or none.",
     [](Rows r, uint32_t row) { return Text(LinkRuleName(r.index.correlation.rule[row])); }}};

size_t SizeOf(Rows r) { return Device(r).size(); }

constexpr Relation kDeviceRelations[] = {
    {"device_events", "What device streams did: kernels, copies, waits, annotations.", SizeOf,
     nullptr, kDeviceEvents},
    {"kernels", "Device functions.", SizeOf, IsKernel, kKernels},
    {"copies", "Copies and memsets.", SizeOf, IsCopy, kCopies},
    {"syncs", "Recorded waits of streams and of the host.", SizeOf, IsSync, kSyncs},
    {"links", "Device event, launch and operator, and the rule that tied them.", SizeOf, nullptr,
     kLinks},
};

}  // namespace
}  // namespace device

std::span<const Relation> DeviceRelations() { return device::kDeviceRelations; }

}  // namespace borescope::internal::query
