/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.ycsb;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import java.io.UncheckedIOException;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.Vector;
import java.util.concurrent.ExecutionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import site.ycsb.ByteIterator;
import site.ycsb.DB;
import site.ycsb.DBException;
import site.ycsb.Status;

/**
 * Crail for YCSB: {@code -db io.crail.ycsb.CrailClient}. YCSB makes one client for each of its
 * threads. Only that thread uses it. All clients of a process share a store, and the last {@link
 * #cleanup()} closes it.
 *
 * <p>Properties: {@code table}, {@code crail.enumeratekeys} (default false; then listings show no
 * records, and scans are not implemented), and all keys of Crail, which have precedence over the
 * site file.
 *
 * <p>An update reads a record, changes the fields, and puts the new record in its place. Readers
 * get either the old record or the new one. An update that fails leaves the old record. Updates of
 * one process wait for each other, so none is lost. When two processes update the same record at
 * the same time, the last one wins with all its fields.
 *
 * <p>An error is logged with its cause. The result is {@link Status#NOT_FOUND}, {@link
 * Status#BAD_REQUEST} for a key that is too long, {@link Status#SERVICE_UNAVAILABLE} when no server
 * answers, or {@link Status#ERROR} for everything else, including a corrupt record.
 */
public final class CrailClient extends DB {
  private static final Logger LOG = LoggerFactory.getLogger(CrailClient.class);

  private Settings settings;
  private SharedStores.Shared shared;
  private Records records;

  /** For YCSB. */
  public CrailClient() {}

  @Override
  public void init() throws DBException {
    try {
      settings = Settings.of(getProperties(), System::getenv);
      shared = SharedStores.PROCESS.acquire(settings.configuration());
      records = new Records(shared.store(), settings.enumerateKeys());
      records.ensureTable(settings.table());
    } catch (Exception e) {
      Throwable cause = cause(e);
      try {
        cleanup();
      } catch (DBException suppressed) {
        cause.addSuppressed(suppressed);
      }
      throw new DBException("no table for YCSB: " + cause.getMessage(), cause);
    }
  }

  /** Releases the store. Does nothing without {@link #init()}, and nothing when called again. */
  @Override
  public void cleanup() throws DBException {
    Records ended = records;
    SharedStores.Shared left = shared;
    records = null;
    shared = null;
    try {
      try {
        if (ended != null) {
          ended.close();
        }
      } finally {
        if (left != null) {
          left.release();
        }
      }
    } catch (Exception e) {
      throw new DBException("the store did not close in order", cause(e));
    }
  }

  @Override
  public Status read(
      String table, String key, Set<String> fields, Map<String, ByteIterator> result) {
    try {
      String path = Records.path(table, key);
      byte[] record = records.read(path);
      if (record != null && record.length == 0) {
        // A put is under way. If a thread of this process does it, it has ended once this thread
        // has the monitor.
        synchronized (shared.changes(path)) {
          record = records.read(path);
        }
      }
      if (record == null || record.length == 0) {
        return Status.NOT_FOUND;
      }
      Record.decode(record, fields, result);
      return Status.OK;
    } catch (Exception e) {
      return failed("read", table, key, e);
    }
  }

  @Override
  public Status insert(String table, String key, Map<String, ByteIterator> values) {
    try {
      records.ensureTable(table);
      byte[] record = Record.encode(values);
      String path = Records.path(table, key);
      synchronized (shared.changes(path)) {
        records.insert(path, record);
      }
      return Status.OK;
    } catch (Exception e) {
      return failed("insert", table, key, e);
    }
  }

  @Override
  public Status update(String table, String key, Map<String, ByteIterator> values) {
    try {
      String path = Records.path(table, key);
      synchronized (shared.changes(path)) {
        byte[] record = records.read(path);
        if (record == null || record.length == 0) {
          return Status.NOT_FOUND;
        }
        Map<String, ByteIterator> fields = new LinkedHashMap<>();
        Record.decode(record, null, fields);
        fields.putAll(values);
        records.replace(table, path, Record.encode(fields));
      }
      return Status.OK;
    } catch (Exception e) {
      return failed("update", table, key, e);
    }
  }

  @Override
  public Status delete(String table, String key) {
    try {
      String path = Records.path(table, key);
      synchronized (shared.changes(path)) {
        return records.delete(path) ? Status.OK : Status.NOT_FOUND;
      }
    } catch (Exception e) {
      return failed("delete", table, key, e);
    }
  }

  /** Reads up to {@code recordcount} records from {@code startkey} on, in the order of the keys. */
  @Override
  public Status scan(
      String table,
      String startkey,
      int recordcount,
      Set<String> fields,
      Vector<HashMap<String, ByteIterator>> result) {
    if (!settings.enumerateKeys()) {
      return Status.NOT_IMPLEMENTED;
    }
    try {
      for (byte[] record : records.scan(table, startkey, recordcount)) {
        HashMap<String, ByteIterator> values = new HashMap<>();
        Record.decode(record, fields, values);
        result.add(values);
      }
      return Status.OK;
    } catch (Exception e) {
      return failed("scan", table, startkey, e);
    }
  }

  private static Status failed(String operation, String table, String key, Exception failure) {
    Throwable cause = cause(failure);
    LOG.error("{} of '{}' in table '{}' failed", operation, key, table, cause);
    if (cause instanceof InterruptedException) {
      Thread.currentThread().interrupt();
    }
    ErrorCode code = cause instanceof CrailException ? ((CrailException) cause).code() : null;
    if (code == ErrorCode.INVALID_PATH) {
      return Status.BAD_REQUEST;
    }
    boolean unanswered = code == ErrorCode.UNAVAILABLE || code == ErrorCode.TIMED_OUT;
    return unanswered ? Status.SERVICE_UNAVAILABLE : Status.ERROR;
  }

  private static Throwable cause(Exception failure) {
    boolean wrapped =
        failure instanceof ExecutionException || failure instanceof UncheckedIOException;
    return wrapped && failure.getCause() != null ? failure.getCause() : failure;
  }
}
