// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/sar/contents.hpp"

#include "base/permutation.hpp"

namespace ullage {
namespace {

PositionContents contents_of(std::uint64_t run_key, SarData kind) {
  return PositionContents(mix64(run_key + static_cast<std::uint64_t>(kind)));
}

}  // namespace

SarContents::SarContents(std::uint64_t run_key)
    : contents_{contents_of(run_key, SarData::raw), contents_of(run_key, SarData::templates),
                contents_of(run_key, SarData::images), contents_of(run_key, SarData::records)} {}

void SarContents::fill(SarData kind, std::span<std::byte> bytes, std::uint64_t position_bytes) const {
  contents_.at(static_cast<std::size_t>(kind)).fill(bytes, position_bytes);
}

Payload::Check SarContents::check(SarData kind, std::span<const std::byte> bytes, std::uint64_t position_bytes) const {
  return contents_.at(static_cast<std::size_t>(kind)).check(bytes, position_bytes);
}

}  // namespace ullage
