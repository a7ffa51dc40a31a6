// What a Kineto event means: turns RawEvents, from whichever parser, into rows of a TracePart. All
// knowledge of categories, old names and field types is here.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/ingest/kineto_fields.h"
#include "borescope/ingest/number.h"
#include "borescope/trace/trace_builder.h"

namespace borescope {

// Facts about the whole file that only its events tell. Merging is commutative.
struct KinetoFacts {
  int64_t profiled_ns = 0;                    // longest "Trace" span: how long the profiler ran
  std::array<uint64_t, 4> ts_decimals{};      // events by decimals of "ts": 0, 1, 2, 3 and more
  bool absolute_ts = false;                   // some "ts" is Unix time
  bool saw_cuda = false;
  bool saw_hip = false;
  bool saw_xpu = false;
  bool saw_mtia = false;

  void Merge(const KinetoFacts& other);
};

// Not thread-safe: one per TracePart.
class KinetoEvents {
 public:
  KinetoEvents();

  // Adds one event. The tokens need not outlive the call.
  void Add(const RawEvent& event);

  Diagnostics& diagnostics() { return part_.data.diagnostics; }
  // The rows so far; the object is spent afterwards.
  TracePart TakePart() { return std::move(part_); }
  const KinetoFacts& facts() const { return facts_; }

 private:
  enum class Role : uint8_t;
  struct TimeSpan {
    bool valid = false;
    int64_t ts_ns = 0;
    int64_t dur_ns = 0;
  };

  void AddComplete(const RawEvent& event);
  void AddHost(const RawEvent& event, HostKind kind, StringId name, TimeSpan span);
  void AddDevice(const RawEvent& event, DeviceKind kind, StringId name, TimeSpan span);
  void AddInstant(const RawEvent& event);
  void AddFlow(const RawEvent& event);
  void AddThreadName(const RawEvent& event);
  void CountPhase(const RawEvent& event, char phase, int64_t dur_ns);

  uint32_t AddOp(const RawEvent& event);
  uint32_t AddRuntimeCall(const RawEvent& event);
  uint32_t AddKernel(const RawEvent& event);
  uint32_t AddCopy(const RawEvent& event);
  uint32_t AddSync(const RawEvent& event);
  uint32_t AddCollective(const RawEvent& event);

  Role RoleOf(StringId category);
  TimeSpan ReadTime(const RawEvent& event);
  int64_t ReadTs(const RawEvent& event, bool& valid);
  int64_t ReadDur(const RawEvent& event);
  void NoteTs(std::string_view token, int64_t ts_ns);

  // Text of a string token; numbers keep their digits, null and absent fields give the empty text.
  std::string_view Text(std::string_view token, uint64_t byte);
  StringId InternText(const RawEvent& event, Field field);
  // A JSON array or other value as text with canonical spacing.
  StringId InternValue(const RawEvent& event, Field field);
  int64_t Integer(const RawEvent& event, Field field, int64_t missing = kMissing);
  int32_t SmallInteger(const RawEvent& event, Field field);
  // "pid" or "tid": a number, or a stable number made from a text.
  int64_t ProcessNumber(const RawEvent& event, Field field);
  // Counts what was wrong with a number; true if its value can be used.
  bool Usable(const ParsedNumber& number, const RawEvent& event, Field field);

  TracePart part_;
  KinetoFacts facts_;
  std::vector<Role> roles_;          // by StringId of the category; grows on demand
  StringPool values_;                // raw texts already canonised ...
  std::vector<StringId> canonical_;  // ... and what they became
  std::string scratch_;
  std::string last_category_token_;
  StringId last_category_;
};

}  // namespace borescope
