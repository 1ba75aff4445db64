/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.hadoop;

import io.crail.bench.options.LoadType;

/** The types of measurement through Hadoop's interface. The names are Apache Crail's. */
enum HadoopType implements LoadType {
  WRITE_SEQUENTIAL_HEAP(
      "writeSequentialHeap",
      true,
      "writes -k arrays of -s bytes, one after the other, to a new file -f, which replaces an old"
          + " one",
      "-t writeSequentialHeap -s 1048576 -k 4096 -f /tmp.dat"),
  READ_SEQUENTIAL_HEAP(
      "readSequentialHeap",
      true,
      "reads -k arrays of -s bytes, one after the other, from the file -f, and starts again at its"
          + " end",
      "-t readSequentialHeap -s 1048576 -k 4096 -f hdfs://host:8020/tmp.dat"),
  READ_SEQUENTIAL_DIRECT(
      "readSequentialDirect",
      true,
      "as readSequentialHeap, into direct buffers",
      "-t readSequentialDirect -s 1048576 -k 4096 -f /tmp.dat"),
  READ_RANDOM_HEAP(
      "readRandomHeap",
      true,
      "reads -k arrays of -s bytes from positions that are random multiples of -s in the file -f",
      "-t readRandomHeap -s 4096 -k 100000 -f /tmp.dat"),
  READ_RANDOM_DIRECT(
      "readRandomDirect",
      true,
      "as readRandomHeap, into direct buffers",
      "-t readRandomDirect -s 4096 -k 100000 -f /tmp.dat"),
  CREATE_FILE(
      "createFile",
      false,
      "creates and closes -k files, one after the other, in the directory -f, and deletes them"
          + " afterwards (not counted)",
      "-t createFile -k 10000 -f /bench"),
  KEY_GET(
      "keyGet",
      true,
      "opens the file -f, reads -s bytes and closes it, -k times",
      "-t keyGet -s 1024 -k 10000 -f /small.dat"),
  GET_FILE(
      "getFile",
      false,
      "asks for the status of the file -f, -k times",
      "-t getFile -k 100000 -f /tmp.dat"),
  GET_MULTI_FILE(
      "getMultiFile",
      false,
      "asks for the status of files, chosen at random from -n files in the directory -f, -k times;"
          + " missing files are created first (not counted) and kept",
      "-t getMultiFile -f /names -n 10000 -k 100000"),
  ENUMERATE_DIR(
      "enumerateDir",
      false,
      "lists the directory -f, -k times, from its first file to its last; of -n files there those"
          + " that are missing are created first (not counted) and stay",
      "-t enumerateDir -n 1000 -k 100 -f /names"),
  BROWSE_DIR(
      "browseDir",
      false,
      "lists the directory -f as enumerateDir does, as often as needed, and asks for the status of"
          + " -k files of the listing, one after the other",
      "-t browseDir -n 1000 -k 10000 -f /names");

  private final Text text;

  HadoopType(String label, boolean usesSize, String explanation, String example) {
    this.text = new Text(label, usesSize, explanation, example);
  }

  @Override
  public Text text() {
    return text;
  }
}
