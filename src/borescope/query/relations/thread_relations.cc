// What a profiler of whole processes records of threads beside their calls: when they had no
// processor, and the stacks in which they were sampled or made calls.
#include "borescope/query/relations/cells.h"

namespace borescope::internal::query {
namespace {

using Rows = const RankRows&;

// The columns that name the thread of a row.
template <auto kTable, auto kMember>
constexpr ColumnSpec kPidOf = {"pid", kInteger, kFew, "Process.", [](Rows r, uint32_t row) {
                                 const TrackId track = ((r.trace.*kTable)().*kMember)[row];
                                 return Int(r.trace.tracks().pid[track.value]);
                               }};
template <auto kTable, auto kMember>
constexpr ColumnSpec kTidOf = {"tid", kInteger, kFew, "Thread.", [](Rows r, uint32_t row) {
                                 const TrackId track = ((r.trace.*kTable)().*kMember)[row];
                                 return Int(r.trace.tracks().tid[track.value]);
                               }};
template <auto kTable, auto kMember>
constexpr ColumnSpec kTrackOf = {
    "track_id", kInteger, kFew, "Its line in tracks.",
    [](Rows r, uint32_t row) { return RowId(((r.trace.*kTable)().*kMember)[row].value); }};

constexpr ColumnSpec kPauses[] = {
    kRank,
    IdSpec("Row number: by thread, then by start."),
    {"ts_ns", kInteger, kMany, "The thread loses its processor.",
     Get<&Trace::pauses, &Pauses::ts_ns, Int>},
    {"end_ns", kInteger, kMany, "It gets one.", Get<&Trace::pauses, &Pauses::end_ns, Int>},
    kPidOf<&Trace::pauses, &Pauses::track>,
    kTidOf<&Trace::pauses, &Pauses::track>,
    kTrackOf<&Trace::pauses, &Pauses::track>};

constexpr ColumnSpec kStackSamples[] = {
    kRank,
    IdSpec("Row number: by thread, then by time."),
    {"ts_ns", kInteger, kMany, "When the thread was sampled.",
     Get<&Trace::stack_samples, &StackSamples::ts_ns, Int>},
    kPidOf<&Trace::stack_samples, &StackSamples::track>,
    kTidOf<&Trace::stack_samples, &StackSamples::track>,
    kTrackOf<&Trace::stack_samples, &StackSamples::track>,
    {"frame_id", kInteger, kKey, "The innermost frame, in stack_frames.",
     Get<&Trace::stack_samples, &StackSamples::frame, RowId>}};

constexpr ColumnSpec kStackFrames[] = {
    kRank,
    IdSpec("What frame_id refers to: a path of functions, of which this is the innermost."),
    {"name", kText, kMany, "The function; its file in brackets where its name is not known.",
     Get<&Trace::stack_frames, &StackFrames::name, Pooled>},
    {"parent_id", kInteger, kKey, "The frame that called it, a smaller id.",
     Get<&Trace::stack_frames, &StackFrames::parent, RowId>}};

constexpr Relation kThreadRelations[] = {
    {"pauses", "Time in which threads had no processor.", SizeOf<&Trace::pauses>, nullptr, kPauses},
    {"stack_samples", "Where threads were when they were sampled.", SizeOf<&Trace::stack_samples>,
     nullptr, kStackSamples},
    {"stack_frames", "The stacks of samples and calls, as a tree.", SizeOf<&Trace::stack_frames>,
     nullptr, kStackFrames},
};

}  // namespace

std::span<const Relation> ThreadRelations() { return kThreadRelations; }

}  // namespace borescope::internal::query
