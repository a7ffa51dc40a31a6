#include "borescope/base/stop.h"
#include "borescope/convert/chrome/chrome_events.h"

namespace borescope::internal {
namespace {

void WriteMemoryEvent(const MemoryEvents& memory, size_t row, int64_t ts_ns,
                      const ChromeTracks& tracks, ChromeText& text) {
  text.StartEvent();
  text.Put(R"({"ph":"i","s":"t","cat":"cpu_instant_event","name":"[memory]")");
  text.Put(tracks.Place(memory.track[row]));
  text.PutTime(ts_ns);
  ChromeArgs args(text);
  args.Int("\"Total Reserved\":", memory.total_reserved[row]);
  args.Int("\"Total Allocated\":", memory.total_allocated[row]);
  args.Int("\"Bytes\":", memory.bytes[row]);
  args.Key("\"Addr\":");
  text.PutUint(memory.address[row]);
  args.Small("\"Device Id\":", memory.device[row]);
  args.Small("\"Device Type\":", memory.device_type[row]);
  args.End();
}

}  // namespace

void WriteMemoryEvents(const ConvertInput& input, const ChromeTracks& tracks, ChromeText& text,
                       ConvertCounts& counts) {
  const MemoryEvents& memory = input.trace.memory();
  for (size_t row = 0; row < memory.size(); ++row) {
    CheckStopAt(row);
    const int64_t ts_ns =
        memory.ts_ns[row] == kMissing ? input.trace.begin_ns() : memory.ts_ns[row];
    if (counts.Keep(input.window.Holds(ts_ns))) {
      WriteMemoryEvent(memory, row, ts_ns, tracks, text);
    }
  }
}

void WriteFlows(const ConvertInput& input, const ChromeTracks& tracks, ChromeText& text) {
  const Flows& flows = input.trace.flows();
  for (size_t row = 0; row < flows.size(); ++row) {
    CheckStopAt(row);
    if (!input.window.Holds(flows.ts_ns[row])) {
      continue;
    }
    text.StartEvent();
    text.Put(flows.is_start[row] != 0 ? R"({"ph":"s","cat":"fwdbwd","name":"fwdbwd")"
                                      : R"({"ph":"f","bp":"e","cat":"fwdbwd","name":"fwdbwd")");
    if (flows.id[row] != kMissing) {
      text.Put(",\"id\":");
      text.PutInt(flows.id[row]);
    }
    text.Put(tracks.Place(flows.track[row]));
    text.PutTime(flows.ts_ns[row]);
    text.Put("}");
  }
}

}  // namespace borescope::internal
