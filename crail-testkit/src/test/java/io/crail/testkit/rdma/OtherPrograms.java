/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.rdma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Programs of others, on the devices that Crail uses. */
public final class OtherPrograms {
  private static final int LIMIT_SECONDS = 60;

  /** Where a device's addresses of IPv4 begin in soft-RoCE. */
  private static final List<String> OPTIONS = List.of("-g", "1", "-s", "64", "-n", "200", "-p");

  private static final Pattern MICROS = Pattern.compile("= ([0-9.]+) usec/iter");

  /** On an emulated machine those who ask without end need a processor each. */
  private static final String SERVER_PROCESSOR = System.getProperty("crail.test.serverprocessor");

  private OtherPrograms() {}

  /**
   * How a program has ended.
   *
   * @param status 137 when its time was over
   * @param output and errors
   */
  public record End(int status, String output) {}

  /** Runs a program to its end, for so many seconds at most. */
  public static End run(int seconds, String... command) throws Exception {
    return end(start(seconds, List.of(command)));
  }

  /**
   * Runs both ends of a program of libibverbs, such as {@code ibv_rc_pingpong}, between the hosts,
   * which have to succeed.
   *
   * @return what the client has measured: the time of a message there and back, in microseconds
   */
  public static double pingPong(String program) throws Exception {
    String port = freePort();
    List<String> serve = new ArrayList<>();
    if (SERVER_PROCESSOR != null) {
      serve.addAll(List.of("taskset", "-c", SERVER_PROCESSOR));
    }
    serve.addAll(command(program, RdmaHost.SERVER_DEVICE, port));
    Process server = start(LIMIT_SECONDS, serve);
    try {
      RdmaHost.await(program + " listens", () -> !server.isAlive() || listens(port));
      List<String> ask = command(program, RdmaHost.CLIENT_DEVICE, port);
      ask.add(RdmaHost.SERVER);
      End client = end(start(LIMIT_SECONDS, ask));
      assertEquals(0, client.status, client.output);
      End served = end(server);
      assertEquals(0, served.status, served.output);
      Matcher micros = MICROS.matcher(client.output);
      assertTrue(micros.find(), client.output);
      return Double.parseDouble(micros.group(1));
    } finally {
      server.destroy();
    }
  }

  private static List<String> command(String program, String device, String port) {
    List<String> command = new ArrayList<>(List.of(program, "-d", device));
    command.addAll(OPTIONS);
    command.add(port);
    return command;
  }

  private static String freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0)) {
      return String.valueOf(socket.getLocalPort());
    }
  }

  private static boolean listens(String port) throws Exception {
    return !run(LIMIT_SECONDS, "ss", "-Hltn", "sport = :" + port).output.isBlank();
  }

  private static Process start(int seconds, List<String> command) throws IOException {
    List<String> limited = new ArrayList<>(List.of("timeout", "-s", "KILL", "" + seconds));
    limited.addAll(command);
    return new ProcessBuilder(limited).redirectErrorStream(true).start();
  }

  private static End end(Process process) throws Exception {
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    return new End(process.waitFor(), output);
  }
}
