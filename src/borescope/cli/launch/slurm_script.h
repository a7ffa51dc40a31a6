// A shell script that submits a job to Slurm: an array whose tasks map a shard each, and a job that
// reduces their parts once the tasks have ended. Run again, it submits the shards without a part; a
// forced one removes all parts first.
#pragma once

#include <string>
#include <vector>

#include "borescope/cli/launch/launch_job.h"

namespace borescope::cli {

struct SlurmOptions {
  std::vector<std::string> sbatch;  // options of both jobs: "--partition=gpu"
};

// The script, for any POSIX shell. Nothing of the texts is evaluated, neither by the shell that
// submits nor by those of the tasks.
std::string SlurmScript(const LaunchJob& job, const SlurmOptions& options);

}  // namespace borescope::cli
