/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.nvmf.auth;

import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** The hash functions of DH-HMAC-CHAP. */
enum ChapHash implements Numbered {
  SHA_256(1, 32, "SHA-256", "HmacSHA256"),
  SHA_384(2, 48, "SHA-384", "HmacSHA384"),
  SHA_512(3, 64, "SHA-512", "HmacSHA512");

  private final int id;
  private final int length;
  private final String digestName;
  private final String macName;

  ChapHash(int id, int length, String digestName, String macName) {
    this.id = id;
    this.length = length;
    this.digestName = digestName;
    this.macName = macName;
  }

  /** The hash of an id; null when there is none. */
  static ChapHash of(int id) {
    return Numbered.of(ChapHash.class, id);
  }

  @Override
  public int id() {
    return id;
  }

  /** Bytes of a hash. */
  int length() {
    return length;
  }

  byte[] digest(byte[] bytes) {
    try {
      return MessageDigest.getInstance(digestName).digest(bytes);
    } catch (GeneralSecurityException e) {
      throw missing(e);
    }
  }

  /** The keyed hash of several parts, one after the other. */
  byte[] hmac(byte[] key, byte[]... parts) {
    try {
      Mac mac = Mac.getInstance(macName);
      mac.init(new SecretKeySpec(key, macName));
      for (byte[] part : parts) {
        mac.update(part);
      }
      return mac.doFinal();
    } catch (GeneralSecurityException e) {
      throw missing(e);
    }
  }

  private IllegalStateException missing(GeneralSecurityException cause) {
    return new IllegalStateException("this Java has no " + macName, cause);
  }
}
