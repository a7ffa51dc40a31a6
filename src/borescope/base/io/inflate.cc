#include "borescope/base/io/inflate.h"

#include <isa-l/igzip_lib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <new>
#include <string>
#include <vector>

namespace borescope::internal {
namespace {

constexpr size_t kStoredBlock = 256 * 1024;

// A source whose first bytes were already read for sniffing.
class PrefixedSource : public ByteSource {
 public:
  PrefixedSource(std::string prefix, std::unique_ptr<ByteSource> rest)
      : prefix_(std::move(prefix)), rest_(std::move(rest)) {}

  Result<size_t> Read(char* out, size_t capacity) override {
    if (used_ == prefix_.size()) {
      return rest_->Read(out, capacity);
    }
    const size_t size = std::min(capacity, prefix_.size() - used_);
    std::memcpy(out, prefix_.data() + used_, size);
    used_ += size;
    return size;
  }

  uint64_t stored_bytes() const override { return rest_->stored_bytes(); }
  uint64_t stored_total() const override { return rest_->stored_total(); }

 private:
  std::string prefix_;
  size_t used_ = 0;
  std::unique_ptr<ByteSource> rest_;
};

// Reads blocks of the stored stream; shared by both inflaters.
class StoredBlocks {
 public:
  explicit StoredBlocks(std::unique_ptr<ByteSource> source)
      : source_(std::move(source)), block_(kStoredBlock) {}

  // Reads the next block; false at the end of the file.
  Result<bool> Next() {
    BS_ASSIGN(size_, source_->Read(block_.data(), block_.size()));
    return size_ != 0;
  }
  char* data() { return block_.data(); }
  size_t size() const { return size_; }
  const ByteSource& source() const { return *source_; }

 private:
  std::unique_ptr<ByteSource> source_;
  std::vector<char> block_;
  size_t size_ = 0;
};

class GzipSource : public InflatingSource {
 public:
  explicit GzipSource(std::unique_ptr<ByteSource> source) : stored_(std::move(source)) {
    StartMember();
  }

  Result<size_t> Read(char* out, size_t capacity) override {
    const auto limit = static_cast<uint32_t>(std::min<size_t>(capacity, size_t{1} << 30));
    state_.next_out = reinterpret_cast<uint8_t*>(out);
    state_.avail_out = limit;
    while (state_.avail_out == limit && !done_) {
      BS_TRY(Step());
    }
    return size_t{limit} - state_.avail_out;
  }

  uint64_t stored_bytes() const override { return stored_.source().stored_bytes(); }
  uint64_t stored_total() const override { return stored_.source().stored_total(); }
  std::string_view damage() const override { return damage_; }
  uint64_t gzip_members() const override { return members_; }

 private:
  void StartMember() {
    const uint8_t* next_in = state_.next_in;
    const uint32_t avail_in = state_.avail_in;
    uint8_t* next_out = state_.next_out;
    const uint32_t avail_out = state_.avail_out;
    isal_inflate_init(&state_);
    state_.crc_flag = ISAL_GZIP;
    state_.next_in = const_cast<uint8_t*>(next_in);
    state_.avail_in = avail_in;
    state_.next_out = next_out;
    state_.avail_out = avail_out;
    in_member_ = false;
  }

  // Inflates once, refilling the input or starting the next member as needed.
  Result<void> Step() {
    if (state_.avail_in == 0 && !end_of_file_) {
      BS_ASSIGN(const bool more, stored_.Next());
      end_of_file_ = !more;
      state_.next_in = reinterpret_cast<uint8_t*>(stored_.data());
      state_.avail_in = static_cast<uint32_t>(stored_.size());
    }
    if (!in_member_ && !EnterMember()) {
      return {};
    }
    // Even without new input the inflater may have buffered bits and output.
    const uint32_t room = state_.avail_out;
    if (const int status = isal_inflate(&state_); status != ISAL_DECOMP_OK) {
      Stop("gzip stream is damaged");
    } else if (state_.block_state == ISAL_BLOCK_FINISH) {
      StartMember();
      members_ += 1;
    } else if (end_of_file_ && state_.avail_in == 0 && state_.avail_out == room) {
      Stop("gzip stream ends early");
    }
    return {};
  }

  // Zero padding after a member ends the stream silently; anything else except a new member is
  // reported.
  bool EnterMember() {
    in_member_ = state_.avail_in != 0 && (members_ == 0 || *state_.next_in == 0x1f);
    if (!in_member_) {
      Stop(state_.avail_in == 0 || *state_.next_in == 0 ? "" : "bytes after the gzip stream");
    }
    return in_member_;
  }

  void Stop(std::string_view damage) {
    done_ = true;
    if (!damage.empty()) {
      damage_ = std::string(damage) + " at stored byte " +
                std::to_string(stored_bytes() - state_.avail_in);
    }
  }

  StoredBlocks stored_;
  inflate_state state_{};
  uint64_t members_ = 0;
  bool in_member_ = false;
  bool end_of_file_ = false;
  bool done_ = false;
  std::string damage_;
};

// Bounds the memory that a hostile header can request: 128 MiB, zstd's own default.
constexpr int kWindowLog = 27;
class ZstdSource : public InflatingSource {
 public:
  explicit ZstdSource(std::unique_ptr<ByteSource> source)
      : stored_(std::move(source)), stream_(ZSTD_createDStream(), &ZSTD_freeDStream) {
    if (stream_ == nullptr) throw std::bad_alloc();
    ZSTD_DCtx_setParameter(stream_.get(), ZSTD_d_windowLogMax, kWindowLog);
  }

  Result<size_t> Read(char* out, size_t capacity) override {
    ZSTD_outBuffer output{out, capacity, 0};
    while (output.pos == 0 && !done_) {
      if (input_.pos == input_.size) {
        BS_ASSIGN(const bool more, stored_.Next());
        if (!more) {
          Stop(pending_ != 0 ? "zstd stream ends early" : "");
          break;
        }
        input_ = {stored_.data(), stored_.size(), 0};
      }
      pending_ = ZSTD_decompressStream(stream_.get(), &output, &input_);
      if (ZSTD_getErrorCode(pending_) == ZSTD_error_memory_allocation) throw std::bad_alloc();
      if (ZSTD_getErrorCode(pending_) == ZSTD_error_frameParameter_windowTooLarge) {
        done_ = true;
        return Error{
            ErrorCode::kUnsupportedFormat,
            "it was compressed with a zstd window of more than 128 MiB, for which zstd "
            "needs its option --long=31",
            "decompress it: zstd -d --long=31 FILE, or zstd -dc --long=31 FILE | borescope "
            "VERB -"};
      }
      if (ZSTD_isError(pending_) != 0) {
        Stop("zstd stream is damaged");
      }
    }
    return output.pos;
  }

  uint64_t stored_bytes() const override { return stored_.source().stored_bytes(); }
  uint64_t stored_total() const override { return stored_.source().stored_total(); }
  std::string_view damage() const override { return damage_; }
  uint64_t gzip_members() const override { return 0; }

 private:
  void Stop(std::string_view damage) {
    done_ = true;
    if (!damage.empty()) {
      damage_ = std::string(damage) + " at stored byte " +
                std::to_string(stored_bytes() - (input_.size - input_.pos));
    }
  }

  StoredBlocks stored_;
  std::unique_ptr<ZSTD_DStream, size_t (*)(ZSTD_DStream*)> stream_;
  ZSTD_inBuffer input_{nullptr, 0, 0};
  size_t pending_ = 0;
  bool done_ = false;
  std::string damage_;
};

template <class Source>
OpenedSource Inflate(std::unique_ptr<ByteSource> source) {
  auto inflating = std::make_unique<Source>(std::move(source));
  const InflatingSource* view = inflating.get();
  return {std::move(inflating), view};
}

// Other compression formats, to be named in the error.
Result<void> CheckKind(std::string_view prefix) {
  constexpr std::string_view kUnread[][2] = {{"\xfd"
                                              "7zX",
                                              "xz"},
                                             {"BZh", "bzip2"},
                                             {"\x04\x22\x4d\x18", "lz4"}};
  for (const auto& [magic, tool] : kUnread) {
    if (prefix.starts_with(magic)) {
      return Error{.code = ErrorCode::kUnsupportedFormat,
                   .cause = "this is compressed by " + std::string(tool),
                   .remedy = "unpack it (" + std::string(tool) + " -d), or pack it as .gz or .zst",
                   .offset = 0};
    }
  }
  return {};
}

}  // namespace

Result<OpenedSource> InflateIfCompressed(std::unique_ptr<ByteSource> source) {
  std::array<char, 4> magic{};
  BS_ASSIGN(const size_t size, ReadFully(*source, magic.data(), magic.size()));
  const std::string prefix(magic.data(), size);
  BS_TRY(CheckKind(prefix));
  auto whole = std::make_unique<PrefixedSource>(prefix, std::move(source));
  if (prefix.starts_with("\x1f\x8b")) {
    return Inflate<GzipSource>(std::move(whole));
  }
  // A zstd file may start with a skippable frame (0x184d2a50 to 5f), as pzstd's do.
  const bool is_skippable =
      prefix.size() == 4 && (prefix[0] & 0xf0) == 0x50 && prefix.substr(1) == "\x2a\x4d\x18";
  if (prefix == "\x28\xb5\x2f\xfd" || is_skippable) {
    return Inflate<ZstdSource>(std::move(whole));
  }
  return OpenedSource{std::move(whole), nullptr};
}

Result<OpenedSource> OpenInflated(const std::string& path) {
  BS_ASSIGN(std::unique_ptr<ByteSource> source, OpenFile(path));
  return InFile(path == "-" ? "standard input" : path, InflateIfCompressed(std::move(source)));
}

}  // namespace borescope::internal
