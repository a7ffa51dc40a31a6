// The cases that the page runs, too (web/test/labels.test.mjs).
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "borescope/output/names/labels.h"

namespace borescope::internal {
namespace {

struct LabelCase {
  double width = 0;
  std::vector<std::string> names;
  std::vector<std::string> labels;
};

std::vector<LabelCase> ReadCases() {
  constexpr size_t kPrefix = 6;
  std::ifstream file(BORESCOPE_LABEL_CASES);
  std::vector<LabelCase> cases;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("width ")) {
      cases.push_back({std::stod(line.substr(kPrefix)), {}, {}});
    } else if (line.starts_with("name  ")) {
      cases.back().names.push_back(line.substr(kPrefix));
    } else if (line.starts_with("label ")) {
      cases.back().labels.push_back(line.substr(kPrefix));
    }
  }
  return cases;
}

TEST(LabelCases, AreThoseOfThePage) {
  const std::vector<LabelCase> cases = ReadCases();
  EXPECT_GT(cases.size(), 40U);
  for (const LabelCase& one : cases) {
    EXPECT_EQ(LabelNames(one.names, one.width, [](char32_t) { return 1.0; }).texts, one.labels)
        << "width " << one.width;
  }
}

}  // namespace
}  // namespace borescope::internal
