
#include "borescope/cli/answers.h"
#include "borescope/cli/commands/verb_commands.h"
#include "borescope/cli/launch/understand_launch.h"

namespace borescope::cli {
namespace {

Result<std::string> SlurmText(const Command& command) {
  BS_ASSIGN(const SlurmOptions options, UnderstandSlurm(command.raw));
  BS_ASSIGN(const LaunchJob job, UnderstandLaunch(command));
  return SlurmScript(job, options);
}

Result<std::string> KubernetesText(const Command& command) {
  constexpr uint64_t kUsualMebibytes = 2048;
  BS_ASSIGN(const KubernetesOptions options, UnderstandKubernetes(command.raw));
  BS_ASSIGN(LaunchJob job, UnderstandLaunch(command));
  if (job.mebibytes == 0) {
    job.mebibytes = kUsualMebibytes;
  }
  return KubernetesJobs(job, options);
}

}  // namespace

Result<int> RunLaunchVerb(const Command& command) {
  if (command.task.empty()) {
    return UsageError("launch: for what? borescope launch slurm|k8s VERB[,VERB...] RUN -o DIR");
  }
  BS_ASSIGN(const std::string text,
            command.task == "slurm" ? SlurmText(command) : KubernetesText(command));
  return Print(text);
}

}  // namespace borescope::cli
