/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.nvmf.auth;

import io.crail.common.error.ErrorCode;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.SecureRandom;

/**
 * One authentication of a host, and of the target if it has to prove itself: what the host sends,
 * and what it makes of the answers. Each message has its own part of the data to prove, so that no
 * side can send back what it got:
 *
 * <pre>
 *   response = HMAC(key, challenge, sequence, transaction, 0, role, own name, 0, other name)
 * </pre>
 *
 * <p>With a group, the challenge is first hashed with the secret of the Diffie-Hellman exchange, so
 * that an eavesdropper cannot test keys offline. But nothing protects the negotiation: whoever is
 * between both sides can take the groups out of it, so that the target chooses none. The methods
 * are called in the order of their declaration. Not thread-safe, but the calls may come from
 * different threads.
 */
public final class ChapExchange {
  /** Bytes of memory for a message of the target; the longest has less. */
  public static final int MOST_BYTES = 4096;

  private static final byte[] NO_CHANNEL_OR_END = {0};
  private static final byte[] HOST = "HostHost".getBytes(StandardCharsets.US_ASCII);
  private static final byte[] CONTROLLER = "Controller".getBytes(StandardCharsets.US_ASCII);
  private static final byte[] NO_VALUE = {};

  private final String host;
  private final String subsystem;
  private final HostSecrets secrets;
  private final SecureRandom random;
  private final int transaction;
  private ChapHash hash;
  private DhGroup group;
  private int sequence;
  private byte[] challenge;
  private BigInteger targetValue;
  private byte[] expected;

  /**
   * Creates an exchange.
   *
   * @param host the host's name
   * @param subsystem the subsystem's name
   * @param secrets at least that of the host
   */
  public ChapExchange(String host, String subsystem, HostSecrets secrets, SecureRandom random) {
    this.host = host;
    this.subsystem = subsystem;
    this.secrets = secrets;
    this.random = random;
    this.transaction = random.nextInt(1 << Short.SIZE);
  }

  /** The first message. */
  public ByteBuffer negotiate() {
    return ChapMessage.negotiate(transaction);
  }

  /**
   * Takes the target's challenge.
   *
   * @param message {@link #MOST_BYTES} bytes of memory
   * @throws ChapException when it cannot be answered
   */
  public void challenged(ByteBuffer message) throws ChapException {
    ByteBuffer in = message.duplicate().clear().order(ByteOrder.LITTLE_ENDIAN);
    ChapMessage.expect(in, ChapMessage.CHALLENGE, transaction);
    hash = ChapHash.of(in.get(8) & 0xff);
    group = DhGroup.of(in.get(9) & 0xff);
    int hashLength = in.get(6) & 0xff;
    int valueLength = in.getShort(10) & 0xffff;
    if (hash == null || hashLength != hash.length()) {
      throw new ChapException(
          ErrorCode.PROTOCOL,
          ChapMessage.HASH_UNUSABLE,
          "the target chooses hash " + (in.get(8) & 0xff) + " of " + hashLength + " bytes");
    }
    if (group == null || valueLength != group.length()) {
      throw new ChapException(
          ErrorCode.PROTOCOL,
          ChapMessage.GROUP_UNUSABLE,
          "the target chooses group "
              + (in.get(9) & 0xff)
              + " with a public value of "
              + valueLength
              + " bytes");
    }
    sequence = in.getInt(12);
    challenge = new byte[hashLength];
    in.get(ChapMessage.HEAD, challenge);
    byte[] value = new byte[valueLength];
    in.get(ChapMessage.HEAD + hashLength, value);
    targetValue = new BigInteger(1, value);
  }

  /** The hash and the group that were chosen, for messages. */
  public String choice() {
    return hash + ", group " + group;
  }

  /** Whether {@link #reply} takes so long that nothing else should wait for it. */
  public boolean isLaborious() {
    return group != DhGroup.NULL;
  }

  /**
   * The answer to the challenge, and a challenge for the target if it has to prove itself.
   *
   * @throws ChapException when the target's public value is none
   */
  public ByteBuffer reply() throws ChapException {
    byte[] publicValue = NO_VALUE;
    byte[] shared = null;
    if (group != DhGroup.NULL) {
      BigInteger prime = group.prime();
      if (!DhGroup.isSound(targetValue, prime)) {
        throw new ChapException(
            ErrorCode.PROTOCOL,
            ChapMessage.INCORRECT_PAYLOAD,
            "the target's public value is not in its group");
      }
      BigInteger exponent = group.newExponent(random);
      publicValue = group.bytes(BigInteger.TWO.modPow(exponent, prime));
      shared = hash.digest(group.bytes(targetValue.modPow(exponent, prime)));
    }
    byte[] response =
        response(secrets.host().key(host), challenge, shared, sequence, HOST, host, subsystem);
    byte[] own = null;
    int ownSequence = 0;
    if (secrets.controller() != null) {
      own = new byte[hash.length()];
      random.nextBytes(own);
      // 0 would say that nothing has to be proved.
      ownSequence = 1 + random.nextInt(Integer.MAX_VALUE);
      byte[] key = secrets.controller().key(subsystem);
      expected = response(key, own, shared, ownSequence, CONTROLLER, subsystem, host);
    }
    return ChapMessage.reply(transaction, response, own, ownSequence, publicValue);
  }

  private byte[] response(
      byte[] key, byte[] bare, byte[] shared, int number, byte[] role, String own, String other) {
    ByteBuffer numbers = ByteBuffer.allocate(6).order(ByteOrder.LITTLE_ENDIAN);
    numbers.putInt(number).putShort((short) transaction);
    return hash.hmac(
        key,
        shared == null ? bare : hash.hmac(shared, bare),
        numbers.array(),
        NO_CHANNEL_OR_END,
        role,
        own.getBytes(StandardCharsets.UTF_8),
        NO_CHANNEL_OR_END,
        other.getBytes(StandardCharsets.UTF_8));
  }

  /**
   * Takes what the target says to the answer.
   *
   * @param message {@link #MOST_BYTES} bytes of memory
   * @return whether {@link #success} has to be sent, as the target has proved itself
   * @throws ChapException when it refuses, or has not proved itself
   */
  public boolean succeeded(ByteBuffer message) throws ChapException {
    ByteBuffer in = message.duplicate().clear().order(ByteOrder.LITTLE_ENDIAN);
    ChapMessage.expect(in, ChapMessage.SUCCESS_1, transaction);
    int hashLength = in.get(6) & 0xff;
    if (hashLength != hash.length()) {
      throw new ChapException(
          ErrorCode.PROTOCOL,
          ChapMessage.HASH_UNUSABLE,
          "the target succeeds with a hash of " + hashLength + " bytes");
    }
    if (expected == null) {
      return false;
    }
    byte[] response = new byte[hashLength];
    in.get(ChapMessage.HEAD, response);
    if ((in.get(8) & 1) == 0 || !MessageDigest.isEqual(response, expected)) {
      throw new ChapException(
          ErrorCode.UNSUPPORTED,
          ChapMessage.FAILED,
          "the target has not proved that it knows crail.storage.nvmf.controllersecret");
    }
    return true;
  }

  /** The last message, when the target has proved itself. */
  public ByteBuffer success() {
    return ChapMessage.success2(transaction);
  }

  /** The last message when the authentication failed; null when the target knows. */
  public ByteBuffer failure(ChapException cause) {
    return cause.explanation() == ChapMessage.NOTHING
        ? null
        : ChapMessage.failure2(transaction, cause.explanation());
  }
}
