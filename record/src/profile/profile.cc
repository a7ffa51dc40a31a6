// A profile that PyTorch has written into a file, as records of the log. In C++, since the program
// waits for it: Python takes ten times as long.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>

#include "borescope_record.h"
#include "core/files.h"
#include "core/state.h"
#include "core/writer.h"
#include "profile/json_scan.h"

namespace borescope::inject {

namespace {

// In the order of their worth: of inputs that are too long for a record, the last are left out.
constexpr const char* kInputs[] = {"Input Dims", "Input type", "Concrete Inputs", "Input Strides"};
constexpr size_t kInputCount = sizeof(kInputs) / sizeof(kInputs[0]);

struct Event {
  JsonPart phase, category, name, thread, start, duration, arguments;
};

struct Arguments {
  int64_t sequence = -1;
  int64_t forward_thread = 0;
  int64_t id = 0;
  JsonPart inputs[kInputCount];
};

Event ReadEvent(const JsonPart& object) {
  Event event;
  JsonScan scan(object);
  if (!scan.Enter('{')) return event;
  for (JsonPart key, value; scan.NextMember(&key, &value);) {
    if (key.Is("ph")) event.phase = value;
    if (key.Is("cat")) event.category = value;
    if (key.Is("name")) event.name = value;
    if (key.Is("tid")) event.thread = value;
    if (key.Is("ts")) event.start = value;
    if (key.Is("dur")) event.duration = value;
    if (key.Is("args")) event.arguments = value;
  }
  return event;
}

Arguments ReadArguments(const JsonPart& object) {
  Arguments found;
  JsonScan scan(object);
  if (!scan.Enter('{')) return found;
  for (JsonPart key, value; scan.NextMember(&key, &value);) {
    if (key.Is("Sequence number")) found.sequence = JsonNumber(value, -1);
    if (key.Is("Fwd thread id")) found.forward_thread = JsonNumber(value, 0);
    if (key.Is("Record function id")) found.id = JsonNumber(value, 0);
    for (size_t i = 0; i < kInputCount; ++i) {
      if (key.Is(kInputs[i])) found.inputs[i] = value;
    }
  }
  return found;
}

// A text for the log; what does not fit is not added.
class Inputs {
 public:
  // As it is written, but for line ends and other such bytes, which PyTorch leaves in strings.
  bool Add(const char* key, const JsonPart& value) {
    const size_t before = length_;
    const bool fits = AddBytes(length_ == 0 ? "{\"" : ",\"", 2) && AddBytes(key, strlen(key)) &&
                      AddBytes("\":", 2) && AddValue(value) && length_ < kMostTextBytes;
    if (!fits) length_ = before;
    return fits;
  }
  // Empty where there is none.
  const char* End() {
    if (length_ != 0) text_[length_++] = '}';
    text_[length_] = '\0';
    return text_;
  }

 private:
  bool AddBytes(const char* bytes, size_t count) {
    if (length_ + count > kMostTextBytes - 1) return false;
    memcpy(text_ + length_, bytes, count);
    length_ += count;
    return true;
  }
  bool AddValue(const JsonPart& value) {
    const size_t begin = length_;
    if (!AddBytes(value.begin, value.length)) return false;
    for (size_t i = begin; i < length_; ++i) {
      if (static_cast<unsigned char>(text_[i]) < ' ') text_[i] = ' ';
    }
    return true;
  }

  char text_[kMostTextBytes + 2];
  size_t length_ = 0;
};

void WriteOperator(uint32_t thread, const char* name, uint64_t start, uint64_t end,
                   const JsonPart& object) {
  const Arguments arguments = ReadArguments(object);
  Inputs inputs;
  bool fits = true;
  for (size_t i = 0; i < kInputCount && fits; ++i) {
    if (arguments.inputs[i].length != 0) fits = inputs.Add(kInputs[i], arguments.inputs[i]);
  }
  borescope_record_operator_of(thread, name, start, end, arguments.sequence,
                               static_cast<uint64_t>(arguments.forward_thread),
                               static_cast<uint64_t>(arguments.id), inputs.End());
}

// `base` is when the profile's own times are 0. Whether it was an event of interest.
bool WriteEvent(const JsonPart& object, int64_t base) {
  const Event event = ReadEvent(object);
  const bool is_range = event.category.Is("\"user_annotation\"");
  if (!event.phase.Is("\"X\"") || (!is_range && !event.category.Is("\"cpu_op\""))) return false;
  int64_t start = 0;
  int64_t duration = 0;
  if (!JsonNanoseconds(event.start, &start)) return false;
  JsonNanoseconds(event.duration, &duration);
  char name[kMostTextBytes + 1];
  JsonText(event.name, name, sizeof(name));
  const auto thread = static_cast<uint32_t>(JsonNumber(event.thread, 0));
  const auto begin = static_cast<uint64_t>(base + start);
  const uint64_t end = begin + static_cast<uint64_t>(duration);
  if (is_range) {
    borescope_record_range_of(thread, name, begin, end);
  } else {
    WriteOperator(thread, name, begin, end, event.arguments);
  }
  return true;
}

int64_t WriteProfile(const JsonPart& document, int64_t ahead_ns) {
  JsonScan scan(document);
  JsonPart events;
  int64_t base = 0;
  if (!scan.Enter('{')) return -1;
  for (JsonPart key, value; scan.NextMember(&key, &value);) {
    if (key.Is("traceEvents")) events = value;
    if (key.Is("baseTimeNanoseconds")) base = JsonNumber(value, 0);
  }
  JsonScan each(events);
  if (events.length == 0 || !each.Enter('[')) return -1;
  int64_t count = 0;
  for (JsonPart event; each.NextElement(&event);) {
    if (WriteEvent(event, base + ahead_ns)) ++count;
  }
  return count;
}

}  // namespace

}  // namespace borescope::inject

using namespace borescope::inject;

extern "C" int64_t borescope_record_profile(const char* path, int64_t ahead_ns) {
  if (!IsEnabled() || path == nullptr) return -1;
  const int file = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
  struct stat status;
  const bool is_open = file >= 0 && fstat(file, &status) == 0 && status.st_size > 0;
  const size_t bytes = is_open ? static_cast<size_t>(status.st_size) : 0;
  void* memory =
      is_open ? mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE | MAP_POPULATE, file, 0) : MAP_FAILED;
  if (file >= 0) close(file);
  if (memory == MAP_FAILED) return -1;
  const int64_t count = WriteProfile({static_cast<const char*>(memory), bytes}, ahead_ns);
  munmap(memory, bytes);
  return count;
}
