// SPDX-License-Identifier: Apache-2.0
#include "storage/dax_device.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <utility>

#include "mpi/agreement.hpp"

namespace ullage {
namespace {

std::string folder_of_device(const struct stat& status) {
  return "/sys/dev/char/" + std::to_string(major(status.st_rdev)) + ":" + std::to_string(minor(status.st_rdev));
}

std::uint64_t dax_fact(const struct stat& status, const char* name) {
  std::uint64_t value = 0;
  std::ifstream(folder_of_device(status) + "/" + name) >> value;
  return value;
}

void unmap_device(std::byte* data, std::uint64_t size_bytes) { (void)munmap(data, size_bytes); }

Error not_used(const std::string& path, const std::string& why) { return environment_error(path, why); }

}  // namespace

bool is_dax_device(const struct stat& status) {
  if (!S_ISCHR(status.st_mode)) return false;
  std::error_code unknown;
  return std::filesystem::read_symlink(folder_of_device(status) + "/subsystem", unknown).filename() == "dax";
}

std::optional<std::uint64_t> first_not_zero(std::span<const std::byte> bytes) {
  static constexpr std::array<std::byte, 65536> zeros{};
  for (std::size_t at = 0; at < bytes.size(); at += zeros.size()) {
    const auto piece = bytes.subspan(at, std::min(zeros.size(), bytes.size() - at));
    if (std::memcmp(piece.data(), zeros.data(), piece.size()) == 0) continue;
    const auto found = std::ranges::find_if(piece, [](std::byte byte) { return byte != std::byte{0}; });
    return at + static_cast<std::uint64_t>(found - piece.begin());
  }
  return std::nullopt;
}

DevicePart part_of_device(std::uint64_t device_bytes, std::uint64_t unit_bytes, int index, int parts) {
  const std::uint64_t units = device_bytes / unit_bytes;
  const auto number = static_cast<std::uint64_t>(index), all = static_cast<std::uint64_t>(parts);
  const std::uint64_t first = units * number / all;
  return {first * unit_bytes, (units * (number + 1) / all - first) * unit_bytes};
}

Result<std::shared_ptr<DaxDevice>> DaxDevice::open(const std::string& path, const mpi::Comm& node) {
  static std::map<std::string, std::shared_ptr<DaxDevice>> opened;  // of all ranks of a node, or of none
  const auto known = opened.find(path);
  if (known != opened.end()) return known->second;
  auto device = open_part(path, node);
  const Status status = mpi::share_status(node, device ? Status{} : fail(device.error()));
  if (!status) return fail(status.error());
  opened.emplace(path, *device);
  return device;
}

/// The first rank of the node locks the device before any rank looks at it.
Result<std::shared_ptr<DaxDevice>> DaxDevice::open_part(const std::string& path, const mpi::Comm& node) {
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
  void* const found =
      mmap(nullptr, part.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), static_cast<off_t>(part.offset_bytes));
  if (found == MAP_FAILED) return fail(errno_error(errno, "map", path));
  FileMapping mapping = FileMapping::of_library(static_cast<std::byte*>(found), part.bytes, true, unmap_device);
  std::shared_ptr<DaxDevice> device(new DaxDevice(path, std::move(file), std::move(mapping), unit));
  if (auto empty = device->check_empty(part.offset_bytes); !empty) return fail(empty.error());
  return device;
}

Status DaxDevice::check_empty(std::uint64_t part_offset_bytes) const {
  const BusErrorHandler handler;
  std::optional<std::uint64_t> found;
  if (!survives_bus_error([&] { found = first_not_zero(part()); }))
    return fail(errno_error(EIO, "read", path_, part_offset_bytes));
  if (!found) return {};
  return fail(not_used(path_, "is not empty: a byte at offset " + std::to_string(part_offset_bytes + *found) +
                                  " is not zero, and what is there would be lost; fill the device with zeros if all "
                                  "of it may be lost"));
}

}  // namespace ullage
