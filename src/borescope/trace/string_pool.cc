#include "borescope/trace/string_pool.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "borescope/base/check.h"
#include "borescope/base/hash/input_hash.h"
#include "borescope/base/row_limit.h"

namespace borescope::internal {

StringPool::StringPool() : lookup_{{}, std::vector<uint32_t>(256, StringId::kNone)} { Intern(""); }

StringPool StringPool::View(std::span<const uint64_t> begins, std::string_view bytes) {
  StringPool pool;
  pool.lookup_ = {};
  pool.late_ = std::make_unique<LateLookup>();
  pool.views_.clear();
  pool.views_.reserve(begins.size() - 1);
  for (size_t i = 0; i + 1 < begins.size(); ++i) {
    pool.views_.push_back(bytes.substr(begins[i], begins[i + 1] - begins[i]));
  }
  return pool;
}

void StringPool::Own() {
  if (late_ == nullptr) {
    return;
  }
  for (std::string_view& view : views_) {
    view = Store(view);
  }
  lookup_ = LookupOf(views_);
  late_.reset();
}

StringId StringPool::Find(std::string_view text) const {
  if (late_ == nullptr) {
    return FindIn(lookup_, text);
  }
  std::call_once(late_->once, [this] { late_->lookup = LookupOf(views_); });
  return FindIn(late_->lookup, text);
}

StringId StringPool::FindIn(const Lookup& lookup, std::string_view text) const {
  const uint64_t hash = HashText(text);
  const size_t mask = lookup.slots.size() - 1;
  for (size_t slot = hash & mask;; slot = (slot + 1) & mask) {
    const uint32_t id = lookup.slots[slot];
    if (id == StringId::kNone) {
      return {};
    }
    if (lookup.hashes[id] == hash && views_[id] == text) {
      return {id};
    }
  }
}

StringId StringPool::Intern(std::string_view text) {
  BS_DCHECK(late_ == nullptr);
  const uint64_t hash = HashText(text);
  const size_t mask = lookup_.slots.size() - 1;
  size_t slot = hash & mask;
  for (; lookup_.slots[slot] != StringId::kNone; slot = (slot + 1) & mask) {
    const uint32_t id = lookup_.slots[slot];
    if (lookup_.hashes[id] == hash && views_[id] == text) {
      return {id};
    }
  }
  const uint32_t id = CheckedRows(views_.size() + 1, "different texts") - 1;
  views_.push_back(Store(text));
  lookup_.hashes.push_back(hash);
  lookup_.slots[slot] = id;
  if (views_.size() * 2 > lookup_.slots.size()) {
    Grow(lookup_);
  }
  return {id};
}

size_t StringPool::bytes() const {
  return block_bytes_ + views_.capacity() * sizeof(std::string_view) +
         lookup_.hashes.capacity() * sizeof(uint64_t) + lookup_.slots.capacity() * sizeof(uint32_t);
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

StringPool::Lookup StringPool::LookupOf(std::span<const std::string_view> views) {
  Lookup lookup;
  lookup.hashes.reserve(views.size());
  for (const std::string_view text : views) {
    lookup.hashes.push_back(HashText(text));
  }
  lookup.slots.resize(std::max<size_t>(128, std::bit_ceil(views.size())));
  Grow(lookup);
  return lookup;
}

void StringPool::Grow(Lookup& lookup) {
  std::vector<uint32_t> slots(lookup.slots.size() * 2, StringId::kNone);
  const size_t mask = slots.size() - 1;
  for (uint32_t id = 0; id < lookup.hashes.size(); ++id) {
    size_t slot = lookup.hashes[id] & mask;
    while (slots[slot] != StringId::kNone) {
      slot = (slot + 1) & mask;
    }
    slots[slot] = id;
  }
  lookup.slots.swap(slots);
}

}  // namespace borescope::internal
