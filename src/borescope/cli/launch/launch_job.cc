#include "borescope/cli/launch/launch_job.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>

namespace borescope::cli {

std::string LaunchJob::AnswerPath() const { return fmt::format("{}/answer.{}", folder, extension); }

// In glob(7) a backslash makes of the character after it a plain one.
std::string LaunchJob::PartsPattern() const {
  constexpr std::string_view kSpecial = "*?[]\\";
  std::string pattern;
  for (const char c : folder) {
    if (kSpecial.find(c) != std::string_view::npos) {
      pattern += '\\';
    }
    pattern += c;
  }
  return fmt::format("{}/*-of-{:05}.part", pattern, shards);
}

std::vector<std::string> MapWords(const LaunchJob& job, const QuoteText& quote,
                                  std::string_view shard_word) {
  std::vector<std::string> words = {quote("borescope"), quote("map"), quote(job.verbs)};
  for (const std::vector<std::string>* const options : {&job.map_options, &job.task_options}) {
    for (const std::string& option : *options) {
      words.push_back(quote(option));
    }
  }
  words.push_back(quote(fmt::format("--threads={}", job.cpus)));
  if (job.is_forced) {
    words.push_back(quote("--force"));
  }
  words.emplace_back(shard_word);
  words.push_back(quote(fmt::format("--output={}/", job.folder)));
  words.push_back(quote("--"));
  for (const std::vector<std::string>* const operands : {&job.words, &job.inputs}) {
    for (const std::string& operand : *operands) {
      words.push_back(quote(operand));
    }
  }
  return words;
}

std::vector<std::string> ReduceWords(const LaunchJob& job, const QuoteText& quote) {
  std::vector<std::string> words = {quote("borescope"), quote(job.is_report ? "report" : "reduce")};
  for (const std::string& option : job.reduce_options) {
    words.push_back(quote(option));
  }
  words.push_back(quote("--output=" + job.AnswerPath()));
  words.push_back(quote("--"));
  words.push_back(quote(job.PartsPattern()));
  return words;
}

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

std::string YamlText(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      quoted += '\\';
    }
    quoted += c;
  }
  return quoted + "\"";
}

std::string ContainerArgument(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    escaped += c == '$' ? "$$" : std::string(1, c);
  }
  return YamlText(escaped);
}

namespace {

// Where more shards than a tenth fail for good, something is wrong with all of them. Exit status 2
// is about what was asked or read, and comes back at every attempt; a pod that is evicted is no
// failure of its shard.
constexpr char kMapYaml[] = R"(apiVersion: batch/v1
kind: Job
metadata:
  name: {name}-map
  labels:
    app.kubernetes.io/name: borescope
    app.kubernetes.io/instance: {name}
spec:
  completionMode: Indexed
  completions: {shards}
  parallelism: {shards}
  backoffLimitPerIndex: 3
  maxFailedIndexes: {failures}
  podFailurePolicy:
    rules:
      - action: Ignore
        onPodConditions:
          - type: DisruptionTarget
            status: "True"
      - action: FailIndex
        onExitCodes:
          containerName: borescope
          operator: In
          values: [2]
)";

// Suspended: it has no pods until somebody resumes it.
constexpr char kReduceYaml[] = R"(---
apiVersion: batch/v1
kind: Job
metadata:
  name: {name}-reduce
  labels:
    app.kubernetes.io/name: borescope
    app.kubernetes.io/instance: {name}
spec:
  suspend: true
  backoffLimit: 3
  podFailurePolicy:
    rules:
      - action: Ignore
        onPodConditions:
          - type: DisruptionTarget
            status: "True"
      - action: FailJob
        onExitCodes:
          containerName: borescope
          operator: In
          values: [2]
)";

constexpr char kPod[] = R"(  template:
    metadata:
      labels:
        app.kubernetes.io/name: borescope
        app.kubernetes.io/instance: {name}
    spec:
      restartPolicy: Never
      automountServiceAccountToken: false
      enableServiceLinks: false
      securityContext:
        runAsNonRoot: true
        runAsUser: {user}
        runAsGroup: {user}
        seccompProfile:
          type: RuntimeDefault
      containers:
        - name: borescope
          image: {image}
          command:
{command}          resources:
            requests:
              cpu: "{cpus}"
              memory: "{memory}Mi"
            limits:
              cpu: "{cpus}"
              memory: "{memory}Mi"
          securityContext:
            allowPrivilegeEscalation: false
            readOnlyRootFilesystem: true
            capabilities:
              drop: ["ALL"]
          volumeMounts:
{mounts}      volumes:
{volumes})";

constexpr char kComment[] =
    R"(# {name}-map writes a part of the answer for each of {shards} shards, and
# {name}-reduce joins the parts. Made by borescope launch k8s.
#   kubectl apply -f THIS_FILE
#   kubectl wait --for=condition=Complete --timeout=24h job/{name}-map
#   kubectl patch job/{name}-reduce --type=merge -p '{{"spec":{{"suspend":false}}}}'
{again}# The answer: {answer}
)";

constexpr char kRestOfJobs[] =
    R"(# The last one starts the reduce, also where shards failed for good and the wait ends without:
# the answer says which parts are missing. To make those, delete both jobs and apply again:
# parts that are there are kept.
)";

// A pod cannot remove the parts of others.
constexpr char kAllJobsAgain[] =
    R"(# The last one starts the reduce. Do not start it where shards failed for good and the wait ends
# without: their earlier parts in {folder}, if any, would pass for new ones. Delete
# both jobs and those parts, and apply again.
)";

bool IsBelow(std::string_view path, const VolumeMount& volume) {
  return path.starts_with(volume.path) &&
         (path.size() == volume.path.size() || path[volume.path.size()] == '/');
}

Result<void> CheckMounted(std::string_view path, const KubernetesOptions& options) {
  const bool is_mounted =
      std::any_of(options.volumes.begin(), options.volumes.end(),
                  [&](const VolumeMount& volume) { return IsBelow(path, volume); });
  return is_mounted ? Result<void>()
                    : UsageError(fmt::format(
                          "'{}' is on no volume; name the claim it is on: --volume CLAIM:PATH, and "
                          "files by the paths that containers see",
                          path));
}

std::string CommandLines(const std::vector<std::string>& words) {
  std::string lines;
  for (const std::string& word : words) {
    lines += fmt::format("            - {}\n", word);
  }
  return lines;
}

// Only the folder of the parts is written to. Temporary files need a place, too.
std::string MountLines(const LaunchJob& job, const KubernetesOptions& options) {
  std::string lines;
  for (size_t i = 0; i < options.volumes.size(); ++i) {
    const VolumeMount& volume = options.volumes[i];
    lines += fmt::format("            - name: volume-{}\n              mountPath: {}\n", i,
                         YamlText(volume.path));
    if (!IsBelow(job.folder, volume)) {
      lines += "              readOnly: true\n";
    }
  }
  return lines + "            - name: temporary\n              mountPath: /tmp\n";
}

std::string VolumeLines(const KubernetesOptions& options) {
  std::string lines;
  for (size_t i = 0; i < options.volumes.size(); ++i) {
    lines += fmt::format(
        "        - name: volume-{}\n          persistentVolumeClaim:\n            claimName: {}\n",
        i, YamlText(options.volumes[i].claim));
  }
  return lines + "        - name: temporary\n          emptyDir: {}\n";
}

std::string CommentLines(const LaunchJob& job) {
  const std::string again =
      job.is_forced ? fmt::format(kAllJobsAgain, fmt::arg("folder", job.folder)) : kRestOfJobs;
  return fmt::format(kComment, fmt::arg("name", job.name), fmt::arg("shards", job.shards),
                     fmt::arg("again", again), fmt::arg("answer", job.AnswerPath()));
}

std::string MapHead(const LaunchJob& job) {
  return fmt::format(kMapYaml, fmt::arg("name", job.name), fmt::arg("shards", job.shards),
                     fmt::arg("failures", std::max(1, job.shards / 10)));
}

std::string Pod(const LaunchJob& job, const KubernetesOptions& options,
                const std::vector<std::string>& words) {
  return fmt::format(kPod, fmt::arg("name", job.name), fmt::arg("user", options.user),
                     fmt::arg("image", YamlText(options.image)), fmt::arg("cpus", job.cpus),
                     fmt::arg("memory", job.mebibytes), fmt::arg("command", CommandLines(words)),
                     fmt::arg("mounts", MountLines(job, options)),
                     fmt::arg("volumes", VolumeLines(options)));
}

}  // namespace

Result<std::string> KubernetesJobs(const LaunchJob& job, const KubernetesOptions& options) {
  BS_TRY(CheckMounted(job.folder, options));
  for (const std::string& input : job.inputs) {
    BS_TRY(CheckMounted(input, options));
  }
  const std::string shard = YamlText(fmt::format("--shard=$(JOB_COMPLETION_INDEX)/{}", job.shards));
  return CommentLines(job) + MapHead(job) +
         Pod(job, options, MapWords(job, ContainerArgument, shard)) +
         fmt::format(kReduceYaml, fmt::arg("name", job.name)) +
         Pod(job, options, ReduceWords(job, ContainerArgument));
}

}  // namespace borescope::cli
