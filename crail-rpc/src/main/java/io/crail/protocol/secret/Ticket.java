/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol.secret;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.codec.SmallValue;
import io.crail.rpc.login.LoginKey;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.UUID;

/**
 * What a client logs in with at a datanode: a key for this client, this datanode process and a
 * time. A namenode derives it from the datanode's own key, and so does the datanode, which keeps no
 * list of tickets; Kerberos and cephx have the same three parties. It travels to the client under a
 * mask that only the client's own key makes. Immutable.
 *
 * <p>On the wire, 40 bytes: the end of the time, an unsigned number of seconds since 1970, the
 * seconds until then, and the masked key.
 */
public final class Ticket {
  /** Bytes on the wire. */
  public static final int LENGTH = 2 * Integer.BYTES + LoginKey.LENGTH;

  private static final byte[] LABEL = SecretMessage.label("crail ticket 1");
  private static final byte[] MASK = SecretMessage.label("crail ticket 1 mask");

  private final UUID datanode;
  private final int expiry;
  private final int seconds;
  private final byte[] key;

  private Ticket(UUID datanode, int expiry, int seconds, byte[] key) {
    this.seconds = seconds;
    this.datanode = datanode;
    this.expiry = expiry;
    this.key = key;
  }

  /**
   * Makes the ticket of a client, as namenode or as datanode.
   *
   * @param ofDatanode the datanode's key
   * @param datanode the datanode process
   * @param client the id of the client
   * @param expiry its end, an unsigned number of seconds since 1970
   */
  static Ticket of(LoginKey ofDatanode, UUID datanode, long client, int expiry) {
    return new Ticket(datanode, expiry, 0, ofDatanode.mac(LABEL, about(datanode, client, expiry)));
  }

  /**
   * A ticket as it travels.
   *
   * @param ofDatanode the key of the datanode's login
   * @param datanode the datanode process
   * @param ofClient the key of the client's login
   * @param client the id of the client
   * @param nowSeconds the time, since 1970
   * @param seconds how long it is good from now on
   */
  public static SmallValue issue(
      LoginKey ofDatanode,
      UUID datanode,
      LoginKey ofClient,
      long client,
      long nowSeconds,
      int seconds) {
    int expiry = (int) (nowSeconds + seconds);
    Ticket ticket = of(ofDatanode, datanode, client, expiry);
    ByteBuffer bytes = ByteBuffer.allocate(LENGTH).putInt(expiry).putInt(seconds);
    bytes.put(masked(ticket.key, ofClient, datanode, client, expiry));
    return SmallValue.of(bytes.array());
  }

  /**
   * Reads what {@link #issue} has made.
   *
   * @throws CrailException with {@link ErrorCode#PROTOCOL} when it is none
   */
  public static Ticket read(SmallValue issued, UUID datanode, LoginKey ofClient, long client)
      throws CrailException {
    if (issued.length() != LENGTH) {
      throw ErrorCode.PROTOCOL.exception("a ticket of " + issued.length() + " bytes");
    }
    ByteBuffer bytes = ByteBuffer.wrap(issued.bytes());
    int expiry = bytes.getInt();
    int seconds = Math.max(bytes.getInt(), 0);
    byte[] key = Arrays.copyOfRange(issued.bytes(), LENGTH - LoginKey.LENGTH, LENGTH);
    return new Ticket(datanode, expiry, seconds, masked(key, ofClient, datanode, client, expiry));
  }

  /** Masks a key, or takes the mask off. The mask is used for this key alone. */
  private static byte[] masked(
      byte[] key, LoginKey ofClient, UUID datanode, long client, int expiry) {
    byte[] mask = ofClient.mac(MASK, about(datanode, client, expiry));
    for (int i = 0; i < mask.length; i++) {
      mask[i] ^= key[i];
    }
    return mask;
  }

  private static byte[] about(UUID datanode, long client, int expiry) {
    return ByteBuffer.allocate(3 * Long.BYTES + Integer.BYTES)
        .putLong(datanode.getMostSignificantBits())
        .putLong(datanode.getLeastSignificantBits())
        .putLong(client)
        .putInt(expiry)
        .array();
  }

  /** The datanode process that it is for. */
  public UUID datanode() {
    return datanode;
  }

  /** Its end, an unsigned number of seconds since 1970. */
  int expiry() {
    return expiry;
  }

  /** How long it was good when the namenode sent it. */
  public long seconds() {
    return seconds;
  }

  byte[] mac(byte[]... parts) {
    return LoginKey.macBy(key, parts);
  }

  /** Without the key. */
  @Override
  public String toString() {
    return "ticket for datanode " + datanode + " until " + Integer.toUnsignedString(expiry);
  }
}
