#include "borescope/packs/pyprof/markers.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "borescope/base/text/text.h"

namespace borescope::internal {
namespace {

using Kind = PythonValue::Kind;

constexpr std::string_view kLayerMark = "layer:";
// Frames between the user's code and the call, as PyProf drops them.
constexpr std::string_view kFrameworkPaths[] = {"/torch/nn/modules/",
                                                "/torch/nn/functional.py",
                                                "/torch/tensor.py",
                                                "/torch/_tensor.py",
                                                "/torch/autograd/__init__.py",
                                                "/torch/_jit_internal.py",
                                                "/pyprof/nvtx/nvmarker.py",
                                                "/apex/optimizers/",
                                                "/torch/_utils.py",
                                                "/torch/optim/"};

std::string TextOf(const PythonValue& dict, std::string_view key) {
  const PythonValue* found = dict.Find(key);
  return found == nullptr || found->kind != Kind::kString ? std::string() : found->text;
}

std::optional<std::vector<int64_t>> ReadShape(const PythonValue* value) {
  if (value == nullptr || !value->IsSequence()) return std::nullopt;
  std::vector<int64_t> shape;
  shape.reserve(value->items.size());
  for (const PythonValue& item : value->items) {
    if (item.kind != Kind::kInt || item.number < 0) return std::nullopt;
    shape.push_back(item.number);
  }
  return shape;
}

std::optional<PyProfArg> ReadArg(const PythonValue& dict) {
  PyProfArg arg;
  arg.name = TextOf(dict, "name");
  arg.type = TextOf(dict, "type");
  if (arg.type.empty()) return std::nullopt;
  if (arg.type == "tensor" || arg.type == "ndarray") {
    arg.kind = PyProfArg::Kind::kTensor;
    std::optional<std::vector<int64_t>> shape = ReadShape(dict.Find("shape"));
    arg.dtype = TextOf(dict, "dtype");
    if (!shape || arg.dtype.empty()) return std::nullopt;
    arg.shape = std::move(*shape);
  } else if (const PythonValue* value = dict.Find("value")) {
    arg.value = *value;
  }
  return arg;
}

PyProfMarker ReadCall(const PythonValue& dict, const PythonValue& args) {
  PyProfMarker marker{.kind = MarkerKind::kArguments};
  marker.call.mod = TextOf(dict, "mod");
  marker.call.op = TextOf(dict, "op");
  if (marker.call.op.empty() || !args.IsSequence()) return {.kind = MarkerKind::kBad};
  marker.call.args.reserve(args.items.size());
  for (const PythonValue& item : args.items) {
    std::optional<PyProfArg> arg = ReadArg(item);
    if (!arg) return {.kind = MarkerKind::kBad};
    marker.call.args.push_back(std::move(*arg));
  }
  return marker;
}

PyProfMarker ReadFrames(const PythonValue& frames) {
  PyProfMarker marker{.kind = MarkerKind::kTrace};
  for (const PythonValue& frame : frames.items) {
    if (frame.kind == Kind::kString && !IsFrameworkFrame(frame.text)) {
      marker.frames.push_back(frame.text);
    }
  }
  return marker;
}

PyProfMarker ReadDict(std::string_view text) {
  const std::optional<PythonValue> dict = ParsePythonLiteral(text);
  if (!dict || dict->kind != Kind::kDict) return {.kind = MarkerKind::kBad};
  if (const PythonValue* frames = dict->Find("traceMarker")) return ReadFrames(*frames);
  if (dict->Find("strRepr") != nullptr) return {.kind = MarkerKind::kModule};
  const PythonValue* args = dict->Find("args");
  return args == nullptr ? PyProfMarker() : ReadCall(*dict, *args);
}

}  // namespace

bool IsFrameworkFrame(std::string_view frame) {
  return std::any_of(std::begin(kFrameworkPaths), std::end(kFrameworkPaths),
                     [&](std::string_view path) { return Contains(frame, path); });
}

PyProfMarker ParsePyProfMarker(std::string_view text) {
  for (const std::string_view key : {"{'mod'", "{'traceMarker'", "{'strRepr'"}) {
    if (text.starts_with(key)) return ReadDict(text);
  }
  const size_t layer = text.find(kLayerMark);
  if (layer == std::string_view::npos) return {};
  // Between the first colon and the second.
  const std::string_view name = text.substr(text.find(':') + 1);
  return {.kind = MarkerKind::kLayer, .layer = std::string(name.substr(0, name.find(':')))};
}

const PyProfMarker& PyProfMarkers::Of(HostId annotation) {
  const StringId name = trace_.host().name[annotation.value];
  const auto [found, is_new] = by_name_.try_emplace(name.value);
  if (is_new) {
    found->second = ParsePyProfMarker(trace_.Text(name));
  }
  return found->second;
}

}  // namespace borescope::internal
