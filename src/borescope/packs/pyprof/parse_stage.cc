#include "borescope/packs/pyprof/parse_stage.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdint>
#include <utility>

#include "borescope/analysis/core/key_columns.h"
#include "borescope/analysis/core/row.h"
#include "borescope/base/stop.h"
#include "borescope/packs/pyprof/launch_ranges.h"
#include "borescope/packs/pyprof/records.h"

namespace borescope::internal {
namespace {

constexpr std::string_view kRecordDoc =
    "A dict of Python, as PyProf's parse stage writes it for the kernel.";

std::string ListOf(const std::vector<std::string>& texts) {
  std::string list;
  for (const std::string& text : texts) {
    list += (list.empty() ? "" : ", ") + PythonRepr(text);
  }
  return "[" + list + "]";
}

std::string ListOf(const std::vector<int64_t>& numbers) {
  return fmt::format("[{}]", fmt::join(numbers, ", "));
}

// Nothing where it was not recorded.
std::string DimensionsOf(int32_t x, int32_t y, int32_t z) {
  return x < 0 ? "()" : fmt::format("({}, {}, {})", x, y, z);
}

// The texts of markers around a launch, outermost first.
struct MarkerTexts {
  std::vector<std::string> modules = {};
  std::vector<std::string> arguments = {};
};

class ParseStage {
 public:
  explicit ParseStage(const RankView& view)
      : view_(view), markers_(view.trace), ranges_(view), records_(view, markers_, ranges_) {}

  // The line of the next kernel, in the order of the launches.
  std::string Line(DeviceId kernel);

 private:
  MarkerTexts TextsAround(HostId launch);
  std::string Context(const PyProfRecord& record, HostId launch);
  std::string Place(DeviceId kernel, HostId launch) const;

  const RankView& view_;
  PyProfMarkers markers_;
  RangesAround ranges_;
  PyProfRecords records_;
};

MarkerTexts ParseStage::TextsAround(HostId launch) {
  MarkerTexts texts;
  for (const HostId row : ranges_.Of(launch)) {
    if (view_.trace.host().kind[row.value] != HostKind::kAnnotation) continue;
    const PyProfMarker& marker = markers_.Of(row);
    if (marker.kind == MarkerKind::kModule) {
      texts.modules.emplace_back(view_.trace.Name(row));
    } else if (marker.kind == MarkerKind::kBad ||
               (marker.kind == MarkerKind::kArguments && !marker.call.args.empty())) {
      texts.arguments.emplace_back(view_.trace.Name(row));
    }
  }
  return texts;
}

// What the markers say.
std::string ParseStage::Context(const PyProfRecord& record, HostId launch) {
  const MarkerTexts texts = TextsAround(launch);
  const std::vector<std::string> frames =
      record.trace.valid() ? markers_.Of(record.trace).frames : std::vector<std::string>();
  return fmt::format(
      "'layer': {}, 'trace': {}, 'reprMarkers': {}, 'marker': {}, 'seqMarker': {}, 'seqId': {}, "
      "'subSeqId': {}, 'altSeqId': {}, 'dir': '{}', 'mod': {}, 'op': {}",
      ListOf(record.layers), ListOf(frames), ListOf(texts.modules), ListOf(texts.arguments),
      ListOf(record.seq_markers), ListOf(record.seq), record.sub, ListOf(record.alt_seq),
      record.is_backward ? "bprop" : "fprop", ListOf(record.mods), ListOf(record.ops));
}

// Where it was launched from, and where it ran.
std::string ParseStage::Place(DeviceId kernel, HostId launch) const {
  const Trace& trace = view_.trace;
  const std::string thread =
      launch.valid() ? fmt::format("{}", trace.tracks().tid[trace.host().track[launch.value].value])
                     : "None";
  std::string grid = "()";
  std::string block = "()";
  if (const uint32_t detail = trace.device().detail[kernel.value]; detail != kNoDetail) {
    const Kernels& kernels = trace.kernels();
    grid = DimensionsOf(kernels.grid_x[detail], kernels.grid_y[detail], kernels.grid_z[detail]);
    block = DimensionsOf(kernels.block_x[detail], kernels.block_y[detail], kernels.block_z[detail]);
  }
  return fmt::format("'tid': {}, 'device': {}, 'stream': {}, 'grid': {}, 'block': {}", thread,
                     trace.DeviceOf(kernel), trace.StreamOf(kernel), grid, block);
}

std::string ParseStage::Line(DeviceId kernel) {
  const PyProfRecord record = records_.NextParsed(kernel);
  const HostId launch = AnchorOf(view_, kernel);
  return fmt::format("{{'kShortName': {}, 'kDuration': {}, {}, {}, 'kLongName': {}}}",
                     PythonRepr(record.name), view_.trace.device().dur_ns[kernel.value],
                     Context(record, launch), Place(kernel, launch),
                     PythonRepr(view_.trace.Name(kernel)));
}

}  // namespace

std::string PythonRepr(std::string_view text) {
  const bool has_single = text.find('\'') != std::string_view::npos;
  const char quote = has_single && text.find('"') == std::string_view::npos ? '"' : '\'';
  std::string literal(1, quote);
  for (const char c : text) {
    if (c == quote || c == '\\') {
      literal += {'\\', c};
    } else if (c == '\n' || c == '\r' || c == '\t') {
      literal += {'\\', c == '\n' ? 'n' : c == '\r' ? 'r' : 't'};
    } else if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') {
      literal += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      literal += c;
    }
  }
  return literal + quote;
}

Table ParsedRecords(const RankView& view, const std::vector<DeviceId>& all,
                    const Selected& selected) {
  Table table{"prof", "Kernels as PyProf's parse stage writes them", {}, 20};
  AddInt(table, "rank", Unit::kNone, Role::kKey, kRankDoc);
  AddString(table, "record", Role::kDerived, kRecordDoc);
  ParseStage stage(view);
  for (size_t i = 0; i < all.size(); ++i) {
    CheckStopAt(i);
    std::string line = stage.Line(all[i]);
    if (selected.Keeps(all[i])) Row(table).Int(view.rank).Text(line);
  }
  return table;
}

Table TakeRecords(Table table) {
  table.columns.erase(table.columns.begin());
  return table;
}

}  // namespace borescope::internal
