#include "borescope/engine/partial/part_source.h"

#include <memory>
#include <utility>

#include "borescope/base/hash/input_hash.h"
#include "borescope/base/io/byte_source.h"
#include "borescope/base/io/paths.h"
#include "borescope/engine/partial/wire/envelope.h"
#include "borescope/engine/partial/wire/partial_bytes.h"

namespace borescope::internal {
namespace {

// Tables are large, and are not copied first.
PartialFile WithoutTables(const PartialFile& file) {
  PartialFile head;
  head.path = file.path;
  head.from_directory = file.from_directory;
  head.claim = file.claim;
  head.rank = file.rank;
  head.file_bytes = file.file_bytes;
  head.text_bytes = file.text_bytes;
  head.events = file.events;
  head.begin_ns = file.begin_ns;
  head.diagnostics = file.diagnostics;
  head.load_error = file.load_error;
  head.skipped = file.skipped;
  head.unknown = file.unknown;
  head.graphs = file.graphs;
  head.checked = file.checked;
  for (const Outcome& outcome : file.outcomes) {
    head.outcomes.push_back({outcome.error, {}});
  }
  return head;
}

// Lets `use` see the bytes of a partial.
template <class Use>
auto WithBytes(const StoredPart& partial, const Use& use) -> decltype(use(std::string_view())) {
  if (partial.bytes.has_value()) {
    return use(*partial.bytes);
  }
  BS_ASSIGN(const std::string bytes, ReadPartialFile(partial.name));
  return use(bytes);
}

}  // namespace

Result<bool> IsPartialFile(const std::string& path) {
  constexpr size_t kMagicBytes = 8;
  BS_ASSIGN(const std::string begin, BeginOfFile(path, kMagicBytes));
  return IsPartial(begin);
}

// What cannot be read is taken for one, so that reading it says why.
Result<bool> MayBePartial(const InputFile& file) {
  const bool is_stray = file.from_directory && !file.path.ends_with(".part");
  return is_stray && MayBeRead(file.path) ? IsPartialFile(file.path) : Result(true);
}

Result<std::string> ReadPartialFile(const std::string& path) {
  return ReadUnchanged(path, [&] { return ReadWhole(path); });
}

PartsInMemory::PartsInMemory(std::span<const PartialData> partials) {
  for (const PartialData& partial : partials) {
    partials_.push_back(&partial);
  }
}

Result<PartialData> PartsInMemory::Head(size_t part) {
  const PartialData& whole = *partials_[part];
  PartialData head;
  head.major = whole.major;
  head.minor = whole.minor;
  head.program_version = whole.program_version;
  head.question = whole.question;
  head.shards = whole.shards;
  head.name = whole.name;
  head.files.reserve(whole.files.size());
  for (const PartialFile& file : whole.files) {
    head.files.push_back(WithoutTables(file));
  }
  return head;
}

uint64_t PartsInMemory::DigestOf(size_t part, size_t file) {
  return HashText(FileBytes(partials_[part]->files[file]));
}

Result<PartialData> StoredParts::Head(size_t part) {
  return WithBytes(partials_[part], [&](std::string_view bytes) -> Result<PartialData> {
    BS_ASSIGN(PartialHead head, ParsePartialHead(bytes, partials_[part].name));
    known_[part] = {HashText(bytes), std::move(head.digests)};
    return std::move(head.partial);
  });
}

Result<PartialData> StoredParts::Whole(size_t part) {
  return WithBytes(partials_[part], [&](std::string_view bytes) -> Result<PartialData> {
    if (HashText(bytes) != known_[part].whole) {
      return ChangedWhileRead(partials_[part].name);
    }
    return ParsePartial(bytes, partials_[part].name);
  });
}

}  // namespace borescope::internal
