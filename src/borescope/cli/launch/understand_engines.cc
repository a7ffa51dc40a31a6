#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <span>

#include "borescope/cli/launch/understand_launch.h"
#include "borescope/cli/options/values.h"
#include "borescope/text.h"

namespace borescope::cli {
namespace {

// An option of one engine alone.
struct EngineOption {
  std::string_view name;
  std::string RawOptions::* text;
};
constexpr EngineOption kOfSlurm[] = {{"partition", &RawOptions::partition},
                                     {"account", &RawOptions::account},
                                     {"time", &RawOptions::time},
                                     {"sbatch", &RawOptions::sbatch}};
constexpr EngineOption kOfKubernetes[] = {
    {"image", &RawOptions::image}, {"volume", &RawOptions::volumes}, {"user", &RawOptions::user}};

Result<void> Refuse(const RawOptions& raw, std::string_view engine,
                    std::span<const EngineOption> others) {
  for (const EngineOption& option : others) {
    if (!(raw.*option.text).empty()) {
      return UsageError(fmt::format("launch {}: --{} is not for it", engine, option.name));
    }
  }
  return {};
}

// The words between blanks.
std::vector<std::string> WordsOf(std::string_view text) {
  std::vector<std::string> words;
  for (size_t begin = text.find_first_not_of(' '); begin < text.size();) {
    const size_t end = std::min(text.find(' ', begin), text.size());
    words.emplace_back(text.substr(begin, end - begin));
    begin = text.find_first_not_of(' ', end);
  }
  return words;
}

Result<VolumeMount> UnderstandVolume(const std::string& text) {
  const size_t colon = text.find(':');
  VolumeMount volume{text.substr(0, colon),
                     colon == std::string::npos ? "" : text.substr(colon + 1)};
  while (volume.path.ends_with('/')) {
    volume.path.pop_back();
  }
  if (volume.claim.empty() || !volume.path.starts_with('/') || volume.path == "/tmp" ||
      volume.path.find(':') != std::string::npos) {
    return UsageError(
        fmt::format("--volume: '{}' is not CLAIM:PATH, a persistent volume claim and the folder "
                    "where containers see it, neither / nor /tmp",
                    text));
  }
  return volume;
}

}  // namespace

Result<SlurmOptions> UnderstandSlurm(const RawOptions& raw) {
  BS_TRY(Refuse(raw, "slurm", kOfKubernetes));
  if (raw.output.find('\\') != std::string::npos) {
    return UsageError(
        fmt::format("launch slurm: sbatch takes no name of a log with a backslash; name another "
                    "folder than '{}'",
                    raw.output));
  }
  SlurmOptions options;
  for (const EngineOption& option : kOfSlurm) {
    if (option.name != "sbatch" && !(raw.*option.text).empty()) {
      options.sbatch.push_back(fmt::format("--{}={}", option.name, raw.*option.text));
    }
  }
  for (std::string& word : WordsOf(raw.sbatch)) {
    if (!word.starts_with('-')) {
      return UsageError(fmt::format(
          "--sbatch: '{}' is no option; write values after an equals sign: --qos=high", word));
    }
    options.sbatch.push_back(std::move(word));
  }
  return options;
}

Result<KubernetesOptions> UnderstandKubernetes(const RawOptions& raw) {
  BS_TRY(Refuse(raw, "k8s", kOfSlurm));
  KubernetesOptions options;
  if (raw.image.empty()) {
    return UsageError("launch k8s: no container image with borescope; name one with --image");
  }
  options.image = raw.image;
  for (const std::string& text : SplitList(raw.volumes)) {
    BS_ASSIGN(VolumeMount volume, UnderstandVolume(text));
    options.volumes.push_back(std::move(volume));
  }
  if (!raw.user.empty()) {
    constexpr int64_t kLargest = (int64_t{1} << 31) - 1;
    BS_ASSIGN(options.user, ParseWithin("user", raw.user, 1, kLargest));
  }
  return options;
}

}  // namespace borescope::cli
