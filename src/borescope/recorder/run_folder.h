// The folder of a run and the logs in it.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/base/result.h"
#include "borescope/recording/log_format.h"

namespace borescope::internal {

// Names of runs, with the placeholders that Nsight Systems has, too.

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

// Folders that other machines serve: a mapped page there can wait for the network, and may be lost
// when the machine ends.

// Of the folder, which exists. False where that cannot be found out.
bool IsOnNetwork(const std::string& folder);

// By the number that statfs gives for the file system.
bool IsNetworkFileSystem(uint64_t type);

// Makes the folder, for its owner alone. If it exists and holds nothing but a recording, `replaces`
// deletes that first. kIo or kInvalidArgument, with the remedy, otherwise.
Result<void> MakeRunFolder(const std::string& folder, bool replaces);

// Reads at a place of an open file; fewer bytes than asked for only at its end. -1 if it cannot be
// read, and errno says why. Any thread.
ssize_t ReadAt(int file, uint64_t offset, void* bytes, size_t count);

// A log by its header.
struct LogFile {
  std::string name;  // without the folder
  recording::LogHeader header;
  uint64_t bytes = 0;
  bool is_alive = false;  // its process still runs on this machine

  bool is_sealed() const { return (header.flags & recording::kSealed) != 0; }
  bool is_launchers() const { return (header.flags & recording::kIsLauncher) != 0; }
};

// Whether a log was written on this machine since its last start, so that it can be seen here
// whether its process still runs. Of a log that does not say since which start: whether on a
// machine of this name.
bool IsOfThisMachine(const recording::LogHeader& header);

// Whether the process of a log still runs. Of another machine: false.
bool IsWriterAlive(const recording::LogHeader& header);

// All logs, sorted by name. Files that are none are ignored. kIo if the folder or a log cannot be
// read; with `hidden`, names of logs that permissions hide (those of another user) are added there
// instead.
Result<std::vector<LogFile>> ListLogs(const std::string& folder,
                                      std::vector<std::string>* hidden = nullptr);

// Notes in logs whose processes have ended on this machine that no more comes. What cannot be
// changed stays as it is.
void SealEnded(const std::string& folder, const std::vector<LogFile>& logs);

}  // namespace borescope::internal
