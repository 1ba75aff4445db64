/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.system;

import io.crail.bench.IoBench;
import io.crail.bench.options.LoadType;
import java.util.List;
import java.util.stream.Stream;

/**
 * Every type of load of {@code iobench}, in an order in which each load finds the data that it
 * needs.
 */
final class IobenchLoads {
  private static final String SMALL = " -s 65536 -k 64 -w 4 -f /bench.dat";
  private static final String VALUES = " -s 65536 -n 10 -k 100 -b 8 -w 4 -f /bench-values";

  /** The loads. */
  static final List<Load> ALL =
      Stream.of(
              "write" + SMALL,
              "writeAsync -b 8" + SMALL,
              "readSequential" + SMALL,
              "readSequentialAsync -b 8" + SMALL,
              "readRandom -m false" + SMALL,
              "readRandomAsync -b 8" + SMALL,
              "getKey -s 1000 -k 100 -w 4 -f /bench.dat",
              "getFile -k 500 -f /bench.dat",
              "getFileAsync -b 128 -k 2000 -f /bench.dat",
              "createFile -k 200 -f /bench-created",
              "createFileAsync -b 16 -k 200 -f /bench-async",
              "createMultiFile -f /bench-bag",
              "writeInt -k 3000 -f /bench-bag/part",
              "readMultiStream -s 1000 -k 3 -b 2 -f /bench-bag",
              "readMultiStreamInt -k 3000 -b 3 -f /bench-bag",
              "putKeyValue" + VALUES,
              "getKeyValue" + VALUES,
              "appendKeyValue -s 4096 -k 100 -b 8 -w 4 -f /bench-values",
              "appendGuarded -s 4096 -k 100 -b 8 -w 4 -f /bench-values",
              "getMultiFileAsync -b 128 -n 500 -k 2000 -f /bench-names",
              "getMultiFile -n 500 -k 200 -f /bench-names",
              "enumerateDir -k 7 -f /bench-names",
              "browseDir -k 2 -f /bench-names",
              "early -s 1000 -k 20 -w 3 -f /bench-early",
              "writeInt -k 3000 -f /bench-ints",
              "readInt -k 3000 -f /bench-ints",
              "seekInt -k 500 -f /bench-ints",
              "collection -b 16 -k 2000",
              "locationMap -f /bench.dat",
              "printLocationClass")
          .map(Load::new)
          .toList();

  /**
   * A run.
   *
   * @param arguments the arguments after {@code -t}
   */
  record Load(String arguments) {
    /** The name of its type. */
    String type() {
      return arguments.split(" ")[0];
    }

    /** A word that it prints when all is well. */
    String expected() {
      if (LoadType.find(IoBench.types(), type()).orElseThrow().measures()) {
        return "throughput";
      }
      return type().equals("locationMap") ? " hosts " : "locationClass ";
    }

    @Override
    public String toString() {
      return arguments;
    }
  }

  private IobenchLoads() {}
}
