// SPDX-License-Identifier: Apache-2.0
// Persistent memory as a device without files (devdax). What is stored there is stored over whatever was there before,
// so only a device that is empty is used, and it is left empty.
#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/descriptor.hpp"
#include "base/result.hpp"
#include "mpi/comm.hpp"
#include "storage/file_mapping.hpp"

namespace ullage {

/// Returns whether it is such a device, as the kernel says of its number.
[[nodiscard]] bool is_dax_device(const struct stat& status);

/// Returns where the first byte is that is not zero.
[[nodiscard]] std::optional<std::uint64_t> first_not_zero(std::span<const std::byte> bytes);

/// The part `index` of `parts` of a device, in whole units of `unit_bytes`.
struct DevicePart {
  std::uint64_t offset_bytes = 0;
  std::uint64_t bytes = 0;
};
[[nodiscard]] DevicePart part_of_device(std::uint64_t device_bytes, std::uint64_t unit_bytes, int index, int parts);

/// This rank's part of a device that the ranks of a node divide. Locked (flock) until the process ends, so that no
/// other run uses it.
class DaxDevice final {
 public:
  /// Collective over `node`. An error on all ranks unless `path` is such a device (and no symbolic link to one), nobody
  /// else has locked it, and all of it is zero. Each rank looks at its part; once in a process.
  [[nodiscard]] static Result<std::shared_ptr<DaxDevice>> open(const std::string& path, const mpi::Comm& node);

  [[nodiscard]] std::span<std::byte> part() const noexcept { return {mapping_.data(), mapping_.size_bytes()}; }
  /// What can be mapped begins at multiples of it.
  [[nodiscard]] std::uint64_t unit_bytes() const noexcept { return unit_bytes_; }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  DaxDevice(std::string path, Descriptor file, FileMapping mapping, std::uint64_t unit_bytes)
      : path_(std::move(path)), file_(std::move(file)), mapping_(std::move(mapping)), unit_bytes_(unit_bytes) {}
  [[nodiscard]] static Result<std::shared_ptr<DaxDevice>> open_part(const std::string& path, const mpi::Comm& node);
  [[nodiscard]] Status check_empty(std::uint64_t part_offset_bytes) const;

  std::string path_;
  Descriptor file_;
  FileMapping mapping_;
  std::uint64_t unit_bytes_ = 0;
};

}  // namespace ullage
