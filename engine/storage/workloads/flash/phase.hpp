// SPDX-License-Identifier: Apache-2.0
// Writing a FLASH file, and reading it again, on one rank.
#pragma once

#include "storage/array_contents.hpp"
#include "storage/array_file.hpp"
#include "storage/workloads/flash/flash.hpp"
#include "storage/workloads/shared_dataset.hpp"

namespace ullage {

// Arrays one after the other in a plain file, behind a header of ours: what any backend's file can hold.

struct RawArraysRequest {
  OpenRequest file;
  std::span<const ArraySpec> arrays;
  bool collective = false;    // operations of the file are
  bool holds_data = true;     // what is read can be what was written
  bool writes_header = true;  // this rank does so
};

class RawArrayFile final : public ArrayFile {
 public:
  RawArrayFile(std::unique_ptr<File> file, const RawArraysRequest& request)
      : file_(std::move(file)), offsets_(flash_offsets({request.arrays.begin(), request.arrays.end()})) {
    for (const ArraySpec& spec : request.arrays) row_bytes_.push_back(spec.row_bytes());
    extents_.reserve(offsets_.size());
  }

  [[nodiscard]] Status transfer(Direction direction, std::span<const ArrayRows> operations, Meter& meter) override {
    extents_.clear();
    for (const ArrayRows& rows : operations) {
      const std::uint64_t row_bytes = row_bytes_[rows.array];
      extents_.push_back({offsets_[rows.array] + rows.first * row_bytes, rows.rows * row_bytes, rows.data});
    }
    return file_->transfer(direction, extents_, meter);
  }
  [[nodiscard]] Status sync() override { return file_->sync(); }
  [[nodiscard]] Status close() override { return file_->close(); }
  [[nodiscard]] Map hints_granted() const override { return file_->hints_granted(); }

 private:
  std::unique_ptr<File> file_;
  std::vector<std::uint64_t> offsets_;
  std::vector<std::uint64_t> row_bytes_;
  std::vector<Extent> extents_;
};

/// Opens a file through the backend, and writes its header or reads it and compares it.
[[nodiscard]] inline Result<std::unique_ptr<ArrayFile>> open_raw_arrays(Backend& backend,
                                                                        const RawArraysRequest& request) {
  auto opened = open_with_header(backend, request.file,
                                 {.text = flash_header({request.arrays.begin(), request.arrays.end()}),
                                  .name = request.file.name,
                                  .collective = request.collective,
                                  .holds_data = request.holds_data,
                                  .writes = request.writes_header});
  if (!opened) return fail(opened.error());
  return std::make_unique<RawArrayFile>(std::move(*opened), request);
}

/// Holds what both phases of a repetition share on this rank.
struct FlashState {
  const FlashParameters* parameters = nullptr;
  const StorageContext* context = nullptr;
  Capabilities capabilities;
  DatasetEntry dataset;
  FlashLayout layout;
  std::vector<ArraySpec> arrays;
  std::uint64_t first_block = 0;
  std::uint64_t blocks = 0;  // of this rank

  [[nodiscard]] std::uint64_t rank_bytes() const { return blocks * layout.block_bytes(); }
};

/// One operation for each array: this rank's blocks of it. Open is the header, with the definition of the arrays.
class FlashPhase final : public PhaseWork {
 public:
  FlashPhase(const FlashState& state, Direction direction) : state_(state), direction_(direction) {
    const auto needed = static_cast<std::size_t>(state.rank_bytes());
    if (state.context->buffer->size() < needed) *state.context->buffer = AlignedBuffer(needed);
    std::byte* next = state.context->buffer->bytes().data();
    for (std::size_t a = 0; a < state.arrays.size(); ++a) {
      rows_.push_back({a, state.first_block, state.blocks, next});
      next += state.blocks * state.arrays[a].row_bytes();
    }
  }

  [[nodiscard]] PhaseInfo info() const override {
    PhaseInfo info{.name = word_of(direction_),
                   .access = writes() ? Access::write : Access::read,
                   .collective = state_.capabilities.collective,
                   .collective_sync = state_.capabilities.collective_sync};
    for (const ArraySpec& spec : state_.arrays)
      info.bytes_at_once = std::max(info.bytes_at_once, state_.blocks * spec.row_bytes());
    if (!writes()) {
      info.data_of = "own";
      info.cache_control = state_.parameters->cache == DropCache::drop ? "drop" : "none";
    }
    if (state_.capabilities.data && state_.context->world->topology().leader()) info.files.push_back(file_name());
    return info;
  }

  [[nodiscard]] Status allocate() override {
    for (std::size_t a = 0; a < rows_.size(); ++a) {
      if (writes())
        fill_elements(run_of(a), data_of(a));
      else
        poison_elements(data_of(a));
    }
    Backend& backend = *state_.context->backend;
    const Status status = backend.make_ready(state_.context->buffer->bytes(), {});
    return status ? backend.ready_open(open_request(), state_.arrays) : status;
  }

  [[nodiscard]] Status before() override {
    if (writes() || state_.parameters->cache == DropCache::none) return {};
    Status status = drop_file();
    state_.context->world->all().barrier();
    return status;
  }

  [[nodiscard]] std::uint64_t operations() const override { return rows_.size(); }
  [[nodiscard]] Status open() override {
    const OpenRequest request = open_request();
    Backend& backend = *state_.context->backend;
    return take_into(file_, state_.parameters->format == FileFormat::arrays
                                ? backend.open_arrays(request, state_.arrays)
                                : open_raw_arrays(backend, {.file = request,
                                                            .arrays = state_.arrays,
                                                            .collective = state_.capabilities.collective,
                                                            .holds_data = state_.capabilities.data,
                                                            .writes_header = state_.context->world->root()}));
  }

  /// The time of the arrays that describe the blocks and that of the unknowns are read off the meter's own clock.
  [[nodiscard]] Status execute(Meter& meter) override {
    if (!file_) return {};
    const std::uint64_t end = first_ + prepared_;
    const std::uint64_t boundary = std::clamp<std::uint64_t>(FlashLayout::metadata_arrays, first_, end);
    const std::int64_t begun_ns = meter.last_ns();
    const Status described = move(first_, boundary, meter);
    const std::int64_t between_ns = meter.last_ns();
    metadata_ns_ += between_ns - begun_ns;
    // In a collective file a rank in error goes on taking part.
    const Status moved = described || state_.capabilities.collective ? move(boundary, end, meter) : Status{};
    unknowns_ns_ += meter.last_ns() - between_ns;
    return described ? moved : described;
  }

  [[nodiscard]] bool wants_sync() const override { return writes() && state_.parameters->sync; }
  [[nodiscard]] Status sync() override { return file_ ? file_->sync() : Status{}; }
  [[nodiscard]] Status close() override {
    if (!file_) return {};
    const Status closed = file_->close();
    granted_ = file_->hints_granted();
    return closed;
  }

  [[nodiscard]] Verification after(std::uint64_t executed, Meter& progress) override {
    if (!state_.capabilities.data || executed < rows_.size()) return {};
    if (writes()) return check_size();
    return state_.parameters->verify == Verify::full ? check_data(executed, progress) : Verification{};
  }

  [[nodiscard]] Counters counters() const override { return {{"blocks", state_.blocks}, {"file_bytes", file_bytes_}}; }
  [[nodiscard]] Gauges gauges() const override {
    return {{"metadata_s", static_cast<double>(metadata_ns_) * 1e-9},
            {"unknowns_s", static_cast<double>(unknowns_ns_) * 1e-9}};
  }

  void add_facts(Json& facts) const override {
    facts["total_blocks"] = state_.layout.total_blocks;
    facts["block_bytes"] = state_.layout.block_bytes();
    facts["data_bytes"] = state_.layout.data_bytes();
    facts["file_bytes"] = file_bytes_;
  }

  [[nodiscard]] Map hints_given() const override { return state_.context->backend->hints_given(); }
  [[nodiscard]] Map hints_granted() const override { return with_hints_of(*state_.context->backend, granted_); }

 private:
  [[nodiscard]] OpenRequest open_request() const {
    return {.name = file_name(),
            .mode = writes() ? OpenMode::create : OpenMode::read,
            .shared = true,
            .expected_bytes = FlashLayout::header_bytes + state_.layout.data_bytes()};
  }

  [[nodiscard]] bool writes() const { return direction_ == Direction::write; }
  [[nodiscard]] Status move(std::uint64_t first, std::uint64_t end, Meter& meter) {
    if (first >= end) return {};
    const std::span<const ArrayRows> rows = rows_;
    return file_->transfer(direction_,
                           rows.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(end - first)), meter);
  }

  [[nodiscard]] ElementRun run_of(std::size_t array) const {
    const ArraySpec& spec = state_.arrays[array];
    return {state_.context->run_key, array, spec.type, state_.first_block * spec.row_bytes() / bytes_of(spec.type)};
  }

  [[nodiscard]] std::span<std::byte> data_of(std::size_t array) const {
    return {rows_[array].data, static_cast<std::size_t>(state_.blocks * state_.arrays[array].row_bytes())};
  }

  [[nodiscard]] Status drop_file() const {
    if (!state_.context->world->topology().leader()) return {};
    return state_.context->backend->drop_cached(file_name());
  }

  /// Our own format has exactly the bytes of the formula; of others the size is noted.
  [[nodiscard]] Verification check_size() {
    const StorageContext& context = *state_.context;
    if (context.folder == nullptr || !state_.capabilities.path || !context.world->root()) return {};
    const auto found = size_of_file(context, file_name());
    if (!found) return Verification::of(fail(found.error()));
    file_bytes_ = *found;
    if (state_.parameters->format != FileFormat::raw) return {};
    const std::uint64_t wanted = FlashLayout::header_bytes + state_.layout.data_bytes();
    return Verification::of(check_size_of_file(context, file_name(), wanted, *found));
  }

  [[nodiscard]] Verification check_data(std::uint64_t executed, Meter& progress) const {
    Verification verification;
    for (std::size_t a = 0; a < executed; ++a) {
      const ElementCheck check = check_elements(run_of(a), data_of(a));
      verification.verified_bytes += data_of(a).size();
      verification.bad_blocks += check.wrong_elements;
      if (check.first && !verification.first) verification.first = wrong_element(a, *check.first);
      progress.report_alive();
    }
    return verification;
  }

  [[nodiscard]] Error wrong_element(std::size_t array, const WrongElement& wrong) const {
    const ArraySpec& spec = state_.arrays[array];
    const std::uint64_t row_elements = spec.row_bytes() / bytes_of(spec.type);
    Error error = verification_error("verify", path_of(*state_.context, file_name()),
                                     "array '" + spec.name + "' differs in block " +
                                         std::to_string(state_.first_block + wrong.element / row_elements) +
                                         " of rank " + std::to_string(state_.context->world->rank()),
                                     wrong.expected, wrong.found);
    if (state_.parameters->format == FileFormat::raw)
      error.offset_bytes = flash_offsets(state_.arrays)[array] + state_.first_block * spec.row_bytes() +
                           wrong.element * bytes_of(spec.type);
    return error;
  }

  [[nodiscard]] std::string file_name() const { return state_.dataset.file_name(0); }

  const FlashState& state_;
  Direction direction_;
  std::vector<ArrayRows> rows_;
  std::unique_ptr<ArrayFile> file_;
  std::int64_t metadata_ns_ = 0;
  std::int64_t unknowns_ns_ = 0;
  std::uint64_t file_bytes_ = 0;
  Map granted_;
};

}  // namespace ullage
