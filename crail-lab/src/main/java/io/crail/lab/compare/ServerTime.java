/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.lab.compare;

import io.crail.lab.programs.Machine;
import java.io.IOException;
import java.util.List;
import java.util.function.Consumer;

/**
 * The processor time of servers while iobench measures: between the lines that iobench prints when
 * all workers are about to begin and when the last one has ended. So start and warm-up do not
 * count. If there are several experiments, the last one counts. Used by one thread, for one
 * command.
 */
public final class ServerTime implements Consumer<String> {
  private static final String BEGIN = "starting benchmark";
  private static final String END = "execution time ";

  private final List<Process> servers;
  private final int port;
  private boolean measuring;
  private double begin;
  private double seconds = -1;
  private int connections;
  private IOException failure;

  /**
   * Creates a stopped clock.
   *
   * @param port the port whose connections are counted
   */
  public ServerTime(List<Process> servers, int port) {
    this.servers = servers;
    this.port = port;
  }

  /** Reads a line of iobench. */
  @Override
  public void accept(String line) {
    try {
      if (line.startsWith(BEGIN)) {
        connections = Machine.connectionsTo(port);
        begin = now();
        measuring = true;
      } else if (measuring && line.startsWith(END)) {
        seconds = now() - begin;
        measuring = false;
      }
    } catch (IOException e) {
      failure = e;
    }
  }

  private double now() throws IOException {
    double sum = 0;
    for (Process server : servers) {
      sum += Machine.processorSeconds(server.pid());
    }
    return sum;
  }

  /**
   * The seconds of all servers together.
   *
   * @throws IOException when they cannot be found, or iobench did not print when it measured
   */
  public double seconds() throws IOException {
    if (failure != null) {
      throw failure;
    }
    if (seconds <= 0) {
      throw new IOException("iobench has not said when it began and ended");
    }
    return seconds;
  }

  /** Open connections to the port at the beginning, including those of other programs. */
  public int connections() {
    return connections;
  }
}
