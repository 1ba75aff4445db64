/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.nvmf;

import io.crail.nvmf.Controller;
import io.crail.nvmf.NamespaceData;
import io.crail.nvmf.NvmeRequest;
import io.crail.nvmf.NvmeStatus;
import io.crail.nvmf.sector.ByteTransfer;
import io.crail.nvmf.sector.SectorAccess;
import io.crail.rpc.ClientLoop;
import java.nio.ByteBuffer;

/**
 * Reads and writes the beginning of a namespace, one access at a time. Nothing follows an access
 * whose controller is lost; its owner learns of that from the controller. Used only in the loop.
 */
final class LabelAccess {
  /** Learns how an access ended. */
  interface Listener {
    /**
     * An access has ended.
     *
     * @param bytes what was read or written
     * @param problem why it failed; null when it did not
     */
    void ended(ByteBuffer bytes, String problem);
  }

  private final class Bytes extends ByteTransfer {
    void prepare(boolean write) {
      prepare(write, memory, memory, 0, memory.capacity(), 0);
    }

    @Override
    protected void ended(int status) {
      Listener ended = listener;
      abandon();
      ended.ended(memory, status == NvmeStatus.OK ? null : NvmeStatus.text(status));
    }

    @Override
    protected void lost(String cause) {
      abandon();
    }

    @Override
    protected boolean isGivenUp() {
      return false;
    }
  }

  private final ClientLoop loop;
  private final Controller controller;
  private final NamespaceData namespace;
  private final SectorAccess access;
  private final Bytes bytes = new Bytes();
  private ByteBuffer memory;
  private Listener listener;
  private boolean sending;
  private int accesses;

  LabelAccess(ClientLoop loop, Controller controller, NamespaceData namespace) {
    this.loop = loop;
    this.controller = controller;
    this.namespace = namespace;
    this.access =
        new SectorAccess(
            controller.io(), namespace, 1, controller.data().maxTransfer(), this::send);
  }

  NamespaceData namespace() {
    return namespace;
  }

  /** Reads the block of the label. */
  void readLabel(Listener end) {
    access(false, NvmeRequest.newMemory(namespace.blockLength()), end);
  }

  /** Reads all of {@link NamespaceLabel#SPACE}. */
  void readSpace(Listener end) {
    access(false, NvmeRequest.newMemory(NamespaceLabel.SPACE), end);
  }

  /**
   * Writes the label.
   *
   * @param clears whether zeros replace the rest of {@link NamespaceLabel#SPACE}
   */
  void write(NamespaceLabel label, boolean clears, Listener end) {
    ByteBuffer block =
        NvmeRequest.newMemory(clears ? NamespaceLabel.SPACE : namespace.blockLength());
    label.write(block);
    access(true, block, end);
  }

  private void access(boolean write, ByteBuffer block, Listener end) {
    memory = block;
    listener = end;
    // So that the loop looks at its connections all the time meanwhile.
    loop.operationBegun();
    bytes.prepare(write);
    sending = true;
    accesses++;
    send();
  }

  /** The listener of the present access is not called any more. */
  void abandon() {
    if (listener != null) {
      listener = null;
      sending = false;
      loop.operationEnded();
    }
  }

  /** Sends what had no room; called again while an access is under way. */
  void send() {
    if (sending) {
      // The access may end meanwhile, and its owner begin another one.
      int present = accesses;
      if (access.begin(bytes) && present == accesses) {
        sending = false;
      }
    }
    controller.io().flush();
  }
}
