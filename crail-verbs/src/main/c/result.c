/* SPDX-License-Identifier: Apache-2.0 */
#include "result.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *error_text(int error, char *buffer, size_t size) {
  /* The GNU variant, which returns the text. */
  return strerror_r(abs(error), buffer, size);
}

void error_message(const char *call, int error, char *buffer, size_t size) {
  char text[128];
  snprintf(buffer, size, "%s: %s (errno %d)", call, error_text(error, text, sizeof text),
           abs(error));
}
