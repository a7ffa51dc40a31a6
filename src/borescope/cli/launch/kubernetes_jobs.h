// Jobs for Kubernetes as YAML: an Indexed Job whose pods map a shard each, and a suspended Job that
// reduces their parts once somebody resumes it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/cli/launch/launch_job.h"
#include "borescope/cli/usage_error.h"

namespace borescope::cli {

// Texts in YAML.

// The text as a double-quoted scalar, which no reader takes for a number, a date or a boolean.
// REQUIRES: UTF-8 without control characters.
std::string YamlText(std::string_view text);

// The same for an argument of a container: Kubernetes puts the values of variables in place of
// $(NAME), but not of $$(NAME).
std::string ContainerArgument(std::string_view text);

// A persistent volume claim, and where containers see it.
struct VolumeMount {
  std::string claim;
  std::string path;  // absolute, not / or /tmp, no slash at its end
};

struct KubernetesOptions {
  std::string image;
  std::vector<VolumeMount> volumes;
  int64_t user = 10001;  // whose id containers run as, and their group; that of our Containerfile
};

// The two jobs. kInvalidArgument where a path is on none of the volumes: what is written there
// would be lost. REQUIRES: texts are UTF-8; the job says how much memory a task has.
Result<std::string> KubernetesJobs(const LaunchJob& job, const KubernetesOptions& options);

}  // namespace borescope::cli
