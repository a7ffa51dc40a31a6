// Scrubber: removes from texts of recordings what may identify people or machines, and secrets
// (docs/use/scrub.md). Equal texts become equal texts, and different ones stay different, as
// removed parts are replaced by a keyed hash. Used by one thread at a time.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "borescope/base/hash/hash_tables.h"
#include "borescope/base/text/sensitive.h"

namespace borescope::internal {

// The key of a hash of texts (SipHash-2-4). Without the key nobody can find out by trying texts
// which one a hash belongs to.
using HashKey = std::array<uint64_t, 2>;

// A key that nobody knows.
HashKey RandomHashKey();
// The key derived from a text of any length.
HashKey HashKeyOf(std::string_view text);
uint64_t KeyedHash(const HashKey& key, std::string_view text);

// The use of a text, which decides which parts of it may stay.
enum class TextUse : uint8_t {
  kKernel,      // a function of the device
  kAnnotation,  // the program's name of a range, with what profilers append to it
  kOperator,    // a framework's operator
  kFrame,       // a function of the program, or a module of its model
  kCall,        // a function of a runtime
  kThread,      // a thread: its number stays, its name only if every program has it
  kPath,        // a path of any form: its last part stays
  kModule,      // a file of code, without its folders
  kWord,        // words of the profiler: types, backends, units, models of devices
  kValue,       // an argument: numbers stay, texts do not
  kPlace,       // an address or a handle: a number in any base
  kCount,
  kLastName = kCall  // uses up to this one are names
};

struct ScrubRules {
  HashKey key = RandomHashKey();
  bool names =
      false;  // whether names of kernels, modules, annotations and functions are replaced too
};

class Scrubber {
 public:
  explicit Scrubber(ScrubRules rules) : rules_(rules) {}

  // The text without what may not be given away. The view is valid until the next call.
  std::string_view Clean(std::string_view text, TextUse use);

  // A replacement for a whole text: a word for it, and the hash: "thread-0123456789abcdef".
  std::string Replaced(std::string_view word, std::string_view text) const;

  // The keyed hash of a text, for a number in its place.
  uint64_t Hash(std::string_view text) const { return KeyedHash(rules_.key, text); }

  // Whether names are replaced, too.
  bool renames() const { return rules_.names; }
  // How many different texts were changed.
  uint64_t changed() const { return changed_; }
  // With `names`: the original of each new name, for those who may know it.
  const std::map<std::string, std::string>& names() const { return names_; }

 private:
  std::string Compute(std::string_view text, TextUse use) const;
  std::string Redacted(std::string_view text, TextUse use) const;
  std::string WithoutFolders(std::string_view path) const;
  std::string ModuleText(std::string_view text) const;
  std::string ThreadText(std::string_view text) const;
  std::string ValueText(std::string_view text) const;

  // The number of distinct texts whose results are cached, as recordings repeat texts.
  static constexpr size_t kMostRemembered = size_t{1} << 20;
  using Results = HashMap<std::string, std::string>;

  ScrubRules rules_;
  std::array<Results, static_cast<size_t>(TextUse::kCount)> results_;
  std::string last_;
  uint64_t changed_ = 0;
  std::map<std::string, std::string> names_;
};

}  // namespace borescope::internal
