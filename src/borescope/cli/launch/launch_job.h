// What a launcher runs: a map of N shards, and a reduce of their parts. Slurm's script
// and the jobs of Kubernetes write it down for an engine each; nothing here runs anything.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/cli/usage_error.h"

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

// Words of a POSIX shell's command line.

// The text in single quotes, in which no shell takes anything specially.
std::string SingleQuoted(std::string_view text);

// The text as one word that any shell takes literally: as it is where nothing in it is special,
// else in single quotes. A line end stays one: callers refuse it.
std::string ShellWord(std::string_view text);

// A shell script that submits a job to Slurm: an array whose tasks map a shard each, and a job that
// reduces their parts once the tasks have ended. Run again, it submits the shards without a part; a
// forced one removes all parts first.

struct SlurmOptions {
  std::vector<std::string> sbatch;  // options of both jobs: "--partition=gpu"
};

// The script, for any POSIX shell. Nothing of the texts is evaluated, neither by the shell that
// submits nor by those of the tasks.
std::string SlurmScript(const LaunchJob& job, const SlurmOptions& options);

// Texts in YAML.

// The text as a double-quoted scalar, which no reader takes for a number, a date or a boolean.
// REQUIRES: UTF-8 without control characters.
std::string YamlText(std::string_view text);

// The same for an argument of a container: Kubernetes puts the values of variables in place of
// $(NAME), but not of $$(NAME).
std::string ContainerArgument(std::string_view text);

// A persistent volume claim, and where containers see it.
struct VolumeMount {
  std::string claim;
  std::string path;  // absolute, not / or /tmp, no slash at its end
};

// Jobs for Kubernetes as YAML: an Indexed Job whose pods map a shard each, and a suspended Job that
// reduces their parts once somebody resumes it.

struct KubernetesOptions {
  std::string image;
  std::vector<VolumeMount> volumes;
  int64_t user = 10001;  // whose id containers run as, and their group; that of our Containerfile
};

// The two jobs. kInvalidArgument where a path is on none of the volumes: what is written there
// would be lost. REQUIRES: texts are UTF-8; the job says how much memory a task has.
Result<std::string> KubernetesJobs(const LaunchJob& job, const KubernetesOptions& options);

}  // namespace borescope::cli
