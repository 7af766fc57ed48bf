// SPDX-License-Identifier: Apache-2.0
// One rank's part of a walk through a tree that looks for entries, in pieces small enough to look after others in
// between. Symbolic links are entries and are never followed, as with `find -P`; so is the root.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "mpi/work_stealing.hpp"
#include "storage/directory_reader.hpp"
#include "storage/workloads/find/criteria.hpp"
#include "storage/workloads/find/items.hpp"

namespace ullage {

/// Bounds the memory and the descriptors of a walk on one rank.
struct WalkLimits {
  std::size_t room_bytes = std::size_t{256} << 10;   // of one read: some thousand names
  std::size_t waiting_bytes = std::size_t{8} << 20;  // of items; above, the walk goes into the depth
  std::size_t given_bytes = std::size_t{1} << 20;    // to another rank at once
  std::size_t held = 128;                            // descriptors of directories that have been read
};

class FindWalk final : public mpi::SharedWork {
 public:
  struct Counts {
    std::uint64_t scanned = 0;  // entries met
    std::uint64_t found = 0;    // of those, the ones that are meant
    std::uint64_t errors = 0;   // entries that could not be looked at, directories that could not be read to their end
  };
  /// Told of everything that is found, by its path beneath the root; that of the root is empty.
  using OnFound = std::function<void(const std::string&)>;

  /// `root` is an open directory; `path` is what errors call it, and its last component what a name is asked of.
  FindWalk(Descriptor root, std::string path, FindCriteria criteria, OnFound on_found = {}, WalkLimits limits = {});

  /// Begins at the root. On one of the ranks that walk together.
  void begin();
  [[nodiscard]] bool has_work() const { return !readings_.empty() || !queue_.empty(); }
  [[nodiscard]] std::size_t waiting_bytes() const { return queue_.bytes(); }
  /// Does a piece of the work that is there; what it took, in names read.
  std::size_t step();
  /// Throws away what is left to do, now and later.
  void abandon() noexcept;
  /// Does so because of `error`, which it keeps.
  void give_up(const Error& error) noexcept;

  [[nodiscard]] std::string give() noexcept override;
  void take(const std::string& given) noexcept override;
  void lose() noexcept override;

  [[nodiscard]] const Counts& counts() const { return counts_; }
  [[nodiscard]] const std::optional<Error>& first_error() const { return first_error_; }

 private:
  /// A directory that has not been read to its end.
  struct Reading {
    std::shared_ptr<WalkedDirectory> directory;
    LookList looks;
    std::size_t waited_before = 0;  // bytes in the queue
  };
  [[nodiscard]] bool reads_on() const;
  std::size_t read_on();
  std::size_t end_reading();
  void meet(const NamedEntry& entry);
  void flush(Reading& reading);
  std::size_t descend(const WalkItem& item);
  std::size_t look(const WalkItem& item);
  void look_at(const std::shared_ptr<WalkedDirectory>& directory, int descriptor, const LookList::Look& look);
  [[nodiscard]] OrErrno<int> reach(WalkedDirectory& directory, Descriptor& passing) const;
  [[nodiscard]] OrErrno<Descriptor> open(const WalkedDirectory& parent, const std::string& name) const;
  void start_reading(std::shared_ptr<WalkedDirectory> directory, Descriptor descriptor);
  void look_at_root(const WalkedDirectory& root);
  void find(const WalkedDirectory& directory, std::string_view name);
  void note(int errno_value, const char* operation, const std::string& path_beneath);

  Descriptor root_;
  std::string path_;
  FindCriteria criteria_;
  OnFound on_found_;
  WalkLimits limits_;
  unsigned status_mask_;
  std::size_t held_ = 0;  // descriptors of directories; outlives them
  DirectoryReader reader_;
  std::vector<Reading> readings_;
  WalkQueue queue_;
  bool abandoned_ = false;
  Counts counts_;
  std::optional<Error> first_error_;
};

}  // namespace ullage
