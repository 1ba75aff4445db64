/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.lab.compare;

import io.crail.lab.figures.Plot;
import io.crail.lab.figures.Samples;
import io.crail.lab.programs.LabCluster;
import java.io.IOException;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Latency of reads at random over the rate at which they are offered, until a tier cannot keep it:
 * a file in memory, one on flash, and one that has overflowed from memory to flash. A read has a
 * start time that does not depend on earlier ones, and its latency counts from then. Without flash
 * there is the first file alone.
 */
final class TiersSection extends Section {
  /** Where a file is. */
  private enum Place {
    MEMORY("memory", 0),
    FLASH("flash", 1),
    BOTH("memory and flash", 0);

    private final String text;
    private final int storageClass;

    Place(String text, int storageClass) {
      this.text = text;
      this.storageClass = storageClass;
    }

    String file() {
      return "/" + name().toLowerCase(Locale.ROOT) + ".dat";
    }
  }

  private static final int[] RATES = {1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000};
  private static final int SIZE = 64 << 10;

  /** As many as a queue pair or a connection has at a time, and more than any rate needs. */
  private static final int IN_FLIGHT = 64;

  private static final int SECONDS = 2;
  private static final int WARM_UP = 20_000;
  private static final int MOST_READS = 40_000;

  /** A rate is kept if so much of it is achieved. */
  private static final double KEPT = 0.98;

  private static final long REGION_BYTES = 64 << 20;
  private static final long FILE_BYTES = 2 * REGION_BYTES;

  /** A file, and half of the one that overflows. */
  private static final long MEMORY_BYTES = 3 * REGION_BYTES;

  /** A file, the other half, and what a writer has in advance. */
  private static final long FLASH_BYTES = 5 * REGION_BYTES;

  private static final String OVERFLOW = "overflow to flash of the file on both";
  private static final String PERCENT = "% of its bytes";

  private final Map<Place, Integer> saturated = new EnumMap<>(Place.class);
  private LabCluster cluster;

  /** Creates the section. */
  TiersSection(CompareSession with) {
    super(with);
  }

  private List<Place> places() {
    return has(CompareSession.Peer.FLASH) ? List.of(Place.values()) : List.of(Place.MEMORY);
  }

  @Override
  protected void prepare() throws IOException, InterruptedException {
    LabCluster.Setup setup =
        with.setup().with("--set", "crail.storage.tcp.allocationsize=" + REGION_BYTES);
    boolean hasFlash = has(CompareSession.Peer.FLASH);
    if (hasFlash) {
      setup =
          setup.with(
              "--set",
              "crail.storage.types=tcp,nvmf",
              "--set",
              "crail.storage.nvmf.allocationsize=" + REGION_BYTES);
    }
    cluster = with.newCluster(setup, MEMORY_BYTES);
    if (hasFlash) {
      cluster.addDatanode(with.options().flash(), with.regions(), FLASH_BYTES);
    }
    for (Place place : places()) {
      with.programs()
          .run(
              cluster.iobench(
                  "-t write -s 1048576 -w 0 --touch false -k "
                      + (FILE_BYTES >> 20)
                      + " -c "
                      + place.storageClass
                      + " -f "
                      + place.file(),
                  false));
    }
    if (hasFlash) {
      String df = with.programs().run(cluster.crail("df", "-b"));
      double share = 100.0 * (usedBytes(df, 1) - FILE_BYTES) / FILE_BYTES;
      if (share < 20 || share > 80) {
        throw new IOException("not half of the file has gone to flash:\n" + df);
      }
      samples.add(OVERFLOW, PERCENT, "crail df -b", share);
    }
  }

  /** What a storage class has in use, in the output of {@code crail df -b}. */
  static long usedBytes(String df, int storageClass) {
    return df.lines()
        .map(line -> line.strip().split("\\s+"))
        .filter(cells -> cells.length > 2 && cells[0].equals(String.valueOf(storageClass)))
        .mapToLong(cells -> Long.parseLong(cells[2]))
        .findFirst()
        .orElseThrow(() -> new IllegalArgumentException("no class " + storageClass + " in: " + df));
  }

  @Override
  protected void run() throws IOException, InterruptedException {
    inTurn(places().stream().map(place -> (Step) () -> most(place)).toArray(Step[]::new));
    for (int rate : RATES) {
      List<Step> steps = new ArrayList<>();
      for (Place place : places()) {
        if (rate < saturated.getOrDefault(place, Integer.MAX_VALUE)) {
          steps.add(() -> offered(place, rate));
        }
      }
      inTurn(steps.toArray(new Step[0]));
    }
  }

  private static String load(Place place, long reads) {
    return "-t readRandomAsync --touch false -s "
        + SIZE
        + " -b "
        + IN_FLIGHT
        + " -w "
        + WARM_UP
        + " -k "
        + reads
        + " -f "
        + place.file();
  }

  /** As many as it can, all in flight at once. */
  private void most(Place place) throws IOException, InterruptedException {
    String load = load(place, MOST_READS);
    String text = with.programs().run(cluster.iobench(load, false));
    samples.add(
        most(place.text),
        "/s",
        LabCluster.shown("iobench", load, false),
        Samples.number(text, "throughput"));
  }

  private void offered(Place place, int rate) throws IOException, InterruptedException {
    String load = load(place, (long) rate * SECONDS) + " --rate " + rate;
    String text = with.programs().run(cluster.iobench(load, false));
    if (isKept(text, rate)) {
      latency(name(place, rate), LabCluster.shown("iobench", load, false), text);
    } else {
      // The latencies are those of a queue that only grows.
      saturated.put(place, rate);
      with.say("    " + name(place, rate) + ": not kept");
    }
  }

  /** Whether iobench has kept a rate. */
  static boolean isKept(String text, int rate) {
    return Samples.number(text, "achieved") >= KEPT * rate && !text.contains("gave up");
  }

  private static String most(String place) {
    return "reads of 64 KiB, " + IN_FLIGHT + " in flight, " + place;
  }

  private static String name(Place place, int rate) {
    return String.format(Locale.ROOT, "read 64 KiB, %,d/s, %s", rate, place.text);
  }

  @Override
  protected void end() throws InterruptedException {
    if (cluster != null) {
      cluster.stop();
    }
  }

  @Override
  protected void compare() {
    for (Place place : places()) {
      if (place == Place.MEMORY) {
        continue;
      }
      goals.add(most(place.text), most(Place.MEMORY.text), "/s", 0);
      for (int rate : RATES) {
        for (String unit : List.of("us p50", "us p99")) {
          if (samples.has(name(place, rate), unit) && samples.has(name(Place.MEMORY, rate), unit)) {
            goals.add(name(place, rate), name(Place.MEMORY, rate), unit, 0);
          }
        }
      }
    }
    for (String percentile : List.of("p50", "p99")) {
      plot(
          new Plot(
              "tiers-" + percentile,
              "Reads of 64 KiB over the offered load",
              (percentile.equals("p50") ? "median" : "99 % of") + " latency [µs]",
              "us " + percentile,
              Plot.Axis.LOAD,
              places().stream().map(place -> series(place, "us " + percentile)).toList()));
    }
  }

  private Plot.Series series(Place place, String unit) {
    Map<String, String> points = new LinkedHashMap<>();
    for (int rate : RATES) {
      if (samples.has(name(place, rate), unit)) {
        points.put(String.valueOf(rate), name(place, rate));
      }
    }
    return new Plot.Series(place.text, points);
  }
}
