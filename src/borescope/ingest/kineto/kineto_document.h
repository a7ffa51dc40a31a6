// DocumentReader: the JSON document around the events of a Kineto trace. Reads its members
// character by character in the reader's window, in any order, and passes the array of events to
// the event pipeline.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "borescope/ingest/events/event_pipeline.h"
#include "borescope/ingest/events/text_reader.h"
#include "borescope/ingest/kineto/kineto_events.h"
#include "borescope/ingest/load.h"
#include "borescope/trace/tables.h"
#include "borescope/trace/trace_builder.h"

namespace borescope::internal {

// The members around "traceEvents": metadata of a file. Only used members are kept; environments,
// host names and other extras never enter a Trace.

// Everything read from the members, before the events are known.
struct KinetoMembers {
  Meta meta;
  std::string display_time_unit;
  int64_t cuda_runtime_version = 0;  // as CUDA writes it, 12060 is 12.6; 0: not recorded
  bool has_schema_version = false;
  bool has_nodes = false;            // of a PyTorch execution trace
  bool has_rocprofiler_sdk = false;  // of a rocprofiler-sdk-tool file
  bool has_system_trace = false;     // of Perfetto's and Chrome's JSON
  bool has_events = false;
};

// Records that the file has a member of this name, before its value is read: the value may be long
// or cut off, as in the execution trace of a process that was killed.
void NoteMember(std::string_view key, KinetoMembers& members);

// Extracts the used data from one member; `value` is its JSON text. False if the value is not JSON.
bool ReadMember(std::string_view key, std::string_view value, KinetoMembers& members);

// Fills in what follows from members and events together: producer, vendor.
void CompleteMeta(const KinetoFacts& facts, KinetoMembers& members);

// Not thread-safe; one per file.
class DocumentReader {
 public:
  // All three must outlive it.
  DocumentReader(TextReader& reader, TraceBuilder& builder, const LoadOptions& options)
      : reader_(reader), builder_(builder), options_(options) {}
  // With events of another producer, which go to `sink`.
  DocumentReader(TextReader& reader, TraceBuilder& builder, const LoadOptions& options,
                 EventSink& sink)
      : reader_(reader), builder_(builder), options_(options), sink_(&sink) {}

  // Reads the whole text: the events into the builder, the other members into members(). Oddities
  // are counted in the builder's diagnostics.
  void Read();

  KinetoMembers& members() { return members_; }
  const KinetoFacts& facts() const { return facts_; }

 private:
  enum class Scan : uint8_t { kOk, kEnd, kDamaged };

  bool Ensure(size_t at) { return at < reader_.window().size() || FillTo(at); }
  bool FillTo(size_t at);
  Scan ScanString(size_t& at);
  bool EndsValue(size_t at);
  Scan ScanValue(size_t& at);
  void ReadMembers();
  bool ReadOneMember();
  bool ReadKey(std::string& key);
  void ReadEventArray();
  void ReadArrayBody();
  bool EventsGoOn();
  bool ResumeEvents();
  bool OpensArray(size_t at);
  bool SkipToEvents();
  void CheckTail();
  void CountTruncation(std::string_view where);
  void Count(Diag diag, std::string_view first) {
    builder_.diagnostics().Count(diag, reader_.byte(), first);
  }

  TextReader& reader_;
  TraceBuilder& builder_;
  const LoadOptions& options_;
  EventSink* sink_ = nullptr;  // nullptr: events are Kineto's, and go to the builder
  KinetoMembers members_;
  KinetoFacts facts_;
  int stray_brackets_ = 0;
};

}  // namespace borescope::internal
