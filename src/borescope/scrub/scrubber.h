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

// Scrubber: texts of recordings without what may say who, where and with which secrets
// (docs/use/scrub.md). Equal texts become equal texts, and different ones stay different: what is
// removed leaves a keyed hash of itself. Used by one thread at a time.

// What a text is for, which decides what may stay of it.
enum class TextUse : uint8_t {
  kKernel,      // a function of the device
  kAnnotation,  // what the program called a range, with what profilers append to it
  kOperator,    // a framework's operator
  kFrame,       // a function of the program, or a module of its model
  kCall,        // a function of a runtime
  kThread,      // a thread: its number stays, its name only if every program has it
  kPath,        // a path, whatever it looks like: its last part stays
  kModule,      // a file of code, without its folders
  kWord,        // words of the profiler: types, backends, units, models of devices
  kValue,       // an argument: numbers stay, texts do not
  kPlace,       // an address or a handle: a number, in whatever base
  kCount,
  kLastName = kCall  // up to here: names
};

struct ScrubRules {
  HashKey key = RandomHashKey();
  bool names = false;  // names of kernels, modules, annotations and functions go, too
};

class Scrubber {
 public:
  explicit Scrubber(ScrubRules rules) : rules_(rules) {}

  // The text as it may be given away. The view lives until the next call.
  std::string_view Clean(std::string_view text, TextUse use);

  // The hash of something that goes altogether, behind a word for it: "thread-0123456789abcdef".
  std::string Replaced(std::string_view word, std::string_view text) const;

  // Texts that were changed, by what was in them; each different text once.
  uint64_t changed() const { return changed_; }
  // With names: which name became which, for those who may know.
  const std::map<std::string, std::string>& names() const { return names_; }

 private:
  std::string Compute(std::string_view text, TextUse use) const;
  std::string Redacted(std::string_view text, TextUse use) const;
  std::string WithoutFolders(std::string_view path) const;
  std::string ModuleText(std::string_view text) const;
  std::string ThreadText(std::string_view text) const;
  std::string ValueText(std::string_view text) const;

  // Distinct texts whose result is remembered; recordings repeat theirs.
  static constexpr size_t kMostRemembered = size_t{1} << 20;
  using Results = HashMap<std::string, std::string>;

  ScrubRules rules_;
  std::array<Results, static_cast<size_t>(TextUse::kCount)> results_;
  std::string last_;
  uint64_t changed_ = 0;
  std::map<std::string, std::string> names_;
};

}  // namespace borescope::internal
