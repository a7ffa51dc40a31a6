#include "borescope/recorder/sampling/process_sampler.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>

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
                [](const auto& member) { return !StillRuns(member.first, member.second); });
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

namespace {

namespace fs = std::filesystem;

// The number after the first `label` of a text.
std::optional<double> NumberAfter(std::string_view text, std::string_view label) {
  const size_t found = text.find(label);
  if (found == std::string_view::npos) return std::nullopt;
  std::string_view rest = text.substr(found + label.size());
  rest.remove_prefix(std::min(rest.find_first_not_of(" \t"), rest.size()));
  double number = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
  return error == std::errc() ? std::optional(number) : std::nullopt;
}

class Series {
 public:
  Series(std::string prefix, std::vector<Sample>& samples)
      : prefix_(std::move(prefix)), samples_(samples) {}

  void Add(std::string_view name, std::optional<double> value) {
    if (value.has_value()) samples_.push_back({prefix_ + std::string(name), *value});
  }

 private:
  std::string prefix_;
  std::vector<Sample>& samples_;
};

std::string FolderOf(pid_t pid) { return "/proc/" + std::to_string(pid) + "/"; }

Series SeriesOf(pid_t pid, std::vector<Sample>& samples) {
  return {"process/" + std::to_string(pid) + "/", samples};
}

// Fields of /proc/PID/stat, whose numbers are those of its manual page.
void AddStat(pid_t pid, Series& series) {
  const std::string text = SystemText(FolderOf(pid) + "stat");
  const size_t bracket = text.rfind(')');
  if (bracket == std::string::npos) return;
  std::istringstream rest(text.substr(bracket + 1));
  const std::vector<std::string> fields{std::istream_iterator<std::string>(rest), {}};
  constexpr size_t kFirst = 3;  // the number of the field after the name
  const auto field = [&](size_t number) {
    return number - kFirst < fields.size() ? NumberAfter(fields[number - kFirst], "")
                                           : std::nullopt;
  };
  series.Add("minor_faults", field(10));
  series.Add("major_faults", field(12));
  series.Add("threads", field(20));
  const std::optional<double> pages = field(24);
  if (pages.has_value()) {
    series.Add("resident_bytes", *pages * static_cast<double>(sysconf(_SC_PAGESIZE)));
  }
}

// Each thread counts its own. Of very many, the first are looked at, and nothing is said.
std::optional<double> SwitchesOf(pid_t pid) {
  constexpr int kMostThreads = 256;
  double switches = 0;
  int threads = 0;
  const std::string folder = FolderOf(pid) + "task/";
  const Result<std::vector<std::string>> names = NamesIfAny(folder);
  for (const std::string& name : names.ok() ? *names : std::vector<std::string>()) {
    if (++threads > kMostThreads) return std::nullopt;
    const std::string text = SystemText((folder + name).append("/status"));
    switches += NumberAfter(text, "\nvoluntary_ctxt_switches:").value_or(0) +
                NumberAfter(text, "\nnonvoluntary_ctxt_switches:").value_or(0);
  }
  return threads == 0 ? std::nullopt : std::optional(switches);
}

// Only the owner of a process may see it.
void AddInput(pid_t pid, Series& series) {
  const std::string text = SystemText(FolderOf(pid) + "io");
  series.Add("read_bytes", NumberAfter(text, "\nread_bytes:"));
  series.Add("written_bytes", NumberAfter(text, "\nwrite_bytes:"));
}

void AddPressure(std::vector<Sample>& samples) {
  Series series("host/0/", samples);
  for (const char* const what : {"cpu", "memory", "io"}) {
    const std::string text = SystemText(std::string("/proc/pressure/") + what);
    series.Add(std::string(what) + "_pressure", NumberAfter(text, "some avg10="));
  }
}

std::optional<uint64_t> CpuTimeOf(pid_t pid) {
  clockid_t clock{};
  timespec time{};
  if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &time) != 0) {
    return std::nullopt;
  }
  constexpr uint64_t kNanosecondsPerSecond = 1'000'000'000;
  return static_cast<uint64_t>(time.tv_sec) * kNanosecondsPerSecond +
         static_cast<uint64_t>(time.tv_nsec);
}

}  // namespace

void ProcessSampler::ReadCpu(pid_t pid, std::vector<Sample>& samples) {
  const std::optional<uint64_t> cpu = CpuTimeOf(pid);
  if (!cpu.has_value()) return;
  const Moment now{*cpu, MonotonicNow()};
  const auto [last, is_first] = last_.try_emplace(pid, now);
  if (is_first || now.now_ns <= last->second.now_ns || now.cpu_ns < last->second.cpu_ns) {
    last->second = now;
    return;
  }
  constexpr double kPerCent = 100;
  const double share = static_cast<double>(now.cpu_ns - last->second.cpu_ns) /
                       static_cast<double>(now.now_ns - last->second.now_ns);
  last->second = now;
  SeriesOf(pid, samples).Add("cpu", kPerCent * share);
}

void ProcessSampler::Read(std::vector<Sample>& samples) {
  for (const pid_t pid : tree_.Members()) {
    ReadCpu(pid, samples);
    Series series = SeriesOf(pid, samples);
    AddStat(pid, series);
    series.Add("context_switches", SwitchesOf(pid));
    AddInput(pid, series);
  }
  AddPressure(samples);
}

}  // namespace borescope::internal
