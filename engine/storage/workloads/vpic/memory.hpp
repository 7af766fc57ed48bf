// SPDX-License-Identifier: Apache-2.0
// The memory of one rank's particles, and what stands in it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "storage/array_contents.hpp"
#include "storage/workloads/vpic/layout.hpp"

namespace ullage {

/// A value that is not what was written.
struct WrongParticle {
  std::size_t variable = 0;
  std::uint64_t particle = 0;  // of its rank
  WrongElement value;
};

struct ParticleCheck {
  std::uint64_t wrong_values = 0;
  std::optional<WrongParticle> first;
};

/// Room for `capacity` particles in the order of the memory, at the beginning of `memory`, which outlives it. A writer
/// has the particles of all steps in it: those of a step begin `step_shift` behind those of the step before it, so that
/// every step has other values at every place, and nothing is made between steps.
class ParticleMemory final {
 public:
  static constexpr std::uint64_t step_shift = 1024;  // whole pages in either order

  /// Particles that a writer of all steps has room for.
  [[nodiscard]] static std::uint64_t of_all_steps(const ParticleLayout& layout) {
    return layout.particles + (layout.steps - 1) * step_shift;
  }
  /// Bytes of memory for so many particles.
  [[nodiscard]] static std::size_t bytes_for(std::uint64_t capacity);

  ParticleMemory(const ParticleLayout& layout, std::uint64_t capacity, std::uint64_t key, std::span<std::byte> memory);

  [[nodiscard]] std::byte* value(std::size_t variable, std::uint64_t place) const {
    return memory_.data() + variable * variable_stride_ + static_cast<std::size_t>(place) * value_stride_;
  }
  /// Returns the bytes from a variable of a particle to its next one, and from a particle's value to that of the next
  /// particle.
  [[nodiscard]] std::size_t variable_stride_bytes() const { return variable_stride_; }
  [[nodiscard]] std::size_t value_stride_bytes() const { return value_stride_; }

  /// The particles of all steps of that rank; the capacity is of_all_steps().
  void fill(std::uint64_t rank) const;
  void poison() const { poison_elements(memory_); }
  /// Those of one step that were chosen among that rank's, which lie one behind the other from the first place on.
  [[nodiscard]] ParticleCheck check(std::uint64_t rank, std::uint64_t step, const ParticleChoice& choice) const;

 private:
  [[nodiscard]] ElementRun run_of(std::size_t variable, std::uint64_t rank, std::uint64_t particle) const;
  [[nodiscard]] std::span<std::byte> values(std::size_t variable, std::uint64_t place, std::uint64_t count) const;

  const ParticleLayout& layout_;
  std::uint64_t capacity_;
  std::uint64_t key_;
  std::span<std::byte> memory_;
  std::size_t variable_stride_;
  std::size_t value_stride_;
};

}  // namespace ullage
