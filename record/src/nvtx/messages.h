// The texts and attributes of NVTX, read for a record.
#pragma once

#include "core/ranges.h"
#include "core/strings.h"
#include "nvtx/abi.h"

namespace borescope::inject::nvtx {

// Holds what a message refers to while its record is written.
struct MessageSpace {
  recording::Attributes attributes;
  char text[kMostTextBytes + 8];
};

// A wide text, as UTF-8 in the space.
Message ReadWide(const wchar_t* text, MessageSpace* space);

// A text in one of the three forms; registered ones become a number in the attributes.
Message ReadText(MessageType type, const MessageValue& value, MessageSpace* space);

Message ReadEvent(const EventAttributes* event, MessageSpace* space);

}  // namespace borescope::inject::nvtx
