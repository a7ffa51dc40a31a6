// Diagnostics: counts, by kind, what was odd, repaired or dropped while an input was read and
// indexed. Loading continues after each of them; every output reports them with its result.
//
// To add one: an enum value here and its row in kDiagRows (diagnostics.cc); a static_assert keeps
// the two in step.
//
// Thread-compatible: each loading thread owns one object; Merge joins them in input order, so that
// the result does not depend on the number of threads.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "borescope/diagnostic.h"

namespace borescope::internal {

enum class Diag : uint8_t {
  // Text and container.
  kTruncatedFile,     // the text ends inside the document
  kTruncatedGzip,     // the compressed stream ends early or fails its checksum
  kTrailingData,      // bytes after the end of the document
  kTooLongEvent,      // an event beyond the limit of TextReader was skipped
  kDroppedText,       // text that is not an event and could not be repaired was skipped
  kInvalidUtf8,       // bytes that are not UTF-8 were replaced by U+FFFD
  kControlCharacter,  // raw control characters inside a string
  kUnescapedQuote,    // a quotation mark inside a string was not escaped
  kNonFiniteNumber,   // NaN or Infinity where a number was expected
  kIntegerOverflow,   // a number beyond 64 bits was clamped
  kDuplicateKey,      // a duplicate key in one object; the last one counts
  kBadFieldType,      // a field with a value of the wrong type was ignored
  kBadSyntax,         // an error in JSON syntax (missing or trailing comma, ...) was repaired
  // Events.
  kMissingTimestamp,    // an event without "ts" was dropped from the timeline
  kMissingDuration,     // a complete event without "dur" counts as zero long
  kOpenRange,           // a range that was open when its process ended was ended there
  kMissingName,         // an event without a name
  kNegativeDuration,    // a negative duration was set to zero
  kImpossibleDuration,  // an impossible duration was cut
  kClampedFrame,        // a Python frame that outlives its caller was ended with it
  kUnknownPhase,        // an event phase that is not read
  kUnpaddedFraction,    // timestamps that may carry the 2024 unpadded-fraction defect
  // Tables of databases.
  kDanglingReference,  // an id that is missing in its table
  kUnknownWork,        // device work of an unknown type counts as a kernel
  kSeveralLaunches,    // device work that names several calls as its launch
  kUnusedDetail,       // a launch or copy was described, but its device work was not recorded
  kUnknownCopySize,    // a copy without a usable size
  kSwappedCopyEnds,    // source and target of copies were recorded swapped
  kUnreadRows,         // rows of tables that are not read
  kUnfinishedWrites,   // a database with a journal or a log beside it
  // Recordings of borescope record.
  kTornChunk,       // a part of a log that is damaged or was not finished
  kDroppedRecords,  // records that had no room, or that the vendor's library dropped
  kRecordingGap,    // a source that was not recorded, or not all the time
  // Reports of counters.
  kTruncatedReport,       // the file ends inside an entry
  kUnknownReportVersion,  // a version of the report that is not known
  kDamagedBlock,          // a block whose size is not that of its entries
  kDamagedMessage,        // an entry with something that is no field
  kUnnamedMetric,         // a metric whose name the report does not hold
  kUnreadRangeResults,    // results of ranges, which are not read
  kMetricWithoutValue,    // metrics that were asked for and not measured
  kNvtxThreadUnknown,     // kernels with open ranges of several threads
  kRoundedCounters,       // counters that were written with few digits
  kMadeUpTimes,           // kernels of a report, which were put one behind the other
  // Structure, found while indexing.
  kInheritedWork,         // device work that was launched before the recording began
  kUnlinkedDeviceEvent,   // a device event whose launch belongs into the recording, and is missing
  kDeviceBeforeLaunch,    // a device event that starts before its launch
  kDuplicateCorrelation,  // several launches share one correlation number
  kAmbiguousLaunch,       // device work that may be of any of several launches
  kUnresolvedWait,        // a wait of the host for a device or stream without recorded work
  kStreamOverlap,         // two kernels or copies overlap on one stream
  kNotNested,             // a host event outlives the event that contains its start
  kSharedSteps,           // devices that several processes with steps may use
  kUnnamedRank,           // the rank of a file was not recorded; its order was used
  kDuplicateRank,         // two files claim the same rank
  kCopiedFile,            // another file of the run holds the same recording
  kRankConflict,          // file name and distributedInfo name different ranks
  kUnreadableFile,        // a file of a run could not be loaded
  kUnlinkedOp,            // a linked device event whose launch is not inside an operator
  kCapturedKernels,       // kernels of graphs whose operators a capture in another file knows
  kUncapturedKernels,     // kernels of graphs that are in no capture, though there are captures
  kMissingData,           // a rank of a run has no data for the analysis
  kMissingParts,          // partials that were reduced without parts of the run
  kMissingRanks,          // the job had more ranks than the run has files
  kStepsWithoutWork,      // a selected step launched no device work, as far as was recorded
  kUnknownSelection,      // a selected rank, step, device, ... exists in no rank of the run
  kCount
};

using borescope::Severity;

struct DiagRow {
  Diag id;
  std::string_view code;  // stable slug, e.g. "negative-duration"
  Severity severity;
  std::string_view help;  // what it means and what to do, one or two sentences
};

std::string_view SeverityName(Severity severity);
const DiagRow& GetDiagRow(Diag diag);

class Diagnostics {
 public:
  static constexpr uint64_t kNoByte = ~uint64_t{0};

  struct Entry {
    uint64_t count = 0;
    uint64_t first_byte = kNoByte;  // offset in the inflated text, if it has one
    std::string first;              // a short description of the first case
  };

  // Counts one case. The first case's place and description are kept.
  void Count(Diag diag, uint64_t byte = kNoByte, std::string_view first = {});
  void CountMany(Diag diag, uint64_t count, uint64_t byte = kNoByte, std::string_view first = {});

  // Adds the counts of `later`, whose cases come after those already here.
  void Merge(const Diagnostics& later);

  const Entry& Get(Diag diag) const { return entries_[static_cast<size_t>(diag)]; }
  uint64_t count(Diag diag) const { return Get(diag).count; }
  bool empty() const;

 private:
  std::array<Entry, static_cast<size_t>(Diag::kCount)> entries_;
};

}  // namespace borescope::internal
