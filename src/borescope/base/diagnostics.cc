#include "borescope/base/diagnostics.h"

#include "borescope/base/check.h"

namespace borescope::internal {
namespace {

constexpr auto kInfo = Severity::kInfo;
constexpr auto kWarning = Severity::kWarning;
constexpr auto kError = Severity::kError;

constexpr DiagRow kDiagRows[] = {
    {Diag::kTruncatedFile, "truncated-file", kError,
     "The file ends in the middle; everything before the end was read. Profile again or copy it "
     "again."},
    {Diag::kTruncatedGzip, "damaged-compression", kError,
     "The compressed stream ends early or fails its checksum; what could be inflated was read."},
    {Diag::kTrailingData, "trailing-data", kInfo,
     "Bytes after the end of the document were ignored."},
    {Diag::kTooLongEvent, "too-long-event", kError,
     "An event longer than 64 MiB was skipped: something in it is not what a profiler writes."},
    {Diag::kDroppedText, "dropped-text", kError,
     "Text that is no event and could not be repaired was skipped up to the next event."},
    {Diag::kInvalidUtf8, "invalid-utf8", kInfo,
     "Bytes that are not UTF-8 were replaced by U+FFFD."},
    {Diag::kControlCharacter, "control-character", kInfo,
     "Raw control characters inside a string were kept."},
    {Diag::kUnescapedQuote, "unescaped-quote", kWarning,
     "A quotation mark inside a string was not escaped; the string was put together again."},
    {Diag::kNonFiniteNumber, "non-finite-number", kWarning,
     "NaN or Infinity where a number was expected; the field counts as not recorded."},
    {Diag::kIntegerOverflow, "integer-overflow", kWarning,
     "A number beyond 64 bits was clamped to the nearest one that fits."},
    {Diag::kDuplicateKey, "duplicate-key", kInfo,
     "A key occurs twice in one object; the last one counts."},
    {Diag::kBadFieldType, "bad-field-type", kWarning,
     "A field holds a value of the wrong type; the field counts as not recorded."},
    {Diag::kBadSyntax, "bad-syntax", kWarning, "A slip of JSON syntax was repaired."},
    {Diag::kMissingTimestamp, "missing-timestamp", kWarning,
     "An event without a usable \"ts\" is counted but has no place on the timeline."},
    {Diag::kMissingDuration, "missing-duration", kWarning,
     "A complete event without a usable \"dur\" counts as zero long."},
    {Diag::kOpenRange, "open-range", kWarning,
     "A range or frame was open when its process ended; it ends with the last record of the "
     "process."},
    {Diag::kMissingName, "missing-name", kInfo, "An event has no name."},
    {Diag::kNegativeDuration, "negative-duration", kWarning,
     "A negative duration was set to zero."},
    {Diag::kImpossibleDuration, "impossible-duration", kWarning,
     "A duration that is not possible was cut at the next event of its track: longer than the "
     "recording itself, or of device work that runs over later work of its own in-order stream."},
    {Diag::kClampedFrame, "clamped-frame", kWarning,
     "A Python frame outlives the frame that called it; in the call tree it ends with its "
     "caller."},
    {Diag::kUnknownPhase, "unknown-phase", kInfo,
     "Events of a phase that no PyTorch profiler writes are counted but not analysed."},
    {Diag::kUnpaddedFraction, "unpadded-fraction", kWarning,
     "Fractions of timestamps vary in length: builds of early 2024 wrote .5 for 5 ns. Order within "
     "a microsecond may be wrong."},
    {Diag::kDanglingReference, "dangling-reference", kWarning,
     "A row names another one that its table does not hold; the field counts as not recorded."},
    {Diag::kUnknownWork, "unknown-work", kWarning,
     "Device work of a type that is not known counts as a kernel."},
    {Diag::kSeveralLaunches, "several-launches", kInfo,
     "Device work names several calls as its launch; the first counts."},
    {Diag::kUnusedDetail, "unused-detail", kInfo,
     "A launch or copy is described, but no device work of it was recorded."},
    {Diag::kUnknownCopySize, "unknown-copy-size", kWarning,
     "A copy has no size, or one that the profiler could not store; it counts as not recorded."},
    {Diag::kSwappedCopyEnds, "swapped-copy-ends", kInfo,
     "The profiler wrote source and target of copies in each other's place; they were put right."},
    {Diag::kUnreadRows, "unread-rows", kInfo,
     "Rows of tables that are not read; nothing of them is in any answer."},
    {Diag::kUnfinishedWrites, "unfinished-writes", kWarning,
     "A journal or a log is beside the database: its writer was killed, or still runs. The answer "
     "holds what was committed, from a private copy."},
    {Diag::kTornChunk, "torn-chunk", kWarning,
     "A part of a log is damaged, or its process was killed as it began it; all that is complete "
     "was read."},
    {Diag::kDroppedRecords, "dropped-records", kWarning,
     "Records that the disk, the limit of bytes or the buffers of the vendor's library had no room "
     "for; times and counts are too small."},
    {Diag::kRecordingGap, "recording-gap", kWarning,
     "Something that was to be recorded was not, or not all the time; the log says what."},
    {Diag::kTruncatedReport, "truncated-report", kError,
     "The report ends in the middle; all kernels before the end were read. Copy it again, or let "
     "the profiler finish."},
    {Diag::kUnknownReportVersion, "unknown-report-version", kWarning,
     "The report has another version than 7, which is the one that is known; what could be read "
     "is shown. Compare a value with ncu --import."},
    {Diag::kDamagedBlock, "damaged-block", kWarning,
     "A block of the report is longer or shorter than its entries; the next one begins where its "
     "size says."},
    {Diag::kDamagedMessage, "damaged-message", kWarning,
     "An entry of the report holds something that is no field; the entry ends there, and the rest "
     "of the file was read."},
    {Diag::kUnnamedMetric, "unnamed-metric", kWarning,
     "A metric has a number for which the report holds no name; it was dropped."},
    {Diag::kUnreadRangeResults, "unread-range-results", kInfo,
     "Results of ranges of kernels (--replay-mode range) are not read; nothing of them is in any "
     "answer."},
    {Diag::kMetricWithoutValue, "metric-without-value", kWarning,
     "Metrics were asked for, and the device did not measure them: they count as not recorded, "
     "not as 0."},
    {Diag::kNvtxThreadUnknown, "nvtx-thread-unknown", kWarning,
     "Several threads had open ranges when a kernel was launched, and the report does not say "
     "which launched it; the kernel has no ranges."},
    {Diag::kRoundedCounters, "rounded-counters", kInfo,
     "Counters were written with few digits in large units; ncu --print-units base keeps all "
     "digits, and the report itself has them."},
    {Diag::kMadeUpTimes, "made-up-times", kInfo,
     "A report of counters has durations but no timeline: its kernels are put one after the "
     "other from 0 on, as long as the tool took to replay each. What rests on when things happened "
     "is refused or left out."},
    {Diag::kInheritedWork, "inherited-work", kInfo,
     "Device work that was launched before the recording began: the host was ahead of the device, "
     "as it should be. It is counted, and left out of rates."},
    {Diag::kUnlinkedDeviceEvent, "unlinked-device-event", kWarning,
     "Device work whose launch call is missing in the recording; it is counted, and has an "
     "operator only if its External id names one."},
    {Diag::kDeviceBeforeLaunch, "device-before-launch", kWarning,
     "Device work starts before its launch: host and device clocks disagree."},
    {Diag::kDuplicateCorrelation, "duplicate-correlation", kWarning,
     "Several calls, or kernels of several calls, carry one correlation number; device work goes "
     "to the innermost launch, or to the one that its name, thread, stream and operator show."},
    {Diag::kAmbiguousLaunch, "ambiguous-launch", kWarning,
     "Several launches carry the correlation number of this device work, and its order does not "
     "tell whose it is; it is counted, but has no launch and no operator."},
    {Diag::kUnresolvedWait, "unresolved-wait", kWarning,
     "The host waited for a device or stream on which no work was recorded: what it waited for is "
     "not known, and may look like time of the host."},
    {Diag::kStreamOverlap, "stream-overlap", kInfo,
     "Work overlaps on one stream; busy time counts the overlap once."},
    {Diag::kNotNested, "not-nested", kInfo,
     "A host event outlives the event it starts in; both keep their times."},
    {Diag::kSharedSteps, "shared-steps", kWarning,
     "Several processes that have steps use a device, and nothing shows whose some of its streams "
     "are: with --step-rule time, time and unlinked work of one may count in a step of another."},
    {Diag::kUnnamedRank, "unnamed-rank", kWarning,
     "The file records no rank and its name tells none; it got the next free number."},
    {Diag::kDuplicateRank, "duplicate-rank", kWarning,
     "Two files claim one rank; the later one got the next free number."},
    {Diag::kCopiedFile, "copied-file", kWarning,
     "Another file of the run holds the same recording: it was passed over, and counts once."},
    {Diag::kRankConflict, "rank-conflict", kWarning,
     "File name and distributedInfo name different ranks; distributedInfo counts."},
    {Diag::kUnreadableFile, "unreadable-file", kError,
     "A file of the run could not be loaded; the answer is about the others."},
    {Diag::kUnlinkedOp, "no-operator", kInfo,
     "Device work whose launch lies in no operator; it is listed as \"(no operator)\"."},
    {Diag::kCapturedKernels, "captured-kernels", kInfo,
     "Kernels of graphs have the operators of the capture of their graph, which another file "
     "holds; graphs shows how each was matched."},
    {Diag::kUncapturedKernels, "uncaptured-kernels", kWarning,
     "No capture fits these kernels of graphs, or several that fit name different operators; they "
     "keep the operator around the launch of the graph, if there is one."},
    {Diag::kMissingData, "missing-data", kWarning,
     "A rank, or the whole run, does not hold what a question needs; the answer is about the "
     "rest."},
    {Diag::kMissingParts, "missing-parts", kWarning,
     "Parts of the run were not given to reduce; the answer is about the others. Map those that "
     "are missing, and reduce again."},
    {Diag::kMissingRanks, "missing-ranks", kWarning,
     "The job had ranks of which the run holds no readable file; the answer is about the others."},
    {Diag::kStepsWithoutWork, "steps-without-work", kWarning,
     "No recorded launch in a selected step started device work, so that the step has none; "
     "--step-rule time shows what ran in its window."},
    {Diag::kUnknownSelection, "unknown-selection", kWarning,
     "A rank, step, device, stream or instance that was asked for is in none of the selected "
     "ranks; the answer is about the others."},
};

constexpr bool RowsMatchEnum() {
  size_t index = 0;
  for (const DiagRow& row : kDiagRows) {
    if (static_cast<size_t>(row.id) != index++) {
      return false;
    }
  }
  return index == static_cast<size_t>(Diag::kCount);
}
static_assert(RowsMatchEnum(), "kDiagRows must list every Diag once, in order");

}  // namespace

std::string_view SeverityName(Severity severity) {
  constexpr std::string_view kNames[] = {"info", "warning", "error"};
  return kNames[static_cast<size_t>(severity)];
}

const DiagRow& GetDiagRow(Diag diag) {
  BS_DCHECK(diag < Diag::kCount);
  return kDiagRows[static_cast<size_t>(diag)];
}

void Diagnostics::Count(Diag diag, uint64_t byte, std::string_view first) {
  CountMany(diag, 1, byte, first);
}

void Diagnostics::CountMany(Diag diag, uint64_t count, uint64_t byte, std::string_view first) {
  if (count == 0) {
    return;
  }
  Entry& entry = entries_[static_cast<size_t>(diag)];
  if (entry.count == 0) {
    entry.first_byte = byte;
    entry.first = first;
  }
  entry.count += count;
}

void Diagnostics::Merge(const Diagnostics& later) {
  for (size_t i = 0; i < entries_.size(); ++i) {
    const Entry& entry = later.entries_[i];
    CountMany(static_cast<Diag>(i), entry.count, entry.first_byte, entry.first);
  }
}

bool Diagnostics::empty() const {
  for (const Entry& entry : entries_) {
    if (entry.count != 0) {
      return false;
    }
  }
  return true;
}

}  // namespace borescope::internal
