// SPDX-License-Identifier: Apache-2.0
// A file of backend `mpiio` that is seen through views.
#pragma once

#include <cerrno>

#include "base/std.hpp"
#include "mpi/comm.hpp"
#include "mpi/file.hpp"
#include "mpi/info.hpp"
#include "storage/backends/mpi_path.hpp"
#include "storage/viewed_file.hpp"

namespace ullage {

inline constexpr auto most_view_bytes = static_cast<std::size_t>(std::numeric_limits<int>::max());

class MpiioViewedFile final : public ViewedFile {
 public:
  /// `everyone`: the ranks that opened it together, which outlives it; null when it is this rank's own.
  MpiioViewedFile(mpi::File file, std::string path, const mpi::Comm* everyone)
      : file_(std::move(file)), path_(std::move(path)), meeting_(everyone) {}

  [[nodiscard]] Status set_view(const FileView& view, const Map& hints) override {
    begin_bytes_ = view.displacement_bytes;
    ordered_bytes_ = 0;
    checked_bytes_ = 0;
    const auto info = mpi::Info::from(hints);
    return info ? noted(file_.set_view(view, *info)) : noted(fail(info.error()));
  }

  [[nodiscard]] Status set_hints(const Map& hints) override {
    const auto info = mpi::Info::from(hints);
    return info ? noted(file_.set_hints(*info)) : noted(fail(info.error()));
  }

  [[nodiscard]] Status move(Direction direction, Pointer pointer, std::span<std::byte> data) override {
    if (failure_ || data.size() > most_view_bytes) [[unlikely]]
      return refuse(direction, pointer, data.size());
    const auto moved = call(direction, pointer, data);
    if (!moved || *moved != data.size()) [[unlikely]]
      return noted(fail(with_size_limit(moved ? short_count(direction, *moved, data.size()) : moved.error(), direction,
                                        path_, end_bytes(direction, pointer, data.size()))));
    if (pointer == Pointer::ordered) ordered_bytes_ += data.size();
    return {};
  }

  [[nodiscard]] Status sync() override {
    const auto outcome = meeting_.meet(true, failure_.has_value(), ordered_bytes_);
    if (outcome.anyone_failed) return failure_ ? fail(*failure_) : fail(not_synced(path_));
    note(check_shared_pointer(outcome.sum));
    note(file_.sync());
    return failure_ ? fail(*failure_) : Status{};
  }

  [[nodiscard]] Status close() override {
    meeting_.wait_for_syncs([this] { return failure_.has_value(); }, [this] { note(file_.sync()); });
    granted_ = file_.hints();
    return file_.close();
  }

  [[nodiscard]] Map hints_granted() const override { return granted_.empty() ? file_.hints() : granted_; }

 private:
  void note(const Status& status) {
    if (!status && !failure_) failure_ = status.error();
  }
  [[nodiscard]] Status noted(Status status) {
    note(status);
    return status;
  }

  /// Where a write that failed was to end, at least; 0 where no limit makes it matter, or the library does not say.
  [[nodiscard]] std::uint64_t end_bytes(Direction direction, Pointer pointer, std::size_t size) const {
    if (direction == Direction::read || !is_file_size_limited()) return 0;
    const auto begin = pointer == Pointer::ordered ? file_.shared_position_bytes() : file_.own_position_bytes();
    return begin ? *begin + size : 0;
  }

  [[nodiscard]] Result<std::size_t> call(Direction direction, Pointer pointer, std::span<std::byte> data) const {
    const bool writes = direction == Direction::write;
    switch (pointer) {
      case Pointer::individual:
        return writes ? file_.write(data) : file_.read(data);
      case Pointer::together:
        return writes ? file_.write_all(data) : file_.read_all(data);
      case Pointer::ordered:
        break;
    }
    return writes ? file_.write_ordered(data) : file_.read_ordered(data);
  }

  /// A rank in error, or one with too much at once: the others still wait for it in a collective call.
  [[nodiscard]] Status refuse(Direction direction, Pointer pointer, std::size_t asked) {
    if (!failure_)
      failure_ = unsupported(word_of(direction), path_ + ": a transfer of " + std::to_string(asked) +
                                                     " bytes at once; at most 2147483647 are possible");
    if (pointer != Pointer::individual) (void)call(direction, pointer, {});
    return fail(*failure_);
  }

  /// The library said success, and moved less.
  [[nodiscard]] Error short_count(Direction direction, std::size_t moved, std::size_t asked) const {
    Error error = errno_error(EIO, word_of(direction), path_);
    error.kind = ErrorKind::mpi;
    error.text = "the MPI library reported success but moved " + std::to_string(moved) + " of " +
                 std::to_string(asked) + " bytes" + (direction == Direction::read ? ": end of file?" : "");
    return error;
  }

  /// Some libraries have a component for shared pointers that puts data anywhere and says nothing (OMPIO's
  /// `individual`): then the pointer is not where the data ends. `moved_bytes`: of all ranks since the view was set.
  [[nodiscard]] Status check_shared_pointer(std::uint64_t moved_bytes) {
    if (!meeting_.first() || ordered_bytes_ == checked_bytes_) return {};
    checked_bytes_ = ordered_bytes_;
    const auto position = file_.shared_position_bytes();
    if (!position) return fail(position.error());
    if (*position == begin_bytes_ + moved_bytes) return {};
    Error error = errno_error(EIO, "write", path_);
    error.kind = ErrorKind::mpi;
    error.text = "the shared file pointer is at byte " + std::to_string(*position) + " after " +
                 std::to_string(moved_bytes) + " bytes from byte " + std::to_string(begin_bytes_) +
                 " on: shared file pointers do not work here";
    return fail(std::move(error));
  }

  mpi::File file_;
  Map granted_;  // once it is closed
  std::string path_;
  MpiioMeeting meeting_;
  std::uint64_t begin_bytes_ = 0;    // of the view
  std::uint64_t ordered_bytes_ = 0;  // moved by this rank since the view was set
  std::uint64_t checked_bytes_ = 0;  // of them at the last check
  std::optional<Error> failure_;
};

}  // namespace ullage
