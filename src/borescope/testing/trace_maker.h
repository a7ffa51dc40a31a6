// TraceMaker: small traces for tests, made event by event. Times are nanoseconds. Rows without a
// given name get unique ones, so that a test can distinguish them.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>

#include "borescope/trace/columns.h"
#include "borescope/trace/trace_builder.h"

namespace borescope::internal::testkit {

struct Span {
  int64_t ts_ns = 0;
  int64_t dur_ns = 0;
};

struct OpArgs {
  int64_t external_id = kMissing;
  int64_t sequence = kMissing;
  int64_t forward_thread = kMissing;
};

struct DeviceArgs {
  int64_t correlation = kMissing;
  int64_t external_id = kMissing;
  uint32_t detail = kNoDetail;
};

class TraceMaker {
 public:
  // All host events belong to the process `pid`.
  explicit TraceMaker(int64_t pid = 100) : pid_(pid) {}

  // The rows so far, for what the functions below cannot say.
  TracePart& part() { return part_; }

  void Host(HostKind kind, std::string_view name, int64_t tid, Span span,
            uint32_t detail = kNoDetail) {
    AddHostRow(part_.data.host, {.ts_ns = span.ts_ns,
                                 .dur_ns = span.dur_ns,
                                 .name = part_.Intern(name),
                                 .track = part_.Track(TrackKind::kHost, pid_, tid),
                                 .kind = kind,
                                 .detail = detail});
  }

  void Op(std::string_view name, int64_t tid, Span span, OpArgs args = {}) {
    Ops& ops = part_.data.ops;
    const uint32_t row = AddMissingRow(ops);
    ops.external_id[row] = args.external_id;
    ops.sequence[row] = args.sequence;
    ops.forward_thread[row] = args.forward_thread;
    Host(HostKind::kOp, name, tid, span, row);
  }

  void Call(std::string_view name, int64_t tid, Span span, int64_t correlation) {
    const uint32_t row = AddMissingRow(part_.data.runtime_calls);
    part_.data.runtime_calls.correlation[row] = correlation;
    Host(HostKind::kRuntime, name, tid, span, row);
  }

  void Device(DeviceKind kind, std::string_view name, int64_t device_number, int64_t stream,
              Span span, DeviceArgs args = {}) {
    AddDeviceRow(part_.data.device,
                 {.ts_ns = span.ts_ns,
                  .dur_ns = span.dur_ns,
                  .name = part_.Intern(name),
                  .track = part_.Track(TrackKind::kDevice, device_number, stream),
                  .kind = kind,
                  .correlation = args.correlation,
                  .external_id = args.external_id,
                  .detail = args.detail});
  }

  void Kernel(std::string_view name, int64_t stream, Span span, DeviceArgs args = {}) {
    Device(DeviceKind::kKernel, name, 0, stream, span, args);
  }

  TracePart TakePart() { return std::move(part_); }

  // The finished trace; the maker must not be used afterwards.
  Trace Finish(int threads = 1) {
    TraceBuilder builder;
    builder.Append(std::move(part_));
    return builder.Finish({}, 0, threads);
  }

 private:
  int64_t pid_;
  TracePart part_;
};

// The host row of that name; the first one of several.
inline HostId FindHost(const Trace& trace, std::string_view name) {
  for (uint32_t row = 0; row < trace.host().size(); ++row) {
    if (trace.Name(HostId{row}) == name) {
      return {row};
    }
  }
  return {};
}

inline DeviceId FindDevice(const Trace& trace, std::string_view name) {
  for (uint32_t row = 0; row < trace.device().size(); ++row) {
    if (trace.Name(DeviceId{row}) == name) {
      return {row};
    }
  }
  return {};
}

// The name of a row, or "" if there is none.
inline std::string_view NameOrNone(const Trace& trace, HostId id) {
  return id.valid() ? trace.Name(id) : std::string_view();
}

}  // namespace borescope::internal::testkit
