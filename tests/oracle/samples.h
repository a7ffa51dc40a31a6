// The sample traces of third parties, where they are installed.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <utility>

#include "borescope/index/trace_index.h"
#include "borescope/ingest/load.h"

namespace borescope::internal::testkit {

// The folder named by the CMake variable BORESCOPE_SAMPLES; it need not exist.
std::filesystem::path SamplesFolder();

inline std::filesystem::path SamplePath(const std::string& file) {
  return SamplesFolder() / "data" / file;
}

struct Sample {
  Trace trace;
  TraceIndex index;
};

inline Sample LoadSample(const std::string& file) {
  Result<Trace> trace = LoadFile(SamplePath(file).string(), {.threads = 2, .progress = {}});
  EXPECT_TRUE(trace.ok()) << trace.error().Sentence();
  Sample sample{trace.ok() ? std::move(*trace) : Trace(TraceData()), {}};
  sample.index = BuildIndex(sample.trace, 2);
  return sample;
}

// Calls `fn` with every kernel, copy and set.
template <class Fn>
void ForEachWork(const Trace& trace, const Fn& fn) {
  for (uint32_t row = 0; row < trace.device().size(); ++row) {
    if (IsDeviceWork(trace.device().kind[row])) {
      fn(DeviceId{row});
    }
  }
}

}  // namespace borescope::internal::testkit
