// The environment of a program that is recorded.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/base/result.h"

namespace borescope::internal {

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
Result<void> AddInjection(const InjectionPlan& plan, Environment& environment);

// Makes `first` the first item of a list that colons separate.
void PutFirst(const char* name, const std::string& first, Environment& environment);

// "NAME=value" for execve.
std::vector<std::string> EntriesOf(const Environment& environment);

}  // namespace borescope::internal
