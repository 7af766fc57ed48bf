// SPDX-License-Identifier: Apache-2.0
#include "message/ping_pong/pair_table.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "mpi/agreement.hpp"
#include "mpi/file.hpp"
#include "mpi/info.hpp"

namespace ullage {
namespace {

using Bytes = std::span<const std::byte>;

Error table_error(const std::string& path, std::string operation, std::string text) {
  Error error = environment_error(path, std::move(text));
  error.kind = ErrorKind::io;
  error.operation = std::move(operation);
  return error;
}

/// MPI_File_open does not empty a file.
Status remove_earlier(const mpi::Comm& ends, const std::string& path) {
  Status removed;
  if (ends.rank() == 0 && unlink(path.c_str()) != 0 && errno != ENOENT)
    removed = fail(errno_error(errno, "remove", path));
  return mpi::share_status(ends, removed);
}

/// Collective, whatever befell a rank: one in error takes part with nothing.
void write_piece(const mpi::File& file, const std::string& path, std::uint64_t offset_bytes, Bytes piece,
                 Status& status) {
  const Bytes mine = status ? piece : Bytes{};
  const auto written = file.write_at_all(offset_bytes, mine);
  if (!status) return;
  if (!written)
    status = fail(written.error());
  else if (*written != mine.size())
    status = fail(
        table_error(path, "write",
                    "only " + std::to_string(*written) + " of " + std::to_string(mine.size()) + " bytes were written"));
}

/// Collective, likewise.
void compare_piece(const mpi::File& file, const std::string& path, std::uint64_t offset_bytes, Bytes piece,
                   std::span<std::byte> room, Status& status) {
  const std::span<std::byte> found = room.first(status ? piece.size() : 0);
  const auto read = file.read_at_all(offset_bytes, found);
  if (!status) return;
  if (!read)
    status = fail(read.error());
  else if (*read != piece.size() || !std::ranges::equal(found, piece))
    status = fail(table_error(path, "read back", "the table does not hold what was written"));
}

}  // namespace

PairEnd pair_end(int rank, int node, const std::string& host) {
  PairEnd end{rank, node, {}};
  std::copy_n(host.begin(), std::min(host.size(), end.host.size()), end.host.begin());
  return end;
}

Status write_pair_table(const mpi::Comm& ends, const std::string& path, int stride, const PairEnd& mine,
                        std::span<const PairTime> times) {
  const bool takes_part = ends.rank() % stride == 0;
  const Bytes end = takes_part ? std::as_bytes(std::span(&mine, 1)) : Bytes{};
  const Bytes rows = std::as_bytes(times);
  std::vector<std::byte> room;
  const Status got = mpi::agreed_allocation(ends, [&] { room.resize(std::max(end.size(), rows.size())); });
  if (!got) return got;

  if (const Status removed = remove_earlier(ends, path); !removed) return removed;
  auto file = mpi::File::open(ends, path, mpi::FileAccess::create_update, mpi::Info(), true);
  Status status = mpi::share_status(ends, file ? Status{} : fail(file.error()));
  if (!status) return status;

  const auto index = static_cast<std::uint64_t>(ends.rank() / stride);
  const auto count = static_cast<std::uint64_t>((ends.size() + stride - 1) / stride);
  const std::uint64_t end_at = index * sizeof(PairEnd);
  const std::uint64_t rows_at = count * sizeof(PairEnd) + ends.sum_before(rows.size());

  write_piece(*file, path, end_at, end, status);
  write_piece(*file, path, rows_at, rows, status);
  if (const Status synced = file->sync(); status) status = synced;
  compare_piece(*file, path, end_at, end, room, status);
  compare_piece(*file, path, rows_at, rows, room, status);
  if (const Status closed = file->close(); status) status = closed;
  return mpi::share_status(ends, status);
}

}  // namespace ullage
