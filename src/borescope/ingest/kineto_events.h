// What a Kineto event means: turns RawEvents, from whichever parser, into rows of a TracePart. All
// knowledge of categories, old names and field types is here.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/ingest/async_ranges.h"
#include "borescope/ingest/event_values.h"
#include "borescope/ingest/kineto_fields.h"
#include "borescope/trace/trace_builder.h"

namespace borescope {

// Facts about the whole file that only its events tell.
struct KinetoFacts {
  int64_t profiled_ns = 0;  // longest "Trace" span: how long the profiler ran
  TimestampFacts timestamps;
  bool saw_cuda = false;
  bool saw_hip = false;
  bool saw_xpu = false;
  bool saw_mtia = false;
  AsyncRanges async;

  // `first_host_row`: where the host events that `other` was counted with come to stand.
  void Merge(const KinetoFacts& other, size_t first_host_row = 0);
};

// Not thread-safe: one per TracePart.
class KinetoEvents {
 public:
  KinetoEvents();
  KinetoEvents(const KinetoEvents&) = delete;
  KinetoEvents& operator=(const KinetoEvents&) = delete;

  // Adds one event. The tokens need not outlive the call.
  void Add(const RawEvent& event);

  Diagnostics& diagnostics() { return part_.data.diagnostics; }
  // The rows so far; the object is spent afterwards.
  TracePart TakePart() { return std::move(part_); }
  KinetoFacts facts() const;

 private:
  enum class Role : uint8_t;

  void AddComplete(const RawEvent& event);
  void AddHost(const RawEvent& event, HostKind kind, StringId name, EventTime time,
               bool is_async = false);
  void AddDevice(const RawEvent& event, DeviceKind kind, StringId name, EventTime time);
  void AddAsyncBegin(const RawEvent& event);
  void AddAsyncEnd(const RawEvent& event);
  bool AsyncEdge(const RawEvent& event, AsyncRanges::Edge& edge);
  void AddInstant(const RawEvent& event);
  void AddFlow(const RawEvent& event);
  void AddThreadName(const RawEvent& event);
  void CountPhase(const RawEvent& event, char phase, int64_t dur_ns);

  // Of the event at hand, in the part.
  uint32_t Position() const {
    return static_cast<uint32_t>(std::min<uint64_t>(part_.events - 1, kNoPosition));
  }

  uint32_t AddOp(const RawEvent& event);
  uint32_t AddTritonLaunch(const RawEvent& event);
  uint32_t AddRuntimeCall(const RawEvent& event);
  uint32_t AddKernel(const RawEvent& event);
  uint32_t AddCopy(const RawEvent& event);
  uint32_t AddSync(const RawEvent& event);
  uint32_t AddCollective(const RawEvent& event);

  Role RoleOf(StringId category);
  StringId InternText(const RawEvent& event, Field field);
  // The text of a field that most events lack; empty without it.
  StringId InternOptional(const RawEvent& event, Field field) {
    return event.Has(field) ? InternText(event, field) : StringId{0};
  }
  uint32_t AddOtherCall(const RawEvent& event);
  // A row of CopyCalls, or kNoDetail where the event says nothing of its call.
  uint32_t AddCopyCall(const RawEvent& event);
  // A list of shapes or types as JSON text with canonical spacing.
  StringId InternList(const RawEvent& event, Field field);

  TracePart part_;
  EventValues values_;  // counts into part_'s diagnostics
  KinetoFacts facts_;
  std::vector<Role> roles_;          // by StringId of the category; grows on demand
  StringPool lists_;                 // raw texts of lists already seen ...
  std::vector<StringId> canonical_;  // ... and what they became
  std::string last_category_token_;
  StringId last_category_;
};

}  // namespace borescope
