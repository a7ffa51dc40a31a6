// From operators over launches to the device: what each pair of launch and work, each operator that
// launches and each annotation adds up to.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/model/scenario_batch.h"

namespace borescope::scenario {

// For each device event of the batch the call that a reader finds by its number, an index, or -1.
// Of two calls with one number a reader takes the later.
std::vector<int32_t> FindLaunches(const StepBatch& batch);

// One launch and a piece of the work it started, summed.
struct LaunchSum {
  int64_t rows = 0;
  int64_t host_ns = 0;
  int64_t device_ns = 0;
  int64_t delay_ns = 0;  // from the end of the call to the begin of the work
};

struct DelaySum {
  int64_t count = 0;
  int64_t launch_delay_ns = 0;
  int64_t runtime_ns = 0;
};
// By operator and the names of what one call of it launched.
using Delays = std::map<std::pair<std::string, std::string>, DelaySum>;

struct AnnotationSum {
  int64_t count = 0;
  int64_t total_ns = 0;
  int64_t min_ns = INT64_MAX;
  int64_t max_ns = 0;
};
// By side ("host", "device") and name.
using Annotations = std::map<std::pair<std::string, std::string>, AnnotationSum>;

class LaunchTruth {
 public:
  explicit LaunchTruth(const KernelCatalog& catalog) : catalog_(catalog) {}

  void AddStep(const StepBatch& batch, const std::vector<int32_t>& launches);

  const LaunchSum& sum() const { return sum_; }
  const Delays& delays() const { return delays_; }
  const Annotations& annotations() const { return annotations_; }

 private:
  void AddDelays(const StepBatch& batch, const std::vector<int32_t>& launches);
  void AddAnnotation(const char* side, HostName name, int64_t number, int64_t dur_ns);

  const KernelCatalog& catalog_;
  LaunchSum sum_;
  Delays delays_;
  Annotations annotations_;
};

}  // namespace borescope::scenario
