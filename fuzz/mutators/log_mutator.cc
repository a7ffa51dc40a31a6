// Of logs of `borescope record`: fields of the header and of chunks, whole chunks, and records:
// left out, repeated, exchanged, with other types, flags and words. A record keeps the size that
// its first word says, and a chunk is filled up with zeros, so that what follows is still found.

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "borescope/recording/log_format.h"
#include "mutator.h"

namespace fuzz {
namespace {

using borescope::recording::ChunkHeader;
using borescope::recording::ChunkKind;
using borescope::recording::LogHeader;
using borescope::recording::PackHead;
using borescope::recording::RecordHead;
using borescope::recording::UnpackHead;

constexpr uint8_t kTypes[] = {0x01, 0x02, 0x03, 0x04, 0x10, 0x11, 0x12, 0x13, 0x14, 0x15,
                              0x20, 0x21, 0x30, 0x31, 0x32, 0x33, 0x34, 0x35, 0x36, 0x37,
                              0x38, 0x39, 0x40, 0x41, 0x42, 0x50, 0x60, 0x70, 0x7f, 0x55};

using Record = std::vector<uint64_t>;

struct Chunk {
  ChunkHeader header{};
  std::vector<Record> records;
  std::string rest;  // what follows them in the chunk, and in the file up to the next
};

struct Log {
  std::string head;  // with what is not understood
  std::vector<Chunk> chunks;
};

// The record at the beginning of `bytes`; nothing at the end of a chunk.
Record TakeRecord(std::string_view& bytes) {
  uint64_t first = 0;
  if (bytes.size() < sizeof first) {
    return {};
  }
  std::memcpy(&first, bytes.data(), sizeof first);
  const size_t words = UnpackHead(first).words;
  if (first == 0 || words == 0 || words * sizeof first > bytes.size()) {
    return {};
  }
  Record record(words);
  std::memcpy(record.data(), bytes.data(), words * sizeof first);
  bytes.remove_prefix(words * sizeof first);
  return record;
}

Log Parse(std::string_view input) {
  Log log;
  LogHeader header{};
  std::memcpy(&header, input.data(), std::min(sizeof header, input.size()));
  const size_t begin = std::min<size_t>(header.header_bytes, input.size());
  log.head = input.substr(0, begin);
  input.remove_prefix(begin);
  const size_t alignment = std::max<size_t>(header.chunk_alignment, 8);
  while (input.size() >= sizeof(ChunkHeader)) {
    Chunk chunk;
    std::memcpy(&chunk.header, input.data(), sizeof chunk.header);
    const size_t bytes = std::clamp<size_t>(chunk.header.bytes, sizeof chunk.header, input.size());
    std::string_view records = input.substr(sizeof chunk.header, bytes - sizeof chunk.header);
    for (Record record = TakeRecord(records); !record.empty(); record = TakeRecord(records)) {
      chunk.records.push_back(std::move(record));
    }
    const size_t end = std::min((bytes + alignment - 1) / alignment * alignment, input.size());
    chunk.rest = input.substr(bytes - records.size(), end - bytes + records.size());
    log.chunks.push_back(std::move(chunk));
    input.remove_prefix(end);
  }
  return log;
}

// A chunk takes as much room as before: its last records go where it has become longer.
std::string Joined(const Log& before, const Log& log) {
  std::string bytes = log.head;
  for (size_t i = 0; i < log.chunks.size(); ++i) {
    const Chunk& chunk = log.chunks[i];
    size_t room = sizeof(ChunkHeader) + chunk.rest.size();
    for (const Record& record : before.chunks[std::min(i, before.chunks.size() - 1)].records) {
      room += record.size() * sizeof(uint64_t);
    }
    std::string text(reinterpret_cast<const char*>(&chunk.header), sizeof chunk.header);
    for (const Record& record : chunk.records) {
      text.append(reinterpret_cast<const char*>(record.data()), record.size() * sizeof(uint64_t));
    }
    text += chunk.rest;
    text.resize(std::max(room, size_t{64}));
    bytes += text;
  }
  return bytes;
}

class LogMutation {
 public:
  LogMutation(Log& log, Random& random) : log_(log), random_(random) {}

  void Make() {
    if (log_.chunks.empty() || random_.Below(12) == 0) {
      return ChangeHead(log_.head);
    }
    Chunk& chunk = log_.chunks[random_.Below(log_.chunks.size())];
    if (chunk.records.empty() || random_.Below(10) == 0) {
      return ChangeChunk(chunk);
    }
    ChangeRecords(chunk);
  }

 private:
  // One of the fields of the header, all of whole 4 bytes.
  void ChangeHead(std::string& head) {
    const size_t at = 8 + 4 * random_.Below((sizeof(LogHeader) - 8) / 4);
    const auto value = static_cast<uint32_t>(random_.Pick(kEdges));
    if (at + sizeof value <= head.size()) {
      std::memcpy(head.data() + at, &value, sizeof value);
    }
  }

  void ChangeChunk(Chunk& chunk) {
    const uint64_t edge = random_.Pick(kEdges);
    switch (random_.Below(7)) {
      case 0:
        chunk.header.kind = static_cast<ChunkKind>(random_.Below(6));
        return;
      case 1:
        chunk.header.tid = static_cast<uint32_t>(edge);
        return;
      case 2:
        chunk.header.first_ns = edge;
        return;
      case 3:
        chunk.header.generation = edge;
        return;
      case 4:
        chunk.header.bytes = static_cast<uint32_t>(edge) & ~7U;
        return;
      case 5:
        chunk.header.released_ns = edge;
        return;
      default:
        std::swap(chunk.records, log_.chunks[random_.Below(log_.chunks.size())].records);
    }
  }

  void ChangeRecords(Chunk& chunk) {
    std::vector<Record>& records = chunk.records;
    const size_t at = random_.Below(records.size());
    const auto place = records.begin() + static_cast<std::ptrdiff_t>(at);
    const auto& others = log_.chunks[random_.Below(log_.chunks.size())].records;
    switch (random_.Below(8)) {
      case 0:
        records.erase(place);
        return;
      case 1:
        records.insert(place, Record(records[random_.Below(records.size())]));
        return;
      case 2:
        std::swap(records[at], records[random_.Below(records.size())]);
        return;
      case 3:
        if (!others.empty()) {
          records.insert(place, Record(others[random_.Below(others.size())]));
        }
        return;
      case 4:
        return ChangeType(records[at]);
      default:
        return ChangeWord(records[at]);
    }
  }

  void ChangeType(Record& record) {
    RecordHead head = UnpackHead(record[0]);
    switch (random_.Below(3)) {
      case 0:
        head.type = random_.Pick(kTypes);
        break;
      case 1:
        head.flags = static_cast<uint8_t>(head.flags ^ (1U << random_.Below(8)));
        break;
      default:
        head.a = random_.Below(2) == 0 ? static_cast<uint32_t>(random_.Pick(kEdges))
                                       : static_cast<uint32_t>(head.a + random_.Below(5) - 2);
    }
    record[0] = PackHead(head);
  }

  // Of a record with nothing but its head: its size, with zeros for what is new.
  void ChangeWord(Record& record) {
    if (record.size() == 1 || random_.Below(8) == 0) {
      RecordHead head = UnpackHead(record[0]);
      head.words = static_cast<uint16_t>(1 + random_.Below(2 * record.size() + 2));
      record.resize(head.words);
      record[0] = PackHead(head);
      return;
    }
    uint64_t& word = record[1 + random_.Below(record.size() - 1)];
    const uint64_t edge = random_.Pick(kEdges);
    switch (random_.Below(5)) {
      case 0:
        word = edge;
        return;
      case 1:
        word = (word & 0xffffffff) | edge << 32;
        return;
      case 2:
        word = (word & ~uint64_t{0xffffffff}) | (edge & 0xffffffff);
        return;
      case 3:
        word ^= uint64_t{1} << random_.Below(64);
        return;
      default:
        word += random_.Below(2001) - 1000;
    }
  }

  Log& log_;
  Random& random_;
};

}  // namespace

std::string MutateLog(std::string_view input, Random& random) {
  const Log before = Parse(input);
  Log log = before;
  for (size_t changes = 1 + random.Below(4); changes > 0; --changes) {
    LogMutation(log, random).Make();
  }
  return Joined(before, log);
}

}  // namespace fuzz
