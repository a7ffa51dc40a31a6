// The rules of Borescope for a .et; docs/use/chakra.md says how they differ from the reference's,
// and why.
#include <algorithm>
#include <cmath>
#include <optional>
#include <tuple>
#include <utility>

#include "borescope/base/stop.h"
#include "borescope/base/text/text.h"
#include "borescope/packs/chakra/link/comm_calls.h"
#include "borescope/packs/chakra/linked/linked_tree.h"
#include "borescope/packs/chakra/plan/et_plan.h"

namespace borescope::internal {
namespace {

constexpr double kNanosecondsPerMicrosecond = 1e3;
constexpr int64_t kMostMicroseconds = 9'000'000'000'000'000;

// Microseconds as they are written, in nanoseconds, to the nearest; nothing for no number.
std::optional<int64_t> NanosecondsOf(std::string_view us) {
  const std::optional<int64_t> whole = ParseNumber<int64_t>(us);
  if (whole.has_value() && *whole > -kMostMicroseconds && *whole < kMostMicroseconds) {
    return *whole * 1000;
  }
  const std::optional<double> value = ParseNumber<double>(us);
  if (!value.has_value()) {
    return std::nullopt;
  }
  // The whole part stands apart, so that nanoseconds of a time since 1970 are not lost.
  const double floor = std::floor(*value);
  if (!(std::abs(floor) < static_cast<double>(kMostMicroseconds))) {
    return std::nullopt;
  }
  return static_cast<int64_t>(floor) * 1000 +
         std::llround((*value - floor) * kNanosecondsPerMicrosecond);
}

class EtPlanner {
 public:
  explicit EtPlanner(const LinkedTrace& linked)
      : linked_(linked), tree_(linked), host_comms_(HostComms(linked, tree_)) {}

  Result<EtPlan> Make() {
    Choose();
    AddThreadOrder();
    AddDeviceDeps();
    AddRecordedDeps();
    if (!linked_.has_stream_deps) {
      AddStreamOrder();
    }
    plan_.nodes.reserve(order_.size());
    std::sort(order_.begin(), order_.end(),
              [&](uint32_t a, uint32_t b) { return Node(a).id < Node(b).id; });
    for (const uint32_t place : order_) {
      plan_.nodes.push_back(std::move(planned_[place]));
    }
    BS_TRY(CheckAcyclic(linked_, plan_));
    return std::move(plan_);
  }

 private:
  const LinkedNode& Node(uint32_t place) const { return linked_.nodes[place]; }

  // Processes and threads without operators do nothing.
  void Choose() {
    const auto count = static_cast<uint32_t>(linked_.nodes.size());
    planned_.resize(count);
    is_kept_.assign(count, 0);
    starts_.resize(count);
    for (uint32_t place = 0; place < count; ++place) {
      const bool is_container = IsThread(Node(place)) || IsProcess(Node(place));
      const bool is_loose = IsProcess(Node(place)) || tree_.Children(place).empty();
      if (is_container && is_loose) {
        plan_.counts.containers += 1;
        continue;
      }
      is_kept_[place] = 1;
      order_.push_back(place);
    }
    for (const uint32_t place : order_) {
      Describe(place);
    }
  }

  void Describe(uint32_t place) {
    const LinkedNode& node = Node(place);
    PlannedNode& planned = planned_[place];
    planned.source = place;
    planned.type = EtNodeType::kComp;
    planned.device = node.device;
    const std::optional<uint32_t> parent = tree_.Parent(place);
    if (parent.has_value() && *parent != place && is_kept_[*parent] != 0) {
      planned.ctrl_dep = node.parent;
    }
    SetTimes(node, place, planned);
    if (node.name.find("process_group:init") != std::string_view::npos) {
      planned.type = EtNodeType::kMetadata;
    } else if (IsCommKernel(node)) {
      SetCommunication(DescribeComm(linked_, tree_, place), planned);
    } else if (host_comms_[place] != 0) {
      SetCommunication(DescribeHostComm(linked_, tree_, place), planned);
    }
  }

  void SetTimes(const LinkedNode& node, uint32_t place, PlannedNode& planned) {
    starts_[place] = NanosecondsOf(node.ts_us);
    if (starts_[place].value_or(-1) >= 0) {
      planned.start_ns = static_cast<uint64_t>(*starts_[place]);
      planned.start_us = *planned.start_ns / 1000;
    }
    if (node.exclusive_us.empty()) {
      return;
    }
    const std::optional<int64_t> duration = NanosecondsOf(node.exclusive_us);
    plan_.counts.bad_durations += duration.value_or(-1) < 0 ? 1 : 0;
    planned.duration_ns = static_cast<uint64_t>(std::max<int64_t>(duration.value_or(0), 0));
    planned.duration_us = (*planned.duration_ns + 500) / 1000;
  }

  void SetCommunication(const std::optional<CommCall>& call, PlannedNode& planned) {
    if (!call.has_value()) {
      plan_.counts.unknown_collectives += 1;
      return;
    }
    planned.type = call->type;
    planned.collective = call->collective;
    planned.comm_bytes = call->bytes.value_or(0);
    planned.pg_name = call->pg_name;
    plan_.counts.unknown_sizes += call->bytes.has_value() ? 0 : 1;
  }

  void AddDep(uint32_t place, uint64_t id) {
    std::vector<uint64_t>& deps = planned_[place].data_deps;
    if (std::find(deps.begin(), deps.end(), id) == deps.end()) {
      deps.push_back(id);
    }
  }

  // The operators of a thread, one after the other in the order they began. Operators under no
  // thread are a thread of their own, also those whose parents go in a circle.
  void AddThreadOrder() {
    std::vector<char> is_done(linked_.nodes.size(), 0);
    for (const uint32_t place : order_) {
      if (IsThread(Node(place))) {
        AddThread(place, is_done);
      }
    }
    for (const uint32_t place : order_) {
      if (is_done[place] == 0 && !Node(place).is_device && IsTop(place)) {
        plan_.counts.unreached += AddThread(place, is_done);
      }
    }
    std::vector<char> is_passed(linked_.nodes.size(), 0);
    for (const uint32_t place : order_) {
      if (is_done[place] == 0 && !Node(place).is_device) {
        plan_.counts.unreached += AddThread(Uppermost(place, is_passed), is_done);
      }
    }
  }

  // The node above with no parent, or one of a circle of parents: all others around are below it.
  uint32_t Uppermost(uint32_t place, std::vector<char>& is_passed) const {
    while (!IsTop(place) && is_passed[place] == 0) {
      is_passed[place] = 1;
      place = *tree_.Parent(place);
    }
    return place;
  }

  bool IsTop(uint32_t place) const { return !planned_[place].ctrl_dep.has_value(); }

  // The number of operators in it.
  uint64_t AddThread(uint32_t root, std::vector<char>& is_done) {
    uint64_t count = 0;
    std::optional<uint64_t> last;
    for (const uint32_t place : tree_.Preorder(root)) {
      if (is_done[place] != 0 || is_kept_[place] == 0 || Node(place).is_device) {
        continue;
      }
      is_done[place] = 1;
      count += 1;
      if (last.has_value()) {
        AddDep(place, *last);
      }
      last = Node(place).id;
    }
    return count;
  }

  // Device work follows its operator.
  void AddDeviceDeps() {
    for (const uint32_t place : order_) {
      if (!Node(place).is_device) {
        continue;
      }
      if (planned_[place].ctrl_dep.has_value()) {
        AddDep(place, Node(place).parent);
      } else {
        plan_.counts.orphaned_device += 1;
      }
    }
  }

  // Whether `earlier` began first; without times, by number. A dependency on anything else could
  // close a circle.
  bool IsBefore(uint32_t earlier, uint32_t later) const {
    const auto key = [&](uint32_t place, bool with_time) {
      return std::tuple(with_time ? *starts_[place] : 0, Node(place).id);
    };
    const bool with_time = starts_[earlier].has_value() && starts_[later].has_value();
    return key(earlier, with_time) < key(later, with_time);
  }

  // Adds one that the document names, if it can be; `kept` counts it then.
  void AddRecorded(uint32_t place, uint64_t id, uint64_t* kept) {
    const std::optional<uint32_t> target = tree_.Find(id);
    if (!target.has_value() || is_kept_[*target] == 0) {
      plan_.counts.dangling_deps += 1;
    } else if (!IsBefore(*target, place)) {
      plan_.counts.backward_deps += 1;
    } else {
      AddDep(place, id);
      if (kept != nullptr) {
        *kept += 1;
      }
    }
  }

  void AddRecordedDeps() {
    for (const uint32_t place : order_) {
      CheckStopAt(place);
      const LinkedNode& node = Node(place);
      // Device work has that of its operator, on which it depends itself.
      if (!node.is_device && node.inter_thread_dep.has_value()) {
        AddRecorded(place, *node.inter_thread_dep, nullptr);
      }
      for (const uint64_t id : linked_.Ids(node.sync_deps)) {
        AddRecorded(place, id, &plan_.counts.sync_deps);
      }
      for (const uint64_t id : linked_.Ids(node.stream_deps)) {
        AddRecorded(place, id, &plan_.counts.stream_deps);
      }
    }
  }

  // Streams have numbers of their own on every device.
  std::pair<int64_t, int64_t> StreamOf(uint32_t place) const {
    return {Node(place).device.value_or(0), Node(place).stream.value_or(0)};
  }

  // A stream does one thing after the other. Where the document does not say so itself, by time.
  void AddStreamOrder() {
    std::vector<uint32_t> places;
    for (const uint32_t place : order_) {
      if (Node(place).is_device && Node(place).stream.has_value() && starts_[place].has_value()) {
        places.push_back(place);
      }
    }
    std::sort(places.begin(), places.end(), [&](uint32_t a, uint32_t b) {
      return std::tuple(StreamOf(a), *starts_[a], Node(a).id) <
             std::tuple(StreamOf(b), *starts_[b], Node(b).id);
    });
    for (size_t i = 1; i < places.size(); ++i) {
      if (StreamOf(places[i]) == StreamOf(places[i - 1])) {
        AddDep(places[i], Node(places[i - 1]).id);
        plan_.counts.stream_deps += 1;
      }
    }
  }

  const LinkedTrace& linked_;
  const LinkedTree tree_;
  std::vector<char> host_comms_;                // per place
  std::vector<PlannedNode> planned_;            // by place in the document
  std::vector<char> is_kept_;                   // likewise
  std::vector<std::optional<int64_t>> starts_;  // likewise, in nanoseconds
  std::vector<uint32_t> order_;                 // what is kept
  EtPlan plan_;
};

}  // namespace

Result<EtPlan> PlanEt(const LinkedTrace& linked) { return EtPlanner(linked).Make(); }

}  // namespace borescope::internal
