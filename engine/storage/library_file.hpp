// SPDX-License-Identifier: Apache-2.0
// Shared libraries as files: what one needs is known before it is loaded. A library that belongs to another MPI must
// never be loaded, since two MPIs in one process have the same names.
#pragma once

#include <dlfcn.h>
#include <elf.h>
#include <link.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/result.hpp"
#include "base/std.hpp"

namespace ullage {

inline constexpr std::uint64_t most_table_bytes = std::uint64_t{64} << 20;

/// An ELF file of this machine's word size, of which parts are read.
class ElfFile final {
 public:
  explicit ElfFile(const std::string& path) : stream_(path, std::ios::binary) {
    if (!read(0, &header_, sizeof header_)) return;
    is_elf_ = std::memcmp(header_.e_ident, ELFMAG, SELFMAG) == 0 && header_.e_ident[EI_CLASS] == ELFCLASS64 &&
              header_.e_phentsize == sizeof(ElfW(Phdr));
    for (unsigned i = 0; is_elf_ && i < header_.e_phnum; ++i) {
      ElfW(Phdr) segment{};
      is_elf_ = read(header_.e_phoff + i * sizeof segment, &segment, sizeof segment);
      segments_.push_back(segment);
    }
  }

  [[nodiscard]] bool is_elf() const { return is_elf_; }

  /// Entries of the dynamic section, empty where there is none.
  [[nodiscard]] std::vector<ElfW(Dyn)> dynamic() {
    for (const auto& segment : segments_) {
      if (segment.p_type != PT_DYNAMIC || segment.p_filesz > most_table_bytes) continue;
      std::vector<ElfW(Dyn)> entries(segment.p_filesz / sizeof(ElfW(Dyn)));
      if (read(segment.p_offset, entries.data(), entries.size() * sizeof(ElfW(Dyn)))) return entries;
    }
    return {};
  }

  /// `bytes` at a virtual address.
  [[nodiscard]] std::string at_address(std::uint64_t address, std::uint64_t bytes) {
    for (const auto& segment : segments_) {
      const bool holds = segment.p_type == PT_LOAD && address >= segment.p_vaddr &&
                         address - segment.p_vaddr < segment.p_filesz && bytes <= most_table_bytes;
      if (!holds) continue;
      std::string text(bytes, '\0');
      if (read(segment.p_offset + (address - segment.p_vaddr), text.data(), text.size())) return text;
    }
    return {};
  }

 private:
  [[nodiscard]] bool read(std::uint64_t offset, void* data, std::size_t bytes) {
    stream_.clear();
    stream_.seekg(static_cast<std::streamoff>(offset));
    return static_cast<bool>(stream_.read(static_cast<char*>(data), static_cast<std::streamsize>(bytes)));
  }

  std::ifstream stream_;
  ElfW(Ehdr) header_ {};
  std::vector<ElfW(Phdr)> segments_;
  bool is_elf_ = false;
};

inline std::uint64_t value_of(const std::vector<ElfW(Dyn)>& entries, std::int64_t tag) {
  const auto found = std::ranges::find(entries, tag, &ElfW(Dyn)::d_tag);
  return found == entries.end() ? 0 : found->d_un.d_val;
}

/// The names of the libraries that an ELF file asks the dynamic linker for. Error: it cannot be read, or is none.
[[nodiscard]] inline Result<std::vector<std::string>> libraries_needed_by(const std::string& path) {
  ElfFile file(path);
  if (!file.is_elf()) return fail(environment_error(path, "is no shared library of this machine"));
  const auto entries = file.dynamic();
  const std::string names = file.at_address(value_of(entries, DT_STRTAB), value_of(entries, DT_STRSZ));
  std::vector<std::string> needed;
  for (const auto& entry : entries)
    if (entry.d_tag == DT_NEEDED && entry.d_un.d_val < names.size())
      needed.emplace_back(names.c_str() + entry.d_un.d_val);
  return needed;
}

/// Files of the libraries that this process has loaded.
[[nodiscard]] inline std::vector<std::string> loaded_libraries() {
  std::vector<std::string> paths;
  const auto note = [](dl_phdr_info* info, std::size_t, void* list) {
    if (info->dlpi_name != nullptr && info->dlpi_name[0] == '/')
      static_cast<std::vector<std::string>*>(list)->emplace_back(info->dlpi_name);
    return 0;
  };
  dl_iterate_phdr(note, &paths);
  return paths;
}

inline std::vector<std::string> folders_of_libraries() {
  std::vector<std::string> folders;
  const char* variable = std::getenv("LD_LIBRARY_PATH");
  std::istringstream named(variable == nullptr ? "" : variable);
  for (std::string folder; std::getline(named, folder, ':');)
    if (!folder.empty()) folders.push_back(folder);
  for (const auto& path : loaded_libraries()) folders.push_back(std::filesystem::path(path).parent_path());
  for (const char* usual : {"/usr/local/lib", "/lib64", "/usr/lib64", "/lib", "/usr/lib"}) folders.emplace_back(usual);
  return folders;
}

/// The file that a name stands for: itself if it is a path, else found in LD_LIBRARY_PATH, in the folders of what this
/// process has loaded and in those of the system.
[[nodiscard]] inline std::optional<std::string> library_file(const std::string& name) {
  if (name.find('/') != std::string::npos) return name;
  std::error_code unknown;
  for (const auto& folder : folders_of_libraries())
    if (std::string path = folder + "/" + name; std::filesystem::is_regular_file(path, unknown)) return path;
  return std::nullopt;
}

/// The library of MPI itself, not those of its other languages.
inline bool is_mpi_library(std::string_view name) {
  constexpr std::array<std::string_view, 5> beginnings{"libmpi.so", "libmpich.so", "libmpi_mt.so", "libmpi_cray.so",
                                                       "libmpi_gnu"};
  return std::ranges::any_of(beginnings, [&](std::string_view beginning) { return name.starts_with(beginning); });
}

/// Returns whether a library that needs this name gets one that is loaded: by its own name, or by a link to its file
/// that the dynamic linker finds. The linker then knows it by that name as well. Nothing is loaded.
inline bool is_loaded(const std::string& needed) {
  void* const library = dlopen(needed.c_str(), RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) return false;
  (void)dlclose(library);
  return true;
}

inline std::string base_name(const std::string& path) { return std::filesystem::path(path).filename(); }

inline std::string mpi_loaded() {
  for (const auto& path : loaded_libraries())
    if (is_mpi_library(base_name(path))) return base_name(path);
  return "no shared MPI library";
}

/// Success where the library at `path` needs the MPI that this process has loaded, and no other.
[[nodiscard]] inline Status check_mpi_of_library(const std::string& path) {
  const auto needed = libraries_needed_by(path);
  if (!needed) return fail(needed.error());
  bool is_parallel = false;
  for (const auto& name : *needed) {
    if (!is_mpi_library(name)) continue;
    is_parallel = true;
    if (!is_loaded(name))
      return fail(environment_error(
          path, "belongs to another MPI: it needs " + name + ", but this engine runs with " + mpi_loaded()));
  }
  return is_parallel ? Status{} : fail(environment_error(path, "was built without MPI"));
}

}  // namespace ullage
