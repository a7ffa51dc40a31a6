// What can be asked: verbs with their parameters and tables, tasks, formats that can be read and
// written. The one source that front ends, documentation and generated code follow.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "borescope/answer.h"
#include "borescope/error.h"
#include "borescope/export.h"
#include "borescope/question.h"

namespace borescope {

struct ParameterInfo {
  std::string name;  // with underscores: "kernel_wait"
  // "flag", "count" (1 or more), "number" (0 or more), "time", "times", "share", "choice", "file",
  // "folder", "text", "texts" (several, with newlines between them), "ranges" or "list".
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
  std::string details = {};  // more lines of help, such as what to measure for it; mostly empty
};

// What the library does beside answering verbs: it writes files, joins parts, runs statements.
struct TaskInfo {
  std::string name;  // "convert": the function is Convert, the command `borescope convert`
  std::string summary;
  std::string example;                    // a command line
  std::vector<ParameterInfo> parameters;  // without the files it reads and writes
};

struct FormatInfo {
  std::string name;
  std::string summary;
  // Of writers:
  std::string extension = {};  // of files: "csv"
  bool draws = false;          // pictures, of verbs that can be drawn
  bool is_binary = false;      // nothing for a terminal
};

struct Schema {
  std::vector<VerbInfo> verbs;
  std::vector<TaskInfo> tasks;
  std::vector<FormatInfo> formats;  // of inputs
  std::vector<FormatInfo> writers;  // of answers
  std::vector<FormatInfo> targets;  // of Convert
};

// The same at every call; lives as long as the program. Thread-safe.
BORESCOPE_EXPORT const Schema& Describe();

// Why answers cannot be written in a format of Describe().writers here: a library that it needs is
// missing; empty if they can. The first call for a format that needs one loads it (png: 10 ms).
// kInvalidArgument for an unknown format. Thread-safe.
BORESCOPE_EXPORT Result<std::string> WhyUnwritable(std::string_view format);

// The tables that the one verb of a question answers with, without rows: the name and title of
// each, the name, type, unit, role and doc of their columns. Parameters may change them ("by",
// "compat"). Columns that are named by what was recorded are missing. Errors: kInvalidArgument as
// of CheckQuestion. Thread-safe.
BORESCOPE_EXPORT Result<Answer> DescribeAnswer(const Question& question);

// Describe() and the tables of every verb as tables: `verbs`, `parameters` (of verbs and tasks),
// `tables` and `columns` (of verbs without parameters), `formats`. Thread-safe.
BORESCOPE_EXPORT Answer SchemaTables();

}  // namespace borescope
