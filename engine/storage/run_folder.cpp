// SPDX-License-Identifier: Apache-2.0
#include "storage/run_folder.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <nlohmann/json.hpp>
#include <system_error>

#include "storage/directory_reader.hpp"
#include "storage/silly_rename.hpp"
#include "storage/target_directory.hpp"

namespace ullage {
namespace {

constexpr const char* marker_name = ".ullage-run";
constexpr const char* manifest_name = "manifest.ndjson";
constexpr std::size_t most_marker_bytes = 4096;
constexpr std::size_t most_manifest_bytes = std::size_t{1} << 30;

Result<Marker> read_marker(const Descriptor& folder, const std::string& path) {
  const auto foreign = [&](const std::string& why) {
    return fail(environment_error(path, "is not a folder of ullage (" + why + "); refused"));
  };
  const auto file = open_beneath(folder.get(), marker_name, O_RDONLY | O_NONBLOCK);
  if (!file) return foreign(file.error() == ENOENT ? "it has no marker" : "its marker " + reason_of(file.error()));
  struct stat status{};
  if (fstat(file->get(), &status) != 0 || !S_ISREG(status.st_mode)) return foreign("its marker is not a regular file");
  const auto text = read_text(file->get(), most_marker_bytes);
  if (!text) return foreign("its marker cannot be read: " + std::generic_category().message(text.error()));
  auto marker = parse_marker(*text);
  if (!marker) return foreign("its marker cannot be parsed");
  return std::move(*marker);
}

/// Opens a folder of that name and makes sure it is ours.
Result<std::pair<Descriptor, Marker>> open_marked(const TargetDirectory& target, const std::string& name) {
  const std::string path = joined(target.path, name);
  auto folder = open_beneath(target.descriptor.get(), name, O_RDONLY | O_DIRECTORY);
  if (!folder) return fail(environment_error(path, reason_of(folder.error())));
  if (auto status = check_private(*folder, path); !status) return fail(status.error());
  auto marker = read_marker(*folder, path);
  if (!marker) return fail(marker.error());
  if (folder_name(marker->run_id) != name)
    return fail(environment_error(path, "holds the marker of run '" + marker->run_id + "'; refused"));
  return std::pair(std::move(*folder), std::move(*marker));
}

/// Marker, then an empty manifest, on stable storage.
OrErrno<void> furnish(const Descriptor& folder, const Marker& marker) {
  for (const auto& [name, text] :
       {std::pair(marker_name, marker_text(marker)), std::pair(manifest_name, std::string())}) {
    const auto file = open_beneath(folder.get(), name, O_WRONLY | O_CREAT | O_EXCL, 0600);
    if (!file) return std::unexpected(file.error());
    if (auto written = write_text(file->get(), text); !written) return written;
    if (auto synced = sync_descriptor(file->get()); !synced) return synced;
  }
  return sync_descriptor(folder.get());
}

/// The folder just made by mkdir(2), furnished; removed again when that fails.
OrErrno<Descriptor> furnish_new(const TargetDirectory& target, const std::string& name, const Marker& marker) {
  auto folder = open_beneath(target.descriptor.get(), name, O_RDONLY | O_DIRECTORY);
  OrErrno<void> done;
  if (!folder) done = std::unexpected(folder.error());
  if (done && fchmod(folder->get(), 0700) != 0) done = std::unexpected(errno);  // a umask may have taken bits away
  if (done) done = furnish(*folder, marker);
  if (done) {
    (void)sync_descriptor(target.descriptor.get());
    return folder;
  }
  if (folder) {
    (void)unlinkat(folder->get(), manifest_name, 0);
    (void)unlinkat(folder->get(), marker_name, 0);
  }
  (void)unlinkat(target.descriptor.get(), name.c_str(), AT_REMOVEDIR);
  return std::unexpected(done.error());
}

/// What OMPIO makes beside the marker while it opens it, and a kill in that moment leaves.
bool is_beside_marker(const std::string& name) { return file_beside(name) == marker_name; }

/// Returns what is in the folder besides marker and manifest, at most `most` names.
OrErrno<std::vector<std::string>> strangers(int folder, std::size_t most) {
  std::vector<std::string> names;
  const auto visited = for_each_name(folder, [&](const std::string& name) {
    if (name != marker_name && name != manifest_name && !is_beside_marker(name)) names.push_back(name);
    return names.size() < most;
  });
  if (!visited) return std::unexpected(visited.error());
  std::ranges::sort(names);
  return names;
}

Status remove_old_marker(const Descriptor& folder, const std::string& path, const std::string& name,
                         const std::string& file_name) {
  const auto file = open_beneath(folder.get(), file_name, O_RDWR | O_NONBLOCK);
  if (!file && file.error() == ENOENT) return {};
  const auto text = file ? read_text(file->get(), most_marker_bytes) : std::unexpected(file.error());
  const auto marker = text ? parse_marker(*text) : std::nullopt;
  if (!marker || folder_name(marker->run_id) != name)
    return fail(environment_error(path + "/" + file_name, "is not a marker of this run; refused"));
  if (flock(file->get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    return fail(environment_error(path, "a run is still at work in it; refused"));
  (void)unlinkat(folder.get(), file_name.c_str(), 0);
  return {};
}

/// Markers of the run `name` that a client has kept under its own names, as one that was killed leaves them; anything
/// else under such a name, or one that a run still has open, is an error.
Status remove_old_markers(const Descriptor& folder, const std::string& path, const std::string& name) {
  const auto silly = strangers(folder.get(), Leftovers::most_left);
  if (!silly) return fail(environment_error(path, reason_of(silly.error())));
  if (silly->empty() && !is_named_by_front(name)) return fail(environment_error(path, "has no marker; refused"));
  for (const auto& file_name : *silly)
    if (auto status = remove_old_marker(folder, path, name, file_name); !status) return status;
  return {};
}

/// A launch that was killed between making its marker and writing it leaves one without a byte, and nothing after it.
void remove_empty_marker(const Descriptor& folder, const std::string& name) {
  if (!is_named_by_front(name)) return;
  const auto file = open_beneath(folder.get(), marker_name, O_RDWR | O_NONBLOCK);
  struct stat status{};
  if (!file || fstat(file->get(), &status) != 0 || !S_ISREG(status.st_mode) || status.st_size != 0) return;
  const auto others = strangers(folder.get(), 1);
  if (others && others->empty()) (void)unlinkat(folder.get(), marker_name, 0);
}

Result<RunFolder> claimed(Result<RunFolder> folder, bool is_to_work_in) {
  if (!folder) return folder;
  if (auto status = folder->claim(); !status) return fail(status.error());
  if (is_to_work_in) folder->spread();
  return folder;
}

}  // namespace

RunFolder::RunFolder(Descriptor folder, std::string path, std::string nonce)
    : folder_(std::move(folder)), path_(std::move(path)), nonce_(std::move(nonce)) {}

Result<RunFolder> RunFolder::make(const std::string& target_path, const std::string& run_id) {
  const std::string name = folder_name(run_id);
  if (!is_safe_name(name) || split_name(name).base != name) return fail(environment_error(run_id, "is not a run id"));
  const auto target = open_target(target_path);
  if (!target) return fail(target.error());
  const auto make_directory = [&] { return mkdirat(target->descriptor.get(), name.c_str(), 0700) == 0; };
  if (!make_directory()) {
    if (errno != EEXIST) return fail(environment_error(target_path, reason_of(errno)));
    auto opened = claimed(open(target_path, run_id), true);
    // What a launch of this run left that was killed before it wrote the marker, or after it removed it, is made anew.
    if (opened || !remove_unmarked(joined(target->path, name)).value_or(false) || !make_directory()) return opened;
  }
  const Marker marker{run_id, new_nonce()};
  auto folder = furnish_new(*target, name, marker);
  if (!folder) return fail(environment_error(target_path, reason_of(folder.error())));
  return claimed(RunFolder(std::move(*folder), joined(target->path, name), marker.nonce), true);
}

Status RunFolder::claim() {
  auto marker = open_file(marker_name, O_RDWR);  // for writing: NFS locks nothing else exclusively
  if (!marker) return fail(marker.error());
  if (flock(marker->get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    return fail(environment_error(path_, "a run is still at work in it; refused"));
  claim_ = std::move(*marker);
  return {};
}

Result<RunFolder> RunFolder::open(const std::string& target_path, const std::string& run_id) {
  const std::string name = folder_name(run_id);
  if (!is_safe_name(name) || split_name(name).base != name) return fail(environment_error(run_id, "is not a run id"));
  const auto target = open_target(target_path);
  if (!target) return fail(target.error());
  auto opened = open_marked(*target, name);
  if (!opened) return fail(opened.error());
  return RunFolder(std::move(opened->first), joined(target->path, name), std::move(opened->second.nonce));
}

Result<RunFolder> RunFolder::open_existing(const std::string& folder_path) {
  const auto named = split_folder(folder_path);
  if (!named) return fail(named.error());
  return claimed(open(named->parent, named->base.substr(folder_name("").size())), false);
}

Error RunFolder::error(int errno_value, const std::string& operation, const std::string& name) const {
  Error error = errno_error(errno_value, operation, path_ + "/" + name);
  if (errno_value == ELOOP) error.text = "a symbolic link is in the way, which is refused";
  if (errno_value == EXDEV) error.text = "another file system is mounted in the way, which is refused";
  return error;
}

Result<Descriptor> RunFolder::open_file(const std::string& name, int flags, unsigned mode) const {
  auto file = open_beneath(folder_.get(), name, flags, mode);
  if (!file) return fail(error(file.error(), "open", name));
  return std::move(*file);
}

Result<Descriptor> RunFolder::open_marker(int flags) const { return open_file(marker_name, O_RDONLY | flags); }

std::string RunFolder::marker_path() const { return path_ + "/" + marker_name; }

/// Until it is moved the directory has the run folder's own name, which is nobody else's. One of that name is what a
/// launch of this run left that was killed in between.
Status RunFolder::make_in_prepared(const std::string& dataset) const {
  const auto [target_path, own_name] = split_name(path_);
  const std::string path = joined(target_path.empty() ? "/" : target_path, dataset);
  const Descriptor target(::open(target_path.empty() ? "/" : target_path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!target) return fail(errno_error(errno, "open", target_path));
  const auto prepared = open_beneath(target.get(), dataset, O_RDONLY | O_DIRECTORY);
  if (!prepared) return fail(environment_error(path, reason_of(prepared.error())));
  if (mkdirat(prepared->get(), own_name.c_str(), 0700) != 0 && errno != EEXIST)
    return fail(environment_error(path, reason_of(errno)));
  if (renameat(prepared->get(), own_name.c_str(), folder_.get(), dataset.c_str()) == 0) return {};
  const int cause = errno;
  (void)unlinkat(prepared->get(), own_name.c_str(), AT_REMOVEDIR);
  const std::string why = cause == EXDEV ? "it belongs to another file system or project" : reason_of(cause);
  return fail(environment_error(path, "a directory made in it cannot be moved to " + path_ + ": " + why));
}

Status RunFolder::make_directory(const std::string& name) const {
  if (!is_safe_name(name)) return fail(error(EINVAL, "mkdir", name));
  const auto [parent_name, base] = split_name(name);
  Descriptor parent;
  if (!parent_name.empty()) {
    auto opened = open_beneath(folder_.get(), parent_name, O_PATH | O_DIRECTORY);
    if (!opened) return fail(error(opened.error(), "mkdir", name));
    parent = std::move(*opened);
  }
  struct stat status{};
  const bool is_prepared = std::ranges::find(prepared_, name) != prepared_.end();
  if (is_prepared && fstatat(folder_.get(), base.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0 && errno == ENOENT)
    return make_in_prepared(name);
  if (mkdirat(parent ? parent.get() : folder_.get(), base.c_str(), 0700) == 0) {
    if (groups_ && !parent) groups_->settle(base);
    return {};
  }
  if (errno != EEXIST) return fail(error(errno, "mkdir", name));
  const auto existing = open_beneath(folder_.get(), name, O_PATH | O_DIRECTORY);
  if (!existing) return fail(error(existing.error(), "mkdir", name));
  return {};
}

std::optional<NewFileCost> RunFolder::new_file_cost(const std::string& directory) const {
  return groups_ ? groups_->cost_in(directory) : std::nullopt;
}

Status RunFolder::remove_file(const std::string& name) const {
  const auto removed = remove_name(folder_.get(), name, 0);
  if (removed || removed.error() == ENOENT) return {};
  return fail(error(removed.error(), "remove", name));
}

Status RunFolder::remove_directory(const std::string& name) const {
  const auto removed = remove_name(folder_.get(), name, AT_REMOVEDIR);
  if (removed || removed.error() == ENOENT) return {};
  return fail(error(removed.error(), "rmdir", name));
}

Status RunFolder::check_place() const {
  struct stat opened{};
  struct stat named{};
  const bool same = fstat(folder_.get(), &opened) == 0 && lstat(path_.c_str(), &named) == 0 &&
                    opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
  if (same) return {};
  const std::string now = path_of(folder_, path_);
  const std::string why = opened.st_nlink == 0 ? "it was removed by somebody else"
                          : now == path_       ? "another file system is mounted on it"
                                               : "it was moved to " + now;
  return fail(environment_error(path_, "is no longer the folder that this run opened: " + why));
}

Result<std::string> RunFolder::checked_path(const std::string& name) const {
  if (auto status = check_place(); !status) return fail(status.error());
  const auto file = open_file(name, O_PATH);
  if (!file && file.error().errno_value != ENOENT) return fail(file.error());
  return path_ + "/" + name;
}

Status RunFolder::append(std::string line) const {
  // A launch that was killed between marker and manifest, in its first moment or its last, leaves none.
  const auto manifest = open_beneath(folder_.get(), manifest_name, O_RDWR | O_APPEND | O_CREAT, 0600);
  if (!manifest) return fail(error(manifest.error(), "open", manifest_name));
  struct stat status{};
  char last = '\n';
  // What a crash cut short must not swallow the line after it.
  if (fstat(manifest->get(), &status) == 0 && status.st_size > 0 &&
      pread(manifest->get(), &last, 1, status.st_size - 1) == 1 && last != '\n')
    line.insert(0, "\n");
  if (auto written = write_text(manifest->get(), line); !written)
    return fail(error(written.error(), "write", manifest_name));
  if (auto synced = sync_descriptor(manifest->get()); !synced)
    return fail(error(synced.error(), "sync", manifest_name));
  return {};
}

Status RunFolder::list_dataset(const DatasetEntry& entry) const { return append(manifest_line(entry)); }

Status RunFolder::enter_facts(const std::string& dataset, const nlohmann::json& facts) const {
  return append(facts_line(dataset, facts));
}

std::map<std::string, nlohmann::json> RunFolder::facts() const {
  const auto text = manifest();
  return text ? parse_facts(*text) : std::map<std::string, nlohmann::json>{};
}

Result<std::string> RunFolder::manifest() const {
  const auto file = open_beneath(folder_.get(), manifest_name, O_RDONLY);
  if (!file && file.error() == ENOENT) return std::string();  // an earlier removal was cut short
  if (!file) return fail(error(file.error(), "open", manifest_name));
  auto text = read_text(file->get(), most_manifest_bytes);
  if (!text) return fail(error(text.error(), "read", manifest_name));
  return std::move(*text);
}

Result<std::vector<DatasetEntry>> RunFolder::listed() const {
  const auto text = manifest();
  if (!text) return fail(text.error());
  return parse_manifest(*text);
}

void RunFolder::remove_dataset(const DatasetEntry& entry, Part part, Leftovers& leftovers) const {
  leftovers.steps = steps_.get();
  ullage::remove_dataset(folder_.get(), path_, entry, part, leftovers);
}

void RunFolder::remove_files_of_part(int part, int parts) const {
  const auto entries = listed();
  Leftovers unsaid;  // what is left is found, and said, by the whole removal that follows
  if (entries)
    for (const auto& entry : *entries) remove_dataset(entry, {part, parts, true}, unsaid);
}

Result<Leftovers> RunFolder::remove_listed() {
  const auto entries = listed();
  if (!entries) return fail(entries.error());
  Leftovers leftovers;
  for (const auto& entry : *entries) remove_dataset(entry, {}, leftovers);
  BlockGroups::remove_spares(folder_.get());
  const auto unlisted = strangers(folder_.get(), Leftovers::most_left);
  if (!unlisted) return fail(error(unlisted.error(), "list", ""));
  for (const auto& name : *unlisted) {
    const bool listed_one = std::ranges::find(*entries, name, &DatasetEntry::directory) != entries->end();
    if (!listed_one) leftovers.note(path_ + "/" + name, "it is in no manifest, so it was not removed");
  }
  // Marker and manifest go only from where the folder can go too: `clean` knows it when it is back at its path.
  if (const auto in_place = check_place(); !in_place) leftovers.note(path_, in_place.error().text);
  if (unlisted->empty() && leftovers.left.empty())
    if (auto removed = remove_itself(); !removed) return fail(removed.error());
  return leftovers;
}

/// Marker and manifest stay for as long as anything else does, so that a later `clean` still knows the folder. The
/// claim is held until the marker is gone, so that nobody takes the folder over in between; and it is given up before
/// the folder is removed, since NFS and FUSE keep in it what is still open. Ended between the two, an empty folder
/// without a marker is left, which remove_unmarked() knows.
Status RunFolder::remove_itself() {
  (void)for_each_name(folder_.get(), [&](const std::string& name) {
    if (is_beside_marker(name)) (void)unlinkat(folder_.get(), name.c_str(), 0);
    return true;
  });
  for (const char* name : {manifest_name, marker_name})
    if (auto status = remove_file(name); !status) return status;
  claim_ = Descriptor();
  const auto [parent_path, name] = split_name(path_);
  const Descriptor parent(::open(parent_path.empty() ? "/" : parent_path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!parent) return fail(errno_error(errno, "rmdir", path_));
  if (const auto removed = remove_empty_directory(parent.get(), name); !removed)
    return fail(errno_error(removed.error(), "rmdir", path_));
  return {};
}

Result<bool> RunFolder::remove_unmarked(const std::string& folder_path) {
  const auto named = split_folder(folder_path);
  if (!named) return fail(named.error());
  const auto target = open_target(named->parent);
  if (!target) return fail(target.error());
  const std::string path = joined(target->path, named->base);
  const auto folder = open_beneath(target->descriptor.get(), named->base, O_RDONLY | O_DIRECTORY);
  if (!folder) return fail(environment_error(path, reason_of(folder.error())));
  if (auto status = check_private(*folder, path); !status) return fail(status.error());
  remove_empty_marker(*folder, named->base);
  if (!holds_silly_names_only(folder->get())) return false;
  if (auto status = remove_old_markers(*folder, path, named->base); !status) return fail(status.error());
  if (const auto removed = remove_empty_directory(target->descriptor.get(), named->base); !removed)
    return fail(errno_error(removed.error(), "rmdir", path));
  return true;
}

}  // namespace ullage
