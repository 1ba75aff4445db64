/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.nvmf.fabric;

import io.crail.common.error.ErrorCode;
import io.crail.nvmf.ControllerLimits;
import io.crail.nvmf.NvmeCommand;
import io.crail.nvmf.NvmeQueue;
import io.crail.nvmf.NvmeRequest;
import io.crail.nvmf.NvmeStatus;
import io.crail.nvmf.QueueId;
import io.crail.nvmf.Subsystem;
import io.crail.nvmf.auth.ChapException;
import io.crail.nvmf.auth.ChapExchange;
import io.crail.nvmf.auth.HostSecrets;
import java.nio.ByteBuffer;
import java.security.SecureRandom;
import java.util.concurrent.RejectedExecutionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The start of one queue: its connection, the connect command, and an authentication if the target
 * asks for one. Used only in the loop.
 */
final class QueueStart implements NvmeQueue.Listener {
  private static final Logger LOG = LoggerFactory.getLogger(QueueStart.class);

  /** Learns that the queue takes commands; its controller learns of all other ends. */
  interface Listener {
    void connected(int controller);
  }

  /** The controller that a queue belongs to, in its start. */
  abstract static class Owner {
    abstract FabricServices services();

    abstract Subsystem target();

    abstract ControllerLimits limits();

    abstract boolean isEnded();

    /** When the present step fails. */
    abstract long deadlineNanos();

    /** Begins a step, which has the time of a command. */
    abstract void await(String what);

    /** The target is lost. */
    abstract void lose(String cause);

    /** The target refuses, or cannot be used. */
    abstract void refuse(ErrorCode code, String why);

    /**
     * Begins to refuse: the target gets the reason first, and whatever ends this has that reason.
     */
    abstract void doom(ErrorCode code, String why);

    /**
     * Ends the controller when a command was refused.
     *
     * @param more follows in the message
     */
    abstract boolean isRefused(int status, String command, String more);
  }

  private static final int AUTHENTICATION = 1 << 17;
  private static final int SECURE_CHANNEL = 1 << 18;

  private final Owner owner;
  private final QueueId id;
  private final int entries;
  private final Listener listener;
  private NvmeQueue queue;
  private int controller;
  private ChapExchange exchange;

  QueueStart(Owner owner, QueueId id, int entries, Listener listener) {
    this.owner = owner;
    this.id = id;
    this.entries = entries;
    this.listener = listener;
  }

  NvmeQueue open() {
    queue =
        owner
            .services()
            .fabric()
            .open(owner.target().address(), id, entries, owner.deadlineNanos(), this);
    return queue;
  }

  @Override
  public void lost(String cause) {
    owner.lose(cause);
  }

  @Override
  public void opened() {
    boolean first = id.number() == QueueId.ADMIN.number();
    int keepAlive = first ? (int) owner.limits().keepAlive().toMillis() : 0;
    ByteBuffer connectData = NvmeCommand.connectData(owner.target(), id.controller());
    AdminRequest.send(
        queue,
        new AdminRequest(
                (out, at) -> NvmeCommand.connect(out, at, id.number(), entries, keepAlive),
                this::connected)
            .writing(connectData));
  }

  private void connected(int status, long result) {
    boolean first = id.number() == QueueId.ADMIN.number();
    String command = first ? "connect" : "connect of the I/O queue";
    if (owner.isRefused(status, command, culprit(status, result))) {
      return;
    }
    controller = (int) result & 0xffff;
    HostSecrets secrets = owner.target().host().secrets();
    if (!first && controller != id.controller()) {
      owner.refuse(
          ErrorCode.PROTOCOL,
          "the I/O queue belongs to controller "
              + controller
              + ", and the admin queue to "
              + id.controller());
    } else if ((result & SECURE_CHANNEL) != 0) {
      owner.refuse(ErrorCode.UNSUPPORTED, "the target asks for a secure channel");
    } else if ((result & AUTHENTICATION) == 0) {
      if (secrets.controller() == null) {
        listener.connected(controller);
        return;
      }
      owner.refuse(
          ErrorCode.UNSUPPORTED,
          "the target does not ask for authentication, in which it would have to prove that it"
              + " knows crail.storage.nvmf.controllersecret");
    } else if (secrets.host() == null) {
      owner.refuse(
          ErrorCode.UNSUPPORTED,
          "the target asks for authentication, and crail.storage.nvmf.secret is not set");
    } else {
      authenticate(secrets);
    }
  }

  /** What a target that refuses to connect objects to. */
  private String culprit(int status, long result) {
    Subsystem target = owner.target();
    if (NvmeStatus.is(status, NvmeStatus.CONNECT_HOST)) {
      return "; this host is " + target.host().nqn();
    }
    if (!NvmeStatus.is(status, NvmeStatus.CONNECT_INVALID)) {
      return "";
    }
    return switch (NvmeCommand.invalidField(result)) {
      case HOST -> "; it does not know this host, which is " + target.host().nqn();
      case CONTROLLER -> "; it has ended controller " + id.controller();
      case SUBSYSTEM -> "; it has no subsystem " + target.nqn() + " at this port";
      case OTHER -> "; most likely it has no subsystem " + target.nqn() + " at this port";
    };
  }

  // The authentication.

  private void authenticate(HostSecrets secrets) {
    owner.await("authenticating");
    exchange =
        new ChapExchange(
            owner.target().host().nqn(), owner.target().nqn(), secrets, new SecureRandom());
    send(exchange.negotiate(), () -> hear(this::challenged));
  }

  private void challenged(ByteBuffer message) throws ChapException {
    exchange.challenged(message);
    if (!exchange.isLaborious()) {
      work();
      return;
    }
    try {
      // It takes up to a tenth of a second, in which the loop has to serve others.
      owner.services().authentication().execute(this::work);
    } catch (RejectedExecutionException e) {
      owner.refuse(ErrorCode.LIMIT_EXCEEDED, "too many authentications wait for a thread");
    } catch (OutOfMemoryError e) {
      owner.refuse(ErrorCode.LIMIT_EXCEEDED, "no thread for the authentication: " + e);
    }
  }

  private void work() {
    try {
      ByteBuffer reply = exchange.reply();
      owner.services().loop().submit(() -> answer(reply));
    } catch (ChapException e) {
      owner.services().loop().submit(() -> fail(e));
    } catch (RuntimeException | Error e) {
      // Such as a Java without one of the functions.
      owner
          .services()
          .loop()
          .submit(() -> owner.refuse(ErrorCode.INTERNAL, "the authentication: " + e));
    }
  }

  private void answer(ByteBuffer reply) {
    send(reply, () -> hear(this::succeeded));
  }

  private void succeeded(ByteBuffer message) throws ChapException {
    if (exchange.succeeded(message)) {
      send(exchange.success(), this::authenticated);
    } else {
      authenticated();
    }
  }

  private void authenticated() {
    if (id.number() == QueueId.ADMIN.number()) {
      LOG.info("{}: authenticated by {}", owner.target(), exchange.choice());
    }
    exchange = null;
    listener.connected(controller);
  }

  private void fail(ChapException cause) {
    if (owner.isEnded()) {
      return;
    }
    ByteBuffer message = exchange.failure(cause);
    if (message == null) {
      owner.refuse(cause.code(), cause.getMessage());
      return;
    }
    owner.doom(cause.code(), cause.getMessage());
    send(message, () -> owner.lose("the authentication has failed"));
  }

  private void send(ByteBuffer message, Runnable then) {
    if (owner.isEnded()) {
      return;
    }
    int length = message.capacity();
    ByteBuffer memory = NvmeRequest.newMemory(length).put(0, message, 0, length);
    AdminRequest.send(
        queue,
        new AdminRequest(
                (out, at) -> NvmeCommand.authenticationSend(out, at, length),
                (status, result) -> {
                  if (!owner.isRefused(status, "authentication send", "")) {
                    then.run();
                  }
                })
            .writing(memory));
  }

  /** Takes a message of the target. */
  private interface Taker {
    void take(ByteBuffer message) throws ChapException;
  }

  private void hear(Taker taker) {
    ByteBuffer memory = NvmeRequest.newMemory(ChapExchange.MOST_BYTES);
    AdminRequest.send(
        queue,
        new AdminRequest(
                (out, at) -> NvmeCommand.authenticationReceive(out, at, ChapExchange.MOST_BYTES),
                (status, result) -> {
                  if (owner.isRefused(status, "authentication receive", "")) {
                    return;
                  }
                  try {
                    taker.take(memory);
                  } catch (ChapException e) {
                    fail(e);
                  }
                })
            .readingMessage(memory));
  }
}
