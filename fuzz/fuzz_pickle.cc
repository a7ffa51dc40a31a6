// Whatever the bytes are: reading plain data ends in an Error or a value, nothing of it nests
// deeper than the store allows, and what is kept is bounded by the bytes that were read.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "borescope/base/check.h"
#include "borescope/base/io/byte_source.h"
#include "borescope/ingest/pickle/plain_reader.h"
#include "borescope/ingest/pickle/plain_values.h"

namespace {

using borescope::internal::PlainFolded;
using borescope::internal::PlainFolder;
using borescope::internal::PlainRead;
using borescope::internal::PlainStore;
using borescope::internal::PlainValue;

// Folds dictionaries of more than two members, and lists of them.
class SomeFolder : public PlainFolder {
 public:
  std::optional<PlainValue> FoldDict(std::span<const PlainValue> members) override {
    return members.size() > 4 ? std::optional(PlainFolded(1, members.size())) : std::nullopt;
  }
  std::optional<PlainValue> FoldList(std::optional<PlainValue> before,
                                     std::span<const PlainValue> elements) override {
    const bool is_of_folded = before.has_value() || elements.front().IsFolded(1);
    return is_of_folded ? std::optional(PlainFolded(2, elements.size())) : std::nullopt;
  }
};

void CheckDepth(const PlainStore& store, PlainValue value, int depth, int& budget) {
  BS_CHECK(depth <= PlainStore::kNesting + 1);
  for (const PlainValue& item : store.Items(value)) {
    if (--budget < 0) {
      return;
    }
    CheckDepth(store, item, depth + 1, budget);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  static_cast<void>(borescope::internal::GuessPlain(bytes));
  PlainStore store;
  SomeFolder folder;
  const std::unique_ptr<borescope::internal::ByteSource> source =
      borescope::internal::OpenMemory(bytes);
  const borescope::internal::Result<PlainRead> read =
      borescope::internal::ReadPlain(*source, store, folder);
  BS_CHECK(store.containers() <= size && store.texts() <= size);
  if (read.ok()) {
    int budget = 10'000;
    CheckDepth(store, read->root, 0, budget);
  }
  return 0;
}
