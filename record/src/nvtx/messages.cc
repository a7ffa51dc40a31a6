#include "nvtx/messages.h"

#include <sys/mman.h>

#include <cstring>

#include "core/files.h"
#include "core/text.h"

namespace borescope::inject::nvtx {

namespace {

using recording::Attributes;
using recording::PayloadKind;

// More than a record takes, by one sequence, so that a text is seen to be cut.
constexpr size_t kLargeBytes = kMostTextBytes + 8;

uint64_t BitsOf(double number) {
  uint64_t bits = 0;
  memcpy(&bits, &number, sizeof(bits));
  return bits;
}

void Set(Attributes* attributes, PayloadKind kind, uint64_t payload) {
  attributes->payload_kind = kind;
  attributes->payload = payload;
}

void ReadPayload(const EventAttributes& event, Attributes* to) {
  switch (event.payload_type) {
    case PayloadType::kUint64:
      return Set(to, PayloadKind::kUnsigned, event.payload.u64);
    case PayloadType::kUint32:
      return Set(to, PayloadKind::kUnsigned, event.payload.u32);
    case PayloadType::kInt64:
      return Set(to, PayloadKind::kSigned, static_cast<uint64_t>(event.payload.i64));
    case PayloadType::kInt32:
      return Set(to, PayloadKind::kSigned, static_cast<uint64_t>(int64_t{event.payload.i32}));
    case PayloadType::kDouble:
      return Set(to, PayloadKind::kDouble, BitsOf(event.payload.f64));
    case PayloadType::kFloat:
      return Set(to, PayloadKind::kDouble, BitsOf(static_cast<double>(event.payload.f32)));
    case PayloadType::kUnknown:
      break;
  }
  // Types of later versions refer to memory that only their own schemas describe.
}

}  // namespace

void MessageSpace::GiveBack() { munmap(large_, kLargeBytes); }

// Without memory for the whole text, its beginning.
Message ReadWide(const wchar_t* text, MessageSpace* space) {
  if (text == nullptr) return {};
  bool is_whole = true;
  const size_t length = FromWide(text, space->short_, sizeof(space->short_), &is_whole);
  if (is_whole) return {space->short_, length, nullptr};
  const QuietSection quiet;
  void* memory =
      mmap(nullptr, kLargeBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return {space->short_, length, nullptr};
  space->large_ = static_cast<char*>(memory);
  return {space->large_, FromWide(text, space->large_, kLargeBytes, &is_whole), nullptr};
}

Message ReadText(MessageType type, const MessageValue& value, MessageSpace* space) {
  switch (type) {
    case MessageType::kAscii:
      return PlainMessage(value.ascii);
    case MessageType::kUnicode:
      return ReadWide(value.unicode, space);
    case MessageType::kRegistered: {
      const auto* entry = static_cast<const Entry*>(value.registered);
      space->attributes.registered = entry == nullptr ? 0 : entry->id;
      return {"", 0, nullptr, entry};
    }
    case MessageType::kUnknown:
      break;
  }
  return {};
}

Message ReadEvent(const EventAttributes* event, MessageSpace* space) {
  if (event == nullptr || event->bytes < sizeof(EventAttributes)) return {};
  space->attributes = {};
  Attributes& attributes = space->attributes;
  attributes.category = event->category;
  if (event->color_type != 0) attributes.color = event->color;
  ReadPayload(*event, &attributes);
  Message message = ReadText(event->message_type, event->message, space);
  const bool is_plain = attributes.category == 0 && attributes.color == 0 &&
                        attributes.registered == 0 && attributes.payload_kind == PayloadKind::kNone;
  if (!is_plain) message.attributes = &attributes;
  return message;
}

}  // namespace borescope::inject::nvtx
