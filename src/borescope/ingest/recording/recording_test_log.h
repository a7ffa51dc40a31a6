// Logs of a recording made by hand, for tests.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/recording/log_format.h"

namespace borescope::internal {

// One chunk, which its records are added to.
class TestChunk {
 public:
  TestChunk(uint32_t tid, uint64_t first_ns,
            recording::ChunkKind kind = recording::ChunkKind::kThread)
      : tid_(tid), first_ns_(first_ns), kind_(kind) {}

  TestChunk& Add(recording::RecordType type, uint32_t a, std::initializer_list<uint64_t> body,
                 std::string_view text = {}, uint8_t flags = 0) {
    const size_t text_words = (text.size() + 7) / 8;
    const auto words = static_cast<uint16_t>(1 + body.size() + text_words);
    const auto padding = static_cast<uint8_t>(text_words * 8 - text.size());
    words_.push_back(recording::PackHead(
        {static_cast<uint8_t>(type), words, static_cast<uint8_t>(flags | padding), a}));
    words_.insert(words_.end(), body.begin(), body.end());
    const size_t begin = words_.size();
    words_.resize(begin + text_words);
    if (!text.empty()) std::memcpy(words_.data() + begin, text.data(), text.size());
    return *this;
  }

  TestChunk& AddWords(recording::RecordType type, uint32_t a, const std::vector<uint64_t>& body) {
    words_.push_back(recording::PackHead(
        {static_cast<uint8_t>(type), static_cast<uint16_t>(1 + body.size()), 0, a}));
    words_.insert(words_.end(), body.begin(), body.end());
    return *this;
  }

  template <class Body>
  TestChunk& AddBody(recording::RecordType type, uint32_t a, const Body& body) {
    static_assert(sizeof(Body) % sizeof(uint64_t) == 0);
    words_.push_back(recording::PackHead(
        {static_cast<uint8_t>(type), static_cast<uint16_t>(1 + sizeof(Body) / 8), 0, a}));
    const size_t begin = words_.size();
    words_.resize(begin + sizeof(Body) / 8);
    std::memcpy(words_.data() + begin, &body, sizeof(Body));
    return *this;
  }

  // With a zero word at its end, filled up to the alignment of chunks.
  std::string Bytes(uint64_t sequence) const {
    recording::ChunkHeader header{};
    const size_t used = sizeof(header) + (words_.size() + 1) * sizeof(uint64_t);
    const size_t bytes = (used + recording::kLeastHeaderBytes - 1) / recording::kLeastHeaderBytes *
                         recording::kLeastHeaderBytes;
    header.magic = recording::kChunkMagic;
    header.bytes = static_cast<uint32_t>(bytes);
    header.sequence = sequence;
    header.kind = kind_;
    header.tid = tid_;
    header.first_ns = first_ns_;
    std::string text(bytes, '\0');
    std::memcpy(text.data(), &header, sizeof(header));
    std::ranges::copy(std::as_bytes(std::span(words_)),
                      std::as_writable_bytes(std::span(text)).begin() + sizeof(header));
    return text;
  }

 private:
  uint32_t tid_;
  uint64_t first_ns_;
  recording::ChunkKind kind_;
  std::vector<uint64_t> words_;
};

// The header of a log of process 100.
inline recording::LogHeader TestLogHeader(int32_t rank = -1, uint32_t pid = 100) {
  recording::LogHeader header{};
  std::copy(std::begin(recording::kLogMagic), std::end(recording::kLogMagic), header.magic);
  header.version = recording::kLogVersion;
  header.header_bytes = recording::kLeastHeaderBytes;
  header.pid = pid;
  header.ppid = 1;
  header.start_time = 7;
  header.host_hash = 42;
  header.mono_ns = 1'000;
  header.real_ns = 1'700'000'000'000'000'000;
  header.rank = rank;
  header.local_rank = rank;
  header.world_size = -1;
  header.chunk_alignment = recording::kLeastHeaderBytes;
  return header;
}

inline std::string TestLog(const recording::LogHeader& header, std::vector<TestChunk> chunks) {
  std::string bytes(recording::kLeastHeaderBytes, '\0');
  std::memcpy(bytes.data(), &header, sizeof(header));
  for (size_t i = 0; i < chunks.size(); ++i) {
    bytes += chunks[i].Bytes(i);
  }
  return bytes;
}

}  // namespace borescope::internal
