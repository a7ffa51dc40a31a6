// Converts RawEvents, from either parser, to rows of a TracePart. kineto_roles classifies
// categories, kineto_details reads arguments.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/ingest/async_ranges.h"
#include "borescope/ingest/events/event_sink.h"
#include "borescope/ingest/events/event_values.h"
#include "borescope/ingest/kineto/kineto_details.h"
#include "borescope/ingest/kineto/kineto_fields.h"
#include "borescope/ingest/kineto/kineto_roles.h"
#include "borescope/trace/trace_builder.h"

namespace borescope::internal {

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
  void AddFlow(const RawEvent& event);
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
