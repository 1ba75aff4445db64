/* SPDX-License-Identifier: Apache-2.0 */
#include "device.h"

#include <dirent.h>
#include <dlfcn.h>
#include <linux/capability.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "result.h"

#define ENTRIES "/sys/class/infiniband_verbs"

static pthread_once_t once = PTHREAD_ONCE_INIT;

static void let_destroy(void) {
  void *verbs = dlopen("libibverbs.so.1", RTLD_LAZY | RTLD_NOLOAD);
  bool *allowed = verbs != NULL ? dlsym(verbs, "verbs_allow_disassociate_destroy") : NULL;
  if (allowed != NULL) {
    *allowed = true;
  }
  if (verbs != NULL) {
    dlclose(verbs);
  }
}

void device_let_destroy_removed(void) { pthread_once(&once, let_destroy); }

int device_list(struct ibv_device ***list) {
  int count = 0;
  errno = 0;
  *list = ibv_get_device_list(&count);
  if (*list != NULL) {
    device_let_destroy_removed();
    return count;
  }
  /* A kernel without RDMA has no devices, which is no failure. */
  return errno == ENOSYS || errno == ENOENT || errno == 0 ? 0 : -errno;
}

int device_open(const char *name, struct ibv_context **context) {
  struct ibv_device **list;
  int count = device_list(&list);
  int result = count < 0 ? count : -ENODEV;
  for (int i = 0; i < count; i++) {
    if (strcmp(ibv_get_device_name(list[i]), name) == 0) {
      errno = 0;
      *context = ibv_open_device(list[i]);
      result = *context != NULL ? 0 : last_error();
      break;
    }
  }
  if (list != NULL) {
    ibv_free_device_list(list);
  }
  return result;
}

/* Whether this process sees the entries of any device. Some containers hide them. */
static int sees_entries(void) {
  DIR *entries = opendir(ENTRIES);
  int seen = 0;
  if (entries != NULL) {
    for (struct dirent *each = readdir(entries); each != NULL && !seen; each = readdir(entries)) {
      seen = strncmp(each->d_name, "uverbs", strlen("uverbs")) == 0;
    }
    closedir(entries);
  }
  return seen;
}

int64_t device_entry(const struct ibv_context *context) {
  struct stat entry;
  if (stat(context->device->dev_path, &entry) == 0) {
    return (int64_t)entry.st_ino;
  }
  return errno == ENOENT && sees_entries() ? NO_ENTRY : UNSEEN_ENTRY;
}

int device_present(const struct ibv_context *context, int64_t entry) {
  struct stat now;
  if (entry == UNSEEN_ENTRY) {
    return 1;
  }
  /* The entry disappears first; then the kernel waits for the users of the device. */
  return stat(context->device->dev_path, &now) == 0 ? (int64_t)now.st_ino == entry
                                                    : errno != ENOENT;
}

int mtu_bytes(enum ibv_mtu mtu) { return mtu >= IBV_MTU_256 ? 128 << mtu : 0; }

/* The kernel honours only capabilities in the first user namespace. */
static int in_first_user_namespace(void) {
  unsigned inside = 1;
  unsigned outside = 1;
  unsigned count = 0;
  FILE *map = fopen("/proc/self/uid_map", "re");
  if (map == NULL) {
    return 1;
  }
  int read = fscanf(map, "%u %u %u", &inside, &outside, &count);
  fclose(map);
  return read == 3 && inside == 0 && outside == 0 && count == UINT32_MAX;
}

static int may_lock_any(void) {
  struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
  struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];
  return syscall(SYS_capget, &header, data) == 0 &&
         (data[CAP_TO_INDEX(CAP_IPC_LOCK)].effective & CAP_TO_MASK(CAP_IPC_LOCK)) != 0 &&
         in_first_user_namespace();
}

int64_t memlock_limit(void) {
  struct rlimit limit;
  if (may_lock_any() || getrlimit(RLIMIT_MEMLOCK, &limit) != 0 ||
      limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur > (rlim_t)NO_LIMIT) {
    return NO_LIMIT;
  }
  return (int64_t)limit.rlim_cur;
}
