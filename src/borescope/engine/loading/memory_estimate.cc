#include "borescope/engine/loading/memory_estimate.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "borescope/output/units/units.h"

namespace borescope::internal {
namespace {

// What a finished trace and its indexes take of the bytes of its file.
struct MemoryShare {
  double usual;
  double least;         // columns and all
  double least_beside;  // what cannot be in files: texts, and what reading needs
};

// For files of PyTorch's profiler 0.38 of the text was measured. Compressed files inflate to 15 to
// 29 times their size; the usual value is set higher, as too few ranks in flight cost time, but too
// many cost the run. The least is far below what was measured, so that it refuses only what is
// certainly too large.
constexpr MemoryShare kText = {0.4, 0.05, 0.002};
constexpr MemoryShare kCompressedText = {0.4 * 30.0, 0.05 * 5.0, 0.002 * 5.0};
// For databases 1.7 (.rpd) and 1.8 (Nsight Systems) times the file were measured. Compressed ones,
// which are a third to a fifth as large, are also held in memory while they are read.
constexpr MemoryShare kDatabase = {1.8, 0.1, 0.01};
constexpr MemoryShare kCompressedDatabase = {(1.8 + 1.0) * 5.0, 1.0, 1.0};

constexpr std::string_view kRemedy = "raise the limit or profile fewer steps";

bool EndsWithAny(std::string_view name, std::span<const std::string_view> endings) {
  return std::any_of(endings.begin(), endings.end(),
                     [&](std::string_view ending) { return name.ends_with(ending); });
}

// Whether a file is a database or compressed is guessed from its name: this is an estimate, not a
// decision about content.
const MemoryShare& ShareOf(const InputFile& file) {
  constexpr std::string_view kCompressed[] = {".gz", ".zst"};
  constexpr std::string_view kDatabases[] = {".rpd", ".sqlite", ".db", ".nvvp", ".nvprof"};
  std::string_view name = file.path;
  const bool is_compressed = EndsWithAny(name, kCompressed);
  name = is_compressed ? name.substr(0, name.rfind('.')) : name;
  if (EndsWithAny(name, kDatabases)) {
    return is_compressed ? kCompressedDatabase : kDatabase;
  }
  return is_compressed ? kCompressedText : kText;
}

uint64_t EstimateBytes(const InputFile& file, double questions) {
  return static_cast<uint64_t>(static_cast<double>(file.bytes) * ShareOf(file).usual *
                               (1 + questions));
}

uint64_t ShareOfBytes(const InputFile& file, double share) {
  return static_cast<uint64_t>(static_cast<double>(file.bytes) * share);
}

// Whether the least that the file may take has no place in memory and temporary files.
bool CannotFit(const InputFile& file, const MemoryRoom& room) {
  const MemoryShare& share = ShareOf(file);
  const uint64_t least = ShareOfBytes(file, share.least);
  return least > room.limit && (least - room.limit > room.disk_bytes ||
                                ShareOfBytes(file, share.least_beside) > room.limit);
}

Error TooLarge(const InputFile& file, uint64_t need, const MemoryRoom& room) {
  std::string text = fmt::format("needs about {}, more than `memory_limit` {}", FormatBytes(need),
                                 FormatBytes(room.limit));
  if (room.disk_bytes != 0) {
    text += fmt::format(" and {} for temporary files, which TMPDIR can put on another disk",
                        FormatBytes(room.disk_bytes));
  }
  return {.code = ErrorCode::kInvalidArgument,
          .cause = std::move(text),
          .remedy = std::string(kRemedy),
          .file = file.path,
          .parameter = "memory_limit"};
}

// What the questions take of a file, as a multiple of its trace; they may be asked at once, but for
// those with something dear, which under a limit are asked one after the other.
double MemoryOf(std::span<const AnalysisSpec* const> questions) {
  double sum = 0;
  double dearest = 0;
  for (const AnalysisSpec* spec : questions) {
    sum += spec->dear == nullptr ? spec->memory : 0;
    dearest = std::max(dearest, spec->dear == nullptr ? 0 : spec->memory);
  }
  return sum + dearest;
}

}  // namespace

Result<size_t> FilesInFlight(std::span<const InputFile> files,
                             std::span<const AnalysisSpec* const> questions, int threads,
                             const MemoryRoom& room) {
  const size_t wanted = std::min(files.size(), static_cast<size_t>(std::max(1, threads)));
  if (room.limit == 0 || wanted == 0) {
    return wanted;
  }
  const double more = MemoryOf(questions);
  const auto largest =
      std::max_element(files.begin(), files.end(), [more](const InputFile& a, const InputFile& b) {
        return EstimateBytes(a, more) < EstimateBytes(b, more);
      });
  const uint64_t need = std::max<uint64_t>(1, EstimateBytes(*largest, more));
  if (CannotFit(*largest, room)) {
    return TooLarge(*largest, need, room);
  }
  return static_cast<size_t>(std::clamp<uint64_t>(room.limit / need, 1, wanted));
}

// What is needed follows from how much of the file was read; of a small part, buffers and stacks of
// threads are more than what will be kept.
Error MemoryLimitReached(const InputFile& file, const MemoryLimit& limit, uint64_t done_bytes) {
  constexpr double kEnough = 0.25;
  const double share =
      file.bytes == 0 ? 0 : static_cast<double>(done_bytes) / static_cast<double>(file.bytes);
  std::string how_far = "once it was read";
  if (done_bytes < file.bytes) {
    how_far = fmt::format("after {:.0f} % of the file", 100 * share);
  }
  if (done_bytes < file.bytes && share >= kEnough) {
    const double need = static_cast<double>(std::max(limit.taken(), limit.bytes())) / share;
    how_far += fmt::format("; about {} are needed", FormatBytes(static_cast<uint64_t>(need)));
  }
  const auto disk = limit.spill() == nullptr ? std::nullopt : limit.spill()->failure();
  return {.code = ErrorCode::kInvalidArgument,
          .cause = fmt::format("loading needs more than `memory_limit` {}, which was reached {}{}",
                               FormatBytes(limit.bytes()), how_far,
                               disk.has_value() ? "; " + *disk : ""),
          .remedy = std::string(kRemedy),
          .file = file.path,
          .parameter = "memory_limit"};
}

}  // namespace borescope::internal
