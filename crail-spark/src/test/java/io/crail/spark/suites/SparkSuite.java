/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.suites;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.scalatest.Args;
import org.scalatest.DynaTags;
import org.scalatest.Filter;
import org.scalatest.Reporter;
import org.scalatest.Suite;
import org.scalatest.events.Event;
import org.scalatest.events.TestCanceled;
import org.scalatest.events.TestFailed;
import org.scalatest.events.TestIgnored;
import org.scalatest.events.TestPending;
import org.scalatest.events.TestSucceeded;
import scala.Option;
import scala.collection.immutable.Map.Map1;
import scala.collection.immutable.Set.Set1;
import scala.jdk.javaapi.CollectionConverters;

/**
 * One of Spark's own suites of tests.
 *
 * @param name the name of its class
 * @param leftOut its tests that are not run, each with the reason
 */
record SparkSuite(String name, Map<String, String> leftOut) {
  private static final String MARK = "marked";

  /** A suite of which nothing is left out. */
  SparkSuite(String name) {
    this(name, Map.of());
  }

  /** {@return the suite without more of its tests} */
  SparkSuite without(String reason, String... tests) {
    Map<String, String> more = new HashMap<>(leftOut);
    for (String test : tests) {
      more.put(test, reason);
    }
    return new SparkSuite(name, Map.copyOf(more));
  }

  /** Runs it in this thread, and prints what came of its tests. */
  void run() throws Exception {
    run(leftOut.keySet(), false);
  }

  /** {@return the names of its tests without those that are left out, sorted} */
  List<String> tests() throws Exception {
    return CollectionConverters.asJava(create().testNames()).stream()
        .filter(test -> !leftOut.containsKey(test))
        .sorted()
        .toList();
  }

  private Suite create() throws ReflectiveOperationException {
    return (Suite) Class.forName(name).getConstructor().newInstance();
  }

  /** Runs some of its tests. */
  void run(String... tests) throws Exception {
    run(Set.of(tests), true);
  }

  private void run(Set<String> marked, boolean only) throws Exception {
    Suite suite = create();
    Set<String> unknown = new HashSet<>(marked);
    unknown.removeAll(CollectionConverters.asJava(suite.testNames()));
    assertEquals(Set.of(), unknown, "not in the suite");
    Set1<String> mark = new Set1<>(MARK);
    Map<String, scala.collection.immutable.Set<String>> marks = new HashMap<>();
    marked.forEach(test -> marks.put(test, mark));
    DynaTags tags =
        new DynaTags(
            scala.collection.immutable.Map$.MODULE$.empty(),
            new Map1<>(
                suite.suiteId(),
                scala.collection.immutable.Map$.MODULE$.from(CollectionConverters.asScala(marks))));
    Filter filter =
        new Filter(
            only ? Option.apply(mark) : Option.empty(),
            only ? scala.collection.immutable.Set$.MODULE$.empty() : mark,
            false,
            tags);
    Outcomes outcomes = new Outcomes();
    Args args =
        new Args(
            outcomes,
            Args.apply$default$2(),
            filter,
            Args.apply$default$4(),
            Args.apply$default$5(),
            Args.apply$default$6(),
            Args.apply$default$7(),
            Args.apply$default$8(),
            Args.apply$default$9(),
            Args.apply$default$10());
    long began = System.nanoTime();
    boolean succeeds = suite.run(Option.empty(), args).succeeds();
    System.out.printf(
        "%s: %d passed, %d failed, %d left out, %d skipped by Spark, %d s%n",
        suite.suiteName(),
        outcomes.passed,
        outcomes.failed.size(),
        only ? suite.testNames().size() - marked.size() : marked.size(),
        outcomes.skipped,
        (System.nanoTime() - began) / 1_000_000_000);
    assertEquals(List.of(), outcomes.failed, name);
    assertTrue(succeeds && outcomes.passed > 0, name);
  }

  /** What came of the tests. The suite reports it from one thread. */
  private static final class Outcomes implements Reporter {
    private final List<String> failed = new ArrayList<>();
    private int passed;
    private int skipped;

    @Override
    public void apply(Event event) {
      if (event instanceof TestSucceeded test) {
        passed++;
        print("passed", test.testName(), test.duration());
      } else if (event instanceof TestFailed test) {
        failed.add(test.testName());
        print("FAILED", test.testName(), test.duration());
        System.out.println(test.message());
        if (test.throwable().isDefined()) {
          test.throwable().get().printStackTrace(System.out);
        }
      } else if (event instanceof TestCanceled test) {
        skipped++;
        System.out.println("canceled: " + test.testName() + ": " + test.message());
      } else if (event instanceof TestIgnored || event instanceof TestPending) {
        skipped++;
      }
    }

    private static void print(String outcome, String test, Option<Object> millis) {
      System.out.println(
          outcome + ": " + test + ", ms " + (millis.isDefined() ? millis.get() : "?"));
    }
  }

  @Override
  public String toString() {
    return name.substring(name.lastIndexOf('.') + 1);
  }
}
