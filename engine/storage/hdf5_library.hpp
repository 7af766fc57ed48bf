// SPDX-License-Identifier: Apache-2.0
// Parallel HDF5, found at run time: that of the MPI in use, or none.
#pragma once

#include <dlfcn.h>

#include <cerrno>
#include <cstdlib>

#include "base/result.hpp"
#include "base/shared_library.hpp"
#include "base/std.hpp"
#include "mpi/comm.hpp"
#include "storage/library_file.hpp"

namespace ullage {

/// Are defined so by HDF5 1.10 and later define them.
using HdfId = std::int64_t;
using HdfSize = unsigned long long;

/// The functions of HDF5 that are used here, as <hdf5.h> declares them; those that only some versions have may be null.
struct Hdf5Calls : SymbolTable {
  using SymbolTable::SymbolTable;

  int (*open_library)() = take("H5open");
  int (*no_exit_handler)() = take("H5dont_atexit");
  int (*get_version)(unsigned*, unsigned*, unsigned*) = take("H5get_libversion");

  HdfId (*create_file)(const char* path, unsigned flags, HdfId creation, HdfId access) = take("H5Fcreate");
  HdfId (*open_file)(const char* path, unsigned flags, HdfId access) = take("H5Fopen");
  int (*close_file)(HdfId) = take("H5Fclose");
  void* (*forget_id)(HdfId) = find("H5I_remove");  // not in <hdf5.h>
  int (*flush_file)(HdfId, int scope) = take("H5Fflush");
  int (*get_driver_handle)(HdfId file, HdfId access, void** handle) = take("H5Fget_vfd_handle");
  HdfId (*get_access_list)(HdfId file) = take("H5Fget_access_plist");
  HdfId (*get_creation_list)(HdfId file) = take("H5Fget_create_plist");

  HdfId (*create_list)(HdfId kind) = take("H5Pcreate");
  int (*close_list)(HdfId) = take("H5Pclose");
  void (*set_mpi_driver)() = take("H5Pset_fapl_mpio");  // called by mpi::call_foreign
  int (*set_collective)(HdfId, int mode) = take("H5Pset_dxpl_mpio");
  int (*set_alignment)(HdfId, HdfSize threshold, HdfSize alignment) = take("H5Pset_alignment");
  int (*get_alignment)(HdfId, HdfSize* threshold, HdfSize* alignment) = take("H5Pget_alignment");
  int (*set_close_degree)(HdfId, int degree) = take("H5Pset_fclose_degree");
  int (*set_collective_metadata_reads)(HdfId, bool) = take("H5Pset_all_coll_metadata_ops");
  int (*set_collective_metadata_writes)(HdfId, bool) = take("H5Pset_coll_metadata_write");
  int (*get_collective_metadata_reads)(HdfId, bool*) = take("H5Pget_all_coll_metadata_ops");
  int (*get_collective_metadata_writes)(HdfId, bool*) = take("H5Pget_coll_metadata_write");
  int (*set_page_buffer)(HdfId, std::size_t bytes, unsigned metadata_percent,
                         unsigned raw_percent) = take("H5Pset_page_buffer_size");
  int (*get_page_buffer)(HdfId, std::size_t* bytes, unsigned* metadata_percent,
                         unsigned* raw_percent) = take("H5Pget_page_buffer_size");
  int (*set_evict_on_close)(HdfId, bool) = take("H5Pset_evict_on_close");
  int (*get_evict_on_close)(HdfId, bool*) = take("H5Pget_evict_on_close");
  int (*set_space_strategy)(HdfId, int strategy, bool persist, HdfSize threshold) = take("H5Pset_file_space_strategy");
  int (*get_space_strategy)(HdfId, int* strategy, bool* persist,
                            HdfSize* threshold) = take("H5Pget_file_space_strategy");
  int (*set_space_page)(HdfId, HdfSize bytes) = take("H5Pset_file_space_page_size");
  int (*get_space_page)(HdfId, HdfSize* bytes) = take("H5Pget_file_space_page_size");
  int (*set_version_bounds)(HdfId, int low, int high) = take("H5Pset_libver_bounds");
  int (*get_version_bounds)(HdfId, int* low, int* high) = take("H5Pget_libver_bounds");
  int (*set_chunk)(HdfId, int rank, const HdfSize* dimensions) = take("H5Pset_chunk");
  int (*get_chunk)(HdfId, int most, HdfSize* dimensions) = take("H5Pget_chunk");
  int (*get_layout)(HdfId) = take("H5Pget_layout");
  int (*set_intermediate_groups)(HdfId, unsigned make) = take("H5Pset_create_intermediate_group");
  int (*set_fill_time)(HdfId, int when) = take("H5Pset_fill_time");
  int (*get_fill_time)(HdfId, int* when) = take("H5Pget_fill_time");
  int (*set_allocation_time)(HdfId, int when) = take("H5Pset_alloc_time");
  int (*get_allocation_time)(HdfId, int* when) = take("H5Pget_alloc_time");
  int (*get_io_mode)(HdfId, int* mode) = take("H5Pget_mpio_actual_io_mode");
  int (*get_no_collective_cause)(HdfId, std::uint32_t* local,
                                 std::uint32_t* global) = take("H5Pget_mpio_no_collective_cause");

  HdfId (*create_dataset)(HdfId file, const char* name, HdfId type, HdfId space, HdfId link, HdfId creation,
                          HdfId access) = take("H5Dcreate2");
  HdfId (*open_dataset)(HdfId file, const char* name, HdfId access) = take("H5Dopen2");
  int (*close_dataset)(HdfId) = take("H5Dclose");
  int (*write)(HdfId dataset, HdfId type, HdfId memory, HdfId space, HdfId transfer,
               const void* data) = take("H5Dwrite");
  int (*read)(HdfId dataset, HdfId type, HdfId memory, HdfId space, HdfId transfer, void* data) = take("H5Dread");
  HdfId (*space_of)(HdfId dataset) = take("H5Dget_space");
  HdfId (*list_of)(HdfId dataset) = take("H5Dget_create_plist");
  HdfSize (*offset_of)(HdfId dataset) = take("H5Dget_offset");
  int (*count_chunks)(HdfId dataset, HdfId space, HdfSize* count) = find("H5Dget_num_chunks");
  int (*chunk_info)(HdfId dataset, HdfId space, HdfSize index, HdfSize* offset, unsigned* filters, HdfSize* address,
                    HdfSize* bytes) = find("H5Dget_chunk_info");

  HdfId (*create_type)(int class_of_type, std::size_t bytes) = take("H5Tcreate");
  int (*insert_field)(HdfId record, const char* name, std::size_t offset, HdfId type) = take("H5Tinsert");
  int (*close_type)(HdfId) = take("H5Tclose");

  HdfId (*create_space)(int rank, const HdfSize* dimensions, const HdfSize* most) = take("H5Screate_simple");
  int (*close_space)(HdfId) = take("H5Sclose");
  int (*select)(HdfId space, int operation, const HdfSize* start, const HdfSize* stride, const HdfSize* count,
                const HdfSize* block) = take("H5Sselect_hyperslab");
  int (*select_none)(HdfId space) = take("H5Sselect_none");
  std::int64_t (*count_elements)(HdfId space) = take("H5Sget_simple_extent_npoints");
  int (*count_dimensions)(HdfId space) = take("H5Sget_simple_extent_ndims");

  int (*set_error_printer)(HdfId, void*, void*) = take("H5Eset_auto2");
  int (*walk_errors)(HdfId, int direction, void* visit, void* data) = take("H5Ewalk2");
  int (*clear_errors)(HdfId) = take("H5Eclear2");

  // Identifiers that the library has made when it is open.
  const HdfId* file_creation = take("H5P_CLS_FILE_CREATE_ID_g");
  const HdfId* file_access = take("H5P_CLS_FILE_ACCESS_ID_g");
  const HdfId* dataset_creation = take("H5P_CLS_DATASET_CREATE_ID_g");
  const HdfId* dataset_transfer = take("H5P_CLS_DATASET_XFER_ID_g");
  const HdfId* link_creation = take("H5P_CLS_LINK_CREATE_ID_g");
  const HdfId* byte_type = take("H5T_NATIVE_UCHAR_g");
  const HdfId* int32_type = take("H5T_NATIVE_INT32_g");
  const HdfId* float32_type = take("H5T_NATIVE_FLOAT_g");
  const HdfId* float64_type = take("H5T_NATIVE_DOUBLE_g");

  std::string file;  // where it was found
};

/// The environment variable with which people name the library.
inline constexpr const char* hdf5_variable = "ULLAGE_HDF5";

inline Error hdf5_missing(const std::string& text) { return environment_error("HDF5", text); }

/// The library of that name or path. It is not loaded if it belongs to another MPI.
[[nodiscard]] inline Result<Hdf5Calls> find_hdf5(const std::string& name) {
  const auto file = library_file(name);
  if (!file) return fail(hdf5_missing("there is no library '" + name + "'"));
  if (auto status = check_mpi_of_library(*file); !status) return fail(status.error());
  const auto library = load_library("HDF5", std::span(&*file, 1), RTLD_NOW | RTLD_LOCAL, 0);
  if (!library) return fail(library.error());
  Hdf5Calls calls(*library);
  calls.file = *file;
  if (calls.missing().empty()) return calls;
  return fail(environment_error(*file, "lacks " + calls.missing() + ": a parallel HDF5 1.10.1 or later is needed"));
}

inline constexpr std::array versions_of_library{"320", "310", "200", "103"};

/// The usual names, by the family of the MPI in use.
inline std::vector<std::string> usual_hdf5_names() {
  const std::string family = mpi::library_version().find("Open MPI") != std::string::npos ? "_openmpi" : "_mpich";
  std::vector<std::string> names;
  for (const std::string& middle : {family, std::string()})
    for (const char* version : versions_of_library) names.push_back("libhdf5" + middle + ".so." + version);
  names.emplace_back("libhdf5.so");
  return names;
}

inline Result<Hdf5Calls> find_usual_hdf5() {
  if (const char* named = std::getenv(hdf5_variable); named != nullptr && *named != '\0') return find_hdf5(named);
  const auto names = usual_hdf5_names();
  std::string refused;
  for (const auto& name : names) {
    if (!library_file(name)) continue;
    auto found = find_hdf5(name);
    if (found) return found;
    if (refused.empty()) refused = found.error().where + " " + found.error().text;
  }
  if (!refused.empty()) return fail(hdf5_missing(refused));
  return fail(hdf5_missing("no parallel HDF5 found (tried " + names.front() + " to " + names.back() +
                           "); install one for this MPI, or name its file with " + hdf5_variable));
}

/// The one of this process, which is found when it is first asked for: that of ULLAGE_HDF5, else the usual ones of
/// this MPI.
[[nodiscard]] inline const Result<Hdf5Calls>& hdf5_library() {
  static const Result<Hdf5Calls> found = find_usual_hdf5();
  return found;
}

inline constexpr HdfId default_stack = 0;

inline const Hdf5Calls* prepare_hdf5(const Hdf5Calls& calls) {
  calls.no_exit_handler();  // MPI's end closes the library; afterwards there is nothing to call
  if (calls.open_library() < 0) return nullptr;
  calls.set_error_printer(default_stack, nullptr, nullptr);
  return &calls;
}

/// Returns the same made ready for calls. MPI is running.
[[nodiscard]] inline Result<const Hdf5Calls*> open_hdf5() {
  const auto& library = hdf5_library();
  if (!library) return fail(library.error());
  static const Hdf5Calls* const opened = prepare_hdf5(*library);
  if (opened == nullptr) return fail(hdf5_missing(library->file + " cannot be started (H5open failed)"));
  return opened;
}

/// "1.10.8"
[[nodiscard]] inline std::string hdf5_version(const Hdf5Calls& calls) {
  unsigned major = 0;
  unsigned minor = 0;
  unsigned release = 0;
  if (calls.get_version(&major, &minor, &release) < 0) return "unknown";
  return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(release);
}

inline constexpr int inner_first = 0;

/// One entry of the stack, as <H5Epublic.h> has it.
struct StackEntry {
  HdfId library;
  HdfId major;
  HdfId minor;
  unsigned line;
  const char* function;
  const char* file;
  const char* text;
};

inline int note_entry(unsigned, const StackEntry* entry, void* list) {
  static_cast<std::vector<StackEntry>*>(list)->push_back(*entry);
  return 0;
}

inline int errno_in(std::string_view text) {
  if (text.find("No space left") != std::string_view::npos || text.find("no space left") != std::string_view::npos ||
      text.find("NO_SPACE") != std::string_view::npos)
    return ENOSPC;
  if (text.find("quota") != std::string_view::npos || text.find("QUOTA") != std::string_view::npos) return EDQUOT;
  if (text.find("No such file") != std::string_view::npos) return ENOENT;
  return EIO;
}

inline std::string in_one_line(std::string_view text) {
  std::string line;
  for (const char c : text) {
    const bool is_blank = c == ' ' || c == '\n' || c == '\t' || c == '\r';
    if (!is_blank)
      line += c;
    else if (!line.empty() && line.back() != ' ')
      line += ' ';
  }
  while (!line.empty() && line.back() == ' ') line.pop_back();
  return line;
}

/// The library's stack of errors as one line: the call that failed and what it was that failed below. The stack is
/// cleared.
[[nodiscard]] inline Error hdf5_error(const Hdf5Calls& calls, const std::string& operation, const std::string& path) {
  std::vector<StackEntry> entries;
  (void)calls.walk_errors(default_stack, inner_first, reinterpret_cast<void*>(&note_entry), &entries);
  std::string text = "it reports no reason";
  std::string all;
  for (const auto& entry : entries) all += std::string(entry.text == nullptr ? "" : entry.text) + " ";
  if (!entries.empty()) {
    const auto& outer = entries.back();
    const auto& inner = entries.front();
    text = std::string(outer.function == nullptr ? "HDF5" : outer.function) + ": ";
    text += in_one_line(outer.text == nullptr ? "" : outer.text);
    if (entries.size() > 1 && inner.text != nullptr) text += ": " + in_one_line(inner.text);
  }
  (void)calls.clear_errors(default_stack);
  Error error = errno_error(errno_in(all), operation, path);
  error.text = text;
  return error;
}

}  // namespace ullage
