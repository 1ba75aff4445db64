/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.log;

import io.crail.protocol.codec.Codec;

/**
 * A record that is written only if the log may end between two others, since they are not written
 * together.
 *
 * @param <T> the record
 */
public record Unfinished<T>(int kind, Codec<T> codec, T record) {
  /** Bytes of it in a page. */
  int length() {
    return LogFrame.OF_RECORD + codec.length(record);
  }
}
