#include "tests/oracle/trace_text.h"

#include <algorithm>
#include <type_traits>

#include "borescope/trace/columns.h"

namespace borescope::internal::testkit {
namespace {

// Writes values into a text; StringIds as the texts that they name.
class TextWriter {
 public:
  explicit TextWriter(const StringPool& strings) : strings_(strings) {}

  template <class Cells>
  void Column(const Cells& column) {
    for (const auto& value : column) {
      Value(value);
    }
    text_ += '\n';
  }

  template <class Table>
  void Rows(std::string_view name, const Table& table) {
    text_ += name;
    text_ += '\n';
    ForEachColumn([&](const auto& column) { Column(column); }, table);
  }

  void Line(std::string_view line) {
    text_ += line;
    text_ += '\n';
  }

  std::string Take() { return std::move(text_); }

 private:
  template <class T>
  void Value(const T& value) {
    text_ += ' ';
    if constexpr (std::is_same_v<T, StringId>) {
      text_ += '\'';
      text_ += strings_.Get(value);
      text_ += '\'';
    } else if constexpr (std::is_enum_v<T>) {
      text_ += std::to_string(static_cast<int>(value));
    } else if constexpr (std::is_arithmetic_v<T>) {
      text_ += std::to_string(value);
    } else if constexpr (std::is_same_v<T, SeldomNumber> || std::is_same_v<T, SeldomDetail>) {
      text_ += std::to_string(int64_t{value});
    } else {
      text_ += std::to_string(value.value);  // an id
    }
  }

  const StringPool& strings_;
  std::string text_;
};

void WriteTables(const TraceData& data, TextWriter& out) {
  out.Line("tracks");
  out.Column(data.tracks.kind);
  out.Column(data.tracks.pid);
  out.Column(data.tracks.tid);
  out.Column(data.tracks.process);
  out.Column(data.tracks.is_async);
  out.Column(data.tracks.name);
  out.Rows("host", data.host);
  out.Rows("device", data.device);
  out.Rows("ops", data.ops);
  out.Rows("runtime calls", data.runtime_calls);
  out.Rows("kernels", data.kernels);
  out.Rows("copies", data.copies);
  out.Rows("copy calls", data.copy_calls);
  out.Rows("syncs", data.syncs);
  out.Rows("collectives", data.collectives);
  out.Rows("memory", data.memory);
  out.Rows("ranges", data.ranges);
  out.Rows("metrics", data.metrics);
  out.Rows("flows", data.flows);
  out.Rows("samples", data.samples);
}

void WriteCounts(const std::vector<EventCount>& counts, const StringPool& strings,
                 TextWriter& out) {
  for (const EventCount& count : counts) {
    out.Line(std::string(1, count.phase) + ":" + std::string(strings.Get(count.category)) + " " +
             std::to_string(count.count) + " " + std::to_string(count.total_ns));
  }
}

// A Trace shows its tables one by one; this puts them back together, without copying rows.
template <class Fn>
void ForEachTable(const Trace& trace, Fn&& fn) {
  fn("host", trace.host());
  fn("device", trace.device());
  fn("ops", trace.ops());
  fn("runtime calls", trace.runtime_calls());
  fn("kernels", trace.kernels());
  fn("copies", trace.copies());
  fn("copy calls", trace.copy_calls());
  fn("syncs", trace.syncs());
  fn("collectives", trace.collectives());
  fn("memory", trace.memory());
  fn("ranges", trace.ranges());
  fn("metrics", trace.metrics());
  fn("flows", trace.flows());
  fn("samples", trace.samples());
}

std::string Number(const std::optional<int64_t>& value) {
  return value.has_value() ? std::to_string(*value) : "none";
}

}  // namespace

std::string TextOf(const Diagnostics& diagnostics) {
  std::string text;
  for (size_t i = 0; i < static_cast<size_t>(Diag::kCount); ++i) {
    const DiagRow& row = GetDiagRow(static_cast<Diag>(i));
    const Diagnostics::Entry& entry = diagnostics.Get(row.id);
    if (entry.count != 0) {
      text += std::string(row.code) + " " + std::to_string(entry.count) + " @" +
              std::to_string(entry.first_byte) + " " + entry.first + "\n";
    }
  }
  return text;
}

std::string TextOf(const KinetoFacts& facts) {
  std::string text = "profiled " + std::to_string(facts.profiled_ns) + " decimals";
  for (const uint64_t count : facts.timestamps.decimals) {
    text += " " + std::to_string(count);
  }
  for (const bool flag :
       {facts.timestamps.absolute, facts.saw_cuda, facts.saw_hip, facts.saw_xpu, facts.saw_mtia}) {
    text += flag ? " yes" : " no";
  }
  return text + "\n";
}

std::string TextOf(const TracePart& part) {
  TextWriter out(part.data.strings);
  WriteTables(part.data, out);
  for (const TracePart::ThreadName& row : part.thread_names) {
    out.Line(std::to_string(row.pid) + " " + std::to_string(row.tid) + " " +
             std::string(part.data.strings.Get(row.name)));
  }
  WriteCounts(part.data.event_counts, part.data.strings, out);
  out.Line(TextOf(part.data.diagnostics));
  return out.Take();
}

std::string TablesOf(const Trace& trace) {
  TextWriter out(trace.strings());
  const Tracks& tracks = trace.tracks();
  out.Line("tracks");
  out.Column(tracks.kind);
  out.Column(tracks.pid);
  out.Column(tracks.tid);
  out.Column(tracks.name);
  out.Column(tracks.first_row);
  out.Column(tracks.end_row);
  ForEachTable(trace, [&](std::string_view name, const auto& table) { out.Rows(name, table); });
  WriteCounts(trace.event_counts(), trace.strings(), out);
  out.Line(std::to_string(trace.begin_ns()) + " to " + std::to_string(trace.end_ns()));
  return out.Take();
}

std::string TextOf(const Trace& trace) {
  TextWriter out(trace.strings());
  out.Line(TablesOf(trace));
  const Meta& meta = trace.meta();
  out.Line(std::string(FormatName(meta.format)) + ", " + meta.producer + ", " + meta.backend +
           ", " + meta.trace_name);
  out.Line("rank " + Number(meta.rank) + " of " + Number(meta.world_size) + ", base " +
           Number(meta.base_ns) + ", vendor " + std::to_string(static_cast<int>(meta.vendor)) +
           ", devices " + std::to_string(meta.devices.size()) + ", bytes " +
           std::to_string(meta.text_bytes) + " " + std::to_string(meta.file_bytes) +
           ", events end " + std::to_string(meta.events_end_byte) +
           (meta.has_events_before_end ? " behind one" : "") + (meta.text_is_cut ? ", cut" : ""));
  out.Line(TextOf(trace.diagnostics()));
  return out.Take();
}

std::string TextOf(const Trace& trace, const TraceIndex& index) {
  TextWriter out(trace.strings());
  out.Line("tree");
  out.Column(index.tree.parent);
  out.Column(index.tree.subtree_end);
  out.Line("correlation");
  out.Column(index.correlation.launch_of);
  out.Column(index.correlation.op_of);
  out.Column(index.correlation.rule);
  out.Column(index.correlation.device_begin);
  out.Column(index.correlation.device_rows);
  out.Line("steps");
  for (const Step& step : index.steps.steps) {
    out.Line(std::to_string(step.number) + " " + std::to_string(step.begin_ns) + " " +
             std::to_string(step.end_ns) + " " + std::to_string(step.annotation.value));
  }
  out.Column(index.steps.device_step);
  out.Line("links");
  for (const ForwardBackwardLink& link : index.forward_backward) {
    out.Line(std::to_string(link.backward.value) + " " + std::to_string(link.forward.value));
  }
  out.Column(index.class_of_name);
  out.Line(TextOf(index.diagnostics));
  return out.Take();
}

std::string FirstDifference(const std::string& a, const std::string& b) {
  if (a == b) {
    return "";
  }
  const auto [in_a, in_b] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  const auto at = static_cast<size_t>(in_a - a.begin());
  const auto line = std::count(a.begin(), in_a, '\n') + 1;
  const size_t from = at < 200 ? 0 : at - 200;
  return "line " + std::to_string(line) + ":\n..." + a.substr(from, 400) + "\nversus\n..." +
         b.substr(from, 400);
}

}  // namespace borescope::internal::testkit
