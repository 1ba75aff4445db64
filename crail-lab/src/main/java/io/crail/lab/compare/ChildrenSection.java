/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.lab.compare;

import io.crail.lab.figures.Samples;
import io.crail.lab.programs.LabCluster;
import java.io.IOException;
import java.util.List;
import java.util.Locale;

/**
 * A spread directory with very many children over two namenodes, and one client with little memory:
 * the first page of its listing, the whole one, deletes of single children, and the removal of the
 * directory, beside the removal of one without children.
 */
final class ChildrenSection extends Section {
  private static final String PROGRAM = "io.crail.lab.programs.SpreadChildren";
  private static final String CLIENT_HEAP = "-Xmx64m";
  private static final int NAMENODES = 2;
  private static final long SMALL_BYTES = 64 << 20;

  /** Ten million children are made in some minutes. */
  private static final long SECONDS = 3_600;

  private static final int MOST_DELETES = 200_000;
  private static final String MICROS = "us";
  private static final double MOST_MICROS = 10_000;
  private static final double LEAST_NAMES = 1_000_000;
  private static final String EMPTY = "removal, until it is answered, no children";

  /** Creates the section. */
  ChildrenSection(CompareSession with) {
    super(with);
  }

  private int children() {
    return with.options().children();
  }

  @Override
  protected void run() throws IOException, InterruptedException {
    LabCluster cluster = with.newCluster(with.setup().of(NAMENODES), SMALL_BYTES);
    try {
      int deletes = Math.min(MOST_DELETES, children() / 2);
      List<String> command = CompareSession.java(PROGRAM, children(), deletes);
      command.add(1, CLIENT_HEAP);
      command.add("crail.namenode.address=" + cluster.addresses());
      command.addAll(with.clientSettings());
      String text = with.programs().run(command, SECONDS);
      add(text, "creates", name("creates, 128 in flight"), "/s");
      add(text, "page", name("first page of a listing"), MICROS);
      add(text, "names", name("names of a whole listing"), "/s");
      add(text, "deletes", name("deletes of single children, 128 in flight"), "/s");
      add(text, "empty", EMPTY, MICROS);
      add(text, "removal", name("removal, until it is answered"), MICROS);
      add(text, "freed", name("freed after the removal"), "/s");
    } finally {
      cluster.stop();
    }
  }

  private void add(String text, String word, String name, String unit) {
    String shown = "java " + CLIENT_HEAP + " SpreadChildren " + children();
    samples.add(name, unit, shown, Samples.number(text, word));
  }

  private String name(String what) {
    return what + String.format(Locale.ROOT, ", %,d children", children());
  }

  @Override
  protected void compare() {
    goals.addAlone(name("first page of a listing"), MICROS, MOST_MICROS);
    goals.addAlone(name("names of a whole listing"), "/s", LEAST_NAMES);
    goals.addAlone(name("removal, until it is answered"), MICROS, MOST_MICROS);
    goals.add(name("removal, until it is answered"), EMPTY, MICROS, 0);
  }
}
