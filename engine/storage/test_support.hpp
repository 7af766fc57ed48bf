// SPDX-License-Identifier: Apache-2.0
// What the tests of storage/ share. Included by tests only.
#pragma once

#include <gtest/gtest.h>
#include <sys/mount.h>

#include <fstream>
#include <sstream>

#include "base/aligned_buffer.hpp"
#include "storage/backend.hpp"
#include "storage/step_shape.hpp"

namespace ullage::test {

/// A folder of its own, gone at the end with all that is in it.
class TempFolder final : Pinned {
 public:
  explicit TempFolder(const std::string& base = std::filesystem::temp_directory_path())
      : path_(base + "/ullage-test-XXXXXX") {
    if (mkdtemp(path_.data()) == nullptr)
      throw std::filesystem::filesystem_error("mkdtemp", path_, std::error_code(errno, std::generic_category()));
  }
  ~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// A small tmpfs; `mounted()` is false where mounting is not permitted.
class SmallFileSystem final : Pinned {
 public:
  explicit SmallFileSystem(const std::string& options)
      : mounted_(mount("tmpfs", folder_.path().c_str(), "tmpfs", 0, options.c_str()) == 0) {}
  ~SmallFileSystem() {
    if (mounted_) umount2(folder_.path().c_str(), MNT_DETACH);
  }
  [[nodiscard]] bool mounted() const { return mounted_; }
  [[nodiscard]] bool make_read_only() const {
    return mount("tmpfs", folder_.path().c_str(), "tmpfs", MS_REMOUNT | MS_RDONLY, nullptr) == 0;
  }
  [[nodiscard]] const std::string& path() const { return folder_.path(); }

 private:
  TempFolder folder_;
  bool mounted_;
};

/// Another folder mounted on a directory or file, of the same file system: what a device's number does not show.
class BindMount final : Pinned {
 public:
  BindMount(const std::string& source, std::string target)
      : target_(std::move(target)), mounted_(mount(source.c_str(), target_.c_str(), nullptr, MS_BIND, nullptr) == 0) {}
  ~BindMount() { release(); }
  [[nodiscard]] bool mounted() const { return mounted_; }
  void release() {
    if (std::exchange(mounted_, false)) umount2(target_.c_str(), MNT_DETACH);
  }

 private:
  std::string target_;
  bool mounted_;
};

inline void write_file(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

inline std::string read_file(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

/// Where a state of a rank lies, from the dataset's directory.
inline std::string path_of(const StepShape& shape, std::uint64_t rank, std::uint64_t step) {
  std::string path;
  shape.append_file_path(path, rank, step);
  return path;
}

inline std::vector<std::string> names_in(const std::string& path) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(path)) names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

template <class T>
std::string line_of(const std::expected<T, Error>& result) {
  return result ? "no error" : to_line(result.error());
}

/// A target in which run `r1` makes its folder.
class OnTarget : public testing::Test {
 protected:
  [[nodiscard]] RunFolder made() const {
    auto folder = RunFolder::make(target_.path(), "r1");
    EXPECT_TRUE(folder) << line_of(folder);
    return std::move(*folder);
  }
  [[nodiscard]] std::string own() const { return target_.path() + "/ullage-r1"; }
  TempFolder target_;
};

/// A started meter that never says stop.
class RunningMeter final {
 public:
  RunningMeter() { meter_.start(now_ns()); }
  [[nodiscard]] Meter& operator*() { return meter_; }
  [[nodiscard]] Meter* operator->() { return &meter_; }

 private:
  Meter meter_;
};

/// A world, a target with a run folder that all ranks see, and backends made the way a plan makes them.
class Bench final : Pinned {
 public:
  /// Collective.
  explicit Bench(const std::string& base = std::filesystem::temp_directory_path()) { move_to(base); }
  /// On a folder that is there already, on one rank.
  Bench(const std::string& target, std::nullptr_t) { adopt(target); }
  ~Bench() { world_.all().barrier(); }
  /// Collective: the same on a new target in the folder `base`.
  void move_to(const std::string& base) {
    folder_.reset();
    world_.all().barrier();
    if (world_.root()) target_ = std::make_unique<TempFolder>(base);
    adopt(target_ ? target_->path() : "");
  }

  [[nodiscard]] Result<std::unique_ptr<Backend>> try_make(const std::string& name, const Values& given = {}) {
    const auto* entry = Registry<BackendEntry>::instance().find(name);
    const auto values = complete(entry->description.parameters, given, "");
    if (!values) return fail(values.error());
    return entry->make(*values, {&world_, folder_ ? &*folder_ : nullptr, 1});
  }
  [[nodiscard]] std::unique_ptr<Backend> make(const std::string& name, const Values& given = {}) {
    auto backend = try_make(name, given);
    EXPECT_TRUE(backend) << line_of(backend);
    return backend ? std::move(*backend) : nullptr;
  }
  [[nodiscard]] const RunFolder& folder() const { return *folder_; }
  [[nodiscard]] const mpi::World& world() const { return world_; }
  [[nodiscard]] std::string path(const std::string& name) const { return folder_->path() + "/" + name; }

 private:
  void adopt(const std::string& own) {
    const std::string target = world_.all().broadcast(own, 0);
    if (world_.root()) keep(RunFolder::make(target, "bench"));
    world_.all().barrier();
    if (!world_.root()) keep(RunFolder::open(target, "bench"));
  }
  void keep(Result<RunFolder> folder) {
    EXPECT_TRUE(folder) << line_of(folder);
    if (folder) folder_.emplace(std::move(*folder));
  }

  mpi::World world_;
  std::unique_ptr<TempFolder> target_;
  std::optional<RunFolder> folder_;
};

/// `count` transfers of `length_bytes`, filled with a pattern of `key` and the offset, one after the other from
/// `start_bytes`.
class Transfers final {
 public:
  Transfers(std::size_t count, std::size_t length_bytes, unsigned key, std::uint64_t start_bytes = 0)
      : key_(key), buffer_(count * length_bytes) {
    for (std::size_t i = 0; i < count; ++i)
      extents_.push_back({start_bytes + i * length_bytes, length_bytes, buffer_.bytes().data() + i * length_bytes});
    for (const Extent& extent : extents_)
      for (std::size_t b = 0; b < extent.length_bytes; ++b) extent.data[b] = expected(extent.offset_bytes + b);
  }
  [[nodiscard]] std::span<const Extent> extents() const { return extents_; }
  [[nodiscard]] std::span<std::byte> memory() { return buffer_.bytes(); }
  void poison() { std::ranges::fill(buffer_.bytes(), std::byte{0xee}); }
  [[nodiscard]] std::size_t wrong_bytes() const {
    std::size_t wrong = 0;
    for (const Extent& extent : extents_)
      for (std::size_t b = 0; b < extent.length_bytes; ++b)
        wrong += extent.data[b] != expected(extent.offset_bytes + b);
    return wrong;
  }

 private:
  [[nodiscard]] std::byte expected(std::uint64_t offset_bytes) const {
    return static_cast<std::byte>((offset_bytes * 131 + offset_bytes / 251 + key_ * 17) & 0xffU);
  }
  unsigned key_;
  AlignedBuffer buffer_;
  std::vector<Extent> extents_;
};

inline std::unique_ptr<File> opened(Backend& backend, const OpenRequest& request) {
  auto file = backend.open(request);
  EXPECT_TRUE(file) << line_of(file);
  return file ? std::move(*file) : nullptr;
}

/// Writes all, syncs, closes.
inline void write_out(Backend& backend, const std::string& name, const Transfers& transfers,
                      OpenMode mode = OpenMode::create) {
  const auto file = opened(backend, {name, mode, false, 0});
  RunningMeter meter;
  const auto written = file->transfer(Direction::write, transfers.extents(), *meter);
  EXPECT_TRUE(written) << line_of(written);
  EXPECT_EQ(meter->operations(), transfers.extents().size());
  EXPECT_TRUE(file->sync());
  EXPECT_TRUE(file->close());
}

inline std::size_t wrong_bytes_read_back(Backend& backend, const std::string& name, Transfers& transfers) {
  transfers.poison();
  const auto file = opened(backend, {name, OpenMode::read, false, 0});
  RunningMeter meter;
  const auto read = file->transfer(Direction::read, transfers.extents(), *meter);
  EXPECT_TRUE(read) << line_of(read);
  EXPECT_TRUE(file->close());
  return transfers.wrong_bytes();
}

}  // namespace ullage::test
