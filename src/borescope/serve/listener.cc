#include "borescope/serve/listener.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace borescope::internal {
namespace {

Error Failure(uint16_t port, int error) {
  if (error == EADDRINUSE) {
    return {ErrorCode::kIo, fmt::format("127.0.0.1:{}: another program listens there", port),
            "end it, or name another port with `port`"};
  }
  return {ErrorCode::kIo,
          fmt::format("127.0.0.1:{}: cannot listen: {}", port, std::strerror(error))};
}

}  // namespace

Result<Listener> Listener::Open(uint16_t port) {
  Listener listener(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  // A port that was served a moment ago can be listened to again; one that is served cannot.
  const int yes = 1;
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  if (listener.descriptor_ < 0 ||
      setsockopt(listener.descriptor_, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)) != 0 ||
      bind(listener.descriptor_, any, size) != 0 || listen(listener.descriptor_, SOMAXCONN) != 0 ||
      getsockname(listener.descriptor_, any, &size) != 0) {
    return Failure(port, errno);
  }
  listener.port_ = ntohs(address.sin_port);
  return listener;
}

Listener::~Listener() {
  if (descriptor_ >= 0) {
    close(descriptor_);
  }
}

}  // namespace borescope::internal
