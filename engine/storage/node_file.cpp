// SPDX-License-Identifier: Apache-2.0
#include "storage/node_file.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "mpi/agreement.hpp"
#include "storage/manifest.hpp"

namespace ullage {
namespace {

std::string descriptor_path(const std::string& process, std::int64_t descriptor) {
  return "/proc/" + process + "/fd/" + std::to_string(descriptor);
}

Error not_the_file(const std::string& path, const std::string& what) {
  return environment_error(path, what +
                                     ", not the memory of the node's first rank: ranks that share memory have to see "
                                     "each other's processes; start the ranks of a node in one container");
}

/// `file` may be open without any right (O_PATH).
bool is_at_place(const Descriptor& file, const NodeFilePlace& place) {
  struct stat facts{};
  struct statfs system{};
  return fstat(file.get(), &facts) == 0 && S_ISREG(facts.st_mode) && facts.st_dev == place.device &&
         facts.st_ino == place.inode && std::cmp_equal(facts.st_size, place.bytes) &&
         fstatfs(file.get(), &system) == 0 && system.f_type == TMPFS_MAGIC;
}

bool has_name(const std::string& link, const std::string& name) {
  std::array<char, 256> target{};
  const ssize_t length = readlink(link.c_str(), target.data(), target.size());
  return length > 0 &&
         std::string_view(target.data(), static_cast<std::size_t>(length)) == "/memfd:" + name + " (deleted)";
}

bool begins_with_key(const std::string& link, const NodeFilePlace& place) {
  const Descriptor file(::open(link.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  std::array<char, std::tuple_size_v<decltype(place.key)>> found{};
  return file && pread(file.get(), found.data(), found.size(), 0) == std::ssize(found) && found == place.key;
}

}  // namespace

OrErrno<SharedMemory> SharedMemory::map(const Descriptor& file, std::uint64_t offset_bytes, std::uint64_t bytes) {
  void* const found =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), static_cast<off_t>(offset_bytes));
  if (found == MAP_FAILED) return std::unexpected(errno);
  return SharedMemory({static_cast<std::byte*>(found), static_cast<std::size_t>(bytes)});
}

SharedMemory::SharedMemory(SharedMemory&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}

SharedMemory& SharedMemory::operator=(SharedMemory&& other) noexcept {
  std::swap(bytes_, other.bytes_);
  return *this;
}

SharedMemory::~SharedMemory() {
  if (!bytes_.empty()) (void)munmap(bytes_.data(), bytes_.size());
}

Result<NewNodeFile> make_node_file(const std::string& name, std::uint64_t bytes) {
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

Result<Descriptor> open_node_file(const std::string& name, const NodeFilePlace& place) {
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

Result<Descriptor> share_node_file(const mpi::Comm& node, const std::string& name, std::uint64_t bytes) {
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
