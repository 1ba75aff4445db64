/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.lab.compare;

import io.crail.lab.programs.Programs;
import io.crail.protocol.node.Lookup;
import io.crail.rpc.Frame;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * Bare messages over loopback, with {@code LoopbackEcho} at both ends.
 *
 * @param mode how both ends wait: blocking, selector or spin
 * @param request bytes of a request
 * @param answer bytes of an answer
 */
record Echo(String mode, int request, int answer) {
  private static final String MAIN = "io.crail.lab.limits.LoopbackEcho";

  /** Messages of the sizes of a lookup and its answer. */
  static Echo lookup(String mode, String path) {
    return new Echo(
        mode,
        Frame.HEADER_LENGTH + Lookup.Request.LAYOUT.fixedLength() + path.length(),
        Frame.HEADER_LENGTH + Lookup.Response.LAYOUT.fixedLength());
  }

  /**
   * Exchanges messages.
   *
   * @param depth requests in flight
   * @param count measured messages; as many are sent before
   * @param server words before the server's command, such as taskset
   * @param client words before the client's command
   * @return the output of the client
   */
  String run(Programs programs, int depth, long count, List<String> server, List<String> client)
      throws IOException, InterruptedException {
    List<String> serve = new ArrayList<>(server);
    serve.addAll(CompareSession.java(MAIN, "server", mode, request, answer));
    String port = programs.startAndReadLine(serve).replace("port ", "");
    List<String> ask = new ArrayList<>(client);
    ask.addAll(
        CompareSession.java(MAIN, "client", mode, request, answer, port, depth, count, count));
    try {
      return programs.run(ask);
    } finally {
      programs.stopLast();
    }
  }

  /** The same, with the system placing both ends. */
  String run(Programs programs, int depth, long count) throws IOException, InterruptedException {
    return run(programs, depth, count, List.of(), List.of());
  }

  /** As a user would write it. */
  String shown() {
    return "LoopbackEcho " + mode + " " + request + " " + answer;
  }
}
