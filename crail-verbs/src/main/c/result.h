/* SPDX-License-Identifier: Apache-2.0 */
/* One form for the result of a call: 0 or more, or a negative error number. */
#ifndef CRAIL_RESULT_H
#define CRAIL_RESULT_H

#include <errno.h>
#include <stddef.h>

/* The error of a failed call. Some calls fail without setting errno. */
static inline int last_error(void) { return errno != 0 ? -errno : -EIO; }

/*
 * librdmacm returns -1 and sets errno, libibverbs returns a positive error number, and drivers
 * sometimes use the other form.
 */
static inline int result_of(int returned) {
  if (returned == 0) {
    return 0;
  }
  if (returned == -1) {
    return last_error();
  }
  return returned > 0 ? -returned : returned;
}

/* The text of an error number, negative or not. It is in the buffer or elsewhere. */
const char *error_text(int error, char *buffer, size_t size);

/* "call: text (errno number)", cut to the buffer. */
void error_message(const char *call, int error, char *buffer, size_t size);

#endif
