// SPDX-License-Identifier: Apache-2.0
// What the library says about a file that it has open: what it granted, not what was asked for.
#pragma once

#include "base/parameters.hpp"
#include "base/std.hpp"
#include "storage/backends/hdf5_types.hpp"
#include "storage/hdf5_library.hpp"

namespace ullage {

inline constexpr HdfId hdf5_default = 0;
inline constexpr unsigned hdf5_read = 0;

// What <hdf5.h> says by numbers of transfers and of property lists, as words. A number that no word is known for is
// itself.

inline std::string known_word(int number, std::span<const char* const> words) {
  const bool known = number >= 0 && number < static_cast<int>(words.size());
  return known ? words[static_cast<std::size_t>(number)] : std::to_string(number);
}

/// Names the answer of H5Pget_mpio_actual_io_mode.
[[nodiscard]] inline std::string hdf5_mode_text(int mode) {
  constexpr std::array words{"none", "chunk independent", "chunk collective", "chunk mixed", "contiguous collective"};
  return known_word(mode, words);
}

/// Names the answer of H5Pget_mpio_no_collective_cause: why a transfer was not collective.
[[nodiscard]] inline std::string hdf5_cause_text(std::uint32_t causes) {
  constexpr std::array words{"independent requested",      "datatype conversion", "data transform",
                             "MPI types are switched off", "dataspace",           "layout"};
  std::string text;
  for (std::size_t bit = 0; bit < words.size(); ++bit)
    if ((causes >> bit & 1U) != 0) text += (text.empty() ? "" : ", ") + std::string(words[bit]);
  return text.empty() ? std::to_string(causes) : text;
}

/// Names the answer of H5Pget_layout.
[[nodiscard]] inline std::string hdf5_layout_text(int layout) {
  constexpr std::array words{"compact", "contiguous", "chunked", "virtual"};
  return known_word(layout, words);
}

/// Names the answer of H5Pget_fill_time.
[[nodiscard]] inline std::string hdf5_fill_text(int when) {
  constexpr std::array words{"when allocated", "never", "if set"};
  return known_word(when, words);
}

/// Names the answer of H5Pget_alloc_time.
[[nodiscard]] inline std::string hdf5_allocation_text(int when) {
  constexpr std::array words{"default", "early", "late", "incremental"};
  return known_word(when, words);
}

/// Names the answer of H5Pget_libver_bounds: the oldest format that is used.
[[nodiscard]] inline std::string hdf5_format_text(int lowest) {
  constexpr std::array words{"earliest", "1.8", "1.10", "1.12", "1.14"};
  return known_word(lowest, words);
}

struct Hdf5Asked {
  const Hdf5Calls& calls;
  HdfId file = -1;
  HdfId dataset = -1;   // below 0: there is none
  HdfId transfer = -1;  // the list by which data was moved last
};

inline constexpr HdfId errors_of_this_thread = 0;

/// The library says this of transfers that were asked to be independent (H5D_MPIO_SET_INDEPENDENT).
inline constexpr std::uint32_t independent_asked = 1;

inline void add_transfer(const Hdf5Asked& asked, Map& facts) {
  int mode = 0;
  if (asked.calls.get_io_mode(asked.transfer, &mode) < 0) return;
  facts["hdf5.io_mode"] = mode == 0 ? "independent" : hdf5_mode_text(mode);
  std::uint32_t local = 0;
  std::uint32_t global = 0;
  if (mode != 0 || asked.calls.get_no_collective_cause(asked.transfer, &local, &global) < 0) return;
  if (global != 0 && global != independent_asked) facts["hdf5.not_collective_because"] = hdf5_cause_text(global);
}

inline constexpr int layout_chunked = 2;
inline constexpr int most_dimensions = 32;  // H5S_MAX_RANK

/// "8x4" where chunks have two dimensions.
inline std::string chunk_text(const Hdf5Calls& calls, HdfId list) {
  std::array<HdfSize, most_dimensions> dimensions{};
  const int count = calls.get_chunk(list, most_dimensions, dimensions.data());
  std::string text;
  for (int i = 0; i < count; ++i) text += (i == 0 ? "" : "x") + std::to_string(dimensions[static_cast<std::size_t>(i)]);
  return text;
}

inline void add_dataset(const Hdf5Asked& asked, Map& facts) {
  const Hdf5Calls& calls = asked.calls;
  if (asked.dataset < 0) return;
  const Hdf5Handle list(calls.list_of(asked.dataset), calls.close_list);
  if (!list) return;
  const int layout = calls.get_layout(list.get());
  if (layout >= 0) facts["hdf5.layout"] = hdf5_layout_text(layout);
  if (layout == layout_chunked) facts["hdf5.chunk_elements"] = chunk_text(calls, list.get());
  int when = 0;
  if (calls.get_fill_time(list.get(), &when) >= 0) facts["hdf5.fill"] = hdf5_fill_text(when);
  if (calls.get_allocation_time(list.get(), &when) >= 0) facts["hdf5.allocation"] = hdf5_allocation_text(when);
}

inline void add_metadata(const Hdf5Calls& calls, HdfId list, Map& facts) {
  bool reads = false;
  bool writes = false;
  if (calls.get_collective_metadata_reads(list, &reads) < 0 || calls.get_collective_metadata_writes(list, &writes) < 0)
    return;
  facts["hdf5.collective_metadata"] = reads ? (writes ? "reads and writes" : "reads") : writes ? "writes" : "no";
}

inline void add_access(const Hdf5Asked& asked, Map& facts) {
  const Hdf5Calls& calls = asked.calls;
  const Hdf5Handle list(calls.get_access_list(asked.file), calls.close_list);
  if (!list) return;
  add_metadata(calls, list.get(), facts);
  HdfSize from = 0;
  HdfSize alignment = 0;
  if (calls.get_alignment(list.get(), &from, &alignment) >= 0) {
    facts["hdf5.alignment"] = std::to_string(alignment);
    facts["hdf5.alignment_from"] = std::to_string(from);
  }
  std::size_t buffer = 0;
  unsigned of_metadata = 0;
  unsigned of_data = 0;
  if (calls.get_page_buffer(list.get(), &buffer, &of_metadata, &of_data) >= 0)
    facts["hdf5.page_buffer"] = std::to_string(buffer);
  bool evicts = false;
  if (calls.get_evict_on_close(list.get(), &evicts) >= 0) facts["hdf5.evict_on_close"] = evicts ? "yes" : "no";
  int lowest = 0;
  int highest = 0;
  if (calls.get_version_bounds(list.get(), &lowest, &highest) >= 0) facts["hdf5.format"] = hdf5_format_text(lowest);
}

inline constexpr int strategy_pages = 1;

/// The size of pages, in a file that has them.
inline void add_pages(const Hdf5Asked& asked, Map& facts) {
  const Hdf5Calls& calls = asked.calls;
  const Hdf5Handle list(calls.get_creation_list(asked.file), calls.close_list);
  int strategy = 0;
  bool persists = false;
  HdfSize threshold = 0;
  HdfSize page = 0;
  if (!list || calls.get_space_strategy(list.get(), &strategy, &persists, &threshold) < 0) return;
  if (strategy == strategy_pages && calls.get_space_page(list.get(), &page) >= 0)
    facts["hdf5.page_bytes"] = std::to_string(page);
}

/// Version, layout, fill values, alignment, metadata, buffers and the last transfer, each under a key that begins with
/// `hdf5.`. What the library does not say has no key.
[[nodiscard]] inline Map hdf5_facts(const Hdf5Asked& asked) {
  Map facts{{"hdf5.version", hdf5_version(asked.calls)},
            {"hdf5.library", asked.calls.file.substr(asked.calls.file.rfind('/') + 1)},
            {"hdf5.driver", "mpi"}};
  add_transfer(asked, facts);
  add_dataset(asked, facts);
  add_access(asked, facts);
  add_pages(asked, facts);
  (void)asked.calls.clear_errors(errors_of_this_thread);
  return facts;
}

/// Bytes [offset_bytes, offset_bytes + length_bytes) of a file.
struct DataRange {
  std::uint64_t offset_bytes = 0;
  std::uint64_t length_bytes = 0;
};

/// Returns the chunks of a dataset of bytes in one dimension, as far as they hold data of it. In more dimensions the
/// chunks at an edge hold data in pieces, which no range describes; the library also writes an offset for each
/// dimension.
inline Result<std::vector<DataRange>> chunks_of_bytes(const Hdf5Calls& calls, const std::string& path, HdfId dataset,
                                                      HdfId space, std::uint64_t data_bytes) {
  HdfSize chunks = 0;
  if (calls.count_dimensions(space) != 1)
    return fail(unsupported("inspect", path + ": chunks of a dataset with several dimensions"));
  if (calls.count_chunks == nullptr || calls.chunk_info == nullptr)
    return fail(unsupported("inspect", path + ": HDF5 before 1.10.5 does not tell where chunks are"));
  if (calls.count_chunks(dataset, space, &chunks) < 0) return fail(hdf5_error(calls, "inspect", path));
  std::vector<DataRange> ranges;
  for (HdfSize i = 0; i < chunks; ++i) {
    std::array<HdfSize, 1> first{};
    HdfSize address = 0;
    HdfSize bytes = 0;
    unsigned filters = 0;
    if (calls.chunk_info(dataset, space, i, first.data(), &filters, &address, &bytes) < 0)
      return fail(hdf5_error(calls, "inspect", path));
    ranges.push_back(
        {address, std::min<std::uint64_t>(bytes, data_bytes - std::min<std::uint64_t>(first[0], data_bytes))});
  }
  return ranges;
}

/// Returns where the data of a dataset of bytes lies in its file, which this rank opens alone. A dataset in chunks has
/// one dimension; an error where it has more.
[[nodiscard]] inline Result<std::vector<DataRange>> find_hdf5_data(const Hdf5Calls& calls, const std::string& path,
                                                                   const std::string& dataset) {
  const Hdf5Handle file(calls.open_file(path.c_str(), hdf5_read, hdf5_default), calls.close_file);
  if (!file) return fail(hdf5_error(calls, "inspect", path));
  const Hdf5Handle data(calls.open_dataset(file.get(), dataset.c_str(), hdf5_default), calls.close_dataset);
  if (!data) return fail(hdf5_error(calls, "inspect", path));
  const Hdf5Handle space(calls.space_of(data.get()), calls.close_space);
  const std::int64_t bytes = space ? calls.count_elements(space.get()) : -1;
  if (bytes < 0) return fail(hdf5_error(calls, "inspect", path));
  const HdfSize offset = calls.offset_of(data.get());
  if (offset != ~HdfSize{0}) return std::vector<DataRange>{{offset, static_cast<std::uint64_t>(bytes)}};
  (void)calls.clear_errors(hdf5_default);
  return chunks_of_bytes(calls, path, data.get(), space.get(), static_cast<std::uint64_t>(bytes));
}

}  // namespace ullage
