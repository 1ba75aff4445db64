/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.lab.programs;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The program fio on a block device. Used by one thread. */
public final class Fio implements FlashPeer {
  private static final String TERSE = "3;";

  // In the form of version 3, from 1 on.
  private static final int READ_OPERATIONS = 8;
  private static final int WRITE_OPERATIONS = 49;
  private static final Pattern MEDIAN = Pattern.compile(";50\\.0+%=([0-9]+)");

  private final Programs programs;
  private final int processor;
  private final List<String> place;

  /**
   * Creates it.
   *
   * @param processor the processor on which it runs
   * @param device such as {@code /dev/nvme0n1}
   * @param offset the first byte that it uses
   * @param bytes how many it uses
   */
  public Fio(Programs programs, int processor, String device, long offset, long bytes) {
    this.programs = programs;
    this.processor = processor;
    this.place = List.of("--filename=" + device, "--offset=" + offset, "--size=" + bytes);
  }

  @Override
  public String name() {
    return "fio";
  }

  @Override
  public String shown(Load load) {
    return "fio --direct=1 --ioengine=libaio " + arguments(load);
  }

  @Override
  public Result run(Load load) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>();
    command.addAll(List.of("taskset", "-c", String.valueOf(processor), "fio", "--name=crail"));
    command.addAll(List.of("--minimal", "--terse-version=3", "--direct=1", "--ioengine=libaio"));
    command.addAll(List.of("--time_based", "--runtime=5", "--ramp_time=1"));
    command.addAll(place);
    command.addAll(List.of(arguments(load).split(" ")));
    return parse(programs.run(command));
  }

  private static String arguments(Load load) {
    return "--rw=" + load.kind() + " --bs=" + load.size() + " --iodepth=" + load.depth();
  }

  /** Reads its short form. */
  public static Result parse(String text) {
    for (String line : text.split("\n")) {
      String[] fields = line.split(";");
      if (line.startsWith(TERSE) && fields.length > WRITE_OPERATIONS) {
        double reads = Double.parseDouble(fields[READ_OPERATIONS - 1]);
        double writes = Double.parseDouble(fields[WRITE_OPERATIONS - 1]);
        double median = 0;
        for (Matcher matcher = MEDIAN.matcher(line); matcher.find(); ) {
          median = Math.max(median, Double.parseDouble(matcher.group(1)));
        }
        if (reads + writes > 0 && median > 0) {
          return new Result(reads + writes, median);
        }
      }
    }
    throw new IllegalArgumentException("no results in: " + text);
  }
}
