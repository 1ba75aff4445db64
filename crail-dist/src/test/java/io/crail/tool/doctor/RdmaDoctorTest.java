/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.doctor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.config.Configuration;
import io.crail.storage.PlannedDatanode;
import io.crail.storage.StorageTier;
import io.crail.tool.report.Finding;
import io.crail.tool.report.Finding.Grade;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests what the doctor says of a host that has RDMA devices. */
@Tag("rdma")
class RdmaDoctorTest {
  private static Finding ofDatanode(String networkInterface) {
    Configuration configuration =
        Configuration.builder()
            .set("crail.storage.types", "rdma", "the test")
            .set("crail.storage.rdma.storagelimit", "1m", "the test")
            .build();
    PlannedDatanode datanode =
        StorageTier.find("rdma").plan(configuration, List.of("-i", networkInterface));
    List<Finding> findings =
        new HostChecks(new HostFiles(Path.of("/")), configuration, List.of(datanode))
            .run().stream().filter(each -> each.text().contains("tier rdma")).toList();
    assertEquals(1, findings.size(), findings::toString);
    return findings.get(0);
  }

  @Test
  void theDeviceOfADatanodeIsLookedFor() {
    String server = System.getProperty("crail.test.rdma.server", "10.9.0.2");
    Finding good = ofDatanode(server);
    assertEquals(Grade.OK, good.grade(), good::toString);
    assertTrue(good.text().endsWith(" at " + server), good::toString);
    // No device has it.
    Finding bad = ofDatanode("127.0.0.1");
    assertEquals(Grade.WARNING, bad.grade(), bad::toString);
    assertTrue(bad.text().contains(server), bad::toString);
    assertTrue(bad.cure().contains("crail.storage.rdma.interface"), bad::toString);
  }
}
