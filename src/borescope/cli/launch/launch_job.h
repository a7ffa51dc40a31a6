// What a launcher runs: a map of N shards, and a reduce of their parts. slurm_script.h and
// kubernetes_jobs.h write it down for an engine each; nothing here runs anything.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace borescope::cli {

// A plain value. No text of it has control characters, so that each stays on its line.
struct LaunchJob {
  std::string name;                         // the engine's jobs are called NAME-map, NAME-reduce
  std::string verbs;                        // "summary,kernels"
  bool is_report = false;                   // the verb is report, whose parts report joins
  std::vector<std::string> map_options;     // of the verbs: "--step=3"
  std::vector<std::string> task_options;    // how tasks run, whatever they answer: "--verbose"
  std::vector<std::string> words;           // of verbs that take one before their inputs
  std::vector<std::string> inputs;          // the run: files, folders, globs
  std::vector<std::string> reduce_options;  // how the answer is shown: "--top=10"
  std::string folder;     // where parts and answer are written; no slash at its end
  std::string extension;  // of the answer: "json"
  int shards = 1;
  int cpus = 1;            // of a task
  uint64_t mebibytes = 0;  // memory of a task; 0: not said
  bool is_forced = false;  // also the parts that are there already

  // The file of the answer.
  std::string AnswerPath() const;
  // A glob of the parts of this division, and of no other that may be in the folder.
  std::string PartsPattern() const;
};

// How an engine is given a text that must arrive as it is.
using QuoteText = std::function<std::string(std::string_view text)>;

// The command line of one shard. `shard_word` is its option --shard as the engine takes it, with
// the variable that has the number of the task.
std::vector<std::string> MapWords(const LaunchJob& job, const QuoteText& quote,
                                  std::string_view shard_word);
// The command line of the reduce, which joins the parts of all shards.
std::vector<std::string> ReduceWords(const LaunchJob& job, const QuoteText& quote);

}  // namespace borescope::cli
