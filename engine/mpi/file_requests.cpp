// SPDX-License-Identifier: Apache-2.0
#include "mpi/file_requests.hpp"

#include <aio.h>
#include <dlfcn.h>

#include <cerrno>

#include "mpi/error.hpp"
#include "mpi/handles.hpp"

namespace ullage::mpi {
namespace {

bool sees_failed_operations() { return mpi_io_component().starts_with("ompio"); }

}  // namespace
}  // namespace ullage::mpi

// ROMIO waits for ever for an operation that failed after it was begun: its MPI_Wait looks for an aio_error of 0 and
// for nothing else (ADIOI_GEN_aio_wait_fn, MPICH 5.0). The linker puts these two before the C library's for a libmpi
// that the engine is linked with: what failed has then ended and moved nothing, and whoever moves the rest sees the
// error. OMPIO sees errors by itself, and would begin again what moved nothing.
extern "C" {
int aio_error(const aiocb* operation) noexcept {
  static const auto of_libc = reinterpret_cast<decltype(&aio_error)>(dlsym(RTLD_NEXT, "aio_error"));
  const int error = of_libc(operation);
  return error == 0 || error == EINPROGRESS || ullage::mpi::sees_failed_operations() ? error : 0;
}

ssize_t aio_return(aiocb* operation) noexcept {
  static const auto of_libc = reinterpret_cast<decltype(&aio_return)>(dlsym(RTLD_NEXT, "aio_return"));
  const ssize_t moved_bytes = of_libc(operation);
  return moved_bytes >= 0 || ullage::mpi::sees_failed_operations() ? moved_bytes : 0;
}
}

namespace ullage::mpi {

struct FileRequests::State {
  std::vector<MPI_Request> requests;  // null: has ended, and its status is known
  std::vector<MPI_Status> statuses;   // as many
  std::vector<int> codes;             // of the call that ended it
  std::vector<std::size_t> asked_bytes;
  const File* file = nullptr;
  const char* operation = "write";
  bool is_waited_for = true;  // the statuses are those of the end
  bool some_have_ended = false;
  // Open MPI 4.1 ends the process in MPI_Waitall and MPI_Test when a request of OMPIO has failed.
  bool only_asks = sees_failed_operations();

  /// Before a transfer: forgets those that were waited for.
  void begin(const File& of, const char* what) {
    file = &of;
    operation = what;
    if (!std::exchange(is_waited_for, false)) return;
    some_have_ended = false;
    requests.clear();
    statuses.clear();
    codes.clear();
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
    codes.push_back(MPI_SUCCESS);
    asked_bytes.push_back(length_bytes);
    return {};
  }

  /// Each call lets the library go on, as each turn of its own loop in MPI_Waitall does. Nothing is ended by it.
  [[nodiscard]] bool all_have_ended() {
    int has_ended = 1;
    for (std::size_t i = 0; i < requests.size() && has_ended != 0; ++i)
      check(MPI_Request_get_status(requests[i], &has_ended, &statuses[i]), "MPI_Request_get_status");
    return has_ended != 0;
  }

  void release_all() {
    for (std::size_t i = 0; i < requests.size(); ++i) {
      codes[i] = statuses[i].MPI_ERROR;
      check(MPI_Request_free(&requests[i]), "MPI_Request_free");
    }
  }

  /// One by one: MPI_Testall of MPICH loses the counts of requests that end before the last one.
  [[nodiscard]] bool test_each() {
    bool all = true;
    for (std::size_t i = 0; i < requests.size(); ++i) {
      if (requests[i] == MPI_REQUEST_NULL) continue;
      int has_ended = 0;
      codes[i] = MPI_Test(&requests[i], &has_ended, &statuses[i]);
      if (codes[i] != MPI_SUCCESS) requests[i] = MPI_REQUEST_NULL;
      if (requests[i] == MPI_REQUEST_NULL)
        some_have_ended = true;
      else
        all = false;
    }
    return all;
  }

  void wait_for_all() {
    const int code = MPI_Waitall(static_cast<int>(requests.size()), requests.data(), statuses.data());
    if (code == MPI_SUCCESS) return;
    int error_class = MPI_ERR_OTHER;
    MPI_Error_class(code, &error_class);
    for (std::size_t i = 0; i < requests.size(); ++i)
      codes[i] = error_class == MPI_ERR_IN_STATUS ? statuses[i].MPI_ERROR : code;
  }

  void wait_for_each() {
    for (std::size_t i = 0; i < requests.size(); ++i)
      if (requests[i] != MPI_REQUEST_NULL) codes[i] = MPI_Wait(&requests[i], &statuses[i]);
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
  state_->codes.reserve(transfers);
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
  if (state_->only_asks) return state_->all_have_ended();
  state_->is_waited_for = state_->test_each();
  return state_->is_waited_for;
}

void FileRequests::wait() {
  if (std::exchange(state_->is_waited_for, true)) return;
  if (state_->only_asks) {
    while (!state_->all_have_ended()) {
    }
    state_->release_all();
  } else if (state_->some_have_ended) {
    state_->wait_for_each();
  } else {
    state_->wait_for_all();
  }
}

Result<std::size_t> FileRequests::moved_bytes(std::size_t index) const {
  if (state_->codes[index] != MPI_SUCCESS)
    return fail(io_error(state_->codes[index], state_->operation, state_->file->path()));
  int count = 0;
  const MPI_Status& status = state_->statuses[index];
  if (MPI_Get_count(&status, MPI_BYTE, &count) != MPI_SUCCESS || count == MPI_UNDEFINED || count < 0) return 0;
  return std::min(static_cast<std::size_t>(count), state_->asked_bytes[index]);
}

std::size_t FileRequests::size() const { return state_->requests.size(); }

}  // namespace ullage::mpi
