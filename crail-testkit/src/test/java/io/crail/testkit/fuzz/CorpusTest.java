/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.fuzz;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import java.io.IOException;
import java.net.URISyntaxException;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestFactory;

/**
 * All targets without the fuzzer. The inputs are the corpus, which has former findings and inputs
 * that reach new code; the seeds; and for a moment random changes of both. {@code -Dcrail.seed=}
 * repeats the first of the changes. {@code ci/fuzz} runs the targets with the fuzzer.
 */
@Tag("once")
class CorpusTest {
  private static final Duration LONGEST_INPUT = Duration.ofSeconds(60);
  private static final long CHANGES_NANOS = 300_000_000L;

  @TestFactory
  Stream<DynamicTest> everyTargetTakesItsCorpus() {
    return Arrays.stream(Targets.values())
        .map(each -> DynamicTest.dynamicTest(each.label(), () -> check(each)));
  }

  private static void check(Targets each) throws Exception {
    Map<String, byte[]> inputs = corpus(each);
    assertFalse(inputs.isEmpty(), "no corpus");
    try (Target target = each.open()) {
      int number = 0;
      for (byte[] seed : target.seeds()) {
        inputs.put("seed " + number++, seed);
      }
      for (Map.Entry<String, byte[]> input : inputs.entrySet()) {
        run(target, input.getKey(), input.getValue());
      }
      change(target, List.copyOf(inputs.values()));
    }
  }

  private static void change(Target target, List<byte[]> inputs) throws Exception {
    long seed = Long.getLong("crail.seed", System.nanoTime());
    Random random = new Random(seed);
    System.out.println("-Dcrail.seed=" + seed);
    long began = System.nanoTime();
    while (System.nanoTime() - began < CHANGES_NANOS) {
      byte[] input = inputs.get(random.nextInt(inputs.size())).clone();
      for (int i = random.nextInt(4); i >= 0 && input.length > 0; i--) {
        input[random.nextInt(input.length)] = (byte) random.nextInt();
      }
      int length = random.nextInt(4) > 0 ? input.length : random.nextInt(2 * input.length + 1);
      run(target, "-Dcrail.seed=" + seed, Arrays.copyOf(input, length));
    }
  }

  private static void run(Target target, String name, byte[] input) {
    try {
      assertTimeoutPreemptively(LONGEST_INPUT, () -> target.run(input));
    } catch (AssertionError | RuntimeException e) {
      throw new AssertionError(name + ": " + HexFormat.of().formatHex(input), e);
    }
  }

  private static Map<String, byte[]> corpus(Targets each) throws IOException, URISyntaxException {
    Map<String, byte[]> inputs = new TreeMap<>();
    URL place = CorpusTest.class.getResource(each.label());
    if (place != null) {
      try (Stream<Path> files = Files.list(Path.of(place.toURI()))) {
        for (Path file : files.toList()) {
          inputs.put(file.getFileName().toString(), Files.readAllBytes(file));
        }
      }
    }
    return inputs;
  }
}
