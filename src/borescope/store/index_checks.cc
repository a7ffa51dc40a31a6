#include "borescope/store/index_checks.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "borescope/base/stop.h"
#include "borescope/store/row_checks.h"

namespace borescope::internal {
namespace {

// A call of which device work can be looked up.
bool IsLaunch(const Trace& trace, HostId id) {
  const HostKind kind = trace.host().kind[id.value];
  return (kind == HostKind::kRuntime || kind == HostKind::kOther) &&
         trace.host().detail[id.value] != kNoDetail;
}

// Whether the rule that linked device work is one that gives these links.
bool FitsRule(LinkRule rule, HostId launch, HostId op) {
  switch (rule) {
    case LinkRule::kLaunchNesting:
      return launch.valid() && op.valid();
    case LinkRule::kExternalId:
    case LinkRule::kCapture:
      return op.valid();
    case LinkRule::kLaunchOnly:
      return launch.valid() && !op.valid();
    case LinkRule::kNone:
    case LinkRule::kAmbiguous:
      return !launch.valid() && !op.valid();
  }
  return false;
}

// Whether the device rows of each call are those whose launch it is, in their order.
bool AreRowsOfLaunches(const Trace& trace, const Correlation& links) {
  const auto has_launch = [](HostId launch) { return launch.valid(); };
  const auto launched = std::count_if(links.launch_of.begin(), links.launch_of.end(), has_launch);
  if (links.device_rows.size() != static_cast<size_t>(launched)) {
    return false;
  }
  for (uint32_t call = 0; call + 1 < links.device_begin.size(); ++call) {
    CheckStopAt(call);
    for (uint32_t i = links.device_begin[call]; i < links.device_begin[call + 1]; ++i) {
      const uint32_t row = links.device_rows[i].value;
      const HostId launch = links.launch_of[row];
      const bool is_in_order =
          i == links.device_begin[call] || links.device_rows[i - 1].value < row;
      if (!launch.valid() || trace.host().detail[launch.value] != call || !is_in_order) {
        return false;
      }
    }
  }
  return true;
}

bool ArePieces(const std::vector<Steps::Piece>& pieces, size_t steps) {
  return std::is_sorted(pieces.begin(), pieces.end(),
                        [](const Steps::Piece& a, const Steps::Piece& b) {
                          return a.begin_ns < b.begin_ns;
                        }) &&
         std::all_of(pieces.begin(), pieces.end(), [steps](const Steps::Piece& piece) {
           // A piece may begin where a step ends.
           return piece.begin_ns >= -kMostNs && piece.begin_ns <= 2 * kMostNs &&
                  (piece.step < steps || piece.step == kNoStep);
         });
}

bool AreSteps(const Trace& trace, const Steps& steps) {
  int64_t last_ns = 0;
  for (size_t i = 0; i < steps.steps.size(); ++i) {
    const Step& step = steps.steps[i];
    if (step.annotation.value >= trace.host().size() || step.process >= steps.processes.size() ||
        !IsEnd(step.end_ns, step.begin_ns) || (i > 0 && step.begin_ns < last_ns)) {
      return false;
    }
    last_ns = step.begin_ns;
  }
  return true;
}

}  // namespace

bool HasRowsOf(const Trace& trace, const TraceIndex& index) {
  const size_t host = trace.host().size();
  const size_t device = trace.device().size();
  const Correlation& links = index.correlation;
  const ColumnData<uint32_t>& step = index.steps.device_step;
  return index.tree.parent.size() == host && index.tree.subtree_end.size() == host &&
         links.launch_of.size() == device && links.op_of.size() == device &&
         links.rule.size() == device &&
         links.device_begin.size() == trace.runtime_calls().size() + 1 &&
         step.size() == (index.steps.steps.empty() ? 0 : device) &&
         index.class_of_name.size() == trace.strings().size();
}

// The end of an event's descendants lies within that of the event around it, on one thread.
std::string_view CallTreeFault(const Trace& trace, const TraceIndex& index) {
  const CallTree& tree = index.tree;
  const HostEvents& host = trace.host();
  for (uint32_t row = 0; row < host.size(); ++row) {
    CheckStopAt(row);
    const uint32_t end = tree.subtree_end[row];
    const HostId parent = tree.parent[row];
    if (end <= row || end > trace.tracks().end_row[host.track[row].value]) {
      return "the end of a call";
    }
    if (parent.valid() && (parent.value >= row || row >= tree.subtree_end[parent.value] ||
                           end > tree.subtree_end[parent.value])) {
      return "the event around a call";
    }
  }
  return "";
}

std::string_view CorrelationFault(const Trace& trace, const TraceIndex& index) {
  const Correlation& links = index.correlation;
  const size_t host = trace.host().size();
  if (!AreBelowOrNone(links.launch_of, host) || !AreBelowOrNone(links.op_of, host)) {
    return "the launch or operator of device work";
  }
  for (uint32_t row = 0; row < links.launch_of.size(); ++row) {
    CheckStopAt(row);
    const HostId launch = links.launch_of[row];
    if ((launch.valid() && !IsLaunch(trace, launch)) ||
        !FitsRule(links.rule[row], launch, links.op_of[row])) {
      return "the link of device work";
    }
  }
  if (links.device_begin.front() != 0 || links.device_begin.back() != links.device_rows.size() ||
      !IsAscending(links.device_begin) || !AreBelow(links.device_rows, trace.device().size()) ||
      !AreRowsOfLaunches(trace, links)) {
    return "the work of a launch";
  }
  return "";
}

std::string_view StepsFault(const Trace& trace, const TraceIndex& index) {
  const Steps& steps = index.steps;
  if (!AreSteps(trace, steps) || !AreBelowOrNone(steps.device_step, steps.steps.size())) {
    return "a step";
  }
  const bool has_steps = !steps.steps.empty();
  const bool are_known =
      std::all_of(steps.process_of.begin(), steps.process_of.end(), [&](uint32_t process) {
        return process < steps.processes.size() || process == kNoProcess || process == kAnyProcess;
      });
  if (!are_known || steps.pieces.size() != (has_steps ? steps.processes.size() + 1 : 0) ||
      steps.process_of.size() != (has_steps ? trace.tracks().size() : 0) ||
      !std::is_sorted(steps.processes.begin(), steps.processes.end())) {
    return "the process of a step";
  }
  return std::all_of(steps.pieces.begin(), steps.pieces.end(),
                     [&](const auto& pieces) { return ArePieces(pieces, steps.steps.size()); })
             ? ""
             : "a piece of a step";
}

std::string_view NamesFault(const Trace& trace, const TraceIndex& index) {
  const size_t host = trace.host().size();
  for (size_t i = 0; i < index.forward_backward.size(); ++i) {
    const ForwardBackwardLink& link = index.forward_backward[i];
    if (link.backward.value >= host || link.forward.value >= host ||
        (i > 0 && link.backward < index.forward_backward[i - 1].backward)) {
      return "a link from forward to backward";
    }
  }
  return std::all_of(index.class_of_name.begin(), index.class_of_name.end(),
                     [](KernelClass kind) { return kind < KernelClass::kCount; })
             ? ""
             : "the class of a kernel";
}

}  // namespace borescope::internal
