// From what was typed after `launch` to jobs. Every error is about usage and one line.
#pragma once

#include "borescope/cli/launch/kubernetes_jobs.h"
#include "borescope/cli/launch/launch_job.h"
#include "borescope/cli/launch/slurm_script.h"
#include "borescope/cli/options/arguments.h"
#include "borescope/cli/usage_error.h"

namespace borescope::cli {

// All that does not depend on the engine. Without --shards it finds the files of the run, and how
// large they are; else the run may be where only the tasks see it.
Result<LaunchJob> UnderstandLaunch(const Command& command);

Result<SlurmOptions> UnderstandSlurm(const RawOptions& raw);
Result<KubernetesOptions> UnderstandKubernetes(const RawOptions& raw);

}  // namespace borescope::cli
