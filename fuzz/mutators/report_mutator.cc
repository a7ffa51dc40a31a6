// Of reports of Nsight Compute: a file of messages with their sizes, of which the header of a block
// says how many bytes follow it. The fields of one or a few messages change (MutateProto), or whole
// messages are left out, repeated or exchanged; sizes follow, so that what is below is still read.

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "mutator.h"

namespace fuzz {
namespace {

constexpr std::string_view kMagic("NVR\0", 4);
constexpr size_t kSizeBytes = 4;
constexpr uint64_t kPayloadField = 5;

struct Block {
  std::string header;
  std::vector<std::string> entries;
};

// The next message; false where there is none.
bool TakeSized(std::string_view& bytes, std::string& message) {
  if (bytes.size() < kSizeBytes) {
    return false;
  }
  size_t size = 0;
  for (size_t i = 0; i < kSizeBytes; ++i) {
    size |= size_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
  }
  if (size > bytes.size() - kSizeBytes) {
    return false;
  }
  message = bytes.substr(kSizeBytes, size);
  bytes.remove_prefix(kSizeBytes + size);
  return true;
}

void PutSized(std::string& out, const std::string& message) {
  for (size_t i = 0; i < kSizeBytes; ++i) {
    out += static_cast<char>(message.size() >> (8 * i));
  }
  out += message;
}

bool TakeNumber(std::string_view& bytes, uint64_t& value) {
  value = 0;
  for (size_t i = 0; i < std::min<size_t>(bytes.size(), 10); ++i) {
    const auto byte = static_cast<uint8_t>(bytes[i]);
    value |= static_cast<uint64_t>(byte & 0x7f) << (7 * i);
    if (byte < 0x80) {
      bytes.remove_prefix(i + 1);
      return true;
    }
  }
  return false;
}

void PutNumber(std::string& out, uint64_t value) {
  for (; value >= 0x80; value >>= 7) {
    out += static_cast<char>(value | 0x80);
  }
  out += static_cast<char>(value);
}

// The bytes that the header of a block says follow it. A header with anything but numbers and texts
// has no block that is understood.
uint64_t PayloadOf(std::string_view header) {
  uint64_t payload = 0;
  while (!header.empty()) {
    uint64_t tag = 0;
    uint64_t value = 0;
    if (!TakeNumber(header, tag) || !TakeNumber(header, value)) {
      return 0;
    }
    if ((tag & 7) == 2) {
      header.remove_prefix(std::min<size_t>(value, header.size()));
    } else if ((tag & 7) != 0) {
      return 0;
    } else if (tag >> 3 == kPayloadField) {
      payload = value;
    }
  }
  return payload;
}

std::vector<Block> TakeBlocks(std::string_view bytes) {
  std::vector<Block> blocks;
  Block block;
  while (TakeSized(bytes, block.header)) {
    std::string_view payload = bytes.substr(0, PayloadOf(block.header));
    bytes.remove_prefix(payload.size());
    std::string entry;
    while (TakeSized(payload, entry)) {
      block.entries.push_back(std::move(entry));
    }
    blocks.push_back(std::exchange(block, Block()));
  }
  return blocks;
}

void ChangeEntries(std::vector<std::string>& entries, Random& random) {
  const size_t at = random.Below(entries.size());
  std::string& entry = entries[at];
  switch (random.Below(12)) {
    case 0:
      entries.erase(entries.begin() + static_cast<std::ptrdiff_t>(at));
      return;
    case 1:
      entries.push_back(entry);
      return;
    case 2:
      std::swap(entry, entries[random.Below(entries.size())]);
      return;
    default:
      entry = MutateProto(entry, false, random);
  }
}

}  // namespace

std::string MutateReport(std::string_view input, Random& random) {
  input.remove_prefix(std::min(kMagic.size(), input.size()));
  std::string begin;
  if (!TakeSized(input, begin)) {
    return MutateProto(input, false, random);
  }
  std::vector<Block> blocks = TakeBlocks(input);
  for (size_t changes = 1 + random.Below(3); changes > 0 && !blocks.empty(); --changes) {
    Block& block = blocks[random.Below(blocks.size())];
    if (block.entries.empty() || random.Below(5) == 0) {
      block.header = MutateProto(block.header, false, random);
    } else {
      ChangeEntries(block.entries, random);
    }
  }
  std::string bytes(kMagic);
  PutSized(bytes, begin);
  for (const Block& block : blocks) {
    std::string payload;
    for (const std::string& entry : block.entries) {
      PutSized(payload, entry);
    }
    // Of a field that is there twice the last counts.
    std::string header = block.header;
    if (random.Below(16) != 0) {
      PutNumber(header, kPayloadField << 3);
      PutNumber(header, payload.size());
    }
    PutSized(bytes, header);
    bytes += payload;
  }
  return bytes;
}

}  // namespace fuzz
