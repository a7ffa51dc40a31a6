#include "borescope/packs/chakra/link/host_trace.h"

#include <gtest/gtest.h>

#include <random>

#include "borescope/output/sink/sink.h"
#include "borescope/packs/chakra/link/link_writer.h"

namespace borescope::internal::chakra {
namespace {

constexpr std::string_view kTrace =
    R"({"schema": "1.1.1-chakra.0.0.4", "pid": 1, "nodes": [
  {"id": 7, "name": "aten::add", "ctrl_deps": 2, "inputs": {"values": [1.50], "types": ["Int"]},
   "attrs": [{"name": "rf_id", "type": "uint64", "value": 3}, {"name": "x", "value": "\u00e9"}]},
  {"id": 2, "name": "[pytorch|profiler|execution_trace|thread]", "ctrl_deps": 1, "attrs": []},
  {"id": 1, "name": "[pytorch|profiler|execution_trace|process]", "ctrl_deps": 1}],
 "finish_ts": 9})";

TEST(HostTrace, NodesComeById) {
  const Result<HostTrace> trace = ReadHostTrace(std::string(kTrace));
  ASSERT_TRUE(trace.ok()) << trace.error().Sentence();
  ASSERT_EQ(trace->nodes.size(), 3U);
  EXPECT_EQ(trace->nodes[0].id, 1);
  EXPECT_EQ(trace->nodes[2].id, 7);
  EXPECT_EQ(trace->nodes[2].rf_id, 3);
  EXPECT_EQ(trace->nodes[2].parent, 2);
  EXPECT_EQ(trace->nodes[2].name, "aten::add");
  EXPECT_EQ(trace->Find(2), 1U);
  EXPECT_EQ(trace->Find(3), std::nullopt);
  EXPECT_EQ(trace->MembersOf(trace->nodes[1]).size(), 4U);
}

TEST(HostTrace, OfTheFirstSchemaNodesAreFlat) {
  const Result<HostTrace> trace =
      ReadHostTrace(R"({"schema":"1.0.1","nodes":[{"id":1,"name":"a","rf_id":"4","parent":1}]})");
  ASSERT_TRUE(trace.ok());
  EXPECT_EQ(trace->nodes[0].rf_id, 4);
  EXPECT_EQ(trace->nodes[0].parent, 1);
  EXPECT_FALSE(trace->has_ctrl_deps);
}

std::string ErrorOf(std::string text) {
  const Result<HostTrace> trace = ReadHostTrace(std::move(text));
  return trace.ok() ? "" : trace.error().Sentence();
}

TEST(HostTrace, ErrorsSayWhatIsWrong) {
  EXPECT_NE(ErrorOf("[]").find("not a JSON object"), std::string::npos);
  EXPECT_NE(ErrorOf(R"({"schema":"1.0.1"})").find("no member \"nodes\""), std::string::npos);
  EXPECT_NE(ErrorOf(R"({"nodes":[]})").find("\"schema\""), std::string::npos);
  EXPECT_NE(ErrorOf(R"({"schema":"9.9","nodes":[]})").find("schema 9.9"), std::string::npos);
  EXPECT_NE(ErrorOf(R"({"schema":"1.0.1","nodes":[{"id":"x"}]})").find("byte 27"),
            std::string::npos);
  EXPECT_NE(ErrorOf(R"({"schema":"1.0.1","nodes":[{"id":1},{"id":1}]})").find("two nodes"),
            std::string::npos);
  EXPECT_NE(ErrorOf(std::string(kTrace.substr(0, 300))).find("ends early"), std::string::npos);
}

TEST(HostTrace, CutTextsAreErrors) {
  for (size_t size = 0; size < kTrace.size(); ++size) {
    EXPECT_NE(ErrorOf(std::string(kTrace.substr(0, size))), "") << size;
  }
}

// Reads and writes any text; only a crash would fail.
void Try(std::string text) {
  const Result<HostTrace> trace = ReadHostTrace(std::move(text));
  if (trace.ok()) {
    LinkPlan plan;
    plan.hosts.resize(trace->nodes.size());
    StringSink sink;
    static_cast<void>(WriteLinked(*trace, plan, JsonForm::kIndented, sink));
  }
}

TEST(HostTrace, DamageIsNoCrash) {
  std::mt19937 random(2);
  for (size_t cut = 0; cut < kTrace.size(); ++cut) {
    Try(std::string(kTrace.substr(0, cut)));
  }
  for (int round = 0; round < 5000; ++round) {
    std::string text(kTrace);
    for (int i = 0; i < 3; ++i) {
      constexpr std::string_view kBytes = "\"{}[],:\\0e-9 \xFF";
      text[random() % text.size()] = kBytes[random() % kBytes.size()];
    }
    Try(text);
  }
  Try(R"({"schema":"1.0.1","nodes":[)" + std::string(100'000, '['));
}

TEST(WriteLinked, NumbersNodesAnew) {
  const Result<HostTrace> trace = ReadHostTrace(std::string(kTrace));
  ASSERT_TRUE(trace.ok());
  LinkPlan plan;
  plan.hosts.resize(3);
  plan.hosts[2].is_matched = true;
  plan.hosts[2].begin = LinkTime::Nanos(1'500);
  plan.hosts[2].inclusive = LinkTime::Nanos(2'000);
  plan.hosts[2].end_device = 1;
  LinkedDevice& device = plan.devices.emplace_back();
  device.host = 2;
  device.name = "\"k\"";
  device.phase = "\"X\"";
  device.stream = "7";
  device.category = "kernel";
  plan.syncs = {{1, 3}};
  StringSink sink;
  ASSERT_TRUE(WriteLinked(*trace, plan, JsonForm::kCompact, sink).ok());
  EXPECT_EQ(
      sink.text(),
      R"({"schema":"1.1.1-chakra.0.0.4","pid":1,"nodes":[)"
      R"({"id":0,"name":"[pytorch|profiler|execution_trace|process]","ctrl_deps":0},)"
      R"({"id":1,"name":"[pytorch|profiler|execution_trace|thread]","ctrl_deps":0,"attrs":[],)"
      R"("sync_dep":[3]},)"
      R"({"id":2,"name":"aten::add","ctrl_deps":1,"inputs":{"values":[1.5],"types":["Int"]},)"
      R"("attrs":[{"name":"rf_id","type":"uint64","value":3},{"name":"x","value":"\u00e9"}],)"
      R"("inclusive_dur":2,"exclusive_dur":0,"ts":1.5,"inter_thread_dep":null},)"
      R"({"id":3,"name":"k","ctrl_deps":2,"inputs":{"values":[1.5],"types":["Int"]},)"
      R"("attrs":[{"name":"rf_id","type":"uint64","value":3},{"name":"x","value":"\u00e9"}],)"
      R"("inclusive_dur":0,"exclusive_dur":0,"ts":0,"inter_thread_dep":null,"cat":"kernel",)"
      R"("ph":"X","stream":7}],"finish_ts":9})");
}

}  // namespace
}  // namespace borescope::internal::chakra
