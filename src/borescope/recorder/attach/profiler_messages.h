// The messages by which PyTorch's profiler asks a daemon whether it is to profile: datagrams of a
// size, a type and what belongs to it. Anybody may send any bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace borescope::internal {

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

}  // namespace borescope::internal
