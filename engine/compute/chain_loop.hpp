// SPDX-License-Identifier: Apache-2.0
// The loop that all vector kernels are: every step of every chain is written out, and each step is an assembler
// statement of one instruction, which the compiler can neither merge, nor hoist, nor replace by another. Everything is
// inlined into a function that may use the registers V needs, so there is one source for all instruction sets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "compute/kernel.hpp"

namespace ullage::compute {

/// The loop has at least so many steps in one body, so that the loop itself costs less than 2 %.
constexpr int least_body = 64;

/// Pairs of steps of each chain in one body.
[[nodiscard]] constexpr int pairs_of(int chains) { return (least_body / 2 + chains - 1) / chains; }

template <class Step, class V, std::size_t... chain>
[[gnu::always_inline]] inline void step_all(V* accumulators, const V& a, const V& b, std::index_sequence<chain...>) {
  (Step::step(accumulators[chain], a, b), ...);
}

/// Goes by way of a variable of its own: copied straight into an element of an array, g++ would keep a float as an
/// integer.
template <class V>
[[gnu::always_inline]] inline void load_one(V& to, const std::byte* from) {
  V value;
  std::memcpy(&value, from, sizeof(V));
  to = value;
}
template <class V>
[[gnu::always_inline]] inline void store_one(std::byte* to, const V& from) {
  const V value = from;
  std::memcpy(to, &value, sizeof(V));
}

template <class V, std::size_t... chain>
[[gnu::always_inline]] inline void load_all(V* accumulators, const std::byte* from, std::index_sequence<chain...>) {
  (load_one(accumulators[chain], from + chain * sizeof(V)), ...);
}

template <class V, std::size_t... chain>
[[gnu::always_inline]] inline void store_all(std::byte* to, const V* accumulators, std::index_sequence<chain...>) {
  (store_one(to + chain * sizeof(V), accumulators[chain]), ...);
}

template <class Step, class V, std::size_t chains, std::size_t... pair>
[[gnu::always_inline]] inline void chain_loop(KernelData& data, std::uint64_t passes, std::index_sequence<pair...>) {
  constexpr std::make_index_sequence<chains> every{};
  V accumulators[chains];  // NOLINT(*-avoid-c-arrays): registers
  V a;
  V even;
  V odd;
  load_one(a, data.a.data());
  load_one(even, data.b[0].data());
  load_one(odd, data.b[1].data());
  load_all(accumulators, data.seeds.data(), every);
  do {
    ((step_all<Step>(accumulators, a, even, every), step_all<Step>(accumulators, a, odd, every),
      static_cast<void>(pair)),
     ...);
  } while (--passes > 0);
  store_all(data.results.data(), accumulators, every);
}

/// `Target::run<Step, chains>` is the function, compiled for the registers of one instruction set.
template <class Target, class Step, int... chains>
[[nodiscard]] std::vector<Variant> variants_of(std::integer_sequence<int, chains...>) {
  return {Variant{chains, 2 * pairs_of(chains), &Target::template run<Step, chains>}...};
}

using ChainsIn16 = std::integer_sequence<int, 1, 2, 3, 4, 6, 8, 10, 12>;              // of 16 registers
using ChainsIn32 = std::integer_sequence<int, 1, 2, 3, 4, 6, 8, 10, 12, 16, 20, 24>;  // of 32

}  // namespace ullage::compute
