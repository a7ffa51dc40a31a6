// How the public values are made from what is inside, and back. Internal to api/.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "borescope/answer.h"
#include "borescope/engine/partial/partial_data.h"
#include "borescope/engine/run_analyses.h"
#include "borescope/error.h"
#include "borescope/output.h"
#include "borescope/partial.h"
#include "borescope/progress.h"
#include "borescope/run.h"
#include "borescope/table.h"

namespace borescope {

struct TableAccess {
  // The table and what keeps it alive.
  static Table Make(std::shared_ptr<const internal::Table> table);
};

struct AnswerAccess {
  static Answer Make(internal::Answer answer);
  static Answer Make(internal::Document document);
  static const internal::Document& Inside(const Answer& answer);
};

struct PartialAccess {
  static Partial Make(internal::PartialData partial);
  static const internal::PartialData& Inside(const Partial& partial);
};

struct RunAccess {
  // What every question of this run has in common. The run must outlive it.
  static internal::RunOptions Common(const Run& run);
  static std::span<const std::string> Paths(const Run& run);
  // Which part of its files it has.
  static std::optional<internal::ShardMark> MarkOf(const Run& run);
};

// What `convert` makes of the value, or the error.
template <class T, class Convert>
auto Mapped(Result<T> result, Convert convert) -> Result<decltype(convert(std::move(*result)))> {
  if (!result.ok()) {
    return result.error();
  }
  return convert(std::move(*result));
}

std::vector<Diagnostic> PublicDiagnostics(std::span<const internal::DiagnosticRow> rows);
std::vector<FileInfo> PublicFiles(std::span<const internal::FileReport> files);

// The writer of the format; kInvalidArgument for an unknown one.
Result<const internal::TableWriter*> WriterOf(std::string_view format);

// The number of threads that `threads` of a public option means.
int ThreadsOf(int threads);
// A callback for the bytes of one file after the other; empty for an empty one.
std::function<void(uint64_t done, uint64_t total)> FileProgress(const ProgressCallback& progress);

// Lets `write` write to the output.
Result<void> WriteTo(const Output& output,
                     const std::function<Result<void>(internal::Sink&)>& write);

}  // namespace borescope
