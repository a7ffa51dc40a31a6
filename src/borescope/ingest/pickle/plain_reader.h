// Readers of plain data: pickles (protocols 2 to 5) and JSON. A pickle is never executed: opcodes
// that import, call or build objects end the file with an error. Both are streaming: bytes are read
// once, and what a PlainFolder folds is not kept.
//
//   PlainStore store;
//   MyFolder folder(store);                         // interns the keys it knows
//   BS_ASSIGN(OpenedSource source, OpenInflated(path));
//   BS_ASSIGN(const PlainRead read, ReadPlain(*source.bytes, store, folder));
//   store.Find(read.root, "version") ...            // what was not folded
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "borescope/base/io/byte_source.h"
#include "borescope/base/result.h"
#include "borescope/ingest/pickle/plain_values.h"

namespace borescope::internal {

// What was read of a file.
struct PlainRead {
  PlainValue root;         // the value of the file
  bool is_cut = false;     // the file ends in the middle: `root` is what was complete
  uint64_t cut_texts = 0;  // texts longer than PlainStore::kTextBytes
  uint64_t bytes = 0;      // inflated
};

// Reads a pickle to its end. A container is folded or kept when it is filled; one that is changed
// after it was used elsewhere is refused, so that nothing can hold itself. Of a file that ends in
// the middle, lists keep their complete elements, and of dictionaries only the outermost one is
// kept. Errors: kUnsupportedFormat where the file asks to run code ("opcode REDUCE at byte 1,234:
// ..."), kCorrupt where it is no pickle. Stops as stop.h says.
Result<PlainRead> ReadPickle(ByteSource& source, PlainStore& store, PlainFolder& folder);

// The same for JSON, whose lists and objects are folded at their ends and every 1,000 elements. The
// text is held as a whole while it is read.
Result<PlainRead> ReadPlainJson(ByteSource& source, PlainStore& store, PlainFolder& folder);

// What a file of plain data is by its first bytes.
enum class PlainContent : uint8_t {
  kNone,            // neither of these
  kPickle,          // a pickle of something else
  kFlightRecorder,  // a dump of PyTorch's flight recorder
  kMemorySnapshot,  // a snapshot of PyTorch's caching allocator
};
struct PlainGuess {
  PlainContent content = PlainContent::kNone;
  bool is_json = false;
};
// Pickles by their first key, or by others of their keys where they begin with one that nobody
// knows; JSON by the keys at the first level. Of `head` no more than kPlainHeadBytes are looked at,
// so that all who ask about a file hear the same.
inline constexpr size_t kPlainHeadBytes = size_t{64} << 10U;
PlainGuess GuessPlain(std::string_view head);

// Reads either, by its first byte.
Result<PlainRead> ReadPlain(ByteSource& source, PlainStore& store, PlainFolder& folder);

}  // namespace borescope::internal
