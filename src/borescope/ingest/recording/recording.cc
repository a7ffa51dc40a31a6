#include "borescope/ingest/recording/recording.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "borescope/base/io/paths.h"
#include "borescope/ingest/common_remedies.h"
#include "borescope/ingest/recording/log_names.h"
#include "borescope/ingest/recording/log_reader.h"
#include "borescope/json/json_cursor.h"

namespace borescope::internal {

namespace {

using recording::LogHeader;

// Processes of two containers may have one number: then that of the machine distinguishes them.
std::vector<int64_t> ProcessNumbers(std::span<const RecordedLog> logs) {
  std::map<uint32_t, std::pair<uint64_t, bool>> starts;  // by number: the first start, others
  for (const RecordedLog& log : logs) {
    const auto [place, is_new] = starts.try_emplace(log.header.pid, log.header.start_time, false);
    place->second.second |= place->second.first != log.header.start_time;
  }
  std::vector<int64_t> numbers;
  numbers.reserve(logs.size());
  for (const RecordedLog& log : logs) {
    const bool is_shared = starts[log.header.pid].second && log.header.outer_pid != 0;
    numbers.push_back(is_shared ? log.header.outer_pid : log.header.pid);
  }
  return numbers;
}

// What is in a recording beyond events; never the values.
void CountSensitiveMembers(const std::string& process, Meta& meta) {
  if (process.empty()) {
    return;
  }
  const auto count = [&](std::string_view what) {
    const auto same = std::find_if(meta.sensitive.begin(), meta.sensitive.end(),
                                   [what](const SensitiveCount& row) { return row.what == what; });
    if (same == meta.sensitive.end()) {
      meta.sensitive.push_back({std::string(what), 1});
    } else {
      same->count += 1;
    }
  };
  count("processes");
  JsonCursor cursor(process);
  std::string_view key;
  cursor.EnterObject();
  while (cursor.NextMember(key)) {
    const std::string_view value = cursor.Value();
    if (key == "env" && value != "{}") {
      count("environment");
    }
  }
}

// Those that logs describe, and those that work ran on; of each the first description.
void AddDevices(RecordingTrace& trace) {
  std::vector<DeviceInfo>& devices = trace.data().meta.devices;
  for (const int64_t device : trace.lines().Devices()) {
    if (device >= 0) {
      AddRecordedDevice(devices, static_cast<uint32_t>(device), {});
    }
  }
  std::stable_sort(devices.begin(), devices.end(),
                   [](const DeviceInfo& a, const DeviceInfo& b) { return a.id < b.id; });
  devices.erase(std::unique(devices.begin(), devices.end(),
                            [](const DeviceInfo& a, const DeviceInfo& b) { return a.id == b.id; }),
                devices.end());
}

// Whether all that a copy of another process recorded is there.
bool IsWholeFork(const recording::LogHeader& header) {
  return (header.flags & recording::kIsForked) != 0 && (header.flags & recording::kIsRing) == 0;
}

// Whether both are the log that one process made at one moment.
bool AreOneLog(const LogHeader& a, const LogHeader& b) {
  return a.pid == b.pid && a.start_time == b.start_time && a.image == b.image &&
         a.mono_ns == b.mono_ns && a.real_ns == b.real_ns && a.host_hash == b.host_hash &&
         a.rank == b.rank && a.header_bytes == b.header_bytes;
}

// Takes copies of a log out, of which the longest stays, as it may have been copied while it was
// written; what they are, in words. `bytes` becomes the size of those that stay.
std::vector<std::string> TakeCopies(std::vector<RecordedLog>& logs, uint64_t& bytes) {
  std::vector<RecordedLog> kept;
  std::vector<std::string> copies;
  for (RecordedLog& log : logs) {
    const auto same = std::find_if(kept.begin(), kept.end(), [&](const RecordedLog& other) {
      return AreOneLog(log.header, other.header);
    });
    if (same == kept.end()) {
      kept.push_back(std::move(log));
      continue;
    }
    if (log.source.size() > same->source.size()) {
      std::swap(log, *same);
    }
    bytes -= log.source.size();
    copies.push_back(fmt::format("{} is a copy of {}", log.name, same->name));
  }
  logs = std::move(kept);
  return copies;
}

class RecordingLoader {
 public:
  RecordingLoader(const LoadOptions& options, uint64_t stored_bytes)
      : options_(options), stored_bytes_(stored_bytes) {}

  RecordingTrace& trace() { return trace_; }

  // All of the log, or the chunks of it that are named. kIo if bytes of it could not be read.
  Result<void> Read(const RecordedLog& log, int64_t pid, bool is_part = false) {
    LogReader reader(trace_, log.source, log.header,
                     {pid, number_++, !is_part && IsWholeFork(log.header)});
    const auto read = [&](uint64_t done) {
      if (options_.progress) {
        options_.progress(std::min(done_ + done, stored_bytes_), stored_bytes_);
      }
    };
    is_part ? reader.ReadChunks(log.chunks, log.names, read) : reader.Read(read);
    done_ += log.source.size();
    CountSensitiveMembers(reader.names().process_text(), meta_);
    if (!meta_.base_ns.has_value()) {
      meta_.base_ns = reader.names().base_ns();
    }
    Take(log.header);
    return log.source.failure().ok() ? Result<void>()
                                     : InFile(log.name, log.source.failure().error());
  }

  Result<Trace> Finish(const std::string& name) {
    meta_.file = name;
    meta_.format = TraceFormat::kRecording;
    meta_.remedy = RecordingRemedy;
    meta_.producer = "borescope record";
    meta_.file_bytes = stored_bytes_;
    meta_.text_bytes = done_;
    meta_.vendor = trace_.vendor();
    AddDevices(trace_);
    meta_.devices = std::move(trace_.data().meta.devices);
    trace_.lines().AssignTracks(trace_.part());
    TraceBuilder builder;
    builder.Append(std::move(trace_.part()));
    return builder.Finish(std::move(meta_), 0, options_.threads);
  }

 private:
  void Take(const LogHeader& header) {
    if (!meta_.base_ns.has_value() && header.real_ns != 0) {
      meta_.base_ns = static_cast<int64_t>(header.real_ns - header.mono_ns);
    }
    if (header.rank >= 0) {
      meta_.rank = header.rank;
    }
    if (header.world_size > 0) {
      meta_.world_size = header.world_size;
    }
  }

  const LoadOptions& options_;
  const uint64_t stored_bytes_;
  RecordingTrace trace_;
  Meta meta_;
  int64_t number_ = 0;
  uint64_t done_ = 0;
};

}  // namespace

Result<Trace> LoadRecording(std::span<const std::string> paths, const LoadOptions& options) {
  std::vector<RecordedLog> logs;
  std::vector<Error> errors;
  uint64_t bytes = 0;
  for (const std::string& path : paths) {
    Result<RecordedLog> log = RecordedLog::Open(path);
    if (!log.ok()) {
      errors.push_back(log.error());
      continue;
    }
    bytes += log->source.size();
    logs.push_back(std::move(*log));
  }
  if (logs.empty()) {
    return errors.front();
  }
  const std::vector<std::string> copies = TakeCopies(logs, bytes);
  RecordingLoader loader(options, bytes);
  for (const Error& error : errors) {
    loader.trace().diagnostics().Count(Diag::kUnreadableFile, Diagnostics::kNoByte,
                                       error.Sentence());
  }
  for (const std::string& copy : copies) {
    loader.trace().diagnostics().Count(Diag::kCopiedFile, Diagnostics::kNoByte, copy);
  }
  const std::vector<int64_t> numbers = ProcessNumbers(logs);
  for (size_t i = 0; i < logs.size(); ++i) {
    BS_TRY(loader.Read(logs[i], numbers[i]));
  }
  return loader.Finish(paths.front());
}

Result<Trace> LoadRecordingLog(std::string_view bytes, const std::string& name,
                               uint64_t stored_bytes, const LoadOptions& options) {
  LogSource source = LogSource::OfMemory(bytes);
  BS_ASSIGN(const LogHeader header, ReadLogHeader(source, name));
  RecordingLoader loader(options, stored_bytes);
  const RecordedLog log{name, std::move(source), header};
  BS_TRY(loader.Read(log, header.pid));
  return loader.Finish(name);
}

Result<RecordedLog> RecordedLog::Open(const std::string& path) {
  BS_ASSIGN(LogSource source, LogSource::OpenFile(path));
  BS_ASSIGN(const LogHeader header, ReadLogHeader(source, path));
  return RecordedLog{path, std::move(source), header};
}

Result<LoadedParts> LoadRecordingParts(std::span<const RecordedLog> parts, const std::string& name,
                                       const LoadOptions& options) {
  uint64_t bytes = 0;
  for (const RecordedLog& part : parts) {
    for (const LogChunk& chunk : part.chunks) bytes += chunk.bytes;
  }
  RecordingLoader loader(options, bytes);
  const std::vector<int64_t> numbers = ProcessNumbers(parts);
  for (size_t i = 0; i < parts.size(); ++i) {
    BS_TRY(loader.Read(parts[i], numbers[i], true));
  }
  std::vector<int64_t> open_begins = loader.trace().open_begins();
  BS_ASSIGN(Trace trace, loader.Finish(name));
  return LoadedParts{std::move(trace), std::move(open_begins)};
}

Result<std::optional<LogHeader>> RecordingHeaderOf(const std::string& path) {
  BS_ASSIGN(const std::string begin, BeginOfFile(path, sizeof(LogHeader)));
  const Result<LogHeader> header = ReadLogHeader(LogSource::OfMemory(begin), path);
  return header.ok() ? std::optional(*header) : std::nullopt;
}

std::string_view RecordingRemedy(MissingData lack) {
  switch (lack) {
    case MissingData::kHost:
    case MissingData::kDeviceWork:
    case MissingData::kLaunches:
      return "record without --no-cuda, a part of the run in which the device works";
    case MissingData::kOperators:
      return "record a program of PyTorch with borescope record --ops";
    case MissingData::kSteps:
      return "call borescope_record.step(number) of the Python package at the start of every step";
    case MissingData::kShapes:
      return "record with borescope record --ops --shapes, or --ops=profile";
    case MissingData::kMemory:
      return "record with borescope record --memory";
    case MissingData::kAnnotations:
      return "mark code with borescope_record.range(\"name\") of the Python package, or with NVTX";
    case MissingData::kCounters:
      return "measure one step with Nsight Compute and give its report with `counters` (`borescope "
             "counters --help` has the command), or record with borescope record --counters, which "
             "is experimental";
    default:
      return CommonRemedy(lack);
  }
}

}  // namespace borescope::internal
