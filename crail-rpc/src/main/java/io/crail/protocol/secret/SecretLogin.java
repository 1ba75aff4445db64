/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol.secret;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.part.TextLimits;
import io.crail.rpc.login.Caller;
import io.crail.rpc.login.Claim;
import io.crail.rpc.login.LoginKey;
import io.crail.rpc.login.Mechanism;
import io.crail.rpc.login.Principal;
import io.crail.rpc.login.Right;
import java.util.Set;
import java.util.function.Function;

/**
 * The login by a key, at a namenode. It derives the client's key from its master secret, so it
 * needs no list of users. Both sides prove that they have the key, see {@link SecretMessage}. The
 * principal is the holder of the key, whatever the client claims. Thread-safe.
 */
public final class SecretLogin implements Mechanism {
  static final int NUMBER = 1;

  private final Secrets secrets;
  private final Function<Principal, Set<Right>> rights;

  /**
   * Creates the mechanism.
   *
   * @param secrets those of the namenode
   * @param rights what a principal may ask for
   */
  public SecretLogin(Secrets secrets, Function<Principal, Set<Right>> rights) {
    this.secrets = secrets;
    this.rights = rights;
  }

  @Override
  public int number() {
    return NUMBER;
  }

  @Override
  public String name() {
    return "secret";
  }

  @Override
  public Acceptor begin(Claim claim) {
    return new OneLogin(claim);
  }

  private final class OneLogin implements Acceptor {
    private final Claim claim;
    private byte[] first;
    private byte[] challenge;
    private LoginKey key;

    OneLogin(Claim claim) {
      this.claim = claim;
    }

    @Override
    public Reply next(byte[] message) throws CrailException {
      if (first == null) {
        begin(message);
        return Reply.challenge(challenge);
      }
      byte[] proof = SecretMessage.proofOfClient(key, first, challenge, claim);
      if (!LoginKey.same(proof, message)) {
        throw refused("the key is wrong");
      }
      String refusal = secrets.refusal(key);
      if (refusal != null) {
        throw refused(refusal);
      }
      Principal principal = new Principal(key.role(), key.name());
      Caller caller = new Caller(principal, claim.client(), rights.apply(principal), key);
      return Reply.accept(SecretMessage.proofOfServer(key, first, challenge, claim), caller);
    }

    private void begin(byte[] message) throws CrailException {
      SecretMessage hello = SecretMessage.decode(message);
      Principal.Role role = claim.principal().role();
      if (hello.role() != SecretMessage.number(role)) {
        throw ErrorCode.UNAUTHENTICATED.exception(
            "a key of another role than that of the client, which is " + role);
      }
      String wrong = TextLimits.checkUser(hello.name());
      if (wrong != null) {
        throw ErrorCode.UNAUTHENTICATED.exception("a name that is not valid: " + wrong);
      }
      SecretFile file = secrets.current();
      key = file.derive(role, hello.name(), hello.version(), hello.master());
      if (key == null) {
        throw ErrorCode.UNAUTHENTICATED.exception(
            SecretFile.text(role, hello.name())
                + ": the key is of the master secret '"
                + hello.master()
                + "', which this namenode does not have");
      }
      first = message.clone();
      challenge = SecretMessage.newNonce();
    }

    private CrailException refused(String why) {
      return ErrorCode.UNAUTHENTICATED.exception(
          SecretFile.text(key.role(), key.name()) + ": " + why);
    }
  }
}
