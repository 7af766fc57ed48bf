// SPDX-License-Identifier: Apache-2.0
// Phase `k3` of workload `sar`: gets pairs of images of random locations, then parts of the later one row by row, and
// writes these to the rank's file of detections.
#pragma once

#include "base/count.hpp"
#include "base/std.hpp"
#include "storage/workloads/sar/phase.hpp"
#include "storage/workloads/sar/sar.hpp"

namespace ullage {

inline std::size_t image_slot_bytes(const SarShape& shape) {
  return round_up(static_cast<std::size_t>(shape.image_bytes()), buffer_alignment);
}

/// An operation is one pair. It opens both images, or their container once. Its bytes are those of the whole images:
/// the rows of sub-images come from memory, which holds the image since a moment ago.
class RetrievePhase final : public SarPhase {
 public:
  explicit RetrievePhase(const SarState& state)
      : SarPhase(state, {"k3",
                         Access::read,
                         {SarPart::open, SarPart::transfer, SarPart::subimages, SarPart::write, SarPart::close},
                         state.shape.pairs_of(state.source_rank()),
                         images_of_a_pair * image_slot_bytes(state.shape) +
                             static_cast<std::size_t>(state.shape.group_bytes())}),
        order_(state.shape, state.source_rank()) {}

  [[nodiscard]] PhaseInfo info() const override {
    PhaseInfo info = SarPhase::info();
    tell_whose(state_.parameters.read_back, state_.source.data_of, info,
               {"every rank reads back its own images, since there is no other rank or node to read from",
                "there is one node: ranks read images that another rank of the same node wrote"});
    return info;
  }

  [[nodiscard]] Status before() override {
    detections_request_ = request_of(state_.files().detections_path(state_.rank()), OpenMode::create,
                                     operations() * state_.shape.group_bytes());
    if (operations() > 0)
      if (auto status = state_.context.backend->ready_open(detections_request_); !status) return status;
    return SarPhase::before();
  }

  [[nodiscard]] Status open() override {
    if (operations() == 0) return {};
    if (auto status = take_into(detections_, state_.context.backend->open(detections_request_)); !status) return status;
    ++files_besides_;
    return {};
  }

  [[nodiscard]] bool wants_sync() const override { return state_.parameters.sync != SarSync::none; }
  [[nodiscard]] Status sync() override { return detections_ ? detections_->sync() : Status{}; }

  [[nodiscard]] Status close() override {
    if (!detections_) return {};
    const Status status = detections_->close();
    detections_.reset();
    return status;
  }

 protected:
  void ready(std::uint64_t operation, std::size_t slot) override {
    const SarShape& shape = state_.shape;
    const ImageLayout layout = state_.parameters.layout;
    const std::uint64_t file_bytes = (layout == ImageLayout::containers ? shape.depth : 1) * shape.image_bytes();
    if (planned_.size() <= slot) planned_.resize(slot + 1);
    Planned& planned = planned_[slot];
    for (std::size_t which = 0; which < images_of_a_pair; ++which) {
      const ImageAt image = image_of(operation, which);
      const auto data = image_in(slot, which);
      planned.requests.at(which) =
          request_of(state_.files().image_path(image.location, image.time), OpenMode::read, file_bytes);
      planned.images.at(which) = {image_offset_bytes(shape, layout, image.time), data.size(), data.data()};
    }
    const auto group = group_in(slot);
    const ImageAt earlier = order_(operation);
    runs_of(shape, earlier, image_offset_bytes(shape, layout, earlier.time + 1), group, planned.runs);
    planned.group = {operation * shape.group_bytes(), group.size(), group.data()};
  }

  [[nodiscard]] Result<std::uint64_t> operate(std::size_t slot) override {
    const Planned& planned = planned_[slot];
    Status status = read_pair(planned);
    if (status) status = calls_.move(*detections_, Direction::write, {&planned.group, 1}, SarPart::write);
    if (!status) return fail(status.error());
    images_ += images_of_a_pair;
    subimages_ += state_.shape.subimages;
    written_bytes_ += planned.group.length_bytes;
    return images_of_a_pair * state_.shape.image_bytes();
  }

  [[nodiscard]] Status read_again(std::size_t slot) override { return read_pair(planned_[slot]); }

  void check(std::uint64_t operation, std::size_t slot) override {
    const SarShape& shape = state_.shape;
    const Planned& planned = planned_[slot];
    for (std::size_t which = 0; which < images_of_a_pair; ++which)
      check_bytes(image_in(slot, which), {SarData::images, image_position_bytes(shape, image_of(operation, which)),
                                          planned.requests.at(which).name, planned.images.at(which).offset_bytes});
    const std::uint64_t begins = image_position_bytes(shape, image_of(operation, 1));
    for (const Extent& run : planned.runs)
      check_bytes({run.data, run.length_bytes},
                  {SarData::images, begins + run.offset_bytes - planned.images[1].offset_bytes,
                   planned.requests[1].name, run.offset_bytes});
  }

  [[nodiscard]] std::vector<std::string> files_read() const override {
    std::vector<std::string> names;
    for (std::uint64_t i = 0; i < operations(); ++i)
      for (std::size_t which = 0; which < images_of_a_pair; ++which) {
        const ImageAt image = image_of(i, which);
        names.push_back(state_.in_dataset(state_.files().image_path(image.location, image.time)));
      }
    return names;
  }

 private:
  static constexpr std::size_t images_of_a_pair = 2;
  struct Planned {
    std::array<OpenRequest, images_of_a_pair> requests;
    std::array<Extent, images_of_a_pair> images;
    std::vector<Extent> runs;
    Extent group;
  };

  [[nodiscard]] ImageAt image_of(std::uint64_t operation, std::size_t which) const {
    ImageAt image = order_(operation);
    image.time += which;
    return image;
  }

  [[nodiscard]] std::span<std::byte> image_in(std::size_t slot, std::size_t which) const {
    return slot_at(slot).subspan(which * image_slot_bytes(state_.shape),
                                 static_cast<std::size_t>(state_.shape.image_bytes()));
  }

  [[nodiscard]] std::span<std::byte> group_in(std::size_t slot) const {
    return slot_at(slot).subspan(images_of_a_pair * image_slot_bytes(state_.shape));
  }

  /// The file of the later image, open.
  [[nodiscard]] Result<std::unique_ptr<File>> read_images(const Planned& planned) {
    auto file = calls_.open(planned.requests[0]);
    if (!file) return file;
    Status status = calls_.move(**file, Direction::read, {&planned.images[0], 1}, SarPart::transfer);
    if (status && state_.parameters.layout == ImageLayout::files) {
      status = calls_.close(**file);
      if (!status) return fail(status.error());
      file = calls_.open(planned.requests[1]);
      if (!file) return file;
    }
    if (status) status = calls_.move(**file, Direction::read, {&planned.images[1], 1}, SarPart::transfer);
    if (!status) return fail(status.error());
    return file;
  }

  [[nodiscard]] Status read_pair(const Planned& planned) {
    const auto file = read_images(planned);
    if (!file) return fail(file.error());
    Status status = calls_.move(**file, Direction::read, planned.runs, SarPart::subimages);
    if (status) status = calls_.close(**file);
    return status;
  }

  PairOrder order_;
  std::vector<Planned> planned_;  // by slot
  OpenRequest detections_request_;
  std::unique_ptr<File> detections_;
};

}  // namespace ullage
