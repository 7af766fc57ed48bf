// SPDX-License-Identifier: Apache-2.0
// A compute kernel: chains of one vector instruction, each step of a chain waiting for the one before, the chains
// independent of each other, so that enough of them show the rate of the core and a single one the latency.
#pragma once

#include <functional>

#include "base/isa.hpp"
#include "base/parameters.hpp"
#include "base/registry.hpp"
#include "base/std.hpp"

namespace ullage::compute {

enum class ElementType { int8, int16, int32, int64, fp16, bf16, fp32, fp64 };  // of what is multiplied or added
enum class Operation { add, multiply, fma, dot };

[[nodiscard]] Words<ElementType> type_words();
[[nodiscard]] Words<Operation> operation_words();

constexpr std::size_t most_operand_bytes = 1024;      // an AMX tile
constexpr std::size_t most_accumulator_bytes = 6144;  // six of them; 24 vectors of 64 bytes; 12 of SVE's 256

/// Registers of all chains, one after the other.
using Accumulators = std::array<std::byte, most_accumulator_bytes>;
using Operand = std::array<std::byte, most_operand_bytes>;

/// Holds what one thread works on. Step number s of a chain is `accumulator = operation(accumulator, a, b[s % 2])`.
struct alignas(64) KernelData {
  Operand a{};
  std::array<Operand, 2> b{};
  Accumulators seeds{};
  Accumulators results{};
};

/// Sets every chain to its seed, makes `passes` >= 1, and leaves the results. Must be called on a CPU that has what the
/// kernel needs.
using KernelFunction = void (*)(KernelData&, std::uint64_t passes);

/// The kernel with one number of chains.
struct Variant {
  int chains = 1;
  int steps_a_pass = 2;  // of each chain; even
  KernelFunction function = nullptr;
};

struct Kernel {
  std::string isa = {};  // the name under which rows are shown; a kernel may need a later extension of it
  ElementType type = ElementType::fp64;
  Operation operation = Operation::add;
  Feature needs = features::always;
  int lanes = 1;                          // results, or multiply-accumulates, of one instruction
  int default_chains = 1;                 // enough on the CPUs we know
  std::uint64_t steps_a_stretch = 16384;  // about: then the chains begin again, so that values stay as they are
  std::vector<Variant> variants = {};     // by their chains, ascending
  std::function<void(KernelData&)> seed =
      nullptr;  // operands and seeds: random, bounded, no denormals, every chain its own
  /// Says what `steps` steps of `chains` chains must leave, bit for bit.
  std::function<void(const KernelData&, int chains, std::uint64_t steps, Accumulators& expected)> reference = nullptr;
  std::size_t accumulator_bytes = 8;  // of one chain, as they are compared

  /// A fused multiply-add, or a multiply-accumulate, counts two a lane.
  [[nodiscard]] int operations() const {
    return lanes * (operation == Operation::fma || operation == Operation::dot ? 2 : 1);
  }
  /// Odd: after a number of steps with many factors of two, short integers would be back at their seeds.
  [[nodiscard]] std::uint64_t passes_a_stretch(const Variant& variant) const {
    return (steps_a_stretch / static_cast<std::uint64_t>(variant.steps_a_pass)) | 1U;
  }
  /// Null: there is none of so many chains. 0: the default.
  [[nodiscard]] const Variant* variant(int chains) const;
  /// `avx512/fp64/fma`
  [[nodiscard]] std::string name() const;
};

/// Kernels that a file registers: those of an instruction set and of its extensions.
struct KernelSet {
  struct InstructionSet {
    std::string name;
    int place = 0;  // in lists, the lowest first
  };
  Description description;
  std::vector<InstructionSet> instruction_sets = {};  // also where the build's architecture has none of their kernels
  std::vector<Kernel> (*kernels)() = nullptr;
};

/// The names of all instruction sets, and all kernels this build knows, runnable here or not. Both are complete when
/// main() begins.
[[nodiscard]] Words<std::string> isa_words();
[[nodiscard]] const std::vector<Kernel>& all_kernels();
[[nodiscard]] const Kernel* find_kernel(const std::string& isa, ElementType type, Operation operation);

/// Why the kernel cannot run on this machine; empty: it can.
[[nodiscard]] std::optional<std::string> why_missing_here(const Kernel& kernel);

}  // namespace ullage::compute

namespace ullage {

// Compiled in kernel.cpp.
extern template class Registry<compute::KernelSet>;
extern template struct Registered<compute::KernelSet>;

}  // namespace ullage
