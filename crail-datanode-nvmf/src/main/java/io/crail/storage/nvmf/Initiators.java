/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.nvmf;

import io.crail.common.config.Configuration;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.nvmf.Digests;
import io.crail.nvmf.Initiator;
import io.crail.nvmf.InitiatorProvider;
import io.crail.nvmf.NvmeTransport;
import io.crail.rpc.ClientLoop;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;

/** The initiators of a loop, each made when it is first needed. Used only in the loop. */
final class Initiators {
  private record Kind(NvmeTransport transport, Digests digests) {}

  private final ClientLoop loop;
  private final Configuration configuration;
  private final String name;
  private final Map<Kind, Initiator> made = new HashMap<>();
  private boolean closed;

  Initiators(ClientLoop loop, Configuration configuration) {
    this.loop = loop;
    this.configuration = configuration;
    this.name = configuration.get(NvmfStorageKeys.INITIATOR);
  }

  /**
   * The initiator for a transport.
   *
   * @throws CrailException with UNSUPPORTED and the reason, when there is none
   */
  Initiator of(NvmeTransport transport, Digests digests) throws CrailException {
    if (closed) {
      throw ErrorCode.CLOSED.exception("tier nvmf");
    }
    Kind kind = new Kind(transport, transport == NvmeTransport.TCP ? digests : Digests.NONE);
    Initiator known = made.get(kind);
    if (known == null) {
      known = provider(transport).create(loop, configuration, kind.digests());
      made.put(kind, known);
    }
    return known;
  }

  private InitiatorProvider provider(NvmeTransport transport) throws CrailException {
    List<String> present = new ArrayList<>();
    for (InitiatorProvider each :
        ServiceLoader.load(InitiatorProvider.class, InitiatorProvider.class.getClassLoader())) {
      if (each.serves(transport)) {
        if (each.name().equals(name)) {
          return each;
        }
        present.add(each.name());
      }
    }
    throw ErrorCode.UNSUPPORTED.exception(
        "key '"
            + NvmfStorageKeys.INITIATOR.name()
            + "' is '"
            + name
            + "', of which the class path has none for "
            + transport
            + "; for that there are: "
            + present);
  }

  void close() {
    closed = true;
    made.values().forEach(Initiator::close);
    made.clear();
  }
}
