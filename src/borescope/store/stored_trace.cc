#include "borescope/store/stored_trace.h"

#include <elf.h>
#include <link.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "borescope/base/parallel.h"
#include "borescope/base/stop.h"
#include "borescope/base/version.h"
#include "borescope/store/trace_checks.h"

namespace borescope::internal {

namespace {

using namespace std::string_view_literals;

struct Search {
  uintptr_t address = 0;  // of code of ours
  std::optional<std::string> identity;
};

constexpr size_t Padded(size_t bytes) { return (bytes + 3) / 4 * 4; }

// The build id among the notes of a segment.
std::optional<std::string> IdOfNotes(const char* notes, size_t bytes) {
  constexpr std::string_view kGnu = "GNU\0"sv;  // names of notes count their end
  while (bytes >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) head{};
    std::memcpy(&head, notes, sizeof head);
    const size_t whole = sizeof head + Padded(head.n_namesz) + Padded(head.n_descsz);
    if (whole > bytes) {
      return std::nullopt;
    }
    const char* name = notes + sizeof head;
    if (head.n_type == NT_GNU_BUILD_ID && std::string_view(name, head.n_namesz) == kGnu &&
        head.n_descsz > 0) {
      return std::string(name + Padded(head.n_namesz), head.n_descsz);
    }
    notes += whole;
    bytes -= whole;
  }
  return std::nullopt;
}

bool Holds(const dl_phdr_info& object, uintptr_t address) {
  for (size_t i = 0; i < object.dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = object.dlpi_phdr[i];
    const uintptr_t begin = object.dlpi_addr + segment.p_vaddr;
    if (segment.p_type == PT_LOAD && address >= begin && address - begin < segment.p_memsz) {
      return true;
    }
  }
  return false;
}

// Called for the program and each library; what is not 0 ends the search.
int LookAt(dl_phdr_info* object, size_t /*size*/, void* data) {
  auto& search = *static_cast<Search*>(data);
  if (!Holds(*object, search.address)) {
    return 0;
  }
  for (size_t i = 0; i < object->dlpi_phnum && !search.identity.has_value(); ++i) {
    const ElfW(Phdr)& segment = object->dlpi_phdr[i];
    if (segment.p_type == PT_NOTE) {
      const uintptr_t notes = object->dlpi_addr + segment.p_vaddr;
      search.identity = IdOfNotes(reinterpret_cast<const char*>(notes),  // NOLINT: an address
                                  segment.p_memsz);
    }
  }
  return 1;
}

std::optional<std::string> FindIdentity() {
  Search search{reinterpret_cast<uintptr_t>(&LookAt), std::nullopt};
  dl_iterate_phdr(LookAt, &search);
  if (search.identity.has_value()) {
    *search.identity += Version();
  }
  return search.identity;
}

}  // namespace

std::optional<std::string> BuildIdentity() {
  static const std::optional<std::string> identity = FindIdentity();
  return identity;
}

ContentHash BuildHash(const SecretHash& hash) {
  std::string text = BuildIdentity().value_or("");
  const TraceData data;
  const TraceIndex index;
  ForEachStoredColumn(data, index,
                      [&](const auto& column) { text += static_cast<char>(sizeof(column[0])); });
  return hash.Of(text);
}

ContentHash HeadChecksum(StoredHead head, std::span<const StoredSection> list,
                         const SecretHash& hash) {
  head.checksum = {};
  return hash.Of(std::string(RawBytes(head)) + std::string(RawBytes(list)));
}

namespace {

Error Unusable(std::string_view what) { return {ErrorCode::kCorrupt, std::string(what)}; }

// The parts of a file whose head is right; nothing is known of the sections' content.
struct OpenedFile {
  StoredHead head;
  std::vector<StoredSection> list;
};

Result<OpenedFile> OpenStored(std::string_view bytes, const SecretHash& hash) {
  OpenedFile file;
  if (bytes.size() < sizeof file.head) {
    return Unusable("the file is cut off");
  }
  std::memcpy(&file.head, bytes.data(), sizeof file.head);
  const StoredHead& head = file.head;
  if (head.magic != kStoredMagic || head.version != kStoredVersion || head.order != kStoredOrder) {
    return Unusable("no trace that this borescope wrote");
  }
  if (head.bytes != bytes.size() ||
      head.sections > (bytes.size() - sizeof head) / sizeof(StoredSection)) {
    return Unusable("the file has another size than it should");
  }
  file.list.resize(head.sections);
  if (!file.list.empty()) {
    std::memcpy(file.list.data(), bytes.data() + sizeof head,
                file.list.size() * sizeof(StoredSection));
  }
  return HeadChecksum(head, file.list, hash) == head.checksum
             ? Result<OpenedFile>(std::move(file))
             : Unusable("the beginning of the file does not fit its checksum");
}

bool LiesWithin(const StoredSection& section, std::string_view bytes) {
  return section.offset % kSectionAlignment == 0 && section.offset <= bytes.size() &&
         section.bytes <= bytes.size() - section.offset;
}

Result<void> CheckSections(const OpenedFile& file, std::string_view bytes, const SecretHash& hash,
                           int threads) {
  for (const StoredSection& section : file.list) {
    if (!LiesWithin(section, bytes)) {
      return Unusable("a section lies outside of the file");
    }
  }
  std::vector<char> fits(file.list.size());
  ParallelFor(file.list.size(), threads, [&](size_t i) {
    const StoredSection& section = file.list[i];
    fits[i] = hash.Of(bytes.substr(section.offset, section.bytes)) == section.checksum ? 1 : 0;
  });
  for (const char fit : fits) {
    if (fit == 0) {
      return Unusable("a section does not fit its checksum");
    }
  }
  return {};
}

// Hands out one section after the other.
class SectionReader {
 public:
  SectionReader(std::string_view bytes, std::span<const StoredSection> list)
      : bytes_(bytes), list_(list) {}

  std::string_view Next() {
    if (next_ == list_.size()) {
      ok_ = false;
      return {};
    }
    const StoredSection& section = list_[next_++];
    return bytes_.substr(section.offset, section.bytes);
  }

  template <class T>
  std::span<const T> NextValues() {
    const std::string_view bytes = Next();
    ok_ = ok_ && bytes.size() % sizeof(T) == 0;
    // Aligned: sections are, and so is what is mapped.
    return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
  }

  bool is_done() const { return ok_ && next_ == list_.size(); }

 private:
  std::string_view bytes_;
  std::span<const StoredSection> list_;
  size_t next_ = 0;
  bool ok_ = true;
};

bool AreTexts(std::span<const uint64_t> begins, std::string_view bytes) {
  return begins.size() >= 2 && begins.size() <= StringId::kNone && begins[0] == 0 &&
         begins[1] == 0 && begins.back() == bytes.size() &&
         std::is_sorted(begins.begin(), begins.end());
}

Result<StoredTrace> ViewOf(std::string_view bytes, const OpenedFile& file,
                           const StoredSource& source, std::shared_ptr<const void> memory) {
  SectionReader sections(bytes, file.list);
  TraceData data;
  TraceIndex index;
  FieldReader fields(sections.Next());
  StoredFields(fields, data, index);
  const std::span<const uint64_t> begins = sections.NextValues<uint64_t>();
  const std::string_view texts = sections.Next();
  ForEachStoredColumn(data, index, [&](auto& column) {
    using Value = std::remove_reference_t<decltype(column)>::value_type;
    column = ColumnData<Value>::View(sections.NextValues<Value>());
  });
  if (!fields.is_done() || !sections.is_done() || !AreTexts(begins, texts)) {
    return Unusable("the sections are not those of a trace");
  }
  data.meta.file = source.file;
  data.meta.remedy = source.remedy_of == nullptr ? nullptr : source.remedy_of(data.meta.format);
  data.strings = StringPool::View(begins, texts);
  data.viewed = memory;
  index.viewed = std::move(memory);
  return StoredTrace{Trace(std::move(data)), std::move(index)};
}

}  // namespace

Result<StoredTrace> ReadStoredTrace(std::string_view bytes, std::shared_ptr<const void> memory,
                                    const ContentHash& key, const StoredSource& source,
                                    const SecretHash& hash, int threads) {
  BS_ASSIGN(const OpenedFile file, OpenStored(bytes, hash));
  if (file.head.build != BuildHash(hash)) {
    return Unusable("another build of borescope wrote it");
  }
  if (file.head.key != key) {
    return Unusable("it is of other inputs");
  }
  BS_TRY(CheckSections(file, bytes, hash, threads));
  BS_ASSIGN(StoredTrace stored, ViewOf(bytes, file, source, std::move(memory)));
  if (const std::optional<std::string> fault = FaultOfTrace(stored.trace, stored.index, threads)) {
    return Unusable(*fault + " leads nowhere");
  }
  stored.index.operators = OperatorRule(stored.trace);
  return stored;
}

void SealStoredTrace(const SecretHash& hash, std::string& bytes) {
  StoredHead head;
  if (bytes.size() < sizeof head) {
    return;
  }
  std::memcpy(&head, bytes.data(), sizeof head);
  if (head.sections == 0 || head.sections > (bytes.size() - sizeof head) / sizeof(StoredSection)) {
    return;
  }
  std::vector<StoredSection> list(head.sections);
  std::memcpy(list.data(), bytes.data() + sizeof head, list.size() * sizeof(StoredSection));
  for (StoredSection& section : list) {
    if (LiesWithin(section, bytes)) {
      section.checksum = hash.Of(std::string_view(bytes).substr(section.offset, section.bytes));
    }
  }
  head.bytes = bytes.size();
  head.checksum = HeadChecksum(head, list, hash);
  std::memcpy(bytes.data(), &head, sizeof head);
  std::memcpy(bytes.data() + sizeof head, list.data(), list.size() * sizeof(StoredSection));
}

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
