// The functions of include/borescope/chakra.h: Chakra execution traces (.et) made from linked
// traces and from workloads, checked, and turned into what people and other programs read.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "borescope/base/io/foreign_links.h"
#include "borescope/base/row_limit.h"
#include "borescope/base/stop.h"
#include "borescope/chakra.h"
#include "borescope/engine/access.h"
#include "borescope/engine/inputs/input_files.h"
#include "borescope/engine/targets/targets.h"
#include "borescope/output/sink/sink.h"
#include "borescope/output/writer.h"
#include "borescope/packs/chakra/convert/et_plan.h"
#include "borescope/packs/chakra/convert/sim_timeline.h"
#include "borescope/packs/chakra/convert/text_workload.h"
#include "borescope/packs/chakra/et/et_check.h"
#include "borescope/packs/chakra/et/et_samples.h"
#include "borescope/packs/chakra/et/et_stream.h"
#include "borescope/packs/chakra/et/et_text.h"
#include "borescope/packs/chakra/link/link_traces.h"
#include "borescope/packs/chakra/link/link_writer.h"

namespace borescope::internal {
namespace {

// A sink whose text can be moved out.
class TextSink : public Sink {
 public:
  Result<void> Write(std::string_view bytes) override {
    text.append(bytes);
    return {};
  }
  std::string text;
};

// The linked trace of two recordings, as text, and its diagnostics.
struct LinkedText {
  std::string text;
  std::vector<Diagnostic> diagnostics;
};
Result<LinkedText> LinkInMemory(const std::string& host, const std::string& device,
                                bool as_reference) {
  if (host.empty() || device.empty()) {
    return UsageError("`host` and `device` belong together", "name both traces", "host");
  }
  LinkRequest options;
  options.host = host;
  options.device = device;
  options.as_chakra = as_reference;
  BS_ASSIGN(LinkedPair pair, LinkTraces(options));
  TextSink sink;
  BS_TRY(InFile(host, chakra::WriteLinked(pair.host, pair.plan, JsonForm::kCompact, sink)));
  return LinkedText{std::move(sink.text), std::move(pair.diagnostics)};
}

// ---- Convert ----

struct CountRow {
  uint64_t PlanCounts::* count;
  Severity severity;
  std::string_view code;
  std::string_view help;
};

constexpr CountRow kCountRows[] = {
    {&PlanCounts::orphaned_device, Severity::kWarning, "orphaned-device-node",
     "Device work whose operator is not in the document; it is kept and waits for no operator."},
    {&PlanCounts::containers, Severity::kInfo, "container-node",
     "Processes, and threads without operators, do nothing and are left out."},
    {&PlanCounts::unreached, Severity::kInfo, "operator-without-thread",
     "Operators below no thread; they are kept as threads of their own."},
    {&PlanCounts::dangling_deps, Severity::kWarning, "dangling-dependency",
     "Dependencies on nodes that are not there are left out."},
    {&PlanCounts::backward_deps, Severity::kWarning, "backward-dependency",
     "Dependencies on nodes that begin later are left out: they cannot be, and would close "
     "circles. Link the traces again with borescope link."},
    {&PlanCounts::unknown_collectives, Severity::kWarning, "unknown-collective",
     "Communication kernels whose names and calls do not say what they do are kept as "
     "computation."},
    {&PlanCounts::unknown_sizes, Severity::kWarning, "unknown-comm-size",
     "Communication whose size was not recorded has size 0."},
    {&PlanCounts::bad_durations, Severity::kWarning, "bad-duration",
     "Durations that are negative or no number count as 0."},
};

Diagnostic Row(Severity severity, std::string_view code, uint64_t count, const std::string& file,
               std::string_view help) {
  return {severity, std::string(code), count, file, "", std::string(help)};
}

std::vector<Diagnostic> DiagnosticsOf(const PlanCounts& counts, const LinkedCounts& read,
                                      const std::string& file) {
  std::vector<Diagnostic> rows;
  const auto add = [&](Severity severity, std::string_view code, uint64_t count,
                       std::string_view help) {
    if (count != 0) {
      rows.push_back(Row(severity, code, count, file, help));
    }
  };
  add(Severity::kWarning, "duplicate-node-id", read.duplicate_ids,
      "Several nodes have one id; the last one counts.");
  add(Severity::kInfo, "unread-attribute", read.unread_attrs,
      "Attributes of operators that are not whole numbers of 64 bits are left out.");
  add(Severity::kInfo, "unknown-node-member", read.unknown_keys,
      "Members of nodes that are not known have no place in a .et.");
  for (const CountRow& row : kCountRows) {
    add(row.severity, row.code, counts.*row.count, row.help);
  }
  return rows;
}

Result<Document> ConvertLinked(std::string text, const std::string& name,
                               const ChakraConvertOptions& options) {
  if (options.npus.has_value() || options.passes.has_value()) {
    return UsageError("`num_npus` and `num_passes` are for workloads",
                      name + " is a trace of one rank", "num_npus");
  }
  BS_ASSIGN(const LinkedTrace linked, ParseLinkedTrace(std::move(text), name));
  BS_ASSIGN(const EtPlan plan,
            InFile(name, options.as_reference ? PlanEtAsReference(linked) : PlanEt(linked)));
  BS_TRY(WriteFile(options.output, [&](Sink& sink) { return WriteEt(linked, plan, sink); }));
  return Document{{EtTotalsTable({{options.output, TotalsOf(plan)}})},
                  DiagnosticsOf(plan.counts, linked.counts, name)};
}

Result<Document> ConvertPair(const ChakraConvertOptions& options) {
  BS_ASSIGN(LinkedText linked, LinkInMemory(options.host, options.device, options.as_reference));
  BS_ASSIGN(Document document, ConvertLinked(std::move(linked.text), options.host, options));
  document.diagnostics.insert(document.diagnostics.begin(), linked.diagnostics.begin(),
                              linked.diagnostics.end());
  return document;
}

Result<Document> ConvertText(std::string text, const ChakraConvertOptions& options) {
  BS_ASSIGN(const TextWorkload workload, ParseTextWorkload(std::move(text), options.input));
  BS_ASSIGN(const FileLookup input, FileLookup::Of({&options.input, 1}));
  std::vector<std::unique_ptr<FileSink>> files;
  std::vector<NamedTotals> totals;
  uint64_t next_id = 0;
  for (uint64_t npu = 0; npu < options.npus.value_or(1); ++npu) {
    const std::string path = fmt::format("{}.{}.et", options.output, npu);
    BS_TRY(CheckNoInput(input, path, "convert"));
    StringSink bytes;
    BS_TRY(WriteTextWorkload(workload, options.passes.value_or(1), next_id, bytes));
    BS_ASSIGN(std::unique_ptr<FileSink> file, FileSink::Open(path));
    BS_TRY(file->Write(bytes.text()));
    BS_TRY(file->Close());
    BS_ASSIGN(const EtFile et, ReadEt(bytes.text()));
    totals.push_back({path, TotalsOf(et)});
    files.push_back(std::move(file));
  }
  for (const std::unique_ptr<FileSink>& file : files) {
    BS_TRY(file->Commit());
  }
  return Document{{EtTotalsTable(totals)}, {}};
}

bool LooksLikeJson(std::string_view text) {
  const size_t first = text.find_first_not_of(" \n\r\t");
  return first != std::string_view::npos && text[first] == '{';
}

// ---- Check ----

Table OrderTable(const std::vector<NamedEt>& files) {
  Table table{
      "order", "Order in which a simulator that ends each node before the next starts them", {}};
  table.preview_rows = 20;
  table.columns.reserve(4);  // keeps the references below valid
  Column& file = AddString(table, "file", Role::kKey, "The .et.");
  Column& position = AddInt(table, "position", Unit::kCount, Role::kKey, "From 1 on.");
  Column& id = AddInt(table, "id", Unit::kNone, Role::kDerived, "Id of the node.");
  Column& name = AddString(table, "name", Role::kDerived, "Name of the node.");
  for (const NamedEt& item : files) {
    int64_t number = 0;
    for (const uint64_t issued : IssueOrder(*item.et)) {
      number += 1;
      Push(file, item.file);
      Push(position, number);
      Push(id, static_cast<int64_t>(issued));
      Push(name, item.et->nodes[item.et->places.at(issued)].name);
    }
  }
  return table;
}

// The files of a check, with the bytes to which their nodes point.
struct CheckInputs {
  std::vector<std::string> paths;
  std::vector<std::unique_ptr<const std::string>> bytes;
  std::vector<std::unique_ptr<const EtFile>> files;

  Result<void> Read(const std::string& path) {
    BS_ASSIGN(std::string text, ReadInflated(path));
    bytes.push_back(std::make_unique<const std::string>(std::move(text)));
    BS_ASSIGN(EtFile et, InFile(path, ReadEt(*bytes.back())));
    paths.push_back(path);
    files.push_back(std::make_unique<const EtFile>(std::move(et)));
    return {};
  }
  std::vector<NamedEt> Named() const {
    std::vector<NamedEt> named;
    named.reserve(files.size());
    for (size_t i = 0; i < files.size(); ++i) {
      named.push_back({paths[i], files[i].get()});
    }
    return named;
  }
};

// Of a folder, only files with these names are read.
bool IsEtName(std::string_view path) {
  return path.ends_with(".et") || path.ends_with(".et.gz") || path.ends_with(".et.zst");
}

bool HasSource(const ChakraCheckOptions& options) {
  return !options.linked.empty() || !options.host.empty() || !options.device.empty();
}

Result<LinkedTrace> ReadSource(const ChakraCheckOptions& options) {
  if (!options.linked.empty()) {
    BS_ASSIGN(std::string text, ReadInflated(options.linked));
    return ParseLinkedTrace(std::move(text), options.linked);
  }
  BS_ASSIGN(LinkedText linked, LinkInMemory(options.host, options.device, false));
  return ParseLinkedTrace(std::move(linked.text), options.host);
}

Result<void> CheckSource(const CheckInputs& inputs, const ChakraCheckOptions& options,
                         std::vector<CheckRow>& rows) {
  if (inputs.files.size() != 1) {
    return UsageError("`linked`, `host` and `device` are what one .et was made from", "check one",
                      "linked");
  }
  BS_ASSIGN(const LinkedTrace linked, ReadSource(options));
  CheckEtAgainst(inputs.paths[0], *inputs.files[0], linked, rows);
  return {};
}

Result<Document> ConvertAny(const ChakraConvertOptions& options) {
  const std::string inputs[] = {options.input, options.host, options.device};
  BS_TRY(CheckNoInput(inputs, options.output, "convert"));
  if (!options.host.empty() || !options.device.empty()) {
    return ConvertPair(options);
  }
  BS_ASSIGN(std::string text, ReadInflated(options.input));
  if (LooksLikeJson(text)) {
    return ConvertLinked(std::move(text), options.input, options);
  }
  if (LooksLikeTextWorkload(text)) {
    return ConvertText(std::move(text), options);
  }
  return Error{ErrorCode::kUnsupportedFormat,
               "neither a linked trace (JSON) nor a workload of ASTRA-sim 1.0",
               "borescope link makes the first", options.input};
}

struct CheckedFiles {
  Document document;
  bool passed = true;
};

Result<CheckedFiles> CheckAll(const ChakraCheckOptions& options) {
  CheckInputs inputs;
  std::vector<CheckRow> rows;
  std::vector<NamedTotals> totals;
  for (const std::string& file : options.files) {
    BS_TRY(inputs.Read(file));
    CheckEt(file, *inputs.files.back(), rows);
    totals.push_back({file, TotalsOf(*inputs.files.back())});
  }
  if (HasSource(options)) {
    BS_TRY(CheckSource(inputs, options, rows));
  }
  CheckCollectives(inputs.Named(), rows);
  CheckedFiles verdict;
  verdict.passed = std::none_of(rows.begin(), rows.end(), [](const CheckRow& row) {
    return row.status == EtStatus::kFailed;
  });
  verdict.document.tables = {CheckTable(rows), EtTotalsTable(totals)};
  if (options.with_order) {
    verdict.document.tables.push_back(OrderTable(inputs.Named()));
  }
  return verdict;
}

Result<void> Dump(const std::string& input, bool as_reference, Sink& sink) {
  BS_ASSIGN(const std::string bytes, ReadInflated(input));
  return InFile(input,
                as_reference ? WriteEtJsonAsReference(bytes, sink) : WriteEtJson(bytes, sink));
}

Result<void> Draw(const std::string& input, bool is_dot, bool as_reference, Sink& sink) {
  BS_ASSIGN(const std::string bytes, ReadInflated(input));
  return InFile(input, WithNumberedRows([&] {
                  return is_dot ? WriteEtDot(bytes, sink)
                                : WriteEtGraphml(bytes, as_reference, sink);
                }));
}

Result<void> MakeFolder(const std::string& folder) {
  if (folder.empty()) {
    return {};  // the current one
  }
  BS_TRY(CheckNoForeignLink(folder));
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed) {
    return Error{ErrorCode::kIo, "cannot make this folder: " + failed.message(), "name another",
                 folder};
  }
  return {};
}

Result<uint64_t> Generate(const ChakraGenerateOptions& options) {
  BS_TRY(MakeFolder(options.folder));
  const SampleOptions sample{options.npus, options.runtime_us, options.tensor_bytes,
                             options.comm_bytes};
  uint64_t next_id = 0;
  uint64_t files = 0;
  for (size_t family = 0; family < SampleFamilies(); ++family) {
    for (uint64_t npu = 0; npu < options.npus; ++npu) {
      const std::string name = fmt::format("{}.{}.et", SampleFamilyName(family), npu);
      BS_TRY(WriteFile((std::filesystem::path(options.folder) / name).string(),
                       [&](Sink& sink) { return WriteSample(family, sample, next_id, sink); }));
      files += 1;
    }
  }
  return files;
}

Result<std::vector<Diagnostic>> Timeline(const ChakraTimelineOptions& options, Sink& sink) {
  BS_ASSIGN(const std::string log, ReadInflated(options.input));
  BS_ASSIGN(const TimelineCounts counts,
            InFile(options.input,
                   WriteSimTimeline(
                       log, {options.npus, options.frequency_mhz, options.as_reference}, sink)));
  const bool is_empty = counts.spans == 0 && counts.unfinished == 0 && counts.unissued == 0;
  if (is_empty && !options.as_reference) {
    return Error{ErrorCode::kMissingData, "no line of it issues a node or calls back",
                 "give the log that ASTRA-sim writes", options.input};
  }
  std::vector<Diagnostic> rows;
  if (counts.unfinished != 0) {
    rows.push_back(Row(Severity::kWarning, "unfinished-node", counts.unfinished, options.input,
                       "Nodes that were issued and never called back are not drawn."));
  }
  if (counts.unissued != 0) {
    rows.push_back(Row(Severity::kWarning, "unissued-node", counts.unissued, options.input,
                       "Nodes that were called back and never issued are not drawn."));
  }
  return rows;
}

}  // namespace
}  // namespace borescope::internal

namespace borescope {

Result<Answer> ChakraConvert(const ChakraConvertOptions& options) {
  const auto convert = [&] {
    return internal::WithNumberedRows([&] { return internal::ConvertAny(options); });
  };
  return AnswerWith(internal::Stoppable(options.stop, convert));
}

Result<void> ChakraDump(const std::string& input, bool as_reference, const Output& output) {
  return WriteTo(output,
                 [&](internal::Sink& sink) { return internal::Dump(input, as_reference, sink); });
}

Result<void> ChakraDraw(const std::string& input, const std::string& format, bool as_reference,
                        const Output& output) {
  if (format != "dot" && format != "graphml") {
    return Error{.code = ErrorCode::kInvalidArgument,
                 .cause = "unknown format '" + format + "'",
                 .remedy = "formats are dot, graphml",
                 .parameter = "format"};
  }
  return WriteTo(output, [&](internal::Sink& sink) {
    return internal::Draw(input, format == "dot", as_reference, sink);
  });
}

Result<uint64_t> ChakraGenerate(const ChakraGenerateOptions& options) {
  return internal::Generate(options);
}

Result<std::vector<Diagnostic>> ChakraTimeline(const ChakraTimelineOptions& options,
                                               const Output& output) {
  std::vector<Diagnostic> rows;
  BS_TRY(WriteTo(output, [&](internal::Sink& sink) -> Result<void> {
    BS_ASSIGN(rows, internal::Timeline(options, sink));
    return {};
  }));
  return rows;
}

Result<std::vector<std::string>> FindEtFiles(std::span<const std::string> inputs) {
  BS_ASSIGN(const std::vector<internal::InputFile> found, internal::ExpandInputs(inputs));
  std::vector<std::string> paths;
  for (const internal::InputFile& file : found) {
    if (!file.from_directory || internal::IsEtName(file.path)) {
      paths.push_back(file.path);
    }
  }
  if (paths.empty()) {
    return Error{ErrorCode::kMissingData, "no .et among the files", "name one"};
  }
  return paths;
}

Result<ChakraVerdict> ChakraCheck(const ChakraCheckOptions& options) {
  const auto check = [&] {
    return internal::WithNumberedRows([&] { return internal::CheckAll(options); });
  };
  BS_ASSIGN(internal::CheckedFiles checked, internal::Stoppable(options.stop, check));
  return ChakraVerdict{AnswerAccess::Make(std::move(checked.document)), checked.passed};
}

}  // namespace borescope
