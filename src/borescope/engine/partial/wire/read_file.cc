#include <set>
#include <string>
#include <utility>
#include <vector>

#include "borescope/engine/partial/wire/file_bytes.h"
#include "borescope/engine/partial/wire/partial_fields.h"
#include "borescope/engine/partial/wire/table_bytes.h"
#include "borescope/engine/partial/wire/wire_numbers.h"

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

}  // namespace borescope::internal::wire
