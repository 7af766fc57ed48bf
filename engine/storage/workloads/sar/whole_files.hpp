// SPDX-License-Identifier: Apache-2.0
// The phases of workload `sar` in which an operation moves a whole piece of one file: the generator of its input
// (sdg), the formation of images from raw data (k1), and their storage on the grid (k2).
#pragma once

#include "base/std.hpp"
#include "storage/workloads/sar/phase.hpp"

namespace ullage {

class WholeFilesPhase : public SarPhase {
 public:
  [[nodiscard]] PhaseInfo info() const override {
    PhaseInfo info = SarPhase::info();
    info.collective_sync = wants_sync();
    return info;
  }

  [[nodiscard]] bool wants_sync() const override { return !reads() && state_.parameters.sync == SarSync::close; }
  /// Everything at once, when all ranks of the node are done.
  [[nodiscard]] Status sync() override { return sync_dataset(state_.context, state_.dataset); }

 protected:
  WholeFilesPhase(const SarState& state, SarPhaseTraits traits) : SarPhase(state, std::move(traits)) {}

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
  /// One of the raw files of `rank`, or of the shared ones, which go by the number 0.
  [[nodiscard]] Piece raw_piece(std::uint64_t rank, std::uint64_t number, OpenMode mode) const {
    const ImageGrid& files = state_.files();
    const std::uint64_t writer = files.raw_shared ? 0 : rank;
    const std::uint64_t bytes = state_.shape.raw_bytes();
    return {.position_bytes = (writer * files.raw_files + number) * bytes,
            .path = files.raw_path(writer, number),
            .mode = mode,
            .file_bytes = bytes,
            .bytes = bytes};
  }
  [[nodiscard]] virtual bool moves_images() const { return true; }

  void ready(std::uint64_t operation, std::size_t slot) override {
    const Piece piece = piece_of(operation);
    const auto data = slot_at(slot).first(static_cast<std::size_t>(piece.bytes));
    if (!reads()) contents_.fill(piece.kind, data, piece.position_bytes);
    if (planned_.size() <= slot) planned_.resize(slot + 1);
    planned_[slot] = {request_of(piece.path, piece.mode, piece.file_bytes),
                      {piece.offset_bytes, data.size(), data.data()}};
  }

  [[nodiscard]] Result<std::uint64_t> operate(std::size_t slot) override {
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

  [[nodiscard]] Status read_again(std::size_t slot) override {
    const auto read = operate(slot);
    return read ? Status{} : fail(read.error());
  }

  void check(std::uint64_t operation, std::size_t slot) override {
    const Piece piece = piece_of(operation);
    check_bytes(slot_at(slot).first(static_cast<std::size_t>(piece.bytes)),
                {piece.kind, piece.position_bytes, state_.in_dataset(piece.path), piece.offset_bytes});
  }

 private:
  struct Planned {
    OpenRequest request;
    Extent extent;
  };
  std::vector<Planned> planned_;  // by slot
};

inline SarPhaseTraits traits_of_writing(const SarState& state, std::string name, std::uint64_t operations,
                                        std::uint64_t bytes) {
  std::vector<SarPart> parts{SarPart::open, SarPart::transfer};
  if (state.parameters.sync == SarSync::fsync) parts.push_back(SarPart::sync);
  parts.push_back(SarPart::close);
  return {std::move(name), Access::write, std::move(parts), operations, static_cast<std::size_t>(bytes)};
}

inline std::vector<std::uint64_t> numbers_of(const SarState& state, std::uint64_t end, bool all) {
  std::vector<std::uint64_t> numbers;
  for (std::uint64_t number = 0; number < end; ++number)
    if (all || state.makes(number)) numbers.push_back(number);
  return numbers;
}

inline std::uint64_t files_made_by(const SarState& state) {
  const ImageGrid& files = state.files();
  return numbers_of(state, files.raw_files, !files.raw_shared).size() +
         numbers_of(state, files.templates, false).size();
}

/// Phase `sdg`: this rank's part of the raw files and of the templates.
class GeneratePhase final : public WholeFilesPhase {
 public:
  explicit GeneratePhase(const SarState& state)
      : WholeFilesPhase(state, traits_of_writing(state, "sdg", files_made_by(state),
                                                 std::max(state.shape.raw_bytes(), state.parameters.template_bytes))),
        raws_(numbers_of(state, state.files().raw_files, !state.files().raw_shared)),
        templates_(numbers_of(state, state.files().templates, false)) {}

 protected:
  [[nodiscard]] Piece piece_of(std::uint64_t operation) const override {
    if (operation < raws_.size()) return raw_piece(state_.rank(), raws_[operation], OpenMode::create);
    const std::uint64_t number = templates_[operation - raws_.size()];
    const std::uint64_t bytes = state_.parameters.template_bytes;
    return {.kind = SarData::templates,
            .position_bytes = number * bytes,
            .path = state_.files().template_path(number),
            .file_bytes = bytes,
            .bytes = bytes};
  }

  [[nodiscard]] bool moves_images() const override { return false; }

 private:
  std::vector<std::uint64_t> raws_;  // numbers of those this rank makes
  std::vector<std::uint64_t> templates_;
};

/// Phase `k1`: reads a raw file for each image of this rank.
class FormPhase final : public WholeFilesPhase {
 public:
  explicit FormPhase(const SarState& state)
      : WholeFilesPhase(state, {"k1",
                                Access::read,
                                {SarPart::open, SarPart::transfer, SarPart::close},
                                state.shape.images_of(state.rank()),
                                static_cast<std::size_t>(state.shape.raw_bytes())}) {}

  /// Some of the shared files may be of this node.
  [[nodiscard]] PhaseInfo info() const override {
    PhaseInfo info = WholeFilesPhase::info();
    if (!state_.files().raw_shared || state_.source.data_of == "own") return info;
    info.data_of = "own";
    info.notices.push_back({"raw-shared",
                            "all ranks read the same raw files in K1, also those on the node that wrote them",
                            "use raw own, so that each rank reads those of another node"});
    return info;
  }

 protected:
  [[nodiscard]] Piece piece_of(std::uint64_t operation) const override {
    return raw_piece(state_.source_rank(), operation % state_.files().raw_files, OpenMode::read);
  }

  [[nodiscard]] std::vector<std::string> files_read() const override {
    std::vector<std::string> names;
    for (std::uint64_t i = 0; i < std::min(operations(), state_.files().raw_files); ++i)
      names.push_back(state_.in_dataset(piece_of(i).path));
    return names;
  }
};

/// Phase `k2`: stores this rank's images.
class StorePhase final : public WholeFilesPhase {
 public:
  explicit StorePhase(const SarState& state)
      : WholeFilesPhase(state,
                        traits_of_writing(state, "k2", state.shape.images_of(state.rank()), state.shape.image_bytes())),
        order_(state.shape, state.rank()) {}

 protected:
  /// A container is made with the first image of its location; the others come behind it.
  [[nodiscard]] Piece piece_of(std::uint64_t operation) const override {
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

 private:
  StoreOrder order_;
};

}  // namespace ullage
