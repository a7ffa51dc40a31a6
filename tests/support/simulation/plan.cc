#include "tests/support/simulation/plan.h"

#include <algorithm>

namespace borescope::simulation {
namespace {

bool Has(const std::string& name, const std::string& text) {
  return name.find(text) != std::string::npos;
}

// The frames around the instruction that is looked at.
class Frames {
 public:
  explicit Frames(const Program& program) : program_(program) {}

  void Pass(const Instruction& instruction) {
    if (instruction.action == Action::kOpen) open_.push_back(&instruction);
    if (instruction.action == Action::kClose) open_.pop_back();
  }

  bool AnyHas(const std::string& text) const {
    return std::ranges::any_of(
        open_, [&](const Instruction* f) { return Has(program_.Name(f->name), text); });
  }
  bool AnyOpHas(const std::string& text) const {
    return std::ranges::any_of(open_, [&](const Instruction* f) {
      return f->frame == FrameKind::kOp && Has(program_.Name(f->name), text);
    });
  }
  bool LoadsData() const {
    return std::ranges::any_of(open_, [](const Instruction* f) { return f->is_data; });
  }

 private:
  const Program& program_;
  std::vector<const Instruction*> open_;
};

bool IsWait(const Instruction& instruction) {
  return instruction.action == Action::kWaitStream || instruction.action == Action::kWaitDevice ||
         instruction.action == Action::kWaitEvent ||
         (instruction.action == Action::kLaunch && instruction.waits);
}

bool IsHostTime(const Instruction& instruction) {
  return instruction.action == Action::kCompute || instruction.ns > 0;
}

class Changer {
 public:
  Changer(const Constants& constants, Program* program)
      : constants_(constants), program_(*program) {}

  void Apply(const Change& change) {
    if (change.kind == ChangeKind::kOverlapComm) {
      program_.overlap = std::max(program_.overlap, change.overlap);
    }
    if (change.kind == ChangeKind::kGraph) return JoinAll(change);
    for (Thread& thread : program_.threads) {
      Frames frames(program_);
      for (Instruction& instruction : thread.instructions) {
        frames.Pass(instruction);
        ApplyTo(change, frames, &instruction);
      }
    }
  }

 private:
  void ApplyTo(const Change& change, const Frames& frames, Instruction* instruction) {
    switch (change.kind) {
      case ChangeKind::kScale:
      case ChangeKind::kRemove:
        if (change.target == Target::kHost) return ScaleHost(change, frames, instruction);
        if (instruction->action == Action::kLaunch) ScaleWorks(change, frames, instruction);
        return;
      case ChangeKind::kNoSync:
        if (IsWait(*instruction) && IsNamed(change, frames, *instruction)) {
          instruction->never_waits = true;
        }
        return;
      case ChangeKind::kOverlapComm:
        return MoveToOwnStream(instruction);
      case ChangeKind::kLaunch:
        if (instruction->action == Action::kLaunch) instruction->factor *= change.factor;
        return;
      default:
        return;
    }
  }

  void MoveToOwnStream(Instruction* instruction) {
    if (instruction->overlap_stream < 0) return;
    instruction->stream = instruction->overlap_stream;
    program_.works[static_cast<size_t>(instruction->work)].stream = instruction->overlap_stream;
  }

  bool IsNamed(const Change& change, const Frames& frames, const Instruction& instruction) const {
    return frames.AnyHas(change.text) ||
           (instruction.name >= 0 && Has(program_.Name(instruction.name), change.text));
  }

  void ScaleHost(const Change& change, const Frames& frames, Instruction* instruction) const {
    if (!IsHostTime(*instruction) || !IsNamed(change, frames, *instruction)) return;
    instruction->factor *= change.kind == ChangeKind::kRemove ? 0.0 : change.factor;
  }

  void ScaleWorks(const Change& change, const Frames& frames, Instruction* instruction) {
    int32_t left = 0;
    for (int32_t i = 0; i < instruction->count; ++i) {
      Work& work = program_.works[static_cast<size_t>(instruction->work + i)];
      if (IsMeant(change, frames, work)) {
        if (change.kind == ChangeKind::kRemove) work.is_left_out = true;
        work.factor *= change.factor;
      }
      left += work.is_left_out ? 0 : 1;
    }
    if (left == 0) instruction->is_left_out = true;
  }

  bool IsMeant(const Change& change, const Frames& frames, const Work& work) const {
    switch (change.target) {
      case Target::kKernel:
        return Has(program_.Name(work.name), change.text);
      case Target::kOp:
        return frames.AnyOpHas(change.text);
      case Target::kClass:
        return WorkClassName(work.work_class) == change.text;
      case Target::kComm:
        return work.collective >= 0;
      case Target::kCopy:
        return work.kind != WorkKind::kKernel;
      case Target::kPhase:
        return PhaseName(work.phase) == change.text;
      case Target::kHost:
        break;
    }
    return false;
  }

  // Whatever orders streams or threads, or waits, must stay where it is between launches.
  bool EndsGraph(const Instruction& instruction, const Instruction* first) const {
    switch (instruction.action) {
      case Action::kCompute:
      case Action::kOpen:
      case Action::kClose:
        return false;
      case Action::kLaunch: {
        const Work& work = program_.works[static_cast<size_t>(instruction.work)];
        return instruction.waits || instruction.stream != first->stream || work.collective >= 0 ||
               instruction.work != first->work + first->count;
      }
      default:
        return true;
    }
  }

  bool CanBegin(const Instruction& instruction) const {
    return instruction.action == Action::kLaunch && !instruction.waits &&
           !instruction.is_left_out &&
           program_.works[static_cast<size_t>(instruction.work)].collective < 0;
  }

  // An instruction in the order of the program, whatever thread it is of.
  struct Placed {
    Instruction* instruction = nullptr;
    bool is_inside = false;   // a region
    bool hands_over = false;  // from a thread to another, within a region
  };

  // What other threads do for the main one while that waits in a region is part of it.
  void JoinAll(const Change& change) {
    std::vector<std::vector<char>> is_taken;
    for (const Thread& thread : program_.threads) is_taken.emplace_back(thread.instructions.size());
    for (size_t thread = 0; thread < program_.threads.size(); ++thread) {
      std::vector<Placed> order;
      Frames frames(program_);
      std::vector<Instruction>& own = program_.threads[thread].instructions;
      for (size_t i = 0; i < own.size(); ++i) {
        frames.Pass(own[i]);
        if (is_taken[thread][i] != 0) continue;
        const bool is_inside = frames.AnyHas(change.text) && !frames.LoadsData();
        order.push_back({&own[i], is_inside, false});
        if (thread == 0 && is_inside && own[i].action == Action::kSignal) {
          TakeOver(own[i].event, &is_taken, &order);
        }
      }
      JoinLaunches(change, order);
    }
    FinishGraphs();
  }

  // What a thread does between an event that it awaited and the next that it signals, which another
  // thread awaits.
  void TakeOver(int32_t event, std::vector<std::vector<char>>* is_taken,
                std::vector<Placed>* order) {
    for (size_t thread = 1; thread < program_.threads.size(); ++thread) {
      std::vector<Instruction>& other = program_.threads[thread].instructions;
      const auto begin = std::ranges::find_if(other, [&](const Instruction& one) {
        return one.action == Action::kAwait && one.event == event;
      });
      const auto end = std::find_if(
          begin, other.end(), [](const Instruction& one) { return one.action == Action::kSignal; });
      if (end == other.end()) continue;
      order->back().hands_over = true;
      for (auto one = begin; one <= end; ++one) {
        (*is_taken)[thread][static_cast<size_t>(one - other.begin())] = 1;
        order->push_back({&*one, true, one == begin || one == end});
      }
      handed_back_.push_back(end->event);
    }
  }

  void JoinLaunches(const Change& change, const std::vector<Placed>& order) {
    Instruction* first = nullptr;
    for (const auto& [one, is_inside, hands_over] : order) {
      Instruction& instruction = *one;
      const bool is_back = instruction.action == Action::kAwait &&
                           std::ranges::count(handed_back_, instruction.event) > 0;
      if (first != nullptr &&
          (!is_inside || (!hands_over && !is_back && EndsGraph(instruction, first)))) {
        first = nullptr;
      }
      if (!is_inside) continue;
      if (first != nullptr && instruction.action == Action::kLaunch) {
        first->count += instruction.count;
        instruction.is_left_out = true;
      } else if (CanBegin(instruction)) {
        first = &instruction;
        joined_.push_back(first);
      }
      if (instruction.action == Action::kCompute && !change.keeps_host) instruction.factor = 0;
    }
  }

  void FinishGraphs() {
    for (Instruction* first : joined_) {
      if (first->count < 2) continue;
      program_.names.emplace_back("cudaGraphLaunch");
      first->name = static_cast<int32_t>(program_.names.size()) - 1;
      first->ns = constants_.graph_call_ns + first->count * constants_.graph_node_ns;
    }
    joined_.clear();
  }

  const Constants& constants_;
  Program& program_;
  std::vector<Instruction*> joined_;
  std::vector<int32_t> handed_back_;  // events
};

int OrderOf(ChangeKind kind) {
  switch (kind) {
    case ChangeKind::kRemove:
      return 0;
    case ChangeKind::kScale:
    case ChangeKind::kLaunch:
      return 1;
    default:
      return 2;
  }
}

}  // namespace

void ApplyPlan(const Plan& plan, const Constants& constants, Program* program) {
  Changer changer(constants, program);
  for (int order = 0; order < 3; ++order) {
    for (const Change& change : plan) {
      if (OrderOf(change.kind) == order) changer.Apply(change);
    }
  }
}

}  // namespace borescope::simulation
