// SPDX-License-Identifier: Apache-2.0
// What a run folder says of itself: the marker that makes it ours, and the manifest of the datasets made in it.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "storage/image_grid.hpp"
#include "storage/step_shape.hpp"
#include "storage/tree_shape.hpp"

namespace ullage {

/// The directory of a dataset in the run folder: a named one has its own name (an IO500 run has ior-easy as the
/// official tool), one without a name is called by its case id behind "c-".
[[nodiscard]] std::string directory_of_dataset(const std::string& dataset);

/// Says what a writing phase leaves behind, listed before its first file is made.
struct DatasetEntry {
  std::string dataset;    // case id, or its own name
  std::string directory;  // directory_of_dataset(dataset)
  std::uint64_t files = 0;
  bool per_process = false;                       // data.%08d instead of data
  bool directory_per_process = false;             // %08d/data.%08d
  std::optional<TreeShape> tree = std::nullopt;   // instead of numbered files
  bool side_files = false;                        // what an MPI library makes beside its files is ours too
  std::optional<StepShape> steps = std::nullopt;  // instead of numbered files
  std::optional<ImageGrid> grid = std::nullopt;   // instead of numbered files
  /// Name of file `index` relative to the run folder.
  [[nodiscard]] std::string file_name(std::uint64_t index) const;
  /// Directory of file `index`: the dataset's own, or its sub-directory.
  [[nodiscard]] std::string directory_name(std::uint64_t index) const;
  /// One of its numbered files is called so in its directory.
  [[nodiscard]] bool has_file(std::string_view base) const;
  [[nodiscard]] bool operator==(const DatasetEntry&) const = default;
};

/// Every member of the tree by its name.
[[nodiscard]] nlohmann::json to_json(const TreeShape& tree);
[[nodiscard]] nlohmann::json to_json(const StepShape& steps);
[[nodiscard]] nlohmann::json to_json(const ImageGrid& grid);

/// One line of the manifest, with its newline.
[[nodiscard]] std::string manifest_line(const DatasetEntry& entry);
/// The datasets of a manifest, each once. Lines that are no entry (the last one of a crash is cut short) are skipped,
/// and so are those whose directory is not the dataset's own.
[[nodiscard]] std::vector<DatasetEntry> parse_manifest(std::string_view text);

/// Says what is known of a dataset, for a later launch: the last line for a name counts, null strikes it out.
[[nodiscard]] std::string facts_line(const std::string& dataset, const nlohmann::json& facts);
[[nodiscard]] std::map<std::string, nlohmann::json> parse_facts(std::string_view text);

struct Marker {
  std::string run_id;
  std::string nonce;  // differs for every folder ever made
};
[[nodiscard]] std::string marker_text(const Marker& marker);
[[nodiscard]] std::optional<Marker> parse_marker(std::string_view text);
/// 128 random bits in hexadecimal.
[[nodiscard]] std::string new_nonce();

}  // namespace ullage
