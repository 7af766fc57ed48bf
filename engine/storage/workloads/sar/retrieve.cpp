// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/sar/retrieve.hpp"

#include <utility>

#include "base/count.hpp"
#include "storage/workloads/sar/pattern.hpp"

namespace ullage {
namespace {

std::size_t image_slot_bytes(const SarShape& shape) {
  return round_up(static_cast<std::size_t>(shape.image_bytes()), buffer_alignment);
}

}  // namespace

RetrievePhase::RetrievePhase(const SarState& state)
    : SarPhase(state, {"k3",
                       Access::read,
                       {SarPart::open, SarPart::transfer, SarPart::subimages, SarPart::write, SarPart::close},
                       state.shape.pairs_of(state.source_rank()),
                       images_of_a_pair * image_slot_bytes(state.shape) +
                           static_cast<std::size_t>(state.shape.group_bytes())}),
      order_(state.shape, state.source_rank()) {}

PhaseInfo RetrievePhase::info() const {
  PhaseInfo info = SarPhase::info();
  tell_whose(state_.parameters.read_back, state_.source.data_of, info,
             {"every rank reads back its own images, since there is no other rank or node to read from",
              "there is one node: ranks read images that another rank of the same node wrote"});
  return info;
}

Status RetrievePhase::before() {
  detections_request_ = request_of(state_.files().detections_path(state_.rank()), OpenMode::create,
                                   operations() * state_.shape.group_bytes());
  if (operations() > 0)
    if (auto status = state_.context.backend->ready_open(detections_request_); !status) return status;
  return SarPhase::before();
}

Status RetrievePhase::open() {
  if (operations() == 0) return {};
  auto file = state_.context.backend->open(detections_request_);
  if (!file) return fail(file.error());
  detections_ = std::move(*file);
  ++files_besides_;
  return {};
}

Status RetrievePhase::close() {
  if (!detections_) return {};
  const Status status = detections_->close();
  detections_.reset();
  return status;
}

ImageAt RetrievePhase::image_of(std::uint64_t operation, std::size_t which) const {
  ImageAt image = order_(operation);
  image.time += which;
  return image;
}

std::span<std::byte> RetrievePhase::image_in(std::size_t slot, std::size_t which) const {
  return slot_at(slot).subspan(which * image_slot_bytes(state_.shape),
                               static_cast<std::size_t>(state_.shape.image_bytes()));
}

std::span<std::byte> RetrievePhase::group_in(std::size_t slot) const {
  return slot_at(slot).subspan(images_of_a_pair * image_slot_bytes(state_.shape));
}

void RetrievePhase::ready(std::uint64_t operation, std::size_t slot) {
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

/// The file of the later image, open.
Result<std::unique_ptr<File>> RetrievePhase::read_images(const Planned& planned) {
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

Status RetrievePhase::read_pair(const Planned& planned) {
  const auto file = read_images(planned);
  if (!file) return fail(file.error());
  Status status = calls_.move(**file, Direction::read, planned.runs, SarPart::subimages);
  if (status) status = calls_.close(**file);
  return status;
}

Result<std::uint64_t> RetrievePhase::operate(std::size_t slot) {
  const Planned& planned = planned_[slot];
  Status status = read_pair(planned);
  if (status) status = calls_.move(*detections_, Direction::write, {&planned.group, 1}, SarPart::write);
  if (!status) return fail(status.error());
  images_ += images_of_a_pair;
  subimages_ += state_.shape.subimages;
  written_bytes_ += planned.group.length_bytes;
  return images_of_a_pair * state_.shape.image_bytes();
}

void RetrievePhase::check(std::uint64_t operation, std::size_t slot) {
  const SarShape& shape = state_.shape;
  const Planned& planned = planned_[slot];
  for (std::size_t which = 0; which < images_of_a_pair; ++which)
    check_bytes(image_in(slot, which), {SarData::images, image_position_bytes(shape, image_of(operation, which)),
                                        planned.requests.at(which).name, planned.images.at(which).offset_bytes});
  const std::uint64_t begins = image_position_bytes(shape, image_of(operation, 1));
  for (const Extent& run : planned.runs)
    check_bytes({run.data, run.length_bytes},
                {SarData::images, begins + run.offset_bytes - planned.images[1].offset_bytes, planned.requests[1].name,
                 run.offset_bytes});
}

std::vector<std::string> RetrievePhase::files_read() const {
  std::vector<std::string> names;
  for (std::uint64_t i = 0; i < operations(); ++i)
    for (std::size_t which = 0; which < images_of_a_pair; ++which) {
      const ImageAt image = image_of(i, which);
      names.push_back(state_.in_dataset(state_.files().image_path(image.location, image.time)));
    }
  return names;
}

}  // namespace ullage
