// SPDX-License-Identifier: Apache-2.0
// Intel AMX: products of matrices in tiles of 16 rows of 64 bytes. The compiler never touches tiles, so they are named
// in the assembler: accumulators in tmm0 to tmm5, a in tmm6, b in tmm7.
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "compute/chain_loop.hpp"
#include "compute/kernel.hpp"
#include "compute/reference.hpp"

#if defined(__x86_64__)
namespace ullage::compute {
namespace {

constexpr std::size_t rows = 16;
constexpr std::size_t row_bytes = 64;
constexpr std::size_t tile_bytes = rows * row_bytes;
constexpr std::size_t columns = row_bytes / 4;  // of an accumulator, each of 32 bits
constexpr int tiles = 8;

/// Is what LDTILECFG reads (Intel SDM volume 1, 18.2).
struct alignas(64) TileConfiguration {
  std::uint8_t palette = 1;
  std::uint8_t start_row = 0;
  std::array<std::uint8_t, 14> reserved{};
  std::array<std::uint16_t, 16> bytes_a_row{};
  std::array<std::uint8_t, 16> row_count{};
};
static_assert(sizeof(TileConfiguration) == 64);

constexpr TileConfiguration full_tiles() {
  TileConfiguration configuration;
  for (std::size_t tile = 0; tile < tiles; ++tile) {
    configuration.bytes_a_row.at(tile) = row_bytes;
    configuration.row_count.at(tile) = rows;
  }
  return configuration;
}

/// The whole structure is the input: g++ 12's _tile_loadconfig names its first 8 bytes only, and the rest may be lost.
void configure(const TileConfiguration& configuration) { asm volatile("ldtilecfg %0" : : "m"(configuration)); }
void release() { asm volatile("tilerelease"); }

template <std::size_t tile>
[[gnu::always_inline]] inline void load_tile(const std::byte* from) {
  asm volatile("tileloadd (%0,%1,1), %%tmm%c2" : : "r"(from), "r"(row_bytes), "i"(tile) : "memory");
}
template <std::size_t tile>
[[gnu::always_inline]] inline void store_tile(std::byte* to) {
  asm volatile("tilestored %%tmm%c2, (%0,%1,1)" : : "r"(to), "r"(row_bytes), "i"(tile) : "memory");
}

struct DotInt8 {
  template <std::size_t tile>
  [[gnu::always_inline]] static void step() {
    asm volatile("tdpbssd %%tmm7, %%tmm6, %%tmm%c0" : : "i"(tile));
  }
};
struct DotBf16 {
  template <std::size_t tile>
  [[gnu::always_inline]] static void step() {
    asm volatile("tdpbf16ps %%tmm7, %%tmm6, %%tmm%c0" : : "i"(tile));
  }
};

template <class Step, std::size_t... chain>
[[gnu::always_inline]] inline void tile_loop(KernelData& data, std::uint64_t passes, std::index_sequence<chain...>) {
  constexpr int pairs = pairs_of(sizeof...(chain));
  (load_tile<chain>(data.seeds.data() + chain * tile_bytes), ...);
  load_tile<6>(data.a.data());
  load_tile<7>(data.b[0].data());
  for (; passes > 0; --passes)
    for (int pair = 0; pair < pairs; ++pair) {  // an instruction lasts 16 cycles: this loop costs nothing
      (Step::template step<chain>(), ...);
      (Step::template step<chain>(), ...);
    }
  (store_tile<chain>(data.results.data() + chain * tile_bytes), ...);
}

struct Amx {
  template <class Step, int chains>
  [[gnu::noinline]] static void run(KernelData& data, std::uint64_t passes) {
    static constexpr TileConfiguration configuration = full_tiles();
    configure(configuration);
    tile_loop<Step>(data, passes, std::make_index_sequence<chains>{});
    release();
  }
};

/// The product that one step adds. a is 16 rows of values; b holds, in row r and column n, the values of rows
/// r * group ... of column n.
template <class T>
std::array<std::int64_t, rows * columns> product_of(const KernelData& data) {
  constexpr std::size_t group = 4 / sizeof(T);
  constexpr std::size_t depth = row_bytes / sizeof(T);
  const auto value = [](const Operand& operand, std::size_t index) -> std::int64_t {
    if constexpr (std::is_same_v<T, Bfloat>)
      return static_cast<std::int64_t>(to_float(load<Bfloat>(operand, index)));
    else
      return load<T>(operand, index);
  };
  std::array<std::int64_t, rows * columns> product{};
  for (std::size_t m = 0; m < rows; ++m)
    for (std::size_t n = 0; n < columns; ++n)
      for (std::size_t k = 0; k < depth; ++k)
        product.at(m * columns + n) +=
            value(data.a, m * depth + k) * value(data.b[0], k / group * depth + n * group + k % group);
  return product;
}

/// Bf16 values are whole numbers so small that every sum is exact, in any order.
template <class T>
void seed_tiles(KernelData& data) {
  Dice dice(3);
  for (std::size_t i = 0; i < tile_bytes / sizeof(T); ++i)
    for (Operand* operand : {&data.a, &data.b[0]})
      if constexpr (std::is_same_v<T, Bfloat>)
        store(*operand, i, to_bfloat(static_cast<float>(dice.integer(-15, 15))));
      else
        store(*operand, i, static_cast<T>(dice.bits()));
  data.b[1] = data.b[0];
  for (std::size_t i = 0; i < most_accumulator_bytes / 4; ++i)
    if constexpr (std::is_same_v<T, Bfloat>)
      store(data.seeds, i, static_cast<float>(dice.integer(-32768, 32767)));
    else
      store(data.seeds, i, static_cast<std::uint32_t>(dice.bits()));
}

template <class T>
void reference_tiles(const KernelData& data, int chains, std::uint64_t steps, Accumulators& expected) {
  const auto product = product_of<T>(data);
  for (std::size_t i = 0; i < static_cast<std::size_t>(chains) * product.size(); ++i) {
    const std::int64_t added = static_cast<std::int64_t>(steps) * product.at(i % product.size());
    if constexpr (std::is_same_v<T, Bfloat>)
      store(expected, i, load<float>(data.seeds, i) + static_cast<float>(added));
    else
      store(expected, i, static_cast<std::uint32_t>(load<std::uint32_t>(data.seeds, i) + added));
  }
}

template <class Step, class T>
Kernel tile_kernel(ElementType type, Feature needs) {
  Kernel made{.isa = "amx",
              .type = type,
              .operation = Operation::dot,
              .needs = needs,
              .lanes = rows * columns * row_bytes / sizeof(T),
              .default_chains = 6,
              .steps_a_stretch = 2048,
              .variants = variants_of<Amx, Step>(std::integer_sequence<int, 1, 2, 3, 4, 6>{}),
              .seed = seed_tiles<T>,
              .reference = reference_tiles<T>,
              .accumulator_bytes = tile_bytes};
  return made;
}

std::vector<Kernel> amx_kernels() {
  return {tile_kernel<DotInt8, std::int8_t>(ElementType::int8, features::amx_int8),
          tile_kernel<DotBf16, Bfloat>(ElementType::bf16, features::amx_bf16)};
}

}  // namespace
}  // namespace ullage::compute
#else
namespace ullage::compute {
namespace {
std::vector<Kernel> amx_kernels() { return {}; }
}  // namespace
}  // namespace ullage::compute
#endif

namespace ullage::compute {
namespace {

const Registered<KernelSet> registered_amx{{
    .description = {.name = "amx", .doc = "Multiplies matrices in tiles."},
    .instruction_sets = {{"amx", 8}},
    .kernels = amx_kernels,
}};

}  // namespace
}  // namespace ullage::compute
