// StringPool: every distinct text once, addressed by StringId in order of first appearance. Id 0 is
// always the empty text. Not thread-safe while interning; afterwards any number of threads may
// read.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "borescope/base/id.h"

namespace borescope::internal {

class StringPool {
 public:
  StringPool();

  // The id of `text`, which is copied on first sight.
  StringId Intern(std::string_view text);

  // The id of `text` if it was interned, else an invalid id.
  StringId Find(std::string_view text) const;

  // The view stays valid as long as the pool. REQUIRES: `id` came from this pool; an invalid id
  // gives the empty text.
  std::string_view Get(StringId id) const {
    return id.valid() ? views_[id.value] : std::string_view();
  }

  size_t size() const { return views_.size(); }
  size_t bytes() const;

 private:
  static constexpr size_t kBlockBytes = 64 * 1024;

  std::string_view Store(std::string_view text);
  void Grow();

  std::vector<std::unique_ptr<char[]>> blocks_;
  size_t block_used_ = kBlockBytes;
  size_t block_bytes_ = 0;
  std::vector<std::string_view> views_;
  std::vector<uint64_t> hashes_;
  std::vector<uint32_t> slots_;  // open addressing; power of two; Id::kNone = free
};

}  // namespace borescope::internal
