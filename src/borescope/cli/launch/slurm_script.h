// A shell script that submits a job to Slurm: an array whose tasks map a shard each, and a job that
// reduces their parts once the tasks have ended. Run again, it submits the shards without a part; a
// forced one removes all parts first.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "borescope/cli/launch/launch_job.h"

namespace borescope::cli {

// Words of a POSIX shell's command line.

// The text in single quotes, in which no shell takes anything specially.
std::string SingleQuoted(std::string_view text);

// The text as one word that any shell takes literally: as it is where nothing in it is special,
// else in single quotes. A line end stays one: callers refuse it.
std::string ShellWord(std::string_view text);

struct SlurmOptions {
  std::vector<std::string> sbatch;  // options of both jobs: "--partition=gpu"
};

// The script, for any POSIX shell. Nothing of the texts is evaluated, neither by the shell that
// submits nor by those of the tasks.
std::string SlurmScript(const LaunchJob& job, const SlurmOptions& options);

}  // namespace borescope::cli
