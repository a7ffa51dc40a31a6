// Work whose launches are hidden, of programs where they are known: what it is said to be like
// against what it was. A training program runs for some steps while its device is behind by up to
// two and a half of them. A recording that begins at a moment holds what the host did from then on,
// and all work that the device had not done yet. The truth is the same work with all of the host.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "borescope/analysis/core/row.h"
#include "borescope/testing/test_trace.h"
#include "tests/oracle/random.h"

namespace borescope::internal {
namespace {

using testkit::Random;

constexpr int64_t kMainThread = 1;
constexpr int64_t kBackwardThread = 2;
constexpr int64_t kTurnNs = 1000;  // from one launch to the next
constexpr int64_t kSteps = 6;
constexpr int64_t kFirstStep = 10;

// One launch of an iteration.
struct Launched {
  std::string op;
  std::string kernel;
  std::string outer;   // around the operator
  int32_t blocks = 0;  // of the kernel; 0: not recorded, for all kernels of the program alike
  int64_t thread = kMainThread;
  int64_t stream = 7;
};

// An iteration: layers that are alike, forward and backward, then an optimizer whose kernels
// repeat. A few kernels are those of many operators, so that no look is that of one operator alone.
std::vector<Launched> MakeIteration(Random& random) {
  std::vector<Launched> iteration;
  const auto kernel = [&] { return "kernel" + std::to_string(random.Between(0, 7)); };
  const bool has_sizes = random.Chance(0.5);
  const auto blocks = [&] { return has_sizes ? static_cast<int32_t>(random.Between(1, 3)) : 0; };
  std::vector<Launched> layer;
  for (int64_t i = random.Between(4, 12); i > 0; --i) {
    layer.push_back({"aten::f" + std::to_string(i), kernel(), "", blocks(), kMainThread, 7});
  }
  const int64_t layers = random.Between(2, 5);
  for (int64_t i = 0; i < layers; ++i) {
    iteration.insert(iteration.end(), layer.begin(), layer.end());
  }
  iteration.push_back({"aten::loss", "loss", "", blocks(), kMainThread, 7});
  std::vector<Launched> backward;
  for (int64_t i = random.Between(4, 12); i > 0; --i) {
    const std::string name = std::to_string(i);
    backward.push_back({"aten::b" + name, kernel(),
                        "autograd::engine::evaluate_function: B" + name + "Backward0", blocks(),
                        kBackwardThread, 7});
  }
  if (random.Chance(0.5)) {  // gradients are summed beside it
    backward.push_back({"nccl:all_reduce", "ncclDevKernel_AllReduce_Sum_f32_RING_LL", "", blocks(),
                        kBackwardThread, 20});
  }
  for (int64_t i = 0; i < layers; ++i) {
    iteration.insert(iteration.end(), backward.begin(), backward.end());
  }
  for (int64_t i = random.Between(5, 15); i > 0; --i) {
    iteration.push_back({"aten::_foreach_o" + std::to_string(i / 3),
                         "multi_tensor" + std::to_string(i / 3), "Optimizer.step#AdamW.step",
                         blocks(), kMainThread, 7});
  }
  return iteration;
}

struct Recording {
  int64_t begin;       // the first recorded launch, counted over all steps
  int64_t first_work;  // the first recorded work
};

// What of the run is recorded: of the host what begins at `host_begin` or later.
const RankView& Record(const std::vector<Launched>& iteration, const Recording& recording,
                       int64_t host_begin, TestTrace& trace) {
  const auto length = static_cast<int64_t>(iteration.size());
  for (int64_t i = host_begin; i < kSteps * length; ++i) {
    const Launched& one = iteration[static_cast<size_t>(i % length)];
    const int64_t ns = i * kTurnNs;
    if (i % length == 0) {
      trace.Annotation("ProfilerStep#" + std::to_string(kFirstStep + i / length),
                       {ns, length * kTurnNs});
    }
    if (!one.outer.empty()) {
      one.thread == kBackwardThread ? trace.Op(one.outer, {ns + 50, 900}, {}, one.thread)
                                    : trace.Annotation(one.outer, {ns + 50, 900}, one.thread);
    }
    trace.Op(one.op, {ns + 100, 800}, {}, one.thread);
    trace.Runtime("cudaLaunchKernel", {ns + 200, 100}, 1 + i, one.thread);
  }
  const int64_t lead = recording.begin - recording.first_work;
  for (int64_t i = recording.first_work; i < kSteps * length; ++i) {
    const Launched& one = iteration[static_cast<size_t>(i % length)];
    const testkit::Span time{(i + lead) * kTurnNs + 500, 300 + i % 7};
    const On on{.correlation = 1 + i, .stream = one.stream};
    one.blocks > 0 ? trace.KernelOfSize(one.kernel, time, one.blocks, 128, on)
                   : trace.Kernel(one.kernel, time, on);
  }
  return trace.View();
}

using Times = std::map<std::vector<std::string>, int64_t>;

std::string TextOf(const Column& column, size_t row) {
  if (column.IsMissing(row)) {
    return "-";
  }
  const auto* texts = std::get_if<StringValues>(&column.values);
  return texts != nullptr ? std::string((*texts)[row])
                          : std::to_string(std::get<IntValues>(column.values)[row]);
}

Times TimesOf(const Table& table, std::initializer_list<std::string_view> keys,
              std::string_view column) {
  Times times;
  const auto& values = std::get<IntValues>(table.Find(column)->values);
  for (size_t row = 0; row < table.rows(); ++row) {
    std::vector<std::string> key;
    for (const std::string_view name : keys) {
      key.push_back(TextOf(*table.Find(name), row));
    }
    times[key] += values[row];
  }
  std::erase_if(times, [](const auto& entry) { return entry.second == 0; });
  return times;
}

int64_t SumOf(const Times& times) {
  int64_t sum = 0;
  for (const auto& [key, ns] : times) {
    sum += ns;
  }
  return sum;
}

// `test` less what `base` has of each key.
Times Less(Times test, const Times& base) {
  for (const auto& [key, ns] : base) {
    test[key] -= ns;
  }
  std::erase_if(test, [](const auto& entry) { return entry.second == 0; });
  return test;
}

int64_t InBoth(const Times& a, const Times& b) {
  int64_t sum = 0;
  for (const auto& [key, ns] : a) {
    const auto found = b.find(key);
    sum += found == b.end() ? 0 : std::clamp<int64_t>(found->second, 0, ns);
  }
  return sum;
}

struct Score {
  int64_t hidden_ns = 0, said_ns = 0, right_ns = 0;

  void Add(const Times& said, const Times& truth, int64_t all_ns) {
    hidden_ns += all_ns;
    said_ns += SumOf(said);
    right_ns += InBoth(said, truth);
  }
};

Params By(std::initializer_list<const char*> keys) {
  Params params;
  params.by.assign(keys.begin(), keys.end());
  return params;
}

struct Scores {
  Score kernels, ops, flame, steps;
  int64_t cases = 0, confident = 0;
};

// Of one program, recorded from one moment on.
void HideAndAsk(Random& random, Scores& scores) {
  const std::vector<Launched> iteration = MakeIteration(random);
  const auto length = static_cast<int64_t>(iteration.size());
  const bool at_step = random.Chance(0.5);
  const int64_t begin =
      at_step ? random.Between(3, kSteps - 2) * length : random.Between(3 * length, 4 * length);
  const Recording recording{begin, begin - random.Between(8, 5 * length / 2)};
  TestTrace whole_trace, cut_trace;
  const RankView& whole = Record(iteration, recording, 0, whole_trace);
  const RankView& cut = Record(iteration, recording, begin, cut_trace);

  const Tables inherited = Analyse("doctor", {&cut});
  ASSERT_EQ(inherited[1].name, "inherited");
  const int64_t hidden_ns = Ints(inherited[1], "device_ns").front();
  ++scores.cases;
  scores.confident += Texts(inherited[1], "confidence")[0] == "high" ? 1 : 0;

  // What is recorded stays as it is without an alignment: no operator, no phase; sums are the same.
  const Params by = By({"phase", "op"});
  const Table truth = Analyse("kernels", {&whole}, by)[0];
  const Table said = Analyse("kernels", {&cut}, by)[0];
  const Times all = TimesOf(truth, {"name", "phase", "op"}, "total_ns");
  const Times seen = TimesOf(said, {"name", "phase", "op"}, "total_ns");
  const Times aligned = TimesOf(said, {"name", "phase", "op"}, "aligned_ns");
  EXPECT_EQ(SumOf(seen), SumOf(all));
  EXPECT_EQ(SumOf(TimesOf(truth, {"name"}, "aligned_ns")), 0);
  EXPECT_EQ(SumOf(TimesOf(said, {"op"}, "total_ns")) - TimesOf(said, {"op"}, "total_ns")[{"-"}],
            SumOf(all) - hidden_ns);
  scores.kernels.Add(aligned, Less(all, seen), hidden_ns);

  const Table ops = Analyse("ops", {&cut})[0];
  const Table true_ops = Analyse("ops", {&whole})[0];
  scores.ops.Add(
      TimesOf(ops, {"name"}, "aligned_ns"),
      Less(TimesOf(true_ops, {"name"}, "self_device_ns"), TimesOf(ops, {"name"}, "self_device_ns")),
      hidden_ns);

  // Frames around a launch that begin before the recording are in the truth alone: not the steps.
  const Table flame = Analyse("flame", {&cut}, By({"phase"}))[0];
  const Table true_flame = Analyse("flame", {&whole}, By({"phase"}))[0];
  scores.flame.Add(TimesOf(flame, {"phase", "name", "kind"}, "aligned_ns"),
                   Less(TimesOf(true_flame, {"phase", "name", "kind"}, "device_ns"),
                        TimesOf(flame, {"phase", "name", "kind"}, "device_ns")),
                   hidden_ns);
  if (at_step) {
    const Params by_step = By({"step", "op"});
    const Table steps = Analyse("kernels", {&cut}, by_step)[0];
    const Table true_steps = Analyse("kernels", {&whole}, by_step)[0];
    Times aligned_by_step = TimesOf(steps, {"step", "op"}, "aligned_ns");
    std::erase_if(aligned_by_step, [](const auto& entry) { return entry.first[0] == "-"; });
    scores.steps.Add(aligned_by_step,
                     Less(TimesOf(true_steps, {"step", "op"}, "total_ns"),
                          TimesOf(steps, {"step", "op"}, "total_ns")),
                     hidden_ns);
  }
}

TEST(HiddenLaunchesTest, WorkFromBeforeTheRecordingIsFoundAgain) {
  Scores scores;
  for (uint64_t seed = 0; seed < 200 && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    HideAndAsk(random, scores);
  }
  EXPECT_GT(scores.confident, scores.cases * 3 / 4);
  for (const Score& score : {scores.kernels, scores.ops, scores.flame, scores.steps}) {
    ASSERT_GT(score.said_ns, 0);
    const auto said = static_cast<double>(score.said_ns);
    EXPECT_GE(static_cast<double>(score.right_ns) / said, 0.999);
  }
  for (const Score& score : {scores.kernels, scores.ops, scores.steps}) {
    EXPECT_GE(static_cast<double>(score.right_ns) / static_cast<double>(score.hidden_ns), 0.98);
  }
}

}  // namespace
}  // namespace borescope::internal
