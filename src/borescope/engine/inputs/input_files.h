// From what the user named to the files of a run: globs and directories are expanded. Reads
// directories, and of files what shows that they are logs of one recording.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "borescope/base/io/byte_source.h"
#include "borescope/base/result.h"

namespace borescope::internal {

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
  // Shared by the files of a run, so that each capture is loaded once; nullptr: each loads its own.
  std::shared_ptr<CaptureStore> capture_store = nullptr;
  // The reports of counters of the run (FindCounters), which its files share; nullptr: none.
  std::shared_ptr<const CountersOfRun> counters = nullptr;
  bool tells_of_counters = false;  // what was odd in the reports counts as odd in this file
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
  // Which rank of a file that several inputs of the run share.
  std::optional<RankInFile> rank_in_file = {};
};

// The files behind `inputs`, each file once, in the order of the inputs; those of a directory (not
// of its subdirectories, hidden files excepted) or of a glob are sorted by name, numbers in names
// by value. A glob that matches folders alone names the files in these. A name that exists is never
// taken for a glob. Logs of one recording and rank are one file. kIo or
// kInvalidArgument names an input without any file.
Result<std::vector<InputFile>> ExpandInputs(std::span<const std::string> inputs);

// What to call the run these are: the name of the one file, or of its folder, or the first and how
// many more there are.
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

}  // namespace borescope::internal
