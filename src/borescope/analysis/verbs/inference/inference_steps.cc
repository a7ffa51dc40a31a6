#include "borescope/analysis/verbs/inference/inference_steps.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "borescope/analysis/core/param_specs.h"
#include "borescope/analysis/core/selection/device_time.h"
#include "borescope/analysis/core/selection/selection.h"
#include "borescope/analysis/measures/align_inherited.h"
#include "borescope/analysis/measures/graphs/graph_launches.h"
#include "borescope/analysis/verbs/inference/generation.h"
#include "borescope/base/each_row.h"
#include "borescope/base/intervals.h"
#include "borescope/base/saturating.h"
#include "borescope/base/text/text.h"
#include "borescope/index/steps/steps.h"

namespace borescope::internal {

namespace {

// Whether a kernel or operator is part of a mixture of experts, by the names that servers, their
// libraries and PyTorch use.
bool IsOfExperts(std::string_view name) {
  constexpr std::string_view kParts[] = {
      "moe",        "expert",      "_matmul_ogs",   "_finalize_matmul", "_combined_routing",
      "bitmatrix",  "grouped_mm",  "grouped_gemm",  "groupedgemm",      "group_gemm",
      "topkgating", "topk_gating", "routingindices"};
  return HasAnyOf(LowerCase(name), kParts);
}

bool IsOfSampling(std::string_view name) {
  constexpr std::string_view kParts[] = {"sampl",  "argmax",   "multinomial",
                                         "penalt", "topktopp", "top_k_top_p",
                                         "topp_",  "min_p_",   "exponential_"};
  const std::string lower = LowerCase(name);
  return HasAnyOf(lower, kParts) && !Contains(lower, "upsampl") && !Contains(lower, "grid_sampl");
}

// ---- Which part device work is ----

// Whether an event, or an operator around it, has a flagged name. Parents come before children.
std::vector<char> FlagInside(const RankView& view, const std::vector<char>& flags) {
  const HostEvents& host = view.trace.host();
  std::vector<char> inside(host.all_size());
  for (const uint32_t row : EachRow(host.size())) {
    const HostId parent = view.index.tree.parent[row];
    const bool is_flagged = host.kind[row] == HostKind::kOp && flags[host.name[row].value] != 0;
    inside[row] = is_flagged || (parent.valid() && inside[parent.value] != 0) ? 1 : 0;
  }
  return inside;
}

class PartFinder {
 public:
  explicit PartFinder(const RankView& view)
      : view_(view),
        is_of_experts_(FlagNames(view.trace.strings(), IsOfExperts)),
        is_of_sampling_(FlagNames(view.trace.strings(), IsOfSampling)),
        in_experts_(FlagInside(view, is_of_experts_)),
        in_sampling_(FlagInside(view, is_of_sampling_)) {}

  WorkPart PartOf(DeviceId id) const {
    const DeviceEvents& device = view_.trace.device();
    if (device.kind[id.value] != DeviceKind::kKernel) {
      return WorkPart::kCopy;
    }
    const KernelClass kernel_class = view_.index.ClassOf(view_.trace, id);
    if (kernel_class == KernelClass::kCollective) {
      return WorkPart::kCommunication;
    }
    if (kernel_class == KernelClass::kAttention) {
      return WorkPart::kAttention;
    }
    const uint32_t name = device.name[id.value].value;
    const HostId origin = view_.index.correlation.OriginOf(id);
    const bool has_origin = origin.valid() && origin.value < in_experts_.size();
    if (is_of_experts_[name] != 0 || (has_origin && in_experts_[origin.value] != 0)) {
      return WorkPart::kMoe;
    }
    if (is_of_sampling_[name] != 0 || (has_origin && in_sampling_[origin.value] != 0)) {
      return WorkPart::kSampling;
    }
    return OfClass(kernel_class);
  }

 private:
  static WorkPart OfClass(KernelClass kernel_class) {
    switch (kernel_class) {
      case KernelClass::kGemm:
        return WorkPart::kGemm;
      case KernelClass::kNorm:
        return WorkPart::kNorm;
      case KernelClass::kPointwise:
        return WorkPart::kPointwise;
      case KernelClass::kEmbedding:
        return WorkPart::kEmbedding;
      case KernelClass::kReduction:
      case KernelClass::kSoftmax:
        return WorkPart::kReduction;
      case KernelClass::kSort:
        return WorkPart::kSort;
      case KernelClass::kCopy:
        return WorkPart::kCopy;
      case KernelClass::kAttention:
      case KernelClass::kCollective:
      case KernelClass::kConv:
      case KernelClass::kOptimizer:
      case KernelClass::kOther:
      case KernelClass::kCount:
        break;
    }
    return WorkPart::kOther;
  }

  const RankView& view_;
  std::vector<char> is_of_experts_;  // per text
  std::vector<char> is_of_sampling_;
  std::vector<char> in_experts_;  // per host row
  std::vector<char> in_sampling_;
};

// ---- Steps ----

InferenceStep StepAt(const RankView& view, HostId event, KnownBy known_by, const StepNotes& notes) {
  InferenceStep step;
  step.event = event;
  step.process = ProcessOf(view.trace, event);
  step.begin_ns = view.trace.host().ts_ns[event.value];
  step.known_by = known_by;
  step.notes = notes;
  return step;
}

// Annotations with notes that are not inside another one of their thread.
std::vector<InferenceStep> AnnotatedSteps(const RankView& view, const PhasePatterns* patterns) {
  const Trace& trace = view.trace;
  const HostEvents& host = trace.host();
  constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();
  std::vector<uint32_t> notes_of(trace.strings().size(), kNone);  // place in `notes`, by text
  std::vector<StepNotes> notes;
  for (const uint32_t i : EachRow(notes_of.size())) {
    const std::string_view name = trace.Text(StringId{i});
    const std::optional<StepNotes> read =
        patterns != nullptr ? patterns->Read(name) : ReadStepName(name);
    if (read.has_value()) {
      notes_of[i] = static_cast<uint32_t>(notes.size());
      notes.push_back(*read);
    }
  }
  const KnownBy known_by = patterns != nullptr ? KnownBy::kPattern : KnownBy::kAnnotation;
  std::vector<InferenceStep> steps;
  HostId outer;
  for (const uint32_t row : EachRow(host.size())) {
    const uint32_t place = notes_of[host.name[row].value];
    if (host.kind[row] != HostKind::kAnnotation || place == kNone) {
      continue;
    }
    const bool is_inside = outer.valid() && host.track[outer.value] == host.track[row] &&
                           host.ts_ns[row] < host.end_ns(outer);
    if (!is_inside) {
      outer = HostId{row};
      steps.push_back(StepAt(view, outer, known_by, notes[place]));
    }
  }
  return steps;
}

// By begin, and numbered, with the ends that follow from the next of their process. That a step has
// a period is known here, and how long it is on the host; MeasureSteps asks the device.
void FinishSteps(std::vector<InferenceStep>& steps) {
  std::stable_sort(steps.begin(), steps.end(), [](const InferenceStep& a, const InferenceStep& b) {
    return std::pair(a.begin_ns, a.event.value) < std::pair(b.begin_ns, b.event.value);
  });
  std::map<int64_t, InferenceStep*> last_of;  // process
  std::map<int64_t, int64_t> counts;
  for (InferenceStep& step : steps) {
    step.number = counts[step.process]++;
    step.end_ns = std::numeric_limits<int64_t>::max();
    if (InferenceStep*& last = last_of[step.process]; last != nullptr) {
      last->end_ns = step.begin_ns;
      last->period_ns = SubtractSaturating(step.begin_ns, last->begin_ns);
    }
    last_of[step.process] = &step;
  }
}

std::vector<InferenceStep> StepsOfPasses(const RankView& view, const Generation& generation,
                                         KnownBy known_by) {
  std::vector<InferenceStep> steps;
  steps.reserve(generation.passes.size());
  for (const GenerationPass& pass : generation.passes) {
    steps.push_back(StepAt(view, pass.begin, known_by, pass.notes));
  }
  FinishSteps(steps);
  for (size_t i = 0; i < steps.size(); ++i) {
    steps[i].end_ns = std::min(steps[i].end_ns, generation.passes[i].end_ns);
    steps[i].period_ns = generation.passes[i].is_last ? kMissing : steps[i].period_ns;
  }
  return steps;
}

// ---- Times ----

// The streams on which kernels ran. What only copies, as a cache in the background, may take longer
// than many steps, and they do not wait for it.
std::vector<char> StreamsWithKernels(const Trace& trace) {
  const DeviceEvents& device = trace.device();
  std::vector<char> has_kernels(trace.tracks().size());
  for (const uint32_t row : EachRow(device.size())) {
    if (device.kind[row] == DeviceKind::kKernel) {
      has_kernels[device.track[row].value] = 1;
    }
  }
  return has_kernels;
}

// When the work ended that a process launched before its first step, and between two steps.
class LaunchedEnds {
 public:
  // `steps`: of one process, by begin.
  explicit LaunchedEnds(std::vector<InferenceStep*> steps)
      : steps_(std::move(steps)), ends_(steps_.size() + 1, kMissing) {}

  void Add(int64_t launch_ns, int64_t end_ns) {
    const auto next = std::partition_point(
        steps_.begin(), steps_.end(),
        [launch_ns](const InferenceStep* step) { return step->begin_ns <= launch_ns; });
    int64_t& end = ends_[static_cast<size_t>(next - steps_.begin())];
    end = std::max(end, end_ns);
  }
  void AddBeforeAll(int64_t end_ns) { ends_.front() = std::max(ends_.front(), end_ns); }

  // Sets `time` of the steps, and the length of each period.
  void Measure() const {
    int64_t done_ns = std::max(steps_.front()->begin_ns, ends_.front());
    for (size_t i = 0; i < steps_.size(); ++i) {
      InferenceStep& step = *steps_[i];
      step.time.begin = done_ns;
      done_ns = std::max(done_ns, ends_[i + 1]);
      done_ns = i + 1 < steps_.size() ? std::max(done_ns, steps_[i + 1]->begin_ns) : done_ns;
      const bool has_period = step.period_ns != kMissing;
      step.time.end = has_period ? done_ns : std::numeric_limits<int64_t>::max();
      step.period_ns = has_period ? SubtractSaturating(done_ns, step.time.begin) : kMissing;
    }
  }

 private:
  std::vector<InferenceStep*> steps_;
  std::vector<int64_t> ends_;  // [i]: of what was launched between the begins of steps i - 1 and i
};

// From completion to completion. REQUIRES: all steps of the recording, by begin. Selections do not
// matter. O(rows log steps).
void MeasureSteps(const RankView& view, std::vector<InferenceStep>& steps) {
  std::map<int64_t, std::vector<InferenceStep*>> of_process;
  for (InferenceStep& step : steps) {
    of_process[step.process].push_back(&step);
  }
  std::map<int64_t, LaunchedEnds> ends;
  for (auto& [process, own] : of_process) {
    ends.try_emplace(process, std::move(own));
  }
  const Trace& trace = view.trace;
  const DeviceEvents& device = trace.device();
  const std::shared_ptr<const ClockedSyncs> clocked = SharedClockedSyncs(view);
  const auto end_of = [&](DeviceId id) {
    return AddSaturating(device.end_ns(id), clocked->clocks.SkewOf(device.track[id.value]));
  };
  const std::vector<char> has_kernels = StreamsWithKernels(trace);
  for (const uint32_t row : EachRow(device.size())) {
    const HostId launch = view.index.correlation.launch_of[row];
    if (!launch.valid() || !IsDeviceWork(device.kind[row]) ||
        has_kernels[device.track[row].value] == 0) {
      continue;
    }
    if (const auto own = ends.find(ProcessOf(trace, launch)); own != ends.end()) {
      own->second.Add(trace.host().ts_ns[launch.value], end_of(DeviceId{row}));
    }
  }
  const std::shared_ptr<const InheritedWork> inherited = SharedInheritedWork(view);
  for (const DeviceId id : inherited->Rows()) {
    // Whose it is only a recording of one process says: the work of others may be on the device.
    if (ends.size() == 1 && has_kernels[device.track[id.value].value] != 0) {
      ends.begin()->second.AddBeforeAll(end_of(id));
    }
  }
  for (const auto& [process, own] : ends) {
    own.Measure();
  }
}

// ---- Work ----

void Add(const DeviceEvents& device, DeviceId id, bool in_graph, WorkSums& sums) {
  ++sums.works;
  AddSaturatingTo(sums.device_ns, device.dur_ns[id.value]);
  AddSaturatingTo(sums.graph_ns, in_graph ? device.dur_ns[id.value] : 0);
}

class WorkDivider {
 public:
  WorkDivider(const RankView& view, const Selected& selected, InferenceSteps& found)
      : view_(view),
        selected_(selected),
        found_(found),
        parts_(view),
        clocked_(SharedClockedSyncs(view)) {
    const std::vector<InferenceStep>& steps = found.steps;
    for (size_t i = 0; i < steps.size(); ++i) {
      of_process_[steps[i].process].push_back(i);
    }
    is_graph_launch_ = FlagNames(view.trace.strings(), IsGraphLaunchName);
  }

  void Divide() {
    const DeviceEvents& device = view_.trace.device();
    std::vector<std::vector<Interval>> times(found_.steps.size());
    for (const uint32_t row : EachRow(device.size())) {
      const DeviceId id{row};
      if (!selected_.Keeps(id)) {
        continue;
      }
      const HostId launch = view_.index.correlation.launch_of[row];
      const std::optional<size_t> step = launch.valid() ? StepOf(launch) : std::nullopt;
      const bool in_graph = IsInGraph(id, launch);
      if (step.has_value()) {
        Add(device, id, in_graph, found_.steps[*step].work);
        const int64_t skew_ns = clocked_->clocks.SkewOf(device.track[row]);
        times[*step].push_back(
            {AddSaturating(device.ts_ns[row], skew_ns), AddSaturating(device.end_ns(id), skew_ns)});
      }
      const size_t sums = step.has_value() ? static_cast<size_t>(found_.steps[*step].notes.phase)
                          : launch.valid() ? kNoStepRow
                                           : kNoLaunchRow;
      Add(device, id, in_graph, found_.work[sums]);
      PartSum& part = found_.parts[sums][static_cast<size_t>(parts_.PartOf(id))];
      ++part.works;
      AddSaturatingTo(part.device_ns, device.dur_ns[row]);
    }
    for (size_t i = 0; i < times.size(); ++i) {
      AddTimes(std::move(times[i]), found_.steps[i].time, found_.steps[i].work);
    }
  }

 private:
  // The step of its process in which a call began.
  std::optional<size_t> StepOf(HostId launch) const {
    const auto steps = of_process_.find(ProcessOf(view_.trace, launch));
    if (steps == of_process_.end()) {
      return std::nullopt;
    }
    const int64_t begin_ns = view_.trace.host().ts_ns[launch.value];
    const auto next =
        std::partition_point(steps->second.begin(), steps->second.end(),
                             [&](size_t i) { return found_.steps[i].begin_ns <= begin_ns; });
    if (next == steps->second.begin()) {
      return std::nullopt;
    }
    const InferenceStep& step = found_.steps[*(next - 1)];
    const bool is_own = step.known_by != KnownBy::kGraph || step.event == launch;
    return begin_ns < step.end_ns && is_own ? std::optional(*(next - 1)) : std::nullopt;
  }

  bool IsInGraph(DeviceId id, HostId launch) const {
    return (launch.valid() && is_graph_launch_[view_.trace.host().name[launch.value].value] != 0) ||
           GraphNodeOf(view_.trace, id) != kMissing;
  }

  static void AddTimes(std::vector<Interval> times, Interval of_step, WorkSums& sums) {
    for (const Interval& time : times) {
      sums.begin_ns = sums.begin_ns == kMissing ? time.begin : std::min(sums.begin_ns, time.begin);
      sums.end_ns = std::max(sums.end_ns, time.end);
    }
    sums.busy_ns = Coverage(Clip(Union(std::move(times)), of_step));
  }

  const RankView& view_;
  const Selected& selected_;
  InferenceSteps& found_;
  PartFinder parts_;
  std::shared_ptr<const ClockedSyncs> clocked_;
  std::map<int64_t, std::vector<size_t>> of_process_;  // steps, by begin
  std::vector<char> is_graph_launch_;                  // per text
};

}  // namespace

std::string_view KnownByName(KnownBy known_by) {
  constexpr std::array<std::string_view, 4> kNames = {"annotation", "pattern", "sequence", "graph"};
  return kNames[static_cast<size_t>(known_by)];
}

std::string_view WorkPartName(WorkPart part) {
  constexpr std::array<std::string_view, static_cast<size_t>(WorkPart::kCount)> kNames = {
      "attention", "moe",       "gemm",      "communication", "sampling", "norm",
      "pointwise", "embedding", "reduction", "sort",          "copy",     "other"};
  return kNames[static_cast<size_t>(part)];
}

std::string_view PhaseRowName(size_t row) {
  return row == kNoStepRow     ? "(no step)"
         : row == kNoLaunchRow ? "(no launch)"
                               : InferencePhaseName(static_cast<InferencePhase>(row));
}

Result<InferenceSteps> FindInferenceSteps(const RankView& view, const Selected& selected,
                                          const Params& params) {
  const std::vector<std::string_view> texts = params.Texts(kPhasePatternParam);
  BS_ASSIGN(const PhasePatterns patterns, PhasePatterns::Parse(texts));
  InferenceSteps found;
  found.steps = AnnotatedSteps(view, texts.empty() ? nullptr : &patterns);
  FinishSteps(found.steps);
  if (found.steps.empty() && !texts.empty()) {
    found.reason = "no annotation has a name that `phase_pattern` matches";
  } else if (found.steps.empty()) {
    Generation generation = FindGeneration(view);
    found.steps = StepsOfPasses(view, generation, KnownBy::kSequence);
    found.reason = generation.reason;
    if (found.steps.empty()) {
      found.steps = StepsOfPasses(view, FindGraphDecode(view, selected), KnownBy::kGraph);
    }
  }
  MeasureSteps(view, found.steps);
  std::erase_if(found.steps, [&](const InferenceStep& s) { return !selected.Keeps(s.event); });
  if (found.steps.empty()) {
    found.reason = found.reason.empty() ? "no step begins in the selected time" : found.reason;
    return found;
  }
  WorkDivider(view, selected, found).Divide();
  return found;
}

}  // namespace borescope::internal
