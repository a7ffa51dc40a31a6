#include "borescope/packs/chakra/et/et_file.h"

#include <functional>
#include <queue>

#include "borescope/base/row_limit.h"
#include "borescope/packs/chakra/et/et_stream.h"

namespace borescope::internal {
namespace {

// For every node, by place: those that wait for it, each once.
DependencyGraph ChildrenOf(const EtFile& et) {
  std::vector<std::vector<uint32_t>> children(et.nodes.size());
  for (uint32_t place = 0; place < et.nodes.size(); ++place) {
    for (const uint64_t dep : et.nodes[place].data_deps) {
      const auto parent = et.places.find(dep);
      if (parent == et.places.end()) {
        continue;
      }
      std::vector<uint32_t>& list = children[parent->second];
      if (list.empty() || list.back() != place) {
        list.push_back(place);
      }
    }
  }
  DependencyGraph graph;
  for (const std::vector<uint32_t>& list : children) {
    graph.Add(list);
  }
  return graph;
}

}  // namespace

Result<EtFile> ReadEt(std::string_view bytes) {
  EtFile et;
  EtReader reader(bytes);
  BS_ASSIGN(const bool has_metadata, reader.Next(et.metadata));
  if (!has_metadata) {
    return Error{ErrorCode::kCorrupt, "the file is empty", "a .et begins with its metadata"};
  }
  et.unknown_fields = et.metadata.unknown_fields;
  EtNode node;
  for (;;) {
    BS_ASSIGN(const bool is_node, reader.Next(node));
    if (!is_node) {
      break;
    }
    et.unknown_fields += node.unknown_fields;
    et.places.try_emplace(node.id, CheckedRows(et.nodes.size() + 1, "nodes") - 1);
    et.nodes.push_back(node);
  }
  et.empty_records = reader.empty_records();
  return et;
}

DependencyGraph DataGraph(const EtFile& et) {
  DependencyGraph graph;
  std::vector<uint32_t> deps;
  for (const EtNode& node : et.nodes) {
    deps.clear();
    for (const uint64_t dep : node.data_deps) {
      if (const auto found = et.places.find(dep); found != et.places.end()) {
        deps.push_back(found->second);
      }
    }
    graph.Add(deps);
  }
  return graph;
}

std::vector<uint64_t> IssueOrder(const EtFile& et) {
  const DependencyGraph children = ChildrenOf(et);
  using Ready = std::pair<uint64_t, uint32_t>;  // id, place
  std::priority_queue<Ready, std::vector<Ready>, std::greater<>> ready;
  std::vector<size_t> waits(et.nodes.size());
  for (uint32_t place = 0; place < et.nodes.size(); ++place) {
    waits[place] = et.nodes[place].data_deps.size();
    if (waits[place] == 0) {
      ready.emplace(et.nodes[place].id, place);
    }
  }
  std::vector<uint64_t> order;
  order.reserve(et.nodes.size());
  while (!ready.empty()) {
    const auto [id, place] = ready.top();
    ready.pop();
    order.push_back(id);
    for (const uint32_t child : children.DependenciesOf(place)) {
      // One mention is taken away for one end, so that a node that names it twice waits for ever.
      if (--waits[child] == 0) {
        ready.emplace(et.nodes[child].id, child);
      }
    }
  }
  return order;
}

}  // namespace borescope::internal
