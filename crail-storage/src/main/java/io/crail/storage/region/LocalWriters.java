/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.region;

import io.crail.common.Clock;
import io.crail.common.RateLimitedLog;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.codec.SmallValue;
import io.crail.rpc.login.Caller;
import io.crail.rpc.login.Claim;
import io.crail.rpc.login.ClientLogin;
import io.crail.rpc.login.Mechanism;
import io.crail.rpc.login.Mechanisms;
import io.crail.rpc.login.ServerLogin;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The processes of a datanode's host that map its regions. Each has connections to a Unix domain
 * socket in the datanode's directory. The kernel ends a connection with the last thread of either
 * process, and not before, even if the process is stopped in between. So both sides know whether
 * the other one lives: a process that maps the regions by its {@link Lifeline}, and the datanode by
 * the connection of a {@link LocalWriter}, after whose end no write continues that the process has
 * announced in the {@link HazardTable}.
 *
 * <p>A connection begins with a {@link LocalHello} in each direction, with a login of one message,
 * and is silent after that. The client does not wait for the answer, since the datanode looks only
 * now and then, and what a process may map is up to the kernel. Whoever is refused goes over the
 * network as soon as it knows. Until it closes the connection it may be in the middle of a write,
 * so it counts as a writer like any other.
 *
 * <p>Used by one thread at a time.
 */
final class LocalWriters implements AutoCloseable {
  /** In place of an owner, on a connection of a process that need not write. */
  static final long NO_OWNER = 0;

  /** The socket. */
  static final String FILE = "writers";

  private static final String WRITER_FILES = "w-";

  /**
   * The length that fits into the address of such a socket everywhere. Linux takes four bytes more.
   */
  private static final int MAX_PATH_LENGTH = 103;

  private static final int BACKLOG = 4096;
  private static final long SILENT_NANOS = 10_000_000_000L;
  private static final Logger LOG = LoggerFactory.getLogger(LocalWriters.class);

  /** A connected process. */
  private static final class Writer {
    private LocalHello.Arriving<LocalHello.Request> arriving =
        new LocalHello.Arriving<>(LocalHello.Request.CODEC);
    private LocalHello.Request hello;
    private Caller caller;

    long owner() {
      return hello == null ? NO_OWNER : hello.owner();
    }

    long client() {
      return caller == null ? hello.clientId() : caller.client();
    }

    long process() {
      return hello.process();
    }
  }

  /** Null unless writers may have begun before this datanode process. */
  private final Path keptDirectory;

  private final HazardTable hazards;
  private final Mechanisms mechanisms;
  private final Selector selector;
  private final ServerSocketChannel listener;
  private final ByteBuffer ignored = ByteBuffer.allocate(256);
  private final RateLimitedLog log = new RateLimitedLog(LOG, Clock.SYSTEM);
  private boolean allAccepted;

  // What each slot announced at the last check, and since when.
  private final long[] standing = new long[HazardTable.SLOTS];
  private final long[] sinceNanos = new long[HazardTable.SLOTS];

  private LocalWriters(
      Path keptDirectory,
      HazardTable hazards,
      Mechanisms mechanisms,
      Selector selector,
      ServerSocketChannel listener) {
    this.keptDirectory = keptDirectory;
    this.hazards = hazards;
    this.mechanisms = mechanisms;
    this.selector = selector;
    this.listener = listener;
  }

  /**
   * Whether a directory's name leaves room for the sockets in it.
   *
   * @param keeps whether writers have sockets of their own there
   */
  static boolean fits(Path directory, boolean keeps) {
    Path longest = keeps ? fileOf(directory, -1) : file(directory);
    return longest.toString().getBytes(StandardCharsets.UTF_8).length <= MAX_PATH_LENGTH;
  }

  /**
   * The socket of a writer, where the datanode keeps its bytes. It shows the next datanode process,
   * which has no connection of the writer, whether it lives.
   */
  static Path fileOf(Path directory, long owner) {
    return directory.resolve(WRITER_FILES + Long.toUnsignedString(owner, Character.MAX_RADIX));
  }

  /** Whether a file is a writer's socket. */
  static boolean isOfWriter(String name) {
    return name.startsWith(WRITER_FILES);
  }

  private static Path file(Path directory) {
    return directory.resolve(FILE);
  }

  /** Listens in a datanode's directory. */
  static LocalWriters listen(
      Path directory, HazardTable hazards, Mechanisms mechanisms, boolean keeps)
      throws IOException {
    Selector selector = Selector.open();
    ServerSocketChannel listener = null;
    boolean listens = false;
    try {
      listener = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
      listener.configureBlocking(false);
      listener.bind(UnixDomainSocketAddress.of(file(directory)), BACKLOG);
      // No other user can reach it in this directory. Its own rights are those of the files beside
      // it.
      Files.setPosixFilePermissions(file(directory), SafeDirectory.FILE_RIGHTS);
      listener.register(selector, SelectionKey.OP_ACCEPT);
      listens = true;
      return new LocalWriters(keeps ? directory : null, hazards, mechanisms, selector, listener);
    } finally {
      if (!listens) {
        if (listener != null) {
          listener.close();
        }
        selector.close();
      }
    }
  }

  /**
   * Connects to the datanode of a directory; the connection stays open for as long as this process
   * maps the regions, or may write, and ends with it.
   *
   * @param owner of the slots that will be claimed, or {@link #NO_OWNER}
   * @param client identity of the client
   * @param login has the message of its login
   * @throws java.net.ConnectException when the datanode has ended
   * @throws IOException when too many connections wait, or this process may not connect
   */
  static SocketChannel connect(Path directory, long owner, long client, ClientLogin login)
      throws IOException {
    ByteBuffer hello =
        LocalHello.bytes(
            LocalHello.Request.CODEC,
            new LocalHello.Request(
                owner,
                ProcessHandle.current().pid(),
                client,
                login.mechanism(),
                SmallValue.of(login.message())));
    return Uninterrupted.run(
        () -> {
          SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX);
          boolean announced = false;
          try {
            // Never waits: such a socket takes a connection at once or not at all.
            channel.configureBlocking(false);
            if (!channel.connect(UnixDomainSocketAddress.of(file(directory)))
                || channel.write(hello.rewind()) != hello.capacity()) {
              throw new IOException("the datanode of " + directory + " takes no more writers now");
            }
            announced = true;
            return channel;
          } finally {
            if (!announced) {
              channel.close();
            }
          }
        });
  }

  /** Accepts new writers, and notices writers that have gone; never waits. */
  void poll(long nowNanos) {
    select();
    strangers().forEach(this::clearIfDead);
    lookForSilence(nowNanos);
  }

  /** Notes all writers that have come or gone by now; false when that is not possible. */
  private boolean select() {
    allAccepted = true;
    try {
      selector.selectNow(this::ready);
    } catch (IOException e) {
      allAccepted = false;
      log.warn("cannot see which processes of this host write", e);
    }
    return allAccepted;
  }

  private void ready(SelectionKey key) {
    if (key.isAcceptable()) {
      accept();
    } else {
      receive(key, (Writer) key.attachment());
    }
  }

  private void accept() {
    try {
      SocketChannel channel = listener.accept();
      while (channel != null) {
        add(channel);
        channel = listener.accept();
      }
    } catch (IOException e) {
      allAccepted = false;
      log.warn("cannot accept a connection from a local writer", e);
    }
  }

  private void add(SocketChannel channel) throws IOException {
    boolean added = false;
    try {
      channel.configureBlocking(false);
      Writer writer = new Writer();
      receive(channel.register(selector, SelectionKey.OP_READ, writer), writer);
      added = true;
    } finally {
      if (!added) {
        channel.close();
      }
    }
  }

  private void receive(SelectionKey key, Writer writer) {
    SocketChannel channel = (SocketChannel) key.channel();
    try {
      if (read(channel, writer) >= 0) {
        return;
      }
    } catch (IOException e) {
      // It has gone with bytes unread, but it has gone.
    }
    if (writer.owner() != NO_OWNER) {
      clear(writer.owner());
    }
    try {
      channel.close();
    } catch (IOException e) {
      LOG.warn("cannot close the connection of a process of this host", e);
    }
  }

  private void clear(long owner) {
    hazards.clear(owner);
    if (keptDirectory != null) {
      try {
        Files.deleteIfExists(fileOf(keptDirectory, owner));
      } catch (IOException e) {
        log.warn("cannot remove what a writer has left", e);
      }
    }
  }

  /** The owners of slots that have no connection, since they had one to an earlier process. */
  private Set<Long> strangers() {
    if (keptDirectory == null) {
      return Set.of();
    }
    Set<Long> owners = hazards.owners();
    owners.remove(HazardTable.OWN_THREADS);
    for (SelectionKey key : selector.keys()) {
      if (key.attachment() instanceof Writer writer) {
        owners.remove(writer.owner());
      }
    }
    return owners;
  }

  private void clearIfDead(long owner) {
    if (!KeptPlace.accepts(fileOf(keptDirectory, owner))) {
      clear(owner);
    }
  }

  /** Reads what has come; negative at the end. */
  private int read(SocketChannel channel, Writer writer) throws IOException {
    if (writer.arriving == null) {
      return channel.read(ignored.clear());
    }
    int count;
    do {
      count = channel.read(writer.arriving.rest());
    } while (count > 0 && writer.arriving.rest().hasRemaining());
    if (!writer.arriving.rest().hasRemaining()) {
      LocalHello.Response answer = logIn(writer);
      // It fits, since nothing was sent before.
      channel.write(LocalHello.bytes(LocalHello.Response.CODEC, answer));
    }
    return count;
  }

  /** Takes the hello, and answers it. */
  private LocalHello.Response logIn(Writer writer) {
    ErrorCode refusal;
    try {
      LocalHello.Arriving<LocalHello.Request> arrived = writer.arriving;
      writer.arriving = null;
      writer.hello = arrived.message();
      ServerLogin login =
          new ServerLogin(
              mechanisms, writer.hello.mechanism(), Claim.ofClient(writer.hello.clientId()));
      Mechanism.Reply reply = login.next(writer.hello.message().bytes());
      writer.caller = reply.caller();
      if (writer.caller != null) {
        return new LocalHello.Response(ErrorCode.OK.number(), SmallValue.of(reply.message()));
      }
      refusal = ErrorCode.UNSUPPORTED;
    } catch (CrailException e) {
      refusal = e.code();
    } catch (RuntimeException e) {
      // A bug of a mechanism, which must not end the beat.
      log.warn("cannot answer the login of a process of this host", e);
      refusal = ErrorCode.INTERNAL;
    }
    log.warn("refused a process of this host: " + refusal.text());
    return new LocalHello.Response(refusal.number(), SmallValue.NONE);
  }

  /** Logs each writer once that is stopped in the middle of a write. */
  private void lookForSilence(long nowNanos) {
    int slots = hazards.slots();
    for (int slot = 0; slot < slots; slot++) {
      long piece = hazards.piece(slot);
      if (piece != standing[slot]) {
        standing[slot] = piece;
        sinceNanos[slot] = nowNanos;
      } else if (piece != 0 && nowNanos - sinceNanos[slot] >= SILENT_NANOS) {
        sinceNanos[slot] = Long.MAX_VALUE / 2 + nowNanos;
        LOG.warn(
            "{} has been in the middle of a write for {} s; until it continues or ends, no other"
                + " writer gets {} bytes at {} of region {}",
            describe(hazards.owner(slot)),
            SILENT_NANOS / 1_000_000_000,
            Hazard.length(piece),
            Hazard.offset(piece),
            Hazard.region(piece));
      }
    }
  }

  private String describe(long owner) {
    for (SelectionKey key : selector.keys()) {
      if (key.attachment() instanceof Writer writer && writer.owner() == owner) {
        return "process " + writer.process() + " of this host";
      }
    }
    return "a thread of this datanode";
  }

  /**
   * Stops the processes of some clients from writing as their present owners.
   *
   * @param clients their identities, as known to namenodes
   * @return the owners of their slots; null when a process may have come that could not be accepted
   */
  List<Long> revoke(Set<Long> clients) {
    // Includes processes that have come since the last check.
    if (!select()) {
      return null;
    }
    List<Long> owners = new ArrayList<>();
    for (SelectionKey key : selector.keys()) {
      if (key.attachment() instanceof Writer writer
          && writer.owner() != NO_OWNER
          && clients.contains(writer.client())) {
        hazards.revoke(writer.owner());
        owners.add(writer.owner());
      }
    }
    for (long stranger : strangers()) {
      // It may be one of these clients.
      hazards.revoke(stranger);
      owners.add(stranger);
    }
    return owners;
  }

  @Override
  public void close() {
    try {
      for (SelectionKey key : selector.keys()) {
        key.channel().close();
      }
      selector.close();
    } catch (IOException e) {
      LOG.warn("cannot close the connections of the processes of this host", e);
    }
  }
}
