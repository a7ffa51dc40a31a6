// Whether a simulator can trust a .et: one after the other, and those of one run together.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/packs/chakra/et/et_file.h"
#include "borescope/packs/chakra/linked/linked_trace.h"
#include "borescope/table/table.h"

namespace borescope::internal {

enum class CheckStatus : uint8_t {
  kOk,
  kNote,    // simulators can live with it
  kFailed,  // they cannot
};

struct CheckRow {
  std::string file;  // empty: of all files together
  std::string_view check;
  CheckStatus status = CheckStatus::kOk;
  uint64_t count = 0;  // of cases
  std::string first;   // the first of them
};

// Checks of one file.
void CheckEt(const std::string& file, const EtFile& et, std::vector<CheckRow>& rows);

// Against the linked trace it was made from: nodes, names and durations.
void CheckEtAgainst(const std::string& file, const EtFile& et, const LinkedTrace& linked,
                    std::vector<CheckRow>& rows);

// Whether the ranks of a run call the same collectives of every process group in the same order.
struct NamedEt {
  std::string file;
  const EtFile* et;
};
void CheckCollectives(const std::vector<NamedEt>& files, std::vector<CheckRow>& rows);

Table CheckTable(const std::vector<CheckRow>& rows);

}  // namespace borescope::internal
