// Which mutator an input is for, by what it begins with.

#include "mutator.h"

#include <algorithm>

namespace fuzz {
namespace {

constexpr std::string_view kSqliteBegin = "SQLite format 3";
constexpr std::string_view kReportBegin("NVR\0", 4);
constexpr std::string_view kLogBegin = "BSRLOG1\n";

bool IsJson(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r\n");
  return begin != std::string_view::npos && (text[begin] == '{' || text[begin] == '[');
}

bool IsSql(std::string_view text) {
  return text.starts_with("CREATE ") || text.starts_with("INSERT ");
}

// Whether all of it is messages with their lengths before them.
bool IsStream(std::string_view bytes) {
  bool has_message = false;
  while (!bytes.empty()) {
    uint64_t length = 0;
    size_t at = 0;
    for (; at < bytes.size() && at < 9; ++at) {
      const auto byte = static_cast<uint8_t>(bytes[at]);
      length |= static_cast<uint64_t>(byte & 0x7f) << (7 * at);
      if (byte < 0x80) {
        break;
      }
    }
    if (at + 1 > bytes.size() || length > bytes.size() - at - 1) {
      return false;
    }
    has_message = true;
    bytes.remove_prefix(at + 1 + static_cast<size_t>(length));
  }
  return has_message;
}

// A text whose first line says which reader it is for (fuzz_texts): that stays.
bool HasReaderLine(std::string_view text) {
  const size_t end = text.find('\n');
  return end != std::string_view::npos && end > 0 && end < 16 &&
         std::all_of(
             text.begin(), text.begin() + static_cast<std::ptrdiff_t>(end),
             [](char c) { return c >= 'a' && c <= 'z'; });
}

std::string MutateContent(std::string_view input, bool is_envelope, Random& random) {
  if (is_envelope) {
    return MutateProto(input, false, random);
  }
  if (input.starts_with(kSqliteBegin)) {
    return MutateSqlite(input, random);
  }
  if (input.starts_with(kReportBegin)) {
    return MutateReport(input, random);
  }
  if (input.starts_with(kLogBegin)) {
    return MutateLog(input, random);
  }
  if (IsSql(input)) {
    return MutateSql(input, random);
  }
  if (HasReaderLine(input)) {
    const size_t text = input.find('\n') + 1;
    return std::string(input.substr(0, text)) + MutateJson(input.substr(text), random);
  }
  return IsJson(input) ? MutateJson(input, random) : MutateProto(input, IsStream(input), random);
}

}  // namespace

std::string Mutate(std::string_view input, unsigned seed) {
  Random random(seed);
  Unpacked unpacked = Unpack(input);
  const bool is_envelope = unpacked.packing == Unpacked::Packing::kEnvelope;
  unpacked.content = MutateContent(unpacked.content, is_envelope, random);
  return Pack(unpacked);
}

}  // namespace fuzz
