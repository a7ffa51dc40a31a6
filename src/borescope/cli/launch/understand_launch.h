// From what was typed after `launch` to jobs. Every error is about usage and one line.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "borescope/cli/launch/launch_job.h"
#include "borescope/cli/options/arguments.h"
#include "borescope/cli/usage_error.h"

namespace borescope::cli {

// The options of a launch that are handed on to the map and the reduce it launches.

// What decides what the parts hold, as words of map: "--step=3". An error for an option of the
// verbs that no task can be given.
Result<std::vector<std::string>> MapOptions(const Command& command);
// How tasks run, which does not change what the parts hold, as words of map: "--verbose".
std::vector<std::string> TaskOptions(const Command& command);
// What comes before the inputs: the word that some verbs take, and none else.
std::vector<std::string> LeadingWords(const Command& command);
// How the answer is shown, as words of reduce.
std::vector<std::string> ReduceOptions(const RawOptions& raw);

// How many shards a run is mapped in if nobody says it.

struct FileSize {
  std::string path;
  uint64_t bytes = 0;
};

// Seconds that one processor needs for map of these files, by their sizes and endings; what was
// measured is in docs/use/scale.md.
double EstimateSeconds(std::span<const FileSize> files);

// A shard for each file, but at most four a node, so that a slow one does not hold up the rest, and
// so few that each has ten seconds of work or more, beside which its start is little. At least 1.
int DefaultShards(std::span<const FileSize> files, int nodes);

// All that does not depend on the engine. Without --shards it finds the files of the run, and how
// large they are; else the run may be where only the tasks see it.
Result<LaunchJob> UnderstandLaunch(const Command& command);

Result<SlurmOptions> UnderstandSlurm(const RawOptions& raw);
Result<KubernetesOptions> UnderstandKubernetes(const RawOptions& raw);

}  // namespace borescope::cli
