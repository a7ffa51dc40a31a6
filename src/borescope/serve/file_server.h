// Serves one file over HTTP to programs of this machine, until one of them has it.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "borescope/base/result.h"
#include "borescope/serve.h"
#include "borescope/serve/http.h"

namespace borescope::internal {

// A port of this machine that only this machine can reach.

class Listener {
 public:
  // Listens on 127.0.0.1; port 0 is any free one. kIo names the address and the cause: another
  // program has the port, or ports below 1024 are for root.
  static Result<Listener> Open(uint16_t port);

  Listener(Listener&& other) noexcept
      : descriptor_(std::exchange(other.descriptor_, -1)), port_(other.port_) {}
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  Listener& operator=(Listener&&) = delete;
  ~Listener();

  // Does not block.
  int descriptor() const { return descriptor_; }
  uint16_t port() const { return port_; }

 private:
  explicit Listener(int descriptor) : descriptor_(descriptor) {}

  int descriptor_;
  uint16_t port_ = 0;
};

// One client of the server: its request is read, answered once, and the connection closed.

using ServeClock = std::chrono::steady_clock;

struct ClientLimits {
  std::chrono::milliseconds request{5'000};  // for the whole head of a request
  std::chrono::milliseconds stall{30'000};   // without a byte taken of the answer
  std::chrono::milliseconds parting{1'000};  // for the client to close after the answer
};

// Never blocks. Used by one thread. `file` and `limits` outlive it.
class Connection {
 public:
  // Owns the socket `descriptor`, which does not block.
  Connection(int descriptor, const ServedFile& file, const ClientLimits& limits,
             ServeClock::time_point now);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection();

  int descriptor() const { return descriptor_; }
  // What poll() is to wait for, and until when at most.
  short events() const;
  ServeClock::time_point deadline() const { return deadline_; }

  // Does what can be done without waiting; after the deadline: closes.
  void Advance(ServeClock::time_point now);

  bool is_open() const { return state_ != State::kClosed; }
  // The client has not yet said what it wants.
  bool is_reading() const { return state_ == State::kReading; }
  // A request was read, and its answer is not yet over.
  bool is_busy() const { return state_ == State::kSending || state_ == State::kParting; }
  // All of the file was sent.
  bool has_sent_file() const { return has_sent_file_; }

 private:
  enum class State : uint8_t { kReading, kSending, kParting, kClosed };

  void Read(ServeClock::time_point now);
  void StartAnswer(HttpResponse answer, ServeClock::time_point now);
  void Send(ServeClock::time_point now);
  // The next bytes of the answer; nothing at its end. Sets `is_lost` where the file has become
  // shorter.
  std::string_view NextBytes(bool& is_lost);
  void StartParting(ServeClock::time_point now);
  void Part();

  const int descriptor_;
  const ServedFile& file_;
  const ClientLimits& limits_;
  State state_ = State::kReading;
  ServeClock::time_point deadline_;
  std::string request_;
  HttpResponse answer_;
  uint64_t sent_ = 0;  // bytes of the answer
  std::vector<unsigned char> buffer_;
  bool has_sent_file_ = false;
};

struct ServeLimits {
  std::chrono::milliseconds whole{300'000};  // until somebody has begun to fetch
  // Whether to go on once somebody has the file, until nobody asked for anything for `whole`.
  bool stays = false;
  size_t connections = 32;  // at once
  ClientLimits client;
};

// Answers requests as http.h says. Ends once a GET has all of the file (with `stays` when
// nobody asks any more), or nobody asked for it in time; those who are being answered at that
// moment still get their answers. Who connects and says nothing keeps nobody out: where there are
// too many clients, the one that has been silent for longest goes, never one that is being
// answered. `stop` may be set by another thread or by a signal handler, and is noticed within a
// fifth of a second. kIo, naming the address, when the system takes the listening socket away.
// Blocks, in the calling thread alone; it does not matter whether SIGPIPE is ignored.
Result<ServeEnd> ServeFile(const Listener& listener, const ServedFile& file,
                           const ServeLimits& limits, const std::atomic<bool>& stop);

}  // namespace borescope::internal
