// SPDX-License-Identifier: Apache-2.0
#include "storage/backends/hdf5_facts.hpp"

#include <array>
#include <cstddef>
#include <span>

#include "storage/backends/hdf5_types.hpp"

namespace ullage {
namespace {

std::string known_word(int number, std::span<const char* const> words) {
  const bool known = number >= 0 && number < static_cast<int>(words.size());
  return known ? words[static_cast<std::size_t>(number)] : std::to_string(number);
}

}  // namespace

std::string hdf5_mode_text(int mode) {
  constexpr std::array words{"none", "chunk independent", "chunk collective", "chunk mixed", "contiguous collective"};
  return known_word(mode, words);
}

std::string hdf5_cause_text(std::uint32_t causes) {
  constexpr std::array words{"independent requested",      "datatype conversion", "data transform",
                             "MPI types are switched off", "dataspace",           "layout"};
  std::string text;
  for (std::size_t bit = 0; bit < words.size(); ++bit)
    if ((causes >> bit & 1U) != 0) text += (text.empty() ? "" : ", ") + std::string(words[bit]);
  return text.empty() ? std::to_string(causes) : text;
}

std::string hdf5_layout_text(int layout) {
  constexpr std::array words{"compact", "contiguous", "chunked", "virtual"};
  return known_word(layout, words);
}

std::string hdf5_fill_text(int when) {
  constexpr std::array words{"when allocated", "never", "if set"};
  return known_word(when, words);
}

std::string hdf5_allocation_text(int when) {
  constexpr std::array words{"default", "early", "late", "incremental"};
  return known_word(when, words);
}

std::string hdf5_format_text(int lowest) {
  constexpr std::array words{"earliest", "1.8", "1.10", "1.12", "1.14"};
  return known_word(lowest, words);
}

namespace {

constexpr int layout_chunked = 2;
constexpr int strategy_pages = 1;
constexpr int most_dimensions = 32;  // H5S_MAX_RANK
constexpr HdfId errors_of_this_thread = 0;

/// The library says this of transfers that were asked to be independent (H5D_MPIO_SET_INDEPENDENT).
constexpr std::uint32_t independent_asked = 1;

void add_transfer(const Hdf5Asked& asked, Map& facts) {
  int mode = 0;
  if (asked.calls.get_io_mode(asked.transfer, &mode) < 0) return;
  facts["hdf5.io_mode"] = mode == 0 ? "independent" : hdf5_mode_text(mode);
  std::uint32_t local = 0;
  std::uint32_t global = 0;
  if (mode != 0 || asked.calls.get_no_collective_cause(asked.transfer, &local, &global) < 0) return;
  if (global != 0 && global != independent_asked) facts["hdf5.not_collective_because"] = hdf5_cause_text(global);
}

/// "8x4" where chunks have two dimensions.
std::string chunk_text(const Hdf5Calls& calls, HdfId list) {
  std::array<HdfSize, most_dimensions> dimensions{};
  const int count = calls.get_chunk(list, most_dimensions, dimensions.data());
  std::string text;
  for (int i = 0; i < count; ++i) text += (i == 0 ? "" : "x") + std::to_string(dimensions[static_cast<std::size_t>(i)]);
  return text;
}

void add_dataset(const Hdf5Asked& asked, Map& facts) {
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

void add_metadata(const Hdf5Calls& calls, HdfId list, Map& facts) {
  bool reads = false;
  bool writes = false;
  if (calls.get_collective_metadata_reads(list, &reads) < 0 || calls.get_collective_metadata_writes(list, &writes) < 0)
    return;
  facts["hdf5.collective_metadata"] = reads ? (writes ? "reads and writes" : "reads") : writes ? "writes" : "no";
}

void add_access(const Hdf5Asked& asked, Map& facts) {
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

/// The size of pages, in a file that has them.
void add_pages(const Hdf5Asked& asked, Map& facts) {
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

}  // namespace

Map hdf5_facts(const Hdf5Asked& asked) {
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

}  // namespace ullage
