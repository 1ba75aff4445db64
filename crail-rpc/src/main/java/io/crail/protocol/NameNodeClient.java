/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol;

import io.crail.common.Addresses;
import io.crail.common.Clock;
import io.crail.common.NamenodeAddresses;
import io.crail.common.Utf8;
import io.crail.common.config.Configuration;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.cluster.Hello;
import io.crail.protocol.cluster.Login;
import io.crail.protocol.codec.SmallValue;
import io.crail.protocol.part.NodePath;
import io.crail.protocol.part.SpreadPath;
import io.crail.protocol.secret.SecretCredentials;
import io.crail.protocol.secret.Secrets;
import io.crail.rpc.ClientLoop;
import io.crail.rpc.Frame;
import io.crail.rpc.RpcCall;
import io.crail.rpc.RpcPeer;
import io.crail.rpc.login.Anybody;
import io.crail.rpc.login.Claim;
import io.crail.rpc.login.ClientLogin;
import io.crail.rpc.login.Credentials;
import io.crail.rpc.login.LoginKey;
import io.crail.rpc.login.Principal;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * All namenodes of a cluster, as one client loop sees them. It routes requests by the table and
 * opens connections with the handshake. It refuses a namenode of another cluster, and one that was
 * configured with another number of namenodes. Thread-safe.
 */
public final class NameNodeClient {
  /**
   * The process that sends the requests.
   *
   * @param role {@link Hello#ROLE_CLIENT}, {@link Hello#ROLE_DATANODE} or {@link
   *     Hello#ROLE_NAMENODE}
   * @param clientId random; owns the write leases
   * @param host name of this host
   * @param cluster name of the cluster that the namenodes must have
   * @param user the owner of the nodes that it creates; empty means the namenode's own user
   * @param credentials what it logs in with
   */
  public record Identity(
      int role, long clientId, String host, String cluster, String user, Credentials credentials) {
    /** The identity of a client that creates no nodes, at this host if that has a name. */
    public static Identity ofClient(Configuration conf) {
      String host;
      try {
        host = InetAddress.getLocalHost().getHostName();
      } catch (UnknownHostException e) {
        host = "";
      }
      String user = ClusterKeys.user(conf);
      return new Identity(
          Hello.ROLE_CLIENT,
          ThreadLocalRandom.current().nextLong(),
          host,
          conf.get(ClusterKeys.CLUSTER_NAME),
          user,
          SecretCredentials.of(Secrets.of(conf, Clock.SYSTEM), Principal.Role.CLIENT, user));
    }

    /** The identity of a process that creates no nodes. */
    public Identity(int role, long clientId, String host, String cluster) {
      this(role, clientId, host, cluster, "");
    }

    /** The identity of a process that proves nothing. */
    public Identity(int role, long clientId, String host, String cluster, String user) {
      this(role, clientId, host, cluster, user, Anybody.CREDENTIALS);
    }
  }

  /** A listener for handshakes. */
  public interface HelloListener {
    /**
     * Namenode {@code index} has answered the handshake. Called in the loop, before any waiting
     * request is sent.
     */
    void greeted(int index, Hello.Response hello);
  }

  private static final long HELLO_NANOS = 2_000_000_000L;

  private final ClientLoop loop;
  private final NamenodeAddresses addresses;
  private final Identity identity;
  private final RpcPeer.Options options;
  private final HelloListener listener;
  private final long timeoutNanos;
  private final RpcPeer[] peers;
  private final Routes routes;
  private final AtomicReferenceArray<Hello.Response> hellos;
  private final AtomicReferenceArray<LoginKey> keys;

  /**
   * Creates the peers without connecting.
   *
   * @param timeoutNanos deadline of a call, from its submission
   */
  public NameNodeClient(
      ClientLoop loop,
      List<InetSocketAddress> addresses,
      Identity identity,
      RpcPeer.Options options,
      long timeoutNanos) {
    this(loop, NamenodeAddresses.of(addresses), identity, options, timeoutNanos);
  }

  /** As the other constructor, where a namenode may have several peers. */
  public NameNodeClient(
      ClientLoop loop,
      NamenodeAddresses addresses,
      Identity identity,
      RpcPeer.Options options,
      long timeoutNanos) {
    this(
        loop,
        addresses,
        identity,
        options,
        timeoutNanos,
        (index, hello) -> {},
        RpcPeer.Listener.NONE,
        new Routes(loop.clock()));
  }

  /**
   * As the other constructor, with listeners.
   *
   * @param listener learns of each handshake
   * @param calls learns of each call
   * @param routes the spread directories that the client knows
   */
  public NameNodeClient(
      ClientLoop loop,
      NamenodeAddresses addresses,
      Identity identity,
      RpcPeer.Options options,
      long timeoutNanos,
      HelloListener listener,
      RpcPeer.Listener calls,
      Routes routes) {
    this.loop = loop;
    this.addresses = addresses;
    this.identity = identity;
    this.options = options;
    this.listener = listener;
    this.timeoutNanos = timeoutNanos;
    this.routes = routes;
    this.peers = new RpcPeer[addresses.size()];
    this.hellos = new AtomicReferenceArray<>(peers.length);
    this.keys = new AtomicReferenceArray<>(peers.length);
    for (int i = 0; i < peers.length; i++) {
      long number = ThreadLocalRandom.current().nextLong();
      int peerCount = addresses.peers(i).size();
      HelloLoop handshake = new HelloLoop(i, number, peerCount > 1 ? HELLO_NANOS / 2 : HELLO_NANOS);
      peers[i] = new RpcPeer(loop, addresses.peers(i), handshake, options, calls);
      peers[i].redirectBy(this::redirected);
    }
  }

  /** The number of namenodes. */
  public int count() {
    return peers.length;
  }

  /** Where they are. */
  public NamenodeAddresses addresses() {
    return addresses;
  }

  /**
   * A client of one process only, which it tries to reach once: to learn whether a peer of a
   * namenode is there. The caller closes it.
   *
   * @param timeoutNanos deadline of a call
   */
  public NameNodeClient only(InetSocketAddress address, long timeoutNanos) {
    RpcPeer.Options once = options.withPatienceNanos(0).withConnectTimeoutNanos(timeoutNanos);
    return new NameNodeClient(loop, List.of(address), identity, once, timeoutNanos);
  }

  /** The loop. */
  public ClientLoop loop() {
    return loop;
  }

  /** What namenode {@code index} said in its last handshake; null before the first. */
  public Hello.Response hello(int index) {
    return hellos.get(index);
  }

  /** The key of the last login at namenode {@code index}; null if it has proved none. */
  public LoginKey key(int index) {
    return keys.get(index);
  }

  /** The peer of namenode {@code index}. */
  public RpcPeer peer(int index) {
    return peers[index];
  }

  /** The spread directories that the client knows. */
  public Routes routes() {
    return routes;
  }

  /** A request with its paths in the form in which they travel. */
  public <Q, R> Q routed(Operation<Q, R> operation, Q request) {
    return peers.length == 1 || operation.routing().by() == null
        ? request
        : operation.routing().by().apply(request, this::routed);
  }

  /** The form in which a path travels. */
  public Utf8 routed(Utf8 path) {
    return peers.length == 1 ? path : routes.of(path);
  }

  /** Where a call goes on that a namenode has refused. In the loop. */
  private RpcCall.Peer redirected(RpcCall call, CrailException refusal) {
    if (!(call instanceof RoutedCall routed)
        || routed.path() == null
        || SpreadPath.isDirectory(routed.path())) {
      return null;
    }
    switch (routes.after(refusal, routed.path())) {
      case AGAIN:
        return call.peer();
      case OWNER:
        routed.route(SpreadPath::text);
        break;
      case ELSEWHERE:
        routed.route(path -> routes.of(SpreadPath.text(path)));
        break;
      default:
        return null;
    }
    return peers[NodePath.namenodeOf(routed.path(), peers.length)];
  }

  /** The namenode that serves a request, whose paths are as they travel. */
  public <Q, R> RpcPeer route(Operation<Q, R> operation, Q request) {
    return peers.length == 1
        ? peers[0]
        : peers[operation.routing().index().applyAsInt(request, peers.length)];
  }

  /** Submits a request to the namenode that the table says. */
  public <Q, R> OperationCall<Q, R> call(Operation<Q, R> operation, Q request) {
    Q routed = routed(operation, request);
    return submit(operation, routed, route(operation, routed));
  }

  /** Submits a request to the namenode that the caller says. */
  public <Q, R> OperationCall<Q, R> callAt(int index, Operation<Q, R> operation, Q request) {
    return submit(operation, request, peers[index]);
  }

  private <Q, R> OperationCall<Q, R> submit(Operation<Q, R> operation, Q request, RpcPeer peer) {
    OperationCall<Q, R> call = newCall(operation, request, peer);
    call.submit();
    return call;
  }

  /** A call to the namenode that the caller says, not submitted yet. */
  public <Q, R> OperationCall<Q, R> newCallAt(int index, Operation<Q, R> operation, Q request) {
    return newCall(operation, request, peers[index]);
  }

  private <Q, R> OperationCall<Q, R> newCall(Operation<Q, R> operation, Q request, RpcPeer peer) {
    OperationCall<Q, R> call = new OperationCall<>(operation);
    call.prepare(peer, request, newDeadlineNanos());
    return call;
  }

  /** The deadline of a call that is submitted now. */
  public long newDeadlineNanos() {
    return loop.clock().nanoTime() + timeoutNanos;
  }

  /** Logs in at namenode {@code index} once more, since the key is another one now. */
  public void loginAnew(int index) {
    loop.submit(() -> peers[index].reconnect("logs in with another key"));
  }

  /** Fails all outstanding calls and closes all connections. */
  public void close() {
    loop.submit(
        () -> {
          for (RpcPeer peer : peers) {
            peer.close();
          }
        });
  }

  /** The handshakes with one namenode: a hello, and as many messages as its login needs. */
  private final class HelloLoop implements RpcPeer.Handshake {
    private final int index;
    private final long number;
    private final long mostNanos;

    HelloLoop(int index, long number, long mostNanos) {
      this.index = index;
      this.number = number;
      this.mostNanos = mostNanos;
    }

    @Override
    public RpcCall first(RpcPeer peer) throws CrailException {
      Claim claim =
          new Claim(
              new Principal(Hello.role(identity.role()), Utf8.of(identity.user())),
              identity.clientId(),
              number,
              (int) Math.min(TimeUnit.NANOSECONDS.toMillis(timeoutNanos), Integer.MAX_VALUE),
              Utf8.of(identity.host()));
      ClientLogin login = new ClientLogin(identity.credentials(), claim);
      Hello.Request hello =
          new Hello.Request(
              Hello.MAGIC,
              Frame.VERSION,
              Frame.VERSION,
              identity.role(),
              login.mechanism(),
              claim.client(),
              claim.peer(),
              claim.patienceMillis(),
              claim.host(),
              claim.principal().name(),
              SmallValue.of(login.message()));
      long deadlineNanos = loop.clock().nanoTime() + Math.min(timeoutNanos, mostNanos);
      return new HelloCall<>(peer, index, login, NameNodeOperations.HELLO, hello, deadlineNanos);
    }

    @Override
    public RpcCall next(RpcCall answered) {
      HelloCall<?> call = (HelloCall<?>) answered;
      return call.more
          ? new HelloCall<>(
              call.peer(),
              index,
              call.login,
              NameNodeOperations.LOGIN,
              new Login.Request(SmallValue.of(call.login.message())),
              call.deadlineNanos())
          : null;
    }
  }

  /** One message of a handshake, and its answer. */
  private final class HelloCall<Q> extends RpcCall {
    private final int index;
    private final ClientLogin login;
    private final Operation<Q, Hello.Response> operation;
    private final Q request;
    private boolean more;

    HelloCall(
        Peer peer,
        int index,
        ClientLogin login,
        Operation<Q, Hello.Response> operation,
        Q request,
        long deadlineNanos) {
      this.index = index;
      this.login = login;
      this.operation = operation;
      this.request = request;
      prepare(peer, deadlineNanos);
    }

    @Override
    protected int opcode() {
      return operation.number();
    }

    @Override
    protected boolean changes() {
      return NameNodeOperations.HELLO.changes();
    }

    @Override
    protected int bodyLength() {
      return operation.request().length(request);
    }

    @Override
    protected void encode(ByteBuffer out, int offset) {
      operation.request().encode(request, out, offset);
    }

    @Override
    protected void decode(ByteBuffer in, int offset, int length) throws CrailException {
      Hello.Response hello = Hello.Response.CODEC.decode(in, offset, length);
      more = hello.more();
      login.answered(more, hello.message().bytes());
      if (!more) {
        check(hello);
        keys.set(index, login.key());
        Hello.Response before = hellos.getAndSet(index, hello);
        if (before != null && before.incarnation() != hello.incarnation()) {
          peers[index].serverHasForgotten();
        }
        listener.greeted(index, hello);
      }
    }

    private void check(Hello.Response hello) throws CrailException {
      String address = Addresses.text(peers[index].address());
      if (!hello.cluster().toString().equals(identity.cluster())) {
        throw ErrorCode.INVALID_ARGUMENT.exception(
            address
                + " serves cluster '"
                + hello.cluster()
                + "', not '"
                + identity.cluster()
                + "'; set crail.cluster.name as that cluster does, or crail.namenode.address to"
                + " another one");
      }
      if (hello.namenodeCount() != peers.length || hello.namenodeIndex() != index) {
        throw ErrorCode.INVALID_ARGUMENT.exception(
            address
                + " is namenode "
                + hello.namenodeIndex()
                + " of "
                + hello.namenodeCount()
                + ", but number "
                + index
                + " of "
                + peers.length
                + " in this configuration's crail.namenode.address");
      }
    }
  }
}
