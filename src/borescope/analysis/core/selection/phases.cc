#include "borescope/analysis/core/selection/phases.h"

#include <algorithm>
#include <limits>
#include <string>

#include "borescope/analysis/core/selection/selection.h"
#include "borescope/base/each_row.h"
#include "borescope/base/hash/hash_tables.h"

namespace borescope::internal {

namespace {

constexpr std::string_view kModulePrefix = "nn.Module: ";

}  // namespace

std::string_view ModuleClassOf(std::string_view frame) {
  if (!frame.starts_with(kModulePrefix)) {
    return {};
  }
  const std::string_view instance = frame.substr(kModulePrefix.size());
  const size_t last = instance.find_last_not_of("0123456789");
  const bool is_numbered = last != std::string_view::npos && last > 0 &&
                           last + 1 < instance.size() && instance[last] == '_';
  return is_numbered ? instance.substr(0, last) : instance;
}

std::vector<int64_t> ModulesAround(const RankView& view) {
  const HostEvents& host = view.trace.host();
  std::vector<int64_t> modules(host.all_size(), kMissing);
  for (const uint32_t row : EachRow(modules.size())) {
    const HostId outer = view.index.tree.parent[row];
    if (host.kind[row] == HostKind::kPython &&
        view.trace.Name(HostId{row}).starts_with(kModulePrefix)) {
      modules[row] = host.name[row].value;
    } else if (outer.valid()) {
      modules[row] = modules[outer.value];
    }
  }
  return modules;
}

ModuleClasses::ModuleClasses(const StringPool& strings) : class_of_text_(strings.size(), kMissing) {
  HashMap<std::string_view, int64_t> numbers;
  for (uint32_t text = 0; text < strings.size(); ++text) {
    const std::string_view name = ModuleClassOf(strings.Get(StringId{text}));
    if (name.empty()) {
      continue;
    }
    const auto next = static_cast<int64_t>(numbers.size());
    const auto [found, is_new] = numbers.try_emplace(name, next);
    class_of_text_[text] = found->second;
    if (is_new) {
      names_.emplace_back(name);
    }
  }
}

int64_t ModuleClasses::Of(int64_t module) const {
  return module == kMissing ? kMissing : class_of_text_[static_cast<size_t>(module)];
}

namespace {

// What a name alone says; kOther: nothing.
std::vector<Phase> PhasesOfNames(const StringPool& strings) {
  std::vector<Phase> phases(strings.size(), Phase::kOther);
  for (uint32_t i = 0; i < strings.size(); ++i) {
    const std::string_view name = strings.Get(StringId{i});
    if (name.starts_with(kBackwardMark)) {
      phases[i] = Phase::kBackward;
    } else if (name.starts_with("Optimizer.step") || name.starts_with("Optimizer.zero_grad")) {
      phases[i] = Phase::kOptimizer;
    }
  }
  return phases;
}

bool HasForwardThread(const Trace& trace, uint32_t row) {
  const uint32_t detail = trace.host().detail[row];
  return trace.host().kind[row] == HostKind::kOp && detail != kNoDetail &&
         trace.ops().forward_thread[detail] > 0;
}

}  // namespace

std::vector<char> BackwardNames(const StringPool& strings) {
  return FlagNames(strings, [](std::string_view name) { return name.starts_with(kBackwardMark); });
}

std::string_view PhaseName(Phase phase) {
  constexpr std::string_view kNames[] = {"forward", "backward", "recompute", "optimizer", "other"};
  return kNames[static_cast<size_t>(phase)];
}

std::vector<Phase> HostPhases(const RankView& view) {
  const HostEvents& host = view.trace.host();
  const std::vector<Phase> by_name = PhasesOfNames(view.trace.strings());
  const std::vector<char> is_repeated = RepeatedOps(view);
  std::vector<Phase> phases(host.all_size());
  for (const uint32_t row : EachRow(phases.size())) {
    const HostId parent = view.index.tree.parent[row];
    const Phase own = by_name[host.name[row].value];
    if (own != Phase::kOther) {
      phases[row] = own;
    } else if (HasForwardThread(view.trace, row)) {
      phases[row] = Phase::kBackward;
    } else if (is_repeated[row] != 0) {
      phases[row] = parent.valid() && phases[parent.value] == Phase::kOptimizer ? Phase::kOptimizer
                                                                                : Phase::kRecompute;
    } else {
      phases[row] = parent.valid() ? phases[parent.value] : Phase::kForward;
    }
  }
  return phases;
}

std::shared_ptr<const std::vector<Phase>> SharedHostPhases(const RankView& view) {
  return view.Shared<Phase>([&] { return HostPhases(view); });
}

Phase PhaseOf(const RankView& view, const std::vector<Phase>& host_phases, DeviceId id) {
  const HostId launch = view.index.correlation.launch_of[id.value];
  const HostId op = view.index.correlation.op_of[id.value];
  if (launch.valid()) {
    return host_phases[launch.value];
  }
  return op.valid() ? host_phases[op.value] : Phase::kOther;
}

namespace {

constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

// A call of autograd that runs functions backward: the outermost backward row, and all below it.
struct Pass {
  HostId row;
  int64_t later_ns = kNever;  // start of the first backward function, in a later pass, of its calls
  bool is_differentiated = false;
};

class RepeatFinder {
 public:
  explicit RepeatFinder(const RankView& view)
      : view_(view),
        host_(view.trace.host()),
        is_backward_name_(BackwardNames(view.trace.strings())) {}

  std::vector<char> Find();

 private:
  static constexpr uint32_t kNoPass = std::numeric_limits<uint32_t>::max();

  bool RunsBackward(HostId row) const;
  bool HasNumber(HostId row) const;
  void FindPasses();
  void FindDifferentiated();

  const RankView& view_;
  const HostEvents& host_;
  std::vector<char> is_backward_name_;  // per text
  std::vector<Pass> passes_;            // by row
  std::vector<uint32_t> pass_of_;       // per row: of passes_
};

bool RepeatFinder::RunsBackward(HostId row) const {
  if (is_backward_name_[host_.name[row.value].value] != 0) return true;
  const uint32_t detail = host_.detail[row.value];
  return host_.kind[row.value] == HostKind::kOp && detail != kNoDetail &&
         view_.trace.ops().forward_thread[detail] > 0;
}

bool RepeatFinder::HasNumber(HostId row) const {
  const uint32_t detail = host_.detail[row.value];
  return host_.kind[row.value] == HostKind::kOp && detail != kNoDetail &&
         view_.trace.ops().sequence[detail] >= 0;
}

void RepeatFinder::FindPasses() {
  pass_of_.resize(host_.all_size());
  for (const uint32_t row : EachRow(pass_of_.size())) {
    const HostId outer = view_.index.tree.parent[row];
    pass_of_[row] = outer.valid() ? pass_of_[outer.value] : kNoPass;
    if (pass_of_[row] == kNoPass && RunsBackward(HostId{row})) {
      pass_of_[row] = static_cast<uint32_t>(passes_.size());
      passes_.push_back({HostId{row}});
    }
  }
}

// A pass goes on until the first function of the later one; on one thread rows are by start.
void RepeatFinder::FindDifferentiated() {
  for (const ForwardBackwardLink& link : view_.index.forward_backward) {
    const uint32_t inside = pass_of_[link.forward.value];
    if (inside != kNoPass && pass_of_[link.backward.value] != inside) {
      int64_t& later_ns = passes_[inside].later_ns;
      later_ns = std::min(later_ns, host_.ts_ns[link.backward.value]);
    }
  }
  TrackId track;
  int64_t until_ns = 0;
  for (Pass& pass : passes_) {
    const uint32_t row = pass.row.value;
    if (host_.IsCaptured(pass.row)) {
      break;  // these come last, have no times, and no call of the recording refers to them
    }
    if (host_.track[row] != track) {
      track = host_.track[row];
      until_ns = std::numeric_limits<int64_t>::min();
    }
    if (pass.later_ns != kNever) until_ns = std::max(until_ns, pass.later_ns);
    pass.is_differentiated = host_.ts_ns[row] < until_ns;
  }
}

std::vector<char> RepeatFinder::Find() {
  FindPasses();
  FindDifferentiated();
  std::vector<char> is_repeated(host_.all_size());
  for (const uint32_t row : EachRow(is_repeated.size())) {
    const uint32_t pass = pass_of_[row];
    if (pass == kNoPass || passes_[pass].is_differentiated || RunsBackward(HostId{row})) {
      continue;
    }
    const HostId outer = view_.index.tree.parent[row];
    is_repeated[row] = is_repeated[outer.value] != 0 || HasNumber(HostId{row}) ? 1 : 0;
  }
  return is_repeated;
}

}  // namespace

std::vector<char> RepeatedOps(const RankView& view) { return RepeatFinder(view).Find(); }

}  // namespace borescope::internal
