// The verdict as a classifier: what it finds in many planted runs.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/planted/planted_run.h"
#include "tests/truth/verdict/verdict_answer.h"

namespace borescope::internal::testkit {

// What the verdict of one run is worth.
struct Judgement {
  std::string first = "none";      // heading of its first finding about a cause
  bool is_first_right = false;     // it is a planted one, or none of nothing
  bool names_all = true;           // each planted cause has a finding
  std::vector<std::string> wrong;  // headings of findings that name what was not planted
  double most_off = 0;             // by how much the value of a finding differs from the truth
  std::string where;               // that finding
};
Judgement Judge(const scenario::PlantConfig& config);

// Of many runs of one kind.
struct Counts {
  int64_t runs = 0;
  int64_t first_right = 0;
  int64_t all_named = 0;
  int64_t with_wrong = 0;
  double most_off = 0;
  std::map<std::string, int64_t> firsts;  // by heading
  std::string example;                    // of what went wrong, if something did
};
using Row = std::vector<scenario::PlantConfig>;
std::vector<Counts> CountAll(const std::vector<Row>& rows);

}  // namespace borescope::internal::testkit
