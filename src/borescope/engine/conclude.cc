#include "borescope/engine/conclude.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "borescope/analysis/core/reduce.h"

namespace borescope::internal {

namespace {

Result<std::vector<Tables>> TakeFolded(FoldedTables& folded) {
  if (folded.error.has_value()) {
    return *folded.error;
  }
  return std::move(folded.tables);
}

// The findings of the ranks that could answer analysis `index` of the request; what the others lack
// is added to `lacks`. An error when none could, or when what was asked for is wrong whatever the
// rank.
Result<std::vector<Tables>> TakeFindings(MappedRun& run, size_t index, std::string_view verb,
                                         MissingByRank& lacks) {
  std::vector<Tables> findings;
  bool is_answered = false;
  for (RankPart* part : run.selected) {
    Outcome& outcome = part->outcomes[index];
    if (!outcome.error.has_value()) {
      is_answered = true;
      if (run.folded.empty()) findings.push_back(std::move(outcome.tables));
    } else if (outcome.error->code != ErrorCode::kMissingData) {
      return *outcome.error;
    } else {
      RankMissing& lack = lacks[part];
      lack.error = lack.verbs.empty() ? *outcome.error : lack.error;
      lack.verbs.push_back(verb);
    }
  }
  if (!is_answered) {
    return *run.selected.front()->outcomes[index].error;
  }
  return run.folded.empty() ? std::move(findings) : TakeFolded(run.folded[index]);
}

Result<Tables> Finish(const Pipeline& pipeline, const Params& params, Tables reduced) {
  return pipeline.finish == nullptr ? std::move(reduced)
                                    : pipeline.finish(std::move(reduced), params);
}

}  // namespace

void CountMissing(const MissingByRank& lacks) {
  for (const auto& [part, lack] : lacks) {
    part->diagnostics.CountMany(Diag::kMissingData, lack.verbs.size(), Diagnostics::kNoByte,
                                fmt::format("{}: {}", fmt::join(lack.verbs, ", "),
                                            TextWithoutFile(lack.error, part->report.path)));
  }
}

Result<Tables> ReduceAndFinish(const Pipeline& pipeline, const Params& params,
                               std::span<const Tables> findings) {
  BS_ASSIGN(Tables reduced, pipeline.reduce(findings, params));
  return Finish(pipeline, params, std::move(reduced));
}

Result<Tables> ReduceOne(const AnalysisSpec& spec, size_t index, const Params& params,
                         MappedRun& run, MissingByRank& lacks) {
  BS_ASSIGN(const std::vector<Tables> findings, TakeFindings(run, index, spec.name, lacks));
  return spec.PipelineFor(params).reduce(findings, params);
}

Result<Tables> ConcludeOne(const AnalysisSpec& spec, size_t index, const Params& params,
                           MappedRun& run, MissingByRank& lacks) {
  MissingByRank with_this = lacks;
  BS_ASSIGN(std::vector<Tables> findings, TakeFindings(run, index, spec.name, with_this));
  Params with_faults = params;
  with_faults.run_faults = FaultsOf(run);
  with_faults.sharing = SharingRanks(run);
  const Pipeline& pipeline = spec.PipelineFor(params);
  BS_ASSIGN(Tables tables, findings.size() == 1 && pipeline.reduce == ConcatTables
                               ? Finish(pipeline, with_faults, ConcatOne(std::move(findings[0])))
                               : ReduceAndFinish(pipeline, with_faults, findings));
  lacks = std::move(with_this);
  return tables;
}

std::vector<RankBegin> BeginsOf(const MappedRun& run) {
  std::vector<RankBegin> begins;
  begins.reserve(run.selected.size());
  for (const RankPart* part : run.selected) {
    begins.push_back({part->report.rank, part->report.begin_ns});
  }
  return begins;
}

}  // namespace borescope::internal
