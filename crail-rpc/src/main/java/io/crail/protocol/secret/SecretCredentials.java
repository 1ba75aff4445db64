/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol.secret;

import io.crail.common.Utf8;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.codec.SmallValue;
import io.crail.rpc.login.Anybody;
import io.crail.rpc.login.Claim;
import io.crail.rpc.login.Credentials;
import io.crail.rpc.login.LoginKey;
import io.crail.rpc.login.Principal.Role;

/** What a process logs in with at namenodes: the key in its secret file. Thread-safe. */
public final class SecretCredentials implements Credentials {
  private final Secrets secrets;
  private final Role role;
  private final Utf8 name;

  private SecretCredentials(Secrets secrets, Role role, Utf8 name) {
    this.secrets = secrets;
    this.role = role;
    this.name = name;
  }

  /**
   * The credentials of a process.
   *
   * @param secrets those of the process; null if it has none, and proves nothing
   * @param name its name, where the secret file leaves the choice
   */
  public static Credentials of(Secrets secrets, Role role, String name) {
    return secrets == null
        ? Anybody.CREDENTIALS
        : new SecretCredentials(secrets, role, Utf8.of(name));
  }

  @Override
  public int mechanism() {
    return SecretLogin.NUMBER;
  }

  @Override
  public Initiator begin(Claim claim) throws CrailException {
    return new OneLogin(secrets.key(role, name), claim);
  }

  private static final class OneLogin implements Initiator {
    private final LoginKey key;
    private final Claim claim;
    private final byte[] first;
    private byte[] challenge;

    OneLogin(LoginKey key, Claim claim) {
      this.key = key;
      this.claim = claim;
      this.first =
          new SecretMessage(
                  SecretMessage.number(key.role()),
                  key.version(),
                  key.name(),
                  key.master(),
                  SmallValue.of(SecretMessage.newNonce()))
              .encode();
    }

    @Override
    public byte[] first() {
      return first;
    }

    @Override
    public LoginKey key() {
      return key;
    }

    @Override
    public byte[] next(byte[] nonce) throws CrailException {
      if (challenge != null || nonce.length != SecretMessage.NONCE) {
        throw ErrorCode.PROTOCOL.exception("a challenge of " + nonce.length + " bytes");
      }
      challenge = nonce;
      return SecretMessage.proofOfClient(key, first, challenge, claim);
    }

    @Override
    public void accepted(byte[] proof) throws CrailException {
      if (challenge == null
          || !LoginKey.same(SecretMessage.proofOfServer(key, first, challenge, claim), proof)) {
        throw ErrorCode.UNAUTHENTICATED.exception(
            "the namenode has not proved that it has the secret of this cluster");
      }
    }
  }
}
