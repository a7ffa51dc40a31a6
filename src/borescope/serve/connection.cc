#include "borescope/serve/connection.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "borescope/serve/http_request.h"

namespace borescope::internal {
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

// The time for a request does not start anew with each of its bytes: nobody can hold a connection
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

}  // namespace borescope::internal
