#include "borescope/trace/string_pool.h"

#include <cstring>

#include "borescope/base/check.h"

namespace borescope::internal {
namespace {

// A multiply-and-fold hash over 8-byte words: texts are short and repeat, so it only needs speed on
// short input and few collisions among a few thousand names.
uint64_t HashText(std::string_view text) {
  constexpr uint64_t kMultiplier = 0xff51afd7ed558ccdULL;
  uint64_t hash = 0x9e3779b97f4a7c15ULL ^ text.size();
  const char* data = text.data();
  size_t left = text.size();
  uint64_t word = 0;
  for (; left >= 8; left -= 8, data += 8) {
    std::memcpy(&word, data, 8);
    hash = (hash ^ word) * kMultiplier;
    hash ^= hash >> 32;
  }
  word = 0;
  if (left != 0) {
    std::memcpy(&word, data, left);
  }
  hash = (hash ^ word) * kMultiplier;
  return hash ^ (hash >> 29);
}

}  // namespace

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
  const auto id = static_cast<uint32_t>(views_.size());
  BS_CHECK(id != StringId::kNone);
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
    blocks_.insert(blocks_.begin(), std::move(own));
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
