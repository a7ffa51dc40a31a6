// The program that is recorded: started in our process group, with our streams.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/base/result.h"

namespace borescope::internal {

// The environment of a program that is recorded.

// By name, in alphabetical order.
using Environment = std::map<std::string, std::string, std::less<>>;

// That of this process. Entries without a name are left out.
Environment OwnEnvironment();

struct InjectionPlan {
  std::string library;  // absolute path of libborescope_record.so
  std::string folder;   // absolute path of the run's folder
  std::string options;  // for the library, as log_format.h has them
  bool with_nvtx = true;
  bool with_cuda = true;
  bool with_rocm = false;  // rocprofiler-sdk loads libborescope_record_rocm.so, beside the library
  // A variable that names another tool's library is replaced rather than refused.
  bool replaces_others = false;
};

// Adds what makes a program load and use the library. kInvalidArgument names a variable that
// belongs to another tool.
// With the variables by which PyTorch leaves dumps of its flight recorder and error files in
// `folder`; those that have a value keep it.
void AddPostmortem(const std::string& folder, Environment& environment);

Result<void> AddInjection(const InjectionPlan& plan, Environment& environment);

// Makes `first` the first item of a list that colons separate.
void PutFirst(const char* name, const std::string& first, Environment& environment);

// "NAME=value" for execve.
std::vector<std::string> EntriesOf(const Environment& environment);

// What makes Python programs record: a folder in PYTHONPATH whose sitecustomize runs at their
// start.

struct PythonPlan {
  std::string ops = {};        // operators of PyTorch: "nvtx", "profile", or empty for none
  bool shapes = false;         // with "nvtx": shapes of inputs
  uint64_t ops_steps = 0;      // with "profile": the steps of a window; 0: as the package has it
  std::string functions = {};  // "calls", or empty for none
  bool rpd_compat = false;     // rocmProfileData's module and library are found here
  bool counts_steps = false;   // of PyTorch's optimizers, where the package is installed

  bool is_empty() const { return ops.empty() && functions.empty() && !rpd_compat && !counts_steps; }
  // Programs need not be of Python: without the package, they say their steps themselves.
  bool is_optional() const { return ops.empty() && functions.empty() && !rpd_compat; }
};

// Adds the folder, which lies near the library, and the plan. An empty plan adds nothing. Errors:
//   kInvalidArgument  a word that is not known
//   kMissingData      the Python package is not installed
Result<void> AddPython(const PythonPlan& plan, const std::string& library,
                       Environment& environment);

// Where libborescope_record.so is, which programs load.

// The absolute path of the file: what BORESCOPE_RECORD_LIBRARY names, else the first that exists
// beside this library or program and in the folders for libraries next to it. kMissingData, with
// where it was looked for, if there is none.
Result<std::string> FindRecorderLibrary();

// What of AMD's software is installed here, as far as --rocm needs it.

// Why nothing of AMD's devices will be recorded, and what to do; empty where rocprofiler-sdk or
// roctracer is in ROCM_PATH or /opt/rocm. Programs may bring their own: this is a warning, and no
// error.
std::string WhyNoRocm();

// AMD's GPUs as the kernel lists them, for the library's option rocm-gpus: node, number of the
// target, compute units and warp size of each, as "2:90402:304:64,3:90402:304:64". Empty where
// there are none, or they cannot be read.
std::string RocmGpus(const std::filesystem::path& nodes = "/sys/class/kfd/kfd/topology/nodes");

// How a program ended.
struct ProgramEnd {
  int status = 0;  // exit status; 0 where a signal ended it; -1: the system no longer knows
  int signal = 0;  // that ended it; 0: none
};

// Starts `words[0]`, found along PATH, with the other words as its arguments. Signals are handled
// in it as in this process, but for SIGPIPE and SIGXFSZ, which our command line ignores and which
// have their default; so has SIGCHLD where our command line starts the program.
// kIo, naming the program, if it cannot be started. REQUIRES: !words.empty().
Result<pid_t> StartProgram(const std::vector<std::string>& words, const Environment& environment);

// Waits for its end. Where this process ignores SIGCHLD, or another thread of it has waited for the
// program, the system has forgotten how it ended.
ProgramEnd WaitForProgram(pid_t program);

}  // namespace borescope::internal
