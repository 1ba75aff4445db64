/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol.secret;

import io.crail.common.Utf8;
import io.crail.common.error.CrailException;
import io.crail.protocol.codec.Codec;
import io.crail.protocol.codec.Layout;
import io.crail.protocol.codec.SmallValue;
import io.crail.protocol.part.TextLimits;
import io.crail.rpc.login.Claim;
import io.crail.rpc.login.LoginKey;
import io.crail.rpc.login.Principal.Role;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;

/**
 * The messages of a login by a key. The client names its key and brings a nonce. The server answers
 * with a nonce of its own. Then each proves that it has the key: by the MAC of its label, the
 * client's first message, the server's nonce and the claim. So neither a recorded message nor one
 * that is sent back is a proof.
 *
 * @param role 0: user, 1: datanode, 2: namenode
 * @param version which key of its holder
 * @param name the holder
 * @param master names the secret that the key is derived from
 * @param nonce random
 */
public record SecretMessage(int role, int version, Utf8 name, Utf8 master, SmallValue nonce) {
  /** What the login is, for the page of the wire protocol. */
  public static final String DOCUMENTATION =
      """
      Mechanism 0 is an empty message, and proves nothing. Mechanism 1 is the login by a key. The
      client's first message is below, and the namenode answers with a nonce of 32 bytes. The client's
      second message is its proof, and the namenode's last one is its own: HMAC-SHA256 under the key of
      a label ("crail login 1 client", "crail login 1 server"), the first message, the nonce and the
      claim. The claim is, in big-endian order, a byte of the role (0 client, 1 datanode, 2 namenode),
      clientId, peer, patienceMillis, and user and host, each after its length in 4 bytes. The key is
      HMAC-SHA256 under the master secret of "key user alice 1", with the holder's own words.
      """;

  /** Bytes of a nonce. */
  static final int NONCE = 32;

  /** The layout. */
  public static final Layout LAYOUT =
      Layout.of("Secret.Request")
          .u8("role", "0: user, 1: datanode, 2: namenode")
          .i32("version", "which key of its holder")
          .u16("nameLength", "bytes of name")
          .u16("masterLength", "bytes of master")
          .u16("nonceLength", "bytes of nonce")
          .bytes("name", "nameLength", 0, TextLimits.USER, "the holder of the key")
          .bytes("master", "masterLength", 1, 255, "names the secret that the key comes from")
          .bytes("nonce", "nonceLength", NONCE, NONCE, "random");

  /** The codec. */
  static final Codec<SecretMessage> CODEC = Codec.of(SecretMessage.class, LAYOUT);

  private static final byte[] CLIENT = label("crail login 1 client");
  private static final byte[] SERVER = label("crail login 1 server");
  private static final SecureRandom RANDOM = new SecureRandom();

  static byte[] label(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  static byte[] newNonce() {
    byte[] nonce = new byte[NONCE];
    RANDOM.nextBytes(nonce);
    return nonce;
  }

  static SecretMessage decode(byte[] message) throws CrailException {
    ByteBuffer bytes = ByteBuffer.wrap(message).order(ByteOrder.LITTLE_ENDIAN);
    return CODEC.decode(bytes, 0, message.length);
  }

  byte[] encode() {
    ByteBuffer bytes = ByteBuffer.allocate(CODEC.length(this)).order(ByteOrder.LITTLE_ENDIAN);
    CODEC.encode(this, bytes, 0);
    return bytes.array();
  }

  static byte[] proofOfClient(LoginKey key, byte[] first, byte[] challenge, Claim claim) {
    return key.mac(CLIENT, first, challenge, bytes(claim));
  }

  static byte[] proofOfServer(LoginKey key, byte[] first, byte[] challenge, Claim claim) {
    return key.mac(SERVER, first, challenge, bytes(claim));
  }

  /** All that a client says of itself, so that it cannot be changed on its way. */
  private static byte[] bytes(Claim claim) {
    byte[] name = label(claim.principal().name().toString());
    byte[] host = label(claim.host().toString());
    ByteBuffer bytes = ByteBuffer.allocate(29 + name.length + host.length);
    bytes.put((byte) claim.principal().role().ordinal());
    bytes.putLong(claim.client()).putLong(claim.peer()).putInt(claim.patienceMillis());
    bytes.putInt(name.length).put(name);
    bytes.putInt(host.length).put(host);
    return bytes.array();
  }

  static int number(Role role) {
    return role == Role.CLIENT ? 0 : role == Role.DATANODE ? 1 : 2;
  }
}
