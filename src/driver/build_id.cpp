#include "driver/build_id.h"

#include <elf.h>
#include <link.h>

#include <cstring>

#include <fmt/format.h>

namespace jumar::driver {
namespace {

struct Search {
  uintptr_t address;
  std::string id;
};

std::string id_of_notes(const char* notes, size_t size) {
  const auto padded = [](size_t n) { return (n + 3) & ~size_t{3}; };
  while (size >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) header;
    std::memcpy(&header, notes, sizeof header);
    const size_t whole = sizeof header + padded(header.n_namesz) + padded(header.n_descsz);
    if (whole > size) break;
    const char* name = notes + sizeof header;
    if (header.n_type == NT_GNU_BUILD_ID && header.n_namesz == 4 && std::memcmp(name, "GNU", 4) == 0) {
      std::string id;
      for (size_t k = 0; k < header.n_descsz; ++k) {
        id += fmt::format("{:02x}", static_cast<unsigned char>(name[padded(header.n_namesz) + k]));
      }
      return id;
    }
    notes += whole;
    size -= whole;
  }
  return {};
}

bool holds(const dl_phdr_info& object, uintptr_t address) {
  for (int k = 0; k < object.dlpi_phnum; ++k) {
    const ElfW(Phdr)& header = object.dlpi_phdr[k];
    const uintptr_t begin = object.dlpi_addr + header.p_vaddr;
    if (header.p_type == PT_LOAD && address >= begin && address < begin + header.p_memsz) return true;
  }
  return false;
}

int visit(dl_phdr_info* object, size_t, void* data) {
  Search& search = *static_cast<Search*>(data);
  if (!holds(*object, search.address)) return 0;
  for (int k = 0; k < object->dlpi_phnum && search.id.empty(); ++k) {
    const ElfW(Phdr)& header = object->dlpi_phdr[k];
    if (header.p_type != PT_NOTE) continue;
    search.id =
        id_of_notes(reinterpret_cast<const char*>(object->dlpi_addr + header.p_vaddr), header.p_memsz);
  }
  return 1;
}

}  // namespace

std::string build_id() {
  Search search{reinterpret_cast<uintptr_t>(&build_id), {}};
  dl_iterate_phdr(&visit, &search);
  return search.id;
}

}  // namespace jumar::driver
