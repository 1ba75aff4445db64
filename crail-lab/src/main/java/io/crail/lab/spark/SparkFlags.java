/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.lab.spark;

import java.util.List;
import java.util.stream.Stream;

/** What Spark's own launcher gives to a JVM, and its programs fail without. */
public final class SparkFlags {
  /** Options that open packages of the JDK. */
  public static final List<String> OPENED =
      Stream.of(
              "java.lang",
              "java.lang.invoke",
              "java.lang.reflect",
              "java.io",
              "java.net",
              "java.nio",
              "java.util",
              "java.util.concurrent",
              "java.util.concurrent.atomic",
              "jdk.internal.ref",
              "sun.nio.ch",
              "sun.nio.cs",
              "sun.security.action",
              "sun.util.calendar")
          .map(name -> "--add-opens=java.base/" + name + "=ALL-UNNAMED")
          .toList();

  private SparkFlags() {}
}
