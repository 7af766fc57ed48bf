// SPDX-License-Identifier: Apache-2.0
// Phase `k3` of workload `sar`: gets pairs of images of random locations, then parts of the later one row by row, and
// writes these to the rank's file of detections.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "storage/workloads/sar/phase.hpp"

namespace ullage {

/// An operation is one pair. It opens both images, or their container once. Its bytes are those of the whole images:
/// the rows of sub-images come from memory, which holds the image since a moment ago.
class RetrievePhase final : public SarPhase {
 public:
  explicit RetrievePhase(const SarState& state);

  [[nodiscard]] PhaseInfo info() const override;
  [[nodiscard]] Status before() override;
  [[nodiscard]] Status open() override;
  [[nodiscard]] bool wants_sync() const override { return state_.parameters.sync != SarSync::none; }
  [[nodiscard]] Status sync() override { return detections_ ? detections_->sync() : Status{}; }
  [[nodiscard]] Status close() override;

 protected:
  void ready(std::uint64_t operation, std::size_t slot) override;
  [[nodiscard]] Result<std::uint64_t> operate(std::size_t slot) override;
  [[nodiscard]] Status read_again(std::size_t slot) override { return read_pair(planned_[slot]); }
  void check(std::uint64_t operation, std::size_t slot) override;
  [[nodiscard]] std::vector<std::string> files_read() const override;

 private:
  static constexpr std::size_t images_of_a_pair = 2;
  struct Planned {
    std::array<OpenRequest, images_of_a_pair> requests;
    std::array<Extent, images_of_a_pair> images;
    std::vector<Extent> runs;
    Extent group;
  };
  [[nodiscard]] ImageAt image_of(std::uint64_t operation, std::size_t which) const;
  [[nodiscard]] std::span<std::byte> image_in(std::size_t slot, std::size_t which) const;
  [[nodiscard]] std::span<std::byte> group_in(std::size_t slot) const;
  [[nodiscard]] Result<std::unique_ptr<File>> read_images(const Planned& planned);
  [[nodiscard]] Status read_pair(const Planned& planned);

  PairOrder order_;
  std::vector<Planned> planned_;  // by slot
  OpenRequest detections_request_;
  std::unique_ptr<File> detections_;
};

}  // namespace ullage
