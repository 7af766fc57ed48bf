// SPDX-License-Identifier: Apache-2.0
// The words of workload `vpic`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/parameters.hpp"
#include "storage/backend.hpp"
#include "storage/workloads/shared_dataset.hpp"
#include "storage/workloads/vpic/layout.hpp"
#include "work/phase_work.hpp"
#include "work/workload.hpp"

namespace ullage {

enum class VpicFormat { raw, arrays };
enum class VpicPhaseKind { write, read };
enum class VpicRead { full, partial, strided };
enum class VpicCache { none, drop };
enum class VpicVerify { none, kept, full };

struct VpicParameters {
  std::uint64_t particles = std::uint64_t{8} << 20;
  std::uint64_t steps = 5;
  ParticleOrder memory = ParticleOrder::contiguous;
  ParticleOrder file = ParticleOrder::contiguous;
  double compute_s = 0;
  VpicFormat format = VpicFormat::raw;
  bool sync = true;
  std::vector<VpicPhaseKind> phases{VpicPhaseKind::write, VpicPhaseKind::read};
  VpicRead read = VpicRead::full;
  std::uint64_t read_particles = 1;
  std::uint64_t run = 4096;
  std::uint64_t stride = 16384;
  ReadBack read_back = ReadBack::other_node;
  VpicCache cache = VpicCache::none;
  VpicVerify verify = VpicVerify::full;

  [[nodiscard]] static const Table<VpicParameters>& table();

  [[nodiscard]] ParticleLayout layout(std::uint64_t ranks) const { return {particles, ranks, steps, memory, file}; }
  /// Those of a rank's particles that are read.
  [[nodiscard]] ParticleChoice choice() const;
  [[nodiscard]] bool reads() const { return phases.size() > 1; }
  /// The computation of a rank in a phase: after each step but the last.
  [[nodiscard]] double emulated_s() const { return static_cast<double>(steps - 1) * compute_s; }
};

[[nodiscard]] Status check_vpic(const VpicParameters& parameters, const Capabilities& capabilities,
                                const PlannedLayout& layout, const std::string& pointer);
[[nodiscard]] Needs needs_of_vpic(const VpicParameters& parameters, const PlannedLayout& layout);

[[nodiscard]] std::string word_of(VpicRead read);
[[nodiscard]] std::string word_of(VpicCache cache);

}  // namespace ullage
