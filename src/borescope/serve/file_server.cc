#include "borescope/serve/file_server.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

namespace borescope::internal {
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
  // stand in the order in which they came.
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
