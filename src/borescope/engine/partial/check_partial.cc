#include "borescope/engine/partial/check_partial.h"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "borescope/engine/check_request.h"
#include "borescope/engine/partial/wire/table_shapes.h"
#include "borescope/output/utf8.h"

namespace borescope::internal {
namespace {

Error Unfit(const PartialData& partial, ErrorCode code, std::string_view what) {
  return {code, fmt::format("{}: {}; it was written by Borescope {}: map again with the version "
                            "that reduces",
                            partial.name, what, ToPrintable(partial.program_version))};
}

Result<void> CheckQuestion(const PartialData& partial) {
  for (const AnalysisSpec* verb : partial.question.verbs) {
    if (const Result<void> fits = CheckOptions(*verb, partial.question.params); !fits.ok()) {
      return Unfit(partial, ErrorCode::kInvalidArgument, fits.error().message);
    }
  }
  return {};
}

// Tables of one verb, of any file.
class VerbTables {
 public:
  static Result<VerbTables> Make(const AnalysisSpec& verb, const Params& params) {
    VerbTables made(verb, params);
    BS_ASSIGN(made.shape_, ShapeOf(verb, params));
    return made;
  }

  // What is wrong with these; empty: nothing.
  std::string FaultOf(const Tables& tables) const {
    const Pipeline& pipeline = verb_->PipelineFor(*params_);
    std::string found = MismatchOf(tables, shape_, pipeline.adds_columns);
    if (found.empty() && pipeline.check_tables != nullptr) {
      const Result<void> fit = pipeline.check_tables(tables, *params_);
      found = fit.ok() ? "" : fit.error().message;
    }
    return found.empty() ? found : fmt::format("{}: {}", verb_->name, found);
  }

 private:
  VerbTables(const AnalysisSpec& verb, const Params& params) : verb_(&verb), params_(&params) {}

  const AnalysisSpec* verb_;
  const Params* params_;
  Tables shape_;
};

std::string FaultOf(const PartialFile& file, const std::vector<VerbTables>& verbs) {
  if (file.outcomes.size() != (file.load_error.has_value() ? 0 : verbs.size())) {
    return fmt::format("it has {} answers to {} verbs", file.outcomes.size(), verbs.size());
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

}  // namespace

Result<void> CheckPartial(const PartialData& partial) {
  BS_TRY(CheckQuestion(partial));
  std::vector<VerbTables> verbs;
  for (const AnalysisSpec* verb : partial.question.verbs) {
    Result<VerbTables> tables = VerbTables::Make(*verb, partial.question.params);
    if (!tables.ok()) {
      return Unfit(partial, ErrorCode::kInvalidArgument, tables.error().message);
    }
    verbs.push_back(std::move(*tables));
  }
  for (const PartialFile& file : partial.files) {
    if (const std::string found = FaultOf(file, verbs); !found.empty()) {
      return Unfit(partial, ErrorCode::kCorrupt,
                   fmt::format("{}: {}", ToPrintable(file.path), ToPrintable(found)));
    }
  }
  return {};
}

}  // namespace borescope::internal
