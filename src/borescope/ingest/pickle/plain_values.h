// Plain data: what pickles of dumps, and the same dumps as JSON, are made of: None, truth values,
// numbers, texts, lists, tuples and dictionaries. A reader makes values from front to back and
// offers each container to a PlainFolder as soon as it is filled, which may take what it needs and
// keep a number in its place, so that no tree of the whole file exists. What is not folded is kept
// in a PlainStore, once: equal containers are one.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/base/hash/hash_tables.h"
#include "borescope/base/result.h"

namespace borescope::internal {

enum class PlainKind : uint8_t {
  kNone,
  kBool,
  kInt,    // of 64 bits with a sign
  kWide,   // a number from 2^63 to 2^64 - 1, as addresses may be
  kFloat,  // bits of a double
  kText,   // a number of the store
  kList,   // numbers of the store; what is in them is PlainStore::Items
  kTuple,
  kDict,    // items are keys and values in turn
  kFolded,  // what a PlainFolder gave for a container
  kOpen,    // of a reader alone: a container that is not complete
};

// A value of 16 bytes, compared by its bits: equal containers of one store have equal values.
struct PlainValue {
  PlainKind kind = PlainKind::kNone;
  uint8_t shape = 0;  // of what was folded: which kind of row, as its folder numbers them, below 16
  uint64_t bits = 0;  // of what was folded: below 2^56

  friend bool operator==(const PlainValue&, const PlainValue&) = default;

  bool IsText() const { return kind == PlainKind::kText; }
  bool IsContainer() const {
    return kind == PlainKind::kList || kind == PlainKind::kTuple || kind == PlainKind::kDict;
  }
  bool IsFolded(uint8_t as) const { return kind == PlainKind::kFolded && shape == as; }
};

PlainValue PlainInt(int64_t value);
PlainValue PlainBool(bool value);
PlainValue PlainFloat(double value);
// REQUIRES: shape below 16, number below 2^56.
PlainValue PlainFolded(uint8_t shape, uint64_t number);

// The texts and the containers that are kept. Used by one thread at a time; references and views
// live as long as the store.
class PlainStore {
 public:
  // Longer texts are cut there.
  static constexpr size_t kTextBytes = size_t{1} << 20;
  static constexpr uint8_t kNesting = 64;

  PlainStore() = default;
  // Texts that were asked for lie in it: a copy would leave them behind.
  PlainStore(PlainStore&&) noexcept = default;
  PlainStore& operator=(PlainStore&&) noexcept = default;
  PlainStore(const PlainStore&) = delete;
  PlainStore& operator=(const PlainStore&) = delete;
  ~PlainStore() = default;

  // Numbers are given in order, from 0: who interns the keys it knows before anything is read can
  // tell them by number.
  uint32_t Intern(std::string_view text);
  PlainValue InternValue(std::string_view text) {
    return {.kind = PlainKind::kText, .bits = Intern(text)};
  }

  // Of a text; empty of any other value.
  std::string_view Text(PlainValue value) const {
    return value.IsText() ? texts_[value.bits] : std::string_view();
  }
  std::string_view TextOf(uint32_t number) const { return texts_[number]; }
  // Of a list, a tuple or a dictionary (keys and values in turn); empty of any other value. The
  // view lives until the next container is kept.
  std::span<const PlainValue> Items(PlainValue value) const;
  // The value of that key in a kept dictionary; None where there is none.
  PlainValue Find(PlainValue dictionary, std::string_view key) const;

  // Whole numbers, and truth values as 0 and 1. Texts of digits count too: JSON dumps have them.
  // Nothing for any other value, or one beyond 64 bits.
  std::optional<int64_t> Int(PlainValue value) const;
  // Numbers up to 2^64 - 1: addresses.
  std::optional<uint64_t> Address(PlainValue value) const;
  // Any number.
  std::optional<double> Number(PlainValue value) const;

  // For readers. Keeps a container of values that are complete; nothing where it would nest too
  // deeply.
  std::optional<PlainValue> Keep(PlainKind kind, std::span<const PlainValue> items);

  size_t texts() const { return texts_.size(); }
  size_t containers() const { return nodes_.size(); }

 private:
  struct Node {
    uint64_t begin = 0;  // in items_
    uint32_t count = 0;
    PlainKind kind = PlainKind::kList;
    uint8_t depth = 0;
    uint32_t next = kNoNode;  // with the same hash
  };
  static constexpr uint32_t kNoNode = UINT32_MAX;

  bool IsEqual(const Node& node, PlainKind kind, std::span<const PlainValue> items) const;

  std::deque<std::string> kept_texts_;
  std::vector<std::string_view> texts_;
  HashMap<std::string_view, uint32_t> text_numbers_;
  std::vector<PlainValue> items_;
  std::vector<Node> nodes_;
  HashMap<uint64_t, uint32_t> by_hash_;
};

// Takes containers as they are filled. Called by the thread that reads.
class PlainFolder {
 public:
  virtual ~PlainFolder() = default;

  // A dictionary was filled: its keys and values in turn. What comes back takes its place; nothing
  // lets the store keep it. A pickle may fill a dictionary in several pieces of 1,000 members, of
  // which this sees the first: dictionaries that are folded have to be smaller. Values that are
  // containers are in the store already, or folded.
  virtual std::optional<PlainValue> FoldDict(std::span<const PlainValue> members) = 0;

  // So many elements of a list were read: all of it, or a piece of some hundreds. `before` is what
  // came back for the pieces before; nothing at the first one, where nothing may come back: the
  // store keeps the list. After that something has to.
  virtual std::optional<PlainValue> FoldList(std::optional<PlainValue> before,
                                             std::span<const PlainValue> elements) = 0;
};

// Lets the store keep everything: for small files, and tests.
class KeepAll : public PlainFolder {
 public:
  std::optional<PlainValue> FoldDict(std::span<const PlainValue> /*members*/) override {
    return std::nullopt;
  }
  std::optional<PlainValue> FoldList(std::optional<PlainValue> /*before*/,
                                     std::span<const PlainValue> /*elements*/) override {
    return std::nullopt;
  }
};

}  // namespace borescope::internal
