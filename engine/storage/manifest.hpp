// SPDX-License-Identifier: Apache-2.0
// What a run folder says of itself: the marker that makes it ours, and the manifest of the datasets made in it.
#pragma once

#include <charconv>
#include <iterator>
#include <map>
#include <set>
#include <system_error>

#include "base/hex.hpp"
#include "base/json.hpp"
#include "base/std.hpp"
#include "storage/image_grid.hpp"
#include "storage/step_shape.hpp"
#include "storage/tree_shape.hpp"

namespace ullage {

inline bool is_case_id(std::string_view name) {
  constexpr std::size_t digits = 16;
  return name.size() == digits &&
         std::ranges::all_of(name, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

/// The directory of a dataset in the run folder: a named one has its own name (an IO500 run has ior-easy as the
/// official tool), one without a name is called by its case id behind "c-".
[[nodiscard]] inline std::string directory_of_dataset(const std::string& dataset) {
  return is_case_id(dataset) ? "c-" + dataset : dataset;
}

inline std::string padded(std::uint64_t index) {
  const std::string digits = std::to_string(index);
  return std::string(digits.size() < 8 ? 8 - digits.size() : 0, '0') + digits;
}

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
  [[nodiscard]] std::string file_name(std::uint64_t index) const {
    return directory_name(index) + (per_process ? "/data." + padded(index) : "/data");
  }

  /// Directory of file `index`: the dataset's own, or its sub-directory.
  [[nodiscard]] std::string directory_name(std::uint64_t index) const {
    return directory_per_process ? directory + "/" + padded(index) : directory;
  }

  /// One of its numbered files is called so in its directory.
  [[nodiscard]] bool has_file(std::string_view base) const {
    std::uint64_t index = 0;
    if (per_process) {
      const std::string_view digits = base.substr(std::min(base.size(), base.find_last_of('.') + 1));
      if (std::from_chars(digits.data(), digits.data() + digits.size(), index).ec != std::errc{}) return false;
    }
    return index < files && file_name(index) == directory_name(index) + "/" + std::string(base);
  }

  [[nodiscard]] bool operator==(const DatasetEntry&) const = default;
};

[[nodiscard]] inline nlohmann::json to_json(const ImageGrid& grid) {
  return {{"ranks", grid.ranks},         {"locations", grid.locations},
          {"depth", grid.depth},         {"layout", word_of(grid.layout)},
          {"raw_files", grid.raw_files}, {"raw_shared", grid.raw_shared},
          {"templates", grid.templates}};
}

[[nodiscard]] inline nlohmann::json to_json(const StepShape& steps) {
  return {{"ranks", steps.ranks}, {"steps", steps.steps}, {"layout", word_of(steps.layout)}, {"levels", steps.levels}};
}

/// Every member of the tree by its name.
[[nodiscard]] inline nlohmann::json to_json(const TreeShape& tree) {
  return {{"ranks", tree.ranks},
          {"items", tree.items},
          {"items_per_directory", tree.items_per_directory},
          {"depth", tree.depth},
          {"branching", tree.branching},
          {"leaf_only", tree.leaf_only},
          {"unique_directory", tree.unique_directory},
          {"directories", tree.directories}};
}

/// One line of the manifest, with its newline.
[[nodiscard]] inline std::string manifest_line(const DatasetEntry& entry) {
  if (entry.grid)
    return json_text({{"dataset", entry.dataset}, {"directory", entry.directory}, {"grid", to_json(*entry.grid)}}) +
           "\n";
  if (entry.steps)
    return json_text({{"dataset", entry.dataset}, {"directory", entry.directory}, {"steps", to_json(*entry.steps)}}) +
           "\n";
  if (entry.tree)
    return json_text({{"dataset", entry.dataset}, {"directory", entry.directory}, {"tree", to_json(*entry.tree)}}) +
           "\n";
  Json json{{"dataset", entry.dataset},
            {"directory", entry.directory},
            {"files", entry.files},
            {"file_mode", entry.per_process ? "per-process" : "shared"},
            {"directory_per_process", entry.directory_per_process}};
  if (entry.side_files) json["side_files"] = true;
  return json_text(json) + "\n";
}

inline std::string_view take_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line;
}

inline bool flag_of(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_boolean() && found->get<bool>();
}

/// Every one of them must be there.
inline bool take_numbers(const Json& json, std::span<const std::pair<const char*, std::uint64_t*>> numbers) {
  for (const auto& [key, value] : numbers) {
    const auto found = json.find(key);
    if (found == json.end() || !found->is_number_unsigned()) return false;
    *value = found->get<std::uint64_t>();
  }
  return true;
}

inline std::optional<TreeShape> parse_tree(const Json& json) {
  TreeShape tree;
  const std::array<std::pair<const char*, std::uint64_t*>, 5> numbers{
      {{"ranks", &tree.ranks},
       {"items", &tree.items},
       {"items_per_directory", &tree.items_per_directory},
       {"depth", &tree.depth},
       {"branching", &tree.branching}}};
  if (!take_numbers(json, numbers)) return std::nullopt;
  tree.leaf_only = flag_of(json, "leaf_only");
  tree.unique_directory = flag_of(json, "unique_directory");
  tree.directories = flag_of(json, "directories");
  if (tree.ranks == 0 || tree.branching == 0 || tree.directory_count() > TreeShape::most_directories)
    return std::nullopt;
  return tree;
}

inline std::string text_of(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

inline std::optional<StepShape> parse_steps(const Json& json) {
  StepShape steps;
  const std::array<std::pair<const char*, std::uint64_t*>, 3> numbers{
      {{"ranks", &steps.ranks}, {"steps", &steps.steps}, {"levels", &steps.levels}}};
  const auto layout = enumerator_of<StepLayout>(text_of(json, "layout"));
  if (!take_numbers(json, numbers) || !layout) return std::nullopt;
  steps.layout = *layout;
  if (steps.ranks == 0 || steps.steps == 0 || steps.levels == 0 || steps.levels > StepShape::most_levels)
    return std::nullopt;
  return steps;
}

inline std::optional<ImageGrid> parse_grid(const Json& json) {
  ImageGrid grid;
  const std::array<std::pair<const char*, std::uint64_t*>, 5> numbers{{{"ranks", &grid.ranks},
                                                                       {"locations", &grid.locations},
                                                                       {"depth", &grid.depth},
                                                                       {"raw_files", &grid.raw_files},
                                                                       {"templates", &grid.templates}}};
  const auto layout = enumerator_of<ImageLayout>(text_of(json, "layout"));
  if (!take_numbers(json, numbers) || !layout) return std::nullopt;
  grid.layout = *layout;
  grid.raw_shared = flag_of(json, "raw_shared");
  if (grid.ranks == 0 || grid.locations > ImageGrid::most_locations) return std::nullopt;
  return grid;
}

inline const Json* object_of(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_object() ? &*found : nullptr;
}

inline bool is_word(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '_';
  });
}

/// "c-" stands before every name in manifests of earlier releases and of the known tools that run beside us.
inline bool is_own_directory(const DatasetEntry& entry) {
  return is_word(entry.dataset) && (entry.directory == entry.dataset || entry.directory == "c-" + entry.dataset);
}

inline DatasetEntry named_entry(const Json& json) {
  return {.dataset = text_of(json, "dataset"), .directory = text_of(json, "directory")};
}

/// An entry without numbered files, whose names follow from `shape`, a member of it.
template <class Shape>
std::optional<DatasetEntry> shaped_entry(const Json& json, std::optional<Shape> DatasetEntry::* shape,
                                         std::optional<Shape> found) {
  DatasetEntry entry = named_entry(json);
  entry.*shape = std::move(found);
  return entry.*shape && is_own_directory(entry) ? std::optional(entry) : std::nullopt;
}

/// A damaged number must not keep a removal busy for ever.
inline constexpr std::uint64_t most_listed = std::uint64_t{1} << 32;

inline std::optional<DatasetEntry> numbered_entry(const Json& json) {
  const auto files = json.find("files");
  if (files == json.end() || !files->is_number_unsigned()) return std::nullopt;
  DatasetEntry entry = named_entry(json);
  entry.files = files->get<std::uint64_t>();
  entry.per_process = text_of(json, "file_mode") == "per-process";
  entry.directory_per_process = flag_of(json, "directory_per_process");
  entry.side_files = flag_of(json, "side_files");
  return entry.files <= most_listed && is_own_directory(entry) ? std::optional(entry) : std::nullopt;
}

inline std::optional<DatasetEntry> parse_entry(std::string_view line) {
  const Json json = parse_json(line);
  if (!json.is_object()) return std::nullopt;
  if (const Json* tree = object_of(json, "tree")) return shaped_entry(json, &DatasetEntry::tree, parse_tree(*tree));
  if (const Json* steps = object_of(json, "steps"))
    return shaped_entry(json, &DatasetEntry::steps, parse_steps(*steps));
  if (const Json* grid = object_of(json, "grid")) return shaped_entry(json, &DatasetEntry::grid, parse_grid(*grid));
  return numbered_entry(json);
}

/// The datasets of a manifest, each once. Lines that are no entry (the last one of a crash is cut short) are skipped,
/// and so are those whose directory is not the dataset's own.
[[nodiscard]] inline std::vector<DatasetEntry> parse_manifest(std::string_view text) {
  std::vector<DatasetEntry> entries;
  std::set<std::string, std::less<>> lines;  // every repetition lists its dataset again
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    if (lines.contains(line)) continue;
    lines.emplace(line);
    if (auto entry = parse_entry(line)) entries.push_back(std::move(*entry));
  }
  return entries;
}

/// Says what is known of a dataset, for a later launch: the last line for a name counts, null strikes it out.
[[nodiscard]] inline std::string facts_line(const std::string& dataset, const Json& facts) {
  return json_text({{"dataset", dataset}, {"facts", facts}}) + "\n";
}

[[nodiscard]] inline std::map<std::string, nlohmann::json> parse_facts(std::string_view text) {
  std::map<std::string, Json> known;
  while (!text.empty()) {
    const Json json = parse_json(take_line(text));
    if (!json.is_object()) continue;
    const auto facts = json.find("facts");
    const std::string name = text_of(json, "dataset");
    if (facts == json.end() || !is_word(name)) continue;
    known.erase(name);
    if (facts->is_object()) known.emplace(name, *facts);
  }
  return known;
}

struct Marker {
  std::string run_id;
  std::string nonce;  // differs for every folder ever made
};

[[nodiscard]] inline std::string marker_text(const Marker& marker) {
  return json_text({{"run_id", marker.run_id}, {"nonce", marker.nonce}}) + "\n";
}

[[nodiscard]] inline std::optional<Marker> parse_marker(std::string_view text) {
  const Json json = parse_json(text);
  if (!json.is_object()) return std::nullopt;
  Marker marker{text_of(json, "run_id"), text_of(json, "nonce")};
  if (marker.run_id.empty() || marker.nonce.empty()) return std::nullopt;
  return marker;
}

}  // namespace ullage
