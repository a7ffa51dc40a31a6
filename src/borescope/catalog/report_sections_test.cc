#include "borescope/catalog/report_sections.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "borescope/catalog/catalog.h"
#include "borescope/catalog/pack.h"
#include "borescope/testing/test_trace.h"

namespace borescope::internal {
namespace {

TEST(ReportSectionsTest, EverySectionOnceSummaryFirst) {
  const std::vector<SectionSpec> sections = ReportSections();
  std::set<std::string_view> names;
  for (const SectionSpec& section : sections) {
    EXPECT_TRUE(names.insert(section.analysis->name).second);
    EXPECT_FALSE(section.analysis->takes_two());
  }
  EXPECT_EQ(sections.front().analysis->name, "summary");
  EXPECT_EQ(sections.back().analysis->name, "doctor");
  EXPECT_FALSE(names.contains("stats"));
}

TEST(ReportSectionsTest, EachSectionIsInOnePane) {
  std::set<std::string_view> names;
  std::set<std::string_view> placed;
  for (const PaneSpec& pane : ReportPanes()) {
    EXPECT_TRUE(names.insert(pane.name).second) << pane.name;
    for (const AnalysisSpec* spec : pane.analyses) {
      EXPECT_TRUE(placed.insert(spec->name).second) << spec->name;
      EXPECT_EQ(&PaneOf(*spec), &pane) << spec->name;
    }
  }
  for (const Pack* pack : Packs()) {
    for (const PackVerb& verb : pack->verbs) {
      if (verb.pane.empty()) continue;
      EXPECT_TRUE(placed.insert(verb.spec->name).second) << verb.spec->name;
      EXPECT_EQ(PaneOf(*verb.spec).name, verb.pane) << verb.spec->name;
    }
  }
  for (const SectionSpec& section : ReportSections()) {
    EXPECT_TRUE(placed.contains(section.analysis->name))
        << section.analysis->name << " has no pane";
  }
}

// The tables of a section for two small ranks with a dozen steps, like those of a server: some
// analyses compare ranks or steps, or look for what recurs.
Tables FindingsOf(const SectionSpec& section) {
  TestTrace first;
  TestTrace second;
  for (TestTrace* trace : {&first, &second}) {
    for (int64_t step = 0; step < 12; ++step) {
      const int64_t at = 100 * step;
      trace->Annotation("ProfilerStep#" + std::to_string(step), {at, 90}).Op("f", {at + 1, 10});
      trace->Annotation("step[DECODE bs=1]", {at, 90});
      for (int64_t i = 0; i < 3; ++i) {
        trace->Launched("k", {at + 2 + i, 1}, {at + 10 + 5 * i, 3}, {3 * step + i + 1, 7, 0});
      }
    }
  }
  return Analyse(section.analysis->name, {&first.View(0), &second.View(1)}, ReportParams());
}

const Table* FindByName(const Tables& tables, std::string_view name) {
  const auto found = std::find_if(tables.begin(), tables.end(),
                                  [&](const Table& table) { return table.name == name; });
  return found == tables.end() ? nullptr : &*found;
}

// A view must use the current names of tables and columns. Columns that text leaves out may be
// columns that only options show.
TEST(ReportSectionsTest, ViewsNameColumnsThereAre) {
  for (const SectionSpec& section : ReportSections()) {
    const Tables findings = FindingsOf(section);
    for (const ViewSpec& view : section.views) {
      for (const Table& table : findings) {
        if (table.name != view.table || table.rows() == 0 || view.kind == ViewKind::kAside) {
          continue;
        }
        for (const std::string_view value : view.values) {
          EXPECT_NE(table.Find(value), nullptr) << table.name << "." << value;
        }
        EXPECT_NE(table.Find(view.labels.front()), nullptr) << table.name;
      }
    }
  }
}

// Parts of one bar that look alike cannot be distinguished: their columns need `hints.tone`.
TEST(ReportSectionsTest, PartsOfABarDifferInTone) {
  for (const SectionSpec& section : ReportSections()) {
    const Tables findings = FindingsOf(section);
    for (const ViewSpec& view : section.views) {
      const Table* const table =
          view.kind == ViewKind::kStackedBars ? FindByName(findings, view.table) : nullptr;
      std::set<Tone> tones;
      for (const std::string_view value : view.values) {
        const Column* const part = table == nullptr ? nullptr : table->Find(value);
        if (part != nullptr) {
          EXPECT_TRUE(tones.insert(part->hints.tone.value_or(Tone::kCompute)).second) << part->name;
        }
      }
    }
  }
}

TEST(ReportSectionsTest, ViewsOfTablesWhoeverMadeThem) {
  Table classes{"kernel_classes", "", {}};
  Table other{"nobody_draws_this", "", {}};
  const std::vector<Table> tables = {other, classes};
  const std::vector<ViewSpec> views = ViewsOf(tables);
  ASSERT_EQ(views.size(), 2U);
  EXPECT_EQ(views[0].table, "kernel_classes");
  EXPECT_EQ(views[0].kind, ViewKind::kBars);
  EXPECT_EQ(views[1].kind, ViewKind::kAside);
  EXPECT_TRUE(ViewsOf({}).empty());
}

TEST(ReportSectionsTest, VerbsWithViews) {
  EXPECT_TRUE(HasViews(*FindAnalysis("breakdown")));
  EXPECT_TRUE(HasViews(*FindAnalysis("summary")));  // with tables of other verbs
  EXPECT_FALSE(HasViews(*FindAnalysis("busy")));
  EXPECT_FALSE(HasViews(*FindAnalysis("info")));  // only columns that text leaves out
  EXPECT_FALSE(HasViews(*FindAnalysis("doctor")));
}

TEST(ReportSectionsTest, OptionsForViewsAreAddedWhereTheyAreNotGiven) {
  Params params;
  AskForViews(*FindAnalysis("breakdown"), params);
  EXPECT_TRUE(params.values.empty());
  AskForViews(*FindAnalysis("queue"), params);
  ASSERT_EQ(params.values.size(), 1U);
  EXPECT_EQ(params.values[0].name, "series");
  Params given;
  given.values = {{"min-share", 0, "5%"}};
  AskForViews(*FindAnalysis("stacks"), given);
  ASSERT_EQ(given.values.size(), 1U);
  EXPECT_EQ(given.values[0].text, "5%");
}

}  // namespace
}  // namespace borescope::internal
