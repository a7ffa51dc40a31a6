#include "borescope/engine/partial/wire/partial_bytes.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <utility>

#include "borescope/base/hash/input_hash.h"
#include "borescope/engine/partial/questions.h"
#include "borescope/engine/partial/wire/envelope.h"
#include "borescope/engine/partial/wire/file_bytes.h"
#include "borescope/engine/partial/wire/partial_fields.h"
#include "borescope/engine/partial/wire/question_bytes.h"
#include "borescope/output/utf8.h"

namespace borescope::internal {
namespace {

uint16_t ReadVersion(wire::WireReader& in) {
  const uint64_t version = in.Number();
  if (version > std::numeric_limits<uint16_t>::max()) {
    in.Fail("a version of the format has more than 16 bits");
  }
  return static_cast<uint16_t>(version);
}

ShardMark ReadShard(wire::WireReader in) {
  ShardMark mark;
  uint64_t index = 0;
  uint64_t count = 0;
  while (in.Next()) {
    switch (in.field()) {
      case wire::shard::kIndex:
        index = in.Number();
        break;
      case wire::shard::kCount:
        count = in.Number();
        break;
      case wire::shard::kFiles:
        mark.files = in.Number();
        break;
      case wire::shard::kDigest:
        mark.digest = in.Number();
        break;
      default:
        in.Skip();
    }
  }
  if (count > kMostShards || index >= count) {
    in.Fail("it is of a part of the run that cannot be");
  }
  mark.index = static_cast<uint32_t>(index);
  mark.count = static_cast<uint32_t>(count);
  return mark;
}

void ReadFileField(wire::WireReader& in, wire::Cells cells, PartialHead& head) {
  const wire::WireReader message = in.Message();
  if (cells == wire::Cells::kSkip) {
    head.digests.push_back(HashText(message.rest()));
  }
  head.partial.files.push_back(wire::ReadFile(message, cells));
}

void ReadField(wire::WireReader& in, wire::Cells cells, PartialHead& head);

// Answers to a further question. Who reads heads alone asks the first only.
void ReadFurther(wire::WireReader& in, wire::Cells cells, PartialData& partial) {
  if (cells == wire::Cells::kSkip) {
    return in.Skip();
  }
  PartialHead further;
  for (wire::WireReader inner = in.Message(); inner.Next();) {
    if (inner.field() == wire::partial::kFurther || inner.field() == wire::partial::kShards) {
      return inner.Fail("a further question has parts or questions of its own");
    }
    ReadField(inner, cells, further);
  }
  if (further.partial.question.verbs.empty()) {
    return in.Fail("a further question names no verb");
  }
  partial.further.push_back(std::move(further.partial));
}

void ReadField(wire::WireReader& in, wire::Cells cells, PartialHead& head) {
  PartialData& partial = head.partial;
  switch (in.field()) {
    case wire::partial::kMajor:
      partial.major = ReadVersion(in);
      return;
    case wire::partial::kMinor:
      partial.minor = ReadVersion(in);
      return;
    case wire::partial::kProgramVersion:
      partial.program_version = in.Text();
      return;
    case wire::partial::kQuestion:
      partial.question = wire::ReadQuestion(in.Message());
      return;
    case wire::partial::kFiles:
      return ReadFileField(in, cells, head);
    case wire::partial::kShards:
      partial.shards.push_back(ReadShard(in.Message()));
      return;
    case wire::partial::kFurther:
      return ReadFurther(in, cells, partial);
    default:
      in.Skip();
  }
}

bool AscendsStrictly(const std::vector<ShardMark>& marks) {
  return std::adjacent_find(marks.begin(), marks.end(), std::greater_equal<>()) == marks.end();
}

Error FaultError(const wire::WireFault& fault, const PartialData& partial) {
  const std::string writer =
      partial.program_version.empty()
          ? std::string()
          : fmt::format(" (written by Borescope {})", ToPrintable(partial.program_version));
  return {ErrorCode::kCorrupt,
          fmt::format("byte {} of its body: {}{}", fault.place, ToPrintable(fault.cause), writer),
          "the partial is damaged or of a newer Borescope: copy it again, or map again with this "
          "version",
          partial.name};
}

Result<PartialHead> ReadBody(std::string_view body, std::string_view name, wire::Cells cells) {
  PartialHead head;
  head.partial.name = name;
  wire::WireFault fault;
  for (wire::WireReader in(body, fault); in.Next();) {
    ReadField(in, cells, head);
  }
  if (!fault.any() && head.partial.question.verbs.empty()) {
    fault.cause = "it holds no question";
  }
  if (!fault.any() && !AscendsStrictly(head.partial.shards)) {
    fault.cause = "the parts of the run that it is are not in order";
  }
  if (fault.any()) {
    return FaultError(fault, head.partial);
  }
  for (PartialData& further : head.partial.further) {
    further.name = name;
  }
  return head;
}

Result<void> CheckVersions(const PartialData& partial, const Envelope& envelope) {
  if (partial.major == envelope.major && partial.minor == envelope.minor &&
      partial.program_version == envelope.program_version) {
    return {};
  }
  return Error{ErrorCode::kCorrupt, "its head and its body name different versions",
               "the partial is damaged: copy it again, or map again", partial.name};
}

}  // namespace

namespace {

void WriteBody(const PartialData& partial, protozero::pbf_writer out) {
  out.add_uint32(wire::partial::kMajor, partial.major);
  out.add_uint32(wire::partial::kMinor, partial.minor);
  out.add_string(wire::partial::kProgramVersion, partial.program_version);
  wire::WriteQuestion(partial.question, protozero::pbf_writer(out, wire::partial::kQuestion));
  for (const PartialFile& file : partial.files) {
    wire::WriteFile(file, protozero::pbf_writer(out, wire::partial::kFiles));
  }
  for (const ShardMark& mark : partial.shards) {
    protozero::pbf_writer shard(out, wire::partial::kShards);
    shard.add_uint32(wire::shard::kIndex, mark.index);
    shard.add_uint32(wire::shard::kCount, mark.count);
    shard.add_uint64(wire::shard::kFiles, mark.files);
    shard.add_uint64(wire::shard::kDigest, mark.digest);
  }
  for (const PartialData& further : partial.further) {
    WriteBody(further, protozero::pbf_writer(out, wire::partial::kFurther));
  }
}

}  // namespace

std::string PartialBody(const PartialData& partial) {
  std::string body;
  WriteBody(partial, protozero::pbf_writer(body));
  return body;
}

std::string FileBytes(const PartialFile& file) {
  std::string bytes;
  wire::WriteFile(file, protozero::pbf_writer(bytes));
  return bytes;
}

Result<std::string> SerializePartial(const PartialData& partial) {
  return Seal({partial.major, partial.minor, partial.program_version, PartialBody(partial)});
}

Result<PartialData> ParsePartialBody(std::string_view body, std::string_view name) {
  BS_ASSIGN(PartialHead read, ReadBody(body, name, wire::Cells::kRead));
  BS_TRY(CheckPartial(read.partial));
  return std::move(read.partial);
}

Result<PartialData> ParsePartial(std::string_view bytes, std::string_view name) {
  BS_ASSIGN(const Envelope envelope, Open(bytes, name));
  BS_ASSIGN(PartialData partial, ParsePartialBody(envelope.body, name));
  BS_TRY(CheckVersions(partial, envelope));
  return partial;
}

Result<PartialHead> ParsePartialHead(std::string_view bytes, std::string_view name) {
  BS_ASSIGN(const Envelope envelope, Open(bytes, name));
  BS_ASSIGN(PartialHead head, ReadBody(envelope.body, name, wire::Cells::kSkip));
  BS_TRY(CheckVersions(head.partial, envelope));
  BS_TRY(CheckPartialHead(head.partial));
  return head;
}

}  // namespace borescope::internal
