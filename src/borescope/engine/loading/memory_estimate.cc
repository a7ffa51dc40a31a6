#include "borescope/engine/loading/memory_estimate.h"

#include <algorithm>
#include <numeric>
#include <string_view>

#include "borescope/output/units/units.h"

namespace borescope::internal {
namespace {

// What a finished trace and its indexes take of the bytes of its file.
struct MemoryShare {
  double of_plain;
  double of_compressed;
};

// Of PyTorch profiler files 0.38 of the inflated text was measured. Compressed ones were seen to
// inflate to 15 to 29 times their size; the estimate takes more, as too few ranks in flight cost
// time, but too many the run.
constexpr MemoryShare kText = {0.4, 0.4 * 30.0};
// Of databases 1.7 (.rpd) and 1.8 (Nsight Systems) of the file; compressed ones, which are a third
// to a fifth, are held in memory as well while they are read.
constexpr MemoryShare kDatabase = {1.8, (1.8 + 1.0) * 5.0};

bool EndsWithAny(std::string_view name, std::span<const std::string_view> endings) {
  return std::any_of(endings.begin(), endings.end(),
                     [&](std::string_view ending) { return name.ends_with(ending); });
}

// Whether a file is a database or compressed is guessed from its name: this is an estimate, not a
// decision about content.
uint64_t EstimateBytes(const InputFile& file, double questions) {
  constexpr std::string_view kCompressed[] = {".gz", ".zst"};
  constexpr std::string_view kDatabases[] = {".rpd", ".sqlite", ".db", ".nvvp", ".nvprof"};
  std::string_view name = file.path;
  const bool is_compressed = EndsWithAny(name, kCompressed);
  name = is_compressed ? name.substr(0, name.rfind('.')) : name;
  const MemoryShare& share = EndsWithAny(name, kDatabases) ? kDatabase : kText;
  const double loaded = is_compressed ? share.of_compressed : share.of_plain;
  return static_cast<uint64_t>(static_cast<double>(file.bytes) * loaded * (1 + questions));
}

// What the questions take of a file, as a multiple of its trace; they may be asked at once.
double MemoryOf(std::span<const AnalysisSpec* const> questions) {
  return std::accumulate(questions.begin(), questions.end(), 0.0,
                         [](double sum, const AnalysisSpec* spec) { return sum + spec->memory; });
}

}  // namespace

Result<size_t> FilesInFlight(std::span<const InputFile> files,
                             std::span<const AnalysisSpec* const> questions, int threads,
                             uint64_t memory_limit) {
  const size_t wanted = std::min(files.size(), static_cast<size_t>(std::max(1, threads)));
  if (memory_limit == 0 || wanted == 0) {
    return wanted;
  }
  const double more = MemoryOf(questions);
  const auto largest =
      std::max_element(files.begin(), files.end(), [more](const InputFile& a, const InputFile& b) {
        return EstimateBytes(a, more) < EstimateBytes(b, more);
      });
  const uint64_t need = std::max<uint64_t>(1, EstimateBytes(*largest, more));
  if (need > memory_limit) {
    return Error{ErrorCode::kInvalidArgument, largest->path + ": needs about " + FormatBytes(need) +
                                                  ", more than --memory-limit " +
                                                  FormatBytes(memory_limit) +
                                                  "; raise the limit or profile fewer steps"};
  }
  return static_cast<size_t>(std::min<uint64_t>(wanted, memory_limit / need));
}

}  // namespace borescope::internal
