// LogMaker: makes logs of borescope record by hand, record by record, for tests of their reader.
#pragma once

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/recording/log_format.h"

namespace borescope::testkit {

class LogMaker {
 public:
  explicit LogMaker(uint32_t pid, int32_t rank = -1) {
    std::memcpy(header.magic, recording::kLogMagic, sizeof(header.magic));
    header.version = recording::kLogVersion;
    header.header_bytes = recording::kLeastHeaderBytes;
    header.pid = pid;
    header.start_time = pid;
    header.host_hash = 1;
    header.mono_ns = 500 + pid;
    header.real_ns = uint64_t{1} << 60;
    header.rank = rank;
    header.local_rank = rank;
    header.world_size = rank < 0 ? -1 : 2;
    header.chunk_alignment = recording::kLeastHeaderBytes;
  }

  // The records that follow are in a new chunk.
  void Chunk(uint32_t tid, uint64_t first_ns,
             recording::ChunkKind kind = recording::ChunkKind::kThread) {
    recording::ChunkHeader chunk{};
    chunk.magic = recording::kChunkMagic;
    chunk.bytes = kChunkBytes;
    chunk.sequence = chunks_.size();
    chunk.kind = kind;
    chunk.tid = tid;
    chunk.first_ns = first_ns;
    chunk.pthread_self = 0x7000000000000000 + tid;
    chunks_.emplace_back(reinterpret_cast<const char*>(&chunk), sizeof(chunk));  // NOLINT: bytes
  }

  void Add(recording::RecordType type, uint32_t a, std::initializer_list<uint64_t> words,
           std::string_view text = {}, uint8_t flags = 0) {
    Body(type, a, {reinterpret_cast<const char*>(words.begin()), words.size() * 8},  // NOLINT
         text, flags);
  }

  template <class T>
  void AddBody(recording::RecordType type, uint32_t a, const T& body) {
    Body(type, a, {reinterpret_cast<const char*>(&body), sizeof(body)}, {}, 0);  // NOLINT: bytes
  }

  // The bytes of the log.
  std::string Bytes() const {
    std::string log(reinterpret_cast<const char*>(&header), sizeof(header));  // NOLINT: bytes
    log.resize(header.header_bytes);
    for (const std::string& chunk : chunks_) {
      log += chunk;
      log.resize((log.size() + kChunkBytes - 1) / kChunkBytes * kChunkBytes);
    }
    return log;
  }

  recording::LogHeader header{};

 private:
  static constexpr uint32_t kChunkBytes = 4096;

  void Body(recording::RecordType type, uint32_t a, std::string_view body, std::string_view text,
            uint8_t flags) {
    const size_t padding = (8 - text.size() % 8) % 8;
    const size_t words = 1 + (body.size() + text.size() + padding) / 8;
    const uint64_t head =
        recording::PackHead({static_cast<uint8_t>(type), static_cast<uint16_t>(words),
                             static_cast<uint8_t>(flags | padding), a});
    std::string& chunk = chunks_.back();
    chunk.append(reinterpret_cast<const char*>(&head), sizeof(head));  // NOLINT: bytes
    chunk.append(body).append(text).append(padding, '\0');
  }

  std::vector<std::string> chunks_;
};

}  // namespace borescope::testkit
