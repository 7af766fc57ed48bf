// SPDX-License-Identifier: Apache-2.0
// A file of parallel HDF5 with its datasets, as an ArrayFile.
#pragma once

#include <unistd.h>

#include <cerrno>

#include "base/std.hpp"
#include "mpi/agreement.hpp"
#include "mpi/comm.hpp"
#include "mpi/info.hpp"
#include "storage/array_file.hpp"
#include "storage/backend.hpp"
#include "storage/backends/hdf5_facts.hpp"
#include "storage/backends/hdf5_room.hpp"
#include "storage/backends/hdf5_types.hpp"
#include "storage/backends/mpi_path.hpp"
#include "storage/hdf5_library.hpp"

namespace ullage {

struct Hdf5Parameters {
  bool collective = false;
  bool collective_metadata = false;
  std::uint64_t chunk_bytes = 0;
  std::uint64_t alignment_bytes = 1;
  std::uint64_t alignment_from_bytes = 1;
  std::uint64_t page_buffer_bytes = 0;
  std::uint64_t page_bytes = 4096;
  bool evict_on_close = false;
  bool fill = false;
  bool new_format = false;
  Map hints;
};

/// Says how a file is to be opened.
struct Hdf5Opening {
  const Hdf5Calls* calls = nullptr;
  const Hdf5Parameters* parameters = nullptr;
  HdfId creation = 0;
  HdfId access = 0;
  OpenMode mode = OpenMode::create;
  std::string library_path;                // as the library is told it
  std::string path;                        // as people are told it
  const mpi::Comm* everyone = nullptr;     // the ranks that open it together, null for a file of this rank
  std::span<const ArraySpec> arrays = {};  // an array of no rows takes its rows from the file
};

// These numbers are macros of <hdf5.h>.
inline constexpr unsigned hdf5_update = 1;
inline constexpr unsigned hdf5_exclusive = 4;
inline constexpr int hdf5_whole_file = 1;
inline constexpr int select_set = 0;
inline constexpr int transfers_independent = 0;
inline constexpr int transfers_collective = 1;
inline constexpr int fill_at_allocation = 0;
inline constexpr int fill_never = 1;
inline constexpr int allocate_early = 1;
inline constexpr std::uint64_t most_independent_bytes = std::uint64_t{1} << 30;

class Hdf5ArrayFile final : public ArrayFile {
 public:
  explicit Hdf5ArrayFile(const Hdf5Opening& opening)
      : calls_(*opening.calls),
        parameters_(*opening.parameters),
        opening_(opening),
        path_(opening.path),
        metadata_bytes_(hdf5_metadata_bytes(opening.arrays, opening.parameters->chunk_bytes)),
        meeting_(opening.everyone),
        collective_(parameters_.collective),
        types_(*opening.calls) {}

  /// One that several ranks share is left open where it was not closed: closing waits for them all.
  ~Hdf5ArrayFile() override {
    if (opening_.everyone == nullptr || !file_) return;
    for (Array& array : arrays_) array.leave();
    file_.leave();
  }
  Hdf5ArrayFile(const Hdf5ArrayFile&) = delete;
  Hdf5ArrayFile& operator=(const Hdf5ArrayFile&) = delete;

  [[nodiscard]] bool is_open() const { return static_cast<bool>(file_); }

  /// Every rank makes the same calls as long as they succeed.
  [[nodiscard]] Status open() {
    transfer_list_ = {calls_.create_list(*calls_.dataset_transfer), calls_.close_list};
    link_list_ = {calls_.create_list(*calls_.link_creation), calls_.close_list};
    if (!link_list_ || calls_.set_intermediate_groups(link_list_.get(), 1) < 0) return failed("open");
    const int mode = collective_ ? transfers_collective : transfers_independent;
    if (!transfer_list_ || calls_.set_collective(transfer_list_.get(), mode) < 0) return failed("open");
    const bool creates = opening_.mode == OpenMode::create;
    const unsigned flags = creates ? hdf5_exclusive : opening_.mode == OpenMode::overwrite ? hdf5_update : hdf5_read;
    const char* const path = opening_.library_path.c_str();
    file_ = {creates ? calls_.create_file(path, flags, opening_.creation, opening_.access)
                     : calls_.open_file(path, flags, opening_.access),
             calls_.close_file};
    if (!file_) return failed("open");
    for (const ArraySpec& spec : opening_.arrays)
      if (auto status = add(spec, creates); !status) return status;
    return {};
  }

  [[nodiscard]] Status transfer(Direction direction, std::span<const ArrayRows> operations, Meter& meter) override {
    for (const ArrayRows& rows : operations) {
      const std::uint64_t bytes = moved_bytes(arrays_[rows.array].spec, rows);
      if (!failure_)
        note(collective_ ? move_together(direction, rows) : move_alone(direction, rows));
      else if (collective_)
        (void)call(direction, nothing_of(rows));
      if (failure_ && !collective_) break;
      if (!failure_ && !meter.completed(bytes)) break;
    }
    return failure_ ? fail(*failure_) : Status{};
  }

  [[nodiscard]] Status sync() override {
    note(check_room("sync"));
    if (meeting_.meet(true, failure_.has_value()).anyone_failed)
      return failure_ ? fail(*failure_) : fail(not_synced(path_));
    note(flush());
    return failure_ ? fail(*failure_) : Status{};
  }

  [[nodiscard]] Status close() override {
    Status status = failure_ ? Status{} : check_room("close");
    note(status);
    const bool doomed = meeting_.wait_for_syncs([this] { return failure_.has_value(); }, [this] { note(flush()); });
    if (granted_.empty()) granted_ = ask_granted();
    if (doomed && opening_.mode != OpenMode::read) discard();
    for (Array& array : arrays_)
      if (array.close() < 0 && status) status = failed("close");
    arrays_.clear();
    if (close_file() < 0 && status) status = failed("close");
    return status;
  }

  /// What was opened is of no use: all ranks that have it open close it together.
  [[nodiscard]] int abandon() {
    if (file_ && opening_.mode == OpenMode::create) discard_writes(path_);
    for (Array& array : arrays_) (void)array.close();
    arrays_.clear();
    const int closed = close_file();
    (void)calls_.clear_errors(hdf5_default);
    return closed;
  }

  /// Asking the library takes a call of all ranks: when they close the file.
  [[nodiscard]] Map hints_granted() const override { return granted_; }

 private:
  struct Array {
    ArraySpec spec;
    Hdf5Handle dataset;
    Hdf5Handle space;
    Hdf5Handle memory;
    std::uint64_t memory_elements = 0;
    HdfId type = 0;
    std::uint64_t rows = 0;
    std::uint64_t row_bytes = 1;
    std::uint64_t row_elements = 1;
    std::vector<HdfSize> start;
    std::vector<HdfSize> count;
    std::vector<HdfSize> stride;
    std::vector<HdfSize> block;

    void leave() {
      for (Hdf5Handle* handle : {&dataset, &space, &memory}) handle->leave();
    }
    [[nodiscard]] int close() {
      const int of_memory = memory.close();
      const int of_space = space.close();
      return std::min({of_memory, of_space, dataset.close()});
    }
  };

  /// Flushing and closing write metadata. On a file system that is full this would fail on one rank and leave the
  /// others waiting, so one rank looks for room before all begin.
  [[nodiscard]] Status check_room(const std::string& operation) const {
    const bool asks = opening_.mode == OpenMode::create && meeting_.first();
    return asks ? check_hdf5_room(operation, path_, metadata_bytes_) : Status{};
  }

  /// The data is of no use any more, and closing needs no room then.
  void discard() const {
    discard_writes(path_);
    (void)meeting_.meet(false, true);
    if (meeting_.first()) (void)truncate(path_.c_str(), 0);
  }

  /// A file whose last metadata cannot be written is released with an error, but HDF5 1.10 keeps its identifier. At its
  /// end the library would close the file once more, in memory that is free.
  [[nodiscard]] int close_file() {
    const HdfId id = file_.get();
    const int closed = file_.close();
    if (closed < 0 && calls_.forget_id != nullptr) (void)calls_.forget_id(id);
    return closed;
  }

  /// MPI libraries mostly say no more than that there was an error: whether there is room left is asked here.
  [[nodiscard]] std::unexpected<Error> failed(const std::string& operation) const {
    Error error = hdf5_error(calls_, operation, path_);
    if (error.errno_value == EIO && opening_.mode != OpenMode::read &&
        !check_hdf5_room(operation, path_, metadata_bytes_)) {
      error.errno_value = ENOSPC;
      error.text += ", and no space is left";
    }
    return fail(with_size_limit(std::move(error), operation == "read" ? Direction::read : Direction::write, path_, 0));
  }
  void note(const Status& status) {
    if (!status && !failure_) failure_ = status.error();
  }

  [[nodiscard]] Status add(const ArraySpec& spec, bool creates) {
    Array array;
    array.spec = spec;
    array.type = types_.of(spec);
    if (array.type < 0) return failed("open");
    array.row_bytes = spec.row_bytes();
    array.row_elements = spec.row_elements();
    array.start.assign(spec.dimensions.size(), 0);
    array.count.assign(spec.dimensions.begin(), spec.dimensions.end());
    array.stride.assign(spec.dimensions.size(), 1);
    array.block.assign(spec.dimensions.size(), 1);
    if (creates) {
      array.space = {calls_.create_space(static_cast<int>(array.count.size()), array.count.data(), nullptr),
                     calls_.close_space};
      const Hdf5Handle creation = creation_list(spec);
      if (!array.space || !creation) return failed("create");
      array.dataset = {calls_.create_dataset(file_.get(), spec.name.c_str(), array.type, array.space.get(),
                                             link_list_.get(), creation.get(), hdf5_default),
                       calls_.close_dataset};
    } else {
      array.dataset = {calls_.open_dataset(file_.get(), spec.name.c_str(), hdf5_default), calls_.close_dataset};
      if (array.dataset) array.space = {calls_.space_of(array.dataset.get()), calls_.close_space};
    }
    if (!array.dataset || !array.space) return failed("open");
    const std::int64_t elements = calls_.count_elements(array.space.get());
    if (elements < 0) return failed("open");
    array.rows = static_cast<std::uint64_t>(elements) / array.row_elements;
    if (spec.rows() != 0 && array.rows != spec.rows())
      return fail(environment_error(path_, "dataset '" + spec.name + "' has " + std::to_string(array.rows) +
                                               " rows, must have " + std::to_string(spec.rows())));
    arrays_.push_back(std::move(array));
    return {};
  }

  /// Invalid where the library refuses.
  [[nodiscard]] Hdf5Handle creation_list(const ArraySpec& spec) const {
    Hdf5Handle list(calls_.create_list(*calls_.dataset_creation), calls_.close_list);
    bool right = list && calls_.set_fill_time(list.get(), parameters_.fill ? fill_at_allocation : fill_never) >= 0 &&
                 calls_.set_allocation_time(list.get(), allocate_early) >= 0;
    if (right && parameters_.chunk_bytes > 0) {
      const auto chunk = hdf5_chunk(spec, parameters_.chunk_bytes);
      right = calls_.set_chunk(list.get(), static_cast<int>(chunk.size()), chunk.data()) >= 0;
    }
    return right ? std::move(list) : Hdf5Handle();
  }

  /// Selects the rows, or their parts, in the file and as many elements in memory.
  [[nodiscard]] bool select(Array& array, const ArrayRows& rows) const {
    const std::uint64_t elements = moved_elements(array.spec, rows);
    if (!have_in_memory(array, elements)) return false;
    if (elements == 0) return calls_.select_none(array.space.get()) >= 0;
    const bool in_runs = rows.run_rows > 0;
    array.start.front() = rows.first;
    array.count.front() = in_runs ? rows.rows / rows.run_rows : rows.rows;
    array.stride.front() = in_runs ? rows.stride_rows : 1;
    array.block.front() = in_runs ? rows.run_rows : 1;
    for (std::size_t d = 1; d < array.count.size(); ++d) {
      array.start[d] = rows.within.empty() ? 0 : rows.within[d - 1].begin;
      array.count[d] = rows.within.empty() ? array.spec.dimensions[d] : rows.within[d - 1].extent;
    }
    return calls_.select(array.space.get(), select_set, array.start.data(), in_runs ? array.stride.data() : nullptr,
                         array.count.data(), in_runs ? array.block.data() : nullptr) >= 0;
  }

  /// A space of one dimension in memory, kept from call to call as long as the calls have the same size.
  [[nodiscard]] bool have_in_memory(Array& array, std::uint64_t elements) const {
    if (array.memory && array.memory_elements == elements) return true;
    const HdfSize length = std::max<std::uint64_t>(elements, 1);
    array.memory = {calls_.create_space(1, &length, nullptr), calls_.close_space};
    array.memory_elements = elements;
    if (!array.memory) return false;
    return elements > 0 || calls_.select_none(array.memory.get()) >= 0;
  }

  [[nodiscard]] Status call(Direction direction, const ArrayRows& rows) {
    Array& array = arrays_[rows.array];
    if (!select(array, rows)) return failed(word_of(direction));
    const HdfId type = rows.memory.empty() ? array.type : types_.record(rows.memory);
    const HdfId transfer = transfer_list_.get();
    const int code =
        direction == Direction::write
            ? calls_.write(array.dataset.get(), type, array.memory.get(), array.space.get(), transfer, rows.data)
            : calls_.read(array.dataset.get(), type, array.memory.get(), array.space.get(), transfer, rows.data);
    return code < 0 ? failed(word_of(direction)) : Status{};
  }

  [[nodiscard]] std::optional<Error> beyond_end(const ArrayRows& rows) const {
    const Array& array = arrays_[rows.array];
    const std::uint64_t length = rows.end() - rows.first;
    if (rows.first <= array.rows && length <= array.rows - rows.first) return std::nullopt;
    Error error = errno_error(EIO, "transfer", path_, std::min(rows.end(), array.rows) * array.row_bytes);
    error.text = "end of the dataset inside a transfer";
    return error;
  }

  /// Returns what a rank brings to a collective call that moves nothing: alike in type, which decides how the call is
  /// made.
  [[nodiscard]] static ArrayRows nothing_of(const ArrayRows& rows) {
    ArrayRows nothing{rows.array, 0, 0, rows.data};
    nothing.memory = rows.memory;
    return nothing;
  }

  [[nodiscard]] Status move_together(Direction direction, const ArrayRows& rows) {
    const auto beyond = beyond_end(rows);
    const Status moved = call(direction, beyond ? nothing_of(rows) : rows);
    return beyond ? fail(*beyond) : moved;
  }

  [[nodiscard]] Status move_alone(Direction direction, const ArrayRows& rows) {
    if (const auto beyond = beyond_end(rows)) return fail(*beyond);
    if (rows.run_rows > 0 || !rows.memory.empty() || !rows.within.empty()) return call(direction, rows);
    const std::uint64_t row_bytes = arrays_[rows.array].row_bytes;
    const std::uint64_t most_rows = std::max<std::uint64_t>(1, most_independent_bytes / row_bytes);
    for (std::uint64_t done = 0; done < rows.rows;) {
      const std::uint64_t part = std::min(rows.rows - done, most_rows);
      const ArrayRows piece{rows.array, rows.first + done, part, rows.data + done * row_bytes};
      if (auto status = call(direction, piece); !status) return status;
      done += part;
    }
    return {};
  }

  /// The MPI driver syncs the file as well.
  [[nodiscard]] Status flush() const {
    return calls_.flush_file(file_.get(), hdf5_whole_file) < 0 ? failed("sync") : Status{};
  }

  [[nodiscard]] Map ask_granted() const {
    if (!file_) return {};
    Map granted;
    void* handle = nullptr;
    if (calls_.get_driver_handle(file_.get(), hdf5_default, &handle) >= 0 && handle != nullptr)
      granted = mpi::hints_of_foreign(handle);
    granted.merge(
        hdf5_facts({calls_, file_.get(), arrays_.empty() ? -1 : arrays_.front().dataset.get(), transfer_list_.get()}));
    return granted;
  }

  const Hdf5Calls& calls_;
  const Hdf5Parameters& parameters_;
  Hdf5Opening opening_;
  std::string path_;
  std::uint64_t metadata_bytes_;
  MpiioMeeting meeting_;
  bool collective_;
  Hdf5Types types_;
  Hdf5Handle transfer_list_;
  Hdf5Handle link_list_;
  Hdf5Handle file_;  // before the arrays, which close before it
  std::vector<Array> arrays_;
  std::optional<Error> failure_;
  Map granted_;
};

/// Collective over `everyone`, also for a rank in error: all have it open or none.
[[nodiscard]] inline Result<std::unique_ptr<ArrayFile>> open_hdf5_arrays(const Hdf5Opening& opening) {
  auto file = std::make_unique<Hdf5ArrayFile>(opening);
  Status status = file->open();
  if (opening.everyone != nullptr) status = mpi::share_status(*opening.everyone, status);
  if (status) return file;
  if (opening.everyone == nullptr || opening.everyone->all(file->is_open())) (void)file->abandon();
  return fail(status.error());
}

}  // namespace ullage
