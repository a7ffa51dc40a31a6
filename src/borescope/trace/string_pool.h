// StringPool: every distinct text once, addressed by StringId in order of first appearance. Id 0 is
// always the empty text. Not thread-safe while interning; afterwards any number of threads may
// read.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string_view>
#include <vector>

#include "borescope/base/id.h"

namespace borescope::internal {

class StringPool {
 public:
  StringPool();

  // A pool of texts that lie one after the other in `bytes`, text i from begins[i] to begins[i +
  // 1]. `bytes` must outlive the pool, or its Own(). REQUIRES: `begins` starts with 0, 0, as the
  // first text is empty, does not fall, and ends with the size of `bytes`; no two texts are equal.
  static StringPool View(std::span<const uint64_t> begins, std::string_view bytes);
  // Copies the texts of a view.
  void Own();

  // The id of `text`, which is copied on first sight.
  StringId Intern(std::string_view text);

  // The id of `text` if it was interned, else an invalid id.
  // Of a view the first call takes the time of a hash of every text. Thread-safe.
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

  // What finds texts.
  struct Lookup {
    std::vector<uint64_t> hashes;
    std::vector<uint32_t> slots;  // open addressing; power of two; Id::kNone = free
  };
  // Of a view, made when the first text is looked for.
  struct LateLookup {
    std::once_flag once;
    Lookup lookup;
  };

  static Lookup LookupOf(std::span<const std::string_view> views);
  static void Grow(Lookup& lookup);
  StringId FindIn(const Lookup& lookup, std::string_view text) const;
  std::string_view Store(std::string_view text);

  std::vector<std::unique_ptr<char[]>> blocks_;
  size_t block_used_ = kBlockBytes;
  size_t block_bytes_ = 0;
  std::vector<std::string_view> views_;
  Lookup lookup_;                     // empty in a view
  std::unique_ptr<LateLookup> late_;  // only in a view
};

}  // namespace borescope::internal
