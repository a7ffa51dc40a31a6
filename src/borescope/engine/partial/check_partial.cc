#include "borescope/engine/partial/check_partial.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "borescope/engine/check_request.h"
#include "borescope/engine/partial/questions.h"
#include "borescope/engine/partial/wire/table_shapes.h"
#include "borescope/output/utf8.h"

namespace borescope::internal {
namespace {

Error Unfit(const PartialData& partial, ErrorCode code, std::string cause) {
  return {code, std::move(cause),
          fmt::format("it was written by Borescope {}: map again with the version that reduces",
                      ToPrintable(partial.program_version)),
          partial.name};
}

// Of a report there is one question only.
Result<void> CheckReport(const PartialData& partial) {
  const MappedQuestion& question = partial.question;
  const std::string difference = DifferenceOf(
      question, QuestionOfReport(question.params, question.ranks, TimelineOfReport(question)));
  return difference.empty() ? Result<void>()
                            : Unfit(partial, ErrorCode::kInvalidArgument,
                                    "it answers another report, which differs in " + difference);
}

Result<void> CheckQuestion(const PartialData& partial) {
  if (partial.question.for_report) {
    return CheckReport(partial);
  }
  for (const AnalysisSpec* verb : partial.question.verbs) {
    if (const Result<void> fits = CheckOptions(*verb, partial.question.params); !fits.ok()) {
      return Unfit(partial, ErrorCode::kInvalidArgument, fits.error().Sentence());
    }
  }
  return {};
}

// Tables of one verb, of any file.
class VerbTables {
 public:
  static Result<VerbTables> Make(const AnalysisSpec& verb, const MappedQuestion& question) {
    VerbTables made(verb, question.params);
    BS_ASSIGN(made.shape_, ShapeOf(verb, question.params, !question.for_report));
    return made;
  }

  // What is wrong with these; empty: nothing.
  std::string FaultOf(const Tables& tables) const {
    const Pipeline& pipeline = verb_->PipelineFor(*params_);
    std::string found = MismatchOf(tables, shape_, pipeline.adds_columns);
    if (found.empty() && pipeline.check_tables != nullptr) {
      const Result<void> fit = pipeline.check_tables(tables, *params_);
      found = fit.ok() ? "" : fit.error().Sentence();
    }
    return found.empty() ? found : fmt::format("{}: {}", verb_->name, found);
  }

 private:
  VerbTables(const AnalysisSpec& verb, const Params& params) : verb_(&verb), params_(&params) {}

  const AnalysisSpec* verb_;
  const Params* params_;
  Tables shape_;
};

std::string MiscountOf(const PartialFile& file, size_t verbs) {
  return file.outcomes.size() == (file.load_error.has_value() ? 0 : verbs)
             ? std::string()
             : fmt::format("it has {} answers to {} verbs", file.outcomes.size(), verbs);
}

std::string FaultOf(const PartialFile& file, const std::vector<VerbTables>& verbs) {
  if (std::string miscount = MiscountOf(file, verbs.size()); !miscount.empty()) {
    return miscount;
  }
  for (size_t i = 0; i < file.outcomes.size(); ++i) {
    if (!file.outcomes[i].error.has_value()) {
      if (std::string found = verbs[i].FaultOf(file.outcomes[i].tables); !found.empty()) {
        return found;
      }
    }
  }
  return {};
}

Error UnfitFile(const PartialData& partial, const PartialFile& file, std::string_view fault) {
  return Unfit(partial, ErrorCode::kCorrupt,
               fmt::format("{}: {}", ToPrintable(file.path), ToPrintable(fault)));
}

// What a check needs of a partial: each file with its run, and the same files under each question.
std::string FaultOfCheck(const PartialData& partial) {
  for (const PartialFile& file : partial.files) {
    if (file.checked.has_value() != partial.question.for_check) {
      return partial.question.for_check ? "a file of a check is of no run"
                                        : "a file is of a run, and the question of no check";
    }
  }
  for (const PartialData& further : partial.further) {
    const bool are_same = std::equal(
        further.files.begin(), further.files.end(), partial.files.begin(), partial.files.end(),
        [](const PartialFile& a, const PartialFile& b) { return a.path == b.path; });
    if (!partial.question.for_check || !further.question.for_check || !are_same) {
      return "a further question is not of the same files, or of no check";
    }
  }
  return {};
}

Result<void> CheckAnswers(const PartialData& partial) {
  std::vector<VerbTables> verbs;
  for (const AnalysisSpec* verb : partial.question.verbs) {
    Result<VerbTables> tables = VerbTables::Make(*verb, partial.question);
    if (!tables.ok()) {
      return Unfit(partial, ErrorCode::kInvalidArgument, tables.error().Sentence());
    }
    verbs.push_back(std::move(*tables));
  }
  for (const PartialFile& file : partial.files) {
    if (const std::string found = FaultOf(file, verbs); !found.empty()) {
      return UnfitFile(partial, file, found);
    }
  }
  return {};
}

}  // namespace

Result<void> CheckPartialHead(const PartialData& partial) {
  BS_TRY(CheckQuestion(partial));
  for (const PartialFile& file : partial.files) {
    if (const std::string found = MiscountOf(file, partial.question.verbs.size()); !found.empty()) {
      return UnfitFile(partial, file, found);
    }
  }
  return {};
}

Result<void> CheckPartial(const PartialData& partial) {
  BS_TRY(CheckQuestion(partial));
  BS_TRY(CheckAnswers(partial));
  for (const PartialData& further : partial.further) {
    BS_TRY(CheckPartial(further));
  }
  const std::string fault = FaultOfCheck(partial);
  return fault.empty() ? Result<void>() : Unfit(partial, ErrorCode::kCorrupt, fault);
}

}  // namespace borescope::internal
