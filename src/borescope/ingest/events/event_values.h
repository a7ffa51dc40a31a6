// EventValues: the values of an event's fields, from their JSON tokens. Numbers are exact; an
// invalid value is counted and treated as not recorded.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "borescope/base/diagnostics.h"
#include "borescope/ingest/kineto/kineto_fields.h"
#include "borescope/json/number.h"
#include "borescope/trace/tables.h"

namespace borescope::internal {

struct EventTime {
  bool has_ts = false;
  int64_t ts_ns = 0;
  int64_t dur_ns = 0;  // >= 0
};

// The format of the timestamps of a file.
struct TimestampFacts {
  std::array<uint64_t, 4> decimals{};  // events by decimals of "ts": 0, 1, 2, 3 and more
  bool absolute = false;               // some "ts" is Unix time
};

// The label of a rank at the begin of the text of a process, up to the number: "[TP00-DP00] " of
// "[TP00-DP00] 83"; empty for all other texts. `text` is what is between the quotation marks.
std::string_view RankLabelOf(std::string_view text);

// The rank of an event that TraceLens's TraceFuse merged, as digits, and the number of its process
// as it was in the trace of the rank: that tool adds a multiple of the rank to the numbers of
// events, and writes both into their arguments ("rank": 3, "pid_raw": 83). `args` is the text of
// these; both are empty for all other events.
struct FusedRank {
  std::string_view rank;
  std::string_view pid;
};
FusedRank FusedRankOf(std::string_view args);
// "rank 3": the label of such a rank.
std::string FusedRankLabel(const FusedRank& fused);

// PhaseOf of a token of another length than that of a letter in quotation marks.
char EscapedPhaseOf(std::string_view token);

// The letter that the token of a "ph" says, with whatever escapes it is written; 0 if it is not one
// visible character of ASCII.
inline char PhaseOf(std::string_view token) {
  return token.size() == 3 && token[0] == '"' ? token[1] : EscapedPhaseOf(token);
}

// What the text of a "pid" or "tid" says: its content, escapes resolved in `scratch`; empty if the
// token is no string.
std::string_view ProcessText(std::string_view token, std::string& scratch);

// The number that such a text says or ends with: 7 of "stream 7"; none of "Spans".
std::optional<int64_t> ProcessNumberIn(std::string_view text);

// Labels of ranks among the processes of a file, by which merged files are known.
struct RankLabels {
  std::string first;
  bool differ = false;  // there is another one

  void Note(std::string_view label);
  void Merge(const RankLabels& other);
};

// Not thread-safe. `diagnostics` must outlive it.
class EventValues {
 public:
  explicit EventValues(Diagnostics& diagnostics) : diagnostics_(diagnostics) {}

  // "ts" and "dur". Without a usable "ts" the event has no place on the timeline; without "dur" it
  // has zero length.
  EventTime Time(const RawEvent& event);
  // "ts" alone; false if there is no usable one.
  bool Timestamp(const RawEvent& event, int64_t& ts_ns);

  int64_t Integer(const RawEvent& event, Field field, int64_t missing = kMissing);
  // Clamped to 0...2^31 - 1; -1 if missing.
  int32_t SmallInteger(const RawEvent& event, Field field);
  // All 64 bits of addresses and graph node ids; `missing` if there is none.
  int64_t Unsigned(const RawEvent& event, Field field, int64_t missing);
  // "pid" or "tid": a number, the number at the end of a text ("stream 7"), or for any other text a
  // negative number derived from it, the same in every run.
  int64_t ProcessNumber(const RawEvent& event, Field field);

  // A number of "args" whose key is not known beforehand: `value` is its token, `key` its raw name.
  // Nothing if it is null or not a number.
  std::optional<double> Number(const RawEvent& event, std::string_view key, std::string_view value);

  // Text of a string token, escapes resolved; numbers keep their digits, null and absent fields are
  // empty. The view lives until the next call or as long as the event's text.
  std::string_view Text(const RawEvent& event, Field field);
  // The same for the text between the quotes of a token.
  std::string_view Decoded(const RawEvent& event, std::string_view raw);

  const TimestampFacts& timestamps() const { return timestamps_; }
  // Notes the rank that a merging tool wrote into the arguments of an event. The first event of
  // each thread and stream, and those of metadata, are enough: ranks have other ones.
  void NoteFusedRank(const RawEvent& event);
  // Of these, and of processes written with a label of their rank, "[TP00-DP00] 83".
  const RankLabels& rank_labels() const { return rank_labels_; }

 private:
  // Counts what was wrong with a number; true if its value can be used.
  bool Usable(const ParsedNumber& number, const RawEvent& event, Field field) {
    return number.status == NumberStatus::kOk || UsableIfRare(number, event, field);
  }
  bool UsableIfRare(const ParsedNumber& number, const RawEvent& event, Field field);
  int64_t Duration(const RawEvent& event);

  Diagnostics& diagnostics_;
  TimestampFacts timestamps_;
  RankLabels rank_labels_;
  std::string scratch_;
};

}  // namespace borescope::internal
