// Tables whose keys come from inputs: the only ones of the library (tools/check_style.py). Their
// hashes are keyed by random numbers of this process, so that no input can make a table slow; the
// order of their members differs from run to run for the same reason. They can therefore not be
// walked like other containers: who visits all members asks for them InAnyOrder(), and says why the
// order does not show.
#pragma once

#include <functional>
#include <unordered_map>
#include <unordered_set>

#include "borescope/base/hash/input_hash.h"

namespace borescope::internal {

// As std::unordered_map, without begin(). Not thread-safe while it is changed.
template <typename Key, typename Value>
class HashMap : private std::unordered_map<Key, Value, InputHash, std::equal_to<>> {
  using Table = std::unordered_map<Key, Value, InputHash, std::equal_to<>>;

 public:
  using typename Table::const_iterator;
  using typename Table::iterator;
  using typename Table::key_type;
  using typename Table::mapped_type;
  using typename Table::value_type;

  using Table::Table;

  using Table::at;
  using Table::clear;
  using Table::contains;
  using Table::count;
  using Table::emplace;
  using Table::empty;
  using Table::end;
  using Table::erase;
  using Table::find;
  using Table::insert;
  using Table::insert_or_assign;
  using Table::reserve;
  using Table::size;
  using Table::try_emplace;
  using Table::operator[];

  // All members, in an order that differs from run to run: none of it may reach an output.
  const Table& InAnyOrder() const { return *this; }
  Table& InAnyOrder() { return *this; }
};

// As std::unordered_set, without begin(). Not thread-safe while it is changed.
template <typename Key>
class HashSet : private std::unordered_set<Key, InputHash, std::equal_to<>> {
  using Table = std::unordered_set<Key, InputHash, std::equal_to<>>;

 public:
  using typename Table::const_iterator;
  using typename Table::iterator;
  using typename Table::key_type;
  using typename Table::value_type;

  using Table::Table;

  using Table::clear;
  using Table::contains;
  using Table::count;
  using Table::emplace;
  using Table::empty;
  using Table::end;
  using Table::erase;
  using Table::find;
  using Table::insert;
  using Table::reserve;
  using Table::size;

  // All members, in an order that differs from run to run: none of it may reach an output.
  const Table& InAnyOrder() const { return *this; }
};

}  // namespace borescope::internal
