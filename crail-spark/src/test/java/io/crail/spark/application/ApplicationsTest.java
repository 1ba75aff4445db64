/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.application;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailAttributeChanges;
import io.crail.CrailBufferedOutputStream;
import io.crail.CrailLocationClass;
import io.crail.CrailNode;
import io.crail.CrailNodeType;
import io.crail.CrailStorageClass;
import io.crail.CrailStore;
import io.crail.conf.CrailConfiguration;
import io.crail.embedded.EmbeddedCrail;
import io.crail.spark.application.Applications.Application;
import io.crail.spark.application.Applications.Held;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class ApplicationsTest {
  private static final Duration LEASE = Duration.ofSeconds(1);
  private static final Instant BEGAN = Instant.parse("2026-11-26T10:20:30Z");

  private EmbeddedCrail cluster;
  private CrailStore store;
  private Applications applications;

  @BeforeEach
  void start() throws Exception {
    cluster = EmbeddedCrail.builder().namenodes(2).start();
    store = CrailStore.newInstance(CrailConfiguration.of(cluster.configuration()));
    applications = new Applications(store);
  }

  @AfterEach
  void stop() throws Exception {
    store.close();
    cluster.close();
  }

  private CrailNode create(String path, CrailNodeType type) throws Exception {
    return store
        .create(path, type, CrailStorageClass.DEFAULT, CrailLocationClass.DEFAULT, true)
        .get();
  }

  private void write(String path, int bytes) throws Exception {
    try (CrailBufferedOutputStream out =
        create(path, CrailNodeType.DATAFILE).asFile().getBufferedOutputStream(0)) {
      out.write(new byte[bytes]);
    }
  }

  /** An application with two map outputs and a broadcast value, that was renewed long ago. */
  private String make(String name) throws Exception {
    String id = Roots.application(name, BEGAN, new byte[] {1, 2});
    List<String> roots = Roots.of(id, LEASE, 2);
    for (String root : roots) {
      create(root, CrailNodeType.DIRECTORY);
      store.setAttributes(root, CrailAttributeChanges.ofTimes(null, 1L)).get();
    }
    for (int i = 0; i < 2; i++) {
      create(roots.get(i) + "/shuffle-1", CrailNodeType.DIRECTORY);
      write(roots.get(i) + "/shuffle-1/" + i, 100 + i);
    }
    create(roots.get(5) + "/broadcast", CrailNodeType.DIRECTORY);
    write(roots.get(5) + "/broadcast/7", 1000);
    return id;
  }

  @Test
  void allRootsOfAnApplicationCount() throws Exception {
    create("/spark-of-somebody", CrailNodeType.DIRECTORY);
    String second = make("B & b");
    String first = make("a");
    List<Application> found = applications.list().applications();
    assertEquals(List.of(first, second), found.stream().map(Application::id).toList());
    assertEquals("b-b-20261126-102030-0102", second);
    Application application = found.get(1);
    assertEquals(Optional.of(BEGAN), application.began());
    assertEquals(LEASE, application.lease());
    assertEquals(new Held(2, 201), application.shuffle());
    assertEquals(new Held(1, 1000), application.broadcast());
    assertEquals(8, application.roots().size());
    assertTrue(application.expired(Instant.now()));
    assertEquals(List.of(), applications.list().missing());
  }

  @Test
  void aNameWithoutATimeIsTaken() {
    assertEquals(Optional.empty(), Roots.began("old-0011223344556677"));
    assertEquals(Optional.empty(), Roots.began("bad-20269926-102030-00"));
  }

  @Test
  void oneOfTwoThatLookDeadLives() throws Exception {
    make("dead");
    make("alive");
    List<Application> found = applications.list().applications();
    Thread renewer =
        new Thread(
            () -> {
              try {
                // The clock of the process that renews is years behind.
                for (long time = 2; !Thread.interrupted(); time++) {
                  store
                      .setAttributes(
                          found.get(0).roots().get(3), CrailAttributeChanges.ofTimes(null, time))
                      .get();
                  Thread.sleep(100);
                }
              } catch (InterruptedException e) {
                // Told to end.
              } catch (Exception e) {
                throw new IllegalStateException(e);
              }
            });
    renewer.start();
    try {
      assertEquals(List.of(found.get(1)), applications.endUnlessRenewed(found));
    } finally {
      renewer.interrupt();
      renewer.join();
    }
    assertEquals(1, applications.list().applications().size());
    assertNotNull(store.lookup(found.get(0).roots().get(0)).get());
  }

  @Test
  void aLivingOneEndsWhenSomebodyWantsIt() throws Exception {
    make("a");
    String other = make("b");
    Application application = applications.list().applications().get(0);
    for (String root : application.roots()) {
      store
          .setAttributes(
              root, CrailAttributeChanges.ofTimes(null, System.currentTimeMillis() + 60_000))
          .get();
    }
    application = applications.list().applications().get(0);
    assertFalse(application.expired(Instant.now()));
    applications.end(application);
    assertEquals(
        List.of(other), applications.list().applications().stream().map(Application::id).toList());
    applications.end(application);
  }
}
