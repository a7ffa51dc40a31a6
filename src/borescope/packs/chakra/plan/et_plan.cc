#include "borescope/packs/chakra/plan/et_plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "borescope/base/stop.h"
#include "borescope/packs/chakra/check/et_graph.h"
#include "borescope/packs/chakra/et/et_stream.h"
#include "borescope/packs/chakra/json/py_repr.h"

namespace borescope::internal {
namespace {

constexpr size_t kMostNamed = 12;  // nodes of a circle in a message

// The place of a node in a plan whose nodes ascend.
uint32_t PlaceOf(const LinkedTrace& linked, const EtPlan& plan, uint64_t id) {
  const auto found = std::lower_bound(plan.nodes.begin(), plan.nodes.end(), id,
                                      [&](const PlannedNode& node, uint64_t wanted) {
                                        return linked.nodes[node.source].id < wanted;
                                      });
  return static_cast<uint32_t>(found - plan.nodes.begin());
}

std::string NamesOf(const LinkedTrace& linked, const EtPlan& plan,
                    const std::vector<uint32_t>& cycle) {
  std::string names;
  for (size_t i = 0; i < std::min(cycle.size(), kMostNamed); ++i) {
    const LinkedNode& node = linked.nodes[plan.nodes[cycle[i]].source];
    names += fmt::format("{} ({}) -> ", node.name, node.id);
  }
  return names + (cycle.size() > kMostNamed
                      ? fmt::format("{} more", cycle.size() - kMostNamed)
                      : fmt::format("{}", linked.nodes[plan.nodes[cycle[0]].source].name));
}

void AddDocumentAttrs(const LinkedTrace& linked, EtMetadata& metadata) {
  metadata.attrs.push_back(EtAttr::String("schema", linked.schema));
  const auto add = [&](std::string_view name, const std::optional<uint64_t>& number) {
    if (number.has_value()) {
      metadata.attrs.push_back(EtAttr::Uint64(name, *number));
    }
  };
  add("pid", linked.pid);
  metadata.attrs.push_back(EtAttr::String("time", linked.time));
  add("start_ts", linked.start_ts);
  add("finish_ts", linked.finish_ts);
}

// The texts of the arguments and results of one node, whose memory serves the next one.
class IoTexts {
 public:
  EtIo Make(const LinkedIo& io, size_t first) {
    return {Text(io.values, first), Text(io.shapes, first + 1), Text(io.types, first + 2), true};
  }

 private:
  std::string_view Text(std::string_view json, size_t place) {
    texts_[place].clear();
    AppendPythonStr(json, texts_[place]);
    return texts_[place];
  }

  std::string texts_[6];
};

void AddSourceAttrs(const LinkedNode& source, std::vector<EtAttr>& attrs) {
  for (size_t i = 0; i < kLinkedAttrs; ++i) {
    if (source.attrs[i].has_value()) {
      attrs.push_back(EtAttr::Int64(LinkedAttrName(static_cast<LinkedAttr>(i)), *source.attrs[i]));
    }
  }
  if (source.op_schema.has_value()) {
    attrs.push_back(EtAttr::String("op_schema", *source.op_schema));
  }
  attrs.push_back(EtAttr::Bool("is_cpu_op", !source.is_device));
  if (source.stream.has_value() || !source.is_device) {
    attrs.push_back(EtAttr::Int64("stream", source.stream.value_or(0)));
  }
}

void AddCommAttrs(const PlannedNode& planned, std::vector<EtAttr>& attrs) {
  if (planned.collective.has_value()) {
    attrs.push_back(EtAttr::Int64("comm_type", static_cast<int64_t>(*planned.collective)));
  }
  if (planned.comm_bytes.has_value()) {
    attrs.push_back(EtAttr::Int64("comm_size", *planned.comm_bytes));
  }
  if (!planned.pg_name.empty()) {
    attrs.push_back(EtAttr::String("pg_name", planned.pg_name));
  }
}

// What the reference does not write.
void AddExactly(const PlannedNode& planned, std::vector<EtAttr>& attrs) {
  if (planned.start_ns.has_value()) {
    attrs.push_back(EtAttr::Uint64("start_time_nanos", *planned.start_ns));
  }
  if (planned.duration_ns.has_value()) {
    attrs.push_back(EtAttr::Uint64("duration_nanos", *planned.duration_ns));
  }
  if (planned.device.has_value()) {
    attrs.push_back(EtAttr::Int64("device", *planned.device));
  }
}

}  // namespace

Result<void> CheckAcyclic(const LinkedTrace& linked, const EtPlan& plan) {
  DependencyGraph graph;
  std::vector<uint32_t> deps;
  for (const PlannedNode& node : plan.nodes) {
    deps.clear();
    for (const uint64_t id : node.data_deps) {
      deps.push_back(PlaceOf(linked, plan, id));
    }
    graph.Add(deps);
  }
  const std::vector<uint32_t> cycle = graph.FindCycle();
  if (cycle.empty()) {
    return {};
  }
  return Error{ErrorCode::kCorrupt,
               fmt::format("dependencies go in a circle: {}", NamesOf(linked, plan, cycle)),
               "link the traces again with borescope link"};
}

Result<void> WriteEt(const LinkedTrace& linked, const EtPlan& plan, Sink& sink) {
  EtWriter writer(sink);
  EtMetadata metadata;
  AddDocumentAttrs(linked, metadata);
  writer.Add(metadata);
  EtNode node;
  IoTexts texts;
  for (const PlannedNode& planned : plan.nodes) {
    CheckStop();
    const LinkedNode& source = linked.nodes[planned.source];
    node.Clear();
    node.id = source.id;
    node.name = source.name;
    node.type = planned.type;
    if (planned.ctrl_dep.has_value()) {
      node.ctrl_deps.push_back(*planned.ctrl_dep);
    }
    node.data_deps = planned.data_deps;
    node.start_us = planned.start_us;
    node.duration_us = planned.duration_us;
    node.inputs = texts.Make(source.inputs, 0);
    node.outputs = texts.Make(source.outputs, 3);
    AddSourceAttrs(source, node.attrs);
    AddCommAttrs(planned, node.attrs);
    AddExactly(planned, node.attrs);
    writer.Add(node);
  }
  return writer.Finish();
}

}  // namespace borescope::internal
