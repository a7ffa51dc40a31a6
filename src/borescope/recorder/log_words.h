// Records of a log, made in memory before they are written.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

#include "borescope/recording/log_format.h"

namespace borescope::internal {

class LogWords {
 public:
  // A record with these words and a text, of which no more than 4096 bytes are kept.
  void Add(recording::RecordType type, uint32_t a, std::initializer_list<uint64_t> body,
           std::string_view text = {});

  std::span<const uint64_t> words() const { return words_; }
  bool empty() const { return words_.empty(); }
  void Clear() { words_.clear(); }

 private:
  std::vector<uint64_t> words_;
};

}  // namespace borescope::internal
