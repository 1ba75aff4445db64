/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.options;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.bench.BenchType;
import io.crail.bench.IoBench;
import io.crail.bench.record.OptionException;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class BenchOptionsTest {
  private static BenchOptions<BenchType> parse(String line) throws OptionException {
    return IoBench.SYNTAX.parse(line.split(" ")).orElseThrow();
  }

  @Test
  void defaultsAreCrails() throws OptionException {
    BenchOptions<BenchType> options = parse("-t write");
    assertEquals(BenchType.WRITE, options.type());
    assertEquals("/tmp.dat", options.path());
    assertEquals(0, options.size());
    assertEquals(1, options.loop());
    assertEquals(1, options.batch());
    assertEquals(0, options.storageClass());
    assertEquals(0, options.locationClass());
    assertEquals(32, options.warmUp());
    assertEquals(1, options.experiments());
    assertEquals(0, options.dropped());
    assertFalse(options.keepOpen());
    assertTrue(options.enumerable());
    assertTrue(options.buffered());
    assertTrue(options.touch());
  }

  @Test
  void everyLetterIsRead() throws OptionException {
    BenchOptions<BenchType> options =
        parse(
            "-t getkey -f /a/b -s 64k -k 7 -b 3 -c 1 -p -5 -w 0 -e 4 -o true -d true -m false -n 9"
                + " --drop 5 --seed -12 --touch FALSE");
    assertEquals(BenchType.GET_KEY, options.type());
    assertEquals("/a/b", options.path());
    assertEquals(65_536, options.size());
    assertEquals(7, options.loop());
    assertEquals(3, options.batch());
    assertEquals(1, options.storageClass());
    assertEquals(-5, options.locationClass());
    assertEquals(0, options.warmUp());
    assertEquals(4, options.experiments());
    assertEquals(5, options.dropped());
    assertTrue(options.keepOpen());
    assertFalse(options.enumerable());
    assertFalse(options.buffered());
    assertEquals(9, options.names());
    assertEquals(-12, options.seed());
    assertFalse(options.touch());
  }

  @Test
  void longNamesMeanTheSame() throws OptionException {
    assertEquals(
        parse(
            "-t write -f /x -s 1m -k 2 -b 3 -c 0 -p 0 -w 1 -e 2 -o true -d true -m true --seed 1"),
        parse(
            "--type write --file /x --size 1048576 --loop 2 --batch 3 --storage-class 0"
                + " --location-class 0 --warm-up 1 --experiments 2 --open true --skip-dir true"
                + " --buffered true --seed 1"));
  }

  @ParameterizedTest
  @EnumSource(BenchType.class)
  void everyTypeIsFoundInAnyLetterCaseAndItsExampleParses(BenchType type) throws OptionException {
    assertEquals(
        type,
        LoadType.find(List.of(BenchType.values()), type.label().toUpperCase(Locale.ROOT))
            .orElseThrow());
    assertEquals(
        type,
        LoadType.find(List.of(BenchType.values()), type.label().toLowerCase(Locale.ROOT))
            .orElseThrow());
    assertEquals(type, parse(type.text().example()).type());
    assertTrue(IoBench.help().contains("crail iobench " + type.text().example()));
  }

  @Test
  void helpIsNoBenchmark() throws OptionException {
    assertTrue(IoBench.SYNTAX.parse(new String[] {"--help"}).isEmpty());
    assertTrue(IoBench.SYNTAX.parse(new String[] {"-h"}).isEmpty());
  }

  @ParameterizedTest
  @CsvSource({
    "-k 3, -t",
    "-t wrote, wrote",
    "-t write -k many, -k many",
    "-t write -k 0, -k 0",
    "-t write -s 0, -s 0",
    "-t write -s 2g, -s 2g",
    "-t write -s 9223372036854775807k, -s 9223372036854775807k",
    "-t write -b 70000, -b 70000",
    "-t write --drop -1, --drop -1",
    "-t write --drop 1000001, --drop 1000001",
    "-t write -c -2, -c -2",
    "-t write -m maybe, -m maybe",
    "-t write --seed x, --seed x",
    "-t write -k, k",
    "-t write extra, extra",
    "-t write -f /a/../b, ..",
    "-t write -z 1, -z"
  })
  void badLinesNameWhatIsWrong(String line, String named) {
    OptionException thrown = assertThrows(OptionException.class, () -> parse(line));
    assertTrue(thrown.getMessage().contains(named), thrown.getMessage());
  }

  @Test
  void twoRunsWithoutASeedDiffer() throws OptionException {
    Set<Long> seeds = new HashSet<>();
    for (int i = 0; i < 10; i++) {
      seeds.add(parse("-t write").seed());
    }
    assertTrue(seeds.size() > 5, () -> "seeds " + seeds);
  }
}
