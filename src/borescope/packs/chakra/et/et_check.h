// Whether a simulator can rely on .et files: each one by itself, and those of one run together.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/packs/chakra/convert/et_plan.h"
#include "borescope/packs/chakra/convert/linked_trace.h"
#include "borescope/packs/chakra/et/et_stream.h"
#include "borescope/table/table.h"

namespace borescope::internal {

enum class EtStatus : uint8_t {
  kOk,
  kNote,    // simulators can live with it
  kFailed,  // they cannot
};

struct CheckRow {
  std::string file;  // empty: of all files together
  std::string_view check;
  EtStatus status = EtStatus::kOk;
  uint64_t count = 0;  // of cases
  std::string first;   // the first of them
};

// Checks of one file.
void CheckEt(const std::string& file, const EtFile& et, std::vector<CheckRow>& rows);

// Compares it with the linked trace from which it was made: nodes, names and durations.
void CheckEtAgainst(const std::string& file, const EtFile& et, const LinkedTrace& linked,
                    std::vector<CheckRow>& rows);

// Whether the ranks of a run call the same collectives of every process group in the same order.
struct NamedEt {
  std::string file;
  const EtFile* et;
};
void CheckCollectives(const std::vector<NamedEt>& files, std::vector<CheckRow>& rows);

Table CheckTable(const std::vector<CheckRow>& rows);

// The totals of the nodes of a .et, by type.

struct EtTypeTotals {
  int64_t nodes = 0;
  int64_t data_deps = 0;
  int64_t dur_ns = 0;  // exact if the file has nanoseconds
  int64_t comm_bytes = 0;
};

// By EtNodeType; unknown types count as INVALID_NODE.
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

// A number among the attributes of a node; nothing if it is missing or not a number.
std::optional<int64_t> IntAttr(const EtNode& node, std::string_view name);

// In nanoseconds, exact if the file has them.
int64_t DurationNs(const EtNode& node);

}  // namespace borescope::internal
