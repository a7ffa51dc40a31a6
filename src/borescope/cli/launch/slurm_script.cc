#include "borescope/cli/launch/slurm_script.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace borescope::cli {

namespace {

// What no shell treats specially, wherever in a word it is.
bool IsPlain(char c) {
  constexpr std::string_view kPlain = "%+,-./:@_=";
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         kPlain.find(c) != std::string_view::npos;
}

}  // namespace

std::string SingleQuoted(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) {
    // The quotes end, an escaped quote follows, and quotes begin again.
    quoted += c == '\'' ? "'\\''" : std::string(1, c);
  }
  return quoted + "'";
}

std::string ShellWord(std::string_view text) {
  // Other words with "=" can be an assignment, or be looked up as a command.
  const bool may_assign = text.find('=') != std::string_view::npos && !text.starts_with('-');
  const bool is_plain =
      !text.empty() && !may_assign && std::all_of(text.begin(), text.end(), IsPlain);
  return is_plain ? std::string(text) : SingleQuoted(text);
}

namespace {

// Array indices of Slurm end below MaxArraySize, which is this unless the cluster says otherwise.
constexpr int kUsualMaxArraySize = 1001;

constexpr char kRestAgain[] =
    "Run again, it submits only what has no part yet, and reduces all parts again.";
constexpr char kAllAgain[] = "It removes all parts that are there, also when it is run again.";

constexpr char kHead[] = R"sh(#!/bin/sh
# Submits to Slurm: {name}-map, whose tasks write a part of the answer each, and
# {name}-reduce, which joins the parts. Made by borescope launch slurm.
#   sh THIS_FILE    where sbatch is, in the folder from which its paths lead on
# {again}
{limit}set -eu

name={name}
shards={shards}
digits={digits} # shards, as names of parts have them
folder={folder}
logs={logs} # in which sbatch takes %% for %
answer={answer}
# A folder has the parts of one question in one division.
question={question}
forced={forced}

# Options of both jobs.
set --{options}
)sh";

// A function, for more than one array: an argument has 128 KiB at most, and tens of thousands of
// shards may have more gaps.
constexpr char kMap[] = R"sh(
# Submits the shards in $missing. Numbers of jobs are collected as :1:2.
maps=
submit_map() {{
  map=$(sbatch --parsable "$@" --job-name="$name-map" --array="$missing" \
    --output="$logs/map-%A_%a.txt" <<'END'
#!/bin/sh
exec {}
END
  )
  map=${{map%%;*}} # without the name of the cluster
  echo "$name-map: job $map, shards $missing of $shards"
  maps=$maps:$map
  missing=
}}
)sh";

// Shards whose part exists are done: a part appears complete or not at all. Where all are made
// again none may stay, or that of a task that fails would pass for a new one.
constexpr char kMapMissing[] = R"sh(
mkdir -p -- "$folder/log"
asked=$folder/.question
if [ "$forced" = no ] && [ -e "$asked" ] && [ "$(cat -- "$asked")" != "$question" ]; then
  echo "$folder has parts of another question or number of shards; name another folder, or" \
    "launch with --force, which removes them:" >&2
  cat -- "$asked" >&2
  exit 2
fi
if [ "$forced" = yes ]; then
  case $folder in
    /*) place=$folder ;;
    *) place=./$folder ;; # no option of find, whatever its name is
  esac
  find "$place/." ! -name . -prune -name '?????-of-?????.part' -exec rm -f -- {} +
fi
printf '%s\n' "$question" >"$asked"

# The shards without a part, as 0-3,7-7.
missing=
first=
shard=0
while [ "$shard" -le "$shards" ]; do
  part=0000$shard
  part=${part#"${part%?????}"}-of-$digits.part
  if [ "$shard" -lt "$shards" ] && [ ! -e "$folder/$part" ]; then
    first=${first:-$shard}
  elif [ -n "$first" ]; then
    missing=$missing${missing:+,}$first-$((shard - 1))
    first=
  fi
  if [ "${#missing}" -gt 20000 ]; then # shells append to short texts faster
    submit_map "$@"
  fi
  shard=$((shard + 1))
done
if [ -n "$missing" ]; then
  submit_map "$@"
fi
)sh";

// After tasks that failed, too: the answer then says what is missing, and the job fails.
constexpr char kReduce[] = R"sh(
reduce=$(sbatch --parsable "$@" --job-name="$name-reduce" ${{maps:+"--dependency=afterany$maps"}} \
  --output="$logs/reduce-%j.txt" <<'END'
#!/bin/sh
{words} || exit
set -- {folder}/*-of-{shards:05}.part
if [ "$#" -lt {shards} ]; then
  echo "$# of {shards} parts are there: run again what submitted this" >&2
  exit 1
fi
END
)
echo "$name-reduce: job ${{reduce%%;*}}, answer: $answer"
)sh";

// sbatch replaces %j and others in names of output files.
std::string WithoutPatterns(std::string_view path) {
  std::string escaped;
  for (const char c : path) {
    escaped += c == '%' ? "%%" : std::string(1, c);
  }
  return escaped;
}

std::string SbatchWords(const LaunchJob& job, const SlurmOptions& options) {
  std::string words = fmt::format(" --cpus-per-task={}", job.cpus);
  if (job.mebibytes != 0) {
    words += fmt::format(" --mem={}M", job.mebibytes);
  }
  for (const std::string& word : options.sbatch) {
    words += " " + ShellWord(word);
  }
  return words;
}

// What decides what parts hold, and not how tasks run.
std::string QuestionOf(const LaunchJob& job) {
  std::string question = fmt::format("{} --shards={}", ShellWord(job.verbs), job.shards);
  for (const std::vector<std::string>* words : {&job.map_options, &job.words, &job.inputs}) {
    for (const std::string& word : *words) {
      question += " " + ShellWord(word);
    }
  }
  return question;
}

std::string Head(const LaunchJob& job, const SlurmOptions& options) {
  const std::string limit =
      job.shards <= kUsualMaxArraySize
          ? ""
          : fmt::format(
                "# Slurm must take arrays of {} tasks: scontrol show config | grep MaxArraySize\n",
                job.shards);
  return fmt::format(kHead, fmt::arg("name", job.name), fmt::arg("limit", limit),
                     fmt::arg("again", job.is_forced ? kAllAgain : kRestAgain),
                     fmt::arg("shards", job.shards),
                     fmt::arg("digits", fmt::format("{:05}", job.shards)),
                     fmt::arg("folder", ShellWord(job.folder)),
                     fmt::arg("logs", ShellWord(WithoutPatterns(job.folder) + "/log")),
                     fmt::arg("answer", ShellWord(job.AnswerPath())),
                     fmt::arg("question", ShellWord(QuestionOf(job))),
                     fmt::arg("forced", job.is_forced ? "yes" : "no"),
                     fmt::arg("options", SbatchWords(job, options)));
}

}  // namespace

std::string SlurmScript(const LaunchJob& job, const SlurmOptions& options) {
  const std::string shard = fmt::format("--shard=\"$SLURM_ARRAY_TASK_ID/{}\"", job.shards);
  return Head(job, options) + fmt::format(kMap, fmt::join(MapWords(job, ShellWord, shard), " ")) +
         kMapMissing +
         fmt::format(
             kReduce,
             fmt::arg("words", fmt::format("{}", fmt::join(ReduceWords(job, ShellWord), " "))),
             fmt::arg("folder", ShellWord(job.folder)), fmt::arg("shards", job.shards));
}

}  // namespace borescope::cli
