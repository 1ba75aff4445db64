/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.application;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailStore;
import io.crail.conf.CrailConfiguration;
import io.crail.embedded.EmbeddedCrail;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.core.LogEvent;
import org.apache.logging.log4j.core.Logger;
import org.apache.logging.log4j.core.appender.AbstractAppender;
import org.apache.logging.log4j.core.config.Property;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class ApplicationLeaseTest {
  private final CountDownLatch begun = new CountDownLatch(2);
  private final Lines lines = new Lines();
  private final Logger log = (Logger) LogManager.getLogger(ApplicationLease.class);

  private static final class Lines extends AbstractAppender {
    private final List<String> logged = new CopyOnWriteArrayList<>();

    Lines() {
      super("lines", null, null, false, Property.EMPTY_ARRAY);
      start();
    }

    @Override
    public void append(LogEvent event) {
      logged.add(event.getMessage().getFormattedMessage());
    }
  }

  @BeforeEach
  void listen() {
    log.addAppender(lines);
  }

  @AfterEach
  void endListening() {
    log.removeAppender(lines);
  }

  /** Runs a step until it has begun twice, and ends it then. */
  private void run(ApplicationLease.Step step) throws Exception {
    try (EmbeddedCrail cluster = EmbeddedCrail.builder().start();
        CrailStore store = CrailStore.newInstance(CrailConfiguration.of(cluster.configuration()));
        ApplicationLease lease =
            new ApplicationLease(
                store,
                List.of("/a"),
                Duration.ofMillis(100),
                Optional.of(
                    () -> {
                      begun.countDown();
                      step.run();
                    }))) {
      assertTrue(begun.await(60, TimeUnit.SECONDS));
    }
  }

  /** As the iterators of the store do. */
  private void failWhenInterrupted() {
    if (begun.getCount() == 0) {
      try {
        new CountDownLatch(1).await();
      } catch (InterruptedException e) {
        throw new UncheckedIOException(new IOException("interrupted", e));
      }
    }
  }

  @Test
  void aStepThatTheEndInterruptsIsNoFailure() throws Exception {
    run(this::failWhenInterrupted);
    assertEquals(List.of(), lines.logged);
  }

  /** Else the lease would run out, and another application delete all of this one's data. */
  @Test
  void aStepThatEndsByAnErrorIsRepeated() throws Exception {
    run(
        () -> {
          throw new OutOfMemoryError("of the test");
        });
    assertEquals(List.of("cannot clean up beside /a; trying again"), lines.logged);
  }

  @Test
  void theFirstOfSeveralFailuresIsLogged() throws Exception {
    run(
        () -> {
          throw new IOException("the test");
        });
    assertEquals(List.of("cannot clean up beside /a; trying again"), lines.logged);
  }
}
