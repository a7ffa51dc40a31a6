// Converts the `args` of a Kineto event to rows of the detail tables of a TracePart.
#pragma once

#include <cstdint>
#include <vector>

#include "borescope/ingest/events/event_values.h"
#include "borescope/ingest/kineto/kineto_fields.h"
#include "borescope/trace/trace_builder.h"

namespace borescope::internal {

// Each Add… appends a row and returns its number, or kNoDetail if the event has none of its fields.
// Not thread-safe: one per TracePart, which it must not outlive.
class KinetoDetails {
 public:
  KinetoDetails(EventValues& values, TracePart& part);
  KinetoDetails(const KinetoDetails&) = delete;
  KinetoDetails& operator=(const KinetoDetails&) = delete;

  uint32_t AddOp(const RawEvent& event);
  // A Python frame's number and that of its caller.
  uint32_t AddFrame(const RawEvent& event);
  uint32_t AddRuntimeCall(const RawEvent& event);
  // A profiler's own work has texts but no ids.
  uint32_t AddOtherCall(const RawEvent& event);
  uint32_t AddKernel(const RawEvent& event);
  uint32_t AddCopy(const RawEvent& event);
  uint32_t AddSync(const RawEvent& event);

  StringId InternText(const RawEvent& event, Field field);

 private:
  uint32_t AddTritonLaunch(const RawEvent& event);
  uint32_t AddCollective(const RawEvent& event);
  // Parameters of the call of a copy.
  uint32_t AddCopyCall(const RawEvent& event);
  // The text of a rare field; empty without it.
  StringId InternOptional(const RawEvent& event, Field field) {
    return event.Has(field) ? InternText(event, field) : StringId{0};
  }
  // A list of shapes or types as JSON text with canonical spacing.
  StringId InternList(const RawEvent& event, Field field);

  EventValues& values_;
  TracePart& part_;
  StringPool lists_;                 // raw texts of lists already seen ...
  std::vector<StringId> canonical_;  // ... and their canonical texts
};

}  // namespace borescope::internal
