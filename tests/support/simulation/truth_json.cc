#include "tests/support/simulation/truth_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>

#include "tests/support/simulation/kineto.h"

namespace borescope::simulation {
namespace {

std::string Quoted(std::string_view text) { return fmt::format("\"{}\"", text); }

class TruthWriter {
 public:
  explicit TruthWriter(const SimulatedRun& run) : run_(run) {}

  std::string Write() {
    text_ = "{\n";
    Program();
    Constants();
    text_ += "\"tables\": {";
    Spans();
    Clocks();
    Steps();
    Works();
    Calls();
    Collectives();
    Waits();
    Planted();
    text_ += "\n}\n}\n";
    return std::move(text_);
  }

 private:
  template <class... Args>
  void Add(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
  }

  void Program() {
    const SimulationConfig& config = run_.config;
    Add("\"program\": \"{}\", \"seed\": {}, \"run\": {}, \"ranks\": {}, \"steps\": {}, \"jitter\": "
        "{}, \"base_ns\": {}, \"whole_us\": {},\n",
        ProgramKindName(config.program), config.seed, config.run, run_.program.ranks,
        run_.program.steps, config.jitter, kTraceBaseNs, config.has_whole_us);
    Add("\"threads\": [");
    for (size_t i = 0; i < run_.program.threads.size(); ++i) {
      Add("{}{}", i == 0 ? "" : ", ", Quoted(run_.program.threads[i].name));
    }
    Add("],\n");
  }

  void Constants() {
    const struct Constants& c = run_.config.constants;
    Add("\"constants\": {{\"launch_ns\": {}, \"copy_launch_ns\": {}, \"graph_launch_ns\": {}, "
        "\"gap_ns\": {}, \"graph_gap_ns\": {}, \"event_ns\": {}, \"return_ns\": {}, "
        "\"unblock_ns\": {}, \"hand_over_ns\": {}, \"graph_call_ns\": {}, \"graph_node_ns\": {}, "
        "\"alpha_ns\": {}, \"bytes_per_ns\": {}, \"queue_depth\": {}}},\n",
        c.launch_ns, c.copy_launch_ns, c.graph_launch_ns, c.gap_ns, c.graph_gap_ns, c.event_ns,
        c.return_ns, c.unblock_ns, c.hand_over_ns, c.graph_call_ns, c.graph_node_ns, c.alpha_ns,
        c.bytes_per_ns, c.queue_depth);
  }

  void Table(std::string_view name, std::string_view columns) {
    Add("{}\"{}\": {{\"columns\": [{}], \"rows\": [", is_first_table_ ? "\n" : "]},\n", name,
        columns);
    is_first_table_ = false;
    is_first_row_ = true;
  }

  template <class... Args>
  void Row(fmt::format_string<Args...> format, Args&&... args) {
    text_ += is_first_row_ ? "\n[" : ",\n[";
    is_first_row_ = false;
    Add(format, std::forward<Args>(args)...);
    text_ += ']';
  }

  void Spans() {
    Table("spans", R"("rank", "begin_ns", "end_ns")");
    for (size_t rank = 0; rank < run_.ranks.size(); ++rank) {
      Row("{}, {}, {}", rank, run_.ranks[rank].begin_ns, run_.ranks[rank].end_ns);
    }
  }

  void Clocks() {
    Table("clocks", R"("rank", "offset_ns", "drift_ppm", "jump_at_ns", "jump_ns", "device_ns")");
    for (size_t rank = 0; rank < run_.ranks.size(); ++rank) {
      const RankClock& clock = run_.ranks[rank].clock;
      Row("{}, {}, {}, {}, {}, {}", rank, clock.offset_ns, clock.drift_ppm, clock.jump_at_ns,
          clock.jump_ns, clock.device_ns);
    }
  }

  void Steps() {
    Table("steps", R"("rank", "step", "begin_ns", "end_ns")");
    for (size_t rank = 0; rank < run_.ranks.size(); ++rank) {
      for (const StepRow& step : run_.ranks[rank].steps) {
        Row("{}, {}, {}, {}", rank, step.step, step.begin_ns, step.end_ns);
      }
    }
  }

  void Works() {
    Table("works",
          R"("rank", "step", "correlation", "position", "stream", "name", "class", "phase", )"
          R"("begin_ns", "end_ns")");
    for (size_t rank = 0; rank < run_.ranks.size(); ++rank) {
      for (const WorkRow& row : run_.ranks[rank].works) {
        const Work& work = run_.program.works[static_cast<size_t>(row.work)];
        const CallRow& call = run_.ranks[rank].calls[static_cast<size_t>(row.call)];
        Row("{}, {}, {}, {}, {}, {}, \"{}\", \"{}\", {}, {}", rank, work.step, call.correlation,
            row.position, run_.program.streams[static_cast<size_t>(work.stream)].id,
            Quoted(run_.program.Name(work.name)), WorkClassName(work.work_class),
            PhaseName(work.phase), row.begin_ns, row.end_ns);
      }
    }
  }

  void Calls() {
    Table("calls", R"("rank", "step", "thread", "correlation", "name", "begin_ns", "end_ns", )"
                   R"("awaited_ns", "is_blocked")");
    for (size_t rank = 0; rank < run_.ranks.size(); ++rank) {
      for (const CallRow& row : run_.ranks[rank].calls) {
        Row("{}, {}, {}, {}, {}, {}, {}, {}, {}", rank, row.step, row.thread, row.correlation,
            Quoted(run_.program.Name(row.name)), row.begin_ns, row.end_ns, row.awaited_ns,
            row.is_blocked);
      }
    }
  }

  void Collectives() {
    Table(
        "collectives",
        R"("id", "name", "has_root", "partition", "group", "sequence", "bytes", "all_in_ns", "transfer_ns")");
    for (size_t i = 0; i < run_.collectives.size(); ++i) {
      const CollectiveRow& row = run_.collectives[i];
      const Collective& of = run_.program.collectives[static_cast<size_t>(row.collective)];
      Row("{}, \"{}\", {}, {}, {}, {}, {}, {}, {}", i, of.name, of.has_root, of.partition,
          row.group, of.sequence, of.bytes, row.all_in_ns, row.transfer_ns);
    }
  }

  const WorkRow& MemberOf(const CollectiveRow& row, size_t member) const {
    const RankRun& rank = run_.ranks[static_cast<size_t>(row.ranks[member])];
    return rank.works[static_cast<size_t>(row.works[member])];
  }

  // Waiting for the last to enter, the time in which all are in, and that after the first has left:
  // they add up to the time of the work. Not of those that one can leave before all are in.
  void Waits() {
    Table("waits",
          R"("collective", "rank", "begin_ns", "end_ns", "skew_ns", "common_ns", "tail_ns")");
    for (size_t i = 0; i < run_.collectives.size(); ++i) {
      const CollectiveRow& row = run_.collectives[i];
      if (run_.program.collectives[static_cast<size_t>(row.collective)].has_root) continue;
      int64_t first_end = MemberOf(row, 0).end_ns;
      for (size_t m = 1; m < row.ranks.size(); ++m) {
        first_end = std::min(first_end, MemberOf(row, m).end_ns);
      }
      for (size_t m = 0; m < row.ranks.size(); ++m) {
        const WorkRow& work = MemberOf(row, m);
        Row("{}, {}, {}, {}, {}, {}, {}", i, row.ranks[m], work.begin_ns, work.end_ns,
            row.all_in_ns - work.begin_ns, first_end - row.all_in_ns, work.end_ns - first_end);
      }
    }
  }

  void Planted() {
    Table("planted", R"("rank", "step", "cause", "ns")");
    for (const PlantedRow& row : run_.planted) {
      Row("{}, {}, \"{}\", {}", row.rank, row.step, row.cause, row.ns);
    }
    text_ += "]}";
  }

  const SimulatedRun& run_;
  std::string text_;
  bool is_first_table_ = true;
  bool is_first_row_ = true;
};

}  // namespace

std::string TruthJson(const SimulatedRun& run) { return TruthWriter(run).Write(); }

}  // namespace borescope::simulation
