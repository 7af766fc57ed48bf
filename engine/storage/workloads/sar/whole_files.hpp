// SPDX-License-Identifier: Apache-2.0
// The phases of workload `sar` in which an operation moves a whole piece of one file: the generator of its input
// (sdg), the formation of images from raw data (k1), and their storage on the grid (k2).
#pragma once

#include <vector>

#include "storage/workloads/sar/phase.hpp"

namespace ullage {

class WholeFilesPhase : public SarPhase {
 public:
  [[nodiscard]] PhaseInfo info() const override;
  [[nodiscard]] bool wants_sync() const override { return !reads() && state_.parameters.sync == SarSync::close; }
  [[nodiscard]] Status sync() override;

 protected:
  WholeFilesPhase(const SarState& state, SarPhaseTraits traits);

  struct Piece {
    SarData kind = SarData::raw;
    std::uint64_t position_bytes = 0;
    std::string path;  // from the dataset's directory
    OpenMode mode = OpenMode::create;
    std::uint64_t file_bytes = 0;
    std::uint64_t offset_bytes = 0;
    std::uint64_t bytes = 0;
  };
  [[nodiscard]] virtual Piece piece_of(std::uint64_t operation) const = 0;
  [[nodiscard]] virtual bool moves_images() const { return true; }

  void ready(std::uint64_t operation, std::size_t slot) override;
  [[nodiscard]] Result<std::uint64_t> operate(std::size_t slot) override;
  [[nodiscard]] Status read_again(std::size_t slot) override;
  void check(std::uint64_t operation, std::size_t slot) override;

 private:
  struct Planned {
    OpenRequest request;
    Extent extent;
  };
  std::vector<Planned> planned_;  // by slot
};

/// Phase `sdg`: this rank's part of the raw files and of the templates.
class GeneratePhase final : public WholeFilesPhase {
 public:
  explicit GeneratePhase(const SarState& state);

 protected:
  [[nodiscard]] Piece piece_of(std::uint64_t operation) const override;
  [[nodiscard]] bool moves_images() const override { return false; }

 private:
  std::vector<std::uint64_t> raws_;  // numbers of those this rank makes
  std::vector<std::uint64_t> templates_;
};

/// Phase `k1`: reads a raw file for each image of this rank.
class FormPhase final : public WholeFilesPhase {
 public:
  explicit FormPhase(const SarState& state);
  [[nodiscard]] PhaseInfo info() const override;

 protected:
  [[nodiscard]] Piece piece_of(std::uint64_t operation) const override;
  [[nodiscard]] std::vector<std::string> files_read() const override;
};

/// Phase `k2`: stores this rank's images.
class StorePhase final : public WholeFilesPhase {
 public:
  explicit StorePhase(const SarState& state);

 protected:
  [[nodiscard]] Piece piece_of(std::uint64_t operation) const override;

 private:
  StoreOrder order_;
};

}  // namespace ullage
