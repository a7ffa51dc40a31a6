// The socket on which PyTorch's profiler looks for a daemon: one for all processes of a network
// namespace, or of the folder that KINETO_IPC_SOCKET_DIR names.
#pragma once

#include <sys/socket.h>
#include <sys/un.h>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "borescope/base/result.h"

namespace borescope::internal {

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

}  // namespace borescope::internal
