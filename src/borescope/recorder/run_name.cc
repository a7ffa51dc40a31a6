#include "borescope/recorder/run_name.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <span>

#include "borescope/base/io/paths.h"
#include "borescope/recorder/process_facts.h"
#include "borescope/recording/job_variables.h"
#include "borescope/recording/log_format.h"

namespace borescope::internal {
namespace {

int FirstNumber(std::span<const char* const> variables) {
  for (const char* const variable : variables) {
    const char* const value = std::getenv(variable);
    const std::string_view text = value == nullptr ? "" : value;
    int number = -1;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error == std::errc() && end == text.data() + text.size() && number >= 0) return number;
  }
  return -1;
}

// The value of the placeholder at the beginning of `rest`, which is advanced beyond it; nothing for
// an unknown one.
std::optional<std::string> TakePlaceholder(std::string_view& rest) {
  const char kind = rest.empty() ? '\0' : rest.front();
  rest.remove_prefix(rest.empty() ? 0 : 1);
  switch (kind) {
    case '%':
      return "%";
    case 'h':
      return HostName();
    case 'p':
      return std::to_string(getpid());
    case 'r':
      return RankByEnvironment() < 0 ? std::nullopt
                                     : std::optional(std::to_string(RankByEnvironment()));
    case 'q':
      break;
    default:
      return std::nullopt;
  }
  const size_t end = rest.find('}');
  if (!rest.starts_with('{') || end == std::string_view::npos) return std::nullopt;
  const std::string variable(rest.substr(1, end - 1));
  rest.remove_prefix(end + 1);
  const char* const value = std::getenv(variable.c_str());
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

bool EndsWithAny(std::string_view text, std::span<const std::string_view> endings,
                 std::string_view* found) {
  for (const std::string_view ending : endings) {
    if (text.size() > ending.size() && text.ends_with(ending)) {
      *found = ending;
      return true;
    }
  }
  return false;
}

// A name that cannot be looked at is taken: making the folder says what is wrong.
std::string FirstFreeFolder() {
  std::string name = std::string("recording") + recording::kRunSuffix;
  for (int i = 2;; ++i) {
    const Result<FileKind> kind = KindOf(name);
    if (!kind.ok() || *kind == FileKind::kNothing) return name;
    name = "recording-" + std::to_string(i) + recording::kRunSuffix;
  }
}

}  // namespace

int RankByEnvironment() { return FirstNumber(recording::kRankVariables); }

Result<std::string> ExpandRunName(std::string_view name) {
  std::string expanded;
  for (std::string_view rest = name; !rest.empty();) {
    const size_t plain = std::min(rest.find('%'), rest.size());
    expanded += rest.substr(0, plain);
    rest.remove_prefix(plain);
    if (rest.empty()) break;
    rest.remove_prefix(1);
    const std::string_view before = rest;
    const std::optional<std::string> value = TakePlaceholder(rest);
    const std::string shown = "%" + std::string(before.substr(0, before.size() - rest.size()));
    if (!value.has_value()) {
      return UsageError(std::string(name) + ": " + shown + " has no value here",
                        "placeholders are %h (host), %p (process), %r (rank of a distributed job), "
                        "%q{VARIABLE} and %%");
    }
    if (value->find('/') != std::string::npos || *value == "..") {
      return UsageError(std::string(name) + ": the value of " + shown +
                        " has a slash or dots, which would name another folder");
    }
    expanded += *value;
  }
  return expanded;
}

Result<RunTarget> TargetOfRun(std::string_view output) {
  constexpr std::string_view kConverted[] = {".rpd",  ".json.gz", ".json.zst",
                                             ".json", ".pftrace", ".perfetto-trace"};
  if (output.empty()) return RunTarget{FirstFreeFolder(), ""};
  BS_ASSIGN(std::string name, ExpandRunName(output));
  while (name.size() > 1 && name.ends_with('/')) name.pop_back();
  if (name.ends_with(recording::kRunSuffix)) return RunTarget{name, ""};
  std::string_view ending;
  if (!EndsWithAny(name, kConverted, &ending)) {
    return RunTarget{name + recording::kRunSuffix, ""};
  }
  return RunTarget{name.substr(0, name.size() - ending.size()) + recording::kRunSuffix, name};
}

}  // namespace borescope::internal
