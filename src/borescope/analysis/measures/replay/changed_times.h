// The times of events under changes: what takes how many times as long, and what is not there.
// Internal to replay/.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/analysis/core/selection/phases.h"
#include "borescope/analysis/measures/align_inherited.h"
#include "borescope/analysis/measures/replay/changes.h"
#include "borescope/analysis/measures/replay/replay_graph.h"

namespace borescope::internal {

// Factors of one scenario. Empty columns: nothing of the kind changes.
struct ChangedTimes {
  std::vector<double> device;   // per device row
  std::vector<double> at_roof;  // per device row: no more than this
  std::vector<char> removed;    // per device row
  std::vector<double> host;     // per host row: of its own time
  bool loads_ahead = false;     // data is loaded in the background

  double DeviceFactor(DeviceId id) const {
    const double scaled = device.empty() ? 1 : device[id.value];
    return at_roof.empty() ? scaled : std::min(scaled, at_roof[id.value]);
  }
  bool IsRemoved(DeviceId id) const { return !removed.empty() && removed[id.value] != 0; }
  double HostFactor(HostId id) const { return host.empty() || !id.valid() ? 1 : host[id.value]; }
};

// What names of changes mean in one recording.
class ChangeTargets {
 public:
  ChangeTargets(const RankView& view, const ReplayGraph& graph);

  // Per device row: whether it is what the change is about.
  std::vector<char> WorkOf(const Change& change) const;
  // Per host row: whether it, or an event around it, has a name that contains the text.
  std::vector<char> HostIn(std::string_view text, bool is_whole_name = false) const;
  // The same of the outermost events alone.
  std::vector<HostId> OutermostOf(std::string_view text) const;
  // Launches nothing of which is left.
  std::vector<char> LaunchesWithout(const std::vector<char>& removed) const;
  // Per host row: whether the call, or one around it, starts device work.
  std::vector<char> InLaunches() const;
  // Per host row inside data loading: what is left of its time where other threads or processes
  // load ahead of the use, and taking a batch takes at most kTakeBatchNs. 1 in launch calls of
  // device work, which stay where they are, in waits for batches, whose time is not the host's
  // (BatchArrival), and elsewhere.
  std::vector<double> TakingBatches() const;
  const std::vector<Phase>& phases() const { return *phases_; }

 private:
  std::vector<char> NamesWith(std::string_view text, bool is_whole_name) const;
  std::vector<char> Inherit(std::vector<char> is_marked) const;

  const RankView& view_;
  const ReplayGraph& graph_;
  std::shared_ptr<const std::vector<Phase>> phases_;
  std::shared_ptr<const AlignedWork> aligned_;
};

}  // namespace borescope::internal
