// What the nodes of a .et add up to, by type.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "borescope/packs/chakra/et/et_file.h"
#include "borescope/packs/chakra/plan/et_plan.h"
#include "borescope/table/table.h"

namespace borescope::internal {

struct EtTypeTotals {
  int64_t nodes = 0;
  int64_t data_deps = 0;
  int64_t dur_ns = 0;  // exact where the file has nanoseconds
  int64_t comm_bytes = 0;
};

// By EtNodeType; types that are not known count as INVALID_NODE.
class EtTotals {
 public:
  void Add(const EtNode& node);
  void Add(const PlannedNode& node);

  const EtTypeTotals& Of(EtNodeType type) const { return types_[static_cast<size_t>(type)]; }

 private:
  EtTypeTotals& RowOf(EtNodeType type);

  std::array<EtTypeTotals, 8> types_;
};

EtTotals TotalsOf(const EtFile& et);
EtTotals TotalsOf(const EtPlan& plan);

struct NamedTotals {
  std::string file;
  EtTotals totals;
};

// A row for every file and type that has nodes.
Table EtTotalsTable(const std::vector<NamedTotals>& files);

// A number among the attributes of a node; nothing where it is missing or no number.
std::optional<int64_t> IntAttr(const EtNode& node, std::string_view name);

// In nanoseconds, exact where the file says so.
int64_t DurationNs(const EtNode& node);

}  // namespace borescope::internal
