/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.lab.jmh;

import io.crail.CrailBuffer;
import io.crail.CrailFile;
import io.crail.CrailInputStream;
import io.crail.CrailLocationClass;
import io.crail.CrailNodeType;
import io.crail.CrailOutputStream;
import io.crail.CrailStorageClass;
import io.crail.CrailStore;
import io.crail.common.config.Configuration;
import io.crail.conf.CrailConfiguration;
import io.crail.embedded.EmbeddedCrail;
import io.crail.memory.OffHeapBuffer;
import java.nio.ByteBuffer;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/** One read or write of a direct stream at a time. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 3, time = 2)
@Measurement(iterations = 5, time = 2)
@Fork(1)
public class StreamBenchmark {
  private static final long FILE_BYTES = 64L << 20;

  /** Whether the client maps the datanode's memory or uses TCP. */
  @Param({"true", "false"})
  public boolean mapped;

  /** Bytes of an operation. */
  @Param({"4", "1024", "65536", "1048576"})
  public int size;

  private EmbeddedCrail cluster;
  private CrailStore store;
  private CrailBuffer buffer;
  private CrailInputStream input;
  private CrailOutputStream output;

  /** Starts a cluster, writes the file to read, and opens both streams. */
  @Setup
  public void open() throws Exception {
    cluster = EmbeddedCrail.builder().start();
    Configuration configuration =
        cluster.configuration().toBuilder()
            .set("crail.storage.localmap", String.valueOf(mapped), "the benchmark")
            .build();
    store = CrailStore.newInstance(CrailConfiguration.of(configuration));
    buffer = OffHeapBuffer.wrap(ByteBuffer.allocateDirect(size));
    CrailFile file = create("/read");
    CrailOutputStream writer = file.getDirectOutputStream(FILE_BYTES);
    CrailBuffer large = OffHeapBuffer.wrap(ByteBuffer.allocateDirect(1 << 20));
    while (writer.position() < FILE_BYTES) {
      writer.write(large.clear()).get();
    }
    writer.close();
    input = store.lookup("/read").get().asFile().getDirectInputStream(FILE_BYTES);
    output = create("/write").getDirectOutputStream(FILE_BYTES);
  }

  private CrailFile create(String path) throws Exception {
    return store
        .create(
            path,
            CrailNodeType.DATAFILE,
            CrailStorageClass.DEFAULT,
            CrailLocationClass.DEFAULT,
            true)
        .get()
        .asFile();
  }

  /** Closes everything. */
  @TearDown
  public void close() throws Exception {
    input.close();
    output.close();
    store.close();
    cluster.close();
  }

  /** Reads. At the end of the file it starts again. */
  @Benchmark
  public long read() throws Exception {
    if (input.position() + size > FILE_BYTES) {
      input.seek(0);
    }
    return input.read(buffer.clear()).get().getLen();
  }

  /** Appends. A full file is replaced, which is too rare to affect the figures. */
  @Benchmark
  public long write() throws Exception {
    if (output.position() + size > FILE_BYTES) {
      output.close();
      store.delete("/write", false).get();
      output = create("/write").getDirectOutputStream(FILE_BYTES);
    }
    return output.write(buffer.clear()).get().getLen();
  }
}
