// The idle time of streams against a slow twin: every nanosecond is asked for the gap it lies in
// and for the launches of the work that ends it.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "borescope/analysis/analyses.h"
#include "borescope/analysis/param_specs.h"
#include "borescope/trace/testing/trace_maker.h"
#include "tests/oracle/random.h"

namespace borescope {
namespace {

using testkit::Random;
using testkit::Span;
using testkit::TraceMaker;

constexpr int64_t kEnd = 60;        // no event reaches further
constexpr int64_t kKernelWait = 6;  // ns

struct Work {
  Span span;
  int64_t launch_ns = kMissing;
};
using Stream = std::vector<Work>;

struct Planted {
  std::map<std::pair<int64_t, int64_t>, Stream> streams;  // by gpu and stream
  std::vector<std::pair<int64_t, Span>> steps;            // number, window
};

void PlantWork(Random& random, TraceMaker& maker, int64_t correlation, Planted& planted) {
  const int64_t gpu = random.Between(0, 1);
  const int64_t stream = random.Between(0, 1);
  Work work{{random.Between(0, 50), random.Chance(0.3) ? 0 : random.Between(1, 9)}};
  if (random.Chance(0.7)) {
    work.launch_ns = random.Between(0, 50);
    maker.Call("hipLaunchKernel", 1, {work.launch_ns, 1}, correlation);
  }
  maker.Device(DeviceKind::kKernel, "k", gpu, stream, work.span, {correlation});
  planted.streams[{gpu, stream}].push_back(work);
}

// The first event fills the recording.
Planted Plant(Random& random, TraceMaker& maker) {
  Planted planted;
  maker.Host(HostKind::kPython, "all", 1, {0, kEnd});
  const auto works = static_cast<int64_t>(random.Below(12));
  for (int64_t i = 0; i < works; ++i) {
    PlantWork(random, maker, i + 1, planted);
  }
  const auto steps = static_cast<int64_t>(random.Below(4));
  for (int64_t number = 0; number < steps; ++number) {
    const Span span{random.Between(0, 40), random.Between(1, 15)};
    maker.Host(HostKind::kAnnotation, "ProfilerStep#" + std::to_string(number), 2, span);
    planted.steps.emplace_back(number, span);
  }
  return planted;
}

int64_t EndOf(const Work& work) { return work.span.ts_ns + work.span.dur_ns; }

// What a stream does in one nanosecond: the name of a column.
std::string StateAt(const Stream& stream, int64_t ns) {
  int64_t gap_begin = kMissing;
  int64_t gap_end = kEnd + 1;
  for (const Work& work : stream) {
    if (work.span.ts_ns <= ns && ns < EndOf(work)) {
      return "busy_ns";
    }
    if (work.span.ts_ns <= ns) {
      gap_begin = std::max(gap_begin, EndOf(work));
    } else {
      gap_end = std::min(gap_end, work.span.ts_ns);
    }
  }
  if (gap_begin == kMissing || gap_end > kEnd) {
    return gap_begin == kMissing ? "head_ns" : "tail_ns";
  }
  int64_t launch_ns = kEnd + 1;
  for (const Work& work : stream) {
    if (work.span.ts_ns == gap_end && work.launch_ns != kMissing) {
      launch_ns = std::min(launch_ns, work.launch_ns);
    }
  }
  if (launch_ns > kEnd) {
    return "unlinked_ns";
  }
  if (launch_ns > gap_begin) {
    return "host_wait_ns";
  }
  return gap_end - gap_begin < kKernelWait ? "kernel_wait_ns" : "other_ns";
}

using Key = std::tuple<int64_t, int64_t, int64_t>;  // step, gpu, stream
using Times = std::map<std::string, int64_t>;

bool Holds(const Span& span, int64_t ns) {
  return span.ts_ns <= ns && ns < span.ts_ns + span.dur_ns;
}

// Every nanosecond counts in each step that holds it, else in the row without a step.
std::map<Key, Times> TwinOf(const Planted& planted) {
  std::map<Key, Times> rows;
  for (const auto& [place, stream] : planted.streams) {
    for (int64_t ns = 0; ns < kEnd; ++ns) {
      const std::string state = StateAt(stream, ns);
      bool in_step = false;
      for (const auto& [number, span] : planted.steps) {
        if (Holds(span, ns)) {
          in_step = true;
          ++rows[{number, place.first, place.second}][state];
        }
      }
      if (!in_step) {
        ++rows[{kMissing, place.first, place.second}][state];
      }
    }
  }
  return rows;
}

int64_t Cell(const Table& table, const std::string& name, size_t row) {
  const Column* column = table.Find(name);
  return column->IsMissing(row) ? kMissing : std::get<IntValues>(column->values)[row];
}

std::map<Key, Times> RowsOf(const Table& table) {
  std::map<Key, Times> rows;
  for (size_t row = 0; row < table.rows(); ++row) {
    Times times;
    for (const char* name : {"busy_ns", "host_wait_ns", "kernel_wait_ns", "other_ns", "unlinked_ns",
                             "head_ns", "tail_ns"}) {
      if (const int64_t ns = Cell(table, name, row); ns != 0) {
        times[name] = ns;
      }
    }
    const Key key{Cell(table, "step", row), Cell(table, "gpu", row), Cell(table, "stream", row)};
    EXPECT_TRUE(rows.emplace(key, times).second) << "a row twice";
  }
  return rows;
}

// Gap lengths by cause add up to the times of the whole recording.
Times IntervalsOf(const Table& table) {
  Times times;
  for (size_t row = 0; row < table.rows(); ++row) {
    const auto& causes = std::get<StringValues>(table.Find("cause")->values);
    times[causes[row] + "_ns"] += Cell(table, "total_ns", row);
  }
  return times;
}

Times GapsOf(const Planted& planted) {
  Times times;
  for (const auto& [place, stream] : planted.streams) {
    for (int64_t ns = 0; ns < kEnd; ++ns) {
      ++times[StateAt(stream, ns)];
    }
  }
  times.erase("busy_ns");
  times.erase("head_ns");
  times.erase("tail_ns");
  return times;
}

TEST(IdleTwinTest, EveryNanosecondHasOneCause) {
  for (uint64_t seed = 0; seed < 4000 && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    TraceMaker maker;
    const Planted planted = Plant(random, maker);
    const Trace trace = maker.Finish();
    const TraceIndex index = BuildIndex(trace, 1);
    Params params;
    params.by.emplace_back("step");
    params.values.push_back({kKernelWaitParam.name, kKernelWait, ""});
    const Result<Findings> found = MapIdle({0, trace, index}, params);
    ASSERT_TRUE(found.ok()) << found.error().message;
    if (!planted.streams.empty()) {
      EXPECT_EQ(RowsOf((*found)[0]), TwinOf(planted));
      EXPECT_EQ(IntervalsOf((*found)[1]), GapsOf(planted));
    }
  }
}

}  // namespace
}  // namespace borescope
