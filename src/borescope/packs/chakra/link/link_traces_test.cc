#include "borescope/packs/chakra/link/link_traces.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "borescope/base/row_limit.h"
#include "borescope/packs/chakra/link/link_writer.h"

namespace borescope::internal {
namespace {

namespace fs = std::filesystem;

std::string Node(int id, std::string_view name, int rf_id, int parent = 2) {
  std::ostringstream out;
  out << R"({"id":)" << id << R"(,"name":")" << name << R"(","ctrl_deps":)" << parent
      << R"(,"attrs":[{"name":"rf_id","type":"uint64","value":)" << rf_id << "}]}";
  return out.str();
}

std::string Host(const std::string& nodes) {
  return R"({"schema":"1.1.1-chakra.0.0.4","nodes":[)" + Node(1, "process", 0, 1) + "," +
         Node(2, "thread", 0, 1) + "," + nodes + "]}";
}

std::string Event(std::string_view category, std::string_view name, int tid, double ts, double dur,
                  const std::string& args) {
  std::ostringstream out;
  out << R"({"ph":"X","cat":")" << category << R"(","name":")" << name << R"(","pid":)"
      << (category == "cpu_op" || category == "cuda_runtime" ? 9 : 0) << R"(,"tid":)" << tid
      << R"(,"ts":)" << ts << R"(,"dur":)" << dur << R"(,"args":{)" << args << "}}";
  return out.str();
}

std::string Op(std::string_view name, double ts, double dur, int rf_id, int tid = 1) {
  return Event("cpu_op", name, tid, ts, dur,
               R"("External id":)" + std::to_string(rf_id) + R"(,"Record function id":)" +
                   std::to_string(rf_id));
}

std::string Call(std::string_view name, double ts, double dur, int correlation) {
  return Event("cuda_runtime", name, 1, ts, dur, R"("correlation":)" + std::to_string(correlation));
}

std::string Work(std::string_view category, double ts, double dur, int correlation,
                 int stream = 7) {
  return Event(category, "work", stream, ts, dur,
               R"("device":0,"stream":)" + std::to_string(stream) + R"(,"correlation":)" +
                   std::to_string(correlation));
}

class LinkTest : public testing::Test {
 protected:
  LinkTest() {
    std::string name = (fs::temp_directory_path() / "borescope_link_XXXXXX").string();
    folder_ = mkdtemp(name.data());
    options_.host = (folder_ / "host.json").string();
    options_.device = (folder_ / "device.json").string();
    options_.output = (folder_ / "linked.json").string();
  }
  ~LinkTest() override { fs::remove_all(folder_); }

  void Save(const std::string& host, const std::vector<std::string>& events) const {
    std::ofstream(options_.host) << host;
    std::ofstream device(options_.device);
    device << R"({"distributedInfo":{"rank":3},"traceEvents":[)";
    for (size_t i = 0; i < events.size(); ++i) {
      device << (i == 0 ? "" : ",") << events[i];
    }
    device << "]}";
  }

  // The linked nodes, one line each, from "inclusive_dur" on.
  std::vector<std::string> Linked() const {
    Result<LinkedPair> linked = LinkTraces(options_);
    if (!linked.ok()) {
      return {linked.error().Sentence()};
    }
    StringSink sink;
    EXPECT_TRUE(chakra::WriteLinked(linked->host, linked->plan, JsonForm::kCompact, sink).ok());
    std::vector<std::string> nodes;
    const std::string& text = sink.text();
    for (size_t at = text.find("{\"id\""); at != std::string::npos;) {
      const size_t next = text.find("{\"id\"", at + 1);
      const std::string node = text.substr(at, next == std::string::npos ? next : next - at - 1);
      const size_t times = node.find("\"inclusive_dur\"");
      nodes.push_back(times == std::string::npos ? "" : node.substr(times));
      at = next;
    }
    return nodes;
  }

  chakra::LinkCounts Counts() const { return LinkTraces(options_).value().plan.counts; }

  fs::path folder_;
  LinkRequest options_;
};

TEST_F(LinkTest, ExactTimesAndAllDeviceWork) {
  Save(Host(Node(3, "outer", 1) + "," + Node(4, "inner", 2, 3)),
       {Op("outer", 10, 20.5, 1), Op("inner", 12.25, 5, 2), Call("cudaLaunchKernel", 13, 1, 50),
        Call("cudaMemsetAsync", 25, 1, 51), Work("kernel", 30, 2.125, 50),
        Work("gpu_memset", 40, 1, 51)});
  const std::vector<std::string> nodes = Linked();
  ASSERT_EQ(nodes.size(), 6U) << nodes[0];
  EXPECT_EQ(nodes[2],
            R"("inclusive_dur":20.5,"exclusive_dur":15.5,"ts":10,"inter_thread_dep":null})");
  EXPECT_EQ(nodes[3], R"("inclusive_dur":1,"exclusive_dur":1,"ts":40,"inter_thread_dep":null,)"
                      R"("cat":"gpu_memset","ph":"X","stream":7,"device":0,"stream_dep":[5]})");
  EXPECT_EQ(nodes[5],
            R"("inclusive_dur":2.125,"exclusive_dur":2.125,"ts":30,"inter_thread_dep":null,)"
            R"("cat":"kernel","ph":"X","stream":7,"device":0}]})");
}

TEST_F(LinkTest, AllKernelsOfAGraphLaunch) {
  Save(Host(Node(3, "graph", 1)), {Op("graph", 10, 20, 1), Call("cudaGraphLaunch", 13, 1, 50),
                                   Work("kernel", 30, 2, 50), Work("kernel", 33, 2, 50)});
  EXPECT_EQ(Counts().device_linked, 2U);
}

TEST_F(LinkTest, TheNextOperatorOfTheThreadWaits) {
  Save(Host(Node(3, "a", 1) + "," + Node(4, "inside", 2) + "," + Node(5, "b", 3)),
       {Op("a", 10, 20, 1), Call("cudaLaunchKernel", 11, 1, 50), Work("kernel", 13, 60, 50),
        Call("cudaStreamSynchronize", 35, 40, 51), Op("inside", 40, 5, 2, 2), Op("b", 80, 5, 3),
        Event("cuda_sync", "Stream Sync", 7, 36, 38, R"("stream":7,"correlation":51,"device":0)")});
  const std::vector<std::string> nodes = Linked();
  ASSERT_EQ(nodes.size(), 6U);
  EXPECT_EQ(nodes[4].find("sync_dep"), std::string::npos) << "of another thread";
  EXPECT_NE(nodes[5].find(R"("sync_dep":[3])"), std::string::npos) << nodes[5];
  EXPECT_EQ(Counts().sync_attached, 1U);
}

TEST_F(LinkTest, WaitsAreInferredWithoutRecords) {
  Save(Host(Node(3, "a", 1) + "," + Node(4, "b", 2)),
       {Op("a", 10, 20, 1), Call("cudaLaunchKernel", 11, 1, 50), Work("kernel", 13, 60, 50),
        Call("cudaDeviceSynchronize", 35, 40, 51), Op("b", 80, 5, 2)});
  EXPECT_EQ(Counts().sync_inferred, 1U);
  EXPECT_EQ(Counts().sync_attached, 1U);
}

TEST_F(LinkTest, AThreadThatRestedWaitsForTheOther) {
  Save(Host(Node(3, "a", 1) + "," + Node(4, "b", 2) + "," + Node(5, "c", 3)),
       {Op("a", 10, 20, 1), Op("b", 40, 900, 2, 2), Op("c", 2000, 5, 3)});
  const std::vector<std::string> nodes = Linked();
  ASSERT_EQ(nodes.size(), 5U);
  EXPECT_NE(nodes[3].find(R"("inter_thread_dep":2)"), std::string::npos);
  EXPECT_NE(nodes[4].find(R"("inter_thread_dep":3)"), std::string::npos);
}

// If a kernel begins before its launch, the operator after the launch could wait for itself.
TEST_F(LinkTest, ClocksThatDisagreeMakeNoCircle) {
  Save(Host(Node(3, "a", 1) + "," + Node(4, "b", 2)),
       {Call("cudaDeviceSynchronize", 5, 6, 51), Op("a", 12, 3, 1), Op("b", 20, 20, 2),
        Call("cudaLaunchKernel", 21, 1, 50), Work("kernel", 4, 5, 50)});
  EXPECT_EQ(Counts().device_linked, 1U);
  EXPECT_EQ(Counts().sync_attached, 0U);
}

TEST_F(LinkTest, MoreThanCanBeNumberedIsAnErrorThatSaysSo) {
  Save(Host(Node(3, "a", 1)), {Op("a", 10, 20, 1)});
  const RowLimitForTest limit(8);
  const Result<Document> document = RunLink(options_);
  ASSERT_FALSE(document.ok());
  EXPECT_EQ(document.error().Sentence(),
            "more than 8 members of nodes, as many as can be numbered; record or select less time, "
            "or fewer processes");
}

TEST_F(LinkTest, WhatFitsNotIsAnError) {
  Save(Host(Node(3, "a", 1)), {Op("a", 10, 20, 7)});
  EXPECT_NE(Linked()[0].find("ExecutionTraceObserver"), std::string::npos);
  Save(Host(Node(3, "a", 1)), {Op("z", 10, 20, 1)});
  EXPECT_NE(Linked()[0].find("not recorded at the same time"), std::string::npos);
  Save(Host(Node(3, "a", 1)), {Op("a", 10, 20, 1), Work("kernel", 30, 2, 50)});
  EXPECT_NE(Linked()[0].find("of one process"), std::string::npos);
  Save(Host(Node(3, "a", 1)), {Op("a", 10, 20, 1)});
  options_.rank = 2;
  EXPECT_NE(Linked()[0].find("of rank 3, not of rank 2"), std::string::npos);
}

// A trace of a profiler that did not record record functions.
std::string OldOp(std::string_view name, double ts, double dur, int external_id) {
  return Event("cpu_op", name, 1, ts, dur, R"("External id":)" + std::to_string(external_id));
}

TEST_F(LinkTest, OldTracesAreMatchedByExternalIdAndName) {
  Save(Host(Node(3, "a", 1) + "," + Node(4, "b", 2) + "," + Node(5, "c", 3)),
       {OldOp("a", 10, 20, 1), Call("cudaLaunchKernel", 11, 1, 50), Work("kernel", 13, 60, 50),
        OldOp("b", 40, 5, 2), OldOp("chance", 50, 5, 3)});
  const std::vector<std::string> nodes = Linked();
  ASSERT_EQ(nodes.size(), 6U) << nodes[0];
  EXPECT_NE(nodes[2], "");
  EXPECT_NE(nodes[3].find(R"("cat":"kernel")"), std::string::npos);
  EXPECT_NE(nodes[4], "");
  EXPECT_EQ(nodes[5], "") << "of another name";
  EXPECT_EQ(Counts().host_matched, 2U);
  EXPECT_EQ(Counts().renamed, 1U);
  EXPECT_EQ(LinkTraces(options_)->diagnostics.front().code, "no-record-functions");
  Save(Host(Node(3, "a", 1) + "," + Node(4, "b", 2)),
       {OldOp("a", 10, 20, 1), OldOp("x", 50, 5, 2)});
  EXPECT_NE(Linked()[0].find("not recorded at the same time"), std::string::npos);
}

// If any operator has a number, operators without one do not match by External id.
TEST_F(LinkTest, ExternalIdsAreForOldTracesOnly) {
  Save(Host(Node(3, "a", 1) + "," + Node(4, "b", 2)), {Op("a", 10, 20, 1), OldOp("b", 40, 5, 2)});
  EXPECT_EQ(Counts().host_matched, 1U);
}

// The reference treats 0 as a number, and does not compare names.
TEST_F(LinkTest, WhatDoesNotBelongTogetherIsAnErrorToChakraToo) {
  options_.as_chakra = true;
  Save(Host(Node(3, "a", 1)), {Op("z", 10, 20, 0)});
  EXPECT_NE(Linked()[0].find("none of the 3 nodes"), std::string::npos);
  Save(Host(Node(3, "a", 1)), {Op("z", 10, 20, 1)});
  EXPECT_NE(Linked()[0].find("1 of 1 operators have another name"), std::string::npos);
  Save(Host(Node(3, "a", 1)), {Op("a", 10, 20, 1), Op("z", 40, 20, 0)});
  EXPECT_EQ(Counts().host_matched, 3U) << "process and thread, too";
}

TEST_F(LinkTest, OneNumberTwiceIsCounted) {
  Save(Host(Node(3, "a", 1) + "," + Node(4, "a", 1)), {Op("a", 10, 20, 1), Op("a", 40, 20, 1)});
  EXPECT_EQ(Counts().host_matched, 1U);
  EXPECT_EQ(Counts().duplicates, 2U);
}

TEST_F(LinkTest, DamageIsNoCrash) {
  const std::string host = Host(Node(3, "a", 1) + "," + Node(4, "b", 2));
  const std::vector<std::string> events = {
      Op("a", 10, 20, 1), Call("cudaLaunchKernel", 11, 1, 50), Work("kernel", 13, 60, 50),
      Call("cudaDeviceSynchronize", 35, 40, 51), Op("b", 80, 5, 2)};
  std::mt19937 random(3);
  for (int round = 0; round < 300; ++round) {
    std::vector<std::string> damaged = events;
    std::string& event = damaged[random() % damaged.size()];
    event[random() % event.size()] = "0-\"{}[],x"[random() % 9];
    Save(host, damaged);
    options_.as_chakra = round % 2 == 0;
    static_cast<void>(Linked());
  }
}

}  // namespace
}  // namespace borescope::internal
