// Shared by the tests of the readers of NVIDIA's databases.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "borescope/ingest/database.h"

namespace borescope::internal {

inline Result<Trace> TryLoadSql(const std::string& sql) {
  SqlDatabase database = std::move(SqlDatabase::InMemory("a.sqlite")).value();
  const Result<void> made = database.Run(sql);
  EXPECT_TRUE(made.ok()) << made.error().Sentence();
  return LoadDatabase(database, 4096, {});
}

// The trace of the database that `sql` makes.
inline Trace LoadSql(const std::string& sql) {
  Result<Trace> trace = TryLoadSql(sql);
  EXPECT_TRUE(trace.ok()) << trace.error().Sentence();
  return trace.ok() ? std::move(*trace) : Trace(TraceData());
}

// "name pid/tid @start+duration #correlation" per line; missing values are left out.
inline std::string HostRows(const Trace& trace) {
  constexpr const char* kKinds[] = {"python", "range", "op", "call", "other"};
  std::string text;
  const HostEvents& host = trace.host();
  for (uint32_t row = 0; row < host.size(); ++row) {
    const uint32_t track = host.track[row].value;
    text += std::string(kKinds[static_cast<int>(host.kind[row])]) + " " +
            std::string(trace.Name(HostId{row})) + " " + std::to_string(trace.tracks().pid[track]) +
            "/" + std::to_string(trace.tracks().tid[track]) + " @" +
            std::to_string(host.ts_ns[row]) + "+" + std::to_string(host.dur_ns[row]);
    if (host.kind[row] == HostKind::kRuntime &&
        trace.runtime_calls().correlation[host.detail[row]] != kMissing) {
      text += " #" + std::to_string(trace.runtime_calls().correlation[host.detail[row]]);
    }
    text += "\n";
  }
  return text;
}

// "kind name device/stream[ process] @start+duration #correlation" per line.
inline std::string DeviceRows(const Trace& trace) {
  constexpr const char* kKinds[] = {"kernel",     "memcpy", "memset", "sync",
                                    "annotation", "range",  "other"};
  std::string text;
  const DeviceEvents& device = trace.device();
  for (uint32_t row = 0; row < device.size(); ++row) {
    const uint32_t track = device.track[row].value;
    text += std::string(kKinds[static_cast<int>(device.kind[row])]) + " " +
            std::string(trace.Name(DeviceId{row})) + " " +
            std::to_string(trace.tracks().pid[track]) + "/" +
            std::to_string(trace.tracks().tid[track]);
    if (trace.tracks().process[track] != kMissing) {
      text += " of " + std::to_string(trace.tracks().process[track]);
    }
    text += " @" + std::to_string(device.ts_ns[row]) + "+" + std::to_string(device.dur_ns[row]);
    if (device.correlation[row] != kMissing) {
      text += " #" + std::to_string(device.correlation[row]);
    }
    text += "\n";
  }
  return text;
}

// "X CUPTI_ACTIVITY_KIND_KERNEL 3" per line.
inline std::string EventCounts(const Trace& trace) {
  std::string text;
  for (const EventCount& count : trace.event_counts()) {
    text += std::string(1, count.phase) + " " + std::string(trace.Text(count.category)) + " " +
            std::to_string(count.count) + "\n";
  }
  return text;
}

}  // namespace borescope::internal
