/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.nvmf.auth;

import java.math.BigInteger;
import java.security.SecureRandom;

/**
 * The Diffie-Hellman groups of DH-HMAC-CHAP: none, and those of RFC 7919. The primes of the latter
 * are 2^n - 2^(n-64) + (floor(2^(n-130) e) + x) 2^64 - 1, where e is Euler's number, so only n and
 * x are kept here. Secret exponents have twice the strength of the group, as that RFC advises.
 */
enum DhGroup implements Numbered {
  NULL(0, 0, 0, 0),
  FFDHE_2048(1, 2048, 560316, 225),
  FFDHE_3072(2, 3072, 2625351, 275),
  FFDHE_4096(3, 4096, 5736041, 325),
  FFDHE_6144(4, 6144, 15705020, 375),
  FFDHE_8192(5, 8192, 10965728, 400);

  /**
   * More bits of e than are used, so that what is cut off the terms of its series is lost there.
   */
  private static final int SPARE_BITS = 64;

  private final int id;
  private final int bits;
  private final long offset;
  private final int exponentBits;

  DhGroup(int id, int bits, long offset, int exponentBits) {
    this.id = id;
    this.bits = bits;
    this.offset = offset;
    this.exponentBits = exponentBits;
  }

  /** The group of an id; null when there is none. */
  static DhGroup of(int id) {
    return Numbered.of(DhGroup.class, id);
  }

  @Override
  public int id() {
    return id;
  }

  /** Bytes of a public value; 0 without Diffie-Hellman. */
  int length() {
    return bits / Byte.SIZE;
  }

  /** The prime; a millisecond's work. */
  BigInteger prime() {
    BigInteger term = BigInteger.ONE.shiftLeft(bits - 130 + SPARE_BITS);
    BigInteger e = term;
    for (long n = 1; term.signum() > 0; n++) {
      term = term.divide(BigInteger.valueOf(n));
      e = e.add(term);
    }
    return BigInteger.ONE
        .shiftLeft(bits)
        .subtract(BigInteger.ONE.shiftLeft(bits - 64))
        .add(e.shiftRight(SPARE_BITS).add(BigInteger.valueOf(offset)).shiftLeft(64))
        .subtract(BigInteger.ONE);
  }

  BigInteger newExponent(SecureRandom random) {
    return new BigInteger(exponentBits, random).setBit(exponentBits - 1);
  }

  /** Whether a value that came from outside leads to a secret that only both sides know. */
  static boolean isSound(BigInteger value, BigInteger prime) {
    return value.compareTo(BigInteger.ONE) > 0
        && value.compareTo(prime.subtract(BigInteger.ONE)) < 0;
  }

  /** The bytes of a number in this group, the highest one first, with leading zeros. */
  byte[] bytes(BigInteger number) {
    byte[] bytes = new byte[length()];
    byte[] magnitude = number.toByteArray();
    int skipped = magnitude[0] == 0 ? 1 : 0;
    int count = magnitude.length - skipped;
    System.arraycopy(magnitude, skipped, bytes, bytes.length - count, count);
    return bytes;
  }
}
