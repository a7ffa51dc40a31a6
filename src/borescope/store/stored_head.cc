#include "borescope/store/stored_head.h"

#include <elf.h>
#include <link.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "borescope/base/version.h"
#include "borescope/store/stored_fields.h"

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

}  // namespace borescope::internal
