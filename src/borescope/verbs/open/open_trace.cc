#include "borescope/verbs/open/open_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <memory>
#include <utility>
#include <vector>

#include "borescope/base/io/inflate.h"
#include "borescope/base/io/paths.h"
#include "borescope/engine/access.h"
#include "borescope/engine/inputs/input_files.h"
#include "borescope/ingest/events/rank_labels.h"
#include "borescope/ingest/foreign_files.h"
#include "borescope/ingest/load.h"
#include "borescope/json/json_check.h"

namespace borescope::internal {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPerfetto = "https://ui.perfetto.dev";
constexpr size_t kLookedAt = 64;  // bytes, by the trace processor of Perfetto
constexpr std::string_view kOtherFormat = "Perfetto does not read this format";
constexpr std::string_view kCompact =
    "Perfetto's protobuf is smaller than JSON; --as json shows the file's own text";

// What of a Chrome JSON keeps Perfetto from reading it to its end, or spoils the timeline.
constexpr Diag kDamage[] = {
    Diag::kTruncatedFile, Diag::kTruncatedGzip,      Diag::kTrailingData,   Diag::kDroppedText,
    Diag::kInvalidUtf8,   Diag::kControlCharacter,   Diag::kUnescapedQuote, Diag::kNonFiniteNumber,
    Diag::kBadSyntax,     Diag::kImpossibleDuration,
};

enum class Kind { kChromeJson, kPackets, kUnread };

// As the trace processor of Perfetto recognises them: by their first bytes, blanks left out. Those
// of packets may still be longer than the file.
Kind ContentKindOf(std::string_view start) {
  const std::string_view first = start.substr(0, kLookedAt);
  std::string dense;
  std::copy_if(first.begin(), first.end(), std::back_inserter(dense),
               [](unsigned char c) { return std::isspace(c) == 0; });
  if (dense.starts_with("{\"meta\"") || dense.starts_with("{\"libs\"")) {
    return Kind::kUnread;  // taken for profiles of Firefox
  }
  if (dense.starts_with("{\"") || dense.starts_with("[{\"")) {
    return Kind::kChromeJson;
  }
  return FirstPacketEnd(start) != 0 ? Kind::kPackets : Kind::kUnread;
}

struct Content {
  Kind kind = Kind::kUnread;
  std::string why;         // Perfetto cannot unpack it; empty: it can
  bool is_strict = false;  // JSON that needs no repair
};

// Why Perfetto cannot unpack what was inflated to its end; empty: it can. It stops after the first
// of several gzip streams.
std::string WhyPacked(const InflatingSource& inflated) {
  if (!inflated.damage().empty()) {
    return fmt::format("the {}", inflated.damage());
  }
  if (inflated.gzip_members() == 0) {
    return "Perfetto does not unpack zstd";
  }
  return inflated.gzip_members() > 1 ? "of several gzip streams in a file Perfetto reads the first"
                                     : "";
}

// Reads the file to its end: only then it is known to be whole. Perfetto leaves out events that are
// no JSON, also where what is wrong with them is nothing that we read. JSON that is to be converted
// is not looked at any further than to its begin.
Result<Content> ReadContent(const std::string& path, TraceForm form) {
  BS_ASSIGN(const OpenedSource opened, OpenInflated(path));
  std::vector<char> piece(size_t{1} << 20);
  BS_ASSIGN(size_t size, ReadFully(*opened.bytes, piece.data(), piece.size()));
  Content content;
  const std::string_view start(piece.data(), size);
  content.kind = ContentKindOf(start);
  const uint64_t least = content.kind == Kind::kPackets ? FirstPacketEnd(start) : 0;
  BS_ASSIGN(uint64_t whole, opened.inflating == nullptr ? SizeOfFile(path) : Result<uint64_t>(0));
  JsonCheck check;
  const bool is_json = content.kind == Kind::kChromeJson;
  if (is_json && form == TraceForm::kPerfetto) {
    return content;
  }
  while (size != 0 && (is_json || opened.inflating != nullptr)) {
    check.Take({piece.data(), size});
    whole += opened.inflating == nullptr ? 0 : size;
    BS_ASSIGN(size, opened.bytes->Read(piece.data(), piece.size()));
  }
  content.kind = least > whole ? Kind::kUnread : content.kind;
  content.is_strict = check.Finish();
  content.why = opened.inflating == nullptr ? "" : WhyPacked(*opened.inflating);
  return content;
}

std::string DamageOf(const Diagnostics& diagnostics, bool is_strict) {
  for (const Diag diag : kDamage) {
    if (diagnostics.count(diag) != 0) {
      return fmt::format("the file is damaged ({})", GetDiagRow(diag).code);
    }
  }
  return is_strict ? "" : "Perfetto would leave out what is no strict JSON";
}

// Why the file must be converted; empty: Perfetto can have it as it is.
Result<std::string> WhyConvert(const InputFile& file, const ConvertOptions& options,
                               TraceForm form) {
  BS_ASSIGN(const FileKind kind,
            file.path == "-" ? Result<FileKind>(FileKind::kOther) : KindOf(file.path));
  if (kind != FileKind::kFile) {
    return std::string("it comes through a pipe");
  }
  if (!file.logs.empty()) {
    return std::string(kOtherFormat);
  }
  BS_ASSIGN(const Content content, ReadContent(file.path, form));
  if (!content.why.empty()) {
    return content.why;
  }
  if (content.kind == Kind::kChromeJson && form == TraceForm::kPerfetto) {
    return std::string(kCompact);
  }
  if (content.kind != Kind::kChromeJson) {
    return std::string(content.kind == Kind::kPackets ? "" : kOtherFormat);
  }
  BS_ASSIGN(const std::vector<std::string> labels, FindRankLabels(file.path));
  if (!labels.empty()) {
    return std::string();  // viewers have no need of the ranks
  }
  BS_ASSIGN(const Trace trace,
            LoadFile(file.path, {options.threads, FileProgress(options.progress)}));
  return trace.meta().format == TraceFormat::kKineto
             ? DamageOf(trace.diagnostics(), content.is_strict)
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
  BS_ASSIGN(file.bytes, StoredBytes::OfFile(path));
  file.content_type = ContentType(name);
  file.reader = kPerfetto;
  if (file.bytes.size() == 0) {
    return Error{ErrorCode::kIo, "cannot be read any more", "try again", path};
  }
  return file;
}

// Why the inputs must be converted, before looking into them.
std::string WhyConvert(const std::vector<InputFile>& files, const ConvertOptions& options) {
  if (options.scrub.has_value()) {
    return "a scrubbed copy was asked for";
  }
  if (files.size() > 1) {
    return fmt::format("{} files become one", files.size());
  }
  const bool is_whole = options.begin.empty() && options.end.empty() && options.steps.empty();
  return is_whole ? "" : "a window was asked for";
}

}  // namespace

Result<ReadyTrace> PrepareTrace(ConvertOptions options, const std::string& folder, TraceForm form) {
  BS_ASSIGN(const std::vector<InputFile> files, ExpandInputs(options.inputs));
  options.threads = ThreadsOf(options.threads);
  ReadyTrace ready;
  ready.why = WhyConvert(files, options);
  if (ready.why.empty()) {
    BS_ASSIGN(ready.why, WhyConvert(files.front(), options, form));
  }
  if (ready.why.empty()) {
    const std::string& path = files.front().path;
    BS_ASSIGN(ready.file, OpenServed(path, fs::path(path).filename().string()));
    return ready;
  }
  const std::string ending = form == TraceForm::kJson ? ".json" : ".pftrace";
  options.to = form == TraceForm::kJson ? "chrome" : "perfetto";
  options.output = (fs::path(folder) / ("trace" + ending)).string();
  BS_ASSIGN(ready.converted, Convert(options));
  const std::string stem = options.scrub.has_value() ? "trace" : StemOf(options.inputs.front());
  BS_ASSIGN(ready.file, OpenServed(options.output, stem + ending));
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

}  // namespace borescope::internal
