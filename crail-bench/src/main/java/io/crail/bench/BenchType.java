/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench;

import io.crail.bench.meta.ContainerListing;
import io.crail.bench.meta.CreateFiles;
import io.crail.bench.meta.CreateMultiFiles;
import io.crail.bench.meta.EarlyWrite;
import io.crail.bench.meta.FileLookup;
import io.crail.bench.meta.LocationPrint;
import io.crail.bench.options.LoadType;
import io.crail.bench.record.Workload;
import io.crail.bench.run.BenchRun;
import io.crail.bench.stream.IntRead;
import io.crail.bench.stream.IntWrite;
import io.crail.bench.stream.MultiStreamIntRead;
import io.crail.bench.stream.MultiStreamRead;
import io.crail.bench.stream.StreamRead;
import io.crail.bench.stream.StreamWrite;
import io.crail.bench.value.KeyRead;
import io.crail.bench.value.KeyValueAppend;
import io.crail.bench.value.KeyValueGet;
import io.crail.bench.value.KeyValuePut;
import io.crail.bench.value.QueuePass;

/** The types of measurement of iobench. The names are Apache Crail's. */
public enum BenchType implements LoadType {
  WRITE(
      "write",
      true,
      "writes -k buffers of -s bytes, one after the other, to a new file -f, which replaces an old"
          + " one; -m false uses a direct stream",
      "-t write -s 1m -k 256 -f /tmp.dat",
      StreamWrite::sequential),
  WRITE_ASYNC(
      "writeAsync",
      true,
      "as write, with a direct stream and -b writes in flight",
      "-t writeAsync -s 64k -k 4096 -b 16 -f /tmp.dat",
      StreamWrite::sequentialAsync),
  READ_SEQUENTIAL(
      "readSequential",
      true,
      "reads -k buffers of -s bytes, one after the other, from the file -f, and starts again at its"
          + " end; -m false uses a direct stream",
      "-t readSequential -s 1m -k 256 -f /tmp.dat",
      StreamRead::sequential),
  READ_SEQUENTIAL_ASYNC(
      "readSequentialAsync",
      true,
      "as readSequential, with a direct stream and -b reads in flight",
      "-t readSequentialAsync -s 64k -k 4096 -b 16 -f /tmp.dat",
      StreamRead::sequentialAsync),
  READ_RANDOM(
      "readRandom",
      true,
      "reads -k buffers of -s bytes from random multiples of -s in the file -f",
      "-t readRandom -s 4096 -k 1000000 -m false -f /tmp.dat",
      StreamRead::random),
  READ_RANDOM_ASYNC(
      "readRandomAsync",
      true,
      "as readRandom, with a direct stream and -b reads in flight",
      "-t readRandomAsync -s 4096 -k 1000000 -b 32 -f /tmp.dat",
      StreamRead::randomAsync),
  READ_MULTI_STREAM(
      "readMultiStream",
      true,
      "reads all files of the multi-file -f as one stream, in buffers of -s bytes, with -b reads in"
          + " flight, -k times from beginning to end",
      "-t readMultiStream -s 1048576 -k 10 -b 4 -f /multi",
      MultiStreamRead::new),
  CREATE_FILE(
      "createFile",
      false,
      "creates -k files, one after the other, in the directory -f, and deletes them afterwards"
          + " (not counted)",
      "-t createFile -k 100000 -f /bench",
      CreateFiles::sequential),
  CREATE_FILE_ASYNC(
      "createFileAsync",
      false,
      "as createFile, with -b creates in flight",
      "-t createFileAsync -k 1000000 -b 64 -f /bench",
      CreateFiles::sequentialAsync),
  CREATE_MULTI_FILE(
      "createMultiFile",
      false,
      "creates the multi-file -f, which is kept, and -k minus 1 more beside it, which are deleted"
          + " (not counted)",
      "-t createMultiFile -f /multi",
      CreateMultiFiles::new),
  GET_KEY(
      "getKey",
      true,
      "looks up the file -f, opens it, reads -s bytes and closes it, -k times",
      "-t getKey -s 1024 -k 100000 -f /small.dat",
      KeyRead::new),
  PUT_KEY_VALUE(
      "putKeyValue",
      true,
      "puts -k values of -s bytes into the table -f, under -n keys in turn, with -b puts in flight",
      "-t putKeyValue -s 1024 -n 10000 -k 100000 -b 16 -f /table",
      KeyValuePut::new),
  GET_KEY_VALUE(
      "getKeyValue",
      true,
      "gets -k values of -s bytes from the table -f, chosen at random from -n keys, with -b gets in"
          + " flight; missing values are put first (not counted) and kept",
      "-t getKeyValue -s 1024 -n 10000 -k 1000000 -b 128 -f /table",
      KeyValueGet::new),
  APPEND_KEY_VALUE(
      "appendKeyValue",
      true,
      "appends -k times -s bytes to one key of the table -f, with -b appends in flight; all workers"
          + " append to the same key, and each fourth time they replace its bytes",
      "-t appendKeyValue -s 4096 -k 100000 -b 16 -f /table",
      KeyValueAppend::plain),
  APPEND_GUARDED(
      "appendGuarded",
      true,
      "as appendKeyValue, where each append is guarded by the epoch of the key",
      "-t appendGuarded -s 4096 -k 100000 -b 16 -f /table",
      KeyValueAppend::guarded),
  GET_FILE(
      "getFile",
      false,
      "looks up the file -f, -k times, one lookup at a time",
      "-t getFile -k 1000000 -f /tmp.dat",
      FileLookup::ofOne),
  GET_FILE_ASYNC(
      "getFileAsync",
      false,
      "looks up the file -f, -k times in all, with -b lookups in flight",
      "-t getFileAsync -k 10000000 -b 128 -f /tmp.dat",
      FileLookup::ofOneAsync),
  GET_MULTI_FILE(
      "getMultiFile",
      false,
      "looks up files, chosen at random from -n files in the directory -f, -k times, one lookup at"
          + " a time; missing files are created first (not counted) and kept",
      "-t getMultiFile -f /names -n 1000000 -k 1000000",
      FileLookup::ofMany),
  GET_MULTI_FILE_ASYNC(
      "getMultiFileAsync",
      false,
      "as getMultiFile, -k times in all, with -b lookups in flight",
      "-t getMultiFileAsync -f / -n 1000000 -k 10000000 -b 128",
      FileLookup::ofManyAsync),
  ENUMERATE_DIR(
      "enumerateDir",
      false,
      "lists the names in the directory, multi-file or table -f, -k times -b times",
      "-t enumerateDir -k 100 -f /names",
      ContainerListing::names),
  BROWSE_DIR(
      "browseDir",
      false,
      "as enumerateDir, with type and size of each entry; the listing is printed once before",
      "-t browseDir -f /multi",
      ContainerListing::entries),
  EARLY(
      "early",
      true,
      "creates the file -f, which replaces an old one, writes -s bytes to it through the handle"
          + " that is there before the create is answered, and closes it, -k times",
      "-t early -s 1024 -k 10000 -f /early.dat",
      EarlyWrite::new),
  WRITE_INT(
      "writeInt",
      false,
      "writes -k ints, 0, 1, 2 and so on, one after the other, to a new file -f, which replaces an"
          + " old one",
      "-t writeInt -k 1000000 -f /ints.dat",
      IntWrite::new),
  READ_INT(
      "readInt",
      false,
      "reads -k ints, one after the other, from the file -f of writeInt, starts again at its end,"
          + " and fails if one is wrong",
      "-t readInt -k 1000000 -f /ints.dat",
      IntRead::sequential),
  SEEK_INT(
      "seekInt",
      false,
      "as readInt, from random positions",
      "-t seekInt -k 1000000 -f /ints.dat",
      IntRead::random),
  READ_MULTI_STREAM_INT(
      "readMultiStreamInt",
      false,
      "reads -k ints from the stream over the multi-file -f, whose files writeInt has written,"
          + " with -b reads in flight, starts again at its end, and fails if one is wrong",
      "-t readMultiStreamInt -k 1000000 -b 4 -f /multi",
      MultiStreamIntRead::new),
  COLLECTION(
      "collection",
      false,
      "passes -k objects through a queue of this process that holds -b of them: the time of a type"
          + " if the store took none",
      "-t collection -k 10000000 -b 128",
      QueuePass::new),
  LOCATION_MAP(
      "locationMap",
      false,
      "prints the block locations of the file -f, with the host names of crail.locationmap;"
          + " measures nothing",
      "-t locationMap -f /tmp.dat",
      LocationPrint::ofFile),
  PRINT_LOCATION_CLASS(
      "printLocationClass",
      false,
      "prints the location class of this host, a number for -p; measures nothing",
      "-t printLocationClass",
      LocationPrint::ofHost);

  /** Makes the workload of a type. */
  interface Factory {
    /** Makes a workload that has not yet touched the cluster. */
    Workload create(BenchRun run);
  }

  private final Text text;
  private final Factory factory;

  BenchType(String label, boolean usesSize, String explanation, String example, Factory factory) {
    this.text = new Text(label, usesSize, explanation, example);
    this.factory = factory;
  }

  @Override
  public Text text() {
    return text;
  }

  @Override
  public boolean measures() {
    return this != PRINT_LOCATION_CLASS && this != LOCATION_MAP;
  }

  /** Makes the workload of this type. */
  Workload workload(BenchRun run) {
    return factory.create(run);
  }
}
