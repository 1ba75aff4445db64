/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.nvmf;

import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.Base64;
import java.util.Locale;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * The target's part of DH-HMAC-CHAP on one queue. It computes on its own, from the specification:
 * the primes are in a file in full, and no code is the host's.
 */
final class TargetAuthentication {
  /** A mistake of the host. */
  static final class Wrong extends Exception {
    private static final long serialVersionUID = 1;

    Wrong(String what) {
      super(what);
    }
  }

  private static final String GROUPS = "groups.txt";
  private static final SecureRandom RANDOM = new SecureRandom();

  private final TargetOptions options;
  private final String nqn;
  private final String host;
  private BigInteger prime;
  private BigInteger exponent;
  private int transaction;
  private byte[] challenge;
  private int sequence;

  /** What the host asks for next; empty when it has to send something. */
  private byte[] next = {};

  private boolean done;
  private int explanation = -1;

  TargetAuthentication(TargetOptions options, String nqn, String host) {
    this.options = options;
    this.nqn = nqn;
    this.host = host;
  }

  /** Whether the host has proved itself, and does not doubt the target. */
  boolean isDone() {
    return done;
  }

  /** What the host gave for the failure of an authentication; -1 when it has not. */
  int explanation() {
    return explanation;
  }

  private static ByteBuffer little(byte[] bytes) {
    return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
  }

  private String mac() {
    return "Hmac" + digest().replace("-", "");
  }

  private String digest() {
    return "SHA-" + (128 + 128 * options.hash);
  }

  private int hashLength() {
    return 16 + 16 * options.hash;
  }

  /** A message of the host. */
  void take(byte[] message) throws Wrong {
    if (message.length < 8) {
      throw new Wrong("a message of " + message.length + " bytes");
    }
    ByteBuffer in = little(message);
    int what = (in.get(0) & 0xff) << 8 | in.get(1) & 0xff;
    if (what != 0 && (in.getShort(4) & 0xffff) != transaction) {
      throw new Wrong("a message of transaction " + in.getShort(4));
    }
    try {
      switch (what) {
        case 0x0000:
          negotiated(in);
          break;
        case 0x0102:
          replied(in);
          break;
        case 0x0104:
          if (message.length != 16 || challenge != null) {
            throw new Wrong("a success of " + message.length + " bytes");
          }
          done = true;
          break;
        case 0x00f0:
          if (in.get(6) != 1) {
            throw new Wrong("a failure for reason " + in.get(6));
          }
          explanation = in.get(7);
          done = false;
          break;
        default:
          throw new Wrong(String.format(Locale.ROOT, "a message %04x", what));
      }
    } catch (GeneralSecurityException | IOException e) {
      throw new IllegalStateException(e);
    }
  }

  private void negotiated(ByteBuffer in) throws Wrong, IOException {
    if (in.capacity() != 72 || in.get(6) != 0 || in.get(7) != 1 || in.get(8) != 1) {
      throw new Wrong("a negotiation of " + in.capacity() + " bytes");
    }
    boolean knowsHash = false;
    for (int i = 0; i < in.get(10); i++) {
      knowsHash |= in.get(12 + i) == options.hash;
    }
    boolean knowsGroup = false;
    for (int i = 0; i < in.get(11); i++) {
      knowsGroup |= in.get(42 + i) == options.group;
    }
    if (!knowsHash || !knowsGroup) {
      throw new Wrong("it lacks hash " + options.hash + " or group " + options.group);
    }
    transaction = in.getShort(4) & 0xffff;
    sequence = RANDOM.nextInt();
    challenge = new byte[hashLength()];
    RANDOM.nextBytes(challenge);
    byte[] value = {};
    if (options.group > 0) {
      prime = prime(options.group);
      exponent = new BigInteger(512, RANDOM);
      value = padded(BigInteger.TWO.modPow(exponent, prime));
    }
    ByteBuffer out = little(new byte[16 + challenge.length + value.length]);
    head(out, 0x01);
    out.put(8, (byte) options.hash).put(9, (byte) options.group);
    out.putShort(10, (short) value.length).putInt(12, sequence);
    out.put(16, challenge).put(16 + challenge.length, value);
    next = out.array();
  }

  private void head(ByteBuffer out, int message) {
    out.put(0, (byte) 1).put(1, (byte) message).putShort(4, (short) transaction);
    out.put(6, (byte) hashLength());
  }

  private byte[] padded(BigInteger number) {
    byte[] value = new byte[prime.bitLength() / 8];
    byte[] bytes = number.toByteArray();
    int count = Math.min(bytes.length, value.length);
    System.arraycopy(bytes, bytes.length - count, value, value.length - count, count);
    return value;
  }

  private void replied(ByteBuffer in) throws Wrong, GeneralSecurityException, IOException {
    int length = hashLength();
    int valueLength = in.getShort(10) & 0xffff;
    boolean asks = in.get(8) == 1;
    int theirs = in.getInt(12);
    if (challenge == null
        || in.get(6) != length
        || in.capacity() != 16 + 2 * length + valueLength
        || valueLength != (options.group == 0 ? 0 : prime.bitLength() / 8)
        || asks != (theirs != 0)) {
      throw new Wrong("a reply of " + in.capacity() + " bytes");
    }
    byte[] shared = null;
    if (options.group > 0) {
      byte[] value = new byte[valueLength];
      in.get(16 + 2 * length, value);
      byte[] secret = padded(new BigInteger(1, value).modPow(exponent, prime));
      shared = MessageDigest.getInstance(digest()).digest(secret);
    }
    byte[] response = new byte[length];
    in.get(16, response);
    byte[] question = new byte[length];
    in.get(16 + length, question);
    byte[] expected =
        answer(options.hostSecret, host, challenge, shared, sequence, "HostHost", nqn);
    challenge = null;
    if (!Arrays.equals(response, expected) || asks && options.controllerSecret.isEmpty()) {
      ByteBuffer out = little(new byte[8]);
      out.put(1, (byte) 0xf1).putShort(4, (short) transaction);
      next = out.put(6, (byte) 1).put(7, (byte) 1).array();
      return;
    }
    ByteBuffer out = little(new byte[16 + (asks ? length : 0)]);
    head(out, 0x03);
    if (asks) {
      out.put(8, (byte) 1);
      String role = "Controller";
      out.put(16, answer(options.controllerSecret, nqn, question, shared, theirs, role, host));
    } else {
      done = true;
    }
    next = out.array();
  }

  private byte[] answer(
      String secret,
      String own,
      byte[] question,
      byte[] shared,
      int number,
      String role,
      String other)
      throws GeneralSecurityException, IOException {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    all.write(shared == null ? question : hmac(mac(), shared, question));
    all.write(little(new byte[4]).putInt(number).array());
    all.write(little(new byte[2]).putShort((short) transaction).array());
    all.write(0);
    all.write((role + own + "\0" + other).getBytes(StandardCharsets.UTF_8));
    return hmac(mac(), key(secret, own), all.toByteArray());
  }

  private static byte[] hmac(String name, byte[] key, byte[] bytes)
      throws GeneralSecurityException {
    Mac mac = Mac.getInstance(name);
    mac.init(new SecretKeySpec(key, name));
    return mac.doFinal(bytes);
  }

  private static byte[] key(String secret, String owner) throws GeneralSecurityException {
    String[] parts = secret.split(":");
    byte[] all = Base64.getDecoder().decode(parts[2]);
    byte[] key = Arrays.copyOf(all, all.length - 4);
    int hash = Integer.parseInt(parts[1]);
    byte[] name = (owner + "NVMe-over-Fabrics").getBytes(StandardCharsets.UTF_8);
    return hash == 0 ? key : hmac("HmacSHA" + (128 + 128 * hash), key, name);
  }

  /** The primes of RFC 7919: a group's number, its bits, and its prime in each line. */
  private static BigInteger prime(int group) throws IOException {
    try (BufferedReader in =
        new BufferedReader(
            new InputStreamReader(
                TargetAuthentication.class.getResourceAsStream(GROUPS),
                StandardCharsets.US_ASCII))) {
      for (String line = in.readLine(); line != null; line = in.readLine()) {
        String[] words = line.split(" ");
        if (Integer.parseInt(words[0]) == group) {
          return new BigInteger(words[2], 16);
        }
      }
    }
    throw new IOException("no group " + group);
  }

  /** What the host asks for, of this length at most. */
  byte[] give(int length) throws Wrong {
    byte[] message = next;
    next = new byte[0];
    if (message.length == 0) {
      throw new Wrong("it asks for a message when it is its turn");
    }
    byte[] edited = options.edit.apply(message);
    return edited.length <= length && options.shortMessages
        ? edited
        : Arrays.copyOf(edited, length);
  }
}
