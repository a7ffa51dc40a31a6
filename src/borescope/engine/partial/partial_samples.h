// Partials for tests: together they have a value in every field of partial.proto.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "borescope/analysis/core/param_specs.h"
#include "borescope/catalog/catalog.h"
#include "borescope/catalog/pack.h"
#include "borescope/engine/answer_shape.h"
#include "borescope/engine/partial/partial_data.h"
#include "borescope/engine/partial/questions.h"

namespace borescope::internal {

// Cells for a table, in place of those that it has: two that are there, and one that is
// missing; or three times close to each other.
inline void FillTable(Table& table) {
  for (Column& column : table.columns) {
    column = EmptyLike(column);
    std::visit(
        [](auto& cells) {
          cells.push_back(typename std::decay_t<decltype(cells)>::value_type());
          cells.push_back(cells.back());
        },
        column.values);
    if (column.unit == Unit::kNanoseconds && std::holds_alternative<IntValues>(column.values)) {
      column.values = IntValues{1'000'000'000, 1'000'000'001, 1'000'000'002};
    } else {
      PushMissing(column);
    }
  }
}

inline MappedQuestion SampleQuestion() {
  MappedQuestion question;
  // The verb with cells of every type is one of a pack.
  question.verbs = {FindAnalysis(Packs().empty() ? "roofline" : "inductor"),
                    FindAnalysis("memory")};
  question.ranks = NumberRanges::Parse("0..7").value();
  Params& params = question.params;
  params.selection.steps = NumberRanges::Parse("1").value();
  params.selection.step_pattern = "Step";
  params.selection.gpus = NumberRanges::Parse("0,1").value();
  params.selection.streams = NumberRanges::Parse("7").value();
  params.selection.annotation = "forward";
  params.selection.instances = NumberRanges::Parse("0").value();
  params.selection.range = TimeRange::Parse("10%", "90%").value();
  params.values.push_back({kDeviceSpecParam.name, 1, "a.json",
                           R"({"name": "a", "tflops": {"fp32": 50}, "memory_gbps": 2000})",
                           kDeviceSpecParam.type});
  return question;
}

inline PartialFile SampleFile(const MappedQuestion& question) {
  PartialFile file;
  file.path = "a.json";
  file.from_directory = true;
  file.claim = {3, 3, 8};
  file.rank = 3;
  file.file_bytes = 10;
  file.text_bytes = 100;
  file.events = 7;
  file.begin_ns = -5;
  file.diagnostics.Count(Diag::kBadSyntax, 12, "a comma");
  file.diagnostics.Count(Diag::kNotNested);
  file.unknown = SelectionMembers{{-4, 9}, {1}, {2}, {3}};
  for (const AnalysisSpec* verb : question.verbs) {
    Outcome outcome;
    outcome.tables = ShapeOf(*verb, question.params).value();
    for (Table& table : outcome.tables) {
      FillTable(table);
      table.columns[0].hints = {Tone::kComm, Palette::kWork, true};
    }
    file.outcomes.push_back(std::move(outcome));
  }
  file.graphs = {true, true, {"capture.json"}, {"capture.json", "other.json"}};
  file.outcomes[1] = {Error{.code = ErrorCode::kMissingData,
                            .cause = "no allocator events",
                            .remedy = "record them",
                            .file = "a.json",
                            .offset = 7,
                            .line = 3,
                            .parameter = "gpu"},
                      {}};
  return file;
}

// Of what cannot be asked together with the options of the other sample, and without files.
inline PartialData SampleOfKernels(Compat compat, bool by_rank) {
  PartialData partial;
  partial.program_version = "1.2.3";
  partial.question.verbs = {FindAnalysis("kernels")};
  partial.question.params.compat = compat;
  partial.question.params.all = by_rank;
  if (by_rank) {
    partial.question.params.by = {"rank"};
  }
  return partial;
}

// The question of the report, without files.
inline PartialData SampleOfReport() {
  PartialData partial;
  partial.program_version = "1.2.3";
  partial.question = QuestionOfReport({}, {});
  return partial;
}

// A part of a check: one file, asked twice.
inline PartialData SampleOfCheck() {
  PartialData partial;
  partial.program_version = "1.2.3";
  partial.question.verbs = {FindAnalysis("info")};
  partial.question.for_check = true;
  PartialFile file;
  file.path = "a.json";
  file.load_error = Error{ErrorCode::kCorrupt, "it is empty", {}, "a.json"};
  file.checked = CheckedFile{1, "run/", {17, -4, 5}, 100, 0x1234};
  partial.files.push_back(file);
  PartialData further = partial;
  further.question.verbs = {FindAnalysis("steps")};
  further.name = "sample";
  partial.further.push_back(std::move(further));
  return partial;
}

inline PartialData SamplePartial() {
  PartialData partial;
  partial.program_version = "1.2.3";
  partial.question = SampleQuestion();
  partial.files.push_back(SampleFile(partial.question));
  PartialFile unread;
  unread.path = "b.json";
  unread.load_error = Error{ErrorCode::kCorrupt, "it is empty", {}, "b.json"};
  unread.skipped = true;
  partial.files.push_back(std::move(unread));
  partial.shards = {{0, 9, 20, 5}, {3, 8, 20, 5}};
  return partial;
}

}  // namespace borescope::internal
