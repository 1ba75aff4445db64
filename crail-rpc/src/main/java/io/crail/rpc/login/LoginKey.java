/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.login;

import io.crail.common.Utf8;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * A secret key with the name of its holder. Its bytes never leave it, except by {@link #bytes} for
 * the file of the holder. Immutable.
 */
public final class LoginKey {
  /** Bytes of a key, and of what {@link #mac} makes. */
  public static final int LENGTH = 32;

  private static final String ALGORITHM = "HmacSHA256";

  private final Principal.Role role;
  private final Utf8 name;
  private final int version;
  private final Utf8 master;
  private final byte[] bytes;

  /**
   * Creates a key.
   *
   * @param role the part in which its holder takes part
   * @param name the name of its holder
   * @param version tells keys of one holder apart, from 1 on
   * @param master names the secret that it was derived from
   * @param bytes {@link #LENGTH} bytes, which become part of this
   */
  public LoginKey(Principal.Role role, Utf8 name, int version, Utf8 master, byte[] bytes) {
    if (bytes.length != LENGTH) {
      throw new IllegalArgumentException("a key of " + bytes.length + " bytes");
    }
    this.role = role;
    this.name = name;
    this.version = version;
    this.master = master;
    this.bytes = bytes;
  }

  /** The part in which its holder takes part. */
  public Principal.Role role() {
    return role;
  }

  /** The name of its holder. */
  public Utf8 name() {
    return name;
  }

  /** Which key of its holder this is. */
  public int version() {
    return version;
  }

  /** Names the secret that it was derived from. */
  public Utf8 master() {
    return master;
  }

  /** A copy of the bytes. */
  public byte[] bytes() {
    return bytes.clone();
  }

  /** HMAC-SHA256 of all parts, one after the other. */
  public byte[] mac(byte[]... parts) {
    return macBy(bytes, parts);
  }

  /** HMAC-SHA256 by a key of any length. */
  public static byte[] macBy(byte[] key, byte[]... parts) {
    try {
      Mac mac = Mac.getInstance(ALGORITHM);
      mac.init(new SecretKeySpec(key, ALGORITHM));
      for (byte[] each : parts) {
        mac.update(each);
      }
      return mac.doFinal();
    } catch (GeneralSecurityException e) {
      // Every Java has it.
      throw new IllegalStateException(ALGORITHM, e);
    }
  }

  /** Whether two are the same, in a time that says nothing of the first difference. */
  public static boolean same(byte[] one, byte[] other) {
    return MessageDigest.isEqual(one, other);
  }

  /** Whether this is that key. */
  public boolean isSame(LoginKey other) {
    return role == other.role
        && version == other.version
        && name.equals(other.name)
        && master.equals(other.master)
        && same(bytes, other.bytes);
  }

  /** Without the bytes. */
  @Override
  public String toString() {
    return role + " " + name + ", key " + version + " of " + master;
  }
}
