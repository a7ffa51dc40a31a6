// From what the user named to the files of a run: globs and directories are expanded. Reads
// directories, and of files what shows that they are logs of one recording.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/base/diagnostics.h"
#include "borescope/base/io/byte_source.h"
#include "borescope/base/result.h"

namespace borescope::internal {

// Which rank each file of a run is. Pure.

// What speaks for a file's rank.
struct RankClaim {
  std::optional<int64_t> recorded;  // distributedInfo in the file
  std::optional<int64_t> named;     // in the file name
  // Number of ranks of the job, as recorded; claims no rank.
  std::optional<int64_t> world_size = std::nullopt;

  std::optional<int64_t> best() const { return recorded.has_value() ? recorded : named; }
};

// "3", or "3..7".
std::string RangeText(int64_t first, int64_t last);

// The rank a file name speaks of ("rank-3.…", "rank_3", "rank3"), if it does.
std::optional<int64_t> RankFromFileName(std::string_view path);

// One distinct rank for every file, in the order of the files. The recorded rank counts before the
// one in the name; of two files with one rank the first keeps it. A file that is left without gets
// the number after the largest, or after the last rank of the job when its own is taken, so that it
// is not mistaken for a rank that is missing. Every such
// decision is counted in the file's own `diagnostics` (same length); a single file without a rank
// is rank 0 and nothing to mention.
std::vector<int64_t> AssignRanks(std::span<const RankClaim> claims,
                                 std::span<Diagnostics> diagnostics);

// Ranks of a job that are not among those loaded.
struct MissingRanks {
  uint64_t count = 0;
  std::string text;  // "6 of 8 ranks loaded; without 3, 5"
};

// Expected are the ranks 0 to world_size - 1; where that is not known (or less than what is there)
// the gaps between the loaded ones count. `loaded` are the ranks as claimed, distinct, in any
// order.
MissingRanks FindMissingRanks(std::span<const int64_t> loaded, std::optional<int64_t> world_size);

class CaptureStore;
struct CountersOfRun;
class TraceStore;

// One rank of a file that holds several (SplitRanks).
struct RankInFile {
  int64_t rank = 0;
  int64_t ranks = 0;       // of the file
  std::string label = {};  // of a merged Kineto trace: LoadOptions::rank_label
  // The processes of a profile that are ranks, and which of them this is. The first rank also has
  // the rows of all other processes.
  std::vector<int64_t> processes = {};

  // How the rank is called after the name of its file: " [TP00-DP00]", " [process 83]".
  std::string name = {};
  // Why the ranks of the file are not known, with which it is refused.
  std::optional<Error> refusal = {};
};

struct InputFile {
  std::string path;             // as the user named it, or below the directory he named; "-"
  bool from_directory = false;  // found, not named: silently skipped if it is no trace at all
  uint64_t bytes = 0;           // as stored; 0 when unknown
  // Files in which graphs that this one launches may have been captured: FindCaptures.
  std::vector<std::string> captures = {};
  bool captures_are_named = false;  // by the user: one of them must hold a capture
  // What keeps from searching captures beside the file, which nobody named; empty: nothing does.
  std::string captures_failure = {};
  // Shared by the files of a run, so that each capture is loaded once; nullptr: each loads its own.
  std::shared_ptr<CaptureStore> capture_store = nullptr;
  // The reports of counters of the run (FindCounters), which its files share; nullptr: none.
  std::shared_ptr<const CountersOfRun> counters = nullptr;
  // Which rank's counters it takes, where other files of the run decide which rank it is.
  std::optional<int64_t> counters_rank = {};
  // Where indexed traces are kept as files; nullptr: nowhere (docs/use/cache.md).
  std::shared_ptr<TraceStore> store = nullptr;
  // Why there is no store, where there should be one; empty: nothing is wrong.
  std::string store_failure = {};
  // Where the bytes come from if not from the file at `path`, which then is a name for messages:
  // opens them again at each call.
  std::function<Result<std::unique_ptr<ByteSource>>()> content = nullptr;
  // Which content the input has now, where somebody else knows: Source::identity.
  std::function<Result<std::string>()> identity = nullptr;
  // The logs of the processes of a recording of borescope record, of which `path` is the first.
  std::vector<std::string> logs = {};
  // The files of counters that rocprofv3 made of one run, for each process and pass, of which
  // `path` is the first; empty: `path` alone.
  std::vector<std::string> passes = {};
  // Which rank of a file that several inputs of the run share.
  std::optional<RankInFile> rank_in_file = {};
};

// The files behind `inputs`, each file once, in the order of the inputs; those of a directory (not
// of its subdirectories, hidden files excepted) or of a glob are sorted by name, numbers in names
// by value. A glob that matches folders alone names the files in these. A name that exists is never
// taken for a glob. Logs of one recording and rank are one file. kIo or
// kInvalidArgument names an input without any file.
Result<std::vector<InputFile>> ExpandInputs(std::span<const std::string> inputs);

// What to call the run these are: the name of the one file, or of its folder, or the first by name
// and how many more there are. The order of the files does not matter.
std::string NameOfRun(std::span<const InputFile> files);

// "rank2" before "rank10": digits compare as numbers, all else as bytes.
bool NaturalLess(std::string_view a, std::string_view b);

// The logs of a recording of borescope record, one a process, become one input for each rank.

// `files` with those that are logs of one folder, host and rank made one, at the place of the first
// of them: its `logs` are all of them in the order of their start, each once. The launcher's log
// belongs to the processes without a rank, or to the first rank of its host. Other files of a
// folder with logs are left out, unless the user named them; its page of control always. Reads the
// first bytes of every file; kIo if the system cannot tell.
Result<std::vector<InputFile>> GroupRecordings(std::vector<InputFile> files);

// Files that hold the recordings of several ranks, each of which becomes an input of the run:
// Kineto traces that were merged into one, exports of Nsight Systems of a job whose processes are
// its ranks, and reports of counters of several processes.

// The inputs, in their order, with one for each rank in place of a file with several. Of an
// ordinary file its begin is read; of a database a table with a row for each context of the device.
// A file whose ranks cannot be distinguished, or read, has RankInFile::refusal. Streams and
// contents in memory stay as they are. Reports of counters beside traces are left out, or refused
// where the user named them.
std::vector<InputFile> SplitRanks(std::vector<InputFile> files);

// Makes `file` an input that is not loaded: `reason` is its error.
void RefuseFile(const Error& reason, InputFile& file);

}  // namespace borescope::internal
