#include "borescope/ingest/ncu/forward_bytes.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "borescope/base/stop.h"

namespace borescope::internal {
namespace {

class StoredForward : public ForwardBytes {
 public:
  explicit StoredForward(StoredBytes bytes) : bytes_(std::move(bytes)) {}

  std::optional<std::string_view> Take(uint64_t count) override {
    if (count > bytes_.size() - at_) {
      return std::nullopt;
    }
    const unsigned char* const begin = bytes_.Read(at_, count, buffer_);
    if (begin == nullptr && count > 0) {
      error_ =
          Error{.code = ErrorCode::kIo,
                .cause = "it cannot be read, or is shorter than it was when it was opened",
                .remedy = "check its disk, or wait until the program that writes it has finished"};
      return std::nullopt;
    }
    at_ += count;
    return std::string_view(reinterpret_cast<const char*>(begin), count);  // NOLINT: bytes
  }
  bool Skip(uint64_t count) override {
    const bool is_there = count <= bytes_.size() - at_;
    at_ = is_there ? at_ + count : bytes_.size();
    return is_there;
  }
  bool AtEnd() override { return at_ == bytes_.size(); }
  std::optional<Error> error() const override { return error_; }

 private:
  StoredBytes bytes_;
  std::vector<unsigned char> buffer_;
  uint64_t at_ = 0;
  std::optional<Error> error_;
};

class StreamForward : public ForwardBytes {
 public:
  explicit StreamForward(ByteSource& source) : source_(source) {}

  std::optional<std::string_view> Take(uint64_t count) override {
    taken_.clear();
    while (taken_.size() < count && Fill()) {
      const size_t some = std::min<uint64_t>(count - taken_.size(), end_ - at_);
      taken_.append(piece_, at_, some);
      at_ += some;
    }
    return taken_.size() == count ? std::optional<std::string_view>(taken_) : std::nullopt;
  }
  bool Skip(uint64_t count) override {
    while (count > 0 && Fill()) {
      const uint64_t some = std::min<uint64_t>(count, end_ - at_);
      at_ += some;
      count -= some;
    }
    return count == 0;
  }
  bool AtEnd() override { return !Fill(); }
  std::optional<Error> error() const override { return error_; }

 private:
  // Whether there is a byte in `piece_`, after reading more if it is used up.
  bool Fill() {
    if (at_ < end_) {
      return true;
    }
    if (error_.has_value()) {
      return false;
    }
    CheckStop();
    constexpr size_t kPieceBytes = size_t{1} << 18;
    piece_.resize(kPieceBytes);
    const Result<size_t> read = source_.Read(piece_.data(), piece_.size());
    if (!read.ok()) {
      error_ = read.error();
    }
    at_ = 0;
    end_ = read.ok() ? *read : 0;
    return end_ > 0;
  }

  ByteSource& source_;
  std::string piece_;
  size_t at_ = 0;
  size_t end_ = 0;
  std::string taken_;
  std::optional<Error> error_;
};

}  // namespace

std::unique_ptr<ForwardBytes> OpenForward(StoredBytes bytes) {
  return std::make_unique<StoredForward>(std::move(bytes));
}
std::unique_ptr<ForwardBytes> OpenForward(ByteSource& source) {
  return std::make_unique<StreamForward>(source);
}

}  // namespace borescope::internal
