// The numbers a rank is known by in its file: process, threads, device and streams.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/model/scenario_batch.h"

namespace borescope::scenario {

struct RankInfo {
  int rank = 0;
  int64_t pid = 0;
  std::array<int64_t, kThreads> tids{};
  int64_t gpu = 0;  // the device rows' pid
  std::array<int64_t, kStreams> streams{};
  int64_t begin_ns = 0;  // the profiler started
  std::string file;
};

RankInfo MakeRankInfo(const ScenarioConfig& config, int rank, int64_t begin_ns);

// One "M" event: `name` of row pid/tid has args {key: value}; `value` is JSON.
struct MetadataRow {
  std::string name;
  std::string pid;
  int64_t tid = 0;
  std::string key;
  std::string value;
};

// Names of all rows. Kineto names sixteen devices, whether they exist or not.
std::vector<MetadataRow> MetadataRows(const ScenarioConfig& config, const RankInfo& info);

}  // namespace borescope::scenario
