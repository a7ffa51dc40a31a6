// Names of runs, with the placeholders that Nsight Systems has, too.
#pragma once

#include <string>
#include <string_view>

#include "borescope/base/result.h"

namespace borescope::internal {

// The rank of this process in a distributed job, by the variable that its launcher sets (torchrun,
// Slurm, Open MPI, MPICH, PMIx); -1 outside of one.
int RankByEnvironment();

// `name` with %h as the host name, %p as our process id, %r as RankByEnvironment (an error outside
// of a job), %q{VARIABLE} as the value of a variable, and %% as a per cent sign. kInvalidArgument
// for any other placeholder, and for values that would name another folder.
Result<std::string> ExpandRunName(std::string_view name);

// What `output` asks for: where logs go, and what they are converted into afterwards.
struct RunTarget {
  std::string folder;     // ends in .bsr
  std::string converted;  // empty: nothing
};

// "x" and "x.bsr" are the folder x.bsr; "x.rpd", "x.json.gz" and so on are a file that is
// converted from it. An empty name is the first of recording.bsr, recording-2.bsr, … that does not
// exist.
Result<RunTarget> TargetOfRun(std::string_view output);

}  // namespace borescope::internal
