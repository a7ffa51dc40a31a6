#include "borescope/recorder/sampling/process_tree.h"

#include <charconv>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <string>

#include "borescope/base/io/paths.h"
#include "borescope/recorder/process_facts.h"

namespace borescope::internal {
namespace {

std::optional<pid_t> NumberOf(const std::string& name) {
  pid_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  const bool is_number = error == std::errc() && end == name.data() + name.size();
  return is_number ? std::optional(number) : std::nullopt;
}

// The numbers that are names of a folder of /proc.
std::vector<pid_t> NumbersIn(const std::string& folder) {
  std::vector<pid_t> numbers;
  const Result<std::vector<std::string>> names = NamesIfAny(folder);
  for (const std::string& name : names.ok() ? *names : std::vector<std::string>()) {
    const std::optional<pid_t> number = NumberOf(name);
    if (number.has_value()) numbers.push_back(*number);
  }
  return numbers;
}

// What the kernel lists for each thread of the process, where it does.
std::vector<pid_t> ListedChildren(pid_t pid) {
  std::vector<pid_t> children;
  const std::string tasks = "/proc/" + std::to_string(pid) + "/task/";
  for (const pid_t thread : NumbersIn(tasks)) {
    std::ifstream file(tasks + std::to_string(thread) + "/children");
    children.insert(children.end(), std::istream_iterator<pid_t>(file), {});
  }
  return children;
}

// Field 4 of /proc/PID/stat, after a name that may hold anything.
std::optional<pid_t> ParentOf(pid_t pid) {
  const std::string text = SystemText("/proc/" + std::to_string(pid) + "/stat");
  const size_t bracket = text.rfind(')');
  constexpr size_t kToParent = 4;  // ") S "
  if (bracket == std::string::npos || bracket + kToParent >= text.size()) return std::nullopt;
  pid_t parent = 0;
  const char* const begin = text.data() + bracket + kToParent;
  const auto [end, error] = std::from_chars(begin, text.data() + text.size(), parent);
  return error == std::errc() ? std::optional(parent) : std::nullopt;
}

using Children = std::multimap<pid_t, pid_t>;

// Of all processes of the machine: kernels without lists of children.
Children AllChildren() {
  Children children;
  for (const pid_t pid : NumbersIn("/proc")) {
    const std::optional<pid_t> parent = ParentOf(pid);
    if (parent.has_value()) children.emplace(*parent, pid);
  }
  return children;
}

bool KernelListsChildren() {
  // Where that is not known, the slower way gives the same.
  static const bool lists = [] {
    const Result<FileKind> kind = KindOf("/proc/thread-self/children");
    return kind.ok() && *kind != FileKind::kNothing;
  }();
  return lists;
}

}  // namespace

ProcessTree::ProcessTree(pid_t root) { members_.emplace(root, StartTimeOf(root).value_or(0)); }

std::vector<pid_t> ProcessTree::Members() {
  std::erase_if(members_,
                [](const auto& member) { return StartTimeOf(member.first) != member.second; });
  const bool is_listed = KernelListsChildren();
  const Children all = is_listed ? Children() : AllChildren();
  std::vector<pid_t> members;
  members.reserve(members_.size());
  for (const auto& [pid, start] : members_) members.push_back(pid);
  for (size_t i = 0; i < members.size(); ++i) {
    std::vector<pid_t> children;
    if (is_listed) {
      children = ListedChildren(members[i]);
    } else {
      for (auto [at, end] = all.equal_range(members[i]); at != end; ++at) {
        children.push_back(at->second);
      }
    }
    for (const pid_t child : children) {
      const std::optional<uint64_t> start = StartTimeOf(child);
      if (start.has_value() && members_.emplace(child, *start).second) members.push_back(child);
    }
  }
  return members;
}

}  // namespace borescope::internal
