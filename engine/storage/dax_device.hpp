// SPDX-License-Identifier: Apache-2.0
// Persistent memory as a device without files (devdax). What is stored there is stored over whatever was there before,
// so only a device that is empty is used, and it is left empty.
#pragma once

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>

#include "base/descriptor.hpp"
#include "base/result.hpp"
#include "base/std.hpp"
#include "mpi/agreement.hpp"
#include "mpi/comm.hpp"
#include "storage/file_mapping.hpp"

namespace ullage {

inline std::string folder_of_device(const struct stat& status) {
  return "/sys/dev/char/" + std::to_string(major(status.st_rdev)) + ":" + std::to_string(minor(status.st_rdev));
}

/// Returns whether it is such a device, as the kernel says of its number.
[[nodiscard]] inline bool is_dax_device(const struct stat& status) {
  if (!S_ISCHR(status.st_mode)) return false;
  std::error_code unknown;
  return std::filesystem::read_symlink(folder_of_device(status) + "/subsystem", unknown).filename() == "dax";
}

/// Returns where the first byte is that is not zero.
[[nodiscard]] inline std::optional<std::uint64_t> first_not_zero(std::span<const std::byte> bytes) {
  static constexpr std::array<std::byte, 65536> zeros{};
  for (std::size_t at = 0; at < bytes.size(); at += zeros.size()) {
    const auto piece = bytes.subspan(at, std::min(zeros.size(), bytes.size() - at));
    if (std::memcmp(piece.data(), zeros.data(), piece.size()) == 0) continue;
    const auto found = std::ranges::find_if(piece, [](std::byte byte) { return byte != std::byte{0}; });
    return at + static_cast<std::uint64_t>(found - piece.begin());
  }
  return std::nullopt;
}

/// The part `index` of `parts` of a device, in whole units of `unit_bytes`.
struct DevicePart {
  std::uint64_t offset_bytes = 0;
  std::uint64_t bytes = 0;
};

[[nodiscard]] inline DevicePart part_of_device(std::uint64_t device_bytes, std::uint64_t unit_bytes, int index,
                                               int parts) {
  const std::uint64_t units = device_bytes / unit_bytes;
  const auto number = static_cast<std::uint64_t>(index), all = static_cast<std::uint64_t>(parts);
  const std::uint64_t first = units * number / all;
  return {first * unit_bytes, (units * (number + 1) / all - first) * unit_bytes};
}

inline std::uint64_t dax_fact(const struct stat& status, const char* name) {
  std::uint64_t value = 0;
  std::ifstream(folder_of_device(status) + "/" + name) >> value;
  return value;
}

inline void unmap_device(std::byte* data, std::uint64_t size_bytes) { (void)munmap(data, size_bytes); }

inline Error not_used(const std::string& path, const std::string& why) { return environment_error(path, why); }

/// This rank's part of a device that the ranks of a node divide. Locked (flock) until the process ends, so that no
/// other run uses it.
class DaxDevice final {
 public:
  /// Collective over `node`. An error on all ranks unless `path` is such a device (and no symbolic link to one), nobody
  /// else has locked it, and all of it is zero. Each rank looks at its part; once in a process.
  [[nodiscard]] static Result<std::shared_ptr<DaxDevice>> open(const std::string& path, const mpi::Comm& node) {
    static std::map<std::string, std::shared_ptr<DaxDevice>> opened;  // of all ranks of a node, or of none
    const auto known = opened.find(path);
    if (known != opened.end()) return known->second;
    auto device = open_part(path, node);
    const Status status = mpi::share_status(node, device ? Status{} : fail(device.error()));
    if (!status) return fail(status.error());
    opened.emplace(path, *device);
    return device;
  }

  [[nodiscard]] std::span<std::byte> part() const noexcept { return {mapping_.data(), mapping_.size_bytes()}; }
  /// What can be mapped begins at multiples of it.
  [[nodiscard]] std::uint64_t unit_bytes() const noexcept { return unit_bytes_; }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  DaxDevice(std::string path, Descriptor file, FileMapping mapping, std::uint64_t unit_bytes)
      : path_(std::move(path)), file_(std::move(file)), mapping_(std::move(mapping)), unit_bytes_(unit_bytes) {}

  /// The first rank of the node locks the device before any rank looks at it.
  [[nodiscard]] static Result<std::shared_ptr<DaxDevice>> open_part(const std::string& path, const mpi::Comm& node) {
    Status status;
    Descriptor file(::open(path.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
    struct stat facts{};
    if (!file || fstat(file.get(), &facts) != 0) status = fail(errno_error(errno, "open", path));
    if (status && !is_dax_device(facts)) status = fail(not_used(path, "is no devdax device"));
    if (status && node.rank() == 0 && flock(file.get(), LOCK_EX | LOCK_NB) != 0)
      status = fail(not_used(path, "is in use by another run"));
    status = mpi::share_status(node, std::move(status));
    if (!status) return fail(status.error());
    const std::uint64_t unit = dax_fact(facts, "align"), size = dax_fact(facts, "size");
    if (unit == 0 || size < unit * static_cast<std::uint64_t>(node.size()))
      return fail(not_used(path, "has no room for each rank, or the kernel does not state its size"));
    const DevicePart part = part_of_device(size, unit, node.rank(), node.size());
    void* const found = mmap(nullptr, part.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(),
                             static_cast<off_t>(part.offset_bytes));
    if (found == MAP_FAILED) return fail(errno_error(errno, "map", path));
    FileMapping mapping = FileMapping::of_library(static_cast<std::byte*>(found), part.bytes, true, unmap_device);
    std::shared_ptr<DaxDevice> device(new DaxDevice(path, std::move(file), std::move(mapping), unit));
    if (auto empty = device->check_empty(part.offset_bytes); !empty) return fail(empty.error());
    return device;
  }

  [[nodiscard]] Status check_empty(std::uint64_t part_offset_bytes) const {
    const BusErrorHandler handler;
    std::optional<std::uint64_t> found;
    if (!survives_bus_error([&] { found = first_not_zero(part()); }))
      return fail(errno_error(EIO, "read", path_, part_offset_bytes));
    if (!found) return {};
    return fail(not_used(path_, "is not empty: a byte at offset " + std::to_string(part_offset_bytes + *found) +
                                    " is not zero, and what is there would be lost; fill the device with zeros if all "
                                    "of it may be lost"));
  }

  std::string path_;
  Descriptor file_;
  FileMapping mapping_;
  std::uint64_t unit_bytes_ = 0;
};

}  // namespace ullage
