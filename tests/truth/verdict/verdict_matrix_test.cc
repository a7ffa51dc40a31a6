// What the verdict finds in planted runs, as a page of the documentation. The test fails if the
// page is not what it computes; with BORESCOPE_UPDATE=1 in the environment it writes the page.
#include "tests/truth/verdict/verdict_matrix.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tests/truth/verdict/known_findings.h"

namespace borescope::internal {
namespace {

using scenario::Cause;
using scenario::CauseName;
using scenario::Plant;
using scenario::PlantConfig;
using scenario::Setting;
using scenario::SettingName;
using testkit::CountAll;
using testkit::Counts;
using Rows = std::vector<testkit::Row>;

constexpr uint64_t kSeeds = 200;
constexpr uint64_t kSeedsOfOthers = 80;  // of shares other than 10 %
constexpr uint64_t kSeedsOfPairs = 10;
constexpr uint64_t kSeedsOfSettings = 10;
constexpr double kMostOff = 0.02;

std::vector<Cause> AllCauses() {
  std::vector<Cause> causes;
  for (int i = 0; i < static_cast<int>(Cause::kCount); ++i) {
    causes.push_back(static_cast<Cause>(i));
  }
  return causes;
}

testkit::Row RowOf(Setting setting, const std::vector<Plant>& plants, uint64_t seeds) {
  testkit::Row row;
  for (uint64_t seed = 1; seed <= seeds; ++seed) {
    row.push_back({seed, setting, plants});
  }
  return row;
}

// No cause, then each.
Rows RowsAlone(Setting setting, int percent, uint64_t seeds) {
  Rows rows{RowOf(setting, {}, seeds)};
  for (const Cause cause : AllCauses()) {
    if (CanBePlanted(cause, setting)) {
      rows.push_back(RowOf(setting, {{cause, percent}}, seeds));
    }
  }
  return rows;
}

Counts Sum(const std::vector<Counts>& all) {
  Counts sum;
  for (const Counts& one : all) {
    sum.runs += one.runs;
    sum.first_right += one.first_right;
    sum.all_named += one.all_named;
    sum.with_wrong += one.with_wrong;
    sum.most_off = std::max(sum.most_off, one.most_off);
    sum.example += one.example;
  }
  return sum;
}

double Percent(int64_t part, int64_t whole) {
  return 100 * static_cast<double>(part) / static_cast<double>(whole);
}

std::string Summary(std::string_view name, const Counts& counts) {
  return fmt::format("| {} | {} | {:.1f} % | {:.1f} % | {:.1f} % | {:.1f} |\n", name, counts.runs,
                     Percent(counts.first_right, counts.runs),
                     Percent(counts.all_named, counts.runs),
                     Percent(counts.with_wrong, counts.runs), 100 * counts.most_off);
}

// The headings that occur, and how often each is the first finding of a planted cause.
std::string Matrix(const std::vector<Counts>& rows) {
  std::vector<std::string> headings;
  for (const std::string_view label : testkit::AllLabels()) {
    const bool occurs = std::any_of(rows.begin(), rows.end(), [&](const Counts& row) {
      return row.firsts.count(std::string(label)) > 0;
    });
    if (occurs) {
      headings.emplace_back(label);
    }
  }
  headings.emplace_back("none");
  std::string text = fmt::format("| planted | {} |\n| --- |", fmt::join(headings, " | "));
  for (size_t i = 0; i < headings.size(); ++i) {
    text += " --: |";
  }
  text += "\n";
  for (size_t row = 0; row < rows.size(); ++row) {
    text += fmt::format("| {} |", row == 0 ? "(nothing)" : CauseName(AllCauses()[row - 1]));
    for (const std::string& heading : headings) {
      const auto found = rows[row].firsts.find(heading);
      text += found == rows[row].firsts.end() ? "  |" : fmt::format(" {} |", found->second);
    }
    text += "\n";
  }
  return text;
}

void Expect(const Counts& counts, double least_first, double most_wrong, std::string_view name,
            double most_off = kMostOff) {
  EXPECT_GE(Percent(counts.first_right, counts.runs), least_first) << name << counts.example;
  EXPECT_LE(Percent(counts.with_wrong, counts.runs), most_wrong) << name << counts.example;
  EXPECT_LE(counts.most_off, most_off) << name << counts.example;
}

// What the host would take without the profiler is an estimate.
void ExpectProfiled(const Counts& counts) { Expect(counts, 90, 5, "profiled", 0.13); }

std::string ReadFile(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// The part of the page after this line is computed.
constexpr std::string_view kMark = "<!-- computed by verdict_matrix_test.cc -->\n";

void CompareWithPage(const std::string& computed) {
  const std::string path = BORESCOPE_VERDICT_PAGE;
  const std::string page = ReadFile(path);
  const size_t mark = page.find(kMark);
  ASSERT_NE(mark, std::string::npos);
  const std::string want = page.substr(0, mark + kMark.size()) + computed;
  if (std::getenv("BORESCOPE_UPDATE") != nullptr) {
    std::ofstream(path) << want;
  }
  EXPECT_EQ(ReadFile(path), want)
      << "Read what changed; BORESCOPE_UPDATE=1 in the environment records it.";
}

constexpr std::string_view kHead =
    "| runs | number | first finding is planted | all planted are found | a finding is not planted "
    "| largest error, points |\n| --- | --: | --: | --: | --: | --: |\n";

std::vector<Counts> Alone(Setting setting, int percent, uint64_t seeds) {
  return CountAll(RowsAlone(setting, percent, seeds));
}

// Both cannot be planted at once: while a device has work from before the recording, the host that
// sets up costs nothing, and what begins late is what waits for it. In programs with long pauses,
// others in which the host records nothing are silent, too. Ranks differ in one way, and a long
// wait may make one of those that are late in turn the latest.
bool AreExclusive(Cause a, Cause b) {
  const bool may_be_silent =
      a == Cause::kLateHost || a == Cause::kSync || a == Cause::kLongWait || a == Cause::kUnlinked;
  return (a == Cause::kSetup && b == Cause::kBeforeRecording) ||
         (a == Cause::kBeforeRecording && b == Cause::kLateBegin) ||
         (may_be_silent && b == Cause::kSilentHost) || (IsOfRanks(a) && IsOfRanks(b)) ||
         (a == Cause::kLongWait && b == Cause::kLateInTurn);
}

Counts Pairs() {
  Rows rows;
  const std::vector<Cause> causes = AllCauses();
  for (size_t a = 0; a < causes.size(); ++a) {
    for (size_t b = a + 1; b < causes.size(); ++b) {
      if (AreExclusive(causes[a], causes[b])) {
        continue;
      }
      rows.push_back(RowOf(Setting::kPlain, {{causes[a], 10}, {causes[b], 10}}, kSeedsOfPairs));
    }
  }
  return Sum(CountAll(rows));
}

TEST(VerdictMatrixTest, IsAsDocumented) {
  std::string page = "\n" + std::string(kHead);
  std::vector<Counts> at_ten;
  for (const int percent : {3, 10, 30}) {
    const std::vector<Counts> alone =
        Alone(Setting::kPlain, percent, percent == 10 ? kSeeds : kSeedsOfOthers);
    page += Summary(fmt::format("one cause, {} %", percent), Sum(alone));
    Expect(Sum(alone), percent == 3 ? 0 : 95, 2, fmt::format("{} %", percent));
    if (percent == 10) {
      at_ten = alone;
    }
  }
  for (size_t row = 0; row < at_ten.size(); ++row) {
    Expect(at_ten[row], 95, 2, row == 0 ? "nothing" : CauseName(AllCauses()[row - 1]));
  }
  for (int i = 1; i < static_cast<int>(Setting::kCount); ++i) {
    const auto setting = static_cast<Setting>(i);
    const Counts counts = Sum(Alone(setting, 10, kSeedsOfSettings));
    page += Summary(fmt::format("one cause, 10 %, {}", SettingName(setting)), counts);
    setting == Setting::kProfiled ? ExpectProfiled(counts)
                                  : Expect(counts, 95, 2, SettingName(setting));
  }
  const Counts profiled = Sum(Alone(Setting::kProfiled, 30, kSeedsOfSettings));
  page += Summary("one cause, 30 %, profiled", profiled);
  ExpectProfiled(profiled);
  const Counts pairs = Pairs();
  page += Summary("two causes, 10 % each", pairs);
  Expect(pairs, 95, 2, "pairs");
  CompareWithPage(page + "\nFirst findings at 10 %:\n\n" + Matrix(at_ten));
}

}  // namespace
}  // namespace borescope::internal
