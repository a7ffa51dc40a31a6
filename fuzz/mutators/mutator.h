// Changes to inputs that know what an input is made of: random bytes rarely get past a parser.
// libFuzzer (libfuzzer_glue.cc) and replay_main.cc call Mutate.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>

namespace fuzz {

// The same numbers everywhere, so that a test repeats.
class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}

  // From 0 to below `count`; 0 if that is 0.
  size_t Below(size_t count) { return count == 0 ? 0 : engine_() % count; }
  template <class List>
  const auto& Pick(const List& list) {
    return list[Below(std::size(list))];
  }

 private:
  std::minstd_rand engine_;
};

// Numbers at which fields of binary formats end, overflow or mean something else.
inline constexpr uint64_t kEdges[] = {
    0,          1,          2,          3,         7,          8,         0x7f,       0x80,
    0xff,       0x100,      0x7fff,     0x8000,    0xffff,     0x10000,   0x7fffffff, 0x80000000,
    0xffffffff, 1ULL << 32, 1ULL << 53, INT64_MAX, 1ULL << 63, UINT64_MAX};

// Each makes one or a few changes; any bytes are an input.
std::string MutateJson(std::string_view input, Random& random);
std::string MutateSql(std::string_view input, Random& random);
std::string MutateSqlite(std::string_view input, Random& random);
// Protocol Buffers without a schema: fields of a message and of those inside of it; lengths follow.
// `is_stream`: messages with their lengths, one after the other, as in .et.
std::string MutateProto(std::string_view input, bool is_stream, Random& random);
// Reports of Nsight Compute: the messages of its blocks; sizes follow.
std::string MutateReport(std::string_view input, Random& random);
// Logs of `borescope record`: records, chunks and their headers; sizes follow.
std::string MutateLog(std::string_view input, Random& random);

// Bytes below what compresses them and sums them up: gzip, zstd, the envelope of a
// partial. `packing` is how they were packed; what is packed again is as sound as before.
struct Unpacked {
  enum class Packing : uint8_t { kNone, kGzip, kZstd, kEnvelope };
  Packing packing = Packing::kNone;
  std::string head;     // of an envelope, before the frame
  std::string content;  // of what is not packed: the input
};
Unpacked Unpack(std::string_view input);
std::string Pack(const Unpacked& unpacked);

// `input` with one or a few changes, of the kind that it is made of.
std::string Mutate(std::string_view input, unsigned seed);

}  // namespace fuzz
