// What can be asked: verbs with their parameters, formats that can be read and written. The one
// source that front ends, documentation and generated code follow.
#pragma once

#include <string>
#include <vector>

#include "borescope/export.h"

namespace borescope {

struct ParameterInfo {
  std::string name;  // with underscores: "kernel_wait"
  // "flag", "count" (1 or more), "number" (0 or more), "time", "times", "share", "choice", "file",
  // "folder", "text", "ranges" or "list".
  std::string type;
  std::string doc;
  std::string default_text;          // empty for none
  std::vector<std::string> choices;  // empty when anything of the type goes
};

struct VerbInfo {
  std::string name;  // "critical-path"
  std::string summary;
  std::string example;     // a command line
  bool takes_two = false;  // compares two runs: Run::Compare
  std::vector<ParameterInfo> parameters;
};

struct FormatInfo {
  std::string name;
  std::string summary;
};

struct Schema {
  std::vector<VerbInfo> verbs;
  std::vector<FormatInfo> formats;  // of inputs
  std::vector<FormatInfo> writers;  // of answers
};

// The same at every call; lives as long as the program. Thread-safe.
BORESCOPE_EXPORT const Schema& Describe();

}  // namespace borescope
