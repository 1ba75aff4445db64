/* SPDX-License-Identifier: Apache-2.0 */
/* The devices, and the limits of the process. All return 0 or more, or -errno. */
#ifndef CRAIL_DEVICE_H
#define CRAIL_DEVICE_H

#include <infiniband/verbs.h>
#include <stdint.h>

#define NO_LIMIT INT64_MAX

/* All devices, ended by NULL; free with ibv_free_device_list unless NULL. Returns their number. */
int device_list(struct ibv_device ***list);

/*
 * A removed card does not wait for its users. The kernel then answers EIO to a process that
 * destroys an object of the card, since the kernel has destroyed it already. libibverbs keeps its
 * part of the object after such an error, unless this function was called. It must be called after
 * libibverbs has looked at the devices. It does not set the environment variable
 * RDMAV_ALLOW_DISASSOC_DESTROY, which libibverbs reads, since other threads may be reading the
 * environment. An old libibverbs without this setting keeps its part.
 */
void device_let_destroy_removed(void);

/* Returns -ENODEV when there is no device of that name. */
int device_open(const char *name, struct ibv_context **context);

#define NO_ENTRY INT64_C(0)
#define UNSEEN_ENTRY INT64_C(-1)

/*
 * The inode of a device's entry in sysfs. No other device gets it, even if it takes the name.
 * NO_ENTRY when the entry is gone; UNSEEN_ENTRY when this process sees no entry of any device.
 */
int64_t device_entry(const struct ibv_context *context);

/*
 * Whether the device of a context is still there. The entry is what device_entry returned for it.
 */
int device_present(const struct ibv_context *context, int64_t entry);

/* A path MTU in bytes. */
int mtu_bytes(enum ibv_mtu mtu);

/* How many bytes this process may lock. */
int64_t memlock_limit(void);

#endif
