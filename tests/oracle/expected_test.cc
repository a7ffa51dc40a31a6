// Real traces of third parties against numbers that another program found in them:
// expected/kineto.jsonl of the samples, one JSON object per file. Skipped without the samples.

#include <gtest/gtest.h>
#include <simdjson.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "borescope/base/intervals.h"
#include "tests/oracle/samples.h"

namespace borescope::internal {
namespace {

namespace fs = std::filesystem;
using simdjson::dom::element;
using testkit::ForEachWork;
using testkit::LoadSample;
using testkit::Sample;
using testkit::SamplePath;
using testkit::SamplesFolder;

// --- the expected numbers ---

struct Expected {
  std::string file;
  std::string line;  // the JSON object
};

void PrintTo(const Expected& expected, std::ostream* out) { *out << expected.file; }

std::vector<Expected> ReadExpected() {
  std::ifstream file(SamplesFolder() / "expected" / "kineto.jsonl");
  simdjson::dom::parser parser;
  std::vector<Expected> rows;
  for (std::string line; std::getline(file, line);) {
    const std::string_view name = parser.parse(line)["file"];
    rows.push_back({std::string(name), line});
  }
  return rows;
}

int64_t Integer(element row, const char* key) { return int64_t(row[key]); }

using Counts = std::map<std::string, int64_t>;

Counts CountsOf(element row, const char* key) {
  Counts counts;
  for (const auto& [name, value] : simdjson::dom::object(row[key])) {
    counts[std::string(name)] = int64_t(value);
  }
  return counts;
}

// --- what the engine says ---

// A category's name in the expected numbers.
std::string CategoryName(const Trace& trace, const EventCount& count) {
  const std::string_view name = trace.Text(count.category);
  return name.empty() ? "None" : std::string(name);
}

Counts EventCountsOf(const Trace& trace) {
  Counts counts;
  for (const EventCount& count : trace.event_counts()) {
    counts[std::string(1, count.phase) + ":" + CategoryName(trace, count)] =
        static_cast<int64_t>(count.count);
  }
  return counts;
}

Counts DurationsOf(const Trace& trace) {
  Counts totals;
  for (const EventCount& count : trace.event_counts()) {
    if (count.phase == 'X') {
      totals[CategoryName(trace, count)] = count.total_ns;
    }
  }
  return totals;
}

// Categories are kept as kinds: those with zero durations in the samples, by kind.
Counts ZeroDurationsOf(const Trace& trace) {
  Counts counts;
  for (uint32_t row = 0; row < trace.host().size(); ++row) {
    const HostKind kind = trace.host().kind[row];
    if (trace.host().dur_ns[row] == 0) {
      ++counts[kind == HostKind::kRuntime ? "cuda_runtime"
               : kind == HostKind::kOp    ? "cpu_op"
                                          : "?"];
    }
  }
  for (uint32_t row = 0; row < trace.device().size(); ++row) {
    if (trace.device().dur_ns[row] == 0) {
      ++counts[trace.device().kind[row] == DeviceKind::kSync ? "cuda_sync" : "?"];
    }
  }
  return counts;
}

Counts UnionByDevice(const Trace& trace, bool only_kernels) {
  std::map<int64_t, std::vector<Interval>> spans;
  ForEachWork(trace, [&](DeviceId id) {
    if (!only_kernels || trace.device().kind[id.value] == DeviceKind::kKernel) {
      spans[trace.DeviceOf(id)].push_back(
          {trace.device().ts_ns[id.value], trace.device().end_ns(id)});
    }
  });
  Counts unions;
  for (const auto& [device, intervals] : spans) {
    unions[std::to_string(device)] = Coverage(Union(intervals));
  }
  return unions;
}

// (negative time, name) -> (calls, time): the first ones are the longest.
using KernelTimes = std::map<std::string, std::pair<int64_t, int64_t>>;

KernelTimes KernelTimesOf(const Trace& trace) {
  KernelTimes times;
  ForEachWork(trace, [&](DeviceId id) {
    if (trace.device().kind[id.value] == DeviceKind::kKernel) {
      auto& [calls, total_ns] = times[std::string(trace.Name(id))];
      ++calls;
      total_ns += trace.device().dur_ns[id.value];
    }
  });
  return times;
}

// --- one test per file ---

class ExpectedTest : public testing::TestWithParam<Expected> {
 protected:
  void SetUp() override {
    if (!fs::exists(SamplePath(GetParam().file))) {
      GTEST_SKIP() << "no sample " << GetParam().file << " in " << SamplesFolder();
    }
    row_ = parser_.parse(GetParam().line);
    sample_.emplace(LoadSample(GetParam().file));
  }

  const Trace& trace() const { return sample_->trace; }
  const TraceIndex& index() const { return sample_->index; }
  element row() const { return row_; }

  void CheckEvents() const;
  void CheckDevices() const;
  void CheckKernels() const;
  void CheckExternalIds() const;
  void CheckLaunches() const;
  void CheckNesting() const;
  void CheckFlows() const;
  void CheckOperators() const;

 private:
  simdjson::dom::parser parser_;
  element row_;
  std::optional<Sample> sample_;
};

void ExpectedTest::CheckEvents() const {
  EXPECT_EQ(EventCountsOf(trace()), CountsOf(row(), "counts_ph_cat"));
  EXPECT_EQ(DurationsOf(trace()), CountsOf(row(), "sum_dur_ns_by_cat"));
  EXPECT_EQ(ZeroDurationsOf(trace()), CountsOf(row(), "zero_dur_by_cat"));
  EXPECT_EQ(trace().span_ns(), Integer(row(), "x_span_ns_excluding_Trace"));
  EXPECT_TRUE(trace().diagnostics().empty());
  int64_t bytes = 0;
  if (row()["bytes_unpacked"].get(bytes) == simdjson::SUCCESS) {
    EXPECT_EQ(static_cast<int64_t>(trace().meta().text_bytes), bytes);
  }
}

void ExpectedTest::CheckDevices() const {
  EXPECT_EQ(UnionByDevice(trace(), false), CountsOf(row(), "gpu_busy_union_ns_by_device"));
  EXPECT_EQ(UnionByDevice(trace(), true), CountsOf(row(), "kernel_union_ns_by_device"));
  std::set<int64_t> devices;
  std::set<std::pair<int64_t, int64_t>> streams;
  int64_t events = 0;
  ForEachWork(trace(), [&](DeviceId id) {
    ++events;
    devices.insert(trace().DeviceOf(id));
    streams.emplace(trace().DeviceOf(id), trace().StreamOf(id));
  });
  EXPECT_EQ(events, Integer(row(), "gpu_events"));
  EXPECT_EQ(static_cast<int64_t>(devices.size()), Integer(row(), "gpu_devices"));
  EXPECT_EQ(static_cast<int64_t>(streams.size()), Integer(row(), "gpu_streams"));
  EXPECT_EQ(static_cast<int64_t>(index().diagnostics.count(Diag::kStreamOverlap)),
            Integer(row(), "stream_overlaps"));
}

void ExpectedTest::CheckKernels() const {
  const KernelTimes times = KernelTimesOf(trace());
  EXPECT_EQ(static_cast<int64_t>(times.size()), Integer(row(), "distinct_kernel_names"));
  std::vector<int64_t> totals;
  for (const auto& [name, time] : times) {
    totals.push_back(time.second);
  }
  std::sort(totals.rbegin(), totals.rend());
  size_t rank = 0;
  for (const element top : simdjson::dom::array(row()["top5_kernels_name_count_ns"])) {
    const std::string name(std::string_view(top.at(0)));
    ASSERT_TRUE(times.contains(name)) << name;
    EXPECT_EQ(times.at(name), std::pair(int64_t(top.at(1)), int64_t(top.at(2)))) << name;
    EXPECT_EQ(totals[rank++], int64_t(top.at(2))) << name;
  }
}

void ExpectedTest::CheckExternalIds() const {
  std::set<int64_t> op_ids;
  int64_t largest = 0;
  for (uint32_t row = 0; row < trace().host().size(); ++row) {
    const uint32_t detail = trace().host().detail[row];
    if (trace().host().kind[row] == HostKind::kOp && detail != kNoDetail) {
      op_ids.insert(trace().ops().external_id[detail]);
    }
  }
  const auto look_at = [&](const auto& ids) {
    for (const int64_t id : ids) {
      largest = std::max(largest, id);
    }
  };
  look_at(trace().ops().external_id);
  look_at(trace().runtime_calls().external_id);
  look_at(trace().device().external_id);
  int64_t hits = 0;
  int64_t misses = 0;
  int64_t absent = 0;
  ForEachWork(trace(), [&](DeviceId id) {
    const int64_t external_id = trace().device().external_id[id.value];
    ++(external_id == kMissing ? absent : op_ids.contains(external_id) ? hits : misses);
  });
  EXPECT_EQ(hits, Integer(row(), "external_id_hits"));
  EXPECT_EQ(misses, Integer(row(), "external_id_misses"));
  EXPECT_EQ(absent, Integer(row(), "external_id_absent"));
  EXPECT_EQ(largest, Integer(row(), "max_external_id"));
}

void ExpectedTest::CheckLaunches() const {
  int64_t unlinked = 0;
  int64_t linked = 0;
  int64_t delay_ns = 0;
  int64_t largest = 0;
  std::map<int64_t, int64_t> by_correlation;
  for (const auto* numbers :
       {&trace().device().correlation, &trace().runtime_calls().correlation}) {
    for (const int64_t number : *numbers) {
      largest = std::max(largest, number);
    }
  }
  ForEachWork(trace(), [&](DeviceId id) {
    const HostId launch = index().correlation.launch_of[id.value];
    ++by_correlation[trace().device().correlation[id.value]];
    if (!launch.valid()) {
      ++unlinked;
      return;
    }
    ++linked;
    delay_ns += trace().device().ts_ns[id.value] - trace().host().ts_ns[launch.value];
  });
  const auto many = std::count_if(by_correlation.begin(), by_correlation.end(),
                                  [](const auto& entry) { return entry.second > 1; });
  EXPECT_EQ(unlinked, Integer(row(), "gpu_events_without_runtime_record"));
  EXPECT_EQ(many, Integer(row(), "correlations_with_many_gpu_events"));
  EXPECT_EQ(largest, Integer(row(), "max_correlation"));
  EXPECT_EQ(index().diagnostics.count(Diag::kDeviceBeforeLaunch), 0U);
  EXPECT_EQ(index().diagnostics.count(Diag::kDuplicateCorrelation), 0U);
  double mean_us = 0;
  if (row()["mean_launch_to_start_us"].get(mean_us) == simdjson::SUCCESS) {
    EXPECT_NEAR(static_cast<double>(delay_ns) / 1000 / static_cast<double>(linked), mean_us,
                mean_us * 1e-12);
  } else {
    EXPECT_EQ(linked, 0);
  }
}

void ExpectedTest::CheckNesting() const {
  std::set<TrackId> threads;
  for (uint32_t row = 0; row < trace().host().size(); ++row) {
    if (trace().host().kind[row] != HostKind::kOther) {
      threads.insert(trace().host().track[row]);
    }
  }
  EXPECT_EQ(static_cast<int64_t>(threads.size()), Integer(row(), "threads"));
  EXPECT_EQ(static_cast<int64_t>(index().diagnostics.count(Diag::kNotNested)),
            Integer(row(), "nesting_violations"));
}

// One end of an arrow: thread and start of an operator.
using Place = std::pair<uint32_t, int64_t>;

// The recorded arrows by where they start.
std::map<Place, Place> ArrowsOf(const Trace& trace) {
  const Flows& flows = trace.flows();
  std::map<int64_t, std::array<Place, 2>> ends;
  for (uint32_t row = 0; row < flows.size(); ++row) {
    ends[flows.id[row]][flows.is_start[row] != 0 ? 0 : 1] = {flows.track[row].value,
                                                             flows.ts_ns[row]};
  }
  std::map<Place, Place> arrows;
  for (const auto& [id, end] : ends) {
    arrows[end[0]] = end[1];
  }
  return arrows;
}

// Recorded arrows and links found by sequence numbers must join the same operators. Arrows end at
// the backward function, links at the engine's wrapper around it.
void ExpectedTest::CheckFlows() const {
  const std::map<Place, Place> arrows = ArrowsOf(trace());
  element expected;
  if (row()["flows"]["fwdbwd"].get(expected) != simdjson::SUCCESS) {
    EXPECT_TRUE(arrows.empty());
    return;
  }
  EXPECT_EQ(static_cast<int64_t>(arrows.size()), Integer(expected, "paired"));
  EXPECT_EQ(static_cast<int64_t>(index().forward_backward.size()), Integer(expected, "paired"));
  const HostEvents& host = trace().host();
  const auto place = [&](uint32_t row) { return Place(host.track[row].value, host.ts_ns[row]); };
  for (const ForwardBackwardLink& link : index().forward_backward) {
    const auto arrow = arrows.find(place(link.forward.value));
    ASSERT_NE(arrow, arrows.end()) << trace().Name(link.forward);
    const uint32_t end = index().tree.subtree_end[link.backward.value];
    bool is_inside = false;
    for (uint32_t row = link.backward.value; row < end; ++row) {
      is_inside = is_inside || place(row) == arrow->second;
    }
    EXPECT_TRUE(is_inside) << trace().Name(link.backward);
  }
}

// Whether External id names operators: in older files it merely repeats the correlation, and is not
// believed.
bool NamesOperators(const Trace& trace) {
  const DeviceEvents& device = trace.device();
  bool names = false;
  ForEachWork(trace, [&](DeviceId id) {
    const int64_t external_id = device.external_id[id.value];
    names = names || (external_id != kMissing && external_id != device.correlation[id.value]);
  });
  return names;
}

// A newer file says for each piece of work whether an operator started it, and which. What follows
// from nesting alone says the same: one that names an operator has that one, one that names none
// (part of a replayed graph, launched by Python or a library itself, or without launch) has none.
void ExpectedTest::CheckOperators() const {
  if (!NamesOperators(trace())) {
    return;
  }
  const Correlation& correlation = index().correlation;
  ForEachWork(trace(), [&](DeviceId id) {
    const HostId op = correlation.op_of[id.value];
    const int64_t external_id = trace().device().external_id[id.value];
    ASSERT_EQ(op.valid(), external_id != kMissing) << trace().Name(id);
    if (op.valid()) {
      EXPECT_EQ(correlation.rule[id.value], LinkRule::kLaunchNesting) << trace().Name(id);
      EXPECT_EQ(trace().ops().external_id[trace().host().detail[op.value]], external_id)
          << trace().Name(id);
    } else {
      const bool is_launched = correlation.launch_of[id.value].valid();
      EXPECT_EQ(correlation.rule[id.value], is_launched ? LinkRule::kLaunchOnly : LinkRule::kNone)
          << trace().Name(id);
    }
  });
}

TEST_P(ExpectedTest, EveryNumberAgrees) {
  CheckEvents();
  CheckDevices();
  CheckKernels();
  CheckExternalIds();
  CheckLaunches();
  CheckNesting();
  CheckFlows();
  CheckOperators();
}

INSTANTIATE_TEST_SUITE_P(Samples, ExpectedTest, testing::ValuesIn(ReadExpected()),
                         [](const auto& test) {
                           std::string name;
                           for (const char c : test.param.file) {
                             name += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
                           }
                           return name;
                         });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ExpectedTest);

// Shows in the summary that the tests above are not run at all.
TEST(ExpectedSamplesTest, AreThere) {
  if (ReadExpected().empty()) {
    GTEST_SKIP() << "no samples in " << SamplesFolder() << "; -DBORESCOPE_SAMPLES=DIR names them";
  }
}

}  // namespace
}  // namespace borescope::internal
