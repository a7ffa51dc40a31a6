#include "borescope/packs/hta/critical_path/critical_graph.h"

#include <gtest/gtest.h>

#include <vector>

namespace borescope::internal {
namespace {

// Makes nodes at these times.
HtaCriticalGraph GraphAt(const std::vector<int64_t>& times) {
  std::vector<CriticalNode> nodes;
  for (uint32_t i = 0; i < times.size(); ++i) {
    nodes.push_back({i, times[i], true});
  }
  return HtaCriticalGraph(std::move(nodes));
}

std::vector<CriticalNodeId> NodesOf(const std::vector<CriticalEdge>& path) {
  std::vector<CriticalNodeId> nodes;
  for (const CriticalEdge& edge : path) {
    nodes.push_back(edge.to);
  }
  if (!path.empty()) {
    nodes.insert(nodes.begin(), path.front().from);
  }
  return nodes;
}

using Nodes = std::vector<CriticalNodeId>;

TEST(HtaCriticalGraphTest, TheLongestWay) {
  HtaCriticalGraph graph = GraphAt({0, 10, 15, 40, 50, 60});
  graph.Add(0, 1, CriticalKind::kOperator);
  graph.Add(1, 3, CriticalKind::kOperator, true);
  graph.Add(0, 2, CriticalKind::kLaunchDelay);
  graph.Add(2, 3, CriticalKind::kSync);
  graph.Add(3, 4, CriticalKind::kOperator);
  graph.Add(4, 5, CriticalKind::kDependency);  // leads no further
  EXPECT_EQ(NodesOf(graph.LongestPath()), (Nodes{0, 2, 3, 4}));
  EXPECT_EQ(graph.connected_nodes(), 6u);
}

// networkx keeps the place of an edge that is added again, and takes its new values.
TEST(HtaCriticalGraphTest, AnEdgeAddedTwiceTakesTheNewValues) {
  HtaCriticalGraph graph = GraphAt({0, 10});
  const size_t edge = graph.Add(0, 1, CriticalKind::kOperator);
  graph.Attribute(edge, 7);
  EXPECT_EQ(graph.Add(0, 1, CriticalKind::kDependency), edge);
  ASSERT_EQ(graph.edges().size(), 1u);
  EXPECT_EQ(graph.edges()[0].weight_us, 0);
  EXPECT_EQ(graph.edges()[0].event, 7u);
  EXPECT_EQ(graph.Add(1, 1, CriticalKind::kSync), HtaCriticalGraph::kNoEdge);
}

// The results of networkx.dag_longest_path for the same edges in the same order.
TEST(HtaCriticalGraphTest, OfEqualWaysTheFirstByOrder) {
  HtaCriticalGraph graph = GraphAt({0, 5, 5, 9, 9});
  graph.Add(0, 2, CriticalKind::kOperator);
  graph.Add(0, 1, CriticalKind::kOperator);
  graph.Add(2, 3, CriticalKind::kOperator);
  graph.Add(1, 3, CriticalKind::kOperator);
  graph.Add(1, 4, CriticalKind::kOperator);
  EXPECT_EQ(NodesOf(graph.LongestPath()), (Nodes{0, 2, 3}));
}

TEST(HtaCriticalGraphTest, NegativeWeightsCountAsNothing) {
  HtaCriticalGraph graph = GraphAt({10, 4, 6});
  graph.Add(0, 1, CriticalKind::kOperator);
  graph.Add(1, 2, CriticalKind::kOperator);
  const std::vector<CriticalEdge> path = graph.LongestPath();
  ASSERT_EQ(NodesOf(path), (Nodes{0, 1, 2}));
  EXPECT_EQ(path[0].weight_us, -6);
  EXPECT_EQ(path[0].length_us(), 0);
}

TEST(HtaCriticalGraphTest, ACycleHasNoPath) {
  HtaCriticalGraph graph = GraphAt({0, 1, 2});
  graph.Add(0, 1, CriticalKind::kOperator);
  graph.Add(1, 2, CriticalKind::kOperator);
  graph.Add(2, 1, CriticalKind::kSync);
  EXPECT_TRUE(graph.LongestPath().empty());
  EXPECT_TRUE(GraphAt({0}).LongestPath().empty());
}

}  // namespace
}  // namespace borescope::internal
