// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/vpic/operations.hpp"

#include <gtest/gtest.h>

#include <tuple>

namespace ullage::vpic_operations_test {

constexpr std::uint64_t ranks = 3;
using Orders = std::tuple<ParticleOrder, ParticleOrder>;

class ParticleCalls : public testing::TestWithParam<Orders> {
 protected:
  ParticleCalls() : layout_{50, ranks, 2, std::get<0>(GetParam()), std::get<1>(GetParam())} {
    memory_.resize(ParticleMemory::bytes_for(ParticleMemory::of_all_steps(layout_)));
  }
  [[nodiscard]] ParticleMemory memory() { return {layout_, ParticleMemory::of_all_steps(layout_), 1, memory_}; }

  /// Carries out calls of our own format on a file in memory.
  static void write(const ParticleOperations& operations, std::vector<std::byte>& file, std::vector<int>& owners) {
    const auto put = [&](std::uint64_t offset, const std::byte* from, std::uint64_t bytes) {
      std::memcpy(&file.at(offset), from, bytes);
      for (std::uint64_t i = 0; i < bytes; ++i) ++owners.at(offset + i);
    };
    if (const auto* plain = std::get_if<std::vector<Extent>>(&operations))
      for (const Extent& extent : *plain) put(extent.offset_bytes, extent.data, extent.length_bytes);
    if (const auto* scattered = std::get_if<std::vector<ScatteredExtent>>(&operations))
      for (const ScatteredExtent& extent : *scattered) {
        const ScatteredMemory& from = extent.memory;
        std::uint64_t offset = extent.offset_bytes;
        for (std::uint64_t record = 0; record < from.records; ++record)
          for (std::uint64_t piece = 0; piece < from.pieces; ++piece, offset += from.piece_bytes)
            put(offset, from.data + record * from.record_stride_bytes + piece * from.piece_stride_bytes,
                from.piece_bytes);
      }
  }

  ParticleLayout layout_;
  std::vector<std::byte> memory_;
};

/// The ranks' calls cover the file once, and every value lies where the formula says.
TEST_P(ParticleCalls, CoverTheFileOnceWithEveryValueAtItsPlace) {
  std::vector<std::byte> file(layout_.file_bytes());
  std::vector<int> owners(file.size());
  for (std::uint64_t rank = 0; rank < ranks; ++rank) {
    memory().fill(rank);
    const auto held = memory();
    const auto operations =
        make_operations({&layout_, FileFormat::raw, &held, rank, first_particles(50), ParticleMemory::step_shift});
    EXPECT_EQ(count_of(operations), layout_.steps * layout_.arrays_of_step());
    write(operations, file, owners);
    for (std::uint64_t step = 0; step < layout_.steps; ++step)
      for (std::size_t variable = 0; variable < particle_variables.size(); ++variable)
        for (std::uint64_t particle = 0; particle < 50; ++particle)
          ASSERT_EQ(std::memcmp(&file.at(layout_.offset_bytes(step, variable, rank * 50 + particle)),
                                held.value(variable, step * ParticleMemory::step_shift + particle), value_bytes),
                    0);
  }
  for (std::size_t at = 0; at < owners.size(); ++at)
    ASSERT_EQ(owners[at], at < ParticleLayout::header_bytes ? 0 : 1) << at;
}

TEST_P(ParticleCalls, OfArraysMoveEveryByteOnce) {
  const auto held = memory();
  const auto specs = layout_.arrays();
  std::map<std::pair<std::size_t, std::string>, std::uint64_t> bytes;
  std::uint64_t all = 0;
  const auto operations = make_operations({&layout_, FileFormat::arrays, &held, 1, strided_particles(50, 4, 9), 0});
  for (const ArrayRows& rows : std::get<std::vector<ArrayRows>>(operations)) {
    EXPECT_EQ(rows.first, 50U);
    EXPECT_EQ(rows.rows, 24U);
    EXPECT_EQ(rows.end(), 50U + 5 * 9 + 4);
    EXPECT_EQ(rows.memory.empty(), !layout_.converts());
    EXPECT_TRUE(bytes.emplace(std::pair{rows.array, rows.memory.empty() ? "" : rows.memory.front().name}, 1).second ||
                layout_.memory == ParticleOrder::interleaved);
    all += rows.rows * moved_row_bytes(specs.at(rows.array), rows.memory);
  }
  EXPECT_EQ(all, layout_.steps * 24 * particle_bytes);
}

INSTANTIATE_TEST_SUITE_P(Layouts, ParticleCalls,
                         testing::Combine(testing::Values(ParticleOrder::contiguous, ParticleOrder::interleaved),
                                          testing::Values(ParticleOrder::contiguous, ParticleOrder::interleaved)),
                         [](const auto& orders) {
                           return word_of(std::get<0>(orders.param)) + "_" + word_of(std::get<1>(orders.param));
                         });

}  // namespace ullage::vpic_operations_test
