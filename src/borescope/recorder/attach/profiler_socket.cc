#include "borescope/recorder/attach/profiler_socket.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>

namespace borescope::internal {
namespace {

constexpr std::string_view kName = "dynolog";
constexpr const char* kFolderVariable = "KINETO_IPC_SOCKET_DIR";
constexpr size_t kMostBytes = 64 * 1024;

struct Address {
  sockaddr_un name{};
  socklen_t bytes = 0;
};

// An abstract name, with a zero byte before and one after it, as its clients have it.
Address AbstractAddress() {
  Address address;
  address.name.sun_family = AF_UNIX;
  std::memcpy(address.name.sun_path + 1, kName.data(), kName.size());
  address.bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + kName.size() + 2);
  return address;
}

Result<Address> AddressIn(const std::string& path) {
  Address address;
  if (path.size() >= sizeof(address.name.sun_path)) {
    return Error{ErrorCode::kInvalidArgument, "too long for a socket",
                 std::string("name a shorter folder in ") + kFolderVariable, path};
  }
  address.name.sun_family = AF_UNIX;
  std::memcpy(address.name.sun_path, path.data(), path.size());
  address.bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size() + 1);
  return address;
}

bool BindTo(int socket, const Address& address) {
  return bind(socket, reinterpret_cast<const sockaddr*>(&address.name), address.bytes) == 0;
}

// A file that a launcher left which was killed: nobody listens on it.
bool IsStale(const Address& address) {
  const int probe = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (probe < 0) return false;
  const bool is_refused =
      connect(probe, reinterpret_cast<const sockaddr*>(&address.name), address.bytes) != 0 &&
      errno == ECONNREFUSED;
  close(probe);
  return is_refused;
}

}  // namespace

Result<ProfilerSocket> ProfilerSocket::Bind() {
  const char* const folder = std::getenv(kFolderVariable);
  const bool has_folder = folder != nullptr && *folder != '\0';
  const std::string path = has_folder ? std::string(folder) + "/" + std::string(kName) : "";
  BS_ASSIGN(const Address address, has_folder ? AddressIn(path) : AbstractAddress());
  const int file = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (file < 0) {
    return Error{ErrorCode::kIo, std::string("no socket can be made: ") + std::strerror(errno)};
  }
  if (BindTo(file, address)) return ProfilerSocket(file, path);
  if (errno == EADDRINUSE && has_folder && IsStale(address)) {
    unlink(path.c_str());
    if (BindTo(file, address)) return ProfilerSocket(file, path);
  }
  const int error = errno;
  close(file);
  const std::string where = has_folder ? path : "the socket '" + std::string(kName) + "'";
  if (error != EADDRINUSE) {
    return Error{ErrorCode::kIo, std::string("cannot be made: ") + std::strerror(error), {}, where};
  }
  return Error{ErrorCode::kIo,
               where + " is taken by another borescope record `attach` or by dynolog",
               "wait for its end, or stop it"};
}

ProfilerSocket::ProfilerSocket(ProfilerSocket&& other) noexcept
    : socket_(other.socket_), path_(std::move(other.path_)) {
  other.socket_ = -1;
}

ProfilerSocket::~ProfilerSocket() {
  if (socket_ < 0) return;
  close(socket_);
  if (!path_.empty()) unlink(path_.c_str());
}

std::optional<ProfilerSocket::Datagram> ProfilerSocket::Receive(
    std::chrono::milliseconds patience) {
  pollfd waiting{.fd = socket_, .events = POLLIN, .revents = 0};
  if (poll(&waiting, 1, static_cast<int>(patience.count())) <= 0) return std::nullopt;
  Datagram datagram{
      .bytes = std::string(kMostBytes, '\0'), .sender = {}, .sender_bytes = sizeof(sockaddr_un)};
  const ssize_t bytes =
      recvfrom(socket_, datagram.bytes.data(), datagram.bytes.size(), MSG_TRUNC,
               reinterpret_cast<sockaddr*>(&datagram.sender), &datagram.sender_bytes);
  if (bytes < 0) return std::nullopt;
  // One that is longer than any of theirs is none of theirs.
  const bool is_whole = static_cast<size_t>(bytes) <= datagram.bytes.size();
  datagram.bytes.resize(is_whole ? static_cast<size_t>(bytes) : 0);
  return datagram;
}

void ProfilerSocket::Answer(const Datagram& to, std::string_view bytes) {
  const bool has_name = to.sender_bytes > offsetof(sockaddr_un, sun_path);
  if (!has_name) return;
  sendto(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT,
         reinterpret_cast<const sockaddr*>(&to.sender), to.sender_bytes);
}

}  // namespace borescope::internal
