// The few figures of a run that say most, taken from the tables of the verb summary: what a card
// and a text for a pull request are made of. Pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "borescope/base/result.h"
#include "borescope/output/sink/sink.h"
#include "borescope/output/writer.h"
#include "borescope/table/display/tone.h"
#include "borescope/table/table.h"

namespace borescope::internal {

struct DigestFinding {
  std::string severity;  // "warning"
  std::string finding;
  std::string evidence;
};

// A part of the time of all devices.
struct DigestPart {
  std::string label;  // "exposed comm"
  Tone tone = Tone::kCompute;
  double ns = 0;
};

struct DigestKernel {
  std::string name;
  std::string kind;  // "gemm"
  double count = 0;
  double ns = 0;
  double share = 0;  // of the time of all kernels
};

// What changed by name.
struct DigestChange {
  std::string name;
  double before_ns = 0;
  double after_ns = 0;
};

struct Digest {
  std::string title;                                       // of the run
  std::vector<std::pair<std::string, std::string>> facts;  // what was recorded: "Ranks", "2 of 8"
  std::vector<DigestFinding> findings;                     // the most costly first
  std::vector<DigestPart> parts;                           // those above zero
  double whole_ns = 0;                                     // their sum, of which shares are
  std::vector<DigestPart> left_out;                        // time of which there are no shares
  double left_out_ns = 0;                                  // its sum
  std::vector<DigestKernel> kernels;                       // the longest first
};

// From the other run to this one. Times are those of one step, the mean, or of what else the runs
// are compared by.
struct DigestComparison {
  std::string sentence;               // the answer
  std::string unit;                   // "step", "token", "rank"; "run": whole runs are compared
  std::vector<DigestChange> parts;    // of the time of a device: the whole, then what adds up to it
  std::vector<DigestChange> changes;  // of device work by name; the largest first
};

// What a report says in short.
struct ReportDigest {
  Digest run;
  std::optional<Digest> against;  // of the other run
  DigestComparison comparison;    // where there is one
  std::vector<Diagnostic> diagnostics;
};

// Of the tables of the verb summary, of which any may be missing. Texts are as recorded.
Digest MakeDigest(std::string title, std::span<const Table> tables);

// Of the tables of the verb diff: at most `most` of the device work that takes another time.
DigestComparison ComparisonOf(std::span<const Table> tables, size_t most);

// Takes the comparison into the digest: the parts of both runs become those of a step, and facts of
// whole runs go.
void CompareDigests(DigestComparison comparison, ReportDigest& digest);

// A share of the whole, or a time with its unit, as people read it: "45.6 %", "12.3 ms".
std::string DigestShare(double part, double whole);
std::string DigestTime(double ns);
// "477 ms before first launch, 11 ms after last work"; empty if nothing is left out.
std::string DigestLeftOut(const Digest& run);
// "+1.2 ms (+3.4 %, 1.03 times)"; "-20.0 ms (-50.0 %, 0.50 times)". Share and ratio only of what
// was there before, and was at least a tenth of it.
std::string DigestDelta(const DigestChange& change);

// A run in short, for a pull request.

// GitHub-flavoured Markdown of at most some sixty lines, in which no name of a recording can link,
// mention or end a cell. Errors are those of the sink.
Result<void> WriteDigestMarkdown(const ReportDigest& digest, Sink& sink);

}  // namespace borescope::internal
