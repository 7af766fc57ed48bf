// SPDX-License-Identifier: Apache-2.0
#include "mpi/file_requests.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "mpi/error.hpp"
#include "mpi/io_handles.hpp"

namespace ullage::mpi {

struct FileRequests::State {
  std::vector<MPI_Request> requests;
  std::vector<MPI_Status> statuses;  // as many
  std::vector<std::size_t> asked_bytes;
  const File* file = nullptr;
  const char* operation = "write";
  bool is_waited_for = true;  // the statuses are those of the end
  // Open MPI 4.1 ends the process in MPI_Waitall and MPI_Testall when a request of OMPIO has failed.
  bool asks_each = mpi_io_component().starts_with("ompio");
  int code = MPI_SUCCESS;

  /// Before a transfer: forgets those that were waited for.
  void begin(const File& of, const char* what) {
    file = &of;
    operation = what;
    if (!std::exchange(is_waited_for, false)) return;
    requests.clear();
    statuses.clear();
    asked_bytes.clear();
  }

  [[nodiscard]] Status begun(int result, MPI_Request request, std::uint64_t offset_bytes, std::size_t length_bytes) {
    if (result != MPI_SUCCESS) {
      Error error = io_error(result, operation, file->path());
      error.offset_bytes = offset_bytes;
      return fail(std::move(error));
    }
    requests.push_back(request);
    statuses.emplace_back();
    statuses.back().MPI_ERROR = MPI_SUCCESS;
    asked_bytes.push_back(length_bytes);
    return {};
  }

  [[nodiscard]] int count() const { return static_cast<int>(requests.size()); }

  /// Each call lets the library go on, as each turn of its own loop in MPI_Waitall does.
  [[nodiscard]] bool all_have_ended() {
    int has_ended = 1;
    for (std::size_t i = 0; i < requests.size() && has_ended != 0; ++i)
      check(MPI_Request_get_status(requests[i], &has_ended, &statuses[i]), "MPI_Request_get_status");
    return has_ended != 0;
  }

  /// All have ended.
  void release() {
    code = MPI_SUCCESS;
    for (std::size_t i = 0; i < requests.size(); ++i) {
      if (statuses[i].MPI_ERROR != MPI_SUCCESS) code = MPI_ERR_IN_STATUS;
      check(MPI_Request_free(&requests[i]), "MPI_Request_free");
    }
  }
};

FileRequests::FileRequests() : state_(std::make_unique<State>()) {}
FileRequests::FileRequests(FileRequests&&) noexcept = default;
FileRequests& FileRequests::operator=(FileRequests&&) noexcept = default;
FileRequests::~FileRequests() {
  if (state_) wait();
}

void FileRequests::reserve(std::size_t transfers) {
  state_->requests.reserve(transfers);
  state_->statuses.reserve(transfers);
  state_->asked_bytes.reserve(transfers);
}

Status FileRequests::write_at(const File& file, std::uint64_t offset_bytes, std::span<const std::byte> data) {
  state_->begin(file, "write");
  MPI_Request request = MPI_REQUEST_NULL;
  const int code = MPI_File_iwrite_at(file.handle().file, static_cast<MPI_Offset>(offset_bytes), data.data(),
                                      static_cast<int>(data.size()), MPI_BYTE, &request);
  return state_->begun(code, request, offset_bytes, data.size());
}

Status FileRequests::read_at(const File& file, std::uint64_t offset_bytes, std::span<std::byte> data) {
  state_->begin(file, "read");
  MPI_Request request = MPI_REQUEST_NULL;
  const int code = MPI_File_iread_at(file.handle().file, static_cast<MPI_Offset>(offset_bytes), data.data(),
                                     static_cast<int>(data.size()), MPI_BYTE, &request);
  return state_->begun(code, request, offset_bytes, data.size());
}

bool FileRequests::test() {
  if (state_->is_waited_for) return true;
  if (state_->asks_each) return state_->all_have_ended();
  int all = 0;
  state_->code = MPI_Testall(state_->count(), state_->requests.data(), &all, state_->statuses.data());
  // Without an error the statuses are only set when all have ended, and those requests are no more.
  if (state_->code == MPI_SUCCESS && all != 0) state_->is_waited_for = true;
  return state_->is_waited_for;
}

void FileRequests::wait() {
  if (state_->is_waited_for) return;
  if (state_->asks_each) {
    while (!state_->all_have_ended()) {
    }
    state_->release();
  } else {
    state_->code = MPI_Waitall(state_->count(), state_->requests.data(), state_->statuses.data());
  }
  state_->is_waited_for = true;
}

Result<std::size_t> FileRequests::moved_bytes(std::size_t index) const {
  const MPI_Status& status = state_->statuses[index];
  // The errors in the statuses are only set when the call says so.
  if (state_->code != MPI_SUCCESS) {
    int error_class = MPI_ERR_OTHER;
    MPI_Error_class(state_->code, &error_class);
    const int own = error_class == MPI_ERR_IN_STATUS ? status.MPI_ERROR : state_->code;
    if (own != MPI_SUCCESS && own != MPI_ERR_PENDING)
      return fail(io_error(own, state_->operation, state_->file->path()));
  }
  int count = 0;
  if (MPI_Get_count(&status, MPI_BYTE, &count) != MPI_SUCCESS || count == MPI_UNDEFINED || count < 0) return 0;
  return std::min(static_cast<std::size_t>(count), state_->asked_bytes[index]);
}

std::size_t FileRequests::size() const { return state_->requests.size(); }

}  // namespace ullage::mpi
