// Trace: one rank's recording, finished and immutable. Safe to read from any number of threads.
// Made by TraceBuilder::Finish; derived data (call tree, correlation, ...) is in index/.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "borescope/base/diagnostics.h"
#include "borescope/trace/string_pool.h"
#include "borescope/trace/tables.h"

namespace borescope::internal {

struct TraceData {
  // What columns and texts that are views show; empty where all have memory of their own.
  std::shared_ptr<const void> viewed;
  Meta meta;
  StringPool strings;
  Tracks tracks;
  HostEvents host;
  DeviceEvents device;
  Ops ops;
  TritonLaunches triton;
  RuntimeCalls runtime_calls;
  Kernels kernels;
  Copies copies;
  CopyCalls copy_calls;
  Syncs syncs;
  Collectives collectives;
  MemoryEvents memory;
  ProfilerRanges ranges;
  Metrics metrics;
  Flows flows;
  Samples samples;
  Pauses pauses;
  StackSamples stack_samples;
  StackFrames stack_frames;
  CallStacks call_stacks;
  RangeDomains range_domains;
  CapturedCalls captured;
  std::vector<EventCount> event_counts;  // sorted by (phase, category text)
  // First start and last end of all complete events except "Trace" spans; without such events, of
  // the allocator events; without those, of the samples. Equal if there is nothing.
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  Diagnostics diagnostics;  // repairs and losses while reading the file
};

class Trace {
 public:
  explicit Trace(TraceData data) : data_(std::move(data)) {}
  Trace(Trace&&) = default;
  Trace& operator=(Trace&&) = default;

  // The underlying data, for changing it before anything reads it: no column is a view.
  TraceData Take() &&;

  // All of it, for those who treat every table alike.
  const TraceData& data() const { return data_; }
  const Meta& meta() const { return data_.meta; }
  const StringPool& strings() const { return data_.strings; }
  const Tracks& tracks() const { return data_.tracks; }
  const HostEvents& host() const { return data_.host; }
  const DeviceEvents& device() const { return data_.device; }
  const Ops& ops() const { return data_.ops; }
  const TritonLaunches& triton() const { return data_.triton; }
  const RuntimeCalls& runtime_calls() const { return data_.runtime_calls; }
  const Kernels& kernels() const { return data_.kernels; }
  const Copies& copies() const { return data_.copies; }
  const CopyCalls& copy_calls() const { return data_.copy_calls; }
  const Syncs& syncs() const { return data_.syncs; }
  const Collectives& collectives() const { return data_.collectives; }
  const MemoryEvents& memory() const { return data_.memory; }
  const ProfilerRanges& ranges() const { return data_.ranges; }
  const Metrics& metrics() const { return data_.metrics; }
  const Flows& flows() const { return data_.flows; }
  const Samples& samples() const { return data_.samples; }
  const Pauses& pauses() const { return data_.pauses; }
  const StackSamples& stack_samples() const { return data_.stack_samples; }
  const StackFrames& stack_frames() const { return data_.stack_frames; }
  const CallStacks& call_stacks() const { return data_.call_stacks; }
  const RangeDomains& range_domains() const { return data_.range_domains; }
  const CapturedCalls& captured() const { return data_.captured; }
  const std::vector<EventCount>& event_counts() const { return data_.event_counts; }
  const Diagnostics& diagnostics() const { return data_.diagnostics; }

  int64_t begin_ns() const { return data_.begin_ns; }
  int64_t end_ns() const { return data_.end_ns; }
  int64_t span_ns() const { return data_.end_ns - data_.begin_ns; }

  std::string_view Text(StringId id) const { return data_.strings.Get(id); }
  std::string_view Name(HostId id) const { return Text(data_.host.name[id.value]); }
  std::string_view Name(DeviceId id) const { return Text(data_.device.name[id.value]); }
  // Device and stream number of a device event, as recorded (AMD devices are agent numbers).
  int64_t DeviceOf(DeviceId id) const {
    return data_.tracks.pid[data_.device.track[id.value].value];
  }
  int64_t StreamOf(DeviceId id) const {
    return data_.tracks.tid[data_.device.track[id.value].value];
  }

 private:
  TraceData data_;
};

// Calls `visit` with each table of columns of `data`, whose type may be const; always in the same
// order. The captured calls, of other recordings, are none.
template <class Data, class Visit>
void ForEachTable(Data& data, Visit&& visit) {
  visit(data.tracks), visit(data.host), visit(data.device), visit(data.ops), visit(data.triton),
      visit(data.runtime_calls), visit(data.kernels), visit(data.copies), visit(data.copy_calls),
      visit(data.syncs), visit(data.collectives), visit(data.memory), visit(data.ranges),
      visit(data.metrics), visit(data.flows), visit(data.samples), visit(data.pauses),
      visit(data.stack_samples), visit(data.stack_frames), visit(data.call_stacks),
      visit(data.range_domains);
}

// Looks up the stack from which a call was made.

// Calls of CUDA, HIP, a library or the operating system: those with a detail in RuntimeCalls.
inline bool IsCall(HostKind kind) { return kind == HostKind::kRuntime || kind == HostKind::kOther; }

// The innermost frame of the stack of a host row: row of StackFrames. kNoDetail for rows that are
// no calls, and calls whose stack was not recorded. O(log(recorded stacks)).
inline uint32_t StackOfCall(const Trace& trace, HostId row) {
  const uint32_t call =
      IsCall(trace.host().kind[row.value]) ? trace.host().detail[row.value] : kNoDetail;
  const CallStacks& stacks = trace.call_stacks();
  const auto found = std::lower_bound(stacks.call.begin(), stacks.call.end(), call);
  return found == stacks.call.end() || *found != call
             ? kNoDetail
             : stacks.frame[static_cast<size_t>(found - stacks.call.begin())];
}

// Names of the kinds of events in tables and files.

inline std::string_view HostKindName(HostKind kind) {
  constexpr std::string_view kNames[] = {"python", "annotation", "op", "runtime", "other"};
  return kNames[static_cast<size_t>(kind)];
}

inline std::string_view DeviceKindName(DeviceKind kind) {
  constexpr std::string_view kNames[] = {"kernel",     "memcpy", "memset", "sync",
                                         "annotation", "range",  "other"};
  return kNames[static_cast<size_t>(kind)];
}

}  // namespace borescope::internal
