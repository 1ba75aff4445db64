/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.run;

import io.crail.bench.record.Figures;
import java.io.IOException;

/** Says to a process that measures together with others when its next step may begin. */
public interface Cues {
  /** A step. */
  enum Cue {
    /** Open the store, and prepare the workers. */
    PREPARE,
    /** Let the workers open their files. */
    RUN,
    /** Begin. */
    GO,
    /** Remove the created nodes, and close. */
    CLOSE,
    /** All is done. */
    END
  }

  /** The cues for a single process. */
  Cues ALONE =
      new Cues() {
        @Override
        public void await(Cue cue) {}

        @Override
        public void report(Figures figures) {}
      };

  /**
   * Waits until a step may begin.
   *
   * @throws IOException when the step will never begin
   */
  void await(Cue cue) throws IOException, InterruptedException;

  /** Reports figures, as soon as they are there. */
  void report(Figures figures) throws IOException;
}
