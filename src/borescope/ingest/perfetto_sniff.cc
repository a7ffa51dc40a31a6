#include "borescope/ingest/perfetto_sniff.h"

#include <algorithm>
#include <iterator>
#include <optional>

namespace borescope::internal {
namespace {

// Types of fields.
constexpr uint64_t kVarint = 0;
constexpr uint64_t kEightBytes = 1;
constexpr uint64_t kBytes = 2;
constexpr uint64_t kFourBytes = 5;

// Consumes a protobuf varint from the front of `text`; nothing if it does not end there.
std::optional<uint64_t> TakeVarint(std::string_view& text) {
  uint64_t value = 0;
  for (int shift = 0; !text.empty() && shift < 64; shift += 7) {
    const auto byte = static_cast<unsigned char>(text.front());
    text.remove_prefix(1);
    value |= uint64_t{byte & 0x7fU} << shift;
    if ((byte & 0x80U) == 0) {
      return value;
    }
  }
  return std::nullopt;
}

// Whether the byte can begin a field of a message: its number, and its type.
bool CanBeTag(char byte) {
  const auto tag = static_cast<unsigned char>(byte);
  const unsigned type = tag & 7U;
  return tag >> 3 != 0 &&
         (type == kVarint || type == kEightBytes || type == kBytes || type == kFourBytes);
}

// Consumes a field of a message; false if there is none.
bool TakeField(std::string_view& message) {
  const std::optional<uint64_t> tag = TakeVarint(message);
  if (!tag.has_value() || *tag >> 3 == 0) {
    return false;
  }
  const uint64_t type = *tag & 7U;
  if (type == kVarint) {
    return TakeVarint(message).has_value();
  }
  const std::optional<uint64_t> size = type == kBytes        ? TakeVarint(message)
                                       : type == kEightBytes ? std::optional<uint64_t>(8)
                                       : type == kFourBytes  ? std::optional<uint64_t>(4)
                                                             : std::nullopt;
  if (!size.has_value() || *size > message.size()) {
    return false;
  }
  message.remove_prefix(*size);
  return true;
}

// Whether bytes are the consecutive fields of a message.
bool IsMessage(std::string_view bytes) {
  while (!bytes.empty()) {
    if (!TakeField(bytes)) {
      return false;
    }
  }
  return true;
}

// Consumes one of Perfetto's packets, which is field 1 and bytes, from the front of the known part
// of a file; `size` includes its tag and length, or is 0 if the known part ends before. False if
// there is none.
bool TakePacket(std::string_view& rest, uint64_t& size) {
  constexpr char kPacket = '\n';
  constexpr uint64_t kLongest = uint64_t{1} << 31;  // of any protobuf message
  const std::string_view packet = rest;
  if (!rest.starts_with(kPacket)) {
    return false;
  }
  rest.remove_prefix(1);
  const std::optional<uint64_t> length = TakeVarint(rest);
  size = length.has_value() ? packet.size() - rest.size() + *length : 0;
  if (!length.has_value()) {
    return rest.empty();
  }
  const std::string_view message = rest.substr(0, *length);
  rest.remove_prefix(message.size());
  return *length <= kLongest &&
         (message.size() == *length ? IsMessage(message)
                                    : message.empty() || CanBeTag(message.front()));
}

// The text of field 2 of a message, of which the begin is known; empty where it is not in sight.
std::string_view NameIn(std::string_view message) {
  constexpr uint64_t kName = 2U << 3U | kBytes;
  while (!message.empty()) {
    std::string_view field = message;
    if (TakeVarint(field) == kName) {
      const std::optional<uint64_t> size = TakeVarint(field);
      return size.has_value() ? field.substr(0, *size) : std::string_view();
    }
    if (!TakeField(message)) {
      return {};
    }
  }
  return {};
}

}  // namespace

bool IsXplane(std::string_view start) {
  if (!start.starts_with('\n')) {
    return false;
  }
  start.remove_prefix(1);
  const std::optional<uint64_t> size = TakeVarint(start);
  const std::string_view name =
      size.has_value() ? NameIn(start.substr(0, *size)) : std::string_view();
  constexpr std::string_view kPlanes[] = {"/device:",         "/host:",    "#Chip",
                                          "Task Environment", "Host CPUs", "Syscalls"};
  return std::any_of(std::begin(kPlanes), std::end(kPlanes),
                     [&](std::string_view plane) { return name.starts_with(plane); });
}

uint64_t FirstPacketEnd(std::string_view start) {
  constexpr int kEnough = 1000;
  constexpr uint64_t kEmpty = 2;  // tag and length
  std::string_view rest = start;
  uint64_t first = 0;
  if (!TakePacket(rest, first) || first <= kEmpty) {
    return 0;
  }
  for (int packet = 1; packet < kEnough && !rest.empty(); ++packet) {
    uint64_t ignored = 0;
    if (!TakePacket(rest, ignored)) {
      return 0;
    }
  }
  return first;
}

}  // namespace borescope::internal
