#include "borescope/base/diagnostics.h"

#include <gtest/gtest.h>

#include <set>

namespace borescope::internal {
namespace {

TEST(DiagnosticsTest, KeepsTheFirstCaseAndCountsTheRest) {
  Diagnostics diagnostics;
  diagnostics.Count(Diag::kBadSyntax, 120, "a missing comma");
  diagnostics.Count(Diag::kBadSyntax, 40, "a comma too many");
  const Diagnostics::Entry& entry = diagnostics.Get(Diag::kBadSyntax);
  EXPECT_EQ(entry.count, 2U);
  EXPECT_EQ(entry.first_byte, 120U);
  EXPECT_EQ(entry.first, "a missing comma");
}

TEST(DiagnosticsTest, StartsEmpty) {
  const Diagnostics diagnostics;
  EXPECT_TRUE(diagnostics.empty());
  EXPECT_EQ(diagnostics.Get(Diag::kNotNested).first_byte, Diagnostics::kNoByte);
}

TEST(DiagnosticsTest, CountingNoneChangesNothing) {
  Diagnostics diagnostics;
  diagnostics.CountMany(Diag::kNotNested, 0, 7, "nothing");
  EXPECT_TRUE(diagnostics.empty());
  EXPECT_EQ(diagnostics.Get(Diag::kNotNested).first, "");
}

// Merging chunk by chunk must keep the same first case as reading them in one piece.
TEST(DiagnosticsTest, MergeAddsCountsAndKeepsTheEarlierFirstCase) {
  Diagnostics earlier;
  earlier.Count(Diag::kInvalidUtf8, 10, "first");
  Diagnostics later;
  later.CountMany(Diag::kInvalidUtf8, 3, 90, "second");
  later.CountMany(Diag::kMissingName, 2, 95, "third");
  earlier.Merge(later);
  EXPECT_EQ(earlier.count(Diag::kInvalidUtf8), 4U);
  EXPECT_EQ(earlier.Get(Diag::kInvalidUtf8).first_byte, 10U);
  EXPECT_EQ(earlier.Get(Diag::kInvalidUtf8).first, "first");
  EXPECT_EQ(earlier.count(Diag::kMissingName), 2U);
  EXPECT_EQ(earlier.Get(Diag::kMissingName).first_byte, 95U);
  EXPECT_EQ(earlier.Get(Diag::kMissingName).first, "third");
  EXPECT_FALSE(earlier.empty());
}

// Codes are in outputs that programs read: unique, lower case, words joined by hyphens.
TEST(DiagnosticsTest, EveryRowHasItsOwnCodeAndSaysWhatItMeans) {
  std::set<std::string_view> codes;
  for (size_t i = 0; i < static_cast<size_t>(Diag::kCount); ++i) {
    const DiagRow& row = GetDiagRow(static_cast<Diag>(i));
    EXPECT_TRUE(codes.insert(row.code).second) << row.code;
    EXPECT_EQ(row.code.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-"),
              std::string_view::npos)
        << row.code;
    EXPECT_TRUE(row.help.ends_with('.')) << row.code;
    EXPECT_NE(SeverityName(row.severity), "") << row.code;
  }
}

}  // namespace
}  // namespace borescope::internal
