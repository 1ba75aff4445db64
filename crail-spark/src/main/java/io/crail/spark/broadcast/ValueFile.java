/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.broadcast;

import java.io.Serializable;

/**
 * The handle of a value in the store: where it is, and what its readers compare. No record, since
 * Kryo cannot make one. Immutable.
 */
public final class ValueFile implements Serializable {
  /**
   * Bytes that have a checksum of their own, so that no reader sees a byte before it is checked.
   */
  static final int CHUNK_BYTES = 4 << 20;

  private static final long serialVersionUID = 1L;

  private final String path;
  private final long length;
  private final int[] checksums;

  /**
   * Creates it.
   *
   * @param length bytes of the file
   * @param checksums the CRC-32C of each chunk; not copied
   */
  ValueFile(String path, long length, int[] checksums) {
    this.path = path;
    this.length = length;
    this.checksums = checksums;
  }

  /** {@return where the value is} */
  public String path() {
    return path;
  }

  /** {@return the bytes of the file} */
  public long length() {
    return length;
  }

  int chunks() {
    return checksums.length;
  }

  int checksum(int chunk) {
    return checksums[chunk];
  }
}
