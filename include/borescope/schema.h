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
  std::string placeholder;           // represents the value in help: "NAME"; empty for a flag
  std::string group;                 // "selection", "question" or "output"
};

struct VerbInfo {
  std::string name;  // "critical-path"
  std::string summary;
  std::string example;     // a command line
  bool takes_two = false;  // compares two runs: Run::Compare
  bool draws = false;      // its answers can be written in formats that draw
  bool saves = false;      // `save` keeps what its answer follows from, for OpenOptions::saved
  std::string word;        // the parameter that a command line takes as a word; empty for none
  std::vector<ParameterInfo> parameters;
};

struct FormatInfo {
  std::string name;
  std::string summary;
  // Of writers:
  std::string extension = {};    // of files: "csv"
  bool draws = false;            // pictures, of verbs that can be drawn
  bool is_binary = false;        // nothing for a terminal
  std::string unavailable = {};  // why this build cannot write it; empty if it can
};

struct Schema {
  std::vector<VerbInfo> verbs;
  std::vector<FormatInfo> formats;  // of inputs
  std::vector<FormatInfo> writers;  // of answers
  std::vector<FormatInfo> targets;  // of Convert
};

// The same at every call; lives as long as the program. Thread-safe.
BORESCOPE_EXPORT const Schema& Describe();

}  // namespace borescope
