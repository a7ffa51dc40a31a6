#include "borescope/ingest/pickle/plain_values.h"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>

#include "borescope/base/hash/input_hash.h"
#include "borescope/json/number.h"

namespace borescope::internal {
namespace {

uint64_t HashOf(PlainKind kind, std::span<const PlainValue> items) {
  const ProcessKey& key = KeyOfProcess();
  uint64_t hash = key[0] ^ static_cast<uint64_t>(kind);
  for (const PlainValue& item : items) {
    hash = FoldedProduct(item.bits ^ hash, key[1]) ^ key[2];
    hash += (static_cast<uint64_t>(item.kind) << 8) | item.shape;
  }
  return FoldedProduct(FoldedProduct(hash ^ items.size(), key[1]) ^ key[0], key[1]);
}

}  // namespace

PlainValue PlainInt(int64_t value) {
  return {.kind = PlainKind::kInt, .bits = static_cast<uint64_t>(value)};
}

PlainValue PlainBool(bool value) {
  return {.kind = PlainKind::kBool, .bits = value ? uint64_t{1} : uint64_t{0}};
}

PlainValue PlainFloat(double value) {
  return {.kind = PlainKind::kFloat, .bits = std::bit_cast<uint64_t>(value)};
}

PlainValue PlainFolded(uint8_t shape, uint64_t number) {
  return {.kind = PlainKind::kFolded, .shape = shape, .bits = number};
}

uint32_t PlainStore::Intern(std::string_view text) {
  if (const auto found = text_numbers_.find(text); found != text_numbers_.end()) {
    return found->second;
  }
  const auto number = static_cast<uint32_t>(texts_.size());
  const std::string& kept = kept_texts_.emplace_back(text);
  texts_.emplace_back(kept);
  text_numbers_.emplace(kept, number);
  return number;
}

std::span<const PlainValue> PlainStore::Items(PlainValue value) const {
  if (!value.IsContainer() || value.bits >= nodes_.size()) {
    return {};
  }
  const Node& node = nodes_[value.bits];
  return std::span(items_).subspan(node.begin, node.count);
}

PlainValue PlainStore::Find(PlainValue dictionary, std::string_view key) const {
  if (dictionary.kind != PlainKind::kDict) {
    return {};
  }
  const std::span<const PlainValue> items = Items(dictionary);
  // Records have a few keys; a pickle can name one large dictionary in place of many of them.
  constexpr size_t kMostItems = 8192;
  PlainValue found;
  if (items.size() > 2 * kMostItems) return found;
  for (size_t i = 0; i + 1 < items.size(); i += 2) {
    if (items[i].IsText() && Text(items[i]) == key) {
      found = items[i + 1];  // the last one counts
    }
  }
  return found;
}

std::optional<int64_t> PlainStore::Int(PlainValue value) const {
  switch (value.kind) {
    case PlainKind::kBool:
    case PlainKind::kInt:
      return static_cast<int64_t>(value.bits);
    case PlainKind::kText: {
      const ParsedNumber number = ParseInteger(Text(value));
      return number.status == NumberStatus::kOk ? std::optional(number.value) : std::nullopt;
    }
    default:
      return std::nullopt;
  }
}

std::optional<uint64_t> PlainStore::Address(PlainValue value) const {
  if (value.kind == PlainKind::kWide) {
    return value.bits;
  }
  const std::optional<int64_t> number = Int(value);
  return number.has_value() && *number >= 0 ? std::optional(static_cast<uint64_t>(*number))
                                            : std::nullopt;
}

std::optional<double> PlainStore::Number(PlainValue value) const {
  switch (value.kind) {
    case PlainKind::kInt:
      return static_cast<double>(static_cast<int64_t>(value.bits));
    case PlainKind::kWide:
      return static_cast<double>(value.bits);
    case PlainKind::kFloat:
      return std::bit_cast<double>(value.bits);
    case PlainKind::kText: {
      const ParsedDouble number = ParseDouble(Text(value));
      return number.status == NumberStatus::kOk ? std::optional(number.value) : std::nullopt;
    }
    default:
      return std::nullopt;
  }
}

bool PlainStore::IsEqual(const Node& node, PlainKind kind,
                         std::span<const PlainValue> items) const {
  return node.kind == kind && node.count == items.size() &&
         std::equal(items.begin(), items.end(),
                    items_.begin() + static_cast<std::ptrdiff_t>(node.begin));
}

std::optional<PlainValue> PlainStore::Keep(PlainKind kind, std::span<const PlainValue> items) {
  uint8_t depth = 0;
  for (const PlainValue& item : items) {
    if (item.IsContainer()) {
      depth = std::max(depth, nodes_[item.bits].depth);
    }
  }
  if (depth >= kNesting) {
    return std::nullopt;
  }
  const uint64_t hash = HashOf(kind, items);
  const auto [slot, is_new] = by_hash_.try_emplace(hash, static_cast<uint32_t>(nodes_.size()));
  const uint32_t first = is_new ? kNoNode : slot->second;
  for (uint32_t at = first; at != kNoNode; at = nodes_[at].next) {
    if (IsEqual(nodes_[at], kind, items)) {
      return PlainValue{.kind = kind, .bits = at};
    }
  }
  const auto number = static_cast<uint32_t>(nodes_.size());
  slot->second = number;
  nodes_.push_back({.begin = items_.size(),
                    .count = static_cast<uint32_t>(items.size()),
                    .kind = kind,
                    .depth = static_cast<uint8_t>(depth + 1),
                    .next = first});
  items_.insert(items_.end(), items.begin(), items.end());
  return PlainValue{.kind = kind, .bits = number};
}

}  // namespace borescope::internal
