/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.nvmf;

import io.crail.common.Utf8;
import io.crail.common.error.CrailException;
import io.crail.protocol.codec.Codec;
import io.crail.protocol.codec.Layout;
import java.nio.ByteBuffer;
import java.util.UUID;
import java.util.zip.CRC32C;

/**
 * What stands at the beginning of a namespace that a datanode lends: whose it is. It fits into the
 * shortest block, so a device writes it whole or not at all.
 *
 * @param magic distinguishes a label from other data
 * @param datanode the datanode
 * @param beat changes about once a second while the datanode lives
 * @param lent whether the datanode still lends the namespace
 * @param drainMillis how long its clients' requests may still be executed when it is gone
 * @param host the datanode's host, for messages
 */
record NamespaceLabel(
    long magic, UUID datanode, long beat, boolean lent, int drainMillis, Utf8 host) {
  /** Bytes at the beginning of a namespace that are never lent. */
  static final int SPACE = 1 << 20;

  private static final long MAGIC = 0x314c_4c49_4152_4343L;
  private static final int MAX_HOST = 255;

  /** Bytes of the shortest block; the checksum of all others is in the last four. */
  static final int LENGTH = 512;

  private static final int CHECKSUM_AT = LENGTH - Integer.BYTES;

  private static final Codec<NamespaceLabel> CODEC =
      Codec.of(
          NamespaceLabel.class,
          Layout.of("NamespaceLabel")
              .i64("magic", "distinguishes a label from other data")
              .struct("datanode", Codec.UUID, "whose the namespace is")
              .i64("beat", "changes while the datanode lives")
              .u8("lent", "whether the namespace is still lent; 0 or 1")
              .i32("drainMillis", "how long its clients' requests may be executed after its end")
              .u8("hostLength", "bytes of host")
              .bytes("host", "hostLength", 0, MAX_HOST, "host of the datanode"));

  static NamespaceLabel of(Claimant claimant, long beat, boolean lent) {
    Utf8 name = Utf8.of(claimant.host());
    return new NamespaceLabel(
        MAGIC,
        claimant.datanode(),
        beat,
        lent,
        claimant.drainMillis(),
        name.length() > MAX_HOST ? Utf8.EMPTY : name);
  }

  /** Reads the label at the beginning of some memory; null when there is none. */
  static NamespaceLabel read(ByteBuffer bytes) {
    if (bytes.getInt(CHECKSUM_AT) != checksum(bytes)) {
      return null;
    }
    try {
      int host = bytes.get(CODEC.layout().fixedLength() - 1) & 0xff;
      NamespaceLabel label = CODEC.decode(bytes, 0, CODEC.layout().fixedLength() + host);
      return label.magic == MAGIC ? label : null;
    } catch (CrailException e) {
      return null;
    }
  }

  /** Writes it to the beginning of zeroed memory. */
  void write(ByteBuffer bytes) {
    CODEC.encode(this, bytes, 0);
    bytes.putInt(CHECKSUM_AT, checksum(bytes));
  }

  private static int checksum(ByteBuffer bytes) {
    CRC32C crc = new CRC32C();
    crc.update(bytes.slice(0, CHECKSUM_AT));
    return (int) crc.getValue();
  }

  boolean isOf(UUID one) {
    return datanode.equals(one);
  }

  /** For messages. */
  @Override
  public String toString() {
    return "datanode " + datanode + " on " + host;
  }
}
