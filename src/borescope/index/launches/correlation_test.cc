#include "borescope/index/launches/correlation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "borescope/index/call_tree.h"
#include "borescope/testing/trace_maker.h"

namespace borescope::internal {

namespace {

using testkit::DeviceArgs;
using testkit::FindDevice;
using testkit::NameOrNone;
using testkit::Span;
using testkit::TraceMaker;

constexpr int kSeeds = 50;

// A finished trace with its links; device events are looked up by name.
class Linked {
 public:
  explicit Linked(TraceMaker& maker) : trace_(maker.Finish()) {
    links_ = BuildCorrelation(trace_, OperatorRule(trace_), diagnostics_);
  }

  std::string_view LaunchOf(std::string_view device) const {
    return NameOrNone(trace_, links_.launch_of[FindDevice(trace_, device).value]);
  }
  std::string_view OpOf(std::string_view device) const {
    return NameOrNone(trace_, links_.op_of[FindDevice(trace_, device).value]);
  }
  LinkRule RuleOf(std::string_view device) const {
    return links_.rule[FindDevice(trace_, device).value];
  }
  std::vector<std::string_view> DevicesOf(std::string_view launch) const {
    const HostId row = testkit::FindHost(trace_, launch);
    std::vector<std::string_view> names;
    for (const DeviceId id : links_.DevicesOf(trace_.host().detail[row.value])) {
      names.push_back(trace_.Name(id));
    }
    return names;
  }
  const Trace& trace() const { return trace_; }
  const Correlation& links() const { return links_; }
  uint64_t count(Diag diag) const { return diagnostics_.count(diag); }

 private:
  Trace trace_;
  Diagnostics diagnostics_;
  Correlation links_;
};

// Work of an operator: its call, as recorded, and the kernel.
struct Launch {
  std::string op;
  std::string kernel;
  int64_t thread = 1;
  int64_t stream = 7;
  int64_t call_ns = 0;
  int64_t kernel_ns = 0;
  int64_t call_number = 0;
  int64_t kernel_number = 0;
};

void Write(const std::vector<Launch>& launches, bool with_names, TraceMaker& maker) {
  for (const Launch& launch : launches) {
    maker.Op(launch.op, launch.thread, {launch.call_ns - 2, 10});
    maker.Call("hipLaunchKernel", launch.thread, {launch.call_ns, 5}, launch.call_number);
    if (with_names) {
      maker.part().data.runtime_calls.kernel.back() = maker.part().Intern(launch.kernel);
    }
    if (!launch.kernel.empty()) {
      maker.Kernel(launch.kernel, launch.stream, {launch.kernel_ns, 40},
                   {.correlation = launch.kernel_number});
    }
  }
}

// Threads that launch at the same time, each on a stream of its own. Some launches get the number
// of one of another thread: on the kernel alone, or on both.
class Program {
 public:
  Program(uint64_t seed, int64_t threads) : random_(seed), threads_(threads) {}

  // `lost`: one launch in so many has no kernel at all.
  std::vector<Launch> Run(bool is_shared, int64_t lost = 0) {
    std::vector<Launch> launches;
    for (int64_t round = 0; round < 120; ++round) {
      for (int64_t thread = 0; thread < threads_; ++thread) {
        const int64_t kind = Below(3);
        const int64_t call_ns = 1000 * round + Below(20);
        const auto number = static_cast<int64_t>(launches.size()) + 1;
        launches.push_back({"aten::op" + std::to_string(10 * thread + kind),
                            "kernel_" + std::to_string(number), thread + 1, thread + 1, call_ns,
                            call_ns + 20 + Below(300), number, number});
      }
    }
    for (size_t i = 0; i + 1 < launches.size(); ++i) {
      if (launches[i].thread < launches[i + 1].thread && Below(12) == 0) {
        launches[i + 1].kernel_number = launches[i].kernel_number;
        launches[i + 1].call_number =
            is_shared ? launches[i].call_number : launches[i + 1].call_number;
        ++planted;
        ++i;
      } else if (lost != 0 && Below(lost) == 0) {
        launches[i].kernel = "";
      }
    }
    return launches;
  }

  int planted = 0;

 private:
  int64_t Below(int64_t limit) {
    return static_cast<int64_t>(random_() % static_cast<uint64_t>(limit));
  }

  std::mt19937_64 random_;
  int64_t threads_;
};

struct Score {
  int right = 0;
  int wrong = 0;
  int open = 0;

  void Add(const std::vector<Launch>& launches, const Linked& linked) {
    std::map<std::string_view, uint32_t> rows;
    for (uint32_t row = 0; row < linked.trace().device().size(); ++row) {
      rows[linked.trace().Name(DeviceId{row})] = row;
    }
    for (const Launch& launch : launches) {
      if (launch.kernel.empty()) {
        continue;
      }
      const uint32_t row = rows[launch.kernel];
      const HostId call = linked.links().launch_of[row];
      const bool is_right = call.valid() &&
                            linked.trace().host().ts_ns[call.value] == launch.call_ns &&
                            NameOrNone(linked.trace(), linked.links().op_of[row]) == launch.op;
      right += is_right ? 1 : 0;
      open += call.valid() ? 0 : 1;
      wrong += !is_right && call.valid() ? 1 : 0;
    }
  }
};

TEST(ContestedLaunchesTest, KernelsWithTheNumberOfAnotherThreadGoBackToTheirOwn) {
  for (const bool is_shared : {false, true}) {
    Score score;
    int planted = 0;
    for (uint64_t seed = 0; seed < kSeeds; ++seed) {
      Program program(seed, 2 + static_cast<int64_t>(seed % 3));
      const std::vector<Launch> launches = program.Run(is_shared);
      TraceMaker maker;
      Write(launches, false, maker);
      const Linked linked(maker);
      score.Add(launches, linked);
      planted += program.planted;
      EXPECT_EQ(linked.count(Diag::kAmbiguousLaunch),
                std::count_if(linked.links().launch_of.begin(), linked.links().launch_of.end(),
                              [](HostId id) { return !id.valid(); }));
    }
    EXPECT_EQ(score.wrong, 0) << is_shared;
    EXPECT_LE(score.open, planted / 20) << is_shared << " of " << planted;
  }
}

// ... also where launches beside them have lost their kernels.
TEST(ContestedLaunchesTest, LaunchesWithoutKernelsDoNotMislead) {
  Score score;
  int planted = 0;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    Program program(seed, 3);
    const std::vector<Launch> launches = program.Run(false, 5);
    TraceMaker maker;
    Write(launches, false, maker);
    score.Add(launches, Linked(maker));
    planted += program.planted;
  }
  RecordProperty("planted", planted);
  RecordProperty("wrong", score.wrong);
  RecordProperty("open", score.open);
  EXPECT_LE(score.wrong, planted / 50) << planted;
  EXPECT_LE(score.open, planted / 2) << planted;
}

// Several threads on one stream: the calls name their kernels, as on AMD.
TEST(ContestedLaunchesTest, NamesOfKernelsDecide) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    Program program(seed, 3);
    std::vector<Launch> launches = program.Run(false);
    for (Launch& launch : launches) {
      launch.stream = 7;
    }
    TraceMaker maker;
    Write(launches, true, maker);
    Score score;
    score.Add(launches, Linked(maker));
    EXPECT_EQ(score.wrong + score.open, 0) << seed;
  }
}

// Nothing says which of the two is whose: neither gets both.
TEST(ContestedLaunchesTest, WhatNothingDecidesHasNoLaunch) {
  TraceMaker maker;
  Write({{"aten::first", "a", 1, 1, 100, 200, 5, 5}, {"aten::second", "b", 2, 2, 101, 200, 6, 5}},
        false, maker);
  const Linked linked(maker);
  EXPECT_EQ(linked.OpOf("a"), "");
  EXPECT_EQ(linked.OpOf("b"), "");
  EXPECT_EQ(linked.count(Diag::kAmbiguousLaunch), 2U);
}

// ... unless a kernel is named like its operator, or both are of the same one.
TEST(ContestedLaunchesTest, OperatorsDecideWhereTheyCan) {
  TraceMaker maker;
  Write(
      {{"aten::mm", "gemm_k", 1, 1, 100, 200, 5, 5}, {"aten::add_", "add_k", 2, 2, 101, 200, 6, 5}},
      false, maker);
  const Linked linked(maker);
  EXPECT_EQ(linked.OpOf("gemm_k"), "aten::mm");
  EXPECT_EQ(linked.OpOf("add_k"), "aten::add_");
  EXPECT_EQ(linked.count(Diag::kAmbiguousLaunch), 0U);
}

// Numbers that begin again: an earlier kernel is not of a later call.
TEST(ContestedLaunchesTest, TimesDecideWhereNumbersBeginAgain) {
  TraceMaker maker;
  Write({{"aten::old", "a", 1, 1, 100, 200, 5, 5}, {"aten::new", "b", 1, 1, 10'000, 10'200, 5, 5}},
        false, maker);
  const Linked linked(maker);
  EXPECT_EQ(linked.OpOf("a"), "aten::old");
  EXPECT_EQ(linked.OpOf("b"), "aten::new");
}

// A launch of one kernel that is alone may have a helper on its stream; on another stream it is not
// its own.
TEST(ContestedLaunchesTest, SeveralKernelsOfOneLaunch) {
  for (const int64_t stream : {1, 2}) {
    TraceMaker maker;
    maker.Op("aten::mm", 1, {98, 10});
    maker.Call("hipLaunchKernel", 1, {100, 5}, 5);
    maker.Kernel("a", 1, {200, 40}, {.correlation = 5});
    maker.Kernel("b", stream, {300, 40}, {.correlation = 5});
    const Linked linked(maker);
    EXPECT_EQ(linked.OpOf("a"), stream == 1 ? "aten::mm" : "");
    EXPECT_EQ(linked.count(Diag::kAmbiguousLaunch), stream == 1 ? 0U : 2U);
  }
}

// The call of the runtime around that of the driver launched nothing itself.
TEST(ContestedLaunchesTest, CallsAroundALaunchAreNoRivals) {
  for (const int64_t number : {5, 9}) {
    TraceMaker maker;
    maker.Op("aten::mm", 1, {98, 20});
    maker.Call("cudaLaunchKernel", 1, {100, 15}, number);
    maker.Call("cuLaunchKernel", 1, {102, 9}, 5);
    maker.Kernel("a", 1, {200, 40}, {.correlation = 5});
    maker.Kernel("b", 1, {300, 40}, {.correlation = 5});
    const Linked linked(maker);
    for (const std::string_view kernel : {"a", "b"}) {
      const HostId launch =
          linked.links().launch_of[testkit::FindDevice(linked.trace(), kernel).value];
      EXPECT_EQ(NameOrNone(linked.trace(), launch), "cuLaunchKernel") << number;
    }
  }
}

TEST(ContestedLaunchesTest, GraphsAndCooperativeLaunchesStartMany) {
  EXPECT_TRUE(IsLaunchOfOneKernel("cudaLaunchKernelExC"));
  EXPECT_TRUE(IsLaunchOfOneKernel("hipExtModuleLaunchKernel"));
  EXPECT_TRUE(IsLaunchOfOneKernel("cuLaunchKernel"));
  for (const std::string_view name :
       {"cudaGraphLaunch", "hipGraphLaunch", "hipLaunchCooperativeKernel",
        "hipExtLaunchMultiKernelMultiDevice", "runFunction", "cudaMemcpyAsync"}) {
    EXPECT_FALSE(IsLaunchOfOneKernel(name)) << name;
  }
}

using Names = std::vector<std::string_view>;

TEST(CorrelationTest, ALaunchInsideAnOperator) {
  TraceMaker maker;
  maker.Op("aten::linear", 1, {0, 100});
  maker.Op("aten::addmm", 1, {10, 50});
  maker.Call("cudaLaunchKernel", 1, {20, 5}, 7);
  maker.Kernel("gemm", 7, {200, 10}, {.correlation = 7});
  const Linked linked(maker);
  EXPECT_EQ(linked.LaunchOf("gemm"), "cudaLaunchKernel");
  EXPECT_EQ(linked.OpOf("gemm"), "aten::addmm");
  EXPECT_EQ(linked.RuleOf("gemm"), LinkRule::kLaunchNesting);
  EXPECT_EQ(linked.DevicesOf("cudaLaunchKernel"), (Names{"gemm"}));
}

// CUDA and HIP graphs: one launch, many kernels.
TEST(CorrelationTest, OneLaunchStartsMany) {
  TraceMaker maker;
  maker.Call("cudaGraphLaunch", 1, {0, 5}, 7);
  maker.Call("cudaLaunchKernel", 1, {10, 5}, 8);
  maker.Call("cudaStreamSynchronize", 1, {20, 5}, 9);
  maker.Kernel("c", 7, {300, 10}, {.correlation = 7});
  maker.Kernel("a", 7, {100, 10}, {.correlation = 7});
  maker.Kernel("b", 20, {200, 10}, {.correlation = 7});
  maker.Kernel("other", 7, {150, 10}, {.correlation = 8});
  const Linked linked(maker);
  EXPECT_EQ(linked.DevicesOf("cudaGraphLaunch"), (Names{"a", "c", "b"}));
  EXPECT_EQ(linked.DevicesOf("cudaLaunchKernel"), (Names{"other"}));
  EXPECT_EQ(linked.DevicesOf("cudaStreamSynchronize"), Names{});
  EXPECT_EQ(linked.RuleOf("a"), LinkRule::kLaunchOnly);
  EXPECT_EQ(linked.count(Diag::kUnlinkedOp), 4U);
}

// MTIA and nested runtime/driver calls share a number: the one that launches counts, the innermost
// of several that do.
TEST(CorrelationTest, OfSeveralCallsTheInnermostLaunchCounts) {
  TraceMaker maker;
  maker.Call("cudaLaunchKernelExC", 1, {0, 50}, 7);
  maker.Call("cuLaunchKernelEx", 1, {10, 20}, 7);
  maker.Call("cudaStreamIsCapturing", 1, {12, 2}, 7);
  maker.Kernel("k", 7, {100, 10}, {.correlation = 7});
  const Linked linked(maker);
  EXPECT_EQ(linked.LaunchOf("k"), "cuLaunchKernelEx");
  EXPECT_EQ(linked.count(Diag::kDuplicateCorrelation), 2U);
}

TEST(CorrelationTest, CallsThatLaunchNothingServeWhereThereIsNoOther) {
  TraceMaker maker;
  maker.Call("enqueue", 1, {0, 50}, 7);
  maker.Call("submit", 1, {10, 20}, 7);
  maker.Kernel("k", 7, {100, 10}, {.correlation = 7});
  EXPECT_EQ(Linked(maker).LaunchOf("k"), "submit");
}

TEST(CorrelationTest, ZeroNegativeAndMissingNumbersLinkNothing) {
  TraceMaker maker;
  for (const int64_t number : {int64_t{0}, int64_t{-1}, kMissing}) {
    maker.Call("cudaLaunchKernel", 1, {0, 5}, number);
    maker.Kernel("k" + std::to_string(number), 7, {100, 10}, {.correlation = number});
  }
  const Linked linked(maker);
  EXPECT_EQ(linked.LaunchOf("k0"), "");
  EXPECT_EQ(linked.LaunchOf("k-1"), "");
  EXPECT_EQ(linked.count(Diag::kUnlinkedDeviceEvent), 3U);
  EXPECT_EQ(linked.count(Diag::kDuplicateCorrelation), 0U);
}

TEST(CorrelationTest, WithoutItsLaunchAKernelIsFoundByItsExternalId) {
  TraceMaker maker;
  maker.Op("aten::mm", 1, {0, 100}, {.external_id = 33});
  maker.Kernel("k", 7, {200, 10}, {.correlation = 7, .external_id = 33});
  const Linked linked(maker);
  EXPECT_EQ(linked.LaunchOf("k"), "");
  EXPECT_EQ(linked.OpOf("k"), "aten::mm");
  EXPECT_EQ(linked.RuleOf("k"), LinkRule::kExternalId);
  EXPECT_EQ(linked.count(Diag::kUnlinkedDeviceEvent), 1U);
}

TEST(CorrelationTest, ALaunchOutsideOperatorsIsCompletedByTheExternalId) {
  TraceMaker maker;
  maker.Op("aten::mm", 1, {0, 100}, {.external_id = -33});
  maker.Call("cudaLaunchKernel", 2, {20, 5}, 7);
  maker.Kernel("k", 7, {200, 10}, {.correlation = 7, .external_id = -33});
  const Linked linked(maker);
  EXPECT_EQ(linked.LaunchOf("k"), "cudaLaunchKernel");
  EXPECT_EQ(linked.OpOf("k"), "aten::mm");
  EXPECT_EQ(linked.RuleOf("k"), LinkRule::kExternalId);
}

TEST(CorrelationTest, NestingWinsOverTheExternalId) {
  TraceMaker maker;
  maker.Op("around", 1, {0, 100}, {.external_id = 1});
  maker.Op("named", 1, {200, 100}, {.external_id = 2});
  maker.Call("cudaLaunchKernel", 1, {20, 5}, 7);
  maker.Kernel("k", 7, {200, 10}, {.correlation = 7, .external_id = 2});
  EXPECT_EQ(Linked(maker).OpOf("k"), "around");
}

// Files up to early 2024 repeat the correlation as "External id"; matches are accidental.
TEST(CorrelationTest, OldExternalIdsAreIgnored) {
  TraceMaker maker;
  maker.Op("unrelated", 1, {0, 100}, {.external_id = 8});
  maker.Kernel("a", 7, {200, 10}, {.correlation = 7, .external_id = 7});
  maker.Kernel("b", 7, {300, 10}, {.correlation = 8, .external_id = 8});
  // Not device work, so not evidence of the new meaning.
  maker.Device(DeviceKind::kAnnotation, "step", 0, 7, {200, 200}, {.external_id = 55});
  const Linked linked(maker);
  EXPECT_EQ(linked.OpOf("b"), "");
  EXPECT_EQ(linked.RuleOf("b"), LinkRule::kNone);
}

TEST(CorrelationTest, ExternalIdZeroNamesNoOperator) {
  TraceMaker maker;
  maker.Op("orphanage", 1, {0, 100}, {.external_id = 0});
  maker.Kernel("k", 7, {200, 10}, {.correlation = 7, .external_id = 0});
  EXPECT_EQ(Linked(maker).OpOf("k"), "");
}

TEST(CorrelationTest, OnlyAnOperatorThatCoversTheLaunchIsItsOperator) {
  TraceMaker maker;
  maker.Op("covers", 1, {0, 100});
  maker.Op("ends during the launch", 1, {10, 12});
  maker.Host(HostKind::kAnnotation, "annotation", 1, {5, 90});
  maker.Host(HostKind::kPython, "frame", 1, {6, 80});
  maker.Call("cudaLaunchKernel", 1, {20, 5}, 7);
  maker.Kernel("k", 7, {200, 10}, {.correlation = 7});
  EXPECT_EQ(Linked(maker).OpOf("k"), "covers");
}

// The host clock of old files cuts to microseconds: a launch may start where its operator ends.
TEST(CorrelationTest, ALaunchWithoutLengthAtTheEndOfAnOperator) {
  TraceMaker maker;
  maker.Op("op", 1, {0, 20});
  maker.Call("cudaLaunchKernel", 1, {20, 0}, 7);
  maker.Kernel("k", 7, {200, 10}, {.correlation = 7});
  EXPECT_EQ(Linked(maker).OpOf("k"), "op");
}

TEST(CorrelationTest, WorkBeforeItsLaunchIsCounted) {
  TraceMaker maker;
  maker.Call("cudaLaunchKernel", 1, {20, 5}, 7);
  maker.Kernel("early", 7, {19, 1}, {.correlation = 7});
  maker.Kernel("at once", 7, {20, 1}, {.correlation = 7});
  EXPECT_EQ(Linked(maker).count(Diag::kDeviceBeforeLaunch), 1U);
}

// Waits and frames are linked too but never counted as work.
TEST(CorrelationTest, OnlyWorkIsCountedAsUnlinked) {
  TraceMaker maker;
  maker.Call("cudaStreamSynchronize", 1, {0, 9}, 5);
  maker.Device(DeviceKind::kSync, "Stream Sync", 0, 7, {0, 9}, {.correlation = 5});
  maker.Device(DeviceKind::kSync, "Event Sync", 0, 7, {0, 9}, {.correlation = 6});
  maker.Device(DeviceKind::kAnnotation, "step", 0, 7, {0, 9}, {});
  const Linked linked(maker);
  EXPECT_EQ(linked.LaunchOf("Stream Sync"), "cudaStreamSynchronize");
  EXPECT_EQ(linked.LaunchOf("Event Sync"), "");
  EXPECT_EQ(linked.count(Diag::kUnlinkedDeviceEvent), 0U);
  EXPECT_EQ(linked.count(Diag::kUnlinkedOp), 0U);
}

// Looking upwards from each launch in turn would take minutes here and in the next case.
TEST(CorrelationTest, ManyLaunchesBelowManyFrames) {
  constexpr int64_t kRows = 100'000;
  TraceMaker maker;
  maker.Op("around all", 1, {0, 10 * kRows});
  for (int64_t i = 0; i < kRows; ++i) {
    maker.Host(HostKind::kPython, "frame", 1, {i, 10 * kRows - 2 * i});
  }
  for (int64_t i = 0; i < kRows; ++i) {
    maker.Call("cudaLaunchKernel", 1, {2 * kRows + 2 * i, 1}, i + 1);
    maker.Kernel("k", 7, {20 * kRows + i, 1}, {.correlation = i + 1});
  }
  const Linked linked(maker);
  EXPECT_EQ(linked.OpOf("k"), "around all");
  EXPECT_EQ(linked.count(Diag::kUnlinkedOp), 0U);
}

TEST(CorrelationTest, ManyLaunchesThatOutlastManyOperators) {
  constexpr int64_t kRows = 100'000;
  TraceMaker maker;
  maker.Op("covers", 1, {0, 10 * kRows});
  for (int64_t i = 1; i < kRows; ++i) {
    maker.Op("ends before", 1, {i, 9 * kRows - 2 * i});
  }
  for (int64_t i = 0; i < kRows; ++i) {
    maker.Call("cudaLaunchKernel", 1, {kRows + i, 8 * kRows - i}, i + 1);
    maker.Kernel("k", 7, {20 * kRows + i, 1}, {.correlation = i + 1});
  }
  const Trace trace = maker.Finish();
  Diagnostics diagnostics;
  const Correlation links = BuildCorrelation(trace, OperatorRule(trace), diagnostics);
  const HostId covers = testkit::FindHost(trace, "covers");
  EXPECT_EQ(std::count(links.op_of.begin(), links.op_of.end(), covers), kRows);
}

bool IsAround(const CallTree& tree, HostId outer, HostId row) {
  while (row.valid() && row != outer) {
    row = tree.parent[row.value];
  }
  return row.valid();
}

// Rows that cross each other in every way, compared with a search backwards as the definition.
TEST(CorrelationTest, TheOperatorIsTheLastBegunThatCoversTheLaunch) {
  std::mt19937 random(20240611);
  const auto pick = [&random](int64_t below) { return static_cast<int64_t>(random()) % below; };
  int64_t not_nested = 0;  // the operator covers the call but is not around it in the call tree
  for (int round = 0; round < 500; ++round) {
    TraceMaker maker;
    const int64_t times = 5 + pick(60);
    for (int64_t i = 0; i < 40; ++i) {
      const int64_t tid = 1 + pick(2);
      const Span span{pick(times), pick(4) == 0 ? 0 : pick(times)};
      switch (pick(5)) {
        case 0:
          maker.Host(HostKind::kPython, "frame", tid, span);
          break;
        case 1:
        case 2:
          maker.Call("cudaLaunchKernel", tid, span, i + 1);
          maker.Kernel("k", 7, {200 + i, 1}, {.correlation = i + 1});
          break;
        default:
          maker.Op("op", tid, span);
      }
    }
    const Trace trace = maker.Finish();
    Diagnostics diagnostics;
    const CallTree tree = BuildCallTree(trace, 1, diagnostics);
    const Correlation links = BuildCorrelation(trace, OperatorRule(trace), diagnostics);
    for (uint32_t row = 0; row < trace.device().size(); ++row) {
      const HostId launch = links.launch_of[row];
      HostId want;
      for (uint32_t before = 0; before < launch.value; ++before) {
        if (trace.host().kind[before] == HostKind::kOp &&
            trace.host().track[before] == trace.host().track[launch.value] &&
            Covers(trace.host(), HostId{before}, launch)) {
          want = HostId{before};
        }
      }
      ASSERT_EQ(links.op_of[row], want) << "round " << round << ", device row " << row;
      not_nested += want.valid() && !IsAround(tree, want, launch) ? 1 : 0;
    }
  }
  EXPECT_GT(not_nested, 100);
}

TEST(LaunchNameTest, CallsThatStartDeviceWork) {
  for (const char* name :
       {"cudaLaunchKernel", "cudaLaunchKernelExC", "cudaLaunchCooperativeKernel", "cudaGraphLaunch",
        "cuLaunchKernel", "cuLaunchKernelEx", "cudaMemcpyAsync", "cudaMemsetAsync", "cuMemcpyHtoD",
        "hipLaunchKernel", "hipExtModuleLaunchKernel", "hipHccModuleLaunchKernel", "hipGraphLaunch",
        "hipMemcpyWithStream", "hipMemcpyAsync", "zeCommandListAppendLaunchKernel",
        "zeCommandListAppendMemoryCopy"}) {
    EXPECT_TRUE(IsLaunchName(name)) << name;
  }
  for (const char* name : {"cudaStreamSynchronize", "cudaDeviceSynchronize", "cudaEventRecord",
                           "hipMalloc", "hipFree", "cudaStreamWaitEvent", ""}) {
    EXPECT_FALSE(IsLaunchName(name)) << name;
  }
}

}  // namespace

}  // namespace borescope::internal
