// SPDX-License-Identifier: Apache-2.0
#include "mpi/collective_check.hpp"

#include <cstdio>

#include "base/permutation.hpp"
#include "base/std.hpp"
#include "mpi/error.hpp"
#include "mpi/handles.hpp"

namespace ullage::mpi {
namespace {

constexpr int exit_code_of_a_mismatch = 5;

/// Holds what a rank says of the collective it is about to enter; cut, so that all ranks' have one length.
using Said = std::array<char, 256>;

std::string say(const Comm::Handle& handle, const CallSite& site) {
  std::string_view file = site.file_name();
  if (const auto folder = file.rfind("engine/"); folder != std::string_view::npos) file.remove_prefix(folder);
  return std::string(file) + ":" + std::to_string(site.line()) + ", collective " + std::to_string(handle.collectives) +
         " of this communicator, in " + site.function_name();
}

/// Collective: the places of the lowest rank and of the first one that is elsewhere, by their ranks.
std::string describe_mismatch(const Comm::Handle& handle, const std::string& own) {
  int ranks = 0;
  check(MPI_Comm_size(handle.comm, &ranks), "MPI_Comm_size");
  Said mine{};
  own.copy(mine.data(), mine.size() - 1);
  std::vector<Said> all(static_cast<std::size_t>(ranks));
  check(MPI_Allgather(mine.data(), static_cast<int>(mine.size()), MPI_CHAR, all.data(), static_cast<int>(mine.size()),
                      MPI_CHAR, handle.comm),
        "MPI_Allgather");
  std::size_t other = 0;
  while (other + 1 < all.size() && all[other] == all[0]) ++other;
  return "ranks enter different collectives: rank 0 at " + std::string(all[0].data()) + "; rank " +
         std::to_string(other) + " at " + std::string(all[other].data());
}

[[noreturn]] void end_all(const std::string& message) {
  std::fprintf(stderr, "ullage-engine: %s\n", message.c_str());
  abort_all(exit_code_of_a_mismatch);
}

}  // namespace

bool collectives_are_checked() { return checks_collectives; }

void report_mismatches(const Comm& comm, MismatchReporter reporter) { comm.handle().on_mismatch = std::move(reporter); }

void check_call_site(const Comm::Handle& handle, const CallSite& site) {
  ++handle.collectives;
  const std::string own = say(handle, site);
  const std::int64_t hash = stable_hash(own);
  std::array<std::int64_t, 2> bounds{hash, -hash};
  check(MPI_Allreduce(MPI_IN_PLACE, bounds.data(), 2, MPI_INT64_T, MPI_MAX, handle.comm), "MPI_Allreduce");
  if (bounds[0] == -bounds[1]) return;
  const std::string message = describe_mismatch(handle, own);
  if (!handle.on_mismatch) end_all(message);
  handle.on_mismatch(message);
}

}  // namespace ullage::mpi
