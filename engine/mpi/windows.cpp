// SPDX-License-Identifier: Apache-2.0
#include "mpi/windows.hpp"

#include <cerrno>

#include "mpi/agreement.hpp"
#include "mpi/error.hpp"
#include "mpi/handles.hpp"

namespace ullage::mpi {

struct Window::Handle {
  MPI_Win win = MPI_WIN_NULL;
};

Window::Window(std::unique_ptr<Handle> handle, std::span<std::byte> own) : handle_(std::move(handle)), own_(own) {}
Window::Window(Window&&) noexcept = default;

/// A window that some ranks have and others have not is nobody's: freeing it would wait for all.
Result<Window> Window::make(const Comm& comm, std::size_t bytes, CallSite site) {
  {
    const Entered entered(comm.handle(), site);
  }  // to get the memory is work
  auto handle = std::make_unique<Handle>();
  void* base = nullptr;
  const int code = MPI_Win_allocate(static_cast<MPI_Aint>(bytes), 1, MPI_INFO_NULL, comm.handle().comm,
                                    static_cast<void*>(&base), &handle->win);
  Status made;
  if (code != MPI_SUCCESS) {
    Error error = errno_error(ENOMEM, "allocate", "window");
    error.text = error_text(code);
    made = fail(std::move(error));
  }
  if (made = share_status(comm, std::move(made), site); !made) return fail(made.error());
  check(MPI_Win_set_errhandler(handle->win, MPI_ERRORS_RETURN), "MPI_Win_set_errhandler");
  return Window(std::move(handle), {static_cast<std::byte*>(base), bytes});
}

Window::~Window() {
  if (!handle_) return;
  const Waiting waiting;
  check(MPI_Win_free(&handle_->win), "MPI_Win_free");
}

void Window::lock(int rank) { check(MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, handle_->win), "MPI_Win_lock"); }
void Window::unlock(int rank) { check(MPI_Win_unlock(rank, handle_->win), "MPI_Win_unlock"); }
void Window::lock_all() { check(MPI_Win_lock_all(0, handle_->win), "MPI_Win_lock_all"); }
void Window::unlock_all() { check(MPI_Win_unlock_all(handle_->win), "MPI_Win_unlock_all"); }
void Window::flush(int rank) { check(MPI_Win_flush(rank, handle_->win), "MPI_Win_flush"); }
void Window::fence() { check(MPI_Win_fence(0, handle_->win), "MPI_Win_fence"); }
void Window::fence_last() { check(MPI_Win_fence(MPI_MODE_NOSUCCEED, handle_->win), "MPI_Win_fence"); }

void Window::put(std::span<const std::byte> data, int rank, std::size_t place) {
  const int count = static_cast<int>(data.size());
  check(MPI_Put(data.data(), count, MPI_BYTE, rank, static_cast<MPI_Aint>(place), count, MPI_BYTE, handle_->win),
        "MPI_Put");
}

void Window::get(std::span<std::byte> data, int rank, std::size_t place) {
  const int count = static_cast<int>(data.size());
  check(MPI_Get(data.data(), count, MPI_BYTE, rank, static_cast<MPI_Aint>(place), count, MPI_BYTE, handle_->win),
        "MPI_Get");
}

void Window::accumulate(std::span<const std::int64_t> numbers, int rank, std::size_t place) {
  const int count = static_cast<int>(numbers.size());
  check(MPI_Accumulate(numbers.data(), count, MPI_INT64_T, rank, static_cast<MPI_Aint>(place), count, MPI_INT64_T,
                       MPI_SUM, handle_->win),
        "MPI_Accumulate");
}

}  // namespace ullage::mpi
