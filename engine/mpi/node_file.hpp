// SPDX-License-Identifier: Apache-2.0
// An anonymous file (memfd) of a node's first rank that the node's other ranks have open as well, and mappings of it.
// It has no name outside of the processes, so nothing is left of it, however they end.
#pragma once

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>

#include "base/descriptor.hpp"
#include "base/hex.hpp"
#include "base/result.hpp"
#include "base/std.hpp"
#include "mpi/agreement.hpp"
#include "mpi/comm.hpp"

namespace ullage {

/// A shared mapping of part of such a file. Unmaps itself.
class SharedMemory final {
 public:
  SharedMemory() = default;

  /// Or an errno.
  [[nodiscard]] static OrErrno<SharedMemory> map(const Descriptor& file, std::uint64_t offset_bytes,
                                                 std::uint64_t bytes) {
    void* const found =
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), static_cast<off_t>(offset_bytes));
    if (found == MAP_FAILED) return std::unexpected(errno);
    return SharedMemory({static_cast<std::byte*>(found), static_cast<std::size_t>(bytes)});
  }

  SharedMemory(SharedMemory&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}

  SharedMemory& operator=(SharedMemory&& other) noexcept {
    std::swap(bytes_, other.bytes_);
    return *this;
  }

  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  ~SharedMemory() {
    if (!bytes_.empty()) (void)munmap(bytes_.data(), bytes_.size());
  }

  [[nodiscard]] std::span<std::byte> bytes() const noexcept { return bytes_; }

 private:
  explicit SharedMemory(std::span<std::byte> bytes) : bytes_(bytes) {}
  std::span<std::byte> bytes_;
};

/// Says in which process the file is open, and by what it is known. In a container of its own a rank may find any
/// other file under that process and number.
struct NodeFilePlace {
  std::int64_t process = -1;
  std::int64_t descriptor = -1;
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint64_t bytes = 0;
  std::array<char, 32> key{};  // random; the file begins with it
};

struct NewNodeFile {
  Descriptor file;
  NodeFilePlace place;
};

/// A new file of `bytes` >= 32, all zeros but for the key. `name` is what /proc shows of it.
[[nodiscard]] inline Result<NewNodeFile> make_node_file(const std::string& name, std::uint64_t bytes) {
  NewNodeFile made{Descriptor(memfd_create(name.c_str(), MFD_CLOEXEC)), {}};
  NodeFilePlace& place = made.place;
  const std::string key = new_nonce();
  std::copy_n(key.begin(), std::min(key.size(), place.key.size()), place.key.begin());
  struct stat facts{};
  if (!made.file || ftruncate(made.file.get(), static_cast<off_t>(bytes)) != 0 ||
      pwrite(made.file.get(), place.key.data(), place.key.size(), 0) != std::ssize(place.key) ||
      fstat(made.file.get(), &facts) != 0)
    return fail(errno_error(errno, "make", "memory of the node"));
  place.process = getpid();
  place.descriptor = made.file.get();
  place.device = facts.st_dev;
  place.inode = facts.st_ino;
  place.bytes = bytes;
  return made;
}

inline std::string descriptor_path(const std::string& process, std::int64_t descriptor) {
  return "/proc/" + process + "/fd/" + std::to_string(descriptor);
}

inline Error not_the_file(const std::string& path, const std::string& what) {
  return environment_error(path, what +
                                     ", not the memory of the node's first rank: ranks that share memory have to see "
                                     "each other's processes; start the ranks of a node in one container");
}

/// `file` may be open without any right (O_PATH).
inline bool is_at_place(const Descriptor& file, const NodeFilePlace& place) {
  struct stat facts{};
  struct statfs system{};
  return fstat(file.get(), &facts) == 0 && S_ISREG(facts.st_mode) && facts.st_dev == place.device &&
         facts.st_ino == place.inode && std::cmp_equal(facts.st_size, place.bytes) &&
         fstatfs(file.get(), &system) == 0 && system.f_type == TMPFS_MAGIC;
}

inline bool has_name(const std::string& link, const std::string& name) {
  std::array<char, 256> target{};
  const ssize_t length = readlink(link.c_str(), target.data(), target.size());
  return length > 0 &&
         std::string_view(target.data(), static_cast<std::size_t>(length)) == "/memfd:" + name + " (deleted)";
}

inline bool begins_with_key(const std::string& link, const NodeFilePlace& place) {
  const Descriptor file(::open(link.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  std::array<char, std::tuple_size_v<decltype(place.key)>> found{};
  return file && pread(file.get(), found.data(), found.size(), 0) == std::ssize(found) && found == place.key;
}

/// Opens for reading and writing what stands at `place`, once it has proved to be that file. Nothing else is opened for
/// writing, changed or waited for, be it a file, a FIFO or a device.
[[nodiscard]] inline Result<Descriptor> open_node_file(const std::string& name, const NodeFilePlace& place) {
  const std::string path = descriptor_path(std::to_string(place.process), place.descriptor);
  const Descriptor found(::open(path.c_str(), O_PATH | O_CLOEXEC));
  if (!found) return fail(not_the_file(path, errno == ENOENT ? "nothing is here" : "this cannot be opened"));
  // From here on everything concerns what was found, whatever becomes of that path.
  const std::string link = descriptor_path("self", found.get());
  if (!is_at_place(found, place) || !has_name(link, name) || !begins_with_key(link, place))
    return fail(not_the_file(path, "another file is here"));
  Descriptor file(::open(link.c_str(), O_RDWR | O_CLOEXEC));
  if (!file || !is_at_place(file, place)) return fail(errno_error(errno, "open", path));
  return file;
}

/// Collective over `node`: all of its ranks have a new file of zeros open, or all get an error.
[[nodiscard]] inline Result<Descriptor> share_node_file(const mpi::Comm& node, const std::string& name,
                                                        std::uint64_t bytes) {
  const bool makes = node.rank() == 0;
  NewNodeFile shared;
  Status status;
  if (makes) {
    auto made = make_node_file(name, bytes);
    status = made ? Status() : fail(made.error());
    if (made) shared = std::move(*made);
  }
  node.broadcast(std::as_writable_bytes(std::span(&shared.place, 1)), 0);
  if (!makes && shared.place.descriptor >= 0) {
    auto opened = open_node_file(name, shared.place);
    status = opened ? Status() : fail(opened.error());
    if (opened) shared.file = std::move(*opened);
  }
  status = mpi::share_status(node, std::move(status));
  if (!status) return fail(status.error());
  // Nobody looks for the key any more.
  constexpr decltype(shared.place.key) zeros{};
  if (makes && pwrite(shared.file.get(), zeros.data(), zeros.size(), 0) != std::ssize(zeros))
    status = fail(errno_error(errno, "make", "memory of the node"));
  status = mpi::share_status(node, std::move(status));
  if (!status) return fail(status.error());
  return std::move(shared.file);
}

}  // namespace ullage
