// SPDX-License-Identifier: Apache-2.0
// Writing the particles of all steps, or reading them again, on one rank.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "storage/array_contents.hpp"
#include "storage/array_file.hpp"
#include "storage/backend.hpp"
#include "storage/manifest.hpp"
#include "storage/storage_context.hpp"
#include "storage/workloads/vpic/layout.hpp"
#include "storage/workloads/vpic/operations.hpp"
#include "storage/workloads/vpic/vpic.hpp"
#include "work/phase_work.hpp"

namespace ullage {

// An open file of particles, of our own format or of a library's.

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

/// Holds what both phases of a repetition share on this rank.
struct VpicState {
  VpicParameters parameters;
  StorageContext context;
  Capabilities capabilities;
  ParticleLayout layout;
  DatasetEntry dataset;
  DataSource source;  // whose particles are read

  [[nodiscard]] std::uint64_t rank() const { return static_cast<std::uint64_t>(context.world->rank()); }
  [[nodiscard]] std::string file_name() const { return dataset.file_name(0); }
};

[[nodiscard]] std::unique_ptr<PhaseWork> make_vpic_phase(const VpicState& state, VpicPhaseKind kind);

}  // namespace ullage
