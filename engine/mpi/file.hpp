// SPDX-License-Identifier: Apache-2.0
// MPI-IO: a file that never ends the program by itself. Every failure is a value, and what was moved is counted, since
// a library that answers MPI_SUCCESS may have moved nothing.
#pragma once

#include "base/result.hpp"
#include "base/std.hpp"
#include "mpi/comm.hpp"
#include "mpi/info.hpp"

namespace ullage::mpi {

enum class FileAccess {
  create,  // write-only, must not exist
  write,   // write-only, must exist
  read,
  create_update,  // for reading and writing, must not exist
  update,         // for reading and writing, must exist
};

/// A rectangular part of an array of elements in C order: the last dimension lies contiguous. Behind the array lies the
/// next one of the same shape, and calls that go on see the same part of one array after the other. As MPI's subarrays:
/// an element and each dimension are below 2^31; the whole may be larger.
struct FileArray {
  std::uint64_t element_bytes = 1;
  std::vector<std::uint64_t> sizes;    // of the whole array, in elements; as many dimensions as in the other two
  std::vector<std::uint64_t> extents;  // of the part
  std::vector<std::uint64_t> begins;   // of the part
};

/// Contiguous bytes, counted from where the view begins.
struct FilePiece {
  std::uint64_t offset_bytes = 0;
  std::uint64_t length_bytes = 0;
};

/// Says which bytes of a file a rank sees, one after the other; pointers count from there. In units of MPI_DOUBLE:
/// sizes are multiples of 8. With an array in units of bytes.
struct FileView {
  std::uint64_t displacement_bytes = 0;  // what is before it is not seen
  std::uint64_t chunk_bytes = 0;         // of each parts x chunk_bytes the part-th chunk; 0: everything
  int part = 0;
  int parts = 1;
  std::optional<FileArray> array = std::nullopt;  // instead of chunks
  /// If not empty, these bytes are seen instead of chunks, from the first to the last and without overlap, and the same
  /// again every `extent_bytes`. Read by set_view() alone.
  std::span<const FilePiece> pieces = {};
  std::uint64_t extent_bytes = 0;
};

/// Memory of records that are one behind the other in a file: each is `pieces` pieces of `piece_bytes`, of which
/// piece p of record r is at data + r * record_stride_bytes + p * piece_stride_bytes.
struct ScatteredMemory {
  std::byte* data = nullptr;
  std::uint64_t records = 0;
  std::uint64_t pieces = 1;
  std::uint64_t piece_bytes = 0;
  std::uint64_t piece_stride_bytes = 0;
  std::uint64_t record_stride_bytes = 0;

  [[nodiscard]] std::uint64_t record_bytes() const { return pieces * piece_bytes; }
  [[nodiscard]] std::uint64_t length_bytes() const { return records * record_bytes(); }
  /// Those of the records [first, first + count).
  [[nodiscard]] ScatteredMemory part(std::uint64_t first, std::uint64_t count) const {
    ScatteredMemory some = *this;
    some.data += first * record_stride_bytes;
    some.records = count;
    return some;
  }
};

class File final {
 public:
  File(File&&) noexcept;
  File& operator=(File&&) noexcept;
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  /// Closes the file of a single rank. One shared by several ranks is left open when it was not closed: closing waits
  /// for them all.
  ~File();

  /// Collective over `comm`. `path` is absolute. `unique`: nobody else has it open.
  [[nodiscard]] static Result<File> open(const Comm& comm, const std::string& path, FileAccess access,
                                         const Info& hints, bool unique = false, CallSite site = CallSite::current());

  [[nodiscard]] Result<std::uint64_t> size_bytes() const;

  /// The bytes really moved, by the status' count; fewer than asked for is no error of this call. At most INT_MAX
  /// bytes.
  [[nodiscard]] Result<std::size_t> write_at(std::uint64_t offset_bytes, std::span<const std::byte> data) const;
  [[nodiscard]] Result<std::size_t> read_at(std::uint64_t offset_bytes, std::span<std::byte> data) const;
  /// Collective; a rank takes part with nothing by an empty span. Libraries say that a collective read past the end of
  /// the file moved everything: look at size_bytes() before.
  [[nodiscard]] Result<std::size_t> write_at_all(std::uint64_t offset_bytes, std::span<const std::byte> data) const;
  [[nodiscard]] Result<std::size_t> read_at_all(std::uint64_t offset_bytes, std::span<std::byte> data) const;

  /// Does the same with memory that MPI puts together, by a data type that lives no longer than the call.
  [[nodiscard]] Result<std::size_t> write_at(std::uint64_t offset_bytes, const ScatteredMemory& memory) const;
  [[nodiscard]] Result<std::size_t> read_at(std::uint64_t offset_bytes, const ScatteredMemory& memory) const;
  [[nodiscard]] Result<std::size_t> write_at_all(std::uint64_t offset_bytes, const ScatteredMemory& memory) const;
  [[nodiscard]] Result<std::size_t> read_at_all(std::uint64_t offset_bytes, const ScatteredMemory& memory) const;

  /// Collective; all pointers go to the beginning of the view. The view's data types live no longer than the call.
  [[nodiscard]] Status set_view(const FileView& view, const Info& hints) const;
  [[nodiscard]] Status set_hints(const Info& hints) const;  // collective

  /// These move data from the pointers on: this rank's own, alone or (all) together, or the shared one, in the order of
  /// the ranks. They return what write_at does. Multiples of the view's unit; nothing is allocated. Libraries count
  /// what they please in collective reads past the end of the file, and of operations that failed.
  [[nodiscard]] Result<std::size_t> write(std::span<const std::byte> data) const;
  [[nodiscard]] Result<std::size_t> read(std::span<std::byte> data) const;
  [[nodiscard]] Result<std::size_t> write_all(std::span<const std::byte> data) const;
  [[nodiscard]] Result<std::size_t> read_all(std::span<std::byte> data) const;
  [[nodiscard]] Result<std::size_t> write_ordered(std::span<const std::byte> data) const;
  [[nodiscard]] Result<std::size_t> read_ordered(std::span<std::byte> data) const;
  /// Returns where in the file the shared pointer, or the one of this rank, is, whatever the view; one rank may ask
  /// alone.
  [[nodiscard]] Result<std::uint64_t> shared_position_bytes() const;
  [[nodiscard]] Result<std::uint64_t> own_position_bytes() const;

  [[nodiscard]] Status preallocate(std::uint64_t size_bytes) const;  // collective
  [[nodiscard]] Status sync() const;                                 // collective
  [[nodiscard]] Status close();                                      // collective
  /// The hints in use, as the library says.
  [[nodiscard]] Map hints() const;

  struct Handle;  // holds the MPI_File; defined in mpi/io_handles.hpp, included inside mpi/ only
  [[nodiscard]] const Handle& handle() const { return *handle_; }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  File(std::unique_ptr<Handle> handle, std::string path);
  std::unique_ptr<Handle> handle_;
  std::string path_;
};

/// Returns which MPI-IO implementation serves files here: "ompio", "romio321", "romio" ...; "" when it cannot be known.
/// Needs MPI running.
[[nodiscard]] std::string mpi_io_component();

}  // namespace ullage::mpi
