// The texts and attributes of NVTX, read for a record.
#pragma once

#include "core/ranges.h"
#include "core/strings.h"
#include "nvtx/abi.h"

namespace borescope::inject::nvtx {

// Holds what a message refers to while its record is written. The stack may be a small one: a wide
// text that is not short has memory of its own, which is given back at the end.
class MessageSpace {
 public:
  MessageSpace() = default;
  ~MessageSpace() {
    if (large_ != nullptr) [[unlikely]] {
      GiveBack();
    }
  }
  MessageSpace(const MessageSpace&) = delete;
  MessageSpace& operator=(const MessageSpace&) = delete;

  recording::Attributes attributes;

 private:
  friend Message ReadWide(const wchar_t* text, MessageSpace* space);
  void GiveBack();

  char* large_ = nullptr;
  char short_[128];
};

// A wide text, as UTF-8 in the space.
Message ReadWide(const wchar_t* text, MessageSpace* space);

// A text in one of the three forms; registered ones become a number in the attributes.
Message ReadText(MessageType type, const MessageValue& value, MessageSpace* space);

Message ReadEvent(const EventAttributes* event, MessageSpace* space);

}  // namespace borescope::inject::nvtx
