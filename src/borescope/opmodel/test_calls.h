// Calls of operators written down as a trace has them, for tests.
#pragma once

#include <string>
#include <string_view>

#include "borescope/opmodel/op_model.h"

namespace borescope::internal::opmodel {

// "[[2, 3], []]"; types and values in short, without quotes: "c10::Half,,Scalar", ",,1".
// Values that hold commas are separated by ';' instead.
struct TestCall {
  std::string_view dims = {};
  std::string_view types = {};
  std::string_view values = {};
  std::string_view strides = {};
};

inline std::string Quoted(std::string_view list) {
  if (list.empty()) return "";
  const char separator = list.find(';') == std::string_view::npos ? ',' : ';';
  std::string json = "[\"";
  for (const char c : list) {
    json += c == separator ? std::string("\", \"") : std::string(1, c);
  }
  return json + "\"]";
}

inline OpCost Cost(std::string_view name, const TestCall& call,
                   const OpModelOptions& options = {}) {
  const std::string types = Quoted(call.types);
  const std::string values = Quoted(call.values);
  return CostOf(name, CallArgs::Parse({call.dims, types, call.strides, values}), options);
}

}  // namespace borescope::internal::opmodel
