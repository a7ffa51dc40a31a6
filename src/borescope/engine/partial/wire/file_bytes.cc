#include "borescope/engine/partial/wire/file_bytes.h"

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "borescope/engine/partial/wire/partial_fields.h"
#include "borescope/engine/partial/wire/table_bytes.h"

namespace borescope::internal::wire {

namespace {

std::optional<Diag> FindDiag(std::string_view code) {
  for (size_t i = 0; i < static_cast<size_t>(Diag::kCount); ++i) {
    if (GetDiagRow(static_cast<Diag>(i)).code == code) {
      return static_cast<Diag>(i);
    }
  }
  return std::nullopt;
}

void ReadOddity(WireReader in, Diagnostics& diagnostics) {
  std::string code;
  Diagnostics::Entry entry;
  while (in.Next()) {
    switch (in.field()) {
      case oddity::kCode:
        code = in.Text();
        break;
      case oddity::kCount:
        entry.count = in.Number();
        break;
      case oddity::kFirstByte:
        entry.first_byte = in.Number();
        break;
      case oddity::kFirst:
        entry.first = in.Text();
        break;
      default:
        in.Skip();
    }
  }
  if (const std::optional<Diag> diag = FindDiag(code); diag.has_value()) {
    diagnostics.CountMany(*diag, entry.count, entry.first_byte, entry.first);
  } else {
    in.Fail("an oddity has the unknown code \"" + code + "\"");
  }
}

Error ReadFailure(WireReader in) {
  Error error;
  uint64_t cause = 0;
  while (in.Next()) {
    switch (in.field()) {
      case failure::kCause:
        cause = in.Number();
        break;
      case failure::kMessage:
        error.cause = in.Text();
        break;
      case failure::kRemedy:
        error.remedy = in.Text();
        break;
      case failure::kPath:
        error.file = in.Text();
        break;
      case failure::kParameter:
        error.parameter = in.Text();
        break;
      case failure::kOffset:
        error.offset = in.Number();
        break;
      case failure::kLine:
        error.line = in.Number();
        break;
      default:
        in.Skip();
    }
  }
  if (const auto known = ValueOf(kCauses, cause); known.has_value()) {
    error.code = *known;
  } else {
    in.Fail("an error has the unknown cause " + std::to_string(cause));
  }
  return error;
}

void ReadMembers(WireReader& in, std::set<int64_t>& members) {
  IntValues read;
  in.Append(read);
  members.insert(read.begin(), read.end());
}

SelectionMembers ReadUnknown(WireReader in) {
  SelectionMembers members;
  while (in.Next()) {
    switch (in.field()) {
      case unknown::kSteps:
        ReadMembers(in, members.steps);
        break;
      case unknown::kGpus:
        ReadMembers(in, members.gpus);
        break;
      case unknown::kStreams:
        ReadMembers(in, members.streams);
        break;
      case unknown::kInstances:
        ReadMembers(in, members.instances);
        break;
      default:
        in.Skip();
    }
  }
  return members;
}

GraphRoles ReadGraphs(WireReader in) {
  GraphRoles roles;
  while (in.Next()) {
    switch (in.field()) {
      case graphs::kMayReplay:
        roles.may_replay = in.Flag();
        break;
      case graphs::kOnlyCaptures:
        roles.only_captures = in.Flag();
        break;
      case graphs::kCaptures:
        roles.captures.push_back(in.Text());
        break;
      case graphs::kSearched:
        roles.searched.push_back(in.Text());
        break;
      default:
        in.Skip();
    }
  }
  return roles;
}

CheckedFile ReadChecked(WireReader in) {
  constexpr uint64_t kMostRuns = 1'000'000;
  CheckedFile file;
  while (in.Next()) {
    switch (in.field()) {
      case checked::kRun:
        if (const uint64_t run = in.Number(); run < kMostRuns) {
          file.run = static_cast<uint32_t>(run);
        } else {
          in.Fail("a file is of a run with the number " + std::to_string(run));
        }
        break;
      case checked::kRunName:
        file.run_name = in.Text();
        break;
      case checked::kProcess:
        file.window.process = in.Signed();
        break;
      case checked::kBeginNs:
        file.window.begin_ns = in.Signed();
        break;
      case checked::kEndNs:
        file.window.end_ns = in.Signed();
        break;
      case checked::kBytes:
        file.bytes = in.Number();
        break;
      case checked::kDigest:
        file.digest = in.Number();
        break;
      default:
        in.Skip();
    }
  }
  if (file.window.begin_ns.has_value() != file.window.end_ns.has_value()) {
    in.Fail("a recording has a beginning without an end, or an end without a beginning");
  }
  return file;
}

Outcome ReadAnswer(WireReader in, Cells cells) {
  Outcome outcome;
  bool has_tables = false;
  while (in.Next()) {
    switch (in.field()) {
      case answer::kFailure:
        outcome.error = ReadFailure(in.Message());
        break;
      case answer::kTables:
        has_tables = true;
        if (cells == Cells::kRead) {
          outcome.tables.push_back(ReadTable(in.Message()));
        } else {
          in.Skip();
        }
        break;
      default:
        in.Skip();
    }
  }
  if (outcome.error.has_value() && has_tables) {
    in.Fail("an answer has tables and an error");
  }
  return outcome;
}

void ReadClaim(WireReader& in, RankClaim& claim) {
  switch (in.field()) {
    case file::kRecordedRank:
      claim.recorded = in.Signed();
      break;
    case file::kNamedRank:
      claim.named = in.Signed();
      break;
    default:
      claim.world_size = in.Signed();
  }
}

void ReadField(WireReader& in, Cells cells, PartialFile& file) {
  switch (in.field()) {
    case file::kPath:
      file.path = in.Text();
      return;
    case file::kFromDirectory:
      file.from_directory = in.Flag();
      return;
    case file::kRecordedRank:
    case file::kNamedRank:
    case file::kWorldSize:
      return ReadClaim(in, file.claim);
    case file::kRank:
      file.rank = in.Signed();
      return;
    case file::kFileBytes:
      file.file_bytes = in.Number();
      return;
    case file::kTextBytes:
      file.text_bytes = in.Number();
      return;
    case file::kEvents:
      file.events = in.Number();
      return;
    case file::kBeginNs:
      file.begin_ns = in.Signed();
      return;
    case file::kOddities:
      return ReadOddity(in.Message(), file.diagnostics);
    case file::kLoadError:
      file.load_error = ReadFailure(in.Message());
      return;
    case file::kUnknown:
      file.unknown = ReadUnknown(in.Message());
      return;
    case file::kAnswers:
      file.outcomes.push_back(ReadAnswer(in.Message(), cells));
      return;
    case file::kSkipped:
      file.skipped = in.Flag();
      return;
    case file::kGraphs:
      file.graphs = ReadGraphs(in.Message());
      return;
    case file::kChecked:
      file.checked = ReadChecked(in.Message());
      return;
    default:
      in.Skip();
  }
}

// What SetLoadReport passes over; all that is where formats before 1.3 have no word for it.
bool IsNoTrace(const PartialFile& file) {
  return file.from_directory && file.load_error.has_value() &&
         file.load_error->code == ErrorCode::kUnsupportedFormat;
}

}  // namespace

PartialFile ReadFile(WireReader in, Cells cells) {
  PartialFile file;
  while (in.Next()) {
    ReadField(in, cells, file);
  }
  if (file.path.empty()) {
    in.Fail("a file has no path");
  }
  if (file.skipped && !file.load_error.has_value()) {
    in.Fail("a file was passed over for no reason");
  }
  file.skipped = file.skipped || IsNoTrace(file);
  return file;
}

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
