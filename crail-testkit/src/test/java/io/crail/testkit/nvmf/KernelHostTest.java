/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.nvmf;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.testkit.rdma.OtherPrograms;
import io.crail.testkit.rdma.RdmaHost;
import io.crail.testkit.rdma.TwoHosts;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Lets the host of the machine's kernel judge the target of these tests. */
@Tag("rdma")
@TwoHosts
class KernelHostTest {
  private static final int BYTES = 1 << 20;

  @ParameterizedTest
  @ValueSource(strings = {"", "-g -G"})
  void readsAndWritesTheTarget(String digests, @TempDir Path directory) throws Exception {
    TargetNamespace small = new TargetNamespace(1, 8192, 512);
    TargetNamespace large = new TargetNamespace(2, 1024, 4096);
    byte[] content = new byte[BYTES];
    new Random(7).nextBytes(content);
    Path file = Files.write(directory.resolve("content"), content);
    large.write(BYTES, content);
    TargetOptions options = new TargetOptions();
    if (!digests.isEmpty()) {
      options.splitReads().splitWrites();
    }
    try (NvmeTarget target =
        new NvmeTarget(InetAddress.getByName(RdmaHost.SERVER), options, small, large)) {
      String script =
          """
          set -euo pipefail
          PATH=$PATH:/usr/sbin:/sbin
          nvme connect -t tcp -a %1$s -s %2$d -n %3$s -w %4$s -i 1 %5$s
          trap 'nvme disconnect -n %3$s' EXIT
          # Newer kernels number disks as they find them. nvme0c0n1 is a path to nvme0n1.
          disk() {
            local name
            for name in $(cd /sys/block && compgen -G 'nvme*n*'); do
              [[ $name == *c* ]] || [ "$(cat "/sys/block/$name/nsid")" != "$1" ] || echo "/dev/$name"
            done
          }
          end=$((SECONDS + 60))
          until [ -b "$(disk 1)" ] && [ -b "$(disk 2)" ]; do
            [ "$SECONDS" -lt "$end" ]
            sleep 0.1
          done
          dd if=%6$s of="$(disk 1)" bs=64K oflag=direct status=none
          dd if="$(disk 2)" bs=64K skip=16 count=16 iflag=direct status=none | cmp - %6$s
          # Writes many at a time, and then reads and checks what it wrote.
          fio --name=verified --filename="$(disk 2)" --size=2m --direct=1 --ioengine=libaio \
            --iodepth=8 --rw=randwrite --bsrange=4k-64k --verify=crc32c --verify_state_save=0 --output=/dev/stderr
          """
              .formatted(
                  RdmaHost.SERVER,
                  target.address().getPort(),
                  target.nqn(),
                  RdmaHost.CLIENT,
                  digests,
                  file);
      OtherPrograms.End end = OtherPrograms.run(200, "bash", "-c", script);
      assertEquals(0, end.status(), end::toString);
      assertArrayEquals(content, small.read(0, BYTES));
      assertEquals(List.of(), target.complaints());
    }
  }

  @Test
  void readsTheLogOfADiscoveryService() throws Exception {
    byte[] entry = DiscoveryPage.entry(3, 1, 2, "4499", "nqn.2026-11.io.crail:far", "10.9.0.9");
    byte[] log = DiscoveryPage.log(1, entry, entry);
    TargetOptions options = new TargetOptions().discovery(() -> log);
    try (NvmeTarget target = new NvmeTarget(InetAddress.getByName(RdmaHost.SERVER), options)) {
      String script =
          "PATH=$PATH:/usr/sbin:/sbin nvme discover -t tcp -a %s -s %d"
              .formatted(RdmaHost.SERVER, target.address().getPort());
      OtherPrograms.End end = OtherPrograms.run(200, "bash", "-c", script);
      assertEquals(0, end.status(), end::toString);
      assertTrue(end.output().contains("Number of Records 2"), end::toString);
      assertTrue(end.output().contains("nqn.2026-11.io.crail:far"), end::toString);
      assertTrue(end.output().matches("(?s).*trsvcid: +4499\\n.*"), end::toString);
      assertEquals(List.of(), target.complaints());
    }
  }
}
