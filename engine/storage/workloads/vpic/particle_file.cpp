// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/vpic/particle_file.hpp"

#include <span>
#include <utility>
#include <variant>
#include <vector>

namespace ullage {

Result<ParticleFile> ParticleFile::open(Backend& backend, const OpenRequest& request, const ParticleLayout& layout,
                                        VpicFormat format, const FileHeader& header) {
  if (format == VpicFormat::arrays) {
    const auto specs = layout.arrays();
    auto arrays = backend.open_arrays(request, specs);
    if (!arrays) return fail(arrays.error());
    return ParticleFile(std::move(*arrays));
  }
  auto plain = open_with_header(backend, request, header);
  if (!plain) return fail(plain.error());
  return ParticleFile(std::move(*plain));
}

Status ParticleFile::transfer(Direction direction, ParticleOperations& operations, std::size_t first, std::size_t count,
                              Meter& meter) {
  if (const auto* extents = std::get_if<std::vector<Extent>>(&operations))
    return plain_->transfer(direction, std::span(*extents).subspan(first, count), meter);
  if (const auto* scattered = std::get_if<std::vector<ScatteredExtent>>(&operations))
    return plain_->transfer_scattered(direction, std::span(*scattered).subspan(first, count), meter);
  return arrays_->transfer(direction, std::span(std::get<std::vector<ArrayRows>>(operations)).subspan(first, count),
                           meter);
}

Status ParticleFile::sync() { return plain_ ? plain_->sync() : arrays_->sync(); }
Status ParticleFile::close() { return plain_ ? plain_->close() : arrays_->close(); }
Map ParticleFile::hints_granted() const { return plain_ ? plain_->hints_granted() : arrays_->hints_granted(); }

}  // namespace ullage
