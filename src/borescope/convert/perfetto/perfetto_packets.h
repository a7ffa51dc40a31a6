// Packets of a Perfetto trace. Field numbers are those of protos/perfetto/trace of its repository.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/output/sink/sink.h"
#include "borescope/trace/trace.h"

namespace borescope::internal {

// One line of the timeline, or a group of them.
struct PerfettoTrack {
  uint64_t uuid = 0;
  uint64_t parent = 0;  // 0: none
  std::string name;
  bool is_counter = false;
  std::optional<int32_t> pid;  // with it alone: a process
  std::optional<int32_t> tid;  // with both: a thread
};

struct PerfettoNote {
  std::string_view key;
  int64_t number = 0;
  std::string_view text;  // counts where it is not empty
};

struct PerfettoSlice {
  uint64_t track = 0;
  int64_t ts_ns = 0;
  StringId name;
  std::string_view category;
  std::span<const PerfettoNote> notes;
  std::span<const uint64_t> flows_out;
  uint64_t flow_in = 0;       // 0: none
  std::string_view own_name;  // in place of `name` where it is not empty
};

// Writes packets to a sink in pieces, names once. Failures of the sink are kept; Finish tells.
class PerfettoPackets {
 public:
  // `shift_ns` is added to all times. Names are numbered anew in every `sequence`, from 1.
  PerfettoPackets(Sink& sink, const StringPool& strings, int64_t shift_ns, uint32_t sequence);

  void Describe(const PerfettoTrack& track);
  void Begin(const PerfettoSlice& slice) { Put(slice, 1); }
  void Instant(const PerfettoSlice& slice) { Put(slice, 3); }
  void End(uint64_t track, int64_t ts_ns);
  void Count(uint64_t track, int64_t ts_ns, int64_t value);
  void Count(uint64_t track, int64_t ts_ns, double value);

  Result<void> Finish() { return out_.Finish(); }

 private:
  void Put(const PerfettoSlice& slice, int32_t type);
  void PutPacket(int64_t ts_ns, bool uses_names, const std::string& event);
  void PutNewName(StringId name);

  BufferedSink out_;
  const StringPool& strings_;
  int64_t shift_ns_;
  uint32_t sequence_;
  std::vector<char> has_name_;  // by StringId: whether it was written
  std::string event_, packet_, interned_;
};

}  // namespace borescope::internal
