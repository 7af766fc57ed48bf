// SPDX-License-Identifier: Apache-2.0
// The one marked folder below a target in which everything happens. Every name is opened below its descriptor,
// component by component, without following symbolic links; nothing that no manifest lists is ever removed.
#pragma once

#include <atomic>
#include <map>
#include <nlohmann/json_fwd.hpp>

#include "base/descriptor.hpp"
#include "base/result.hpp"
#include "base/std.hpp"
#include "storage/block_groups.hpp"
#include "storage/dataset_removal.hpp"
#include "storage/manifest.hpp"
#include "storage/target_space.hpp"

namespace ullage {

class RunFolder final {
 public:
  /// Makes `<target>/ullage-<run_id>` with mode 0700, marker and empty manifest, or opens the one this run made (same
  /// run id and a marker). One that a killed launch left without its marker, as remove_unmarked() knows them, is made
  /// anew. Any other folder or file of that name without our marker, a symbolic link, a missing or read-only target:
  /// environment error. The folder is claimed. The target itself may be reached through symbolic links; it is
  /// resolved once.
  [[nodiscard]] static Result<RunFolder> make(const std::string& target_path, const std::string& run_id);
  /// Locks the marker for as long as this object lives, so that no two launches, and no `clean` beside a launch, work
  /// in one folder; error when somebody else has it. File systems without locks let everybody in.
  [[nodiscard]] Status claim();
  /// From now on datasets are kept away from what was removed lately (BlockGroups), where the file system needs that.
  void spread() { groups_ = BlockGroups::spread(folder_.get()); }
  /// Opens what make() made; error when the marker is not there.
  [[nodiscard]] static Result<RunFolder> open(const std::string& target_path, const std::string& run_id);
  /// Opens a marked folder by its own path, claimed (for `clean`).
  [[nodiscard]] static Result<RunFolder> open_existing(const std::string& folder_path);
  /// Removes a folder that a run's end left empty and without its marker, or with nothing but that marker under a name
  /// that NFS or FUSE gave it; or that a run's beginning left with a marker of no bytes. False: it holds something
  /// else. Errors as of open_existing().
  [[nodiscard]] static Result<bool> remove_unmarked(const std::string& folder_path);
  /// Free space and kind of file system of a path that need not be ours.
  [[nodiscard]] static Result<TargetSpace> space(const std::string& target_path) { return target_space(target_path); }

  /// Names are relative, without "." and "..", and no component may be a symbolic link. `flags` as open(2); O_NOFOLLOW
  /// | O_CLOEXEC are added.
  [[nodiscard]] Result<Descriptor> open_file(const std::string& name, int flags, unsigned mode = 0600) const;
  /// An existing directory is fine. A dataset's is kept away from what was removed lately (BlockGroups), so no other
  /// rank may use it before this one returns.
  [[nodiscard]] Status make_directory(const std::string& name) const;
  /// What a new file costs in a directory; nullopt where what was removed lately makes no difference.
  [[nodiscard]] std::optional<NewFileCost> new_file_cost(const std::string& directory) const;
  /// From now on make_directory() makes the directories of these datasets inside the folder of the same name that
  /// stands beside the run folder, and moves them here: so they have what a file system gives to new directories there
  /// (stripes, pool, quota). That folder itself stays where and as it is. It must not be a symbolic link.
  void take_layouts_of(std::vector<std::string> prepared) { prepared_ = std::move(prepared); }
  [[nodiscard]] Status remove_file(const std::string& name) const;       // missing: fine
  [[nodiscard]] Status remove_directory(const std::string& name) const;  // missing: fine
  /// Error when the folder is no longer at its path: moved, removed, or below another file system's mount.
  [[nodiscard]] Status check_place() const;
  /// For APIs that take a path only, returns the absolute path, after checking that no component is a symbolic link.
  [[nodiscard]] Result<std::string> checked_path(const std::string& name) const;

  /// Appends to the manifest and syncs it. Call from one rank of each file system, before the dataset's first file is
  /// made.
  [[nodiscard]] Status list_dataset(const DatasetEntry& entry) const;
  /// What a later launch of this run must know of a dataset, appended to the manifest likewise; null: nothing any more.
  [[nodiscard]] Status enter_facts(const std::string& dataset, const nlohmann::json& facts) const;
  [[nodiscard]] std::map<std::string, nlohmann::json> facts() const;  // by dataset; nothing when there are none
  /// Removes what is there of one dataset, listed or not yet.
  void remove_dataset(const DatasetEntry& entry, Part part, Leftovers& leftovers) const;
  /// This part of the files of everything listed, to be followed by remove_listed() of one rank.
  void remove_files_of_part(int part, int parts) const;
  /// Removes every file and directory the manifest lists, then manifest, marker and folder when nothing else is in it
  /// and it is still at its path; after that the folder is no longer claimed.
  [[nodiscard]] Result<Leftovers> remove_listed();

  [[nodiscard]] const std::string& path() const noexcept { return path_; }    // absolute, without symbolic links
  [[nodiscard]] const std::string& nonce() const noexcept { return nonce_; }  // written into the marker by make()
  /// Changes while names are removed, which may take long where there are many; for another thread, at any time.
  [[nodiscard]] const std::atomic<std::uint64_t>& removal_steps() const noexcept { return *steps_; }
  /// Descriptor of a file that is always there, to ask the file system what it can do. Read-only plus `flags`.
  [[nodiscard]] Result<Descriptor> open_marker(int flags) const;
  [[nodiscard]] std::string marker_path() const;

 private:
  RunFolder(Descriptor folder, std::string path, std::string nonce);
  [[nodiscard]] Result<std::vector<DatasetEntry>> listed() const;
  [[nodiscard]] Result<std::string> manifest() const;
  [[nodiscard]] Status append(std::string line) const;
  [[nodiscard]] Status remove_itself();
  [[nodiscard]] Status make_in_prepared(const std::string& dataset) const;
  [[nodiscard]] Error error(int errno_value, const std::string& operation, const std::string& name) const;

  Descriptor folder_;
  std::unique_ptr<BlockGroups> groups_;  // of the rank that made the folder
  Descriptor claim_;
  std::string path_;
  std::string nonce_;
  std::vector<std::string> prepared_;
  std::unique_ptr<std::atomic<std::uint64_t>> steps_ = std::make_unique<std::atomic<std::uint64_t>>(0);
};

}  // namespace ullage
