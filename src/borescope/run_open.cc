#include "borescope/run_open.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <memory>
#include <utility>
#include <vector>

#include "borescope/base/inflate.h"
#include "borescope/ingest/load.h"
#include "borescope/run_inputs.h"

namespace borescope {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPerfetto = "https://ui.perfetto.dev";
constexpr std::string_view kOtherFormat = "Perfetto does not read this format";

// What of a Chrome JSON keeps Perfetto from reading it to its end, or spoils the timeline.
constexpr Diag kDamage[] = {
    Diag::kTruncatedFile, Diag::kTruncatedGzip,      Diag::kTrailingData,   Diag::kDroppedText,
    Diag::kInvalidUtf8,   Diag::kControlCharacter,   Diag::kUnescapedQuote, Diag::kNonFiniteNumber,
    Diag::kBadSyntax,     Diag::kImpossibleDuration,
};

enum class Kind { kChromeJson, kPerfettoTrace, kUnread };

// Whether the text starts as Perfetto's protobuf does: with a packet, which is field 1 and bytes
// (that tag is also the byte of a newline), and behind it, if that is still in sight, another one.
// A Chakra trace whose first message is 10 bytes long starts with the same byte.
bool StartsWithPacket(std::string_view start) {
  constexpr char kPacket = '\n';
  if (!start.starts_with(kPacket)) {
    return false;
  }
  uint64_t length = 0;
  size_t at = 1;
  for (int shift = 0; at < start.size() && shift < 64; shift += 7) {
    const auto byte = static_cast<unsigned char>(start[at++]);
    length |= uint64_t{byte & 0x7fU} << shift;
    if ((byte & 0x80U) == 0) {
      return length != 0 && (length >= start.size() - at || start[at + length] == kPacket);
    }
  }
  return false;
}

// As the trace processor of Perfetto recognises them: by the first 64 bytes, blanks left out.
Kind KindOf(std::string_view start) {
  std::string dense;
  std::copy_if(start.begin(), start.end(), std::back_inserter(dense),
               [](unsigned char c) { return std::isspace(c) == 0; });
  if (dense.starts_with("{\"meta\"") || dense.starts_with("{\"libs\"")) {
    return Kind::kUnread;  // taken for profiles of Firefox
  }
  if (dense.starts_with("{\"") || dense.starts_with("[{\"")) {
    return Kind::kChromeJson;
  }
  return StartsWithPacket(start) ? Kind::kPerfettoTrace : Kind::kUnread;
}

struct Container {
  Kind kind = Kind::kUnread;
  std::string why;  // Perfetto cannot unpack it; empty: it can
};

// Reads the file to its end where it is compressed: only then it is known to be one whole stream.
// Perfetto stops behind the first of several.
Result<Container> ReadContainer(const std::string& path) {
  BS_ASSIGN(std::unique_ptr<ByteSource> source, OpenFile(path));
  BS_ASSIGN(const OpenedSource opened, InflateIfCompressed(std::move(source)));
  std::array<char, 64> start{};
  BS_ASSIGN(size_t size, ReadFully(*opened.bytes, start.data(), start.size()));
  Container container{KindOf({start.data(), size}), ""};
  if (opened.inflating == nullptr) {
    return container;
  }
  std::vector<char> rest(size_t{1} << 20);
  while (size != 0) {
    BS_ASSIGN(size, opened.bytes->Read(rest.data(), rest.size()));
  }
  const uint64_t members = opened.inflating->gzip_members();
  if (members == 0 && opened.inflating->damage().empty()) {
    container.why = "Perfetto does not unpack zstd";
  } else if (members > 1) {
    container.why = "of several gzip streams in a file Perfetto reads the first";
  } else if (!opened.inflating->damage().empty()) {
    container.why = fmt::format("the {}", opened.inflating->damage());
  }
  return container;
}

std::string DamageOf(const Diagnostics& diagnostics) {
  for (const Diag diag : kDamage) {
    if (diagnostics.count(diag) != 0) {
      return fmt::format("the file is damaged ({})", GetDiagRow(diag).code);
    }
  }
  return {};
}

// Why the file must be converted; empty: Perfetto can have it as it is.
Result<std::string> WhyConvert(const InputFile& file, const ConvertOptions& options) {
  std::error_code ignored;
  if (file.path == "-" || !fs::is_regular_file(file.path, ignored)) {
    return std::string("it comes through a pipe");
  }
  BS_ASSIGN(const Container container, ReadContainer(file.path));
  if (!container.why.empty()) {
    return container.why;
  }
  if (container.kind != Kind::kChromeJson) {
    return std::string(container.kind == Kind::kPerfettoTrace ? "" : kOtherFormat);
  }
  BS_ASSIGN(const Trace trace, LoadFile(file.path, {options.threads, options.progress}));
  return trace.meta().format == "kineto-json" ? DamageOf(trace.diagnostics())
                                              : std::string(kOtherFormat);
}

// "rank-0.json.gz" -> "rank-0"; of a folder its name.
std::string StemOf(const std::string& input) {
  fs::path path(input);
  path = path.has_filename() ? path.filename() : path.parent_path().filename();
  for (int ending = 0; ending < 2 && path.has_extension(); ++ending) {
    path = path.stem();
  }
  return path.empty() || path == "-" || path == "." || path == ".." ? "trace" : path.string();
}

std::string_view ContentType(std::string_view name) {
  return name.ends_with(".json") ? "application/json" : "application/octet-stream";
}

Result<ServedFile> OpenServed(const std::string& path, const std::string& name) {
  ServedFile file;
  BS_ASSIGN(file.path, MakeSecretPath(name));
  file.bytes = StoredBytes::OfFile(path);
  file.content_type = ContentType(name);
  file.reader = kPerfetto;
  if (file.bytes.size() == 0) {
    return Error{ErrorCode::kIo, path + ": cannot be read any more; try again"};
  }
  return file;
}

// Why the inputs must be converted, before looking into them.
std::string WhyConvert(const std::vector<InputFile>& files, const ConvertOptions& options) {
  if (files.size() > 1) {
    return fmt::format("{} files become one", files.size());
  }
  return options.begin.empty() && options.end.empty() ? "" : "a window was asked for";
}

}  // namespace

Result<ReadyTrace> PrepareTrace(ConvertOptions options, const std::string& folder) {
  BS_ASSIGN(const std::vector<InputFile> files, ExpandInputs(options.inputs));
  ReadyTrace ready;
  ready.why = WhyConvert(files, options);
  if (ready.why.empty()) {
    BS_ASSIGN(ready.why, WhyConvert(files.front(), options));
  }
  if (ready.why.empty()) {
    const std::string& path = files.front().path;
    BS_ASSIGN(ready.file, OpenServed(path, fs::path(path).filename().string()));
    return ready;
  }
  options.to = "perfetto";
  options.output = (fs::path(folder) / "trace.pftrace").string();
  BS_ASSIGN(ready.converted, RunConvert(options));
  BS_ASSIGN(ready.file, OpenServed(options.output, StemOf(options.inputs.front()) + ".pftrace"));
  return ready;
}

Result<ServedFile> PreparePage(std::string_view html, std::string_view name) {
  ServedFile file;
  BS_ASSIGN(file.path, MakeSecretPath(name));
  file.bytes = StoredBytes::OfMemory(html);
  file.content_type = "text/html; charset=utf-8";
  return file;
}

std::string PerfettoAddress(const ServedFile& file) {
  return fmt::format("{}/#!/?url=http://127.0.0.1:{}{}", kPerfetto, kPerfettoPort, file.path);
}

std::string PageAddress(const ServedFile& file, uint16_t port) {
  return fmt::format("http://127.0.0.1:{}{}", port, file.path);
}

}  // namespace borescope
