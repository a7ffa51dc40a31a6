#include "borescope/engine/partial/wire/partial_bytes.h"

#include <fmt/format.h>

#include <limits>
#include <utility>

#include "borescope/engine/partial/check_partial.h"
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

void ReadField(wire::WireReader& in, PartialData& partial) {
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
      partial.files.push_back(wire::ReadFile(in.Message()));
      return;
    default:
      in.Skip();
  }
}

Error FaultError(const wire::WireFault& fault, const PartialData& partial) {
  const std::string writer =
      partial.program_version.empty()
          ? std::string()
          : fmt::format(" (written by Borescope {})", ToPrintable(partial.program_version));
  return {ErrorCode::kCorrupt,
          fmt::format("{}: byte {} of its body: {}{}; the partial is damaged or of a newer "
                      "Borescope: copy it again, or map again with this version",
                      partial.name, fault.place, ToPrintable(fault.cause), writer)};
}

}  // namespace

std::string PartialBody(const PartialData& partial) {
  std::string body;
  protozero::pbf_writer out(body);
  out.add_uint32(wire::partial::kMajor, partial.major);
  out.add_uint32(wire::partial::kMinor, partial.minor);
  out.add_string(wire::partial::kProgramVersion, partial.program_version);
  wire::WriteQuestion(partial.question, protozero::pbf_writer(out, wire::partial::kQuestion));
  for (const PartialFile& file : partial.files) {
    wire::WriteFile(file, protozero::pbf_writer(out, wire::partial::kFiles));
  }
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
  PartialData partial;
  partial.name = name;
  wire::WireFault fault;
  for (wire::WireReader in(body, fault); in.Next();) {
    ReadField(in, partial);
  }
  if (!fault.any() && partial.question.verbs.empty()) {
    fault.cause = "it holds no question";
  }
  if (fault.any()) {
    return FaultError(fault, partial);
  }
  BS_TRY(CheckPartial(partial));
  return partial;
}

Result<PartialData> ParsePartial(std::string_view bytes, std::string_view name) {
  BS_ASSIGN(const Envelope envelope, Open(bytes, name));
  BS_ASSIGN(PartialData partial, ParsePartialBody(envelope.body, name));
  if (partial.major != envelope.major || partial.minor != envelope.minor ||
      partial.program_version != envelope.program_version) {
    return Error{ErrorCode::kCorrupt,
                 fmt::format("{}: its head and its body name different versions; the partial is "
                             "damaged: copy it again, or map again",
                             name)};
  }
  return partial;
}

}  // namespace borescope::internal
