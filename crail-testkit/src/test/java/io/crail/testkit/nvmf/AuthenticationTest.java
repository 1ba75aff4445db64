/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.nvmf;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.nvmf.auth.ChapSecret;
import io.crail.nvmf.auth.HostSecrets;
import java.security.Provider;
import java.security.SecureRandomSpi;
import java.security.Security;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests authentication against a target that computes on its own, and one that cheats. */
@Tag("once")
class AuthenticationTest {
  /** Secrets as nvme gen-dhchap-key writes them; they guard nothing. */
  static final String SECRET = "DHHC-1:00:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh+KfiaR:";

  static final String BOUND_SECRET =
      "DHHC-1:02:ZGVmZ2hpamtsbW5vcHFyc3R1dnd4eXp7fH1+f4CBgoOEhYaHiImKi4yNjo+QkZKTvGwQfg==:";

  private static final String WORDS = "AAECAwQF";

  private static NvmeTarget target(TargetOptions options) throws Exception {
    return new NvmeTarget(
        options, new TargetNamespace(1, 4096, 512), new TargetNamespace(3, 512, 4096));
  }

  private static TargetOptions asking() {
    return new TargetOptions().secrets(SECRET, BOUND_SECRET);
  }

  static HostSecrets secrets(String host, String controller) {
    return new HostSecrets(
        host.isEmpty() ? null : ChapSecret.parse(host),
        controller.isEmpty() ? null : ChapSecret.parse(controller));
  }

  private static TestHost.Start start(NvmeTarget target, String host, String controller) {
    return TestHost.Start.at(target).secrets(secrets(host, controller));
  }

  @ParameterizedTest
  @CsvSource({
    "1, 0, false",
    "2, 0, true",
    "3, 0, false",
    "1, 1, true",
    "2, 2, false",
    "3, 3, true",
    "1, 4, true",
    "2, 5, false"
  })
  void bothProveThemselves(int hash, int group, boolean mutual) throws Exception {
    TargetOptions options = asking().chooses(hash, group).inCapsule(0);
    if (mutual) {
      options.shortMessages();
    }
    try (NvmeTarget target = target(options);
        TestHost host = new TestHost(start(target, SECRET, mutual ? BOUND_SECRET : ""))) {
      host.controller();
      Moves.check(host, new Random(hash), target::namespace);
      assertEquals(List.of(), target.complaints());
      assertEquals(List.of(), target.explanations());
    }
  }

  @Test
  void bothProveThemselvesWithTheOtherSecrets() throws Exception {
    TargetOptions options = new TargetOptions().secrets(BOUND_SECRET, SECRET);
    try (NvmeTarget target = target(options.chooses(3, 1));
        TestHost host = new TestHost(start(target, BOUND_SECRET, SECRET).digests(true, true))) {
      host.controller();
      assertEquals(List.of(), target.complaints());
    }
  }

  @Test
  void onlyTheAdminQueueMayBeAsked() throws Exception {
    try (NvmeTarget target = target(asking().asksOnAdminOnly())) {
      try (TestHost host = new TestHost(start(target, SECRET, ""))) {
        host.controller();
      }
      // It is unknown who is at the other end of the queue for I/O.
      refused(ErrorCode.UNSUPPORTED, start(target, SECRET, BOUND_SECRET), "does not ask");
      assertEquals(List.of(), target.complaints());
    }
  }

  @Test
  void aHostWithoutNeedOfASecretMayHaveOne() throws Exception {
    try (NvmeTarget target = target(new TargetOptions())) {
      try (TestHost host = new TestHost(start(target, SECRET, ""))) {
        host.controller();
      }
      refused(ErrorCode.UNSUPPORTED, start(target, SECRET, BOUND_SECRET), "does not ask");
      assertEquals(List.of(), target.complaints());
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1})
  void aTargetWithoutAProofIsRefused(int group) throws Exception {
    try (NvmeTarget target = target(asking().chooses(1, group))) {
      refused(ErrorCode.UNSUPPORTED, start(target, "", ""), "nvmf.secret is not set");
      refused(ErrorCode.UNSUPPORTED, start(target, BOUND_SECRET, ""), "another secret");
      assertEquals(List.of(), target.explanations());
      refused(ErrorCode.UNSUPPORTED, start(target, SECRET, SECRET), "has not proved");
      assertEquals(List.of(1), target.explanations());
      assertEquals(List.of(), target.complaints());
    }
    TargetOptions mute = new TargetOptions().secrets(SECRET, "");
    try (NvmeTarget target = target(mute.chooses(1, group))) {
      refused(ErrorCode.UNSUPPORTED, start(target, SECRET, BOUND_SECRET), "and cannot");
      assertEquals(List.of(), target.complaints());
    }
  }

  /** Has random numbers except in the threads that compute. */
  private static final class HalfRandom extends SecureRandomSpi {
    private static final long serialVersionUID = 1;

    @Override
    protected void engineSetSeed(byte[] seed) {
      // It has none.
    }

    @Override
    protected void engineNextBytes(byte[] bytes) {
      if (Thread.currentThread().getName().equals("crail-nvmf-authentication")) {
        throw new IllegalStateException("no random numbers");
      }
      ThreadLocalRandom.current().nextBytes(bytes);
    }

    @Override
    protected byte[] engineGenerateSeed(int length) {
      return new byte[length];
    }
  }

  private static final class HalfProvider extends Provider {
    private static final long serialVersionUID = 1;

    HalfProvider() {
      super("CrailTest", "1", "for a test");
      putService(
          new Service(this, "SecureRandom", "Half", HalfRandom.class.getName(), null, null) {
            @Override
            public Object newInstance(Object parameter) {
              return new HalfRandom();
            }
          });
    }
  }

  @Test
  void reportsAFailureInAThreadOfItsOwn() throws Exception {
    Provider half = new HalfProvider();
    Security.insertProviderAt(half, 1);
    try (NvmeTarget target = target(asking().chooses(1, 1))) {
      refused(ErrorCode.INTERNAL, start(target, SECRET, ""), "no random numbers");
      assertEquals(List.of(), target.complaints());
    } finally {
      Security.removeProvider(half.getName());
    }
  }

  @Test
  void reportsAMissingSecureChannel() throws Exception {
    try (NvmeTarget target = target(asking().asksForSecureChannel())) {
      refused(ErrorCode.UNSUPPORTED, start(target, SECRET, ""), "secure channel");
      assertEquals(List.of(), target.complaints());
    }
  }

  private static void refused(ErrorCode code, TestHost.Start start, String words) {
    try (TestHost host = new TestHost(start)) {
      CrailException refusal = assertThrows(CrailException.class, host::controller);
      assertEquals(code, refusal.code(), refusal.getMessage());
      assertTrue(refusal.getMessage().contains(words), refusal.getMessage());
      assertTrue(refusal.getMessage().contains(start.subsystem().nqn()), refusal.getMessage());
      assertFalse(refusal.getMessage().contains(WORDS), refusal.getMessage());
      assertFalse(start.toString().contains(WORDS), start.toString());
    }
  }

  /** Changes a byte of the message that has this number. */
  private static UnaryOperator<byte[]> flip(int number, int at, int bits) {
    AtomicInteger sent = new AtomicInteger();
    return message -> {
      if (sent.getAndIncrement() == number) {
        message[at] ^= (byte) bits;
      }
      return message;
    };
  }

  /** What the host says is wrong with a message, and what it sends to the target. */
  @ParameterizedTest
  @CsvSource({
    "0, 0, 2, PROTOCOL, 7, sends message",
    "0, 1, 2, PROTOCOL, 7, sends message",
    "0, 4, 1, PROTOCOL, 7, sends message",
    "0, 6, 16, PROTOCOL, 4, chooses hash",
    "0, 8, 4, PROTOCOL, 4, chooses hash",
    "0, 9, 8, PROTOCOL, 5, chooses group",
    "0, 9, 1, PROTOCOL, 5, chooses group",
    "0, 10, 4, PROTOCOL, 5, public value",
    "1, 1, 1, PROTOCOL, 7, sends message",
    "1, 6, 1, PROTOCOL, 4, succeeds with a hash",
    "1, 8, 1, UNSUPPORTED, 1, has not proved",
    "1, 17, 64, UNSUPPORTED, 1, has not proved"
  })
  void messagesThatMakeNoSenseAreRefused(
      int number, int at, int bits, ErrorCode code, int explanation, String words)
      throws Exception {
    try (NvmeTarget target = target(asking().edit(flip(number, at, bits)))) {
      refused(code, start(target, SECRET, BOUND_SECRET), words);
      assertEquals(List.of(explanation), target.explanations());
      assertEquals(List.of(), target.complaints());
    }
  }

  @Test
  void anotherChallengeLeadsToAnotherAnswer() throws Exception {
    for (int at : new int[] {12, 16, 16 + 32}) {
      try (NvmeTarget target = target(asking().chooses(1, 1).edit(flip(0, at, 1)))) {
        refused(ErrorCode.UNSUPPORTED, start(target, SECRET, ""), "another secret");
        assertEquals(List.of(), target.complaints());
      }
    }
  }

  @Test
  void emptyAndRandomMessagesAreRefused() throws Exception {
    long seed = Long.getLong("crail.seed", System.nanoTime());
    System.out.println("-Dcrail.seed=" + seed);
    Random random = new Random(seed);
    UnaryOperator<byte[]> garbage =
        message -> {
          byte[] other = new byte[1 + random.nextInt(200)];
          random.nextBytes(other);
          return other;
        };
    for (int i = 0; i < 20; i++) {
      TargetOptions options = asking().edit(garbage);
      try (NvmeTarget target = target(i % 2 == 0 ? options.shortMessages() : options)) {
        refused(ErrorCode.PROTOCOL, start(target, SECRET, BOUND_SECRET), "sends message");
      }
    }
  }

  /** In each command of the start. */
  @ParameterizedTest
  @ValueSource(strings = {"SILENT", "CLOSE", "FAILED", "GARBAGE", "TWICE", "WRONG_LENGTH"})
  void aBadStartEndsInTime(Fate fate) throws Exception {
    try (NvmeTarget target = target(asking())) {
      TestHost.Start start =
          start(target, SECRET, BOUND_SECRET).limits(TestHost.Start.limits(4, 10_000, 200));
      for (int bad = 0; bad < 7; bad++) {
        for (int on = 0; on < 2; on++) {
          int number = bad;
          int bent = on;
          target.plan(
              (queue, opcode, count) ->
                  count == number && opcode == 0x7f && (bent == 0 ? queue <= 0 : queue == 1)
                      ? fate
                      : Fate.NORMAL);
          try (TestHost host = new TestHost(start)) {
            host.controller();
          } catch (TestHost.Lost | CrailException e) {
            assertFalse(e.getMessage().isBlank());
          }
        }
      }
      target.plan((queue, opcode, count) -> Fate.NORMAL);
      try (TestHost host = new TestHost(start(target, SECRET, BOUND_SECRET))) {
        host.controller();
      }
    }
  }

  /** The reason stays, even when the target does not listen to it. */
  @ParameterizedTest
  @ValueSource(strings = {"SILENT", "CLOSE", "FAILED"})
  void reportsAFailureWhateverTheTargetDoes(Fate fate) throws Exception {
    try (NvmeTarget target = target(asking())) {
      target.plan((queue, opcode, count) -> count == 5 ? fate : Fate.NORMAL);
      TestHost.Start start =
          start(target, SECRET, SECRET).limits(TestHost.Start.limits(4, 10_000, 500));
      refused(ErrorCode.UNSUPPORTED, start, "has not proved");
    }
  }
}
