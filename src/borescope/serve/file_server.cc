#include "borescope/serve/file_server.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "borescope/serve/http.h"

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

namespace {

constexpr size_t kPiece = size_t{256} * 1024;
constexpr int kPiecesInTurn = 16;  // before other clients have theirs
constexpr std::string_view kHeadEnd = "\r\n\r\n";

bool WouldWait() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

}  // namespace

Connection::Connection(int descriptor, const ServedFile& file, const ClientLimits& limits,
                       ServeClock::time_point now)
    : descriptor_(descriptor), file_(file), limits_(limits), deadline_(now + limits.request) {}

Connection::~Connection() { close(descriptor_); }

short Connection::events() const { return state_ == State::kSending ? POLLOUT : POLLIN; }

void Connection::Advance(ServeClock::time_point now) {
  if (state_ == State::kReading) Read(now);
  if (state_ == State::kSending) Send(now);
  if (state_ == State::kParting) Part();
  if (now >= deadline_) state_ = State::kClosed;
}

// The time for a request does not start again with each of its bytes: nobody can hold a connection
// by sending them one by one.
void Connection::Read(ServeClock::time_point now) {
  std::array<char, kLongestRequestHead> bytes;
  const size_t room = kLongestRequestHead - request_.size();
  const ssize_t count = recv(descriptor_, bytes.data(), room, 0);
  if (count <= 0) {
    const bool waits = count < 0 && WouldWait();
    state_ = waits ? state_ : State::kClosed;
    return;
  }
  request_.append(bytes.data(), static_cast<size_t>(count));
  const size_t end = request_.find(kHeadEnd);
  if (end != std::string::npos) {
    StartAnswer(AnswerTo(std::string_view(request_).substr(0, end), file_), now);
  } else if (request_.size() >= kLongestRequestHead) {
    StartAnswer(AnswerToLongHead(), now);
  }
}

void Connection::StartAnswer(HttpResponse answer, ServeClock::time_point now) {
  answer_ = std::move(answer);
  state_ = State::kSending;
  deadline_ = now + limits_.stall;
}

void Connection::Send(ServeClock::time_point now) {
  for (int piece = 0; piece < kPiecesInTurn; ++piece) {
    bool is_lost = false;
    const std::string_view bytes = NextBytes(is_lost);
    if (is_lost) {
      state_ =
          State::kClosed;  // fewer bytes than announced: the client knows that they are not all
      return;
    }
    if (bytes.empty()) {
      StartParting(now);
      return;
    }
    const ssize_t count = send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count < 0) {
      state_ = WouldWait() ? state_ : State::kClosed;
      return;
    }
    sent_ += static_cast<uint64_t>(count);
    deadline_ = now + limits_.stall;
  }
}

std::string_view Connection::NextBytes(bool& is_lost) {
  if (sent_ < answer_.head.size()) {
    return std::string_view(answer_.head).substr(sent_);
  }
  const uint64_t offset = sent_ - answer_.head.size();
  if (answer_.made != nullptr) {
    return std::string_view(*answer_.made).substr(offset, kPiece);
  }
  if (!answer_.has_file || offset == file_.bytes.size()) {
    return {};
  }
  const size_t count = std::min<uint64_t>(kPiece, file_.bytes.size() - offset);
  const unsigned char* bytes = file_.bytes.Read(offset, count, buffer_);
  is_lost = bytes == nullptr;
  return is_lost ? std::string_view()
                 : std::string_view(reinterpret_cast<const char*>(bytes), count);
}

// Closing at once, with unread bytes of the client about, would take back what was sent.
void Connection::StartParting(ServeClock::time_point now) {
  has_sent_file_ = answer_.has_file;
  shutdown(descriptor_, SHUT_WR);
  state_ = State::kParting;
  deadline_ = now + limits_.parting;
}

void Connection::Part() {
  std::array<char, 4096> ignored;
  const ssize_t count = recv(descriptor_, ignored.data(), ignored.size(), 0);
  if (count == 0 || (count < 0 && !WouldWait())) {
    state_ = State::kClosed;
  }
}

namespace {

constexpr std::chrono::milliseconds kLongestWait{200};  // so that `stop` is noticed

// Errors of accept() that are those of one client, or pass.
bool IsPassing(int error) {
  return error == EAGAIN || error == EWOULDBLOCK || error == EINTR || error == ECONNABORTED ||
         error == EPROTO;
}

class Serving {
 public:
  Serving(const Listener& listener, const ServedFile& file, const ServeLimits& limits)
      : listener_(listener), file_(file), limits_(limits) {}

  bool is_fetched() const { return is_fetched_; }
  // When a client came last; at first when the server began.
  ServeClock::time_point last_visit() const { return last_visit_; }
  bool is_busy() const {
    return std::any_of(clients_.begin(), clients_.end(),
                       [](const auto& client) { return client->is_busy(); });
  }

  // Waits until there is something to do, but not for long, and does it. New clients come in unless
  // the server is closing.
  Result<void> Step(bool is_closing) {
    const std::vector<pollfd> ready = Wait(is_closing);
    const ServeClock::time_point now = ServeClock::now();
    for (size_t i = 0; i < clients_.size(); ++i) {
      if (ready[i + 1].revents != 0 || now >= clients_[i]->deadline()) {
        Advance(*clients_[i], now);
      }
    }
    std::erase_if(clients_, [](const auto& client) { return !client->is_open(); });
    return ready[0].revents == 0 ? Result<void>() : Accept(now);
  }

 private:
  void Advance(Connection& client, ServeClock::time_point now) {
    client.Advance(now);
    is_fetched_ = is_fetched_ || client.has_sent_file();
  }

  // The client that has been silent for longest; the end where all have said what they want. They
  // are in the order in which they came.
  auto FindSilent() const {
    return std::find_if(clients_.begin(), clients_.end(),
                        [](const auto& client) { return client->is_reading(); });
  }

  bool HasRoom() const {
    return clients_.size() < limits_.connections || FindSilent() != clients_.end();
  }

  // The listener's, then those of the clients. Only a house full of clients that are being answered
  // leaves the others waiting at the door.
  std::vector<pollfd> Wait(bool is_closing) const {
    std::vector<pollfd> polled;
    polled.push_back({!is_closing && HasRoom() ? listener_.descriptor() : -1, POLLIN, 0});
    ServeClock::time_point until = ServeClock::now() + kLongestWait;
    for (const auto& client : clients_) {
      polled.push_back({client->descriptor(), client->events(), 0});
      until = std::min(until, client->deadline());
    }
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(until - ServeClock::now());
    const int count = poll(polled.data(), polled.size(),
                           static_cast<int>(std::max<int64_t>(left.count() + 1, 0)));
    if (count < 0) {
      std::for_each(polled.begin(), polled.end(), [](pollfd& one) { one.revents = 0; });
    }
    return polled;
  }

  Result<void> Accept(ServeClock::time_point now) {
    const int client =
        accept4(listener_.descriptor(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (client >= 0) {
      last_visit_ = now;
      Admit(std::make_unique<Connection>(client, file_, limits_.client, now), now);
    } else if (const int error = errno; !IsPassing(error)) {
      return Error{ErrorCode::kIo, fmt::format("127.0.0.1:{}: cannot serve: {}", listener_.port(),
                                               std::strerror(error))};
    }
    return {};
  }

  // Hears at once what the client has said already: before others can push it out.
  void Admit(std::unique_ptr<Connection> client, ServeClock::time_point now) {
    const auto silent = clients_.size() < limits_.connections ? clients_.end() : FindSilent();
    if (silent != clients_.end()) {
      clients_.erase(silent);
    }
    Advance(*client, now);
    if (client->is_open()) {
      clients_.push_back(std::move(client));
    }
  }

  const Listener& listener_;
  const ServedFile& file_;
  const ServeLimits& limits_;
  std::vector<std::unique_ptr<Connection>> clients_;
  ServeClock::time_point last_visit_ = ServeClock::now();
  bool is_fetched_ = false;
};

}  // namespace

Result<ServeEnd> ServeFile(const Listener& listener, const ServedFile& file,
                           const ServeLimits& limits, const std::atomic<bool>& stop) {
  const ServeClock::time_point end = ServeClock::now() + limits.whole;
  Serving server(listener, file, limits);
  while (!stop) {
    const bool is_over = ServeClock::now() >= end;
    const bool is_closing = limits.stays && server.is_fetched()
                                ? ServeClock::now() >= server.last_visit() + limits.whole
                                : server.is_fetched() || is_over;
    if (is_closing && !server.is_busy()) {
      return server.is_fetched() ? ServeEnd::kFetched : ServeEnd::kTimeLimit;
    }
    BS_TRY(server.Step(is_closing));
  }
  return ServeEnd::kStopped;
}

}  // namespace borescope::internal
