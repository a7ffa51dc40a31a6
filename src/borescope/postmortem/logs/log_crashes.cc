#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "borescope/base/text/text.h"
#include "borescope/postmortem/logs/log_pattern.h"
#include "borescope/postmortem/logs/log_scan.h"

namespace borescope::internal {
namespace {

constexpr size_t kMostThrown = 4096;

// libstdc++ writes the text of the exception in the next line, libc++ in the same one.
const LogPattern kThrown{"^terminate called after throwing an instance of '(.+)'$"};
const LogPattern kThrownByNone{"^terminate called (without an active exception|recursively)$"};
const LogPattern kThrownLlvm{
    "^libc\\+\\+abi: terminating (?:due to|with) uncaught exception of type ([^ ]+?)(?:: (.*))?$"};
const LogPattern kWhat{"^  what\\(\\): +(.*)$"};

// Of glibc, whole lines.
const LogPattern kHeap{
    "^(?:malloc|free|realloc|calloc|munmap_chunk|malloc_consolidate|malloc_usable_size)"
    "\\(\\): [a-z][^:]*$|^double free or corruption \\([a-z!]+\\)$|"
    "^corrupted (?:size vs\\. prev_size|double-linked list)[^:]*$|"
    "^\\*\\*\\* (?:stack smashing|buffer overflow) detected \\*\\*\\*(?:: terminated)?$"};

// Of a kernel, with its place, block and thread, and of assert() of C.
const LogPattern kDeviceAssertion{
    "([^ /]+:[0-9]+): .*block: \\[[0-9,]+\\], thread: \\[[0-9,]+\\] (Assertion `.*` failed\\.)"};
const LogPattern kAssertion{"^[^ :]+: [^ :]+:[0-9]+: .*(Assertion `.*' failed\\.)$"};

const LogPattern kUcxSignal{
    "\\[([\\w.-]+):([0-9]+) *:[0-9]+:[0-9]+\\] +Caught signal ([0-9]+) \\((.*)\\)$"};
const LogPattern kOpenMpiSignal{"^\\[([\\w.-]+):([0-9]+)\\] Signal: (.*) \\(([0-9]+)\\)$"};
// Of Abseil, as JAX, TensorFlow and PyTorch/XLA use it.
const LogPattern kAbslSignal{
    "^\\*\\*\\* SIG(TERM|SEGV|ABRT|BUS|FPE|ILL) received by PID ([0-9]+) "};
const LogPattern kRocmFault{"^(Memory access fault by GPU node-[0-9]+ .*)$"};

// bash, with the place in its script and the command, and any shell without these.
const LogPattern kShellPlace{
    ": line [0-9]+: +([0-9]+) (Killed|Segmentation fault|Bus error|Aborted|Illegal instruction|"
    "Floating point exception)(?: |$)"};
const LogPattern kShellAlone{
    "^(Killed|Terminated|Segmentation fault|Bus error|Aborted|Illegal instruction|"
    "Floating point exception)(?: \\(core dumped\\))?$"};

// Of a shell, Python and argparse.
const LogPattern kNoStartLine{
    "(?:^|: )([^ :]+: command not found)$|(can't open file '[^']+')|"
    ": error: ((?:unrecognized arguments: |argument |the following ).*)$"};

const LogPattern kPodKilled{
    "[Rr]eason\"?: *\"?OOMKilled\\b|^[a-z0-9.-]+ +[0-9]+/[0-9]+ +OOMKilled "};
const LogPattern kPodEvicted{
    "^.*The node was low on resource: ([a-z-]+)\\.|^ *[Rr]eason\"?: *\"?Evicted\\b"};

int SignalOfWords(std::string_view words) {
  struct Named {
    std::string_view words;
    int signal;
  };
  constexpr Named kNamed[] = {
      {"Killed", 9},  {"Terminated", 15},         {"Segmentation fault", 11},     {"Bus error", 7},
      {"Aborted", 6}, {"Illegal instruction", 4}, {"Floating point exception", 8}};
  const auto* const at = std::find_if(std::begin(kNamed), std::end(kNamed),
                                      [&](const Named& named) { return named.words == words; });
  return at == std::end(kNamed) ? 0 : at->signal;
}

}  // namespace

// An exception of C++ that nothing caught: its type, then its text.
bool LogScanner::TakeThrown(const LogLine& line, int64_t number) {
  const int64_t stream = LogStreamOf(line);
  std::string type;
  std::string what;
  const auto open = thrown_.find(stream);
  if (open != thrown_.end() && Finds(line.text, kWhat, &what)) {
    LogEvent event = std::move(open->second);
    thrown_.erase(open);
    if (!what.starts_with(event.text)) event.text += ": " + WithoutSecrets(what);
    event.is_consequence = IsConsequenceText(what);
    event.kind = IsDeviceOutOfMemory(what) ? LogKind::kOutOfMemory : event.kind;
    AddCrash(stream, std::move(event));
    return true;
  }
  const bool is_named = Finds(line.text, kThrown, &type);
  const bool is_whole = !is_named && (Finds(line.text, kThrownLlvm, &type, &what) ||
                                      Finds(line.text, kThrownByNone, &what));
  if (!is_named && !is_whole) {
    return false;
  }
  LogEvent event = EventAt(LogKind::kException, line, number);
  event.text = WithoutSecrets(type.empty()   ? "std::terminate " + what
                              : what.empty() ? type
                                             : type + ": " + what);
  if (open != thrown_.end()) {
    AddCrash(stream, std::move(open->second));
    thrown_.erase(open);
  }
  if (is_whole || thrown_.size() >= kMostThrown) {
    event.is_consequence = IsConsequenceText(event.text);
    AddCrash(stream, std::move(event));
  } else {
    thrown_.emplace(stream, std::move(event));
  }
  return true;
}

// What a process itself writes about the signal that ends it.
bool LogScanner::TakeCrash(const LogLine& line, int64_t number) {
  LogEvent event = EventAt(LogKind::kFatal, line, number);
  std::string host;
  std::string words;
  int64_t pid = 0;
  int signal = 0;
  if (std::string place; Finds(line.text, kDeviceAssertion, &place, &words)) {
    // Of the first thread; thousands may say the same.
    const int64_t stream = LogStreamOf(line);
    if (asserted_.size() < kMostThrown) {
      asserted_.try_emplace(stream, WithoutSecrets(place + " " + words));
    }
    return true;
  }
  if (Finds(line.text, kAbslSignal, &words, &pid)) {
    event.pid = pid;
    if (words == "TERM") {
      event.kind = LogKind::kExit;
      event.exit_code = -15;
      event.text = ExitText(-15);
      event.is_consequence = true;
      Add(std::move(event));
      return true;
    }
    event.text = words == "ABRT" ? "Aborted" : "signal SIG" + words;
  } else if (Finds(line.text, kHeap)) {
    event.text = "glibc found damaged memory: " + WithoutSecrets(line.text);
  } else if (Finds(line.text, kAssertion, &words) || Finds(line.text, kRocmFault, &words)) {
    event.text = WithoutSecrets(words);
  } else if (Finds(line.text, kUcxSignal, &host, &pid, &signal, &words) ||
             Finds(line.text, kOpenMpiSignal, &host, &pid, &words, &signal)) {
    event.host = host;
    event.pid = pid;
    event.text = fmt::format("signal {} ({})", signal, WithoutSecrets(words));
    event.is_consequence = signal == 15;
  } else {
    return false;
  }
  AddCrash(LogStreamOf(line), std::move(event));
  return true;
}

// What a shell says about a process that it started. An exception before it, after which a line of
// work followed, ended nothing: the signal did.
bool LogScanner::TakeShell(const LogLine& line, int64_t number) {
  std::string words;
  std::string pid;
  if (!Finds(line.text, kShellPlace, &pid, &words) && !Finds(line.text, kShellAlone, &words)) {
    return false;
  }
  const int64_t stream = LogStreamOf(line);
  if (const auto after = aftermaths_.find(stream); after != aftermaths_.end()) {
    const auto has_grown = [](const WorkShape& shape) {
      return std::any_of(shape.steps.begin(), shape.steps.end(),
                         [](uint32_t steps) { return steps > 0; });
    };
    if (after->second.is_open &&
        std::any_of(after->second.shapes.begin(), after->second.shapes.end(), has_grown)) {
      after->second.went_on = true;
    }
  }
  LogEvent event = EventAt(LogKind::kExit, line, number);
  event.is_of_shell = true;
  event.exit_code = -SignalOfWords(words);
  event.text = ExitText(*event.exit_code);
  event.is_consequence = event.exit_code == -15;
  if (const auto said = ParseNumber<int64_t>(pid)) event.pid = said;
  AddCrash(stream, std::move(event));
  return true;
}

// What a shell, Python or argparse say before a program runs. Healthy scripts have such lines, too:
// they count if a process failed and nothing else says why.
bool LogScanner::TakeNoStart(const LogLine& line, int64_t number) {
  std::string command;
  std::string file;
  std::string arguments;
  if (!Finds(line.text, kNoStartLine, &command, &file, &arguments)) {
    return false;
  }
  LogEvent event = EventAt(LogKind::kNoStart, line, number);
  event.text = WithoutSecrets(command + file + arguments);
  event.is_no_end = true;
  Add(std::move(event));
  return true;
}

// States of containers and pods: `kubectl describe pod`, `get pod -o yaml`, `get events`.
bool LogScanner::TakeKubernetes(const LogLine& line, int64_t number) {
  std::string resource;
  if (Finds(line.text, kPodKilled)) {
    LogEvent event = EventAt(LogKind::kKilled, line, number);
    event.text = "Kubernetes reports a container killed for lack of host memory (OOMKilled)";
    Add(std::move(event));
    return true;
  }
  if (Finds(line.text, kPodEvicted, &resource)) {
    LogEvent event = EventAt(LogKind::kCancelled, line, number);
    event.text = "evicted";
    event.cause = resource;
    Add(std::move(event));
    return true;
  }
  return false;
}

}  // namespace borescope::internal
