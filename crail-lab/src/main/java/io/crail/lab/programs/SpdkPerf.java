/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.lab.programs;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The program spdk_nvme_perf. It overwrites its whole namespace. Used by one thread. */
public final class SpdkPerf implements FlashPeer {
  private static final Pattern TOTAL = Pattern.compile("\nTotal\\s*:\\s*([0-9.]+)\\s");
  private static final Pattern MEDIAN = Pattern.compile("\\s50\\.0+%\\s*:\\s*([0-9.]+)us");

  private final Programs programs;
  private final int processor;
  private final String program;
  private final String namespace;

  /**
   * Creates it.
   *
   * @param processor the processor on which it polls
   * @param program its path
   * @param namespace as for its option {@code -r}
   */
  public SpdkPerf(Programs programs, int processor, String program, String namespace) {
    this.programs = programs;
    this.processor = processor;
    this.program = program;
    this.namespace = namespace;
  }

  @Override
  public String name() {
    return "SPDK perf";
  }

  @Override
  public String shown(Load load) {
    return "spdk_nvme_perf --no-huge -s 256 -t 3 -a 1 " + arguments(load);
  }

  @Override
  public Result run(Load load) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>();
    command.addAll(List.of("taskset", "-c", String.valueOf(processor), program));
    // SPDK itself gets the same processor as a mask.
    command.addAll(List.of("-c", "0x" + Integer.toHexString(1 << processor), "-L"));
    command.addAll(List.of("--no-huge", "-s", "256", "-t", "3", "-a", "1", "-r", namespace));
    command.addAll(List.of(arguments(load).split(" ")));
    return parse(programs.run(command));
  }

  private static String arguments(Load load) {
    return "-w " + load.kind() + " -o " + load.size() + " -q " + load.depth();
  }

  /** Reads its output. */
  public static Result parse(String text) {
    Matcher total = TOTAL.matcher(text);
    Matcher median = MEDIAN.matcher(text);
    if (!total.find() || !median.find()) {
      throw new IllegalArgumentException("no results in: " + text);
    }
    return new Result(Double.parseDouble(total.group(1)), Double.parseDouble(median.group(1)));
  }
}
