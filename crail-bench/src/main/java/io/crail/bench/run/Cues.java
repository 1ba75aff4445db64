/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.run;

import io.crail.bench.record.Figures;
import java.io.IOException;

/** Tells a process that measures with others when its next step may begin. */
public interface Cues {
  /** A step. */
  enum Cue {
    /** Open, and make the workers ready. */
    PREPARE,
    /** Let the workers open what they measure. */
    RUN,
    /** Begin. */
    GO,
    /** Remove what was made, and close. */
    CLOSE,
    /** There is nothing more to do. */
    END
  }

  /** Those of a process that is alone. */
  Cues ALONE =
      new Cues() {
        @Override
        public void await(Cue cue) {}

        @Override
        public void tell(Figures figures) {}
      };

  /**
   * Waits until a step may begin.
   *
   * @throws IOException when it never will
   */
  void await(Cue cue) throws IOException, InterruptedException;

  /** Tells what was measured, as soon as it was. */
  void tell(Figures figures) throws IOException;
}
