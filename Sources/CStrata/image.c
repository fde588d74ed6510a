// The identity that the linker gave to an executable or a library: the note NT_GNU_BUILD_ID, or LC_UUID.
#include "CStrata.h"
#include <dlfcn.h>
#include <string.h>

#if defined(__APPLE__)
#include <mach-o/loader.h>

static size_t image_identity(const uint8_t *base, uint8_t *identity, size_t capacity) {
  const struct mach_header_64 *header = (const struct mach_header_64 *)base;
  if (header->magic != MH_MAGIC_64) return 0;
  const uint8_t *place = base + sizeof(*header);
  for (uint32_t index = 0; index < header->ncmds; index++) {
    const struct load_command *command = (const struct load_command *)place;
    if (command->cmd == LC_UUID && capacity >= 16) {
      memcpy(identity, ((const struct uuid_command *)place)->uuid, 16);
      return 16;
    }
    place += command->cmdsize;
  }
  return 0;
}
#else
#include <elf.h>
#include <link.h>

static size_t padded(size_t length) { return (length + 3) & ~(size_t)3; }

static size_t identity_in_notes(
    const uint8_t *notes, size_t length, uint8_t *identity, size_t capacity) {
  size_t offset = 0;
  while (offset + sizeof(ElfW(Nhdr)) <= length) {
    ElfW(Nhdr) note;
    memcpy(&note, notes + offset, sizeof(note));
    const size_t name = offset + sizeof(note);
    const size_t content = name + padded(note.n_namesz);
    if (content + note.n_descsz > length) return 0;
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && memcmp(notes + name, "GNU", 4) == 0 &&
        note.n_descsz <= capacity) {
      memcpy(identity, notes + content, note.n_descsz);
      return note.n_descsz;
    }
    offset = content + padded(note.n_descsz);
  }
  return 0;
}

static size_t image_identity(const uint8_t *base, uint8_t *identity, size_t capacity) {
  const ElfW(Ehdr) *header = (const ElfW(Ehdr) *)base;
  if (memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) return 0;
  const ElfW(Phdr) *parts = (const ElfW(Phdr) *)(base + header->e_phoff);
  // The addresses in the headers count from where the first loaded part was meant to be.
  uintptr_t start = UINTPTR_MAX;
  for (int index = 0; index < header->e_phnum && start == UINTPTR_MAX; index++) {
    if (parts[index].p_type == PT_LOAD) start = parts[index].p_vaddr & ~(uintptr_t)0xFFF;
  }
  for (int index = 0; index < header->e_phnum; index++) {
    if (parts[index].p_type != PT_NOTE) continue;
    const uint8_t *notes = base + (parts[index].p_vaddr - start);
    const size_t found = identity_in_notes(notes, parts[index].p_memsz, identity, capacity);
    if (found > 0) return found;
  }
  return 0;
}
#endif

uintptr_t strata_image_offset(uintptr_t address) {
  Dl_info found;
  if (dladdr((const void *)address, &found) == 0 || found.dli_fbase == NULL) return 0;
  return address - (uintptr_t)found.dli_fbase;
}

size_t strata_image_identity(const void *address, uint8_t *identity, size_t capacity) {
  Dl_info found;
  if (dladdr(address, &found) == 0 || found.dli_fbase == NULL) return 0;
  return image_identity(found.dli_fbase, identity, capacity);
}
