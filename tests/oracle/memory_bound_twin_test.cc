// Time at the speed of memory, as the verdict sums it up, against the models and roofs of
// `roofline`, call by call.

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "borescope/analysis/core/row.h"
#include "borescope/analysis/measures/flops/modelled_work.h"
#include "borescope/analysis/measures/flops/roofs.h"
#include "borescope/base/intervals.h"
#include "borescope/testing/test_trace.h"
#include "tests/oracle/random.h"

namespace borescope::internal {
namespace {

using testkit::Random;

constexpr const char* kHalves = R"(["c10::Half", "c10::Half", ""])";

std::string Vector(int64_t size) {
  const std::string one = "[" + std::to_string(size) + "]";
  return "[" + one + ", " + one + ", []]";
}

std::string Square(int64_t size) {
  const std::string one = "[" + std::to_string(size) + ", " + std::to_string(size) + "]";
  return "[" + one + ", " + one + ", []]";
}

// A call with a kernel or two, at 1/8 to 4 times the speed of memory or of computing.
void AddCall(Random& random, int64_t number, TestTrace& trace) {
  const int64_t at = number * 100'000;
  const bool is_product = random.Chance(0.4);
  const int64_t size = is_product ? random.Between(100, 4000) : random.Between(1, 100) * 100'000;
  const double bytes =
      is_product ? 6.0 * static_cast<double>(size * size) : 6.0 * static_cast<double>(size);
  const auto at_bandwidth = static_cast<int64_t>(bytes / 3352) + 1;
  OpArgs args{.dims = is_product ? Square(size) : Vector(size), .types = kHalves};
  if (random.Chance(0.15)) {
    args = {};
  }
  if (random.Chance(0.3)) {
    trace.Op("aten::linear", {at, 50'000}, {.dims = Square(64), .types = kHalves});
  }
  trace.Op(is_product ? "aten::mm" : "aten::add", {at + 10, 40'000}, args);
  for (int64_t i = random.Between(0, 1); i >= 0; --i) {
    const bool is_comm = random.Chance(0.1);
    const char* name = is_comm ? "ncclDevKernel_AllReduce" : is_product ? "ampere_gemm" : "add";
    const char* call = random.Chance(0.1) ? "cudaGraphLaunch" : "cudaLaunchKernel";
    const int64_t id = number * 2 + i + 1;
    trace.Runtime(call, {at + 100 + i * 100, 50}, id);
    trace.Kernel(name, {at + 1000 + i, at_bandwidth * random.Between(1, 32) / 8 + 1},
                 {.correlation = id, .stream = 7 + i});
  }
}

struct Sums {
  int64_t kernel_ns = 0;
  int64_t modelled_ns = 0;
  int64_t calls_ns = 0;
  int64_t bytes = 0;
  std::vector<Interval> bound;
};

Sums SlowSums(const RankView& view) {
  Sums sums;
  const DeviceEvents& device = view.trace.device();
  const auto is_comm = [&](DeviceId id) {
    return view.index.ClassOf(view.trace, id) == KernelClass::kCollective;
  };
  for (uint32_t row = 0; row < device.size(); ++row) {
    sums.kernel_ns += is_comm(DeviceId{row}) ? 0 : device.dur_ns[row];
  }
  const ModelledWork work = ModelWork(view, {}).value();
  const Roofs roofs = Roofs::Make(view, {}).value();
  for (size_t i = 0; i < work.calls.size(); ++i) {
    int64_t total_ns = 0;
    int64_t kernels = 0;
    std::vector<Interval> times;
    for (const DeviceId id : work.WorksOf(work.calls[i])) {
      if (!is_comm(id)) {
        ++kernels;
        total_ns += device.dur_ns[id.value];
        times.push_back({device.ts_ns[id.value], device.end_ns(id)});
      }
    }
    const std::optional<RoofTime> roof = roofs.TimeOf(work.calls[i], "", 0);
    if (!roof.has_value() || roof->longest() == 0) {
      continue;
    }
    sums.modelled_ns += total_ns;
    const bool is_fast = total_ns / 2 <= roof->memory_ns;
    if (kernels > 0 && is_fast && BoundOf(*roof, total_ns, kernels) == Bound::kMemory) {
      sums.calls_ns += total_ns;
      sums.bytes += static_cast<int64_t>(work.calls[i].cost().bytes());
      sums.bound.insert(sums.bound.end(), times.begin(), times.end());
    }
  }
  return sums;
}

TEST(MemoryBoundTwin, IsWhatRooflineSays) {
  int64_t bound_ns = 0;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    TestTrace trace;
    trace.meta().devices.push_back({.id = 0, .name = "NVIDIA H100 80GB HBM3"});
    for (int64_t number = random.Between(1, 20); number > 0; --number) {
      AddCall(random, number, trace);
    }
    const RankView& view = trace.View();
    const Sums slow = SlowSums(view);
    const Table table = MemoryBoundTable(view, {}).value();
    if (table.rows() == 0) {
      EXPECT_EQ(slow.modelled_ns, 0);  // no call has shapes
      continue;
    }
    EXPECT_EQ(Ints(table, "kernel_ns")[0], slow.kernel_ns);
    EXPECT_EQ(Ints(table, "modelled_ns")[0], slow.modelled_ns);
    EXPECT_EQ(Ints(table, "calls_ns")[0], slow.calls_ns);
    EXPECT_EQ(Ints(table, "bytes")[0], slow.bytes);
    EXPECT_EQ(Ints(table, "memory_bound_ns")[0], Coverage(Union(slow.bound)));
    bound_ns += slow.calls_ns;
  }
  EXPECT_GT(bound_ns, 0);
}

}  // namespace
}  // namespace borescope::internal
