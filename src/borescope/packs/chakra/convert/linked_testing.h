// Small linked traces for tests.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "borescope/packs/chakra/convert/linked_trace.h"

namespace borescope::internal {

// A node; `more` are further members, each with a comma before it.
inline std::string LinkedNodeText(int id, int parent, const std::string& name,
                                  const std::string& more = {}) {
  return fmt::format(
      R"({{"id": {}, "name": "{}", "ctrl_deps": {}, "inputs": {{"values": [], "shapes": [], )"
      R"("types": []}}, "outputs": {{"values": [], "shapes": [], "types": []}}, "attrs": )"
      R"([{{"name": "rf_id", "type": "uint64", "value": {}}}, {{"name": "fw_parent", "value": 0}}, )"
      R"({{"name": "seq_id", "value": -1}}, {{"name": "scope", "value": 0}}, )"
      R"({{"name": "tid", "value": 1}}, {{"name": "fw_tid", "value": 0}}, )"
      R"({{"name": "op_schema", "value": ""}}]{}}})",
      id, name, parent, id, more);
}

// Times of an operator, in microseconds.
inline std::string LinkedTimes(const std::string& ts, const std::string& dur) {
  return fmt::format(R"(, "exclusive_dur": {}, "ts": {}, "inter_thread_dep": null)", dur, ts);
}

// The members that make a node device work.
inline std::string LinkedKernel(const std::string& ts, const std::string& dur, int stream) {
  return LinkedTimes(ts, dur) +
         fmt::format(R"(, "cat": "kernel", "ph": "X", "stream": {})", stream);
}

// A document with process 0, thread 1 and these nodes.
inline std::string LinkedDocument(const std::vector<std::string>& nodes) {
  std::string text = R"({"schema": "1.1.1-chakra.0.0.4", "pid": 7, "time": "now", "start_ts": 1, )"
                     R"("nodes": [)";
  text += LinkedNodeText(0, 0, "[pytorch|profiler|execution_trace|process]") + ",\n";
  text += LinkedNodeText(1, 0, "[pytorch|profiler|execution_trace|thread]");
  for (const std::string& node : nodes) {
    text += ",\n" + node;
  }
  return text + R"(], "finish_ts": 2})";
}

inline LinkedTrace MakeLinked(const std::vector<std::string>& nodes) {
  Result<LinkedTrace> linked = ParseLinkedTrace(LinkedDocument(nodes), "test");
  EXPECT_TRUE(linked.ok()) << (linked.ok() ? "" : linked.error().Sentence());
  return linked.ok() ? std::move(*linked) : LinkedTrace();
}

}  // namespace borescope::internal
