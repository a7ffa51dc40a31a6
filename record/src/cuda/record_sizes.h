// How long CUPTI's records of each kind are. A version of CUPTI has one length for each, which it
// does not tell, but shows by stepping from one record to the next. Once it is known, buffers are
// read without asking CUPTI for every record, in which it may hold up the program's threads.
#pragma once

#include <cstddef>
#include <cstdint>

namespace borescope::inject::cuda {

class RecordSizes {
 public:
  // CUPTI stepped over a record of this kind by so many bytes. Kinds whose records differ are
  // never stepped over again.
  void Learn(uint32_t kind, size_t bytes) {
    if (kind >= kKinds || bytes > kMostBytes) return;
    uint16_t& known = sizes_[kind];
    known = known == 0 || known == bytes ? static_cast<uint16_t>(bytes) : kDiffers;
  }

  // The next buffer may be read by steps: enough were seen, and this is none of those that are
  // read with CUPTI to see that it still agrees.
  bool IsStepped() {
    ++buffers_;
    return buffers_ > kLearned && buffers_ % kCheckEvery != 0;
  }

  // The length of a record; 0: unknown.
  size_t Of(uint32_t kind) const {
    return kind >= kKinds || sizes_[kind] == kDiffers ? 0 : sizes_[kind];
  }

  // Whether steps of known lengths lead from the begin to the very end.
  bool LeadToEnd(const uint8_t* records, size_t bytes) const;

 private:
  static constexpr uint32_t kKinds = 128;
  static constexpr size_t kMostBytes = 4096;
  static constexpr uint16_t kDiffers = 0xffff;
  static constexpr uint64_t kLearned = 4;
  static constexpr uint64_t kCheckEvery = 64;

  uint16_t sizes_[kKinds] = {};
  uint64_t buffers_ = 0;
};

}  // namespace borescope::inject::cuda
