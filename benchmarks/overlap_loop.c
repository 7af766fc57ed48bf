// SPDX-License-Identifier: Apache-2.0
// The baseline of `overlap_pairs`: transfers begun, fixed work done, transfers waited for, by the calls that workload
// `overlap` makes, in the same stretches. overlap_loop threads|mpi|uring TRANSFER DEPTH BATCHES ROUNDS BLOCKS FILE
// writes FILE, reads it again backwards area by area, and prints for each the ns of all rounds: I/O alone, computation
// alone, both at once, blocking calls and computation.
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/io_uring.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "bare_loop.h"

enum { warm_ups = 2, kinds = 4, most_depth = 64 };
enum kind { io, compute, both, blocking };

static void require(int good, const char* what) {
  if (good) return;
  fprintf(stderr, "%s\n", what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

struct job {
  char way;  // its first letter
  int writes, depth, batches, rounds;
  size_t bytes;
  uint64_t blocks;
  int file;
  MPI_File mpi_file;
  char* data;
};

static void run_chain(uint64_t blocks) {
  uint64_t value = 1;
  for (uint64_t i = 0; i < blocks; ++i) {
#if defined(__x86_64__)
    __asm__ volatile(".rept 16\n\tadd %0, %0\n\t.endr" : "+r"(value));
#elif defined(__aarch64__)
    __asm__ volatile(".rept 16\n\tadd %0, %0, %0\n\t.endr" : "+r"(value));
#else
    for (int link = 0; link < 16; ++link) {
      value += value;
      __asm__ volatile("" : "+r"(value));
    }
#endif
  }
}

static void move(const struct job* job, int file, char* data, off_t at) {
  const ssize_t moved = job->writes ? pwrite(file, data, job->bytes, at) : pread(file, data, job->bytes, at);
  require(moved == (ssize_t)job->bytes, "transfer");
}

// -- helper threads: one lock, a queue of transfers, a file for each ---------------------------------------------------

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t handed_over = PTHREAD_COND_INITIALIZER, done = PTHREAD_COND_INITIALIZER;
static int waiting[most_depth], first_waiting, end_waiting, is_done[most_depth], leaves;
static int helper_files[most_depth];
static char* batch_data;
static off_t batch_at;

static void* serve(void* given) {
  const struct job* job = given;
  pthread_mutex_lock(&lock);
  while (1) {
    while (!leaves && first_waiting == end_waiting) pthread_cond_wait(&handed_over, &lock);
    if (leaves) break;
    const int i = waiting[first_waiting++ % most_depth];
    pthread_mutex_unlock(&lock);
    move(job, helper_files[i], batch_data + (size_t)i * job->bytes, batch_at + (off_t)i * (off_t)job->bytes);
    pthread_mutex_lock(&lock);
    is_done[i] = 1;
    pthread_cond_signal(&done);
  }
  pthread_mutex_unlock(&lock);
  return NULL;
}

static void start_threads(const struct job* job, char* data, off_t at) {
  batch_data = data;
  batch_at = at;
  for (int i = 0; i < job->depth; ++i) {
    pthread_mutex_lock(&lock);
    is_done[i] = 0;
    waiting[end_waiting++ % most_depth] = i;
    pthread_cond_signal(&handed_over);
    pthread_mutex_unlock(&lock);
  }
}

static void wait_threads(const struct job* job) {
  for (int i = 0; i < job->depth; ++i) {
    pthread_mutex_lock(&lock);
    while (!is_done[i]) pthread_cond_wait(&done, &lock);
    pthread_mutex_unlock(&lock);
  }
}

// -- MPI-IO ------------------------------------------------------------------------------------------------------------

static MPI_Request requests[most_depth];

static void start_mpi(const struct job* job, char* data, off_t at) {
  for (int i = 0; i < job->depth; ++i) {
    char* const own = data + (size_t)i * job->bytes;
    const MPI_Offset offset = at + (MPI_Offset)i * (MPI_Offset)job->bytes;
    const int code = job->writes
                         ? MPI_File_iwrite_at(job->mpi_file, offset, own, (int)job->bytes, MPI_BYTE, &requests[i])
                         : MPI_File_iread_at(job->mpi_file, offset, own, (int)job->bytes, MPI_BYTE, &requests[i]);
    require(code == MPI_SUCCESS, "begin");
  }
}

static void wait_mpi(const struct job* job) {
  MPI_Status statuses[most_depth];
  require(MPI_Waitall(job->depth, requests, statuses) == MPI_SUCCESS, "wait");
  for (int i = 0; i < job->depth; ++i) {
    int moved = 0;
    MPI_Get_count(&statuses[i], MPI_BYTE, &moved);
    require(moved == (int)job->bytes, "count");
  }
}

// -- io_uring: registered buffers and file, handed over two by two -----------------------------------------------------

static struct {
  int ring;
  unsigned *submit_tail, submit_mask, *complete_head, *complete_tail, complete_mask, tail;
  struct io_uring_cqe* completions;
  struct io_uring_sqe* entries;
} uring;

static void make_uring(const struct job* job, size_t memory) {
  const unsigned ways[] = {1U << 12 | 1U << 13, 1U << 8, 0};
  struct io_uring_params p;
  uring.ring = -1;
  for (int i = 0; i < 3 && uring.ring < 0; ++i) {
    memset(&p, 0, sizeof p);
    p.flags = 1U << 4 | ways[i];
    uring.ring = (int)syscall(SYS_io_uring_setup, job->depth, &p);
  }
  require(uring.ring >= 0, "io_uring_setup");
  size_t room = p.sq_off.array + p.sq_entries * sizeof(unsigned);
  const size_t other = p.cq_off.cqes + p.cq_entries * sizeof(struct io_uring_cqe);
  if (other > room) room = other;
  const int how = PROT_READ | PROT_WRITE, flags = MAP_SHARED | MAP_POPULATE;
  char* queues = mmap(NULL, room, how, flags, uring.ring, IORING_OFF_SQ_RING);
  uring.entries = mmap(NULL, p.sq_entries * sizeof(struct io_uring_sqe), how, flags, uring.ring, IORING_OFF_SQES);
  require(queues != MAP_FAILED && (void*)uring.entries != MAP_FAILED, "mmap");
  uring.submit_tail = (unsigned*)(queues + p.sq_off.tail);
  uring.submit_mask = p.sq_entries - 1;
  uring.complete_head = (unsigned*)(queues + p.cq_off.head);
  uring.complete_tail = (unsigned*)(queues + p.cq_off.tail);
  uring.complete_mask = p.cq_entries - 1;
  uring.completions = (struct io_uring_cqe*)(queues + p.cq_off.cqes);
  unsigned* order = (unsigned*)(queues + p.sq_off.array);
  for (unsigned i = 0; i < p.sq_entries; ++i) order[i] = i;
  uring.tail = 0;
  struct iovec piece = {job->data, memory};
  require(syscall(SYS_io_uring_register, uring.ring, IORING_REGISTER_BUFFERS, &piece, 1) == 0, "buffers");
  require(syscall(SYS_io_uring_register, uring.ring, IORING_REGISTER_FILES, &job->file, 1) == 0, "files");
}

static void enter(unsigned queued, unsigned wanted) {
  __atomic_store_n(uring.submit_tail, uring.tail, __ATOMIC_RELEASE);
  const unsigned flags = wanted > 0 ? IORING_ENTER_GETEVENTS : 0;
  require(syscall(SYS_io_uring_enter, uring.ring, queued, wanted, flags, NULL, 0) >= 0, "io_uring_enter");
}

static void start_uring(const struct job* job, char* data, off_t at) {
  unsigned queued = 0;
  for (int i = 0; i < job->depth; ++i) {
    struct io_uring_sqe* entry = &uring.entries[uring.tail++ & uring.submit_mask];
    memset(entry, 0, sizeof *entry);
    entry->opcode = job->writes ? IORING_OP_WRITE_FIXED : IORING_OP_READ_FIXED;
    entry->flags = IOSQE_FIXED_FILE;
    entry->off = (uint64_t)at + (uint64_t)i * job->bytes;
    entry->addr = (uint64_t)(uintptr_t)(data + (size_t)i * job->bytes);
    entry->len = (unsigned)job->bytes;
    if (++queued == 2) enter(queued, 0), queued = 0;
  }
  if (queued > 0) enter(queued, 0);
}

static void wait_uring(const struct job* job) {
  for (int ended = 0; ended < job->depth;) {
    const unsigned head = *uring.complete_head;
    if (head == __atomic_load_n(uring.complete_tail, __ATOMIC_ACQUIRE)) {
      enter(0, 1);
      continue;
    }
    require(uring.completions[head & uring.complete_mask].res == (int)job->bytes, "transfer");
    __atomic_store_n(uring.complete_head, head + 1, __ATOMIC_RELEASE);
    ++ended;
  }
}

// -- the stretches -----------------------------------------------------------------------------------------------------

static void start(const struct job* job, char* data, off_t at) {
  (job->way == 't' ? start_threads : job->way == 'm' ? start_mpi : start_uring)(job, data, at);
}

static void finish(const struct job* job) {
  (job->way == 't' ? wait_threads : job->way == 'm' ? wait_mpi : wait_uring)(job);
}

static void move_blocking(const struct job* job, char* data, off_t at) {
  for (int i = 0; i < job->depth && job->way != 'u'; ++i) {
    char* const own = data + (size_t)i * job->bytes;
    const off_t offset = at + (off_t)i * (off_t)job->bytes;
    MPI_Status status;
    if (job->way == 't') move(job, job->file, own, offset);
    if (job->way == 'm' && job->writes) MPI_File_write_at(job->mpi_file, offset, own, (int)job->bytes, MPI_BYTE, &status);
    if (job->way == 'm' && !job->writes) MPI_File_read_at(job->mpi_file, offset, own, (int)job->bytes, MPI_BYTE, &status);
  }
  if (job->way == 'u') start_uring(job, data, at), wait_uring(job);
}

static int64_t stretch(const struct job* job, enum kind kind, off_t area) {
  MPI_Barrier(MPI_COMM_WORLD);
  const size_t batch = (size_t)job->depth * job->bytes;
  const int64_t begun = now();
  for (int i = 0; i < job->batches; ++i) {
    char* const data = job->data + (size_t)i * batch;
    const off_t at = area + (off_t)((size_t)i * batch);
    if (kind == io || kind == both) start(job, data, at);
    if (kind == blocking) move_blocking(job, data, at);
    if (kind != io) run_chain(job->blocks);
    if (kind == io || kind == both) finish(job);
  }
  return now() - begun;
}

static void open_files(struct job* job, const char* path) {
  const int mode = job->writes ? MPI_MODE_WRONLY : MPI_MODE_RDONLY;
  if (job->way == 'm') {
    const int more = job->writes ? MPI_MODE_CREATE | MPI_MODE_EXCL : 0;
    require(MPI_File_open(MPI_COMM_SELF, path, mode | more, MPI_INFO_NULL, &job->mpi_file) == MPI_SUCCESS, path);
    return;
  }
  job->file = open(path, job->writes ? O_WRONLY | O_CREAT | O_EXCL : O_RDONLY, 0600);
  require(job->file >= 0, path);
  for (int i = 0; i < job->depth && job->way == 't'; ++i)
    helper_files[i] = open(path, job->writes ? O_WRONLY : O_RDONLY);
}

static void close_files(struct job* job) {
  if (job->way == 'm') MPI_File_close(&job->mpi_file);
  if (job->way != 'm') close(job->file);
  for (int i = 0; i < job->depth && job->way == 't'; ++i) close(helper_files[i]);
}

static void run(struct job* job, const char* path) {
  static const int first_round[kinds] = {io, compute, blocking, both};
  const off_t area_bytes = (off_t)((size_t)job->batches * (size_t)job->depth * job->bytes);
  const int areas = warm_ups + (kinds - 1) * job->rounds;
  int64_t took[kinds] = {0, 0, 0, 0};
  int area = 0;
  open_files(job, path);
  if (job->way == 'u') make_uring(job, (size_t)area_bytes);
  pthread_t helpers[most_depth];
  leaves = 0;
  for (int i = 0; i < job->depth && job->way == 't'; ++i) pthread_create(&helpers[i], NULL, serve, job);
  for (int i = 0; i < warm_ups + kinds * job->rounds; ++i) {
    const int round = (i - warm_ups) / kinds;
    const enum kind kind = i < warm_ups ? io : (enum kind)((first_round[(i - warm_ups) % kinds] + round) % kinds);
    const off_t at = (off_t)(job->writes ? area : areas - 1 - area) * area_bytes;
    if (kind != compute) memset(job->data, job->writes ? i : 0xee, (size_t)area_bytes);  // as the engine readies it
    const int64_t ns = stretch(job, kind, at);
    if (i >= warm_ups) took[kind] += ns;
    if (kind != compute) ++area;
  }
  pthread_mutex_lock(&lock);
  leaves = 1;
  pthread_cond_broadcast(&handed_over);
  pthread_mutex_unlock(&lock);
  for (int i = 0; i < job->depth && job->way == 't'; ++i) pthread_join(helpers[i], NULL);
  if (job->way == 'u') close(uring.ring);
  close_files(job);
  for (int kind = 0; kind < kinds; ++kind) printf("%lld\n", (long long)took[kind]);
}

int main(int count, char** words) {
  MPI_Init(&count, &words);
  require(count == 8, "overlap_loop threads|mpi|uring TRANSFER DEPTH BATCHES ROUNDS BLOCKS FILE");
  struct job job = {.way = words[1][0],
                    .bytes = (size_t)atol(words[2]),
                    .depth = atoi(words[3]),
                    .batches = atoi(words[4]),
                    .rounds = atoi(words[5]),
                    .blocks = (uint64_t)atoll(words[6])};
  require(job.depth >= 1 && job.depth <= most_depth, "depth");
  job.data = one_buffer(job.bytes * (size_t)job.depth * (size_t)job.batches, 1);
  require(job.data != NULL, "memory");
  unlink(words[7]);
  for (job.writes = 1; job.writes >= 0; --job.writes) run(&job, words[7]);
  unlink(words[7]);
  MPI_Finalize();
  return 0;
}
