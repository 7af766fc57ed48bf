// SPDX-License-Identifier: Apache-2.0
#include "mpi/file.hpp"

#include <algorithm>
#include <utility>

#include "mpi/error.hpp"
#include "mpi/handles.hpp"
#include "mpi/io_handles.hpp"

namespace ullage::mpi {
namespace {

int mode_of(FileAccess access) {
  switch (access) {
    case FileAccess::create:
      return MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_WRONLY;
    case FileAccess::write:
      return MPI_MODE_WRONLY;
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

Status status_of(int code, const std::string& operation, const std::string& path) {
  return code == MPI_SUCCESS ? Status{} : fail(io_error(code, operation, path));
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

Result<File> File::open(const Comm& comm, const std::string& path, FileAccess access, const Info& hints) {
  auto handle = std::make_unique<Handle>();
  handle->alone = comm.size() == 1;
  const int code = MPI_File_open(comm.handle().comm, path.c_str(), mode_of(access), hints.handle().info, &handle->file);
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
