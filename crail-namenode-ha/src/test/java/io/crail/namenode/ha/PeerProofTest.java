/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.ha;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.crail.common.Clock;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.cluster.AskPeer;
import io.crail.protocol.codec.SmallValue;
import io.crail.protocol.secret.SecretFile;
import io.crail.protocol.secret.Secrets;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Only peers of the cluster are answered where there are secrets. */
class PeerProofTest {
  private static final SecureRandom RANDOM = new SecureRandom();

  @TempDir private Path directory;
  private long nowMillis = 1_000_000_000;
  private final Clock clock =
      new Clock() {
        @Override
        public long nanoTime() {
          return 1;
        }

        @Override
        public long currentTimeMillis() {
          return nowMillis;
        }
      };

  private Secrets secrets(String name, String... lines) throws IOException {
    Path file = directory.resolve(name);
    Files.writeString(file, String.join("\n", lines));
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
    return Secrets.open(file, clock);
  }

  private static void refused(PeerProof by, AskPeer.Request request) {
    CrailException e = assertThrows(CrailException.class, () -> by.require(request));
    assertEquals(ErrorCode.UNAUTHENTICATED, e.code());
  }

  @Test
  void peersOfTheClusterAreAnswered() throws Exception {
    String one = SecretFile.newMaster("one", RANDOM);
    String two = SecretFile.newMaster("two", RANDOM);
    PeerProof here = new PeerProof(secrets("here", one), clock);
    // Its file has the next master secret already.
    PeerProof there = new PeerProof(secrets("there", two, one), clock);
    here.require(here.signed(1, true, 7, 8));
    there.require(here.signed(1, true, 7, 8));
    here.require(there.signed(1, true, 7, 8));
    PeerProof other = new PeerProof(secrets("other", SecretFile.newMaster("one", RANDOM)), clock);
    refused(here, other.signed(1, true, 7, 8));
    refused(here, new PeerProof(null, clock).signed(1, true, 7, 8));
    new PeerProof(null, clock).require(there.signed(1, true, 7, 8));
  }

  @Test
  void whatWasChangedOnItsWayOrIsOldIsRefused() throws Exception {
    PeerProof here = new PeerProof(secrets("here", SecretFile.newMaster("one", RANDOM)), clock);
    AskPeer.Request good = here.signed(1, true, 7, 8);
    long now = good.seconds();
    SmallValue proof = good.proof();
    for (AskPeer.Request each :
        List.of(
            new AskPeer.Request(2, true, 7, 8, now, proof),
            new AskPeer.Request(1, false, 7, 8, now, proof),
            new AskPeer.Request(1, true, 6, 8, now, proof),
            new AskPeer.Request(1, true, 7, 9, now, proof),
            new AskPeer.Request(1, true, 7, 8, now + 1, proof),
            new AskPeer.Request(1, true, 7, 8, now, SmallValue.of(new byte[32])),
            new AskPeer.Request(1, true, 7, 8, now, SmallValue.NONE))) {
      refused(here, each);
    }
    here.require(good);
    nowMillis += (PeerProof.MOST_SECONDS + 1) * 1000;
    refused(here, good);
  }
}
