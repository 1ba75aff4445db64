/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.jobs;

import java.io.Serializable;
import java.util.Arrays;
import java.util.Comparator;

/** The order of the sort benchmark: that of unsigned bytes. */
final class KeyOrder implements Comparator<byte[]>, Serializable {
  private static final long serialVersionUID = 1L;

  @Override
  public int compare(byte[] one, byte[] other) {
    return Arrays.compareUnsigned(one, other);
  }
}
