// SPDX-License-Identifier: Apache-2.0
#include "mpi/messages.hpp"

#include "mpi/error.hpp"
#include "mpi/handles.hpp"

namespace ullage::mpi {

/// Arguments that are the same in every iteration, or overwritten in each.
struct MessageLoop::Calls {
  std::vector<MPI_Request> requests;
  std::vector<int> send_counts;
  std::vector<int> send_places;
  std::vector<int> receive_counts;
  std::vector<int> receive_places;
};

std::shared_ptr<MessageLoop::Calls> MessageLoop::room_for(const Comm& comm) {
  auto room = std::make_shared<Calls>();
  for (auto* counts : {&room->send_counts, &room->send_places, &room->receive_counts, &room->receive_places})
    counts->reserve(static_cast<std::size_t>(comm.size()));
  return room;
}

MessageLoop::MessageLoop(const Comm& comm, std::vector<MessageStep> steps, MessageMethod method,
                         std::size_t message_bytes, RotatingBuffer& out, RotatingBuffer& in,
                         std::shared_ptr<Calls> room)
    : comm_(&comm),
      steps_(std::move(steps)),
      method_(method),
      message_bytes_(message_bytes),
      out_(&out),
      in_(&in),
      calls_(room ? std::move(room) : std::make_shared<Calls>()) {
  for (const MessageStep& step : steps_) {
    if (step.to != MessageStep::nobody) ++sends_;
    if (step.from != MessageStep::nobody) received_.push_back({step.from, {}});
  }
  sent_.resize(sends_);
  if (method == MessageMethod::nonblocking) calls_->requests.resize(sent_.size() + received_.size());
  if (method != MessageMethod::alltoallv) return;
  const auto ranks = static_cast<std::size_t>(comm.size());
  const int count = static_cast<int>(message_bytes);
  for (auto* counts : {&calls_->send_counts, &calls_->send_places, &calls_->receive_counts, &calls_->receive_places})
    counts->assign(ranks, 0);
  for (const MessageStep& step : steps_) {
    if (step.to != MessageStep::nobody) calls_->send_counts[static_cast<std::size_t>(step.to)] = count;
    if (step.from != MessageStep::nobody) calls_->receive_counts[static_cast<std::size_t>(step.from)] = count;
  }
}

MessageLoop::~MessageLoop() = default;

void MessageLoop::turn_to(int other) noexcept {
  for (MessageStep& step : steps_)
    for (int* end : {&step.to, &step.from})
      if (*end != MessageStep::nobody) *end = other;
  for (Received& message : received_) message.from = other;
}

std::byte* MessageLoop::next_out(std::size_t send) {
  std::byte* const place = out_->next(message_bytes_);
  sent_[send] = {place, message_bytes_};
  return place;
}

std::byte* MessageLoop::next_in(std::size_t receive) {
  std::byte* const place = in_->next(message_bytes_);
  received_[receive].data = {place, message_bytes_};
  return place;
}

void MessageLoop::run(std::uint64_t iterations) {
  switch (method_) {
    case MessageMethod::sendrecv:
      return run_sendrecv(iterations);
    case MessageMethod::alltoallv:
      return run_alltoallv(iterations);
    case MessageMethod::nonblocking:
      return run_nonblocking(iterations);
  }
}

void MessageLoop::run_sendrecv(std::uint64_t iterations) {
  MPI_Comm comm = comm_->handle().comm;
  const int count = static_cast<int>(message_bytes_);
  for (std::uint64_t i = 0; i < iterations; ++i) {
    std::size_t send = 0;
    std::size_t receive = 0;
    for (const MessageStep& step : steps_) {
      const std::byte* const out = step.to == MessageStep::nobody ? nullptr : next_out(send++);
      std::byte* const in = step.from == MessageStep::nobody ? nullptr : next_in(receive++);
      if (out != nullptr && in != nullptr) {
        check(MPI_Sendrecv(out, count, MPI_BYTE, step.to, step.tag, in, count, MPI_BYTE, step.from, step.tag, comm,
                           MPI_STATUS_IGNORE),
              "MPI_Sendrecv");
      } else if (out != nullptr) {
        check(MPI_Send(out, count, MPI_BYTE, step.to, step.tag, comm), "MPI_Send");
      } else if (in != nullptr) {
        check(MPI_Recv(in, count, MPI_BYTE, step.from, step.tag, comm, MPI_STATUS_IGNORE), "MPI_Recv");
      }
    }
  }
}

void MessageLoop::run_alltoallv(std::uint64_t iterations) {
  MPI_Comm comm = comm_->handle().comm;
  const std::byte* const out_base = out_->bytes().data();
  std::byte* const in_base = in_->bytes().data();
  for (std::uint64_t i = 0; i < iterations; ++i) {
    std::size_t send = 0;
    std::size_t receive = 0;
    for (const MessageStep& step : steps_) {
      if (step.to != MessageStep::nobody)
        calls_->send_places[static_cast<std::size_t>(step.to)] = static_cast<int>(next_out(send++) - out_base);
      if (step.from != MessageStep::nobody)
        calls_->receive_places[static_cast<std::size_t>(step.from)] = static_cast<int>(next_in(receive++) - in_base);
    }
    check(MPI_Alltoallv(out_base, calls_->send_counts.data(), calls_->send_places.data(), MPI_BYTE, in_base,
                        calls_->receive_counts.data(), calls_->receive_places.data(), MPI_BYTE, comm),
          "MPI_Alltoallv");
  }
}

void MessageLoop::run_nonblocking(std::uint64_t iterations) {
  MPI_Comm comm = comm_->handle().comm;
  const int count = static_cast<int>(message_bytes_);
  std::vector<MPI_Request>& requests = calls_->requests;
  for (std::uint64_t i = 0; i < iterations; ++i) {
    std::size_t request = 0;
    std::size_t receive = 0;
    for (const MessageStep& step : steps_)
      if (step.from != MessageStep::nobody)
        check(MPI_Irecv(next_in(receive++), count, MPI_BYTE, step.from, step.tag, comm, &requests[request++]),
              "MPI_Irecv");
    std::size_t send = 0;
    for (const MessageStep& step : steps_)
      if (step.to != MessageStep::nobody)
        check(MPI_Isend(next_out(send++), count, MPI_BYTE, step.to, step.tag, comm, &requests[request++]), "MPI_Isend");
    check(MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
  }
}

}  // namespace ullage::mpi
