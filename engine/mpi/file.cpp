// SPDX-License-Identifier: Apache-2.0
#include "mpi/file.hpp"

#include "base/pinned.hpp"
#include "base/resources.hpp"
#include "mpi/error.hpp"
#include "mpi/handles.hpp"

namespace ullage::mpi {
namespace {

int mode_of(FileAccess access) {
  switch (access) {
    case FileAccess::create:
      return MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_WRONLY;
    case FileAccess::write:
      return MPI_MODE_WRONLY;
    case FileAccess::create_update:
      return MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_RDWR;
    case FileAccess::update:
      return MPI_MODE_RDWR;
    case FileAccess::read:
      break;
  }
  return MPI_MODE_RDONLY;
}

/// OMPIO leaves rubbish in the status of a failed operation.
Result<std::size_t> moved_bytes(int code, const MPI_Status& status, std::size_t asked_bytes, Error error) {
  if (code != MPI_SUCCESS) return fail(std::move(error));
  int count = 0;
  if (MPI_Get_count(&status, MPI_BYTE, &count) != MPI_SUCCESS || count == MPI_UNDEFINED || count < 0) return 0;
  return std::min(static_cast<std::size_t>(count), asked_bytes);
}

Error error_at(int code, const std::string& operation, const std::string& path, std::uint64_t offset_bytes) {
  if (code == MPI_SUCCESS) return {};
  Error error = io_error(code, operation, path);
  error.offset_bytes = offset_bytes;
  return error;
}

/// Any of the four calls with explicit offsets.
template <class Call, class Byte>
Result<std::size_t> move_at(Call call, MPI_File file, const std::string& operation, const std::string& path,
                            std::uint64_t offset_bytes, std::span<Byte> data) {
  MPI_Status status{};
  const int code =
      call(file, static_cast<MPI_Offset>(offset_bytes), data.data(), static_cast<int>(data.size()), MPI_BYTE, &status);
  return moved_bytes(code, status, data.size(), error_at(code, operation, path, offset_bytes));
}

/// The data type of one record in memory, which frees itself. Records follow each other by its extent, so that a
/// library that lists the pieces of a type lists those of one record.
class RecordType final : Pinned {
 public:
  explicit RecordType(const ScatteredMemory& memory) {
    MPI_Datatype once = MPI_DATATYPE_NULL;
    std::vector<MPI_Aint> places;
    places.reserve(static_cast<std::size_t>(memory.pieces));
    for (std::uint64_t piece = 0; piece < memory.pieces; ++piece)
      places.push_back(static_cast<MPI_Aint>(piece * memory.piece_stride_bytes));
    check(MPI_Type_create_hindexed_block(static_cast<int>(places.size()), static_cast<int>(memory.piece_bytes),
                                         places.data(), MPI_BYTE, &once),
          "MPI_Type_create_hindexed_block");
    check(MPI_Type_create_resized(once, 0, static_cast<MPI_Aint>(memory.record_stride_bytes), &type_),
          "MPI_Type_create_resized");
    check(MPI_Type_free(&once), "MPI_Type_free");
    check(MPI_Type_commit(&type_), "MPI_Type_commit");
  }
  ~RecordType() { MPI_Type_free(&type_); }
  [[nodiscard]] MPI_Datatype get() const { return type_; }

 private:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

/// Makes a data type. A rank that has no memory for it makes the call that it is for all the same, with nothing, as
/// others may wait for it there.
template <class Type, class Shape>
Status made_here(std::optional<Type>& type, const Shape& shape) {
  return catch_resource_errors([&] -> Status {
    type.emplace(shape);
    return {};
  });
}

/// Does the same for scattered memory.
template <class Call>
Result<std::size_t> move_at(Call call, MPI_File file, const std::string& operation, const std::string& path,
                            std::uint64_t offset_bytes, const ScatteredMemory& memory) {
  MPI_Status status{};
  std::optional<RecordType> record;
  const Status made = made_here(record, memory);
  const int code = call(file, static_cast<MPI_Offset>(offset_bytes), memory.data,
                        made ? static_cast<int>(memory.records) : 0, made ? record->get() : MPI_BYTE, &status);
  if (!made) return fail(made.error());
  return moved_bytes(code, status, static_cast<std::size_t>(memory.length_bytes()),
                     error_at(code, operation, path, offset_bytes));
}

/// Any of the six calls from a pointer on. What a failure needs is put together only then.
template <class Call, class Byte>
Result<std::size_t> move_on(Call call, const File::Handle& handle, const char* operation, const std::string& path,
                            std::span<Byte> data) {
  MPI_Status status{};
  const int code =
      call(handle.file, data.data(), static_cast<int>(data.size() / handle.unit_bytes), handle.unit, &status);
  if (code != MPI_SUCCESS) return fail(io_error(code, operation, path));
  int count = 0;
  if (MPI_Get_count(&status, handle.unit, &count) != MPI_SUCCESS || count == MPI_UNDEFINED || count < 0) return 0;
  return std::min(static_cast<std::size_t>(count) * handle.unit_bytes, data.size());
}

std::vector<int> ints_of(const std::vector<std::uint64_t>& counts) {
  std::vector<int> ints;
  ints.reserve(counts.size());
  for (const std::uint64_t count : counts) ints.push_back(static_cast<int>(count));
  return ints;
}

/// A data type that frees itself.
class FileType final : Pinned {
 public:
  explicit FileType(const FileView& view) {
    if (view.array)
      make_part(*view.array);
    else if (view.pieces.empty())
      make_chunks(view);
    else
      make_pieces(view);
    check(MPI_Type_commit(&type_), "MPI_Type_commit");
  }
  ~FileType() { MPI_Type_free(&type_); }
  [[nodiscard]] MPI_Datatype get() const { return type_; }

 private:
  /// `parts` chunks in a row, of which the `part`-th holds data: in chunks, since a count of doubles may be more than
  /// an int holds.
  void make_chunks(const FileView& view) {
    MPI_Datatype chunk = MPI_DATATYPE_NULL;
    const int every_part = view.parts;
    const int block = MPI_DISTRIBUTE_BLOCK;
    const int even = MPI_DISTRIBUTE_DFLT_DARG;
    check(MPI_Type_contiguous(static_cast<int>(view.chunk_bytes / sizeof(double)), MPI_DOUBLE, &chunk),
          "MPI_Type_contiguous");
    check(MPI_Type_create_darray(view.parts, view.part, 1, &every_part, &block, &even, &every_part, MPI_ORDER_C, chunk,
                                 &type_),
          "MPI_Type_create_darray");
    check(MPI_Type_free(&chunk), "MPI_Type_free");
  }

  void make_part(const FileArray& array) {
    MPI_Datatype element = MPI_DATATYPE_NULL;
    const auto sizes = ints_of(array.sizes);
    const auto extents = ints_of(array.extents);
    const auto begins = ints_of(array.begins);
    check(MPI_Type_contiguous(static_cast<int>(array.element_bytes), MPI_BYTE, &element), "MPI_Type_contiguous");
    check(MPI_Type_create_subarray(static_cast<int>(sizes.size()), sizes.data(), extents.data(), begins.data(),
                                   MPI_ORDER_C, element, &type_),
          "MPI_Type_create_subarray");
    check(MPI_Type_free(&element), "MPI_Type_free");
  }

  /// Displacements of bytes, since those of elements may be more than an int holds.
  void make_pieces(const FileView& view) {
    std::vector<int> lengths;
    std::vector<MPI_Aint> places;
    for (const FilePiece& piece : view.pieces) {
      lengths.push_back(static_cast<int>(piece.length_bytes / sizeof(double)));
      places.push_back(static_cast<MPI_Aint>(piece.offset_bytes));
    }
    MPI_Datatype once = MPI_DATATYPE_NULL;
    check(MPI_Type_create_hindexed(static_cast<int>(lengths.size()), lengths.data(), places.data(), MPI_DOUBLE, &once),
          "MPI_Type_create_hindexed");
    check(MPI_Type_create_resized(once, 0, static_cast<MPI_Aint>(view.extent_bytes), &type_),
          "MPI_Type_create_resized");
    check(MPI_Type_free(&once), "MPI_Type_free");
  }

  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

Status status_of(int code, const std::string& operation, const std::string& path) {
  return code == MPI_SUCCESS ? Status{} : fail(io_error(code, operation, path));
}

/// Where `position` of the view lies in the file; `code` is of the call that gave it.
Result<std::uint64_t> byte_offset(MPI_File file, int code, MPI_Offset position, const std::string& path) {
  MPI_Offset offset = 0;
  if (code == MPI_SUCCESS) code = MPI_File_get_byte_offset(file, position, &offset);
  if (code != MPI_SUCCESS) return fail(io_error(code, "position", path));
  return static_cast<std::uint64_t>(offset);
}

}  // namespace

File::File(std::unique_ptr<Handle> handle, std::string path) : handle_(std::move(handle)), path_(std::move(path)) {}
File::File(File&&) noexcept = default;

File& File::operator=(File&& other) noexcept {
  std::swap(handle_, other.handle_);
  std::swap(path_, other.path_);
  return *this;
}

File::~File() {
  if (handle_ && handle_->alone && handle_->file != MPI_FILE_NULL) MPI_File_close(&handle_->file);
}

Result<File> File::open(const Comm& comm, const std::string& path, FileAccess access, const Info& hints, bool unique,
                        CallSite site) {
  {
    const Entered entered(comm.handle(), site);
  }  // to open it is work on its target
  auto handle = std::make_unique<Handle>();
  handle->alone = comm.size() == 1;
  const int mode = mode_of(access) | (unique ? MPI_MODE_UNIQUE_OPEN : 0);
  const int code = MPI_File_open(comm.handle().comm, path.c_str(), mode, hints.handle().info, &handle->file);
  if (code != MPI_SUCCESS) return fail(io_error(code, "open", path));
  check(MPI_File_set_errhandler(handle->file, MPI_ERRORS_RETURN), "MPI_File_set_errhandler");
  return File(std::move(handle), path);
}

Result<std::size_t> File::write_at(std::uint64_t offset_bytes, std::span<const std::byte> data) const {
  return move_at(MPI_File_write_at, handle_->file, "write", path_, offset_bytes, data);
}

Result<std::size_t> File::read_at(std::uint64_t offset_bytes, std::span<std::byte> data) const {
  return move_at(MPI_File_read_at, handle_->file, "read", path_, offset_bytes, data);
}

Result<std::size_t> File::write_at_all(std::uint64_t offset_bytes, std::span<const std::byte> data) const {
  return move_at(MPI_File_write_at_all, handle_->file, "write", path_, offset_bytes, data);
}

Result<std::size_t> File::read_at_all(std::uint64_t offset_bytes, std::span<std::byte> data) const {
  return move_at(MPI_File_read_at_all, handle_->file, "read", path_, offset_bytes, data);
}

Result<std::size_t> File::write_at(std::uint64_t offset_bytes, const ScatteredMemory& memory) const {
  return move_at(MPI_File_write_at, handle_->file, "write", path_, offset_bytes, memory);
}

Result<std::size_t> File::read_at(std::uint64_t offset_bytes, const ScatteredMemory& memory) const {
  return move_at(MPI_File_read_at, handle_->file, "read", path_, offset_bytes, memory);
}

Result<std::size_t> File::write_at_all(std::uint64_t offset_bytes, const ScatteredMemory& memory) const {
  return move_at(MPI_File_write_at_all, handle_->file, "write", path_, offset_bytes, memory);
}

Result<std::size_t> File::read_at_all(std::uint64_t offset_bytes, const ScatteredMemory& memory) const {
  return move_at(MPI_File_read_at_all, handle_->file, "read", path_, offset_bytes, memory);
}

Status File::set_view(const FileView& view, const Info& hints) const {
  const auto displacement = static_cast<MPI_Offset>(view.displacement_bytes);
  handle_->unit = view.array ? MPI_BYTE : MPI_DOUBLE;
  handle_->unit_bytes = view.array ? 1 : sizeof(double);
  const auto set = [&](MPI_Datatype type) {
    return MPI_File_set_view(handle_->file, displacement, handle_->unit, type, "native", hints.handle().info);
  };
  const bool sees_all = !view.array && view.chunk_bytes == 0 && view.pieces.empty();
  if (sees_all) return status_of(set(handle_->unit), "set view", path_);
  std::optional<FileType> type;
  const Status made = made_here(type, view);
  const Status done = status_of(set(made ? type->get() : handle_->unit), "set view", path_);
  return made ? done : made;
}

Status File::set_hints(const Info& hints) const {
  if (hints.handle().info == MPI_INFO_NULL) return {};
  return status_of(MPI_File_set_info(handle_->file, hints.handle().info), "set hints", path_);
}

Result<std::size_t> File::write(std::span<const std::byte> data) const {
  return move_on(MPI_File_write, *handle_, "write", path_, data);
}

Result<std::size_t> File::read(std::span<std::byte> data) const {
  return move_on(MPI_File_read, *handle_, "read", path_, data);
}

Result<std::size_t> File::write_all(std::span<const std::byte> data) const {
  return move_on(MPI_File_write_all, *handle_, "write", path_, data);
}

Result<std::size_t> File::read_all(std::span<std::byte> data) const {
  return move_on(MPI_File_read_all, *handle_, "read", path_, data);
}

Result<std::size_t> File::write_ordered(std::span<const std::byte> data) const {
  return move_on(MPI_File_write_ordered, *handle_, "write", path_, data);
}

Result<std::size_t> File::read_ordered(std::span<std::byte> data) const {
  return move_on(MPI_File_read_ordered, *handle_, "read", path_, data);
}

Result<std::uint64_t> File::shared_position_bytes() const {
  MPI_Offset position = 0;
  const int code = MPI_File_get_position_shared(handle_->file, &position);
  return byte_offset(handle_->file, code, position, path_);
}

Result<std::uint64_t> File::own_position_bytes() const {
  MPI_Offset position = 0;
  const int code = MPI_File_get_position(handle_->file, &position);
  return byte_offset(handle_->file, code, position, path_);
}

Result<std::uint64_t> File::size_bytes() const {
  MPI_Offset size = 0;
  if (const int code = MPI_File_get_size(handle_->file, &size); code != MPI_SUCCESS)
    return fail(io_error(code, "size", path_));
  return static_cast<std::uint64_t>(size);
}

Status File::preallocate(std::uint64_t size_bytes) const {
  return status_of(MPI_File_preallocate(handle_->file, static_cast<MPI_Offset>(size_bytes)), "preallocate", path_);
}

Status File::sync() const { return status_of(MPI_File_sync(handle_->file), "sync", path_); }

Status File::close() {
  if (handle_->file == MPI_FILE_NULL) return {};
  const int code = MPI_File_close(&handle_->file);
  handle_->file = MPI_FILE_NULL;
  return status_of(code, "close", path_);
}

Map File::hints() const {
  auto handle = std::make_unique<Info::Handle>();
  if (MPI_File_get_info(handle_->file, &handle->info) != MPI_SUCCESS) return {};
  return Info(std::move(handle)).to_map();
}

}  // namespace ullage::mpi
