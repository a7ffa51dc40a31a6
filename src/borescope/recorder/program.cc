#include "borescope/recorder/program.h"

#include <spawn.h>
#include <sys/wait.h>

#include <cerrno>
#include <csignal>
#include <cstring>

namespace borescope::internal {
namespace {

std::vector<char*> PointersTo(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (std::string& text : texts) {
    pointers.push_back(text.data());
  }
  pointers.push_back(nullptr);
  return pointers;
}

// Our threads may block signals, and our command line ignores two, which a child would inherit.
class Attributes {
 public:
  Attributes() {
    posix_spawnattr_init(&attributes_);
    sigset_t signals;
    sigemptyset(&signals);
    posix_spawnattr_setsigmask(&attributes_, &signals);
    sigaddset(&signals, SIGPIPE);
    sigaddset(&signals, SIGXFSZ);
    posix_spawnattr_setsigdefault(&attributes_, &signals);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  }
  Attributes(const Attributes&) = delete;
  Attributes& operator=(const Attributes&) = delete;
  ~Attributes() { posix_spawnattr_destroy(&attributes_); }

  const posix_spawnattr_t* get() const { return &attributes_; }

 private:
  posix_spawnattr_t attributes_{};
};

}  // namespace

Result<pid_t> StartProgram(const std::vector<std::string>& words, const Environment& environment) {
  std::vector<std::string> arguments = words;
  std::vector<std::string> entries = EntriesOf(environment);
  const std::vector<char*> argv = PointersTo(arguments);
  const std::vector<char*> envp = PointersTo(entries);
  const Attributes attributes;
  pid_t child = 0;
  const int error =
      posix_spawnp(&child, argv[0], nullptr, attributes.get(), argv.data(), envp.data());
  if (error == 0) return child;
  return Error{ErrorCode::kIo, words[0] + ": cannot be started: " + std::strerror(error),
               "name a program that is in PATH, or its path"};
}

ProgramEnd WaitForProgram(pid_t program) {
  int status = 0;
  pid_t waited = 0;
  do {
    waited = waitpid(program, &status, 0);
  } while (waited < 0 && errno == EINTR);
  if (waited < 0) return {};
  if (WIFSIGNALED(status)) return {.status = 0, .signal = WTERMSIG(status)};
  return {.status = WEXITSTATUS(status), .signal = 0};
}

}  // namespace borescope::internal
