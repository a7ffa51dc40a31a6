// Phases of training, by what is around an event on the host:
//
//   backward   below an operator named autograd::engine::evaluate_function..., or an operator that
//              carries the number of its forward thread (> 0)
//   recompute  below an operator inside backward that repeats forward, as checkpointing makes them
//              (RepeatedOps)
//   optimizer  below an annotation Optimizer.step#... or Optimizer.zero_grad#...
//   forward    any other operator
//   other      device work whose launch and operator are unknown
//
// The innermost mark decides, so a function that autograd runs backward inside a repeated forward
// is backward.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"

namespace borescope::internal {

// Modules of PyTorch as Python frames name them: "nn.Module: Linear_12" is the thirteenth Linear.

// "Linear" of "nn.Module: Linear_12"; empty if `frame` is not a module.
std::string_view ModuleClassOf(std::string_view frame);

// For every host row the name of the innermost module around it, itself included, as the number of
// its text; kMissing outside of modules.
std::vector<int64_t> ModulesAround(const RankView& view);

// The classes of the modules of a trace, numbered in the order of its texts.
class ModuleClasses {
 public:
  explicit ModuleClasses(const StringPool& strings);

  // Of a value of ModulesAround; kMissing for kMissing.
  int64_t Of(int64_t module) const;
  std::string_view Name(int64_t number) const { return names_[static_cast<size_t>(number)]; }

 private:
  std::vector<int64_t> class_of_text_;
  std::vector<std::string> names_;
};

// Which operators inside backward repeat forward, as checkpointing makes them: autograd records
// them (they, or operators around them, have sequence numbers). It also records the operators of a
// backward that is itself differentiated (create_graph=True). These are recognised by what is done
// with them later: a function that runs backward in a later pass belongs to one, whereas a repeated
// forward is run backward in the same call, or not at all.

// Per host row: 1 for operators that autograd records, with no operator between them and the
// record that runs backward, but for those inside a pass that is differentiated. 0 outside of
// backward. O(rows + texts).
std::vector<char> RepeatedOps(const RankView& view);

// What the names of the operators begin with around whom autograd runs one function backward.
inline constexpr std::string_view kBackwardMark = "autograd::engine::evaluate_function";

// Per text of the pool, by its StringId: 1 for those. O(texts).
std::vector<char> BackwardNames(const StringPool& strings);

enum class Phase : uint8_t { kForward, kBackward, kRecompute, kOptimizer, kOther };

std::string_view PhaseName(Phase phase);

// The phase of every host row. O(rows).
std::vector<Phase> HostPhases(const RankView& view);
// The same, found once within one question.
std::shared_ptr<const std::vector<Phase>> SharedHostPhases(const RankView& view);

// The phase of a device event: that of its launch, else of its operator.
Phase PhaseOf(const RankView& view, const std::vector<Phase>& host_phases, DeviceId id);

}  // namespace borescope::internal
