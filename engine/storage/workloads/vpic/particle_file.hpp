// SPDX-License-Identifier: Apache-2.0
// An open file of particles, of our own format or of a library's.
#pragma once

#include <cstddef>
#include <memory>

#include "storage/array_file.hpp"
#include "storage/backend.hpp"
#include "storage/file_header.hpp"
#include "storage/workloads/vpic/operations.hpp"

namespace ullage {

class ParticleFile final {
 public:
  /// Opens it through the backend, with its header or with its arrays.
  [[nodiscard]] static Result<ParticleFile> open(Backend& backend, const OpenRequest& request,
                                                 const ParticleLayout& layout, VpicFormat format,
                                                 const FileHeader& header);

  /// Operations [first, first + count); see File and ArrayFile.
  [[nodiscard]] Status transfer(Direction direction, ParticleOperations& operations, std::size_t first,
                                std::size_t count, Meter& meter);
  [[nodiscard]] Status sync();
  [[nodiscard]] Status close();
  [[nodiscard]] Map hints_granted() const;

 private:
  explicit ParticleFile(std::unique_ptr<File> plain) : plain_(std::move(plain)) {}
  explicit ParticleFile(std::unique_ptr<ArrayFile> arrays) : arrays_(std::move(arrays)) {}

  std::unique_ptr<File> plain_;  // of the two one is there
  std::unique_ptr<ArrayFile> arrays_;
};

}  // namespace ullage
