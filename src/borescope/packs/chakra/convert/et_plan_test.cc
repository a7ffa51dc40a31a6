#include "borescope/packs/chakra/convert/et_plan.h"

#include <gtest/gtest.h>

#include <initializer_list>

#include "borescope/packs/chakra/convert/linked_testing.h"

namespace borescope::internal {
namespace {

using Ids = std::vector<uint64_t>;

EtPlan Plan(const LinkedTrace& linked) {
  Result<EtPlan> plan = PlanEt(linked);
  EXPECT_TRUE(plan.ok()) << (plan.ok() ? "" : plan.error().Sentence());
  return plan.ok() ? std::move(*plan) : EtPlan();
}

// The dependencies of the node with this id; {999} if it is not planned.
Ids DepsOf(const LinkedTrace& linked, const EtPlan& plan, uint64_t id) {
  for (const PlannedNode& node : plan.nodes) {
    if (linked.nodes[node.source].id == id) {
      return node.data_deps;
    }
  }
  return {999};
}

// Two operators with a kernel each on one stream, and one that waits for the first kernel.
std::vector<std::string> TwoKernels() {
  return {LinkedNodeText(2, 1, "a", LinkedTimes("100", "5")),
          LinkedNodeText(3, 2, "k1", LinkedKernel("110", "50", 7)),
          LinkedNodeText(4, 1, "b", LinkedTimes("105", "5.5004")),
          LinkedNodeText(5, 4, "k2", LinkedKernel("160", "50", 7)),
          LinkedNodeText(6, 1, "c", LinkedTimes("170", "1") + R"(, "sync_dep": [3])")};
}

TEST(PlanEt, StreamsAreInOrderAndWaitsAreKept) {
  const LinkedTrace linked = MakeLinked(TwoKernels());
  const EtPlan plan = Plan(linked);
  EXPECT_EQ(DepsOf(linked, plan, 0), Ids{999});  // the process
  EXPECT_EQ(DepsOf(linked, plan, 2), Ids{1});
  EXPECT_EQ(DepsOf(linked, plan, 3), Ids{2});
  EXPECT_EQ(DepsOf(linked, plan, 4), Ids{2});
  EXPECT_EQ(DepsOf(linked, plan, 5), (Ids{4, 3}));
  EXPECT_EQ(DepsOf(linked, plan, 6), (Ids{4, 3}));
  EXPECT_EQ(plan.counts.sync_deps, 1U);
  EXPECT_EQ(plan.counts.stream_deps, 1U);
  EXPECT_EQ(plan.counts.containers, 1U);
  EXPECT_EQ(plan.nodes[0].ctrl_dep, std::nullopt);  // the process is not planned
}

TEST(PlanEt, TimesAreExactAndRounded) {
  const LinkedTrace linked = MakeLinked(TwoKernels());
  const EtPlan plan = Plan(linked);
  EXPECT_EQ(plan.nodes[3].start_us, 105U);
  EXPECT_EQ(plan.nodes[3].duration_us, 6U);
  EXPECT_EQ(plan.nodes[3].duration_ns, 5500U);
}

TEST(PlanEt, TheReferenceWritesNeither) {
  const LinkedTrace linked = MakeLinked(TwoKernels());
  const Result<EtPlan> plan = PlanEtAsReference(linked);
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(DepsOf(linked, *plan, 5), Ids{4});
  EXPECT_EQ(DepsOf(linked, *plan, 6), Ids{4});
  EXPECT_EQ(plan->nodes[0].ctrl_dep, 0U);
  EXPECT_EQ(plan->nodes[3].duration_us, 5U);
  EXPECT_EQ(plan->nodes[3].start_us, 0U);
}

TEST(PlanEt, WhatCannotBeADependencyIsCounted) {
  const LinkedTrace linked =
      MakeLinked({LinkedNodeText(2, 1, "a", LinkedTimes("100", "5") + R"(, "sync_dep": [4, 77])"),
                  LinkedNodeText(3, 1, "b", LinkedTimes("105", "5")),
                  LinkedNodeText(4, 3, "k", LinkedKernel("110", "50", 7)),
                  LinkedNodeText(5, 88, "lost", LinkedKernel("120", "50", 8))});
  const EtPlan plan = Plan(linked);
  EXPECT_EQ(DepsOf(linked, plan, 2), Ids{1});
  EXPECT_EQ(plan.counts.backward_deps, 1U);
  EXPECT_EQ(plan.counts.dangling_deps, 1U);
  EXPECT_EQ(plan.counts.orphaned_device, 1U);
  EXPECT_EQ(DepsOf(linked, plan, 5), Ids{});
}

TEST(PlanEt, ACircleIsAnErrorWithItsNames) {
  // The clock of the second kernel is wrong: it begins before its operator, which waits for it.
  const LinkedTrace linked =
      MakeLinked({LinkedNodeText(2, 1, "first", LinkedTimes("100", "5") + R"(, "sync_dep": [4])"),
                  LinkedNodeText(3, 1, "second", LinkedTimes("105", "5")),
                  LinkedNodeText(4, 3, "kernel", LinkedKernel("50", "10", 7))});
  const Result<EtPlan> plan = PlanEt(linked);
  ASSERT_FALSE(plan.ok());
  EXPECT_EQ(plan.error().Sentence(),
            "dependencies go in a circle: first (2) -> second (3) -> kernel (4) -> first; link the "
            "traces again with borescope link");
}

constexpr std::string_view kArguments =
    R"x(, "inputs": {"values": [[[1, 2, 0, 100, 4, "cuda:0"]], [3, 4, 0, 100, 4, "cuda:0"]], )x"
    R"x("shapes": [], "types": ["GenericList[Tensor(float)]", "Tensor(float)"]})x";

struct PlannedCommunication {
  PlannedNode node;
  std::string group;  // to which the node only points
};

// The plan of one kernel under a call with arguments.
PlannedCommunication Communication(const std::string& kernel, const std::string& call,
                                   const std::string& more = {}) {
  const LinkedTrace linked = MakeLinked(
      {LinkedNodeText(2, 1, call, LinkedTimes("1", "1")),
       LinkedNodeText(3, 2, "record_param_comms", LinkedTimes("1", "1") + more),
       LinkedNodeText(4, 3, kernel, LinkedKernel("2", "1", 7) + std::string(kArguments))});
  const EtPlan plan = Plan(linked);
  const PlannedNode node = plan.nodes.empty() ? PlannedNode() : plan.nodes.back();
  return {node, std::string(node.pg_name)};
}

TEST(PlanEt, EveryCollectiveIsKnown) {
  struct Row {
    std::string_view kernel;
    std::string_view call;
    EtNodeType type;
    std::optional<EtCollective> kind;
  };
  constexpr auto kColl = EtNodeType::kCommColl;
  const Row rows[] = {
      {"ncclDevKernel_Reduce_Sum_f32_RING_LL(x)", "c10d::reduce_", kColl, EtCollective::kReduce},
      {"ncclDevKernel_Generic(x)", "nccl:all_gather", kColl, EtCollective::kAllGather},
      {"ncclDevKernel_Generic_4(x)", "c10d::allreduce_", kColl, EtCollective::kAllReduce},
      {"ncclKernel_SendRecv_RING_SIMPLE(x)", "nccl:all_to_all", kColl, EtCollective::kAllToAll},
      {"ncclDevKernel_SendRecv(x)", "nccl:send 0->1", EtNodeType::kCommSend, std::nullopt},
      {"ncclDevKernel_SendRecv(x)", "nccl:recv 1<-0", EtNodeType::kCommRecv, std::nullopt},
      {"ncclDevKernel_SendRecv(x)", "nccl:gather", kColl, EtCollective::kGather},
      {"ncclDevKernel_SendRecv(x)", "nccl:scatter", kColl, EtCollective::kScatter},
      {"ncclDevKernel_AllReduce_Sum_u8_TREE_LL(x)", "c10d::barrier", kColl, EtCollective::kBarrier},
      {"ncclSymkDevKernel_AllReduce_AGxLL_R(x)", "c10d::allreduce_", kColl,
       EtCollective::kAllReduce},
      {"ncclKernel_Broadcast_RING_LL_Sum_int8_t(x)", "c10d::broadcast_", kColl,
       EtCollective::kBroadcast},
  };
  for (const Row& row : rows) {
    const PlannedNode node = Communication(std::string(row.kernel), std::string(row.call)).node;
    EXPECT_EQ(node.type, row.type) << row.kernel;
    EXPECT_EQ(node.collective, row.kind) << row.kernel << " " << row.call;
  }
}

TEST(PlanEt, TheFirstArgumentIsWhatIsSent) {
  EXPECT_EQ(Communication("ncclDevKernel_ReduceScatter_x", "nccl:x").node.comm_bytes, 400);
}

TEST(PlanEt, RecordedSizesAndGroupsComeFirst) {
  const auto [node, group] = Communication(
      "ncclDevKernel_AllGather_RING_LL(x)", "nccl:x",
      R"(, "attrs": [{"name": "in_msg_nelems", "value": 10}, {"name": "dtype", "value": "BFloat16"},
          {"name": "out_msg_nelems", "value": 80}, {"name": "pg_name", "value": "3"}])");
  EXPECT_EQ(node.comm_bytes, 20);
  EXPECT_EQ(group, "3");
}

TEST(PlanEt, UnknownCommunicationIsComputationAndCounted) {
  const LinkedTrace linked =
      MakeLinked({LinkedNodeText(2, 1, "x", LinkedTimes("1", "1")),
                  LinkedNodeText(3, 2, "ncclDevKernel_Generic(x)", LinkedKernel("2", "1", 7))});
  const EtPlan plan = Plan(linked);
  EXPECT_EQ(plan.counts.unknown_collectives, 1U);
  EXPECT_EQ(plan.nodes.back().type, EtNodeType::kComp);
  EXPECT_EQ(
      PlanEtAsReference(linked).error().Sentence(),
      "node 3: 'ncclDevKernel_Generic(x)' is not a collective that the reference knows; leave "
      "out `compat` chakra");
}

std::string TensorOf(const std::string& name, int id, int parent) {
  return LinkedNodeText(id, parent, name,
                        R"x(, "inputs": {"values": [[3, 4, 0, 100, 4, "cpu"]], "shapes": [], )x"
                        R"x("types": ["Tensor(float)"]})x");
}

TEST(PlanEt, EventsOfLibrariesBetweenHostsCommunicate) {
  const LinkedTrace linked =
      MakeLinked({LinkedNodeText(2, 1, "c10d::allreduce_"), TensorOf("gloo:all_reduce", 3, 2),
                  LinkedNodeText(4, 1, "c10d::send"), TensorOf("gloo:send", 5, 4),
                  LinkedNodeText(6, 1, "c10d::barrier"), LinkedNodeText(7, 1, "gloo:barrier")});
  const EtPlan plan = Plan(linked);
  ASSERT_EQ(plan.nodes.size(), 7U);  // and the thread
  EXPECT_EQ(plan.nodes[1].type, EtNodeType::kComp);
  EXPECT_EQ(plan.nodes[2].type, EtNodeType::kCommColl);
  EXPECT_EQ(plan.nodes[2].collective, EtCollective::kAllReduce);
  EXPECT_EQ(plan.nodes[2].comm_bytes, 400);
  EXPECT_EQ(plan.nodes[4].type, EtNodeType::kCommSend);
  EXPECT_EQ(plan.nodes[4].comm_bytes, 400);
  EXPECT_EQ(plan.nodes[5].type, EtNodeType::kComp);
  EXPECT_EQ(plan.nodes[6].collective, EtCollective::kBarrier);
  EXPECT_EQ(plan.nodes[6].comm_bytes, 0);
  EXPECT_EQ(plan.counts.unknown_sizes, 0U);
}

// Tensors that this rank contributes come after those that it receives.
TEST(PlanEt, RequestsCommunicateWhereNothingElseDoes) {
  const std::string arguments =
      R"x(, "inputs": {"values": [[1, 2, 0, 200, 4, "cpu"], [3, 4, 0, 100, 4, "cpu"]], )x"
      R"x("shapes": [], "types": ["Tensor(float)", "Tensor(float)"]})x";
  const std::vector<std::string> calls = {LinkedNodeText(2, 1, "c10d::_allgather_base_", arguments),
                                          LinkedNodeText(3, 2, "c10d::allreduce_", arguments)};
  const EtPlan plan = Plan(MakeLinked(calls));
  ASSERT_EQ(plan.nodes.size(), 3U);
  EXPECT_EQ(plan.nodes[1].collective, EtCollective::kAllGather);
  EXPECT_EQ(plan.nodes[1].comm_bytes, 400);
  EXPECT_EQ(plan.nodes[2].type, EtNodeType::kComp);

  std::vector<std::string> with_kernel = calls;
  with_kernel.push_back(
      LinkedNodeText(5, 1, "ncclDevKernel_AllReduce(x)", LinkedKernel("2", "1", 7)));
  EXPECT_EQ(Plan(MakeLinked(with_kernel)).nodes[1].type, EtNodeType::kComp);
}

// As in the reference, by name and category: kernels of NCCL communicate, calls never do.
TEST(PlanEt, TypesOfTheReference) {
  struct Row {
    std::string_view name;
    bool is_kernel;
    EtNodeType type;
    std::optional<EtCollective> kind;
  };
  constexpr auto kColl = EtNodeType::kCommColl;
  const Row rows[] = {
      {"## process_group:init ##", false, EtNodeType::kMetadata, {}},
      {"ncclKernel_AllReduce_x", true, kColl, EtCollective::kAllReduce},
      {"ncclDevKernel_AllToAll_x", true, kColl, EtCollective::kAllToAll},
      {"ncclDevKernel_AllGather_x", true, kColl, EtCollective::kAllGather},
      {"ncclDevKernel_ReduceScatter_x", true, kColl, EtCollective::kReduceScatter},
      {"ncclDevKernel_Broadcast_x", true, kColl, EtCollective::kBroadcast},
      {"c10d::all_reduce", true, EtNodeType::kComp, {}},
      {"c10d::all_reduce", false, EtNodeType::kComp, {}},
      {"nccl:all_reduce", false, EtNodeType::kComp, {}},
      {"record_param_comms", false, EtNodeType::kComp, {}},
  };
  for (const Row& row : rows) {
    const LinkedTrace linked = MakeLinked(
        {LinkedNodeText(2, 1, "x", LinkedTimes("1", "1")),
         LinkedNodeText(3, 2, std::string(row.name),
                        row.is_kernel ? LinkedKernel("2", "1", 7) : LinkedTimes("2", "1"))});
    const Result<EtPlan> plan = PlanEtAsReference(linked);
    ASSERT_TRUE(plan.ok()) << row.name << ": " << plan.error().Sentence();
    EXPECT_EQ(plan->nodes.back().type, row.type) << row.name;
    EXPECT_EQ(plan->nodes.back().collective, row.kind) << row.name;
  }
}

TEST(PlanEt, SchemasTheReferenceDoesNotConvert) {
  for (const std::string schema : {"9999.9999.9999-chakra.0.0.4", "1.0.1", "1.0.4-chakra.0.0.4"}) {
    std::string text = LinkedDocument({});
    text.replace(text.find("1.1.1-chakra.0.0.4"), 18, schema);
    const Result<LinkedTrace> linked = ParseLinkedTrace(text, "test");
    ASSERT_TRUE(linked.ok());
    EXPECT_NE(PlanEtAsReference(*linked).error().Sentence().find("schema \"" + schema),
              std::string::npos);
  }
}

// Nodes that are below each other are below no thread.
TEST(PlanEt, ParentsInACircleAreKept) {
  const LinkedTrace linked = MakeLinked({LinkedNodeText(2, 3, "a", LinkedTimes("1", "1")),
                                         LinkedNodeText(3, 2, "b", LinkedTimes("2", "1")),
                                         LinkedNodeText(4, 3, "k", LinkedKernel("3", "1", 7))});
  const EtPlan plan = Plan(linked);
  EXPECT_EQ(plan.nodes.size(), 3U);  // without the thread, which has no operators
  EXPECT_EQ(plan.counts.unreached, 2U);
  EXPECT_EQ(DepsOf(linked, plan, 3), Ids{2});
  EXPECT_EQ(DepsOf(linked, plan, 4), Ids{3});
}

TEST(PlanEt, OperatorsUnderNoThreadAreAThread) {
  const LinkedTrace linked = MakeLinked(
      {LinkedNodeText(2, 50, "a", LinkedTimes("1", "1")), LinkedNodeText(3, 2, "b", "")});
  const EtPlan plan = Plan(linked);
  EXPECT_EQ(plan.counts.unreached, 2U);
  EXPECT_EQ(DepsOf(linked, plan, 3), Ids{2});
}

// A process is not a node of a .et: what runs after it depends on what ran before it.
TEST(PlanEt, AProcessUnderAnOperatorIsNoDependency) {
  const LinkedTrace linked =
      MakeLinked({LinkedNodeText(2, 1, "a", LinkedTimes("1", "1")),
                  LinkedNodeText(5, 2, "[pytorch|profiler|execution_trace|process]"),
                  LinkedNodeText(6, 1, "b", LinkedTimes("2", "1"))});
  const EtPlan plan = Plan(linked);
  EXPECT_EQ(DepsOf(linked, plan, 5), Ids{999});
  EXPECT_EQ(DepsOf(linked, plan, 6), Ids{2});
  EXPECT_EQ(plan.counts.containers, 2U);
}

}  // namespace
}  // namespace borescope::internal
