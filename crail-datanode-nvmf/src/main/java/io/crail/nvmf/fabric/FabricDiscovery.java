/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.nvmf.fabric;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.nvmf.ControllerLimits;
import io.crail.nvmf.DiscoveryEntry;
import io.crail.nvmf.DiscoveryListener;
import io.crail.nvmf.DiscoveryLog;
import io.crail.nvmf.NvmeCommand;
import io.crail.nvmf.NvmeRequest;
import io.crail.nvmf.Subsystem;
import java.nio.ByteBuffer;

/**
 * A controller of a discovery service, which has an admin queue only. It reads the log once, and
 * ends.
 *
 * <pre>
 *   identify                the controller
 *   read the log's head     how many entries there are, and in which generation
 *   read entries            a few at a time
 *   read the log's head     all again when the generation is another one
 * </pre>
 */
final class FabricDiscovery extends AdminController {
  private static final int KIND_AT = 111;
  private static final int KIND_UNKNOWN = 0;
  private static final int KIND_DISCOVERY = 2;

  /** Any target takes a command with this much. */
  private static final int ENTRIES_AT_ONCE = 4;

  private static final int MOST_READINGS = 10;

  private final DiscoveryListener listener;
  private DiscoveryLog log;
  private int readings;

  FabricDiscovery(
      FabricServices services,
      Subsystem service,
      ControllerLimits limits,
      DiscoveryListener listener) {
    super(services, service, limits.withoutKeepAlive());
    this.listener = listener;
  }

  @Override
  protected void reported(CrailException refusal) {
    listener.failed(refusal.detail());
  }

  @Override
  protected void reportedLost(String cause) {
    listener.failed(target() + ": " + cause);
  }

  @Override
  protected void started() {
    identify(NvmeCommand.CONTROLLER, 0, this::identified);
  }

  private void identified(ByteBuffer answer) {
    int kind = answer.get(KIND_AT) & 0xff;
    if (kind == KIND_DISCOVERY || kind == KIND_UNKNOWN) {
      readHead();
    } else {
      refuse(ErrorCode.UNSUPPORTED, "this is no discovery service");
    }
  }

  private void readHead() {
    read(0, DiscoveryEntry.LENGTH, this::haveHead);
  }

  private void haveHead(ByteBuffer head) throws CrailException {
    DiscoveryLog found = DiscoveryLog.of(head);
    if (log != null && log.isComplete() && found.isLike(log)) {
      end("all is read");
      listener.found(log.subsystems(), log.others());
      return;
    }
    if (readings == MOST_READINGS) {
      lose("its log has changed " + MOST_READINGS + " times while it was read");
      return;
    }
    readings++;
    log = found;
    readNext();
  }

  private void readNext() {
    if (log.isComplete()) {
      readHead();
      return;
    }
    int count = Math.min(ENTRIES_AT_ONCE, log.count() - log.taken());
    read(
        (1L + log.taken()) * DiscoveryEntry.LENGTH,
        count * DiscoveryEntry.LENGTH,
        entries -> {
          log.take(entries, count);
          readNext();
        });
  }

  private void read(long offset, int length, Taker taker) {
    await("reading the log");
    ByteBuffer memory = NvmeRequest.newMemory(length);
    AdminRequest.send(
        admin(),
        new AdminRequest(
                (out, at) ->
                    NvmeCommand.getLogPage(out, at, NvmeCommand.DISCOVERY_LOG, offset, length),
                (status, result) -> {
                  if (!isRefused(status, "get log page")) {
                    take(taker, memory);
                  }
                })
            .reading(memory));
  }
}
