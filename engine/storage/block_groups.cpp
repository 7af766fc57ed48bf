// SPDX-License-Identifier: Apache-2.0
#include "storage/block_groups.hpp"

#include <fcntl.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <iterator>
#include <map>
#include <system_error>
#include <thread>

#include "base/clock.hpp"
#include "storage/dataset_removal.hpp"

namespace ullage {
namespace {

constexpr const char* spare_prefix = ".ullage-spare-";
constexpr std::size_t most_used = 32;
constexpr int files_a_look = 32;  // removed inodes lie where new ones are looked for first
constexpr std::int64_t slower = 2;
constexpr std::int64_t slower_once = 8;         // of a single file, which anything may delay
constexpr std::uint64_t inodes_a_group = 8192;  // where nobody asked for others
constexpr std::uint64_t groups_together = 16;   // share their inode tables

/// Where one group is enough. A name decides which comes first, and a run before this one had the same names; so others
/// are looked at always.
constexpr std::size_t least_looks = 3;
constexpr std::size_t most_looks = 13;
/// Where a dataset fills many groups, to none of which it can be sent but the first, all are looked at.
constexpr std::size_t most_spares = 8192;
constexpr std::size_t most_seen_again = 256;  // in a row: the file system gives no others
constexpr std::int64_t most_survey_ns = 3'000'000'000;
constexpr const char* look_name = "look";

std::uint64_t group_of(ino_t inode) { return (inode - 1) / inodes_a_group; }

/// A file with a byte in it is not ours and stays, and so does the directory.
void remove_spare(int folder, const std::string& name) {
  const auto directory = open_beneath(folder, name, O_RDONLY | O_DIRECTORY);
  struct stat status{};
  if (directory && fstatat(directory->get(), look_name, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(status.st_mode) &&
      status.st_size == 0)
    (void)unlinkat(directory->get(), look_name, 0);
  (void)unlinkat(folder, name.c_str(), AT_REMOVEDIR);
}

std::string new_spare_name() { return spare_prefix + std::to_string(now_ns()); }

std::set<std::uint64_t> united(const std::deque<std::set<std::uint64_t>>& sets) {
  std::set<std::uint64_t> all;
  for (const auto& set : sets) all.insert(set.begin(), set.end());
  return all;
}

/// The kernel skips what was removed lately where no journal holds the removal back, and names journals by the device.
bool remembers_removals(int folder) {
  struct statfs kind{};
  struct stat status{};
  if (fstatfs(folder, &kind) != 0 || kind.f_type != EXT4_SUPER_MAGIC || fstat(folder, &status) != 0) return false;
  std::error_code error;
  const auto device = std::filesystem::read_symlink(
      "/sys/dev/block/" + std::to_string(major(status.st_dev)) + ":" + std::to_string(minor(status.st_dev)), error);
  if (error) return false;
  const std::string journal = device.filename().string() + "-";
  const std::filesystem::directory_iterator journals("/proc/fs/jbd2", error);
  return error || std::none_of(begin(journals), end(journals), [&](const auto& entry) {
           return entry.path().filename().string().starts_with(journal);
         });
}

}  // namespace

std::optional<UnnamedFiles> make_unnamed_files(int directory) {
  UnnamedFiles made;
  std::array<std::int64_t, files_a_look> took{};
  for (auto& each_ns : took) {
    const std::int64_t from = cpu_time_ns(CLOCK_THREAD_CPUTIME_ID);
    made.files.emplace_back(openat(directory, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600));
    each_ns = cpu_time_ns(CLOCK_THREAD_CPUTIME_ID) - from;
    if (!made.files.back()) return std::nullopt;
  }
  const auto middle = took.end() - files_a_look / 4;
  std::nth_element(took.begin() + files_a_look / 2, middle, took.end());
  made.each_ns = *middle;
  return made;
}

std::vector<std::uint64_t> groups_to_fill(ino_t directory, const Contents& contents, std::uint64_t groups) {
  constexpr std::uint64_t most_directories = 256;  // that count: more of them leave no group out
  const std::uint64_t own = group_of(directory);
  const std::uint64_t count = std::min(contents.files / inodes_a_group + 1, groups);
  std::vector<std::uint64_t> filled{own};
  const std::uint64_t inner = std::min(contents.directories, most_directories) + 3;
  for (std::uint64_t distance = 1; distance < groups && filled.size() < count; distance *= 2)
    for (std::uint64_t i = 0; i < inner; ++i)  // they have the inodes behind files_a_look, and count from these
      filled.push_back((own + directory + files_a_look + i + 2 * distance - 1) % groups);
  for (std::uint64_t i = 1; i < count; ++i) filled.push_back((own + i) % groups);
  return filled;
}

std::size_t best_place(std::span<const LookedAt> looks, const std::set<std::uint64_t>& used, const Contents& contents,
                       std::uint64_t groups) {
  std::map<std::uint64_t, bool> is_slow;
  for (const auto& look : looks) is_slow[group_of(look.inode)] |= look.is_slow;
  // What was removed within this second is not skipped yet, so a used group will get slower than it is. One without a
  // look holds directories of others, who may have removed files there, or lies between looks that are far apart.
  const auto cost_of = [&](std::uint64_t group) {
    const auto look = is_slow.find(group);
    if (used.contains(group)) return 2.;
    if (look != is_slow.end()) return look->second ? 1. : 0.;
    const auto next = is_slow.upper_bound(group);
    const bool behind = (next == is_slow.end() ? is_slow.begin() : next)->second;
    const bool before = (next == is_slow.begin() ? std::prev(is_slow.end()) : std::prev(next))->second;
    return behind || before ? 1. : .5;
  };
  std::vector<double> costs(looks.size());
  for (std::size_t i = 0; i < looks.size(); ++i) {
    double place = 1;
    for (const std::uint64_t group : groups_to_fill(looks[i].inode, contents, groups))
      costs[i] += cost_of(group) / place++;
  }
  return static_cast<std::size_t>(std::ranges::min_element(costs) - costs.begin());
}

std::unique_ptr<BlockGroups> BlockGroups::spread(int folder) {
  if (!remembers_removals(folder)) return nullptr;
  int flags = 0;
  if (ioctl(folder, FS_IOC_GETFLAGS, &flags) != 0) return nullptr;
  flags |= FS_TOPDIR_FL;
  if (ioctl(folder, FS_IOC_SETFLAGS, &flags) != 0) return nullptr;
  auto groups = std::make_unique<BlockGroups>();
  struct statfs kind{};
  if (fstatfs(folder, &kind) == 0) groups->groups_ = kind.f_files / inodes_a_group;
  return groups;
}

std::size_t BlockGroups::remove_spares(int folder) {
  std::size_t count = 0;
  (void)for_each_name(folder, [&](const std::string& name) {
    if (!name.starts_with(spare_prefix)) return true;
    remove_spare(folder, name);
    ++count;
    return true;
  });
  return count;
}

bool BlockGroups::look_at(int folder, const std::string& name, std::vector<Place>& places) {
  const auto directory = open_beneath(folder, name, O_RDONLY | O_DIRECTORY);
  struct stat status{};
  if (!directory || fstat(directory->get(), &status) != 0) return false;
  auto unnamed = make_unnamed_files(directory->get());
  if (!unnamed) return false;
  least_ns_ = std::min(least_ns_, unnamed->each_ns);
  places.push_back({name, status.st_ino, std::move(*unnamed)});
  return true;
}

bool BlockGroups::is_slow(const Place& place) const { return place.unnamed.each_ns > slower * least_ns_; }

void BlockGroups::use(Place place) {
  const auto filled = groups_to_fill(place.inode, contents_, groups_);
  std::set<std::uint64_t> groups(filled.begin(), filled.end());
  const std::uint64_t own = group_of(place.inode);
  for (std::uint64_t group = own - std::min(own, groups_together); group <= own + groups_together; ++group)
    groups.insert(group);
  used_.push_back(std::move(groups));
  while (used_.size() > most_used || (used_.size() > 1 && united(used_).size() > groups_ / 2)) used_.pop_front();
  held_ = std::move(place.unnamed);
}

void BlockGroups::settle(int folder, const std::string& name) {
  if (contents_.files >= inodes_a_group) take_best_spare(folder, name);
  std::vector<Place> places;
  if (!look_at(folder, name, places)) return;
  if (contents_.files < inodes_a_group) look_at_others(folder, places);
  std::size_t best = 0;
  if (places.size() > 1) {
    std::vector<LookedAt> looks;
    for (const auto& place : places) looks.push_back({place.inode, is_slow(place)});
    best = best_place(looks, united(used_), contents_, groups_);
    if (best != 0 && renameat(folder, places[best].name.c_str(), folder, name.c_str()) != 0) best = 0;
  }
  for (std::size_t i = 1; i < places.size(); ++i)
    if (i != best) (void)unlinkat(folder, places[i].name.c_str(), AT_REMOVEDIR);
  use(std::move(places[best]));
}

/// All are there at once, since the file system gives each a group of its own then.
void BlockGroups::look_at_others(int folder, std::vector<Place>& places) {
  const auto used = united(used_);
  const auto is_good = [&](const Place& place) { return !is_slow(place) && !used.contains(group_of(place.inode)); };
  while (places.size() < most_looks && (places.size() < least_looks || std::ranges::none_of(places, is_good))) {
    const std::string spare = new_spare_name();
    if (mkdirat(folder, spare.c_str(), 0700) != 0) return;
    if (look_at(folder, spare, places)) continue;
    (void)unlinkat(folder, spare.c_str(), AT_REMOVEDIR);
    return;
  }
}

/// Leaves the spares where they are: what is removed before the datasets could be given out again when these are
/// looked past, and would hide them from the next run's looks.
void BlockGroups::survey(int folder) {
  // What a launch before left is removed, and then given out again at once within the same second.
  if (remove_spares(folder) > 0) std::this_thread::sleep_for(std::chrono::seconds(2));
  std::set<std::uint64_t> seen;
  std::size_t again = 0;
  const std::int64_t until = now_ns() + most_survey_ns;
  while (spares_.size() < most_spares && again < most_seen_again && now_ns() < until) {
    Spare spare{new_spare_name()};
    if (mkdirat(folder, spare.name.c_str(), 0700) != 0) return;
    const auto directory = open_beneath(folder, spare.name, O_RDONLY | O_DIRECTORY);
    struct stat status{};
    if (!directory || fstat(directory->get(), &status) != 0) return;
    spare.inode = status.st_ino;
    const std::int64_t from = cpu_time_ns(CLOCK_THREAD_CPUTIME_ID);
    const Descriptor file(openat(directory->get(), look_name, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600));
    spare.each_ns = cpu_time_ns(CLOCK_THREAD_CPUTIME_ID) - from;
    if (!file) return;
    again = seen.insert(group_of(spare.inode)).second ? 0 : again + 1;
    spares_.push_back(std::move(spare));
  }
}

void BlockGroups::take_best_spare(int folder, const std::string& name) {
  if (spares_.empty()) survey(folder);
  if (spares_.empty()) return;
  std::vector<std::int64_t> each_ns;
  std::ranges::transform(spares_, std::back_inserter(each_ns), &Spare::each_ns);
  const auto usual = each_ns.begin() + std::ssize(each_ns) / 4;
  std::ranges::nth_element(each_ns, usual);
  std::vector<LookedAt> looks;
  for (const auto& spare : spares_) looks.push_back({spare.inode, spare.each_ns > slower_once * *usual});
  const std::size_t best = best_place(looks, united(used_), contents_, groups_);
  const std::string chosen = spares_[best].name;
  (void)unlinkat(folder, (chosen + "/" + look_name).c_str(), 0);
  if (renameat(folder, chosen.c_str(), folder, name.c_str()) != 0) return;
  spares_.erase(spares_.begin() + static_cast<std::ptrdiff_t>(best));
}

std::optional<NewFileCost> BlockGroups::cost_in(int directory) {
  const auto unnamed = make_unnamed_files(directory);
  if (!unnamed || least_ns_ == INT64_MAX) return std::nullopt;
  least_ns_ = std::min(least_ns_, unnamed->each_ns);
  return NewFileCost{std::max(unnamed->each_ns, held_.each_ns), least_ns_};
}

}  // namespace ullage
