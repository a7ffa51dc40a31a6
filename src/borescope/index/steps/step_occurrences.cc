#include "borescope/index/steps/step_occurrences.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "borescope/base/stop.h"

namespace borescope::internal {
namespace {

// The last step of a number.
struct LastOccurrence {
  uint32_t count = 0;  // of those before it
  int64_t end_ns = 0;  // of all its windows
  std::set<uint32_t> threads;
};

}  // namespace

std::vector<uint32_t> OccurrencesOf(const Trace& trace, const std::vector<Step>& steps) {
  std::map<std::pair<uint32_t, int64_t>, LastOccurrence> last_of;
  std::vector<uint32_t> occurrences;
  occurrences.reserve(steps.size());
  for (size_t i = 0; i < steps.size(); ++i) {
    CheckStopAt(i);
    const Step& step = steps[i];
    const uint32_t thread = trace.host().track[step.annotation.value].value;
    const auto [found, is_new] = last_of.try_emplace({step.process, step.number});
    LastOccurrence& last = found->second;
    if (!is_new && last.threads.contains(thread) && step.begin_ns >= last.end_ns) {
      last = {last.count + 1, step.end_ns, {}};
    }
    last.end_ns = is_new ? step.end_ns : std::max(last.end_ns, step.end_ns);
    last.threads.insert(thread);
    occurrences.push_back(last.count);
  }
  return occurrences;
}

}  // namespace borescope::internal
