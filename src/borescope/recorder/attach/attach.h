// Profiles of processes of PyTorch that already run, by its own profiler: `record --attach`.
#pragma once

#include <sys/socket.h>
#include <sys/un.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/base/result.h"

namespace borescope::internal {

// The messages by which PyTorch's profiler asks a daemon whether it is to profile: datagrams of a
// size, a type and what belongs to it. Anybody may send any bytes.

struct ProfilerMessage {
  enum class Kind : uint8_t {
    kContext,  // a process says that it is there; it waits for a number
    kRequest,  // a process asks for a configuration; none is an empty one
  };
  Kind kind = Kind::kContext;
  // Of a request: what may be asked for (kAsksForActivities), and the process with its ancestors.
  uint32_t type = 0;
  std::vector<int32_t> pids;
};

inline constexpr uint32_t kAsksForActivities = 2;

// Nothing for bytes that are no such message, and for types of messages that need no answer.
std::optional<ProfilerMessage> ParseProfilerMessage(std::string_view datagram);

// The answer to a message of this kind.
std::string MakeProfilerAnswer(ProfilerMessage::Kind kind, std::string_view payload);
// The answer to a process that says it is there.
std::string MakeContextAnswer();

// The socket on which PyTorch's profiler looks for a daemon: one for all processes of a network
// namespace, or of the folder that KINETO_IPC_SOCKET_DIR names.

class ProfilerSocket {
 public:
  // kIo, with the remedy, if another launcher or a daemon has it.
  static Result<ProfilerSocket> Bind();

  ProfilerSocket(ProfilerSocket&& other) noexcept;
  ProfilerSocket(const ProfilerSocket&) = delete;
  ProfilerSocket& operator=(const ProfilerSocket&) = delete;
  ProfilerSocket& operator=(ProfilerSocket&&) = delete;
  ~ProfilerSocket();

  struct Datagram {
    std::string bytes;
    sockaddr_un sender;
    socklen_t sender_bytes;
  };
  // The next one; nothing if none comes within `patience`.
  std::optional<Datagram> Receive(std::chrono::milliseconds patience);
  // To the sender of a datagram. One that is gone, or does not read, has no answer.
  void Answer(const Datagram& to, std::string_view bytes);

 private:
  ProfilerSocket(int socket, std::string path) : socket_(socket), path_(std::move(path)) {}

  int socket_;
  std::string path_;  // of a socket in a folder; empty: it has a name without one
};

struct AttachRequest {
  std::vector<int32_t> pids;  // processes, and all that descend from them
  std::string folder;         // of the files; made. Empty: the first of attached, attached-2, …
  std::chrono::milliseconds duration{2000};
  uint32_t iterations = 0;  // steps of optimizers instead of a time; 0: not so
  // Called once all of that was found possible, before the wait; may be empty.
  std::function<void()> waits = {};
};

struct AttachedProcess {
  int32_t pid = 0;
  std::string file;     // what it wrote, or was to write
  std::string trouble;  // why there is no whole file; empty: there is
};

struct AttachOutcome {
  std::string folder;
  std::vector<AttachedProcess> processes;  // that were asked, by number
  std::vector<int32_t> silent;             // given processes of which none came to be asked
};

// Waits for the processes to ask, which they do every five seconds if they were started with
// KINETO_USE_DAEMON=1, and for their files. kInvalidArgument if a process does not exist or the
// folder does, kIo if the socket is taken.
Result<AttachOutcome> AttachTo(const AttachRequest& request);

}  // namespace borescope::internal
