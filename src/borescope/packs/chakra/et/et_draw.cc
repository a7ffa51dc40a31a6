#include "borescope/packs/chakra/et/et_draw.h"

#include <fmt/format.h>

#include <set>
#include <utility>

#include "borescope/packs/chakra/et/et_stream.h"

namespace borescope::internal {
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
