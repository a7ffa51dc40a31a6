// The dependencies that the graph of critical-path infers, against slow twins straight from the
// definition.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "borescope/analysis/core/row.h"
#include "borescope/analysis/measures/event_graph/event_graph.h"
#include "tests/oracle/verb_answers.h"

namespace borescope::internal {
namespace {

using testkit::Ask;
using testkit::MakeRandomRun;
using testkit::Random;
using testkit::RandomRun;
using testkit::TableOf;
using testkit::Time;
using testkit::TraceOf;

// --- work that waited for other work of its device ---

// Times of up to some 100 us, so that some delays are usual and others are not.
RandomRun Stretched(RandomRun run) {
  constexpr int64_t kFactor = 3'000;
  for (auto* list : {&run.calls}) {
    for (auto& call : *list) {
      call.time = {call.time.begin * kFactor, call.time.end * kFactor};
    }
  }
  std::erase_if(run.work, [](const auto& work) { return work.time.length() == 0; });
  for (auto& work : run.work) {
    work.time = {work.time.begin * kFactor, work.time.end * kFactor};
  }
  for (auto& frame : run.frames) {
    frame.time = {frame.time.begin * kFactor, frame.time.end * kFactor};
  }
  run.notes.clear();
  return run;
}

class SlowInference {
 public:
  SlowInference(const RankView& view, const RecordingGraph& recording)
      : view_(view), recording_(recording), device_(view.trace.device()) {}

  // The time at which the work ended that this one waited for; none: nothing is inferred.
  std::optional<int64_t> EndBefore(DeviceId id) const {
    const int64_t start = Node(id, 0);
    int64_t ready = view_.trace.begin_ns();
    const HostId launch = view_.index.correlation.launch_of[id.value];
    if (launch.valid() && view_.trace.host().ts_ns[launch.value] <= start + kMostDriftNs) {
      ready = std::max(ready, view_.trace.host().ts_ns[launch.value]);
    }
    std::optional<int64_t> last;
    for (uint32_t row = 0; row < device_.size(); ++row) {
      const DeviceId other{row};
      if (other == id || device_.end_ns(other) > device_.ts_ns[id.value]) {
        continue;
      }
      const bool is_of_launch = launch.valid() && view_.index.correlation.launch_of[row] == launch;
      if ((device_.track[row] == device_.track[id.value] || is_of_launch) &&
          Node(other, 1) <= start) {
        ready = std::max(ready, Node(other, 1));
      }
      if (view_.trace.DeviceOf(other) == view_.trace.DeviceOf(id)) {
        last = std::max(last.value_or(kMissing), Node(other, 1));
      }
    }
    return last.has_value() && *last > ready + kUsualDelayNs ? last : std::nullopt;
  }

  int64_t Node(DeviceId id, NodeId side) const {
    return recording_.graph.ts_ns[recording_.start_of_work[id.value] + side];
  }

 private:
  const RankView& view_;
  const RecordingGraph& recording_;
  const DeviceEvents& device_;
};

// Per work with an inferred edge: when the work ended from which it comes.
std::vector<std::optional<int64_t>> InferredEnds(const RecordingGraph& recording, size_t rows) {
  const EventGraph& graph = recording.graph;
  std::vector<std::optional<int64_t>> ends(rows);
  for (NodeId from = 0; from < graph.nodes(); ++from) {
    for (EdgeId edge = graph.first_edge[from]; edge < graph.first_edge[from + 1]; ++edge) {
      if (graph.kind[edge] == EdgeKind::kInferredWork) {
        const NodeId to = graph.target[edge];
        EXPECT_FALSE(ends[graph.event[to]].has_value());
        EXPECT_EQ(graph.weight_ns[edge], graph.ts_ns[to] - graph.ts_ns[from]);
        ends[graph.event[to]] = graph.ts_ns[from];
      }
    }
  }
  return ends;
}

TEST(CriticalPathGraphTwinTest, WorkThatWaitedForOtherWork) {
  int inferred = 0;
  for (uint64_t seed = 0; seed < 3000; ++seed) {
    Random random(seed);
    const Trace trace = TraceOf(Stretched(MakeRandomRun(random)));
    const TraceIndex index = BuildIndex(trace, 1);
    const RankView view{0, trace, index};
    const RecordingGraph recording = BuildGraph(view, "");
    const SlowInference slow(view, recording);
    const auto ends = InferredEnds(recording, trace.device().size());
    for (uint32_t row = 0; row < trace.device().size(); ++row) {
      if (IsDeviceWork(trace.device().kind[row])) {
        ASSERT_EQ(ends[row], slow.EndBefore(DeviceId{row})) << "seed " << seed << " row " << row;
        inferred += ends[row].has_value() ? 1 : 0;
      }
    }
  }
  EXPECT_GT(inferred, 500);
}

// --- backward passes of all kinds: the path is what was planted ---

enum class Around { kNothing, kFrame, kAnnotation, kOperator, kCount };

// Plants one after another operators of the main thread and backward passes on a thread of the
// engine, some with operators of the engine on the main thread. At every time one of them works.
class BackwardPlanner {
 public:
  explicit BackwardPlanner(Random& random) : random_(random) {}

  RandomRun Plan() {
    Add("aten::first", kMain, Length());
    const int64_t passes = random_.Between(1, 4);
    for (int64_t i = 0; i < passes; ++i) {
      Pass();
      Add("aten::op", kMain, Length());
    }
    return run_;
  }
  const std::vector<std::string>& path() const { return path_; }

 private:
  static constexpr int64_t kMain = 1;
  static constexpr int64_t kEngine = 2;

  int64_t Length() { return random_.Between(1, 20); }

  void Add(const std::string& name, int64_t thread, int64_t length) {
    run_.frames.push_back({HostKind::kOp, name, thread, {now_, now_ + length}});
    path_.push_back(testkit::Line(name, now_, length, "thread " + std::to_string(thread)));
    now_ += length;
  }

  void Pass() {
    const auto around = static_cast<Around>(random_.Below(static_cast<size_t>(Around::kCount)));
    const int64_t begin = now_ + 1;
    now_ = begin + Length();
    const int64_t operators = random_.Between(1, 5);
    for (int64_t i = 0; i < operators; ++i) {
      Add("autograd::engine::evaluate_function: A", kEngine, Length());
      now_ += Length();
      if (random_.Below(4) == 0) {
        Add("autograd::engine::evaluate_function: B", kMain, Length());
        now_ += Length();
      }
    }
    if (around == Around::kFrame) {
      run_.frames.push_back({HostKind::kPython, "run_backward", kMain, {begin, now_}});
    } else if (around == Around::kAnnotation) {
      run_.frames.push_back({HostKind::kAnnotation, "backward", kMain, {begin, now_}});
    } else if (around == Around::kOperator) {
      run_.frames.push_back({HostKind::kOp, "Backward", kMain, {begin, now_}});
    }
    now_ += 1;
  }

  Random& random_;
  RandomRun run_;
  std::vector<std::string> path_;  // the operators
  int64_t now_ = 0;
};

TEST(CriticalPathGraphTwinTest, BackwardPasses) {
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    Random random(seed);
    BackwardPlanner planner(random);
    RandomRun run = planner.Plan();
    // Steps say which thread is the main one.
    run.frames.push_back(
        {HostKind::kAnnotation, "ProfilerStep#1", 1, {0, run.frames.back().time.end}});
    const Tables tables = Ask("critical-path", TraceOf(run));
    const Table& path = TableOf(tables, "critical_path");
    std::vector<std::string> found;
    for (size_t row = 0; row < path.rows(); ++row) {
      const std::string name(Texts(path, "name")[row]);
      if (Texts(path, "kind")[row] == "operator" && name != "Backward") {
        found.push_back(testkit::Line(name, Ints(path, "begin_ns")[row],
                                      Ints(path, "duration_ns")[row], Texts(path, "track")[row]));
      }
    }
    ASSERT_EQ(found, planner.path()) << "seed " << seed;
    ASSERT_EQ(Ints(TableOf(tables, "critical_path_summary"), "total_ns").back(), 0)
        << "seed " << seed;
  }
}

}  // namespace
}  // namespace borescope::internal
