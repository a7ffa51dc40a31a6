#include "borescope/ingest/ncu/counter_reports.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "borescope/base/io/byte_source.h"
#include "borescope/base/io/inflate.h"
#include "borescope/base/io/paths.h"
#include "borescope/base/io/stored_bytes.h"
#include "borescope/base/io/unchanged.h"
#include "borescope/base/stop.h"
#include "borescope/base/text/text.h"
#include "borescope/ingest/ncu/counter_csv.h"
#include "borescope/ingest/ncu/forward_bytes.h"
#include "borescope/ingest/ncu/ncu_report.h"

namespace borescope::internal {
namespace {

// A source whose first bytes were read already.
class WithBegin : public ByteSource {
 public:
  WithBegin(std::string begin, ByteSource& rest) : begin_(std::move(begin)), rest_(rest) {}

  Result<size_t> Read(char* out, size_t capacity) override {
    if (at_ == begin_.size()) {
      return rest_.Read(out, capacity);
    }
    const size_t count = begin_.copy(out, capacity, at_);
    at_ += count;
    return count;
  }
  uint64_t stored_bytes() const override { return rest_.stored_bytes(); }
  uint64_t stored_total() const override { return rest_.stored_total(); }

 private:
  std::string begin_;
  ByteSource& rest_;
  size_t at_ = 0;
};

Result<std::string> BeginOf(ByteSource& source) {
  std::string begin(kCsvBeginBytes, '\0');
  BS_ASSIGN(const size_t count, ReadFully(source, begin.data(), begin.size()));
  begin.resize(count);
  return begin;
}

Result<std::string> ReadText(ByteSource& source) {
  std::string text;
  constexpr size_t kPieceBytes = size_t{1} << 20;
  while (true) {
    CheckStop();
    const size_t before = text.size();
    text.resize(before + kPieceBytes);
    BS_ASSIGN(const size_t count, ReadFully(source, text.data() + before, kPieceBytes));
    text.resize(before + count);
    if (count < kPieceBytes) {
      return text;
    }
  }
}

std::string_view WithoutByteOrderMark(std::string_view text) {
  constexpr std::string_view kMark = "\xEF\xBB\xBF";
  text.remove_prefix(text.starts_with(kMark) ? kMark.size() : 0);
  return text;
}

Error NoReport(const std::string& name) {
  return {ErrorCode::kUnsupportedFormat, "not a report of counters",
          "give a .ncu-rep file of Nsight Compute, the text of ncu --csv, or a "
          "*_counter_collection.csv of rocprofv3",
          name};
}

// Reads one report after the other. Files of rocprofv3 are collected.
class ReportsReader {
 public:
  explicit ReportsReader(Diagnostics& diagnostics) : diagnostics_(diagnostics) {}

  Result<void> Read(const std::string& path);
  Result<void> ReadSource(std::unique_ptr<ByteSource> source, const std::string& name);
  std::vector<CounterReport> Finish();

 private:
  Result<void> ReadForward(ForwardBytes& bytes, const std::string& name);
  Result<void> ReadOpened(OpenedSource opened, const std::string& name);
  Result<void> ReadCounterText(std::string_view text, TraceFormat format, const std::string& name);

  Diagnostics& diagnostics_;
  std::vector<CounterReport> reports_;
  RocprofCounters rocprof_;
  std::optional<size_t> rocprof_place_;
};

Result<void> ReportsReader::ReadForward(ForwardBytes& bytes, const std::string& name) {
  BS_ASSIGN(CounterReport report, ReadNcuReport(bytes, name, diagnostics_));
  reports_.push_back(std::move(report));
  return {};
}

Result<void> ReportsReader::ReadCounterText(std::string_view text, TraceFormat format,
                                            const std::string& name) {
  if (format == TraceFormat::kNcuCsv) {
    BS_ASSIGN(CounterReport report, ReadNcuCsv(text, name, diagnostics_));
    reports_.push_back(std::move(report));
    return {};
  }
  BS_TRY(rocprof_.Add(text, name, diagnostics_));
  if (!rocprof_place_.has_value()) {
    rocprof_place_ = reports_.size();
  }
  return {};
}

Result<void> ReportsReader::ReadOpened(OpenedSource opened, const std::string& name) {
  BS_ASSIGN(std::string begin, InFile(name, BeginOf(*opened.bytes)));
  const std::optional<TraceFormat> format = CounterFormatOf(begin);
  if (!format.has_value()) {
    return NoReport(name);
  }
  WithBegin whole(std::move(begin), *opened.bytes);
  if (*format == TraceFormat::kNcuReport) {
    const std::unique_ptr<ForwardBytes> bytes = OpenForward(whole);
    BS_TRY(ReadForward(*bytes, name));
  } else {
    BS_ASSIGN(const std::string text, InFile(name, ReadText(whole)));
    BS_TRY(ReadCounterText(WithoutByteOrderMark(text), *format, name));
  }
  if (opened.inflating != nullptr && !opened.inflating->damage().empty()) {
    diagnostics_.Count(Diag::kTruncatedGzip, Diagnostics::kNoByte, opened.inflating->damage());
  }
  return {};
}

Result<void> ReportsReader::ReadSource(std::unique_ptr<ByteSource> source,
                                       const std::string& name) {
  BS_ASSIGN(OpenedSource opened, InFile(name, InflateIfCompressed(std::move(source))));
  return ReadOpened(std::move(opened), name);
}

Result<void> ReportsReader::Read(const std::string& path) {
  if (path != "-") {
    BS_ASSIGN(const std::string begin, BeginOfFile(path, 4));
    if (IsNcuReport(begin)) {
      BS_ASSIGN(StoredBytes stored, StoredBytes::OfFile(path));
      const std::unique_ptr<ForwardBytes> bytes = OpenForward(std::move(stored));
      return ReadForward(*bytes, path);
    }
  }
  BS_ASSIGN(OpenedSource opened, OpenInflated(path));
  return ReadOpened(std::move(opened), path == "-" ? "standard input" : path);
}

std::vector<CounterReport> ReportsReader::Finish() {
  if (rocprof_place_.has_value()) {
    reports_.insert(reports_.begin() + static_cast<std::ptrdiff_t>(*rocprof_place_),
                    rocprof_.Finish(diagnostics_));
  }
  return std::move(reports_);
}

}  // namespace

std::optional<TraceFormat> CounterFormatOf(std::string_view begin) {
  if (IsNcuReport(begin)) {
    return TraceFormat::kNcuReport;
  }
  begin = WithoutByteOrderMark(begin);
  if (IsRocprofCounters(begin)) {
    return TraceFormat::kRocprofV3Csv;
  }
  return IsNcuCsv(begin) ? std::optional(TraceFormat::kNcuCsv) : std::nullopt;
}

Result<std::optional<TraceFormat>> CounterFormatOfFile(const std::string& path) {
  BS_ASSIGN(const FileKind kind, KindOf(path));
  if (kind != FileKind::kFile) {
    return std::optional<TraceFormat>();
  }
  Result<OpenedSource> opened = OpenInflated(path);
  if (!opened.ok()) {
    // What is compressed in a way that is not read is no report.
    return opened.error().code == ErrorCode::kIo
               ? Result<std::optional<TraceFormat>>(opened.error())
               : std::optional<TraceFormat>();
  }
  BS_ASSIGN(const std::string begin, InFile(path, BeginOf(*opened->bytes)));
  return CounterFormatOf(begin);
}

Result<CounterReport> ReadCounterReport(const std::string& path, Diagnostics& diagnostics) {
  BS_ASSIGN(std::vector<CounterReport> reports, ReadCounterReports({&path, 1}, diagnostics));
  return std::move(reports.front());
}

Result<CounterReport> ReadCounterReportBytes(std::string_view bytes, const std::string& name,
                                             Diagnostics& diagnostics) {
  ReportsReader reader(diagnostics);
  BS_TRY(reader.ReadSource(OpenMemory(bytes), name));
  std::vector<CounterReport> reports = reader.Finish();
  return std::move(reports.front());
}

Result<std::vector<CounterReport>> ReadCounterReports(std::span<const std::string> paths,
                                                      Diagnostics& diagnostics) {
  ReportsReader reader(diagnostics);
  for (const std::string& path : paths) {
    BS_TRY(ReadUnchanged(path, [&] { return reader.Read(path); }));
  }
  return reader.Finish();
}

}  // namespace borescope::internal
