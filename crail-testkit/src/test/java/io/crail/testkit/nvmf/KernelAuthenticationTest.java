/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.nvmf;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.crail.common.error.CrailException;
import io.crail.nvmf.NvmeTransport;
import io.crail.testkit.rdma.OtherPrograms;
import io.crail.testkit.rdma.RdmaHost;
import io.crail.testkit.rdma.TwoHosts;
import java.net.InetAddress;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Authentication with the target and the host of the machine's kernel, if it has them: that of
 * Debian 12 has not, that of its backports has.
 */
@Tag("rdma")
@TwoHosts
class KernelAuthenticationTest {
  private static final String GUARDED = "nqn.2026-11.io.crail:guarded";

  private static OtherPrograms.End run(String script) throws Exception {
    return OtherPrograms.run(200, "bash", "-c", "set -euo pipefail\n" + script);
  }

  private static void makeSubsystem(String hash, String group) throws Exception {
    String script =
        """
        cd /sys/kernel/config/nvmet
        mkdir -p hosts/%1$s
        [ -e hosts/%1$s/dhchap_key ] || exit 77
        echo '%2$s' >hosts/%1$s/dhchap_key
        echo '%3$s' >hosts/%1$s/dhchap_ctrl_key
        echo '%4$s' >hosts/%1$s/dhchap_hash
        echo '%5$s' >hosts/%1$s/dhchap_dhgroup
        [ ! -e subsystems/%6$s ] || exit 0
        mkdir -p subsystems/%6$s/namespaces/1
        echo /dev/crail2 >subsystems/%6$s/namespaces/1/device_path
        echo 1 >subsystems/%6$s/namespaces/1/enable
        ln -s "$PWD/hosts/%1$s" subsystems/%6$s/allowed_hosts/
        for port in ports/*; do
          ln -s "$PWD/subsystems/%6$s" "$port/subsystems/"
        done
        """
            .formatted(
                TestHost.Start.HOST.nqn(),
                AuthenticationTest.SECRET,
                AuthenticationTest.BOUND_SECRET,
                hash,
                group,
                GUARDED);
    OtherPrograms.End end = run(script);
    assumeTrue(end.status() != 77, "the machine's kernel has no authentication");
    assertEquals(0, end.status(), end::toString);
  }

  private static TestHost.Start start(NvmeTransport transport, String host, String controller) {
    return TestHost.Start.at(KernelTarget.subsystem(transport, GUARDED))
        .limits(TestHost.Start.limits(16, 60_000, 60_000))
        .secrets(AuthenticationTest.secrets(host, controller));
  }

  @ParameterizedTest
  @CsvSource({
    "TCP, hmac(sha256), null",
    "TCP, hmac(sha384), ffdhe2048",
    "TCP, hmac(sha512), ffdhe8192",
    "RDMA, hmac(sha512), ffdhe3072"
  })
  void bothProveThemselvesToEachOther(NvmeTransport transport, String hash, String group)
      throws Exception {
    makeSubsystem(hash, group);
    String secret = AuthenticationTest.SECRET;
    String bound = AuthenticationTest.BOUND_SECRET;
    try (TestHost host = new TestHost(start(transport, secret, ""))) {
      assertEquals(4096, host.controller().namespaces().get(0).blockLength());
    }
    try (TestHost host = new TestHost(start(transport, secret, bound))) {
      host.controller();
      Moves.check(host, new Random(1), number -> null);
    }
    refused(start(transport, secret, secret), "has not proved");
    refused(start(transport, "", ""), "is not set");
  }

  /** Whether its refusal or its end of the connection arrives first is left to chance. */
  @ParameterizedTest
  @ValueSource(strings = {"null", "ffdhe2048"})
  void aWrongSecretDoesNotPass(String group) throws Exception {
    makeSubsystem("hmac(sha256)", group);
    TestHost.Start start = start(NvmeTransport.TCP, AuthenticationTest.BOUND_SECRET, "");
    try (TestHost host = new TestHost(start)) {
      Exception end = assertThrows(Exception.class, host::controller);
      System.out.println(end.getMessage());
    }
  }

  private static void refused(TestHost.Start start, String words) {
    try (TestHost host = new TestHost(start)) {
      CrailException refusal = assertThrows(CrailException.class, host::controller);
      assertTrue(refusal.getMessage().contains(words), refusal.getMessage());
    }
  }

  @ParameterizedTest
  @CsvSource({"1, 0", "2, 1", "3, 4"})
  void theKernelsHostAndTheTestTargetProveThemselves(int hash, int group) throws Exception {
    OtherPrograms.End known = run("modprobe -n nvme-auth");
    assumeTrue(known.status() == 0, "the machine's kernel has no authentication");
    TargetOptions options =
        new TargetOptions()
            .secrets(AuthenticationTest.SECRET, AuthenticationTest.BOUND_SECRET)
            .chooses(hash, group);
    TargetNamespace namespace = new TargetNamespace(1, 8192, 512);
    try (NvmeTarget target =
        new NvmeTarget(InetAddress.getByName(RdmaHost.SERVER), options, namespace)) {
      String script =
          """
          PATH=$PATH:/usr/sbin:/sbin
          connect() {
            nvme connect -t tcp -a %1$s -s %2$d -n %3$s -w %4$s -i 1 -q %5$s "$@"
          }
          ! connect || exit 70
          ! connect -S '%6$s' -C '%6$s' || exit 71
          connect -S '%6$s' -C '%7$s'
          nvme disconnect -n %3$s
          """
              .formatted(
                  RdmaHost.SERVER,
                  target.address().getPort(),
                  target.nqn(),
                  RdmaHost.CLIENT,
                  TestHost.Start.HOST.nqn(),
                  AuthenticationTest.SECRET,
                  AuthenticationTest.BOUND_SECRET);
      OtherPrograms.End end = run(script);
      assertEquals(0, end.status(), end::toString);
      assertEquals(List.of(), target.complaints());
      System.out.println("explanations " + target.explanations());
    }
  }
}
