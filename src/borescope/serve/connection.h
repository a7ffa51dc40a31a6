// One client of the server: its request is read, answered once, and the connection closed.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "borescope/serve/http_response.h"
#include "borescope/serve/served_file.h"

namespace borescope::internal {

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

}  // namespace borescope::internal
