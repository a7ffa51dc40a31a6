// Of Protocol Buffers, whose schema is not known: fields are left out, repeated, exchanged and
// renumbered, and get other values, lengths and types; those of messages inside of others, too. The
// lengths around a change follow it, so that mutants are well-formed but for what was changed.

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "mutator.h"

namespace fuzz {
namespace {

enum Wire : unsigned { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

constexpr int kDepth = 6;
constexpr uint64_t kMostNumber = 4000;  // of a field; more is taken for text

// A message of a stream has the number 0, which no field has.
struct Field {
  uint64_t number = 0;
  unsigned wire = kBytes;
  uint64_t value = 0;         // of numbers
  std::string bytes;          // of kBytes that are no message
  std::vector<Field> fields;  // of kBytes that are one
  bool is_message = false;
};

bool TakeVarint(std::string_view& bytes, uint64_t& value) {
  value = 0;
  for (size_t i = 0; i < bytes.size() && i < 10; ++i) {
    const auto byte = static_cast<uint8_t>(bytes[i]);
    value |= static_cast<uint64_t>(byte & 0x7f) << (7 * i);
    if (byte < 0x80) {
      bytes.remove_prefix(i + 1);
      return true;
    }
  }
  return false;
}

bool TakeFixed(std::string_view& bytes, size_t size, uint64_t& value) {
  if (bytes.size() < size) {
    return false;
  }
  value = 0;
  std::memcpy(&value, bytes.data(), size);
  bytes.remove_prefix(size);
  return true;
}

bool ParseMessage(std::string_view bytes, int depth, std::vector<Field>& fields);

bool TakeBytes(std::string_view& bytes, int depth, Field& field) {
  uint64_t size = 0;
  if (!TakeVarint(bytes, size) || size > bytes.size()) {
    return false;
  }
  const std::string_view content = bytes.substr(0, static_cast<size_t>(size));
  bytes.remove_prefix(static_cast<size_t>(size));
  field.is_message =
      !content.empty() && depth < kDepth && ParseMessage(content, depth + 1, field.fields);
  if (!field.is_message) {
    field.fields.clear();
    field.bytes = content;
  }
  return true;
}

bool ParseMessage(std::string_view bytes, int depth, std::vector<Field>& fields) {
  while (!bytes.empty()) {
    Field field;
    uint64_t tag = 0;
    if (!TakeVarint(bytes, tag)) {
      return false;
    }
    field.number = tag >> 3;
    field.wire = tag & 7;
    const bool is_read = field.wire == kVarint    ? TakeVarint(bytes, field.value)
                         : field.wire == kFixed64 ? TakeFixed(bytes, 8, field.value)
                         : field.wire == kFixed32 ? TakeFixed(bytes, 4, field.value)
                         : field.wire == kBytes   ? TakeBytes(bytes, depth, field)
                                                  : false;
    if (!is_read || field.number == 0 || field.number > kMostNumber) {
      return false;
    }
    fields.push_back(std::move(field));
  }
  return true;
}

// What of it is well-formed.
std::vector<Field> ParseStream(std::string_view bytes) {
  std::vector<Field> messages;
  Field message;
  while (!bytes.empty() && TakeBytes(bytes, 0, message)) {
    messages.push_back(std::exchange(message, Field()));
  }
  return messages;
}

void PutVarint(std::string& out, uint64_t value) {
  for (; value >= 0x80; value >>= 7) {
    out += static_cast<char>(value | 0x80);
  }
  out += static_cast<char>(value);
}

void Put(std::string& out, const Field& field) {
  if (field.number != 0) {
    PutVarint(out, field.number << 3 | field.wire);
  }
  if (field.wire == kVarint) {
    PutVarint(out, field.value);
  } else if (field.wire == kFixed64 || field.wire == kFixed32) {
    out.append(reinterpret_cast<const char*>(&field.value), field.wire == kFixed64 ? 8 : 4);
  } else {
    std::string content = field.bytes;
    for (const Field& inner : field.fields) {
      Put(content, inner);
    }
    PutVarint(out, content.size());
    out += content;
  }
}

class ProtoMutation {
 public:
  ProtoMutation(std::vector<Field>& fields, Random& random) : random_(random) { Collect(fields); }

  void Make() {
    if (lists_.empty()) {
      return;
    }
    std::vector<Field>& list = *random_.Pick(lists_);
    Field& field = list[random_.Below(list.size())];
    switch (random_.Below(10)) {
      case 0:
        list.erase(list.begin() + (&field - list.data()));
        return;
      case 1:
        return Repeat(list, field);
      case 2:
        std::swap(field, list[random_.Below(list.size())]);
        return;
      case 3:
        return Renumber(field);
      case 4:  // what is elsewhere, in its place or beside it
        return Copy(list, field);
      default:
        return ChangeValue(field);
    }
  }

 private:
  void Collect(std::vector<Field>& fields) {
    if (fields.empty()) {
      return;
    }
    lists_.push_back(&fields);
    for (Field& field : fields) {
      Collect(field.fields);
    }
  }

  void Repeat(std::vector<Field>& list, const Field& field) {
    const size_t times = random_.Below(8) == 0 ? 40 : 1;
    list.insert(list.begin() + static_cast<std::ptrdiff_t>(random_.Below(list.size() + 1)), times,
                field);
  }

  void Copy(std::vector<Field>& list, Field& field) {
    const std::vector<Field>& from = *random_.Pick(lists_);
    Field copy = from[random_.Below(from.size())];
    const bool is_same = random_.Below(2) == 0;
    copy.number = (copy.number == 0) != (field.number == 0) || is_same ? field.number : copy.number;
    if (random_.Below(2) == 0) {
      field = std::move(copy);
    } else {
      list.push_back(std::move(copy));
    }
  }

  void Renumber(Field& field) {
    if (field.number != 0) {
      field.number = 1 + random_.Below(random_.Below(8) == 0 ? 3000 : 24);
    }
  }

  void ChangeValue(Field& field) {
    if (field.wire != kBytes) {
      const uint64_t was = field.value;
      field.value = random_.Below(3) == 0 ? was + random_.Below(5) - 2 : random_.Pick(kEdges);
    } else if (field.is_message && random_.Below(4) != 0) {
      // Its own fields are in lists of their own.
      field.bytes = std::string(1, static_cast<char>(random_.Below(256)));
    } else {
      field.is_message = false;
      field.fields.clear();
      ChangeBytes(field.bytes);
    }
  }

  void ChangeBytes(std::string& bytes) {
    const size_t at = random_.Below(bytes.size() + 1);
    switch (random_.Below(5)) {
      case 0:
        bytes.resize(at);
        return;
      case 1:  // one more number of a packed list, or the begin of one
        return PutVarint(bytes, random_.Pick(kEdges));
      case 2:
        bytes.insert(at, 1 + random_.Below(8), static_cast<char>(random_.Below(256)));
        return;
      case 3: {
        std::string number;
        PutVarint(number, random_.Pick(kEdges));
        bytes.replace(at, std::min(number.size(), bytes.size() - at), number);
        return;
      }
      default:
        if (at < bytes.size()) {
          bytes[at] = static_cast<char>(bytes[at] ^ (1 << random_.Below(8)));
        }
    }
  }

  Random& random_;
  std::vector<std::vector<Field>*> lists_;
};

}  // namespace

std::string MutateProto(std::string_view input, bool is_stream, Random& random) {
  std::vector<Field> fields;
  if (is_stream) {
    fields = ParseStream(input);
  } else {
    ParseMessage(input, 0, fields);
  }
  for (size_t changes = 1 + random.Below(3); changes > 0; --changes) {
    ProtoMutation(fields, random).Make();
  }
  std::string bytes;
  for (const Field& field : fields) {
    Put(bytes, field);
  }
  return bytes;
}

}  // namespace fuzz
