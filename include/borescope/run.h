// Run: the recordings of one job, opened once and asked many times.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/answer.h"
#include "borescope/error.h"
#include "borescope/export.h"
#include "borescope/output.h"
#include "borescope/partial.h"
#include "borescope/progress.h"
#include "borescope/query.h"
#include "borescope/question.h"

namespace borescope {

// Yields the bytes of one recording from front to back. Used by one thread at a time.
class BORESCOPE_EXPORT Reader {
 public:
  virtual ~Reader();
  // Reads up to `capacity` bytes into `out`; 0 means the end. May return fewer than asked for.
  virtual Result<size_t> Read(char* out, size_t capacity) = 0;
};

// Where recordings come from. A plain value.
struct Source {
  // A file, a folder of one file a rank, or a glob.
  Source(std::string path_of_files)  // NOLINT(google-explicit-constructor)
      : path(std::move(path_of_files)) {}
  Source(const char* path_of_files)  // NOLINT(google-explicit-constructor)
      : path(path_of_files) {}
  // One recording in memory; `name` represents it in messages and may say the rank ("rank-3.json").
  static Source Memory(std::string name, std::shared_ptr<const std::string> bytes);
  // One recording that `open` yields, once for each time it is loaded. `identity` as below.
  static Source Stream(std::string name, std::function<Result<std::unique_ptr<Reader>>()> open,
                       std::function<Result<std::string>()> identity = nullptr);

  std::string path;
  std::shared_ptr<const std::string> bytes = nullptr;
  std::function<Result<std::unique_ptr<Reader>>()> open = nullptr;
  // Which content a stream, or one file, has now, by which it is found in the cache
  // (OpenOptions::cache) without reading it: a text that is never that of other bytes, such as the
  // address and version of an object. An error says why nobody knows, and becomes
  // FileInfo::cache_failure. Asked from any thread before a load, and once more after it: what
  // changed meanwhile is not kept. Nothing: a stream is not kept, and a file by its content.
  std::function<Result<std::string>()> identity = nullptr;
};

struct OpenOptions {
  int threads = 0;            // 0: one per processor
  uint64_t memory_limit = 0;  // bytes the process may take more while it loads; 0: none
  // Bytes of loaded traces that are kept between questions; the least recently used go first. 0
  // keeps none.
  uint64_t keep_bytes = uint64_t{4} << 30;
  // Recordings in which the graphs that the sources launch were captured: files, folders or globs.
  // Empty: those next to a source that are called captures (docs/use/captures.md).
  std::vector<std::string> captures = {};
  // Reports of hardware counters that another run of the same program measured (Nsight Compute,
  // rocprofv3): files, folders or globs, each "PATH" for every rank or "RANK=PATH" for one
  // (docs/use/counters.md). Their kernels are matched with those of the recordings.
  std::vector<std::string> counters = {};
  // Whether reports of another model of device are taken, for their counts alone; else an error.
  bool counters_anyway = false;
  // Only this part of the files, which may be none; nothing: all. The rest is asked elsewhere.
  std::optional<Shard> shard = {};
  // Whether a source that names no file is one that could not be loaded, with FileInfo::error, and
  // the run consists of the others; else Open fails.
  bool allow_missing = false;
  bool saved = false;  // the sources are files that the parameter `save` wrote, not recordings
  // A folder, made where it is missing, in which indexed traces are kept as files, so that the next
  // process that asks about the same content need not read it again; empty: none
  // (docs/use/cache.md). Answers are the same with and without it.
  std::string cache = {};
  // What the files in it may take together, in bytes; those that were used longest ago go first.
  uint64_t cache_bytes = uint64_t{10} << 30;
  // Whether there is no cache where its folder cannot be used, which FileInfo::cache_failure then
  // reports for every file; else that is an error.
  bool cache_is_optional = false;
  // Whether the cache is only for sources with an identity (Source::identity): files are read.
  bool cache_needs_identity = false;
  ProgressCallback progress = {};
  StopToken stop = {};  // ends what the run is doing, progress.h
};

// Whether the folder of a cache (OpenOptions::cache) has an indexed trace of the content of this
// identity (Source::identity), which may still turn out to be damaged. Makes no folder. False where
// the folder cannot be used.
BORESCOPE_EXPORT bool IsInCache(const std::string& folder, const std::string& identity);

// Where an answer will be written. What cannot be written there is refused before anything is read:
// a path that leads to an input, to a directory, or to another file that the question writes.
struct Destination {
  std::string format = {};  // for a format that draws, what is drawn is asked for, too
  std::string path = {};    // empty: no file
};

// kInvalidArgument for what Run::Ask refuses of the question, whatever the recordings.
BORESCOPE_EXPORT Result<void> CheckQuestion(const Question& question);

// What Run::MapInto left in a folder.
struct PartFile {
  std::string path;
  bool was_kept = false;  // it was there
  uint64_t bytes = 0;
  size_t files = 0;                      // of whose answers it holds
  size_t loaded = 0;                     // of these, those that could be loaded
  std::vector<std::string> load_errors;  // as Partial::load_errors
};

// Safe to ask from several threads at once: a recording is loaded once, however many ask.
class BORESCOPE_EXPORT Run {
 public:
  // Finds the files; reads none of them yet. kIo or kInvalidArgument for a source without a file
  // (but see OpenOptions::allow_missing).
  static Result<Run> Open(std::span<const Source> sources, const OpenOptions& options = {});
  static Result<Run> Open(std::initializer_list<Source> sources, const OpenOptions& options = {});

  Run(Run&&) noexcept;
  Run& operator=(Run&&) noexcept;
  ~Run();

  // A second handle on the same recordings, those that are kept included. Its questions are stopped
  // by a token of their own, and report to a callback of their own: a program that stops one
  // question goes on to ask others without loading anything again.
  Run Share(StopToken stop, ProgressCallback progress = {}) const;

  // The files that were found, in order.
  std::vector<std::string> paths() const;

  // A run of some of these files, by their numbers in paths(): what one of many processes maps. Its
  // partial joins with those of the other files as if their folder had been divided. It keeps what
  // it loads by a budget of its own, `keep_bytes`. kInvalidArgument where a number is that of no
  // file, or none is given.
  Result<Run> Only(std::span<const size_t> files, uint64_t keep_bytes) const;

  // Answers the verbs of the question by one load. Errors:
  //   kInvalidArgument  an unknown verb or parameter, a bad value, a rank that does not exist
  //   kMissingData      no rank holds what the verb needs; the hint names the profiler's option
  //   kCancelled        a stop was requested
  //   else              no file could be loaded
  // A file that fails while others do not is reported by Answer::files() and diagnostics().
  Result<Answer> Ask(const Question& question, const Destination& destination = {}) const;

  // What changed from this run to `test`, by a verb that compares two ("diff").
  Result<Answer> Compare(const Run& test, const Question& question,
                         const Destination& destination = {}) const;

  // A table for every statement of `sql`, over everything that was recorded. Several questions are
  // cheaper in a QuerySession.
  Result<Answer> Query(std::string_view sql, const SqlParameters& parameters = {}) const;

  // Writes one self-contained HTML page with the answers of all verbs (docs/use/report.md), and of
  // what changed since the run `against`, if any. The question has the verb "report", and
  // parameters that select, `top`, `timeline` and `plain_step`. Returns the files of both. An
  // output that is an input is refused.
  Result<std::vector<FileInfo>> Report(const Output& output, const Question& question = "report",
                                       const Run* against = nullptr) const;
  // The same in any of these forms, by one load. kInvalidArgument where none is asked for, where
  // two are to be the same file, or where pictures of the kind cannot be drawn here.
  Result<std::vector<FileInfo>> WriteReport(const ReportOutputs& outputs,
                                            const Question& question = "report",
                                            const Run* against = nullptr) const;

  // The part of an answer that these files give, to be reduced elsewhere. The verb "report", alone,
  // is the question of Run::Report (see ReportOf). An error where the file `destination` is an
  // input.
  Result<Partial> Map(const Question& question, const std::string& destination = {}) const;

  // The same, written to a file of the folder, which is made where it is missing:
  // 00003-of-00064.part for part 3 of 64 (OpenOptions::shard). A file that is there and holds the
  // answer of this version to this question is kept, unless `again` is set: where its
  // traces are as large as they were, and were last written before it was. So a job that was
  // interrupted goes on where it was.
  Result<PartFile> MapInto(const std::string& folder, const Question& question,
                           bool again = false) const;

  // Bytes of the loaded traces that are kept now.
  uint64_t kept_bytes() const;
  // Lets go of them; the next question loads again.
  void Forget();

 private:
  friend struct RunAccess;
  struct State;
  explicit Run(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// Whether reports have charts: those of a build without node are plain tables.
BORESCOPE_EXPORT bool HasReportCharts();

}  // namespace borescope
