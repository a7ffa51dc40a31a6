#include "borescope/trace/string_pool.h"

#include <cstring>

#include "borescope/base/hash/input_hash.h"
#include "borescope/base/row_limit.h"

namespace borescope::internal {

StringPool::StringPool() : slots_(256, Id<StringTag>::kNone) { Intern(""); }

StringId StringPool::Find(std::string_view text) const {
  const uint64_t hash = HashText(text);
  const size_t mask = slots_.size() - 1;
  for (size_t slot = hash & mask;; slot = (slot + 1) & mask) {
    const uint32_t id = slots_[slot];
    if (id == StringId::kNone) {
      return {};
    }
    if (hashes_[id] == hash && views_[id] == text) {
      return {id};
    }
  }
}

StringId StringPool::Intern(std::string_view text) {
  const uint64_t hash = HashText(text);
  const size_t mask = slots_.size() - 1;
  size_t slot = hash & mask;
  for (; slots_[slot] != StringId::kNone; slot = (slot + 1) & mask) {
    const uint32_t id = slots_[slot];
    if (hashes_[id] == hash && views_[id] == text) {
      return {id};
    }
  }
  const uint32_t id = CheckedRows(views_.size() + 1, "different texts") - 1;
  views_.push_back(Store(text));
  hashes_.push_back(hash);
  slots_[slot] = id;
  if (views_.size() * 2 > slots_.size()) {
    Grow();
  }
  return {id};
}

size_t StringPool::bytes() const {
  return block_bytes_ + views_.capacity() * sizeof(std::string_view) +
         hashes_.capacity() * sizeof(uint64_t) + slots_.capacity() * sizeof(uint32_t);
}

// Texts longer than a quarter of a block get one of their own, so that little room is wasted.
std::string_view StringPool::Store(std::string_view text) {
  if (text.empty()) {
    return {};
  }
  if (text.size() > kBlockBytes / 4) {
    auto own = std::make_unique<char[]>(text.size());
    std::memcpy(own.get(), text.data(), text.size());
    const std::string_view view(own.get(), text.size());
    block_bytes_ += text.size();
    blocks_.push_back(std::move(own));
    if (blocks_.size() > 1) {  // the block in use stays the last one
      std::swap(blocks_.back(), blocks_[blocks_.size() - 2]);
    }
    return view;
  }
  if (block_used_ + text.size() > kBlockBytes) {
    blocks_.push_back(std::make_unique_for_overwrite<char[]>(kBlockBytes));
    block_bytes_ += kBlockBytes;
    block_used_ = 0;
  }
  char* place = blocks_.back().get() + block_used_;
  std::memcpy(place, text.data(), text.size());
  block_used_ += text.size();
  return {place, text.size()};
}

void StringPool::Grow() {
  std::vector<uint32_t> slots(slots_.size() * 2, StringId::kNone);
  const size_t mask = slots.size() - 1;
  for (uint32_t id = 0; id < hashes_.size(); ++id) {
    size_t slot = hashes_[id] & mask;
    while (slots[slot] != StringId::kNone) {
      slot = (slot + 1) & mask;
    }
    slots[slot] = id;
  }
  slots_.swap(slots);
}

}  // namespace borescope::internal
