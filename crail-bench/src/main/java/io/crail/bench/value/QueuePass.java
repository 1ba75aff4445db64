/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.value;

import io.crail.bench.record.BenchException;
import io.crail.bench.record.Recorder;
import io.crail.bench.record.Workload;
import io.crail.bench.run.BenchRun;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * Passes objects through a concurrent queue of the JVM, without a cluster: the time that every
 * other type would take if the store took none.
 */
public final class QueuePass implements Workload {
  private final BenchRun run;

  /** Creates the workload. */
  public QueuePass(BenchRun run) {
    this.run = run;
  }

  @Override
  public void prepare() throws Exception {
    if (run.options().warmUp() > 0) {
      run(run.options().warmUp(), new Recorder(System::nanoTime));
    }
  }

  @Override
  public void run(long operations, Recorder recorder) throws Exception {
    int depth = run.options().batch();
    Queue<Object> queue = new ConcurrentLinkedQueue<>();
    Queue<Object> expected = new ArrayDeque<>(depth);
    for (int i = 0; i < depth; i++) {
      Object object = new Object();
      queue.add(object);
      expected.add(object);
    }
    long issued = recorder.begin();
    for (long i = 0; i < operations; i++) {
      Object first = queue.poll();
      if (first != expected.poll()) {
        throw new BenchException("the queue has another order than what was put in");
      }
      queue.add(first);
      expected.add(first);
      long completed = recorder.now();
      recorder.operation(issued, completed, 0);
      issued = completed;
    }
    recorder.end();
  }
}
