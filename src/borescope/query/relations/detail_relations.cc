// What is recorded beside the events: collectives, allocations, counters, samples; and what follows
// from them: steps, forward-backward links.
#include "borescope/query/relations/cells.h"

namespace borescope::internal::query {
namespace {

using Rows = const RankRows&;

// ---- collectives ----

template <auto kMember>
constexpr auto kCollectiveText = Get<&Trace::collectives, kMember, PooledOrNull>;
template <auto kMember>
constexpr auto kCollectiveInt = Get<&Trace::collectives, kMember, Int>;

constexpr ColumnSpec kCollectives[] = {
    kRank,
    IdSpec("Named by collective_id of ops and kernels."),
    {"collective", kText, kFew, "Operation: allreduce, ….",
     kCollectiveText<&Collectives::collective>},
    {"dtype", kText, kFew, "Element type.", kCollectiveText<&Collectives::dtype>},
    {"group_name", kText, kFew, "Process group.", kCollectiveText<&Collectives::group>},
    {"group_desc", kText, kFew, "Its description.", kCollectiveText<&Collectives::group_desc>},
    {"ranks", kText, kFew, "Its ranks as recorded.", kCollectiveText<&Collectives::ranks>},
    {"in_elems", kInteger, kMany, "Elements in.", kCollectiveInt<&Collectives::in_elems>},
    {"out_elems", kInteger, kMany, "Elements out.", kCollectiveInt<&Collectives::out_elems>},
    {"group_size", kInteger, kFew, "Ranks of the group.", kCollectiveInt<&Collectives::group_size>},
    {"sequence", kInteger, kKey, "Sequence number within the group.",
     kCollectiveInt<&Collectives::sequence>}};

// ---- memory_events ----

int64_t TrackNumber(const ColumnData<int64_t>& numbers, TrackId track) {
  return track.valid() ? numbers[track.value] : kMissing;
}

Cell CategoryOf(Rows r, uint32_t row) {
  constexpr std::string_view kNames[] = {"parameter",       "optimizer state", "input",
                                         "temporary",       "activation",      "gradient",
                                         "autograd detail", "unknown",         ""};
  return TextOrNull(kNames[static_cast<size_t>(r.trace.memory().category[row])]);
}

template <auto kMember>
constexpr auto kMemoryInt = Get<&Trace::memory, kMember, Int>;

constexpr ColumnSpec kMemory[] = {
    kRank,
    IdSpec("Row number: by time."),
    {"ts_ns", kInteger, kMany, "Time; NULL: allocated before the recording began.",
     kMemoryInt<&MemoryEvents::ts_ns>},
    {"pid", kInteger, kFew, "Process.",
     [](Rows r, uint32_t row) {
       return Int(TrackNumber(r.trace.tracks().pid, r.trace.memory().track[row]));
     }},
    {"tid", kInteger, kFew, "Thread.",
     [](Rows r, uint32_t row) {
       return Int(TrackNumber(r.trace.tracks().tid, r.trace.memory().track[row]));
     }},
    {"device_type", kInteger, kFew, "0 CPU, 1 CUDA, 6 HIP, ….",
     Get<&Trace::memory, &MemoryEvents::device_type, Positive>},
    {"device", kInteger, kFew, "Device number.",
     Get<&Trace::memory, &MemoryEvents::device, Positive>},
    {"address", kInteger, kKey, "Address, as a signed number; printf('%x', address) shows it.",
     [](Rows r, uint32_t row) { return Int(static_cast<int64_t>(r.trace.memory().address[row])); }},
    {"bytes", kInteger, kMany, "Bytes allocated; negative: freed.",
     kMemoryInt<&MemoryEvents::bytes>},
    {"category", kText, kFew, "What the memory holds, where recorded.", CategoryOf},
    {"total_allocated_bytes", kInteger, kMany, "Allocated on the device afterwards.",
     kMemoryInt<&MemoryEvents::total_allocated>},
    {"total_reserved_bytes", kInteger, kMany, "Reserved by the allocator afterwards.",
     kMemoryInt<&MemoryEvents::total_reserved>}};

// ---- counters ----

Cell RangeName(Rows r, uint32_t row) {
  const uint32_t range = r.range_of_metric[row];
  return range == kNoDetail ? Null() : Pooled(r.trace.device().name[range]);
}

constexpr ColumnSpec kCounters[] = {
    kRank,
    IdSpec("Row number: as recorded."),
    {"range_id", kInteger, kKey, "The profiler range it was measured in, in device_events.",
     [](Rows r, uint32_t row) { return RowId(r.range_of_metric[row]); }},
    {"range_name", kText, kMany, "Name of that range.", RangeName},
    {"metric", kText, kFew, "Name of the counter as recorded.",
     Get<&Trace::metrics, &Metrics::name, Pooled>},
    {"value", kReal, kMany, "Its value.", Get<&Trace::metrics, &Metrics::value, Real>}};

// ---- samples ----

constexpr ColumnSpec kSamples[] = {
    kRank,
    IdSpec("Row number."),
    {"ts_ns", kInteger, kMany, "From here the value holds.",
     Get<&Trace::samples, &Samples::ts_ns, Int>},
    {"end_ns", kInteger, kMany, "To here; as ts_ns: until the next.",
     Get<&Trace::samples, &Samples::end_ns, Int>},
    {"device_type", kText, kFew, "gpu, ….",
     Get<&Trace::samples, &Samples::device_type, PooledOrNull>},
    {"device", kInteger, kFew, "The monitor's own number of the device.",
     Get<&Trace::samples, &Samples::device, Int>},
    {"name", kText, kFew, "What was read: sclk, ….", Get<&Trace::samples, &Samples::name, Pooled>},
    {"value", kReal, kMany, "The value.", Get<&Trace::samples, &Samples::value, Real>}};

// ---- steps ----

const Step& StepAt(Rows r, uint32_t row) { return r.index.steps.steps[row]; }

constexpr ColumnSpec kSteps[] = {
    kRank,
    IdSpec("Row number: by start."),
    {"number", kInteger, kFew, "N of ProfilerStep#N.",
     [](Rows r, uint32_t row) { return Int(StepAt(r, row).number); }},
    {"ts_ns", kInteger, kMany, "Start of its window on the host.",
     [](Rows r, uint32_t row) { return Int(StepAt(r, row).begin_ns); }},
    {"end_ns", kInteger, kMany, "End of its window.",
     [](Rows r, uint32_t row) { return Int(StepAt(r, row).end_ns); }},
    {"annotation_id", kInteger, kKey, "The annotation that marks it, in host_events.",
     [](Rows r, uint32_t row) { return RowId(StepAt(r, row).annotation.value); }}};

// ---- links_fwdbwd ----

constexpr ColumnSpec kFwdbwd[] = {
    kRank,
    IdSpec("Row number: by backward operator."),
    {"backward_id", kInteger, kKey, "The backward operator, in ops.",
     [](Rows r, uint32_t row) { return RowId(r.index.forward_backward[row].backward.value); }},
    {"forward_id", kInteger, kKey, "The forward operator it belongs to, in ops.",
     [](Rows r, uint32_t row) { return RowId(r.index.forward_backward[row].forward.value); }}};

constexpr Relation kDetailRelations[] = {
    {"collectives", "What operators and kernels say of collectives.", SizeOf<&Trace::collectives>,
     nullptr, kCollectives},
    {"memory_events", "Allocations and frees.", SizeOf<&Trace::memory>, nullptr, kMemory},
    {"counters", "Hardware counters: one row per profiler range and metric.",
     SizeOf<&Trace::metrics>, nullptr, kCounters},
    {"samples", "What a monitor read off the devices.", SizeOf<&Trace::samples>, nullptr, kSamples},
    {"steps", "Steps: ProfilerStep#N, or what an inference server marks.",
     [](Rows r) { return r.index.steps.steps.size(); }, nullptr, kSteps},
    {"links_fwdbwd", "Backward operators and the forward operators they belong to.",
     [](Rows r) { return r.index.forward_backward.size(); }, nullptr, kFwdbwd},
};

}  // namespace

std::span<const Relation> DetailRelations() { return kDetailRelations; }

}  // namespace borescope::internal::query
