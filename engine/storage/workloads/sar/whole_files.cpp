// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/sar/whole_files.hpp"

#include <algorithm>
#include <utility>

namespace ullage {
namespace {

SarPhaseTraits traits_of_writing(const SarState& state, std::string name, std::uint64_t operations,
                                 std::uint64_t bytes) {
  std::vector<SarPart> parts{SarPart::open, SarPart::transfer};
  if (state.parameters.sync == SarSync::fsync) parts.push_back(SarPart::sync);
  parts.push_back(SarPart::close);
  return {std::move(name), Access::write, std::move(parts), operations, static_cast<std::size_t>(bytes)};
}

/// Whose raw files a rank has to do with: those of its own, or the shared ones, which go by the number 0.
std::uint64_t raw_writer(const SarState& state, std::uint64_t rank) { return state.files().raw_shared ? 0 : rank; }

std::vector<std::uint64_t> numbers_of(const SarState& state, std::uint64_t end, bool all) {
  std::vector<std::uint64_t> numbers;
  for (std::uint64_t number = 0; number < end; ++number)
    if (all || state.makes(number)) numbers.push_back(number);
  return numbers;
}

std::uint64_t files_made_by(const SarState& state) {
  const ImageGrid& files = state.files();
  return numbers_of(state, files.raw_files, !files.raw_shared).size() +
         numbers_of(state, files.templates, false).size();
}

}  // namespace

WholeFilesPhase::WholeFilesPhase(const SarState& state, SarPhaseTraits traits) : SarPhase(state, std::move(traits)) {}

PhaseInfo WholeFilesPhase::info() const {
  PhaseInfo info = SarPhase::info();
  info.collective_sync = wants_sync();
  return info;
}

void WholeFilesPhase::ready(std::uint64_t operation, std::size_t slot) {
  const Piece piece = piece_of(operation);
  const auto data = slot_at(slot).first(static_cast<std::size_t>(piece.bytes));
  if (!reads()) contents_.fill(piece.kind, data, piece.position_bytes);
  if (planned_.size() <= slot) planned_.resize(slot + 1);
  planned_[slot] = {request_of(piece.path, piece.mode, piece.file_bytes),
                    {piece.offset_bytes, data.size(), data.data()}};
}

Result<std::uint64_t> WholeFilesPhase::operate(std::size_t slot) {
  const Planned& planned = planned_[slot];
  const auto file = calls_.open(planned.request);
  if (!file) return fail(file.error());
  const Direction direction = reads() ? Direction::read : Direction::write;
  Status status = calls_.move(**file, direction, {&planned.extent, 1}, SarPart::transfer);
  if (status && !reads() && state_.parameters.sync == SarSync::fsync) status = calls_.sync(**file);
  if (status) status = calls_.close(**file);
  if (!status) return fail(status.error());
  images_ += moves_images() ? 1 : 0;
  return planned.extent.length_bytes;
}

Status WholeFilesPhase::read_again(std::size_t slot) {
  const auto read = operate(slot);
  return read ? Status{} : fail(read.error());
}

void WholeFilesPhase::check(std::uint64_t operation, std::size_t slot) {
  const Piece piece = piece_of(operation);
  check_bytes(slot_at(slot).first(static_cast<std::size_t>(piece.bytes)),
              {piece.kind, piece.position_bytes, state_.in_dataset(piece.path), piece.offset_bytes});
}

/// Everything at once, when all ranks of the node are done.
Status WholeFilesPhase::sync() { return sync_dataset(state_.context, state_.dataset); }

GeneratePhase::GeneratePhase(const SarState& state)
    : WholeFilesPhase(state, traits_of_writing(state, "sdg", files_made_by(state),
                                               std::max(state.shape.raw_bytes(), state.parameters.template_bytes))),
      raws_(numbers_of(state, state.files().raw_files, !state.files().raw_shared)),
      templates_(numbers_of(state, state.files().templates, false)) {}

WholeFilesPhase::Piece GeneratePhase::piece_of(std::uint64_t operation) const {
  const ImageGrid& files = state_.files();
  if (operation < raws_.size()) {
    const std::uint64_t number = raws_[operation];
    const std::uint64_t writer = raw_writer(state_, state_.rank());
    const std::uint64_t bytes = state_.shape.raw_bytes();
    return {.kind = SarData::raw,
            .position_bytes = (writer * files.raw_files + number) * bytes,
            .path = files.raw_path(writer, number),
            .file_bytes = bytes,
            .bytes = bytes};
  }
  const std::uint64_t number = templates_[operation - raws_.size()];
  const std::uint64_t bytes = state_.parameters.template_bytes;
  return {.kind = SarData::templates,
          .position_bytes = number * bytes,
          .path = files.template_path(number),
          .file_bytes = bytes,
          .bytes = bytes};
}

FormPhase::FormPhase(const SarState& state)
    : WholeFilesPhase(state, {"k1",
                              Access::read,
                              {SarPart::open, SarPart::transfer, SarPart::close},
                              state.shape.images_of(state.rank()),
                              static_cast<std::size_t>(state.shape.raw_bytes())}) {}

/// If files are shared, some may have been written on this node.
PhaseInfo FormPhase::info() const {
  PhaseInfo info = WholeFilesPhase::info();
  if (!state_.files().raw_shared || state_.source.data_of == "own") return info;
  info.data_of = "own";
  info.notices.push_back({"raw-shared",
                          "all ranks read the same raw files in K1, also those on the node that wrote them",
                          "use raw own, so that each rank reads those of another node"});
  return info;
}

WholeFilesPhase::Piece FormPhase::piece_of(std::uint64_t operation) const {
  const ImageGrid& files = state_.files();
  const std::uint64_t writer = raw_writer(state_, state_.source_rank());
  const std::uint64_t number = operation % files.raw_files;
  const std::uint64_t bytes = state_.shape.raw_bytes();
  return {.kind = SarData::raw,
          .position_bytes = (writer * files.raw_files + number) * bytes,
          .path = files.raw_path(writer, number),
          .mode = OpenMode::read,
          .file_bytes = bytes,
          .bytes = bytes};
}

std::vector<std::string> FormPhase::files_read() const {
  std::vector<std::string> names;
  for (std::uint64_t i = 0; i < std::min(operations(), state_.files().raw_files); ++i)
    names.push_back(state_.in_dataset(piece_of(i).path));
  return names;
}

StorePhase::StorePhase(const SarState& state)
    : WholeFilesPhase(state,
                      traits_of_writing(state, "k2", state.shape.images_of(state.rank()), state.shape.image_bytes())),
      order_(state.shape, state.rank()) {}

/// A container is made with the first image of its location; the others come behind it.
WholeFilesPhase::Piece StorePhase::piece_of(std::uint64_t operation) const {
  const ImageAt image = order_(operation);
  const ImageLayout layout = state_.parameters.layout;
  const bool appends = layout == ImageLayout::containers;
  const std::uint64_t bytes = state_.shape.image_bytes();
  return {.kind = SarData::images,
          .position_bytes = image_position_bytes(state_.shape, image),
          .path = state_.files().image_path(image.location, image.time),
          .mode = appends && image.time > 0 ? OpenMode::overwrite : OpenMode::create,
          .file_bytes = appends ? state_.shape.depth * bytes : bytes,
          .offset_bytes = image_offset_bytes(state_.shape, layout, image.time),
          .bytes = bytes};
}

}  // namespace ullage
