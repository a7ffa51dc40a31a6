#include "borescope/base/io/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <optional>
#include <string_view>
#include <system_error>
#include <thread>

#include "borescope/base/io/temporary_folder.h"

extern char** environ;  // NOLINT(readability-redundant-declaration): POSIX leaves it to us

namespace borescope::internal {
namespace {

using Clock = std::chrono::steady_clock;

Error Failure(const std::string& program, std::string_view cause) {
  return {ErrorCode::kIo, program + ": " + std::string(cause)};
}

// Both ends of a pipe; closes those that are open.
class Pipe {
 public:
  Pipe() { is_open_ = pipe2(ends_.data(), O_CLOEXEC) == 0; }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    CloseWriter();
    if (is_open_) close(ends_[0]);
  }

  bool is_open() const { return is_open_; }
  int reader() const { return ends_[0]; }
  int writer() const { return ends_[1]; }
  void CloseWriter() {
    if (is_open_ && !writer_is_closed_) close(ends_[1]);
    writer_is_closed_ = true;
  }

 private:
  std::array<int, 2> ends_{-1, -1};
  bool is_open_ = false;
  bool writer_is_closed_ = false;
};

// How a child is started.
class SpawnPlan {
 public:
  // With our standard output and error.
  SpawnPlan() {
    posix_spawn_file_actions_init(&actions_);
    posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawnattr_init(&attributes_);
    posix_spawnattr_setpgroup(&attributes_, 0);  // a group of its own
    sigset_t signals;                            // we may block ones it needs
    sigemptyset(&signals);
    posix_spawnattr_setsigmask(&attributes_, &signals);
    sigaddset(&signals, SIGPIPE);
    sigaddset(&signals, SIGXFSZ);
    posix_spawnattr_setsigdefault(&attributes_, &signals);
    posix_spawnattr_setflags(
        &attributes_, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  }
  // Writing to the pipes.
  SpawnPlan(const Pipe& out, const Pipe& err) : SpawnPlan() {
    posix_spawn_file_actions_adddup2(&actions_, out.writer(), STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions_, err.writer(), STDERR_FILENO);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;
  ~SpawnPlan() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }

  // Discards its output.
  void Silence() {
    posix_spawn_file_actions_addopen(&actions_, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&actions_, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  }

  // 0, or the error.
  int Spawn(const std::vector<std::string>& words, pid_t& child) const {
    std::vector<std::string> copies = words;
    std::vector<char*> arguments;
    arguments.reserve(copies.size() + 1);
    for (std::string& word : copies) {
      arguments.push_back(word.data());
    }
    arguments.push_back(nullptr);
    return posix_spawnp(&child, arguments[0], &actions_, &attributes_, arguments.data(), environ);
  }

 private:
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

// A stream of the child.
struct Stream {
  int descriptor;
  std::string* text;
  bool is_open = true;
};

// Reads the available bytes.
void ReadSome(Stream& stream) {
  std::array<char, 16 * 1024> bytes;
  const ssize_t count = read(stream.descriptor, bytes.data(), bytes.size());
  if (count > 0) {
    stream.text->append(bytes.data(), static_cast<size_t>(count));
  } else if (count == 0 || errno != EINTR) {
    stream.is_open = false;
  }
}

// Reads both streams to their ends. Returns the cause if a limit was reached.
std::optional<std::string_view> ReadStreams(std::array<Stream, 2>& streams,
                                            const ChildLimits& limits, Clock::time_point end) {
  while (streams[0].is_open || streams[1].is_open) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now());
    if (left.count() <= 0) return "ran too long";
    std::array<pollfd, 2> polled{};
    for (size_t i = 0; i < streams.size(); ++i) {
      polled[i] = {streams[i].is_open ? streams[i].descriptor : -1, POLLIN, 0};
    }
    constexpr int64_t kLongestWait = 60'000;
    poll(polled.data(), polled.size(),
         static_cast<int>(std::min<int64_t>(left.count() + 1, kLongestWait)));
    for (size_t i = 0; i < streams.size(); ++i) {
      if (polled[i].revents != 0) ReadSome(streams[i]);
      if (streams[i].text->size() > limits.output_bytes) return "wrote too much";
    }
  }
  return std::nullopt;
}

// Waits for its exit, until `end` at most; nothing if it is still running. An error where the
// system does not say how it ended: this process ignores SIGCHLD, or another thread waits for all
// children.
Result<std::optional<int>> WaitUntil(const std::string& program, pid_t child,
                                     Clock::time_point end) {
  constexpr useconds_t kNap = 2000;
  for (;;) {
    int status = 0;
    const pid_t ended = waitpid(child, &status, WNOHANG);
    if (ended == child) {
      return std::optional(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
    }
    if (ended < 0 && errno != EINTR) {
      return Failure(program,
                     std::string("how it ended cannot be found out: ") + std::strerror(errno));
    }
    if (Clock::now() >= end) return std::optional<int>();
    usleep(kNap);
  }
}

void Reap(pid_t child) {
  int ignored = 0;
  while (waitpid(child, &ignored, 0) < 0 && errno == EINTR) {
  }
}

void End(pid_t child) {
  kill(-child, SIGKILL);
  Reap(child);
}

// The child or this process may end first. Without a thread that waits for it, an ended child would
// remain a zombie until we end.
void ReapLater(pid_t child) {
  try {
    std::thread(Reap, child).detach();
  } catch (const std::system_error&) {
    return;
  }
}

}  // namespace

Result<ChildOutput> RunChild(const std::vector<std::string>& words, const ChildLimits& limits) {
  const Clock::time_point end = Clock::now() + limits.time;
  const std::string& program = words.front();
  Pipe out;
  Pipe err;
  if (!out.is_open() || !err.is_open()) return Failure(program, std::strerror(errno));
  pid_t child = 0;
  Unfinished unfinished;  // its whole group ends with us
  {
    const UnfinishedLock lock = LockUnfinished();
    const int failure = SpawnPlan(out, err).Spawn(words, child);
    if (failure != 0) return Failure(program, std::strerror(failure));
    unfinished = Unfinished(lock, [child] { kill(-child, SIGKILL); });
  }
  out.CloseWriter();
  err.CloseWriter();
  ChildOutput output;
  std::array<Stream, 2> streams{Stream{out.reader(), &output.out},
                                Stream{err.reader(), &output.err}};
  const std::optional<std::string_view> cause = ReadStreams(streams, limits, end);
  const Result<std::optional<int>> status =
      cause ? Result<std::optional<int>>(std::nullopt) : WaitUntil(program, child, end);
  if (!status.ok()) return status.error();  // it is no longer there to be ended
  if (!status->has_value()) {
    End(child);
    return Failure(program, cause.value_or("ran too long"));
  }
  output.status = **status;
  return output;
}

Result<std::optional<int>> StartChild(const std::vector<std::string>& words,
                                      std::chrono::milliseconds watched) {
  const Clock::time_point end = Clock::now() + watched;
  pid_t child = 0;
  SpawnPlan plan;
  plan.Silence();
  const int failure = plan.Spawn(words, child);
  if (failure != 0) return Failure(words.front(), std::strerror(failure));
  Result<std::optional<int>> status = WaitUntil(words.front(), child, end);
  if (status.ok() && !status->has_value()) {
    ReapLater(child);
  }
  return status;
}

}  // namespace borescope::internal
