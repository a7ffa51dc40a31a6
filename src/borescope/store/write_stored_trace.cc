#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/base/parallel.h"
#include "borescope/base/stop.h"
#include "borescope/store/stored_fields.h"
#include "borescope/store/stored_head.h"
#include "borescope/store/stored_trace.h"
#include "borescope/store/trace_checks.h"

namespace borescope::internal {
namespace {

constexpr uint64_t Aligned(uint64_t offset) {
  return (offset + kSectionAlignment - 1) / kSectionAlignment * kSectionAlignment;
}

// All sections of a trace, in the order of the file.
struct Sections {
  std::string fields;
  std::vector<uint64_t> text_begins;
  std::string texts;
  std::vector<std::string_view> bytes;
};

Sections SectionsOf(const Trace& trace, const TraceIndex& index) {
  Sections sections;
  FieldWriter writer;
  StoredFields(writer, trace.data(), index);
  sections.fields = writer.bytes();
  sections.text_begins.reserve(trace.strings().size() + 1);
  for (uint32_t id = 0; id < trace.strings().size(); ++id) {
    sections.text_begins.push_back(sections.texts.size());
    sections.texts += trace.Text(StringId{id});
  }
  sections.text_begins.push_back(sections.texts.size());
  sections.bytes = {sections.fields, RawBytes(std::span<const uint64_t>(sections.text_begins)),
                    sections.texts};
  ForEachStoredColumn(trace.data(), index, [&](const auto& column) {
    sections.bytes.push_back(RawBytes(std::span(column.data(), column.size())));
  });
  return sections;
}

// The list of sections, at their places after it.
std::vector<StoredSection> Listed(const Sections& sections, const SecretHash& hash, int threads) {
  std::vector<StoredSection> list(sections.bytes.size());
  uint64_t offset = sizeof(StoredHead) + list.size() * sizeof(StoredSection);
  for (size_t i = 0; i < list.size(); ++i) {
    list[i].offset = Aligned(offset);
    list[i].bytes = sections.bytes[i].size();
    offset = list[i].offset + list[i].bytes;
  }
  ParallelFor(list.size(), threads,
              [&](size_t i) { list[i].checksum = hash.Of(sections.bytes[i]); });
  return list;
}

}  // namespace

Result<void> WriteStoredTrace(const Trace& trace, const TraceIndex& index, const ContentHash& key,
                              const SecretHash& hash, int threads, const PutPiece& put) {
  if (const std::optional<std::string> fault = FaultOfTrace(trace, index, threads)) {
    return UsageError("the trace cannot be kept: " + *fault);
  }
  const Sections sections = SectionsOf(trace, index);
  const std::vector<StoredSection> list = Listed(sections, hash, threads);
  StoredHead head;
  head.build = BuildHash(hash);
  head.key = key;
  head.sections = list.size();
  head.bytes = list.back().offset + list.back().bytes;
  head.checksum = HeadChecksum(head, list, hash);
  BS_TRY(put(RawBytes(head)));
  BS_TRY(put(RawBytes(std::span<const StoredSection>(list))));
  uint64_t offset = sizeof head + list.size() * sizeof(StoredSection);
  for (size_t i = 0; i < list.size(); ++i) {
    CheckStop();
    BS_TRY(put(std::string(list[i].offset - offset, '\0')));
    BS_TRY(put(sections.bytes[i]));
    offset = list[i].offset + list[i].bytes;
  }
  return {};
}

}  // namespace borescope::internal
