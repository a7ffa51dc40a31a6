#include "borescope/packs/chakra/et/et_text.h"

#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <cmath>
#include <set>
#include <utility>

#include "borescope/base/text/text.h"
#include "borescope/output/json_writer.h"
#include "borescope/packs/chakra/et/et_codec.h"
#include "borescope/packs/chakra/et/et_stream.h"
#include "borescope/packs/chakra/json/python_json.h"

namespace borescope::internal {

namespace {

class EtJson {
 public:
  explicit EtJson(Sink& sink) : out_(sink) {}

  Result<void> Write(std::string_view et) {
    EtReader reader(et);
    EtMetadata metadata;
    BS_ASSIGN(const bool has_metadata, reader.Next(metadata));
    if (!has_metadata) {
      return Error{ErrorCode::kCorrupt, "the file is empty", "a .et begins with its metadata"};
    }
    out_.BeginObject();
    out_.Key("metadata");
    BS_TRY(PutMetadata(metadata));
    out_.Key("nodes");
    out_.BeginArray();
    EtNode node;
    for (;;) {
      BS_ASSIGN(const bool is_node, reader.Next(node));
      if (!is_node) {
        break;
      }
      out_.BreakLine(0);
      BS_TRY(PutNode(node));
    }
    out_.BreakLine(0);
    out_.EndArray();
    out_.EndObject();
    return out_.Finish();
  }

 private:
  Result<void> PutMetadata(const EtMetadata& metadata) {
    out_.BeginObject();
    PutText("version", metadata.version);
    BS_TRY(PutAttrs(metadata.attrs));
    PutUnknown(metadata.unknown_fields);
    out_.EndObject();
    return {};
  }

  Result<void> PutNode(const EtNode& node) {
    out_.BeginObject();
    out_.Key("id");
    out_.Uint(node.id);
    PutText("name", node.name);
    out_.Key("type");
    const std::string_view type = EtNodeTypeName(node.type);
    type.empty() ? out_.Int(static_cast<int64_t>(node.type)) : out_.String(type);
    PutIds("ctrl_deps", node.ctrl_deps);
    PutIds("data_deps", node.data_deps);
    PutNumber("start_time_micros", node.start_us);
    PutNumber("duration_micros", node.duration_us);
    PutIo("inputs", node.inputs);
    PutIo("outputs", node.outputs);
    BS_TRY(PutAttrs(node.attrs));
    PutUnknown(node.unknown_fields);
    out_.EndObject();
    return {};
  }

  void PutText(std::string_view key, std::string_view text) {
    out_.Key(key);
    out_.String(text);
  }

  void PutNumber(std::string_view key, uint64_t number) {
    if (number != 0) {
      out_.Key(key);
      out_.Uint(number);
    }
  }

  void PutIds(std::string_view key, const std::vector<uint64_t>& ids) {
    if (ids.empty()) {
      return;
    }
    out_.Key(key);
    out_.BeginArray();
    for (const uint64_t id : ids) {
      out_.Uint(id);
    }
    out_.EndArray();
  }

  void PutIo(std::string_view key, const EtIo& io) {
    if (!io.present) {
      return;
    }
    out_.Key(key);
    out_.BeginObject();
    PutText("values", io.values);
    PutText("shapes", io.shapes);
    PutText("types", io.types);
    out_.EndObject();
  }

  void PutUnknown(uint64_t fields) { PutNumber("unknown_fields", fields); }

  Result<void> PutAttrs(const std::vector<EtAttr>& attrs) {
    out_.Key("attr");
    out_.BeginArray();
    for (const EtAttr& attr : attrs) {
      BS_TRY(PutAttr(attr));
    }
    out_.EndArray();
    return {};
  }

  Result<void> PutAttr(const EtAttr& attr) {
    out_.BeginObject();
    PutText("name", attr.name);
    if (!attr.doc.empty()) {
      PutText("doc_string", attr.doc);
    }
    if (attr.is_list()) {
      out_.Key(EtValueName(attr.field));
      BS_ASSIGN(const std::vector<EtAttr> values, DecodeList(attr));
      out_.BeginArray();
      for (const EtAttr& value : values) {
        PutScalar(value);
      }
      out_.EndArray();
    } else if (attr.field != 0) {
      out_.Key(EtValueName(attr.field));
      PutScalar(attr);
    }
    out_.EndObject();
    return {};
  }

  void PutScalar(const EtAttr& value) {
    switch (value.scalar()) {
      case EtScalar::kDouble:
        return out_.Double(std::bit_cast<double>(value.bits));
      case EtScalar::kFloat:
        return out_.Double(std::bit_cast<float>(static_cast<uint32_t>(value.bits)));
      case EtScalar::kUint32:
      case EtScalar::kUint64:
      case EtScalar::kFixed32:
      case EtScalar::kFixed64:
        return out_.Uint(value.bits);
      case EtScalar::kSfixed32:
        return out_.Int(static_cast<int32_t>(static_cast<uint32_t>(value.bits)));
      case EtScalar::kBool:
        return out_.Bool(value.bits != 0);
      case EtScalar::kString:
        return out_.String(value.bytes);
      case EtScalar::kBytes:
        return out_.String(Base64(value.bytes));
      default:
        return out_.Int(static_cast<int64_t>(value.bits));
    }
  }

  JsonWriter out_;
};

}  // namespace

Result<void> WriteEtJson(std::string_view et, Sink& sink) { return EtJson(sink).Write(et); }

// The form of chakra_jsonizer: json_format.MessageToJson of Python's protobuf for every message.

namespace {

// "start_time_micros" -> "startTimeMicros".
std::string CamelCase(std::string_view name) {
  std::string camel;
  bool is_start = false;
  for (const char c : name) {
    if (c == '_') {
      is_start = true;
      continue;
    }
    camel += is_start && c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    is_start = false;
  }
  return camel;
}

// json.dumps: all but ASCII escaped.
std::string Quoted(std::string_view text) {
  std::string out = "\"";
  AppendAsciiJson(out, text);
  return out + '"';
}

// JSON indented by two blanks per level, with a line for every value.
class IndentedJson {
 public:
  void Begin(char bracket) {
    text_ += bracket;
    levels_ += 1;
    is_empty_ = true;
  }
  void End(char bracket) {
    levels_ -= 1;
    if (!is_empty_) {
      BreakLine();
    }
    text_ += bracket;
    is_empty_ = false;
  }
  void Key(std::string_view snake_case) {
    Item();
    text_ += Quoted(CamelCase(snake_case)) + ": ";
  }
  void Item() {
    text_ += is_empty_ ? "" : ",";
    is_empty_ = false;
    BreakLine();
  }
  void Put(std::string_view text) { text_ += text; }
  void Member(std::string_view key, std::string_view json) {
    Key(key);
    Put(json);
  }

  std::string& text() { return text_; }

 private:
  void BreakLine() {
    text_ += '\n';
    text_.append(2 * levels_, ' ');
  }

  std::string text_;
  size_t levels_ = 0;
  bool is_empty_ = true;
};

std::string FloatText(double value) {
  if (!std::isfinite(value)) {
    return std::isnan(value) ? "\"NaN\"" : value < 0 ? "\"-Infinity\"" : "\"Infinity\"";
  }
  std::string text;
  AppendPythonFloat(value, text);
  return text;
}

// The shortest decimal that reads back as the same float, as a double.
double ShortestFloat(float value) {
  char text[64];
  const auto [end, error] = std::to_chars(text, text + sizeof text, value);
  double shortest = 0;
  std::from_chars(text, end, shortest);
  return std::isfinite(value) ? shortest : double{value};
}

std::string ScalarText(const EtAttr& value) {
  const auto bits = value.bits;
  switch (value.scalar()) {
    case EtScalar::kDouble:
      return FloatText(std::bit_cast<double>(bits));
    case EtScalar::kFloat:
      return FloatText(ShortestFloat(std::bit_cast<float>(static_cast<uint32_t>(bits))));
    case EtScalar::kInt32:
    case EtScalar::kSint32:
    case EtScalar::kSfixed32:
      return fmt::format("{}", static_cast<int32_t>(static_cast<uint32_t>(bits)));
    case EtScalar::kUint32:
    case EtScalar::kFixed32:
      return fmt::format("{}", static_cast<uint32_t>(bits));
    case EtScalar::kInt64:
    case EtScalar::kSint64:
    case EtScalar::kSfixed64:
      return fmt::format("\"{}\"", static_cast<int64_t>(bits));
    case EtScalar::kUint64:
    case EtScalar::kFixed64:
      return fmt::format("\"{}\"", bits);
    case EtScalar::kBool:
      return bits != 0 ? "true" : "false";
    case EtScalar::kBytes:
      return Quoted(Base64(value.bytes));
    case EtScalar::kString:
      break;
  }
  return Quoted(value.bytes);
}

void PutText(std::string_view key, std::string_view text, IndentedJson& out) {
  if (!text.empty()) {
    out.Member(key, Quoted(text));
  }
}

void PutNumber(std::string_view key, uint64_t number, IndentedJson& out) {
  if (number != 0) {
    out.Member(key, fmt::format("\"{}\"", number));
  }
}

void PutIds(std::string_view key, const std::vector<uint64_t>& ids, IndentedJson& out) {
  if (ids.empty()) {
    return;
  }
  out.Key(key);
  out.Begin('[');
  for (const uint64_t id : ids) {
    out.Item();
    out.Put(fmt::format("\"{}\"", id));
  }
  out.End(']');
}

void PutIo(std::string_view key, const EtIo& io, IndentedJson& out) {
  if (!io.present) {
    return;
  }
  out.Key(key);
  out.Begin('{');
  PutText("values", io.values, out);
  PutText("shapes", io.shapes, out);
  PutText("types", io.types, out);
  out.End('}');
}

Result<void> PutList(const EtAttr& attr, IndentedJson& out) {
  BS_ASSIGN(const std::vector<EtAttr> values, DecodeList(attr));
  out.Key(EtValueName(attr.field));
  out.Begin('{');
  if (!values.empty()) {
    out.Key("values");
    out.Begin('[');
    for (const EtAttr& value : values) {
      out.Item();
      out.Put(ScalarText(value));
    }
    out.End(']');
  }
  out.End('}');
  return {};
}

Result<void> PutAttrs(const std::vector<EtAttr>& attrs, IndentedJson& out) {
  if (attrs.empty()) {
    return {};
  }
  out.Key("attr");
  out.Begin('[');
  for (const EtAttr& attr : attrs) {
    out.Item();
    out.Begin('{');
    PutText("name", attr.name, out);
    PutText("doc_string", attr.doc, out);
    if (attr.is_list()) {
      BS_TRY(PutList(attr, out));
    } else if (attr.field != 0) {
      out.Member(EtValueName(attr.field), ScalarText(attr));
    }
    out.End('}');
  }
  out.End(']');
  return {};
}

void PutType(EtNodeType type, IndentedJson& out) {
  if (type == EtNodeType::kInvalid) {
    return;
  }
  const std::string_view name = EtNodeTypeName(type);
  out.Member("type", name.empty() ? fmt::format("{}", static_cast<int32_t>(type)) : Quoted(name));
}

Result<std::string> ReferenceNodeText(const EtNode& node) {
  IndentedJson out;
  out.Begin('{');
  PutNumber("id", node.id, out);
  PutText("name", node.name, out);
  PutType(node.type, out);
  PutIds("ctrl_deps", node.ctrl_deps, out);
  PutIds("data_deps", node.data_deps, out);
  PutNumber("start_time_micros", node.start_us, out);
  PutNumber("duration_micros", node.duration_us, out);
  PutIo("inputs", node.inputs, out);
  PutIo("outputs", node.outputs, out);
  BS_TRY(PutAttrs(node.attrs, out));
  out.End('}');
  return std::move(out.text());
}

Result<std::string> MetadataText(const EtMetadata& metadata) {
  IndentedJson out;
  out.Begin('{');
  PutText("version", metadata.version, out);
  BS_TRY(PutAttrs(metadata.attrs, out));
  out.End('}');
  return std::move(out.text());
}

}  // namespace

Result<void> WriteEtJsonAsReference(std::string_view et, Sink& sink) {
  EtReader reader(et);
  EtMetadata metadata;
  BS_ASSIGN(const bool has_metadata, reader.Next(metadata));
  if (has_metadata) {
    BS_ASSIGN(const std::string text, MetadataText(metadata));
    BS_TRY(sink.Write(text));
  }
  EtNode node;
  for (;;) {
    BS_ASSIGN(const bool is_node, reader.Next(node));
    if (!is_node) {
      return {};
    }
    BS_ASSIGN(const std::string text, ReferenceNodeText(node));
    BS_TRY(sink.Write(text));
  }
}

namespace {

// Calls `visit` with every node.
template <class Visit>
Result<void> ForEachNode(std::string_view et, Visit visit) {
  EtReader reader(et);
  EtMetadata metadata;
  BS_ASSIGN(bool is_there, reader.Next(metadata));
  EtNode node;
  while (is_there) {
    BS_ASSIGN(is_there, reader.Next(node));
    if (is_there) {
      visit(node);
    }
  }
  return {};
}

// Names are data here and not for display: they are kept completely, as far as XML can represent
// them.
std::string EscapeGraphml(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        // XML 1.0 cannot represent other control characters.
        out +=
            static_cast<unsigned char>(c) >= 0x20 || c == '\t' || c == '\n' || c == '\r' ? c : '?';
    }
  }
  return out;
}

// The text with its quotation marks escaped.
std::string QuoteDot(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') {
      out += '\\';
    }
    out += c == '\n' ? ' ' : c;
  }
  return out + '"';
}

constexpr std::string_view kGraphmlHead =
    "<?xml version='1.0' encoding='utf-8'?>\n"
    "<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\" "
    "xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" "
    "xsi:schemaLocation=\"http://graphml.graphdrawing.org/xmlns "
    "http://graphml.graphdrawing.org/xmlns/1.0/graphml.xsd\">\n"
    "  <key id=\"d1\" for=\"edge\" attr.name=\"dependency\" attr.type=\"string\" />\n"
    "  <key id=\"d0\" for=\"node\" attr.name=\"label\" attr.type=\"string\" />\n"
    "  <graph edgedefault=\"directed\">\n";

std::string GraphmlEdge(uint64_t from, uint64_t to, std::string_view kind) {
  return fmt::format(
      "    <edge source=\"{}\" target=\"{}\">\n"
      "      <data key=\"d1\">{}</data>\n"
      "    </edge>\n",
      from, to, kind);
}

}  // namespace

std::string EscapeDotLabel(std::string_view name) {
  constexpr std::string_view kSpecial = "{}()<>[]|&-\\";
  std::string out;
  for (const char c : name) {
    if (kSpecial.find(c) != std::string_view::npos) {
      out += '\\';
    }
    out += c;
  }
  return out;
}

Result<void> WriteEtDot(std::string_view et, Sink& sink) {
  BufferedSink out(sink);
  out.Put("digraph {\n");
  BS_TRY(ForEachNode(et, [&](const EtNode& node) {
    out.Put(fmt::format("\t{} [label={} id={} shape=record]\n", node.id,
                        QuoteDot(EscapeDotLabel(node.name)), node.id));
    for (const uint64_t dep : node.data_deps) {
      out.Put(fmt::format("\t{} -> {} [arrowhead=normal]\n", dep, node.id));
    }
    for (const uint64_t dep : node.ctrl_deps) {
      out.Put(fmt::format("\t{} -> {} [arrowhead=tee]\n", dep, node.id));
    }
  }));
  out.Put("}\n");
  return out.Finish();
}

Result<void> WriteEtGraphml(std::string_view et, bool as_reference, Sink& sink) {
  BufferedSink out(sink);
  out.Put(kGraphmlHead);
  std::set<uint64_t> present;
  std::set<uint64_t> named;
  BS_TRY(ForEachNode(et, [&](const EtNode& node) {
    present.insert(node.id);
    named.insert(node.data_deps.begin(), node.data_deps.end());
    named.insert(node.ctrl_deps.begin(), node.ctrl_deps.end());
    return out.Put(
        fmt::format("    <node id=\"{}\">\n      <data key=\"d0\">{}</data>\n    </node>\n",
                    node.id, EscapeGraphml(node.name)));
  }));
  for (const uint64_t id : named) {
    if (!present.contains(id)) {
      out.Put(fmt::format("    <node id=\"{}\" />\n", id));
    }
  }
  BS_TRY(ForEachNode(et, [&](const EtNode& node) {
    const std::set<uint64_t> controls(node.ctrl_deps.begin(), node.ctrl_deps.end());
    for (const uint64_t dep : node.data_deps) {
      if (!as_reference || !controls.contains(dep)) {
        out.Put(GraphmlEdge(dep, node.id, "data"));
      }
    }
    for (const uint64_t dep : node.ctrl_deps) {
      out.Put(GraphmlEdge(dep, node.id, "control"));
    }
  }));
  out.Put("  </graph>\n</graphml>\n");
  return out.Finish();
}

}  // namespace borescope::internal
