#include "borescope/convert/convert.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "borescope/convert/chrome/chrome_writer.h"
#include "borescope/convert/csv_writer.h"
#include "borescope/convert/perfetto/perfetto_writer.h"
#include "borescope/convert/rpd/rpd_writer.h"

namespace borescope::internal {
namespace {

constexpr std::string_view kGzip = ".gz";

constexpr std::string_view kChromeEndings[] = {".json"};
constexpr std::string_view kPerfettoEndings[] = {".pftrace", ".perfetto-trace"};
constexpr std::string_view kRpdEndings[] = {".rpd"};
constexpr std::string_view kCsvEndings[] = {".csv"};

constexpr ConvertTarget kTargets[] = {
    {"chrome", "Chrome trace JSON, as PyTorch's profiler writes it; for Perfetto and others",
     kChromeEndings, true, OpenChrome, nullptr},
    {"perfetto", "Perfetto's protobuf, smaller than JSON", kPerfettoEndings, true, OpenPerfetto,
     nullptr},
    {"rpd", "ROCm's rocmProfileData database, schema 3", kRpdEndings, true, nullptr, OpenRpd},
    {"csv", "one line an event", kCsvEndings, false, OpenEventsCsv, nullptr},
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

// Sampled stacks and times without a processor, which no format here can represent.
ConvertCounts CountsWithoutPlace(const ConvertInput& input) {
  ConvertCounts counts;
  const auto count = [&](std::span<const int64_t> times) {
    for (const int64_t ts_ns : times) {
      (input.window.Holds(ts_ns) ? counts.unplaced : counts.outside) += 1;
    }
  };
  count(input.trace.pauses().ts_ns);
  count(input.trace.stack_samples().ts_ns);
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
    return Error{.code = ErrorCode::kInvalidArgument,
                 .cause = fmt::format("unknown format '{}'", name),
                 .remedy = fmt::format("formats are {}", fmt::join(TargetNames(), ", ")),
                 .parameter = "to"};
  }
  return Error{ErrorCode::kInvalidArgument, "its ending does not say which format to write",
               fmt::format("end it in {}, or choose with `to` {}", AllEndings(),
                           fmt::join(TargetNames(), "|")),
               path};
}

Result<ConvertCounts> WriteAlone(ConvertWriter& writer, const ConvertInput& input) {
  BS_ASSIGN(const ConvertCounts counts, writer.Add(input));
  BS_TRY(writer.Finish());
  return counts;
}

Result<std::unique_ptr<ConvertedFile>> ConvertedFile::Open(const ConvertTarget& target,
                                                           const std::string& path) {
  std::unique_ptr<ConvertedFile> opened(new ConvertedFile(path));
  BS_ASSIGN(opened->file_, FileSink::Open(path));
  BS_TRY(target.open != nullptr ? opened->OpenText(target) : opened->OpenDatabase(target));
  return opened;
}

Result<void> ConvertedFile::OpenText(const ConvertTarget& target) {
  if (path_.ends_with(kGzip)) {
    gzip_ = std::make_unique<GzipSink>(*file_);
  }
  Sink& sink = gzip_ == nullptr ? static_cast<Sink&>(*file_) : *gzip_;
  writer_ = target.open(sink);
  return {};
}

Result<void> ConvertedFile::OpenDatabase(const ConvertTarget& target) {
  if (file_->draft().empty() || path_.ends_with(kGzip)) {
    return Error{ErrorCode::kInvalidArgument, "a database needs an ordinary file, not compressed",
                 "name it .rpd", path_};
  }
  Result<std::unique_ptr<ConvertWriter>> writer = target.open_file(file_->draft());
  if (!writer.ok()) {
    return Renamed(writer.error());
  }
  writer_ = std::move(*writer);
  return {};
}

Error ConvertedFile::Renamed(const Error& error) const {
  if (error.file.empty() || error.file != file_->draft()) {
    return error;
  }
  return {ErrorCode::kIo, "cannot write: " + error.cause, error.remedy, path_};
}

Result<void> ConvertedFile::Add(const ConvertInput& input) {
  const Result<ConvertCounts> counts = writer_->Add(input);
  if (!counts.ok()) {
    return Renamed(counts.error());
  }
  counts_.Add(*counts);
  counts_.Add(CountsWithoutPlace(input));
  return {};
}

Result<ConvertCounts> ConvertedFile::Commit() {
  if (const Result<void> finished = writer_->Finish(); !finished.ok()) {
    return Renamed(finished.error());
  }
  writer_ = nullptr;  // closes a database
  if (gzip_ != nullptr) {
    BS_TRY(gzip_->Finish());
  }
  BS_TRY(file_->Commit());
  return counts_;
}

Result<ConvertCounts> WriteConverted(const ConvertInput& input, const ConvertTarget& target,
                                     const std::string& path) {
  BS_ASSIGN(const std::unique_ptr<ConvertedFile> file, ConvertedFile::Open(target, path));
  BS_TRY(file->Add(input));
  return file->Commit();
}

}  // namespace borescope::internal
