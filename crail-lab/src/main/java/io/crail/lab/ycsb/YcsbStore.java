/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.lab.ycsb;

import io.crail.CrailStore;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.conf.CrailConfiguration;
import io.crail.lab.programs.LabCluster;
import io.crail.lab.programs.Programs;
import io.crail.protocol.ClusterKeys;
import io.crail.storage.StorageKeys;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;

/**
 * A store on which YCSB runs.
 *
 * @param name the name, for people
 * @param binding YCSB's class for it
 * @param properties the settings of that class
 * @param clearing removes all records
 */
record YcsbStore(String name, String binding, Map<String, String> properties, Clearing clearing) {
  private static final int TIMEOUT_MILLIS = 10_000;
  private static final int POLL_MILLIS = 20;

  /** Removes records. */
  @FunctionalInterface
  interface Clearing {
    void clear() throws IOException, InterruptedException;
  }

  /**
   * Crail, with its own table.
   *
   * @param table the name of the table
   * @param key a key of Crail that makes the difference, and its {@code value}
   */
  private static YcsbStore crail(
      String name, String addresses, String table, String key, String value) {
    return new YcsbStore(
        name,
        "io.crail.ycsb.CrailClient",
        Map.of(
            "table",
            table,
            ClusterKeys.NAMENODE_ADDRESS.name(),
            addresses,
            key,
            value,
            "crail.enumeratekeys",
            "true"),
        () -> deleteTable(addresses, table));
  }

  /**
   * Crail over TCP, or in mapped memory.
   *
   * @param mapped whether clients map the datanode's memory
   */
  static YcsbStore inMemory(String name, String addresses, boolean mapped) {
    String table = mapped ? "mapped" : "tcp";
    return crail(name, addresses, table, StorageKeys.LOCAL_MAP.name(), String.valueOf(mapped));
  }

  /** Crail on flash. */
  static YcsbStore onFlash(String name, String addresses) {
    return crail(name, addresses, "flash", StorageKeys.TYPES.name(), "nvmf");
  }

  private static void deleteTable(String addresses, String table)
      throws IOException, InterruptedException {
    CrailConfiguration configuration = new CrailConfiguration();
    configuration.set(ClusterKeys.NAMENODE_ADDRESS.name(), addresses);
    try (CrailStore store = CrailStore.newInstance(configuration)) {
      store.delete(table, true).get();
    } catch (IOException | InterruptedException e) {
      throw e;
    } catch (Exception e) {
      Throwable cause = e instanceof ExecutionException ? e.getCause() : e;
      boolean none =
          cause instanceof CrailException
              && ((CrailException) cause).code() == ErrorCode.NODE_NOT_FOUND;
      if (!none) {
        throw new IOException("cannot remove the table", cause);
      }
    }
  }

  /** Starts a Redis that keeps its records only in memory, as Crail does. */
  static YcsbStore redis(String name, Programs programs) throws IOException, InterruptedException {
    int port = LabCluster.freePort();
    List<String> command = new ArrayList<>(List.of("redis-server", "--bind", "127.0.0.1"));
    command.addAll(List.of("--port", String.valueOf(port), "--save", "", "--appendonly", "no"));
    programs.start("redis", command);
    long deadline = System.nanoTime() + TIMEOUT_MILLIS * 1_000_000L;
    while (true) {
      try {
        flush(port);
        break;
      } catch (IOException e) {
        if (System.nanoTime() - deadline > 0) {
          throw e;
        }
        Thread.sleep(POLL_MILLIS);
      }
    }
    return new YcsbStore(
        name,
        "io.crail.ycsb.redis.RedisClient",
        Map.of("redis.host", "127.0.0.1", "redis.port", String.valueOf(port)),
        () -> flush(port));
  }

  private static void flush(int port) throws IOException {
    String expected = "+OK\r\n";
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
      socket.setSoTimeout(TIMEOUT_MILLIS);
      OutputStream out = socket.getOutputStream();
      out.write("FLUSHALL\r\n".getBytes(StandardCharsets.US_ASCII));
      byte[] answer = socket.getInputStream().readNBytes(expected.length());
      if (!new String(answer, StandardCharsets.US_ASCII).equals(expected)) {
        throw new IOException("redis did not remove its records");
      }
    }
  }
}
