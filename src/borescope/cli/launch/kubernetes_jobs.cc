#include "borescope/cli/launch/kubernetes_jobs.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace borescope::cli {

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
constexpr char kMap[] = R"(apiVersion: batch/v1
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
constexpr char kReduce[] = R"(---
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

constexpr char kRestAgain[] =
    R"(# The last one starts the reduce, also where shards failed for good and the wait ends without:
# the answer says which parts are missing. To make those, delete both jobs and apply again:
# parts that are there are kept.
)";

// A pod cannot remove the parts of others.
constexpr char kAllAgain[] =
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
      job.is_forced ? fmt::format(kAllAgain, fmt::arg("folder", job.folder)) : kRestAgain;
  return fmt::format(kComment, fmt::arg("name", job.name), fmt::arg("shards", job.shards),
                     fmt::arg("again", again), fmt::arg("answer", job.AnswerPath()));
}

std::string MapHead(const LaunchJob& job) {
  return fmt::format(kMap, fmt::arg("name", job.name), fmt::arg("shards", job.shards),
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
         fmt::format(kReduce, fmt::arg("name", job.name)) +
         Pod(job, options, ReduceWords(job, ContainerArgument));
}

}  // namespace borescope::cli
