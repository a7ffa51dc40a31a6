#include "borescope/packs/pyprof/markers.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>

#include "borescope/base/text/text.h"

namespace borescope::internal {

namespace {

using Kind = PythonValue::Kind;

constexpr std::string_view kLayerMark = "layer:";
// Paths of the frames between the user's code and the call, which PyProf drops.
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
  // The text between the first colon and the second.
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

namespace {

using Kind = PythonValue::Kind;

constexpr int kDeepestNesting = 32;
constexpr std::string_view kNumberBytes = "0123456789+-.eEinfa";  // also inf and nan

struct Word {
  std::string_view text;
  Kind kind;
  int64_t number;
};
constexpr Word kWords[] = {
    {"None", Kind::kNone, 0}, {"True", Kind::kBool, 1}, {"False", Kind::kBool, 0}};

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  // False if it is not a literal.
  bool Value(PythonValue& value, int depth);
  bool AtEnd() {
    SkipBlanks();
    return at_ == text_.size();
  }

 private:
  void SkipBlanks() {
    while (at_ < text_.size() && text_[at_] == ' ') {
      ++at_;
    }
  }
  bool Take(char c) {
    SkipBlanks();
    const bool is_there = at_ < text_.size() && text_[at_] == c;
    at_ += is_there ? 1 : 0;
    return is_there;
  }
  bool Items(PythonValue& value, char close, int depth);
  bool String(PythonValue& value, char quote);
  bool Escape(std::string& text);
  bool TakeWord(PythonValue& value);
  bool Number(PythonValue& value);

  std::string_view text_;
  size_t at_ = 0;
};

bool Parser::Value(PythonValue& value, int depth) {
  if (depth == kDeepestNesting) return false;
  if (Take('{')) {
    value.kind = Kind::kDict;
    return Items(value, '}', depth);
  }
  if (Take('[')) {
    value.kind = Kind::kList;
    return Items(value, ']', depth);
  }
  if (Take('(')) {
    value.kind = Kind::kTuple;
    return Items(value, ')', depth);
  }
  if (Take('\'')) return String(value, '\'');
  if (Take('"')) return String(value, '"');
  return TakeWord(value) || Number(value);
}

// Items with commas between them, and perhaps one after the last item; pairs in a dict.
bool Parser::Items(PythonValue& value, char close, int depth) {
  while (!Take(close)) {
    if (!Value(value.items.emplace_back(), depth + 1)) return false;
    if (value.kind == Kind::kDict && !(Take(':') && Value(value.items.emplace_back(), depth + 1))) {
      return false;
    }
    if (!Take(',')) return Take(close);
  }
  return true;
}

bool Parser::String(PythonValue& value, char quote) {
  value.kind = Kind::kString;
  while (at_ < text_.size()) {
    const char c = text_[at_++];
    if (c == quote) return true;
    if (c != '\\') {
      value.text += c;
    } else if (!Escape(value.text)) {
      return false;
    }
  }
  return false;
}

// Escapes of characters by number (\x1b) stay as written, since no name has them.
bool Parser::Escape(std::string& text) {
  if (at_ == text_.size()) return false;
  const char c = text_[at_++];
  if (c == 'n' || c == 't' || c == 'r') {
    text += c == 'n' ? '\n' : c == 't' ? '\t' : '\r';
  } else if (c == '\\' || c == '\'' || c == '"') {
    text += c;
  } else {
    text.append({'\\', c});
  }
  return true;
}

bool Parser::TakeWord(PythonValue& value) {
  for (const Word& word : kWords) {
    if (text_.substr(at_).starts_with(word.text)) {
      at_ += word.text.size();
      value.kind = word.kind;
      value.number = word.number;
      return true;
    }
  }
  return false;
}

bool Parser::Number(PythonValue& value) {
  const size_t end = std::min(text_.find_first_not_of(kNumberBytes, at_), text_.size());
  const std::string_view written = text_.substr(at_, end - at_);
  at_ = end;
  value.text = written;
  const std::optional<int64_t> whole = ParseNumber<int64_t>(written);
  value.number = whole.value_or(0);
  value.kind = whole.has_value() ? Kind::kInt : Kind::kFloat;
  return !written.empty();
}

}  // namespace

const PythonValue* PythonValue::Find(std::string_view key) const {
  if (kind != Kind::kDict) return nullptr;
  for (size_t i = 0; i + 1 < items.size(); i += 2) {
    if (items[i].kind == Kind::kString && items[i].text == key) return &items[i + 1];
  }
  return nullptr;
}

std::optional<PythonValue> ParsePythonLiteral(std::string_view text) {
  Parser parser(text);
  PythonValue value;
  if (!parser.Value(value, 0) || !parser.AtEnd()) return std::nullopt;
  return value;
}

}  // namespace borescope::internal
