#include "borescope/catalog/catalog.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <utility>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/analysis/measures/names/describe.h"
#include "borescope/catalog/pack.h"
#include "borescope/testing/test_trace.h"

namespace borescope::internal {
namespace {

TEST(RegistryTest, NamesAreDistinctAndFound) {
  std::set<std::string_view> names;
  for (const AnalysisSpec* spec : Analyses()) {
    EXPECT_TRUE(names.insert(spec->name).second);
    EXPECT_EQ(FindAnalysis(spec->name), spec);
  }
  EXPECT_EQ(FindAnalysis("nonsense"), nullptr);
}

// What a pack adds is found at the verb that it names, once for each tool.
TEST(RegistryTest, PacksAddTheirRulesToVerbs) {
  std::set<Compat> tools;
  for (const Pack* pack : Packs()) {
    EXPECT_TRUE(tools.insert(pack->tool).second);
    std::set<std::string_view> verbs;
    for (const PackPipeline& added : pack->pipelines) {
      EXPECT_TRUE(verbs.insert(added.verb).second) << added.verb;
      const AnalysisSpec* spec = FindAnalysis(added.verb);
      ASSERT_NE(spec, nullptr) << added.verb;
      EXPECT_EQ(spec->FindPipeline(pack->tool), added.pipeline) << added.verb;
    }
    for (const PackVerb& added : pack->verbs) {
      const auto place = [](std::string_view name) {
        return std::find(Analyses().begin(), Analyses().end(), FindAnalysis(name));
      };
      EXPECT_EQ(place(added.after) + 1, place(added.spec->name)) << added.spec->name;
    }
  }
}

// A verb has options of a tool only if it is answered by the rules of that tool.
TEST(RegistryTest, OptionsOfToolsNeedTheirRules) {
  if (Packs().empty()) GTEST_SKIP() << "a build without packs";
  for (const AnalysisSpec* spec : Analyses()) {
    for (const ParamSpec* param : spec->params) {
      EXPECT_NE(spec->FindPipeline(param->only_with), nullptr) << spec->name << " " << param->name;
    }
  }
}

TEST(RegistryTest, NoToolHasNoRules) {
  const auto unknown = static_cast<Compat>(255);
  for (const AnalysisSpec* spec : Analyses()) {
    EXPECT_EQ(spec->FindPipeline(Compat::kNone), &spec->answer);
    EXPECT_EQ(spec->FindPipeline(unknown), nullptr) << spec->name;
    EXPECT_FALSE(spec->TakesAll(unknown)) << spec->name;
  }
  EXPECT_EQ(FindCompat(unknown), nullptr);
}

// No analysis may fail on an empty trace, alone or among others.
TEST(RegistryTest, EveryAnalysisTakesAnEmptyTrace) {
  for (const AnalysisSpec* spec : Analyses()) {
    std::vector<Compat> tools = {Compat::kNone};
    for (const CompatRow& row : kCompats) {
      tools.push_back(row.id);
    }
    for (const Compat compat : tools) {
      if (spec->FindPipeline(compat) == nullptr) {
        continue;
      }
      TestTrace empty;
      TestTrace other;
      other.Op("f", {0, 10}).Launched("k", {1, 1}, {5, 3}, {1, 7, 0});
      other.Launched("k", {2, 1}, {8, 3}, {2, 7, 0}).Launched("k", {3, 1}, {11, 3}, {3, 7, 0});
      for (int64_t step = 0; step < 3; ++step) {  // for analyses that compare steps
        other.Annotation("ProfilerStep#" + std::to_string(step), {step * 20, 20});
      }
      other.Annotation("step[DECODE bs=1]", {0, 10});  // for analyses of inference
      Params params;
      params.compat = compat;
      params.by.assign(spec->by.begin(), spec->by.end());
      EXPECT_FALSE(Analyse(spec->name, {&empty.View(0), &other.View(1)}, params).empty())
          << spec->name;
    }
  }
}

// The names of the keys, in their order, and how their descriptions begin (row.h).
constexpr std::pair<std::string_view, std::string_view> kKeys[] = {
    {"rank", "Rank of the process in the job"},
    {"step", "Number of the step"},
    {"gpu", "Device number"},
    {"stream", "Stream (queue) of the device"}};

void ExpectKeysInOneOrderAndOneWords(const Table& table) {
  const Column* last = nullptr;
  for (const auto& [name, words] : kKeys) {
    const Column* const key = table.Find(name);
    if (key == nullptr || key->role != Role::kKey) {
      continue;
    }
    EXPECT_TRUE(key->doc.starts_with(words)) << table.name << " " << name << ": " << key->doc;
    EXPECT_TRUE(last == nullptr || last < key || table.name == "steps") << table.name;
    last = key;
  }
}

// A step with work that recurs often enough for every analysis.
void AddStep(TestTrace& trace, int64_t step) {
  const int64_t begin = step * 20;
  trace.Annotation("ProfilerStep#" + std::to_string(step), {begin, 10}).Op("f", {begin, 10});
  trace.Annotation("step[DECODE bs=1]", {begin, 10});
  for (int64_t launch = 1; launch <= 3; ++launch) {
    trace.Launched("k", {begin + launch, 1}, {begin + 2 + 3 * launch, 3},
                   {3 * step + launch, 7, 0});
  }
}

TEST(RegistryTest, KeysAreTheSameInEveryTable) {
  for (const AnalysisSpec* spec : Analyses()) {
    TestTrace a;
    TestTrace b;
    for (int64_t step = 0; step < 3; ++step) {
      AddStep(a, step);
      AddStep(b, step);
    }
    Params params;
    params.by.assign(spec->by.begin(), spec->by.end());
    Tables tables = Analyse(spec->name, {&a.View(0), &b.View(1)}, params);
    if (spec->takes_two()) {
      tables = spec->PipelineFor(params).compare(tables, tables, params).value();
    }
    for (const Table& table : tables) {
      ExpectKeysInOneOrderAndOneWords(table);
    }
  }
}

TEST(InfoTest, OneRowAFile) {
  TestTrace trace;
  trace.meta().devices.resize(3);
  trace.meta().devices[0].name = "A";
  trace.meta().devices[1].name = "A";
  trace.meta().devices[2].multiprocessors = 304;
  trace.meta().devices[2].compute_major = 9;
  trace.meta().devices[2].compute_minor = 4;
  trace.meta().vendor = Vendor::kAmd;
  trace.meta().base_ns = 1000;
  trace.meta().options.record_shapes = true;
  trace.Op("f", {5, 10}).Kernel("k", {20, 10}).Sync("Context Sync", {0, 1}, {1, 9, 0});
  const Tables tables = Analyse("info", {&trace.View(4)});
  EXPECT_EQ(Csv(tables[0]),
            "rank,file,format,world_size,producer,events,host_events,device_events,streams,steps,"
            "begin_unix_ns,span_ns,devices,text_bytes,threads,options,inherited_works,"
            "inherited_ns,inherited_share\n"
            "4,test.json,kineto-json,-,-,3,1,1,1,0,1000,30,"
            "2 x A, 1 x (unnamed, 304 CUs, gfx9.4),0,1,record_shapes,0,0,0\n");
  EXPECT_EQ(Csv(tables[1]), "rank,phase,category,count,total_ns\n4,X,device,2,11\n4,X,host,1,10\n");
}

TEST(DescribeTest, NumbersForPeople) {
  EXPECT_EQ(FormatTime(0), "0 ns");
  EXPECT_EQ(FormatTime(999), "999 ns");
  EXPECT_EQ(FormatTime(12'345), "12.3 us");
  EXPECT_EQ(FormatTime(123'456), "123 us");
  EXPECT_EQ(FormatTime(3'100'000'000), "3.1 s");
  EXPECT_EQ(FormatShare(0.4561), "45.6 %");
  EXPECT_EQ(FormatCount(1'234'567), "1,234,567");
  EXPECT_EQ(FormatCount(-1'234), "-1,234");
  EXPECT_EQ(FormatCount(12), "12");
}

}  // namespace
}  // namespace borescope::internal
