#include "borescope/convert/convert.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "borescope/convert/chrome_writer.h"
#include "borescope/convert/csv_writer.h"
#include "borescope/convert/perfetto_writer.h"
#include "borescope/convert/rpd_writer.h"
#include "borescope/output/gzip_sink.h"

namespace borescope {
namespace {

constexpr std::string_view kGzip = ".gz";

constexpr std::string_view kChromeEndings[] = {".json"};
constexpr std::string_view kPerfettoEndings[] = {".pftrace", ".perfetto-trace"};
constexpr std::string_view kRpdEndings[] = {".rpd"};
constexpr std::string_view kCsvEndings[] = {".csv"};

constexpr ConvertTarget kTargets[] = {
    {"chrome", "Chrome trace JSON, as PyTorch's profiler writes it; for Perfetto and others",
     kChromeEndings, WriteChrome, nullptr},
    {"perfetto", "Perfetto's protobuf, smaller than JSON", kPerfettoEndings, WritePerfetto,
     nullptr},
    {"rpd", "ROCm's rocmProfileData database, schema 3", kRpdEndings, nullptr, WriteRpd},
    {"csv", "one line an event", kCsvEndings, WriteEventsCsv, nullptr},
};

std::vector<std::string_view> TargetNames() {
  std::vector<std::string_view> names;
  names.reserve(std::size(kTargets));
  for (const ConvertTarget& target : kTargets) {
    names.push_back(target.name);
  }
  return names;
}

std::string AllEndings() {
  std::vector<std::string_view> endings;
  for (const ConvertTarget& target : kTargets) {
    endings.insert(endings.end(), target.extensions.begin(), target.extensions.end());
  }
  return fmt::format("{}", fmt::join(endings, ", "));
}

bool HasEnding(const ConvertTarget& target, std::string_view path) {
  return std::any_of(target.extensions.begin(), target.extensions.end(),
                     [&](std::string_view ending) { return path.ends_with(ending); });
}

Result<ConvertCounts> WriteText(const ConvertInput& input, const ConvertTarget& target,
                                const std::string& path, Sink& sink) {
  if (!path.ends_with(kGzip)) {
    return target.write(input, sink);
  }
  GzipSink gzip(sink);
  BS_ASSIGN(const ConvertCounts counts, target.write(input, gzip));
  BS_TRY(gzip.Finish());
  return counts;
}

// The database is written to the draft, which bears another name than the user knows.
Result<ConvertCounts> WriteDatabase(const ConvertInput& input, const ConvertTarget& target,
                                    const std::string& path, const std::string& draft) {
  if (draft.empty() || path.ends_with(kGzip)) {
    return Error{ErrorCode::kInvalidArgument,
                 path + ": a database needs an ordinary file, not compressed; name it .rpd"};
  }
  Result<ConvertCounts> counts = target.write_file(input, draft);
  if (!counts.ok() && counts.error().message.starts_with(draft)) {
    return Error{ErrorCode::kIo,
                 path + ": cannot write" + counts.error().message.substr(draft.size())};
  }
  return counts;
}

}  // namespace

std::span<const ConvertTarget> ConvertTargets() { return kTargets; }

Result<const ConvertTarget*> ChooseTarget(std::string_view name, const std::string& path) {
  std::string_view plain = path;
  if (plain.ends_with(kGzip)) {
    plain.remove_suffix(kGzip.size());
  }
  for (const ConvertTarget& target : kTargets) {
    if (name.empty() ? HasEnding(target, plain) : target.name == name) {
      return &target;
    }
  }
  if (!name.empty()) {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("--to: unknown format '{}'; formats are {}", name,
                             fmt::join(TargetNames(), ", "))};
  }
  return Error{ErrorCode::kInvalidArgument,
               fmt::format("{}: its ending does not say which format to write; end it in {}, or "
                           "choose with --to {}",
                           path, AllEndings(), fmt::join(TargetNames(), "|"))};
}

Result<ConvertCounts> WriteConverted(const ConvertInput& input, const ConvertTarget& target,
                                     const std::string& path) {
  BS_ASSIGN(std::unique_ptr<FileSink> file, FileSink::Open(path));
  BS_ASSIGN(const ConvertCounts counts, target.write != nullptr
                                            ? WriteText(input, target, path, *file)
                                            : WriteDatabase(input, target, path, file->draft()));
  BS_TRY(file->Commit());
  return counts;
}

}  // namespace borescope
