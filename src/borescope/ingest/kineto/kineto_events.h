// Converts RawEvents, from either parser, to rows of a TracePart. kineto_roles classifies
// categories, kineto_details reads arguments.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/ingest/events/event_parser.h"
#include "borescope/ingest/events/event_values.h"
#include "borescope/ingest/kineto/kineto_details.h"
#include "borescope/ingest/kineto/kineto_fields.h"
#include "borescope/ingest/kineto/kineto_roles.h"
#include "borescope/trace/trace_builder.h"

namespace borescope::internal {

// Asynchronous ranges of a Chrome trace: one begins with an event of phase "b" and ends with one of
// phase "e" of the same category and id, on any thread and anywhere in the text. Of several with
// one id, the one that began last ends first.

// Collects both kinds of events of a piece of the text, then of all of it.
class AsyncRanges {
 public:
  // An event of the text: the key that links it to its other half, its time and its position.
  struct Edge {
    std::string key;
    int64_t ts_ns = 0;
    uint64_t byte = 0;
  };

  // A range begins; `host_row` is its row, of zero length so far.
  void Begin(Edge edge, size_t host_row) { edges_.push_back({std::move(edge), host_row}); }
  // One ends.
  void End(Edge edge) { edges_.push_back({std::move(edge), kNoRow}); }

  // Adds those of a piece whose host rows were counted from `first_row` on.
  void Append(const AsyncRanges& more, size_t first_row);

  // Sets the length of every range. Events without their other half are counted: a begin keeps zero
  // length (kMissingDuration), an end is left out (kDanglingReference). REQUIRES: all rows are in
  // `builder`, which is not finished.
  void Close(TraceBuilder& builder) const;

 private:
  static constexpr size_t kNoRow = SIZE_MAX;
  struct Half {
    Edge edge;
    size_t host_row;  // kNoRow for an end
  };

  std::vector<Half> edges_;
};

// Profiler ranges: converts the hardware counters of "cuda_profiler_range" events.

// Adds a row to the ranges of `part`, with every number in the event's args as a metric, in their
// order. Of metrics with one name the last one counts. Returns the row. Members that are not
// numbers are counted in the diagnostics of `values`; null means not recorded.
uint32_t AddProfilerRange(const RawEvent& event, EventValues& values, TracePart& part);

// Monitor samples, as `borescope convert` writes them: counters of the category
// "monitor,TYPE,DEVICE" with one value, which holds for "dur".

// Adds a row to the samples of `part` if the counter is one. Counters without a time or a value are
// counted in the diagnostics of `values`.
void AddMonitorSample(const RawEvent& event, EventValues& values, TracePart& part);

// Properties of the whole file that follow only from its events.
struct KinetoFacts {
  int64_t profiled_ns = 0;  // longest "Trace" span: how long the profiler ran
  TimestampFacts timestamps;
  RankLabels rank_labels;
  bool saw_cuda = false;
  bool saw_hip = false;
  bool saw_xpu = false;
  bool saw_mtia = false;
  AsyncRanges async;

  // `first_host_row`: the row of the first host event of `other`.
  void Merge(const KinetoFacts& other, size_t first_host_row = 0);
};

// Not thread-safe: one per TracePart.
class KinetoEvents final : public EventSink {
 public:
  KinetoEvents();
  // With room for about so many rows.
  explicit KinetoEvents(const TracePart::RowCounts& rows);
  KinetoEvents(const KinetoEvents&) = delete;
  KinetoEvents& operator=(const KinetoEvents&) = delete;

  void Add(const RawEvent& event) override;
  Diagnostics& diagnostics() override { return part_.data.diagnostics; }
  // An event of the list that is not read has its place in it.
  void Skip() { ++part_.events; }
  // The rows so far; the object must not be used afterwards.
  TracePart TakePart() { return std::move(part_); }
  KinetoFacts facts() const;

 private:
  void AddComplete(const RawEvent& event);
  void AddInPhase(const RawEvent& event, char phase);
  void AddHost(const RawEvent& event, HostKind kind, StringId name, EventTime time,
               bool is_async = false);
  void AddDevice(const RawEvent& event, DeviceKind kind, StringId name, EventTime time);
  void AddAsyncBegin(const RawEvent& event);
  void AddAsyncEnd(const RawEvent& event);
  bool AsyncEdge(const RawEvent& event, AsyncRanges::Edge& edge);
  void AddInstant(const RawEvent& event);
  void AddFlow(const RawEvent& event, bool is_start);
  void AddThreadName(const RawEvent& event);
  StringId CategoryOf(const RawEvent& event);
  StringId InternCategory(const RawEvent& event);

  // For the current event, in the part.
  uint32_t Position() const {
    return static_cast<uint32_t>(std::min<uint64_t>(part_.events - 1, kNoPosition));
  }

  EventRole RoleOf(StringId category);

  TracePart part_;
  EventValues values_;  // counts into part_'s diagnostics
  KinetoDetails details_;
  KinetoFacts facts_;
  std::vector<EventRole> roles_;  // by StringId of the category; grows on demand
  std::string last_category_token_;
  StringId last_category_;
  // Of layouts met last, each in the place that its number has.
  struct LayoutCategory {
    uint32_t layout = RawEvent::kNoLayout;
    StringId category;
  };
  std::array<LayoutCategory, 64> layout_categories_;
};

}  // namespace borescope::internal
