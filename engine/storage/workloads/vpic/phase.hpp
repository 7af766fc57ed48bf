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

/// Phase `write` or `read`. Operations are the library's calls; between steps the rank sleeps, if it is to compute.
/// Gauges: raw_s, the time of the calls alone, and slept_s.
class VpicPhase final : public PhaseWork {
 public:
  VpicPhase(const VpicState& state, VpicPhaseKind kind);

  [[nodiscard]] PhaseInfo info() const override;
  [[nodiscard]] Status allocate() override;
  [[nodiscard]] Status before() override;
  [[nodiscard]] std::uint64_t operations() const override { return count_of(operations_); }
  [[nodiscard]] Status open() override { return open_as(writes() ? OpenMode::create : OpenMode::read); }
  [[nodiscard]] Status execute(Meter& meter) override;
  [[nodiscard]] bool wants_sync() const override { return writes() && state_.parameters.sync; }
  [[nodiscard]] Status sync() override { return file_ ? file_->sync() : Status{}; }
  [[nodiscard]] Status close() override;
  [[nodiscard]] Verification after(std::uint64_t executed, Meter& progress) override;
  [[nodiscard]] Gauges gauges() const override;
  void add_facts(nlohmann::json& facts) const override;
  [[nodiscard]] Map hints_given() const override { return state_.context.backend->hints_given(); }
  [[nodiscard]] Map hints_granted() const override;

 private:
  [[nodiscard]] bool writes() const { return kind_ == VpicPhaseKind::write; }
  [[nodiscard]] std::uint64_t operations_of_step() const { return operations() / state_.layout.steps; }
  [[nodiscard]] ParticleMemory memory(std::uint64_t capacity) const;
  [[nodiscard]] OpenRequest request_for(OpenMode mode) const;
  [[nodiscard]] Status open_as(OpenMode mode);
  [[nodiscard]] Status drop_file() const;
  void compute(Meter& meter);
  [[nodiscard]] Status check_size();
  void check_step(std::uint64_t step, Verification& found) const;
  void read_again(std::uint64_t steps, Meter& progress, Verification& found);
  [[nodiscard]] Error wrong_value(std::uint64_t step, const WrongParticle& wrong) const;

  const VpicState& state_;
  VpicPhaseKind kind_;
  ParticleChoice choice_;
  std::uint64_t owner_;  // rank whose particles this one moves
  ParticleOperations operations_;
  std::optional<ParticleFile> file_;
  std::int64_t raw_ns_ = 0;
  std::int64_t slept_ns_ = 0;
  std::uint64_t file_bytes_ = 0;
  Map granted_;
};

}  // namespace ullage
