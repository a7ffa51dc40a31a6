// Where partials come from when they are joined: one after the other, so that only one is in memory
// with its tables.
//
// Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "borescope/base/result.h"
#include "borescope/engine/inputs/input_files.h"
#include "borescope/engine/partial/partial_data.h"
#include "borescope/partial.h"

namespace borescope::internal {

class PartSource {
 public:
  virtual ~PartSource() = default;

  virtual size_t size() const = 0;
  // Everything of a partial but its tables: answers that have no error are there, and have none.
  virtual Result<PartialData> Head(size_t part) = 0;
  virtual Result<PartialData> Whole(size_t part) = 0;
  // A digest of the answers of one file of the partial, tables included: the same for the same
  // bytes. REQUIRES: Head(part) was called.
  virtual uint64_t DigestOf(size_t part, size_t file) = 0;
};

// Partials that are in memory, and outlive the source.
class PartsInMemory final : public PartSource {
 public:
  explicit PartsInMemory(std::vector<const PartialData*> partials)
      : partials_(std::move(partials)) {}
  explicit PartsInMemory(std::span<const PartialData> partials);

  size_t size() const override { return partials_.size(); }
  Result<PartialData> Head(size_t part) override;
  Result<PartialData> Whole(size_t part) override { return *partials_[part]; }
  uint64_t DigestOf(size_t part, size_t file) override;

 private:
  std::vector<const PartialData*> partials_;
};

// Partials as they were written, which are read when they are asked for. The bytes of those that
// are in memory outlive the source. A file that is another one when it is read again is an error of
// kind kIo.
class StoredParts final : public PartSource {
 public:
  explicit StoredParts(std::span<const StoredPart> partials)
      : partials_(partials), known_(partials.size()) {}

  size_t size() const override { return partials_.size(); }
  Result<PartialData> Head(size_t part) override;
  Result<PartialData> Whole(size_t part) override;
  uint64_t DigestOf(size_t part, size_t file) override { return known_[part].files[file]; }

 private:
  // Digests: of all bytes, and of those of each file.
  struct Known {
    uint64_t whole = 0;
    std::vector<uint64_t> files;
  };

  std::span<const StoredPart> partials_;
  std::vector<Known> known_;
};

// Whether the file begins as a partial does. kIo if the system cannot tell.
Result<bool> IsPartialFile(const std::string& path);

// Whether it is one of the partials that an input leads to. Of a folder: what may be a partial, so
// that damage is reported and other files are passed over.
Result<bool> MayBePartial(const InputFile& file);

// The bytes of a file that holds a partial. kIo, also where it changes while it is read.
Result<std::string> ReadPartialFile(const std::string& path);

}  // namespace borescope::internal
