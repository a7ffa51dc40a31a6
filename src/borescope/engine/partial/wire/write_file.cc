#include "borescope/engine/partial/wire/file_bytes.h"
#include "borescope/engine/partial/wire/partial_fields.h"
#include "borescope/engine/partial/wire/table_bytes.h"
#include "borescope/engine/partial/wire/wire_numbers.h"

namespace borescope::internal::wire {
namespace {

using protozero::pbf_writer;

void WriteText(uint32_t field, const std::string& text, pbf_writer& out) {
  if (!text.empty()) {
    out.add_bytes(field, text);
  }
}

void WriteCount(uint32_t field, const std::optional<uint64_t>& count, pbf_writer& out) {
  if (count.has_value()) {
    out.add_uint64(field, *count);
  }
}

void WriteOptional(uint32_t field, const std::optional<int64_t>& number, pbf_writer& out) {
  if (number.has_value()) {
    out.add_sint64(field, *number);
  }
}

void WriteOddity(const DiagRow& row, const Diagnostics::Entry& entry, pbf_writer out) {
  out.add_string(oddity::kCode, row.code.data(), row.code.size());
  out.add_uint64(oddity::kCount, entry.count);
  if (entry.first_byte != Diagnostics::kNoByte) {
    out.add_uint64(oddity::kFirstByte, entry.first_byte);
  }
  out.add_bytes(oddity::kFirst, entry.first);
}

void WriteOddities(const Diagnostics& diagnostics, pbf_writer& out) {
  for (size_t i = 0; i < static_cast<size_t>(Diag::kCount); ++i) {
    const auto diag = static_cast<Diag>(i);
    if (const Diagnostics::Entry& entry = diagnostics.Get(diag); entry.count != 0) {
      WriteOddity(GetDiagRow(diag), entry, pbf_writer(out, file::kOddities));
    }
  }
}

void WriteFailure(const Error& error, pbf_writer out) {
  out.add_enum(failure::kCause, static_cast<int32_t>(NumberOf(kCauses, error.code)));
  out.add_bytes(failure::kMessage, error.cause);
  WriteText(failure::kRemedy, error.remedy, out);
  WriteText(failure::kPath, error.file, out);
  WriteText(failure::kParameter, error.parameter, out);
  WriteCount(failure::kOffset, error.offset, out);
  WriteCount(failure::kLine, error.line, out);
}

void WriteUnknown(const SelectionMembers& members, pbf_writer out) {
  out.add_packed_sint64(unknown::kSteps, members.steps.begin(), members.steps.end());
  out.add_packed_sint64(unknown::kGpus, members.gpus.begin(), members.gpus.end());
  out.add_packed_sint64(unknown::kStreams, members.streams.begin(), members.streams.end());
  out.add_packed_sint64(unknown::kInstances, members.instances.begin(), members.instances.end());
}

void WriteAnswer(const Outcome& outcome, pbf_writer out) {
  if (outcome.error.has_value()) {
    WriteFailure(*outcome.error, pbf_writer(out, answer::kFailure));
    return;
  }
  for (const Table& table : outcome.tables) {
    WriteTable(table, pbf_writer(out, answer::kTables));
  }
}

void WriteGraphs(const GraphRoles& roles, pbf_writer out) {
  out.add_bool(graphs::kMayReplay, roles.may_replay);
  out.add_bool(graphs::kOnlyCaptures, roles.only_captures);
  for (const std::string& path : roles.captures) {
    out.add_bytes(graphs::kCaptures, path);
  }
  for (const std::string& path : roles.searched) {
    out.add_bytes(graphs::kSearched, path);
  }
}

void WriteChecked(const CheckedFile& file, pbf_writer out) {
  out.add_uint32(checked::kRun, file.run);
  out.add_bytes(checked::kRunName, file.run_name);
  WriteOptional(checked::kProcess, file.window.process, out);
  WriteOptional(checked::kBeginNs, file.window.begin_ns, out);
  WriteOptional(checked::kEndNs, file.window.end_ns, out);
  out.add_uint64(checked::kBytes, file.bytes);
  out.add_uint64(checked::kDigest, file.digest);
}

}  // namespace

void WriteFile(const PartialFile& file, pbf_writer out) {
  out.add_bytes(file::kPath, file.path);
  out.add_bool(file::kFromDirectory, file.from_directory);
  WriteOptional(file::kRecordedRank, file.claim.recorded, out);
  WriteOptional(file::kNamedRank, file.claim.named, out);
  WriteOptional(file::kWorldSize, file.claim.world_size, out);
  out.add_sint64(file::kRank, file.rank);
  out.add_uint64(file::kFileBytes, file.file_bytes);
  out.add_uint64(file::kTextBytes, file.text_bytes);
  out.add_uint64(file::kEvents, file.events);
  out.add_sint64(file::kBeginNs, file.begin_ns);
  WriteOddities(file.diagnostics, out);
  if (file.load_error.has_value()) {
    WriteFailure(*file.load_error, pbf_writer(out, file::kLoadError));
  }
  if (file.unknown.has_value()) {
    WriteUnknown(*file.unknown, pbf_writer(out, file::kUnknown));
  }
  for (const Outcome& outcome : file.outcomes) {
    WriteAnswer(outcome, pbf_writer(out, file::kAnswers));
  }
  if (file.skipped) {
    out.add_bool(file::kSkipped, true);
  }
  if (file.graphs != GraphRoles()) {
    WriteGraphs(file.graphs, pbf_writer(out, file::kGraphs));
  }
  if (file.checked.has_value()) {
    WriteChecked(*file.checked, pbf_writer(out, file::kChecked));
  }
}

}  // namespace borescope::internal::wire
