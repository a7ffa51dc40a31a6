// The reduces shared by several analyses: concatenation, and merging by key columns.
#include "borescope/analysis/analyses.h"
#include "borescope/base/check.h"
#include "borescope/table/table_ops.h"

namespace borescope {
namespace {

// The i-th table of every rank. All maps of one analysis give the same tables in the same order.
std::vector<Table> TablesAt(std::span<const Findings> findings, size_t i) {
  std::vector<Table> tables;
  for (const Findings& one : findings) {
    BS_CHECK(i < one.size() && one[i].name == findings.front()[i].name);
    tables.push_back(one[i]);
  }
  return tables;
}

}  // namespace

Result<Findings> ConcatFindings(std::span<const Findings> findings, const Params&) {
  Findings result;
  for (size_t i = 0; !findings.empty() && i < findings.front().size(); ++i) {
    result.push_back(Concat(TablesAt(findings, i)));
  }
  return result;
}

Result<Findings> MergeFindings(std::span<const Findings> findings, const Params&) {
  Findings result;
  for (size_t i = 0; !findings.empty() && i < findings.front().size(); ++i) {
    result.push_back(MergeByKey(TablesAt(findings, i)));
  }
  return result;
}

}  // namespace borescope
