// Dumps of PyTorch's flight recorder: what one process kept of its latest communication, as the
// pickle or the JSON that torch/csrc/distributed/c10d/FlightRecorder writes (versions 1.x and 2.0
// to 2.10). All keys but the name of an operation, its state and a sequence number are optional.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "borescope/base/hash/hash_tables.h"
#include "borescope/base/io/byte_source.h"
#include "borescope/base/result.h"
#include "borescope/ingest/pickle/plain_values.h"

namespace borescope::internal {

enum class FlightState : uint8_t { kUnknown, kScheduled, kStarted, kCompleted };
std::string_view FlightStateName(FlightState state);  // "scheduled"; empty if unknown

// One record of the ring. Numbers of texts, of lists of sizes and types, and of stacks are those of
// the store of its dump, in which equal ones are one; kNothing where the key is missing.
struct FlightEntry {
  static constexpr uint32_t kNothing = UINT32_MAX;
  static constexpr int64_t kNoNumber = -1;

  int64_t record_id = 0;
  int64_t created_ns = 0;              // Unix time on the host at issue; 0: not recorded
  int64_t discovered_started_ns = 0;   // when the watchdog saw it; 0: not recorded
  int64_t discovered_finished_ns = 0;  // likewise
  int32_t collective_seq = kNoNumber;  // number of the collective in its group
  int32_t p2p_seq = kNoNumber;         // number of the point-to-point launch in its group
  int32_t op_id = kNoNumber;           // number of the logical operation in its group
  int32_t pg_id = kNoNumber;           // number of the group in this process
  int32_t timeout_ms = 0;              // 0: not recorded
  float duration_ms = -1;              // less than 0: not recorded
  uint32_t group = kNothing;           // among FlightDump::named_groups
  uint32_t name = kNothing;            // text: "nccl:all_reduce"
  uint32_t input_sizes = kNothing;     // list of lists
  uint32_t output_sizes = kNothing;
  uint32_t input_types = kNothing;  // list of texts
  uint32_t output_types = kNothing;
  uint32_t frames = kNothing;  // list of dictionaries, innermost first
  uint32_t thread_name = kNothing;
  FlightState state = FlightState::kUnknown;
  bool is_p2p = false;
  bool is_retired = false;
};

// A group as the dump's pg_config lists it.
struct FlightGroup {
  std::string name;
  std::string description;
  std::span<const int32_t> ranks;  // global, ascending; of the store of the dump
};

// What entries call their group: process_group.
struct FlightGroupName {
  std::string_view name;
  std::string_view description;
};

// The latest sequence numbers of a group of this process, by its pg_id; -1: none.
struct FlightStatus {
  int32_t pg_id = 0;
  int64_t enqueued = -1;
  int64_t started = -1;
  int64_t completed = -1;
};

struct FlightFrame {
  std::string_view file;
  std::string_view function;
  int64_t line = 0;
};

// What dumps are read into: their texts, lists and stacks, each once. The ranks of a job run one
// program, so that dumps which share a store take little more than their entries. Changed only
// while a dump is read, by one thread; everything that is const may be asked by several.
class FlightStore {
 public:
  FlightStore();

  PlainStore values;

  // The ranks that a text such as "[0, 1]" or a list names, and how many of them are none. Read
  // once for each value; lives as long as the store.
  struct Ranks {
    std::vector<int32_t> ranks;  // ascending
    uint64_t bad = 0;
  };
  const Ranks& RanksOf(PlainValue value);

  // For readers: a list of sizes that an entry has. How many extents in it are no sizes: these
  // count as 0.
  uint64_t AddSizes(uint32_t list);
  // The elements of a list of sizes that was added, all its shapes together; at most 2^62.
  int64_t ElementsOf(uint32_t list) const {
    const auto found = elements_.find(list);
    return found == elements_.end() ? 0 : found->second.elements;
  }

 private:
  struct Elements {
    int64_t elements = 0;
    uint64_t bad = 0;  // extents that are no sizes
  };
  Elements ElementsOfShape(PlainValue shape);

  std::map<std::pair<PlainKind, uint64_t>, Ranks> ranks_;
  HashMap<uint64_t, Elements> elements_;        // by list
  HashMap<uint64_t, Elements> shape_elements_;  // by shape
};

struct FlightDump {
  // Larger numbers are no ranks: one such number must not cost a row for each below it.
  static constexpr int32_t kMostRanks = int32_t{1} << 18;

  std::shared_ptr<FlightStore> store = std::make_shared<FlightStore>();
  std::string version;
  std::string library;               // version of the communication library
  std::vector<FlightGroup> groups;   // by name
  std::vector<FlightStatus> status;  // by pg_id
  bool has_status = false;
  std::vector<FlightGroupName> named_groups;
  std::vector<FlightEntry> entries;  // by record_id, as the ring had them
  bool is_cut = false;               // the file ends in the middle
  uint64_t lost_entries = 0;      // without a name, state, number or group: they count for nothing
  uint64_t lost_outstanding = 0;  // of these, those that are not known to have completed
  uint64_t bad_fields = 0;        // fields of another type than the writer gives them
  uint64_t bytes = 0;             // inflated

  // Whether nothing that may be outstanding is missing in it.
  bool IsWhole() const { return !is_cut && lost_outstanding == 0; }
  // Whether it has entries, and lacks none of those between its first and its last.
  bool HasNoGaps() const {
    return !entries.empty() && entries.back().record_id - entries.front().record_id + 1 ==
                                   static_cast<int64_t>(entries.size());
  }
  std::string_view Text(uint32_t number) const {
    return number == FlightEntry::kNothing ? std::string_view() : store->values.TextOf(number);
  }
  std::string_view Name(const FlightEntry& entry) const { return Text(entry.name); }
  // The first of that group; nullptr where there is none.
  const FlightStatus* StatusOf(int32_t pg_id) const;
  // The numbers of a list of sizes, each list in it ended by -1; the texts of a list of types.
  std::vector<int64_t> Sizes(uint32_t list) const;
  std::vector<std::string_view> Texts(uint32_t list) const;
  // Innermost first.
  std::vector<FlightFrame> Frames(const FlightEntry& entry) const;
};

// Reads a dump, pickle or JSON. What is odd is counted in `bad_fields`; entries are kept if their
// key fields are whole. Errors: those of ReadPlain, and kUnsupportedFormat where it is no dump.
// `store` may hold what was read before; no other thread may use it meanwhile.
Result<FlightDump> ReadFlightDump(ByteSource& source, std::shared_ptr<FlightStore> store);
inline Result<FlightDump> ReadFlightDump(ByteSource& source) {
  return ReadFlightDump(source, std::make_shared<FlightStore>());
}

// Whether versions of this kind are known: 1.x and 2.0 to 2.10.
bool IsKnownFlightVersion(std::string_view version);

}  // namespace borescope::internal
