#include "borescope/recorder/attach/profiler_messages.h"

#include <array>
#include <cstring>

namespace borescope::internal {
namespace {

constexpr size_t kTypeBytes = 32;
constexpr std::string_view kContextType = "ctxt";
constexpr std::string_view kRequestType = "req";
constexpr uint32_t kMostPids = 1024;

struct MessageHeader {
  uint64_t size;  // of what follows
  std::array<char, kTypeBytes> type;
};

// Before as many numbers of processes.
struct RequestHeader {
  uint32_t type;
  uint32_t pids;
  int64_t job;
};

template <class T>
bool Take(std::string_view& bytes, T& value) {
  if (bytes.size() < sizeof(T)) return false;
  bytes.copy(reinterpret_cast<char*>(&value), sizeof(T));
  bytes.remove_prefix(sizeof(T));
  return true;
}

std::string_view TypeOf(const MessageHeader& header) {
  const std::string_view all(header.type.data(), header.type.size());
  return all.substr(0, all.find('\0'));
}

std::optional<ProfilerMessage> ParseRequest(std::string_view bytes) {
  RequestHeader header{};
  if (!Take(bytes, header) || header.pids == 0 || header.pids > kMostPids) return std::nullopt;
  ProfilerMessage message;
  message.kind = ProfilerMessage::Kind::kRequest;
  message.type = header.type;
  for (uint32_t i = 0; i < header.pids; ++i) {
    int32_t pid = 0;
    if (!Take(bytes, pid)) return std::nullopt;
    message.pids.push_back(pid);
  }
  return message;
}

}  // namespace

std::optional<ProfilerMessage> ParseProfilerMessage(std::string_view datagram) {
  MessageHeader header{};
  if (!Take(datagram, header) || header.size != datagram.size()) return std::nullopt;
  if (TypeOf(header) == kContextType) return ProfilerMessage{};
  return TypeOf(header) == kRequestType ? ParseRequest(datagram) : std::nullopt;
}

std::string MakeProfilerAnswer(ProfilerMessage::Kind kind, std::string_view payload) {
  const std::string_view type =
      kind == ProfilerMessage::Kind::kContext ? kContextType : kRequestType;
  MessageHeader header{.size = payload.size(), .type = {}};
  std::memcpy(header.type.data(), type.data(), type.size());
  std::string answer(sizeof(header), '\0');
  std::memcpy(answer.data(), &header, sizeof(header));
  return answer.append(payload);
}

std::string MakeContextAnswer() {
  constexpr int32_t kProcesses = 1;
  const auto* const bytes = reinterpret_cast<const char*>(&kProcesses);
  return MakeProfilerAnswer(ProfilerMessage::Kind::kContext, {bytes, sizeof(kProcesses)});
}

}  // namespace borescope::internal
