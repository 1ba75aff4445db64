/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.nvmf;

import java.io.DataInputStream;
import java.io.IOException;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;

/** One connection of a target: one queue. Its thread reads, executes and answers. */
final class TargetSession extends Thread {
  private static final long SLOW_NANOS = 1_000_000_000;
  private static final long LATE_NANOS = 20_000_000;
  private static final int OK = 0;
  private static final int INVALID_OPCODE = 0x4001;
  private static final int INVALID_FIELD = 0x4002;
  private static final int INTERNAL = 0x0006;
  private static final int INVALID_NAMESPACE = 0x400b;
  private static final int WRITE_PROTECTED = 0x4020;
  private static final int OUT_OF_RANGE = 0x4080;
  private static final int CONNECT_INVALID = 0x4182;
  private static final int CONNECT_HOST = 0x4184;
  private static final int AUTHENTICATION_REQUIRED = 0x4191;

  /** The bit of events that tell of changes of namespaces, and the result that is one. */
  private static final int CHANGES = 1 << 8;

  private static final int NAMESPACES_HAVE_CHANGED = 0x00040002;

  /** A command that waits for its data. */
  private static final class Waiting {
    final ByteBuffer entry;
    final byte[] data;
    final Fate fate;
    int arrived;
    int asked;

    Waiting(ByteBuffer entry, int length, Fate fate) {
      this.entry = entry;
      this.data = new byte[length];
      this.fate = fate;
    }
  }

  private final NvmeTarget target;
  private final TargetOptions options;
  private final Socket socket;
  private final DataInputStream in;
  private final TargetWire wire;
  private final Map<Integer, Waiting> waiting = new HashMap<>();
  private boolean greeted;
  private boolean headerDigest;
  private boolean dataDigest;
  private volatile int queue = -1;
  private volatile int controller = -1;
  private int keepAlive;
  private int wantedEvents;
  private ByteBuffer eventRequest;
  private int entries = 32;
  private int inFlight;
  private int commands;
  private int nextTag = 1;
  private TargetAuthentication authentication;
  private boolean discovery;
  private Runnable late;

  /** A test has answered in place of the target, and may have asked for data. */
  private boolean bent;

  TargetSession(NvmeTarget target, Socket socket) throws IOException {
    super("nvme-target-session");
    setDaemon(true);
    this.target = target;
    this.options = target.options();
    this.socket = socket;
    this.in = new DataInputStream(socket.getInputStream());
    this.wire = new TargetWire(target, socket.getOutputStream());
  }

  int controller() {
    return controller;
  }

  void close() {
    try {
      socket.close();
    } catch (IOException e) {
      // It is closed all the same.
    }
  }

  @Override
  public void run() {
    try {
      while (true) {
        if (late != null && !comesMore()) {
          executeLate();
        }
        takeUnit();
      }
    } catch (IOException e) {
      // The connection has ended.
    } catch (RuntimeException e) {
      target.complain("the target failed: " + e);
    } finally {
      close();
      target.ended(this, controller, queue);
    }
  }

  /** Ends the connection because of a mistake of the host. */
  private IOException wrong(String what) {
    target.complain(what);
    return new IOException(what);
  }

  private void takeUnit() throws IOException {
    byte[] common = new byte[8];
    in.readFully(common);
    int type = common[0] & 0xff;
    int headerLength = common[2] & 0xff;
    int dataAt = common[3] & 0xff;
    int length = TargetWire.little(common).getInt(4);
    int expected =
        switch (type) {
          case 0x00 -> 128;
          case 0x04 -> 72;
          case 0x06 -> 24;
          default -> throw wrong("a unit of type " + type);
        };
    if (headerLength != expected || (type == 0) == greeted || length < headerLength) {
      throw wrong("a unit of type " + type + " with " + headerLength + " and " + length + " bytes");
    }
    byte[] header = new byte[headerLength];
    System.arraycopy(common, 0, header, 0, 8);
    in.readFully(header, 8, headerLength - 8);
    if (type == 0) {
      greet(TargetWire.little(header));
      return;
    }
    int at = headerLength;
    if (headerDigest != ((common[1] & 1) != 0)) {
      throw wrong("a header digest is missing, or was not agreed");
    }
    if (headerDigest) {
      if (readInt() != TargetWire.crc(header, 0, headerLength)) {
        throw wrong("a wrong header digest");
      }
      at += 4;
    }
    byte[] data = new byte[0];
    if (length > at) {
      if (dataAt < at || dataAt % options.alignment != 0) {
        throw wrong("data at " + dataAt);
      }
      in.skipNBytes(dataAt - at);
      data = new byte[length - dataAt - (dataDigest ? 4 : 0)];
      in.readFully(data);
      if (dataDigest != ((common[1] & 2) != 0)) {
        throw wrong("a data digest is missing, or was not agreed");
      }
      if (dataDigest && readInt() != TargetWire.crc(data, 0, data.length)) {
        throw wrong("a wrong data digest");
      }
    }
    if (type == 0x04) {
      take(TargetWire.little(header).slice(8, 64).order(ByteOrder.LITTLE_ENDIAN), data);
    } else {
      takeData(TargetWire.little(header), data, (common[1] & 4) != 0);
    }
  }

  private int readInt() throws IOException {
    return Integer.reverseBytes(in.readInt());
  }

  private void greet(ByteBuffer request) throws IOException {
    int digests = request.get(11) & 0xff;
    headerDigest = options.headerDigest && (digests & 1) != 0;
    dataDigest = options.dataDigest && (digests & 2) != 0;
    wire.greet(headerDigest, dataDigest);
    greeted = true;
  }

  // Commands.

  private void take(ByteBuffer entry, byte[] data) throws IOException {
    int opcode = entry.get(0) & 0xff;
    if ((entry.get(1) & 0xff) != 0x40) {
      throw wrong("flags " + entry.get(1));
    }
    inFlight++;
    if (inFlight >= entries) {
      throw wrong(inFlight + " commands in flight on a queue of " + entries + " entries");
    }
    Fate fate = Fate.NORMAL;
    if (isSpared(entry, opcode)) {
      fate = target.fateOfSpared();
    } else {
      if (queue > 0) {
        target.awaitRelease();
      }
      fate = target.fate(queue, opcode, commands++);
    }
    int form = entry.get(39) & 0xff;
    int length = entry.getInt(32);
    boolean carries = form == 0x01;
    boolean writes = (opcode == 0x7f ? entry.get(4) & 3 : opcode & 3) == 1;
    if (carries ? data.length != length : data.length != 0 || form != 0x5a) {
      throw wrong("data of form " + form + " with " + length + " bytes, carries " + data.length);
    }
    int most = queue > 0 && opcode != 0x7f ? options.inCapsule : 8192;
    if (carries && length > most) {
      throw wrong("a command carries " + length + " bytes");
    }
    if (target.bends(wire, queue, entry)) {
      bent = true;
      inFlight--;
      return;
    }
    if (fate == Fate.CLOSE) {
      throw new IOException("as planned");
    }
    if (fate == Fate.IGNORED) {
      return;
    }
    if (fate == Fate.EARLY && writes) {
      answer(entry, OK, 0, null, fate);
      return;
    }
    if (writes && length > 0 && !carries) {
      ByteBuffer copy = TargetWire.little(new byte[64]);
      copy.put(0, entry, 0, 64);
      ask(new Waiting(copy, length, fate));
      return;
    }
    execute(entry, data, fate);
  }

  /** Asks for the next data of a write. */
  private void ask(Waiting command) throws IOException {
    int left = command.data.length - command.arrived;
    int next = options.splitWrites && left > 4 ? left / 2 & -4 : left;
    int tag = nextTag++ & 0xffff;
    command.asked = command.arrived + next;
    waiting.put(tag, command);
    wire.ready(
        command.entry.getShort(2),
        tag,
        command.arrived,
        next,
        command.fate == Fate.DAMAGED_HEADER ? command.fate : Fate.NORMAL);
  }

  private boolean isSpared(ByteBuffer entry, int opcode) {
    TargetNamespace namespace = target.namespace(entry.getInt(4));
    return queue > 0
        && (opcode == 1 || opcode == 2)
        && namespace != null
        && entry.getLong(40) < options.spared / namespace.blockLength();
  }

  private void takeData(ByteBuffer header, byte[] data, boolean last) throws IOException {
    Waiting command = waiting.get(header.getShort(10) & 0xffff);
    int offset = header.getInt(12);
    int length = header.getInt(16);
    if (bent && command == null) {
      return;
    }
    if (command == null
        || command.entry.getShort(2) != header.getShort(8)
        || offset != command.arrived
        || length != data.length
        || length > options.maxData
        || length > command.asked - offset
        || last != (offset + length == command.asked)) {
      throw wrong("data of " + length + " bytes at " + offset);
    }
    System.arraycopy(data, 0, command.data, offset, length);
    command.arrived += length;
    if (last) {
      waiting.remove(header.getShort(10) & 0xffff);
      if (command.arrived < command.data.length) {
        ask(command);
      } else {
        execute(command.entry, command.data, command.fate);
      }
    }
  }

  private void execute(ByteBuffer entry, byte[] data, Fate fate) throws IOException {
    if (fate == Fate.KEPT && queue > 0 && entry.get(0) == 1) {
      TargetNamespace namespace = target.namespace(entry.getInt(4));
      long at = entry.getLong(40) * namespace.blockLength();
      target.keep(() -> namespace.write(at, data));
      return;
    }
    if (fate == Fate.LATE) {
      if (late != null) {
        throw new IllegalStateException("two late commands");
      }
      ByteBuffer copy = TargetWire.little(new byte[64]);
      copy.put(0, entry, 0, 64);
      late = () -> executeNow(copy, data, Fate.NORMAL);
      return;
    }
    executeNow(entry, data, fate);
    if (late != null) {
      executeLate();
    }
  }

  private void executeLate() {
    Runnable then = late;
    late = null;
    then.run();
  }

  /** Waits a moment for more of the host. */
  private boolean comesMore() throws IOException {
    long end = System.nanoTime() + LATE_NANOS;
    while (in.available() == 0 && System.nanoTime() - end < 0) {
      Thread.yield();
    }
    return in.available() > 0;
  }

  private void executeNow(ByteBuffer entry, byte[] data, Fate fate) {
    try {
      int opcode = entry.get(0) & 0xff;
      if (fate == Fate.FAILED) {
        answer(entry, INTERNAL, 0, null, fate);
      } else if (opcode == 0x7f) {
        fabrics(entry, data, fate);
      } else if (queue < 0) {
        throw wrong("a command before the connect");
      } else if (isUnproved()) {
        answer(entry, AUTHENTICATION_REQUIRED, 0, null, fate);
      } else if (queue == 0) {
        admin(entry, fate);
      } else {
        io(entry, data, fate);
      }
    } catch (IOException e) {
      close();
    }
  }

  private boolean isUnproved() {
    return authentication != null && !authentication.isDone();
  }

  private void fabrics(ByteBuffer entry, byte[] data, Fate fate) throws IOException {
    NvmeTarget.Owned owned = target.controller(controller);
    int type = entry.get(4);
    if (isUnproved() && (type == 0x00 || type == 0x04)) {
      answer(entry, AUTHENTICATION_REQUIRED, 0, null, fate);
      return;
    }
    int property = entry.getInt(44);
    switch (entry.get(4)) {
      case 0x01:
        connect(entry, TargetWire.little(data), fate);
        break;
      case 0x00:
        owned.enabledNanos = System.nanoTime();
        owned.enabled = property == 0x14 && (entry.getLong(48) & 1) != 0;
        answer(entry, property == 0x14 ? OK : INVALID_FIELD, 0, null, fate);
        break;
      case 0x04:
        long value =
            switch (property) {
              case 0x00 -> (options.entries - 1) | 1L << 37 | (long) options.startUnits << 24;
              case 0x08 -> 0x00010400;
              case 0x14 -> owned.enabled ? 0x00460001 : 0;
              case 0x1c -> isReady(owned) ? 1 : 0;
              default -> 0;
            };
        if ((property == 0) != ((entry.get(40) & 7) == 1)) {
          throw wrong("property " + property + " with the wrong size");
        }
        answer(entry, OK, value, null, fate);
        break;
      case 0x05:
      case 0x06:
        authenticate(entry, data, fate);
        break;
      default:
        answer(entry, INVALID_OPCODE, 0, null, fate);
        break;
    }
  }

  private boolean isReady(NvmeTarget.Owned owned) {
    return owned.enabled && System.nanoTime() - owned.enabledNanos >= options.startNanos;
  }

  private void authenticate(ByteBuffer entry, byte[] data, Fate fate) throws IOException {
    int length = entry.getInt(44);
    if (authentication == null
        || entry.getInt(40) != 0xe9010100
        || length != entry.getInt(32)
        || length < 1
        || length > 8192) {
      throw wrong("an authentication command of " + length + " bytes");
    }
    try {
      if (entry.get(4) == 0x06) {
        answer(entry, OK, 0, authentication.give(length), fate);
        return;
      }
      authentication.take(data);
      if (authentication.explanation() >= 0) {
        target.explained(authentication.explanation());
      }
      answer(entry, OK, 0, null, fate);
    } catch (TargetAuthentication.Wrong e) {
      throw wrong(e.getMessage());
    }
  }

  private static String text(ByteBuffer data, int at) {
    int end = at;
    while (end < at + 256 && data.get(end) != 0) {
      end++;
    }
    return new String(data.array(), at, end - at, StandardCharsets.UTF_8);
  }

  private void connect(ByteBuffer entry, ByteBuffer data, Fate fate) throws IOException {
    if (data.capacity() != 1024 || queue >= 0) {
      throw wrong("a connect with " + data.capacity() + " bytes");
    }
    int wanted = entry.getShort(42) & 0xffff;
    int size = (entry.getShort(44) & 0xffff) + 1;
    int id = data.getShort(16) & 0xffff;
    String host = text(data, 512);
    discovery = options.discovery != null && text(data, 256).equals(DiscoveryPage.NQN);
    if (!discovery && !text(data, 256).equals(options.nqn)) {
      answer(entry, CONNECT_INVALID, 256 | 1L << 16, null, fate);
    } else if (!options.allowedHost.isEmpty() && !options.allowedHost.equals(host)) {
      answer(entry, CONNECT_HOST, 0, null, fate);
    } else if (wanted == 0) {
      if (id != 0xffff || size < 2 || size > 32) {
        throw wrong("a connect of an admin queue for controller " + id + ", " + size + " entries");
      }
      queue = 0;
      entries = size;
      keepAlive = entry.getInt(48);
      if (options.endsSilentHosts) {
        socket.setSoTimeout(keepAlive * 3 / 2);
      }
      controller = target.own(host, this);
      answer(entry, OK, controller | asks(data, true), null, fate);
    } else {
      NvmeTarget.Owned owned = target.controller(id);
      if (owned == null
          || !owned.enabled
          || !owned.host.equals(host)
          || wanted > options.queues
          || size < 2
          || size > options.entries
          || !owned.queues.add(wanted)) {
        answer(entry, CONNECT_INVALID, 16 | 1L << 16, null, fate);
        return;
      }
      queue = wanted;
      entries = size;
      controller = id;
      int told = options.strayQueues ? id + 1 : id;
      answer(entry, OK, told | asks(data, options.asksOnIo), null, fate);
    }
  }

  /** What the answer to a connect asks for. */
  private int asks(ByteBuffer connectData, boolean here) {
    if (options.asks == 0 || !here) {
      return 0;
    }
    authentication =
        new TargetAuthentication(options, text(connectData, 256), text(connectData, 512));
    return options.asks;
  }

  private void admin(ByteBuffer entry, Fate fate) throws IOException {
    switch (entry.get(0)) {
      case 0x02:
        getLogPage(entry, fate);
        break;
      case 0x06:
        identify(entry, fate);
        break;
      case 0x09:
        if (entry.get(40) == 0x0b && options.tellsOfChanges) {
          wantedEvents = entry.getInt(44);
          answer(entry, OK, 0, null, fate);
          break;
        }
        int most = options.queues - 1;
        answer(entry, entry.get(40) == 7 ? OK : INVALID_FIELD, most | most << 16, null, fate);
        break;
      case 0x0a:
        // The keep-alive time, and nothing else.
        int told = options.keepAliveTold.applyAsInt(keepAlive);
        answer(entry, entry.get(40) == 15 ? OK : INVALID_FIELD, told, null, fate);
        break;
      case 0x0c:
        // Answered when something happens.
        eventRequest = TargetWire.little(new byte[64]).put(0, entry, 0, 64);
        break;
      case 0x18:
        answer(entry, OK, 0, null, fate);
        if (eventRequest != null && (wantedEvents & CHANGES) != 0) {
          ByteBuffer request = eventRequest;
          eventRequest = null;
          answer(request, OK, NAMESPACES_HAVE_CHANGED, null, Fate.NORMAL);
        }
        break;
      default:
        answer(entry, INVALID_OPCODE, 0, null, fate);
        break;
    }
  }

  private void getLogPage(ByteBuffer entry, Fate fate) throws IOException {
    int length = 4 * ((entry.getShort(42) & 0xffff | (entry.getShort(44) & 0xffff) << 16) + 1);
    long offset = entry.getLong(48);
    if (!discovery || entry.get(40) != 0x70) {
      answer(entry, INVALID_FIELD, 0, null, fate);
      return;
    }
    if (length != entry.getInt(32) || length > 1 << 20 || offset < 0 || offset > 1 << 24) {
      throw wrong("a log page of " + length + " bytes at " + offset);
    }
    byte[] log = options.discovery.get();
    byte[] part = new byte[length];
    int count = (int) Math.max(0, Math.min(length, log.length - offset));
    System.arraycopy(log, (int) Math.min(offset, log.length), part, 0, count);
    answer(entry, OK, 0, part, fate);
  }

  private void identify(ByteBuffer entry, Fate fate) throws IOException {
    ByteBuffer data = TargetWire.little(new byte[4096]);
    if (entry.getInt(32) != 4096) {
      throw wrong("an identify of " + entry.getInt(32) + " bytes");
    }
    int status = OK;
    switch (entry.get(40)) {
      case 0:
        TargetNamespace namespace = target.namespace(entry.getInt(4));
        if (namespace == null) {
          status = INVALID_NAMESPACE;
          break;
        }
        data.putLong(0, namespace.blocks()).putLong(8, namespace.blocks());
        data.put(99, (byte) (namespace.isReadOnly() ? 1 : 0));
        putId(data, 104, namespace.identity());
        // The second of two formats.
        data.put(25, (byte) 1).put(26, (byte) 1);
        data.putInt(128, 0x090000);
        data.putInt(132, Integer.numberOfTrailingZeros(namespace.blockLength()) << 16);
        break;
      case 1:
        data.put(4, "SERIAL              ".getBytes(StandardCharsets.US_ASCII));
        data.put(24, pad("Crail test target", 40));
        data.put(64, pad("1", 8));
        data.put(77, (byte) options.transferShift);
        data.putShort(78, (short) controller);
        data.putInt(80, 0x00010400);
        data.putInt(92, options.tellsOfChanges ? CHANGES : 0);
        data.put(111, (byte) (discovery ? 2 : 1));
        data.putShort(320, (short) options.keepAliveUnit);
        data.put(512, (byte) 0x66).put(513, (byte) 0x44);
        data.putShort(514, (short) (options.entries - 1));
        data.putInt(516, 16);
        data.put(525, (byte) 1);
        data.putInt(536, 0x00100001);
        String name = discovery ? DiscoveryPage.NQN : options.nqn;
        data.put(768, name.getBytes(StandardCharsets.UTF_8));
        data.putInt(1792, (options.inCapsule + 64) / 16).putInt(1796, 1);
        break;
      case 2:
        int at = 0;
        for (int number : target.numbers()) {
          if (number > entry.getInt(4)) {
            data.putInt(at, number);
            at += 4;
          }
        }
        break;
      case 3:
        // One descriptor, of the globally unique id; the kernel's host asks for it.
        data.put(0, (byte) 2).put(1, (byte) 16);
        TargetNamespace described = target.namespace(entry.getInt(4));
        putId(data, 4, described == null ? 0 : described.identity());
        break;
      default:
        status = INVALID_FIELD;
        break;
    }
    answer(entry, status, 0, status == OK ? data.array() : null, fate);
  }

  private static void putId(ByteBuffer data, int at, long identity) {
    data.putLong(at, Long.reverseBytes(0xc4a1L)).putLong(at + 8, Long.reverseBytes(identity));
  }

  private static byte[] pad(String text, int length) {
    return (text + " ".repeat(length - text.length())).getBytes(StandardCharsets.US_ASCII);
  }

  private void io(ByteBuffer entry, byte[] data, Fate fate) throws IOException {
    TargetNamespace namespace = target.namespace(entry.getInt(4));
    long block = entry.getLong(40);
    int count = (entry.getShort(48) & 0xffff) + 1;
    int opcode = entry.get(0);
    if (namespace == null) {
      answer(entry, INVALID_NAMESPACE, 0, null, fate);
      return;
    }
    if (opcode == 0x00) {
      namespace.flush();
      answer(entry, OK, 0, null, fate);
      return;
    }
    int length = Math.multiplyExact(count, namespace.blockLength());
    long most = options.transferShift == 0 ? Integer.MAX_VALUE : 4096L << options.transferShift;
    if (opcode != 0x01 && opcode != 0x02) {
      answer(entry, INVALID_OPCODE, 0, null, fate);
    } else if (entry.getInt(32) != length || length > most) {
      target.complain("a transfer of " + length + " bytes described as " + entry.getInt(32));
      answer(entry, INVALID_FIELD, 0, null, fate);
    } else if (!namespace.has(block, count)) {
      answer(entry, OUT_OF_RANGE, 0, null, fate);
    } else if (opcode == 0x02) {
      answer(entry, OK, 0, namespace.read(block * namespace.blockLength(), length), fate);
    } else if (namespace.isReadOnly()) {
      answer(entry, WRITE_PROTECTED, 0, null, fate);
    } else {
      namespace.write(block * namespace.blockLength(), data);
      answer(entry, OK, 0, null, fate);
    }
  }

  // Answers.

  private void answer(ByteBuffer entry, int status, long result, byte[] data, Fate fate)
      throws IOException {
    if (fate == Fate.SILENT) {
      return;
    }
    if (fate == Fate.SLOW) {
      LockSupport.parkNanos(SLOW_NANOS);
    }
    inFlight--;
    if (fate == Fate.GARBAGE) {
      wire.bytes(new byte[] {0x55, 0x55, 0x55, 0x55, 0x55, 0x55, 0x55, 0x55, 0x55, 0x55});
      return;
    }
    short id = (short) (entry.getShort(2) + (fate == Fate.WRONG_ID ? 1 : 0));
    if (data != null) {
      boolean split = options.splitReads && data.length > 1;
      int first = split ? data.length / 2 : data.length;
      int told = first + (fate == Fate.WRONG_LENGTH ? 512 : 0);
      int ends = TargetWire.LAST | TargetWire.SUCCESS;
      wire.data(id, split ? 0 : ends, 0, told, Arrays.copyOf(data, first), fate);
      if (!split) {
        return;
      }
      byte[] rest = Arrays.copyOfRange(data, first, data.length);
      wire.data(id, TargetWire.LAST, first, rest.length, rest);
    }
    wire.completion(id, status, result, fate);
    if (fate == Fate.TWICE) {
      wire.completion(id, status, result, fate);
    }
  }
}
