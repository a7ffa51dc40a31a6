// What is inside the public handles Table, Answer and Run, for the rooms that implement
// what the public headers declare.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "borescope/answer.h"
#include "borescope/engine/inputs/shards.h"
#include "borescope/engine/run_analyses.h"
#include "borescope/error.h"
#include "borescope/output.h"
#include "borescope/output/writer.h"
#include "borescope/progress.h"
#include "borescope/run.h"
#include "borescope/table.h"

namespace borescope {

struct TableAccess {
  // The table and what keeps it alive.
  static Table Make(std::shared_ptr<const internal::Table> table);
};

struct AnswerAccess {
  static Answer Make(internal::AnswerData answer);
  static Answer Make(internal::Document document);
  static const internal::Document& Inside(const Answer& answer);
};

struct RunAccess {
  // What every question of this run has in common. The run must outlive it.
  static internal::RunOptions Common(const Run& run);
  static std::span<const std::string> Paths(const Run& run);
  // Which part of its files it has.
  static std::optional<internal::ShardMark> MarkOf(const Run& run);
};

// The document as an answer, or the error.
Result<Answer> AnswerWith(Result<internal::Document> document);

// The writer of the format; kInvalidArgument for an unknown one.
Result<const internal::TableWriter*> WriterOf(std::string_view format);

// The number of threads that `threads` of a public option means: 0 is one per processor.
int ThreadsOf(int threads);
// A callback for the bytes of one file after the other; empty for an empty one.
std::function<void(uint64_t done, uint64_t total)> FileProgress(const ProgressCallback& progress);

// Lets `write` write to the output.
Result<void> WriteTo(const Output& output,
                     const std::function<Result<void>(internal::Sink&)>& write);

}  // namespace borescope
