/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.nvmf.auth;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.error.ErrorCode;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Compares with values that were computed apart from this code: with Python's hashlib, hmac and
 * pow, and the primes of OpenSSL.
 */
class ChapExchangeTest {
  private static final String HOST = "nqn.2026-11.io.crail:host";
  private static final String SUBSYSTEM = "nqn.2026-11.io.crail:test";
  private static final String KEY_32 = ":AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh+KfiaR:";
  private static final String KEY_48 =
      ":ZGVmZ2hpamtsbW5vcHFyc3R1dnd4eXp7fH1+f4CBgoOEhYaHiImKi4yNjo+QkZKTvGwQfg==:";
  private static final String KEY_64 =
      ":QEFCQ0RFRkdISUpLTE1OT1BRUlNUVVZXWFlaW1xdXl9gYWJjZGVmZ2hpamtsbW5vcHFyc3R1dnd4eXp7fH1+fx/G"
          + "j1o=:";
  private static final int TRANSACTION = 0x5a5a;

  /** Always the same bytes. */
  private static final class NotRandom extends SecureRandom {
    private static final long serialVersionUID = 1;

    @Override
    public void nextBytes(byte[] bytes) {
      Arrays.fill(bytes, (byte) 0x5a);
    }
  }

  private static String secret(String hash) {
    String key = hash.endsWith("/32") ? KEY_32 : hash.endsWith("/48") ? KEY_48 : KEY_64;
    return "DHHC-1:0" + hash.charAt(0) + key;
  }

  private static String hex(byte[] bytes) {
    return HexFormat.of().formatHex(bytes);
  }

  private static String sha256(byte[] bytes) throws Exception {
    return hex(MessageDigest.getInstance("SHA-256").digest(bytes));
  }

  @ParameterizedTest
  @CsvSource({
    "FFDHE_2048, 9cd3b7f336872f46c09428d1bbc19877a4d440512cda8d1c1cf0cd6e33698966",
    "FFDHE_3072, 0eaf67db3a839156d5013494a5318a772b5697d270d721f37f092efc69ea5a17",
    "FFDHE_4096, 4648414224ac881b3d0dc59b466f96d06a558278776807797ecf1f66ff397b3e",
    "FFDHE_6144, 227ac9066b3ddd9e193670cda2388fa884f65ba0cf98b742d1fe77a6687c79c7",
    "FFDHE_8192, 770b14efaf6f049929c523113b3fa99a8d11dab1b18af3609590122075d19833"
  })
  void thePrimesAreThoseOfTheRfc(DhGroup group, String hash) throws Exception {
    assertEquals(hash, sha256(group.bytes(group.prime())));
  }

  @ParameterizedTest
  @CsvSource({
    "0/32, 000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f",
    "1/32, 8ede21e00a0c319c3c124d865c400e1745530c18d6f48730e6b9a50df89dd074",
    "2/48, b4dde310d993b84dc7cf1015625ef2cc324c66b4caee0ff1c4852485a968ab47413e5595aaff89f9279052d9"
        + "efa4550e",
    "3/64, 6a4cf759d56c14072a42a3703c87a5bdbc1787e7a725be3a344e2cba45c526f1d4088d50e13189cd993df8ed"
        + "6d0c87cfa2346696d7753f3fb0adf773c9338997",
    "1/64, 81680ce1fa30d6ed1988f7ab437f0a9b8851d85cc57ea8fc5ca560d39584f8df"
  })
  void aKeyBelongsToItsOwner(String secret, String key) {
    ChapSecret parsed = ChapSecret.parse(secret(secret));
    assertEquals(key, hex(parsed.key(HOST)));
    assertEquals("(secret)", parsed.toString());
  }

  @Test
  void invalidSecretsAreRefusedWithoutShowingThem() {
    String good = secret("1/32");
    assertNull(ChapSecret.problem(good));
    assertNull(ChapSecret.problem(good.substring(0, good.length() - 1)));
    for (String bad :
        new String[] {
          "",
          "hello",
          good.replace("-1:01", "-1:04"),
          good.replace("-1:01", "-2:01"),
          good.replace("AAEC", "AAED"),
          good.replace("AAEC", "A*EC"),
          good.replace("AAECAwQF", ""),
          good.replace("AAECAwQF", "A"),
          good + good
        }) {
      String problem = ChapSecret.problem(bad);
      assertNotNull(problem, bad);
      assertFalse(problem.contains("CQoL"), problem);
      assertThrows(IllegalArgumentException.class, () -> ChapSecret.parse(bad));
    }
    assertTrue(ChapSecret.problem(good.replace("AAEC", "AAED")).contains("checksum"));
  }

  private static ChapExchange exchange(String host, String controller) {
    return new ChapExchange(
        HOST,
        SUBSYSTEM,
        new HostSecrets(
            ChapSecret.parse(secret(host)),
            controller == null ? null : ChapSecret.parse(secret(controller))),
        new NotRandom());
  }

  private static ByteBuffer memory(byte[] message) {
    return ByteBuffer.allocate(ChapExchange.MOST_BYTES).put(0, message);
  }

  private static ByteBuffer challenge(int hash, int group, BigInteger exponent) {
    int length = ChapHash.of(hash).length();
    ByteBuffer out = memory(new byte[] {1, 1}).order(ByteOrder.LITTLE_ENDIAN);
    out.putShort(4, (short) TRANSACTION).put(6, (byte) length);
    out.put(8, (byte) hash).put(9, (byte) group).putInt(12, 0x01020304);
    for (int i = 0; i < length; i++) {
      out.put(16 + i, (byte) (7 * i + hash));
    }
    DhGroup known = DhGroup.of(group);
    if (group > 0) {
      byte[] value = known.bytes(BigInteger.TWO.modPow(exponent, known.prime()));
      out.putShort(10, (short) value.length).put(16 + length, value);
    }
    return out;
  }

  private static ByteBuffer challenge(int hash, int group) {
    BigInteger exponent =
        new BigInteger("c0ffee1234567890abcdef", 16).shiftLeft(100).add(BigInteger.valueOf(99991));
    return challenge(hash, group, exponent);
  }

  private static ByteBuffer success(String response) {
    byte[] bytes = HexFormat.of().parseHex(response);
    ByteBuffer out = memory(new byte[] {1, 3}).order(ByteOrder.LITTLE_ENDIAN);
    out.putShort(4, (short) TRANSACTION).put(6, (byte) bytes.length).put(8, (byte) 1);
    return out.put(16, bytes);
  }

  @ParameterizedTest
  @CsvSource({
    "1, 0, 0/32, , 80, 52cd1778338a4bec1b7edb0c854685c162d614448d22d8bb0f9c454ecbb5ea41, ",
    "1, 1, 1/32, 2/48, 336, bf46b6ed95bf80ff0a39033aab81ece6327627934125dfca3e59ef93f676d677, "
        + "b890cb0915a8a6d593158de993166fa6bd041f857c9a442e75c61a109fc2c586",
    "2, 2, 2/48, 0/32, 496, ed7cd2129933c89775cf01380ce0e0ce3ca713503f9e5241a9efc1a2c88aacdb, "
        + "4bdf5d29d85778057c3ddd8af979734d9fd1ee31edafa968cd323a4a8d7d9df733e8f43840b0abd380232decb"
        + "91f243b",
    "3, 3, 3/64, 3/64, 656, 4b5aa6782fff530f58ce960f01fe8df3af53dab7da5be7b86758db82baac9949, "
        + "996e04c19670950c15cbfb48a3fcae68e12e01af74582208294a24a5cde464a64533e09af4c84cc382cc81e46"
        + "64b54f34e45f13e12af0879b5bea14bda483ff8",
    "3, 5, 1/64, 1/32, 1168, 21991be516cc254aad21ff54af847a4ea5ab845bdd75d5bde259380f60b4f812, "
        + "44da1a6ef8fe1bdd85f4435b25fdeea4993bd4499877a7e0e8efd1677e7e5f8e0be35495c324b4eca8d12835b"
        + "10edfb4384e6759b9e3d1f4824f3a19eccdf99d"
  })
  void repliesAndChecksAsComputedElsewhere(
      int hash, int group, String host, String controller, int length, String reply, String proof)
      throws Exception {
    ChapExchange exchange = exchange(host, controller);
    exchange.challenged(challenge(hash, group));
    assertEquals(group != 0, exchange.isLaborious());
    byte[] bytes = exchange.reply().array();
    assertEquals(length, bytes.length);
    assertEquals(reply, sha256(bytes));
    if (proof == null) {
      assertFalse(exchange.succeeded(success("00".repeat(ChapHash.of(hash).length()))));
      return;
    }
    assertTrue(exchange.succeeded(success(proof)));
    assertEquals("01040000" + "5a5a" + "00".repeat(10), hex(exchange.success().array()));
    char first = proof.charAt(0);
    String wrong = (first == '0' ? '1' : '0') + proof.substring(1);
    refused(
        exchange,
        ErrorCode.UNSUPPORTED,
        ChapMessage.FAILED,
        () -> exchange.succeeded(success(wrong)));
    refused(
        exchange,
        ErrorCode.UNSUPPORTED,
        ChapMessage.FAILED,
        () -> exchange.succeeded(success(proof).put(8, (byte) 0)));
  }

  private interface Step {
    void run() throws ChapException;
  }

  private static void refused(ChapExchange exchange, ErrorCode code, int explanation, Step step) {
    ChapException refusal = assertThrows(ChapException.class, step::run);
    assertEquals(code, refusal.code());
    assertEquals(explanation, refusal.explanation());
    ByteBuffer failure = exchange.failure(refusal);
    if (explanation == ChapMessage.NOTHING) {
      assertNull(failure);
    } else {
      assertEquals("00f00000" + "5a5a" + "010" + explanation, hex(failure.array()));
    }
  }

  @Test
  void offersAllThatItKnows() {
    String offer = hex(exchange("0/32", null).negotiate().array());
    String expected = "00000000" + "5a5a" + "0001" + "01000306" + "010203" + "00".repeat(27);
    assertEquals(expected + "000102030405" + "00".repeat(24), offer);
  }

  @Test
  void aChallengeThatMakesNoSenseIsRefused() {
    int payload = ChapMessage.INCORRECT_PAYLOAD;
    ErrorCode code = ErrorCode.PROTOCOL;
    ChapExchange exchange = exchange("0/32", null);
    ByteBuffer none = memory(new byte[0]);
    refused(exchange, code, ChapMessage.INCORRECT_MESSAGE, () -> exchange.challenged(none));
    ByteBuffer other = challenge(1, 0).put(4, (byte) 1);
    refused(exchange, code, ChapMessage.INCORRECT_MESSAGE, () -> exchange.challenged(other));
    ByteBuffer early = success("00".repeat(32));
    refused(exchange, code, ChapMessage.INCORRECT_MESSAGE, () -> exchange.challenged(early));
    ByteBuffer hash = challenge(1, 0).put(8, (byte) 4);
    refused(exchange, code, ChapMessage.HASH_UNUSABLE, () -> exchange.challenged(hash));
    ByteBuffer length = challenge(1, 0).put(6, (byte) 48);
    refused(exchange, code, ChapMessage.HASH_UNUSABLE, () -> exchange.challenged(length));
    ByteBuffer group = challenge(1, 0).put(9, (byte) 6);
    refused(exchange, code, ChapMessage.GROUP_UNUSABLE, () -> exchange.challenged(group));
    ByteBuffer value = challenge(1, 1).put(11, (byte) 0xff);
    refused(exchange, code, ChapMessage.GROUP_UNUSABLE, () -> exchange.challenged(value));
    ByteBuffer superfluous = challenge(1, 1).put(9, (byte) 0);
    refused(exchange, code, ChapMessage.GROUP_UNUSABLE, () -> exchange.challenged(superfluous));
    BigInteger prime = DhGroup.FFDHE_2048.prime();
    for (BigInteger bad :
        new BigInteger[] {
          BigInteger.ZERO,
          BigInteger.ONE,
          prime.subtract(BigInteger.ONE),
          prime,
          BigInteger.ONE.shiftLeft(2048).subtract(BigInteger.ONE)
        }) {
      ByteBuffer unsound = challenge(1, 1).put(16 + 32, DhGroup.FFDHE_2048.bytes(bad));
      refused(
          exchange,
          code,
          payload,
          () -> {
            exchange.challenged(unsound);
            exchange.reply();
          });
    }
    byte[] refusal = HexFormat.of().parseHex("00f10000" + "5a5a" + "0104");
    refused(
        exchange,
        ErrorCode.UNSUPPORTED,
        ChapMessage.NOTHING,
        () -> exchange.challenged(memory(refusal)));
  }

  /** Neither may end in anything but a refusal, or take long. */
  @Test
  void garbageIsRefused() throws Exception {
    long seed = Long.getLong("crail.seed", System.nanoTime());
    System.out.println("-Dcrail.seed=" + seed);
    Random random = new Random(seed);
    for (int i = 0; i < 20_000; i++) {
      ByteBuffer message =
          random.nextBoolean() ? challenge(1 + i % 3, 0) : success("00".repeat(32));
      for (int changes = random.nextInt(4); changes >= 0; changes--) {
        message.put(random.nextInt(16), (byte) random.nextInt(random.nextBoolean() ? 8 : 256));
      }
      ChapExchange exchange = exchange("1/32", "0/32");
      try {
        exchange.challenged(message);
        exchange.challenged(challenge(1, 0));
        exchange.reply();
        assertFalse(exchange.succeeded(message));
      } catch (ChapException e) {
        assertNotNull(e.getMessage());
      }
    }
  }
}
