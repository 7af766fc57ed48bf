// SPDX-License-Identifier: Apache-2.0
// A file system in user space that hands every call on to a folder: `passthrough MOUNTPOINT -f -o source=FOLDER`. With
// `-o hang=OPERATION:NAME` it never answers fsync or unlink of a file of that name that holds something.
// libfuse keeps a file that is removed while it is open, under a name of its own (.fuse_hidden...), as NFS does.
#define FUSE_USE_VERSION 31
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fuse3/fuse.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

static struct settings {
  const char* source;
  const char* hang;
} options;
static int source = -1;

// Names relative to the source's descriptor: "/" is ".".
static const char* below(const char* path) { return path[1] == '\0' ? "." : path + 1; }
static int status(long result) { return result < 0 ? -errno : 0; }

static void hang_if_told(const char* operation, const char* path) {
  const size_t length = strlen(operation);
  const char* base = strrchr(path, '/') + 1;
  struct stat found;
  if (!options.hang || strncmp(options.hang, operation, length) != 0 || options.hang[length] != ':') return;
  if (strcmp(options.hang + length + 1, base) != 0) return;
  if (fstatat(source, below(path), &found, AT_SYMLINK_NOFOLLOW) == 0 && found.st_size > 0)
    for (;;) pause();
}

static void* pass_init(struct fuse_conn_info* connection, struct fuse_config* config) {
  (void)connection;
  config->use_ino = 1;
  return NULL;
}

static int pass_getattr(const char* path, struct stat* out, struct fuse_file_info* file) {
  if (file) return status(fstat((int)file->fh, out));
  return status(fstatat(source, below(path), out, AT_SYMLINK_NOFOLLOW));
}

static int pass_readdir(const char* path, void* out, fuse_fill_dir_t fill, off_t offset, struct fuse_file_info* file,
                        enum fuse_readdir_flags flags) {
  (void)offset, (void)file, (void)flags;
  const int fd = openat(source, below(path), O_RDONLY | O_DIRECTORY);
  DIR* directory = fd < 0 ? NULL : fdopendir(fd);
  if (!directory) return -errno;
  for (struct dirent* entry = readdir(directory); entry; entry = readdir(directory))
    if (fill(out, entry->d_name, NULL, 0, 0)) break;
  closedir(directory);
  return 0;
}

// The server's own buffers are not aligned, so direct I/O ends here.
static int pass_open(const char* path, struct fuse_file_info* file) {
  const int fd = openat(source, below(path), file->flags & ~(O_NOFOLLOW | O_DIRECT));
  file->fh = (uint64_t)fd;
  return status(fd);
}

static int pass_create(const char* path, mode_t mode, struct fuse_file_info* file) {
  const int fd = openat(source, below(path), file->flags & ~O_DIRECT, mode);
  file->fh = (uint64_t)fd;
  return status(fd);
}

static int moved(ssize_t count) { return count < 0 ? -errno : (int)count; }
static int pass_read(const char* path, char* out, size_t size, off_t offset, struct fuse_file_info* file) {
  (void)path;
  return moved(pread((int)file->fh, out, size, offset));
}
static int pass_write(const char* path, const char* data, size_t size, off_t offset, struct fuse_file_info* file) {
  (void)path;
  return moved(pwrite((int)file->fh, data, size, offset));
}

static int pass_release(const char* path, struct fuse_file_info* file) {
  (void)path;
  return status(close((int)file->fh));
}
static int pass_fsync(const char* path, int data_only, struct fuse_file_info* file) {
  hang_if_told("fsync", path);
  return status(data_only ? fdatasync((int)file->fh) : fsync((int)file->fh));
}
static int pass_truncate(const char* path, off_t size, struct fuse_file_info* file) {
  if (file) return status(ftruncate((int)file->fh, size));
  const int fd = openat(source, below(path), O_WRONLY);
  const int done = fd < 0 ? -errno : status(ftruncate(fd, size));
  if (fd >= 0) close(fd);
  return done;
}

static int pass_mkdir(const char* path, mode_t mode) { return status(mkdirat(source, below(path), mode)); }
static int pass_unlink(const char* path) {
  hang_if_told("unlink", path);
  return status(unlinkat(source, below(path), 0));
}
static int pass_rmdir(const char* path) { return status(unlinkat(source, below(path), AT_REMOVEDIR)); }
static int pass_chmod(const char* path, mode_t mode, struct fuse_file_info* file) {
  (void)file;
  return status(fchmodat(source, below(path), mode, 0));
}
static int pass_rename(const char* from, const char* to, unsigned flags) {
  return status(renameat2(source, below(from), source, below(to), flags));
}
static int pass_statfs(const char* path, struct statvfs* out) {
  (void)path;
  return status(fstatvfs(source, out));
}

static const struct fuse_operations operations = {
    .init = pass_init,
    .getattr = pass_getattr,
    .readdir = pass_readdir,
    .open = pass_open,
    .create = pass_create,
    .read = pass_read,
    .write = pass_write,
    .release = pass_release,
    .fsync = pass_fsync,
    .truncate = pass_truncate,
    .mkdir = pass_mkdir,
    .unlink = pass_unlink,
    .rmdir = pass_rmdir,
    .chmod = pass_chmod,
    .rename = pass_rename,
    .statfs = pass_statfs,
};

int main(int argc, char* argv[]) {
  static const struct fuse_opt known[] = {{"source=%s", offsetof(struct settings, source), 0},
                                          {"hang=%s", offsetof(struct settings, hang), 0},
                                          FUSE_OPT_END};
  struct fuse_args args = FUSE_ARGS_INIT(argc, argv);
  if (fuse_opt_parse(&args, &options, known, NULL) != 0 || !options.source) {
    fprintf(stderr, "usage: passthrough MOUNTPOINT -f -o source=FOLDER [-o hang=OPERATION:NAME]\n");
    return 2;
  }
  source = open(options.source, O_RDONLY | O_DIRECTORY);
  if (source < 0) {
    perror(options.source);
    return 2;
  }
  return fuse_main(args.argc, args.argv, &operations, NULL);
}
