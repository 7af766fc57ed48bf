// SPDX-License-Identifier: Apache-2.0
#include "mpi/mailbox.hpp"

#include <mpi.h>

#include "base/resources.hpp"
#include "mpi/agreement.hpp"
#include "mpi/error.hpp"
#include "mpi/handles.hpp"

namespace ullage::mpi {
namespace {

bool is_done(MPI_Request& request) {
  int flag = 0;
  check(MPI_Test(&request, &flag, MPI_STATUS_IGNORE), "MPI_Test");
  return flag != 0;
}

}  // namespace

struct Mailbox::Posted {
  std::string content;
  MPI_Request request = MPI_REQUEST_NULL;
};

struct Mailbox::Summing {
  Pair values{};
  MPI_Request request = MPI_REQUEST_NULL;
};

Mailbox::Mailbox(const Comm& everyone) : comm_(everyone.duplicate()), rank_(comm_.rank()), size_(comm_.size()) {
  allocate_or_throw(comm_, [this] { spare_ = std::make_unique_for_overwrite<std::array<char, spare_bytes>>(); });
}

Mailbox::~Mailbox() {
  const Waiting waiting;
  for (Posted& posted : posted_) check(MPI_Wait(&posted.request, MPI_STATUS_IGNORE), "MPI_Wait");
}

void Mailbox::post(int to, int kind, std::string content) {
  forget_delivered();
  posted_.emplace_back();
  Posted& posted = posted_.back();
  posted.content = std::move(content);
  check(MPI_Isend(posted.content.data(), static_cast<int>(posted.content.size()), MPI_BYTE, to, kind,
                  comm_.handle().comm, &posted.request),
        "MPI_Isend");
}

void Mailbox::forget_delivered() {
  std::erase_if(posted_, [](Posted& posted) { return is_done(posted.request); });
}

std::optional<Letter> Mailbox::look() {
  const Comm::Handle& handle = comm_.handle();
  int found = 0;
  MPI_Status status;
  check(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, handle.comm, &found, &status), "MPI_Iprobe");
  if (found == 0) return std::nullopt;
  int length = 0;
  check(MPI_Get_count(&status, MPI_BYTE, &length), "MPI_Get_count");
  Letter letter{status.MPI_SOURCE, status.MPI_TAG};
  const Status room = catch_resource_errors([&] -> Status {
    letter.content.resize(static_cast<std::size_t>(length));
    return {};
  });
  letter.is_lost = !room;
  if (!room && static_cast<std::size_t>(length) > spare_bytes) throw ResourceError(room.error());
  check(MPI_Recv(room ? letter.content.data() : spare_->data(), length, MPI_BYTE, letter.from, letter.kind, handle.comm,
                 MPI_STATUS_IGNORE),
        "MPI_Recv");
  return letter;
}

void Mailbox::add(const Pair& mine) {
  summing_ = std::make_unique<Summing>();
  summing_->values = mine;
  check(MPI_Iallreduce(MPI_IN_PLACE, summing_->values.data(), static_cast<int>(mine.size()), MPI_UINT64_T, MPI_SUM,
                       comm_.handle().comm, &summing_->request),
        "MPI_Iallreduce");
}

std::optional<Mailbox::Pair> Mailbox::sum() {
  if (!summing_ || !is_done(summing_->request)) return std::nullopt;
  const Pair total = summing_->values;
  summing_.reset();
  return total;
}

}  // namespace ullage::mpi
