/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.lab.compare;

import io.crail.lab.programs.Programs;
import io.crail.protocol.node.Lookup;
import io.crail.rpc.Frame;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * Bare messages over loopback, by both ends of {@code LoopbackEcho}.
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
   * @param count messages that are counted, after as many that are not
   * @param server words in front of the server's command, such as taskset
   * @param client words in front of the client's
   * @return what the client printed
   */
  String run(Programs programs, int depth, long count, List<String> server, List<String> client)
      throws IOException, InterruptedException {
    List<String> serve = new ArrayList<>(server);
    serve.addAll(Comparison.java(MAIN, "server", mode, request, answer));
    String port = programs.startAndReadLine(serve).replace("port ", "");
    List<String> ask = new ArrayList<>(client);
    ask.addAll(Comparison.java(MAIN, "client", mode, request, answer, port, depth, count, count));
    try {
      return programs.run(ask);
    } finally {
      programs.stopLast();
    }
  }

  /** The same, wherever the system places both. */
  String run(Programs programs, int depth, long count) throws IOException, InterruptedException {
    return run(programs, depth, count, List.of(), List.of());
  }

  /** As a user would write it. */
  String shown() {
    return "LoopbackEcho " + mode + " " + request + " " + answer;
  }
}
