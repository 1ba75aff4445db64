# SPDX-License-Identifier: Apache-2.0
# Servers in the background, for start-crail and stop-crail. Sourced by bash. Needs $root,
# common.sh.

export CRAIL_HOME=${CRAIL_HOME:-$root}
export CRAIL_CONF_DIR=${CRAIL_CONF_DIR:-$CRAIL_HOME/conf}
if [ -r "$CRAIL_CONF_DIR/crail-env.sh" ]; then
  . "$CRAIL_CONF_DIR/crail-env.sh"
fi
log_dir=${CRAIL_LOG_DIR:-$CRAIL_HOME/logs}
pid_dir=${CRAIL_PID_DIR:-$log_dir}
# How long a server may take before it serves.
start_seconds=${CRAIL_START_SECONDS:-600}
# A user may have no name, as in many containers.
who=${USER:-$(id -un 2>/dev/null || true)}
who=${who:-$EUID}
conf_dir=$(readlink -f "$CRAIL_CONF_DIR") || conf_dir=$CRAIL_CONF_DIR

# A directory of configuration is a cluster. Several may have servers on this host.
cluster=$(printf '%s' "$conf_dir" | cksum | cut -d ' ' -f 1)
log_prefix=$log_dir/crail-$who
if [ "$conf_dir" != "$(readlink -f "$CRAIL_HOME/conf")" ]; then
  log_prefix=$log_prefix-$cluster
fi
# Hosts may share the directory, and a process id means something on its own host only.
pid_prefix=$pid_dir/crail-$who-$(uname -n)-$cluster-

# No other user changes what a server writes.
umask g-w,o-w

# is_local <host>: true when the host is this one.
is_local() {
  local address mine
  case "$1" in
    localhost | 127.* | ::1 | "$(hostname)") return 0 ;;
  esac
  mine=" $(hostname -I 2>/dev/null || true) 127.0.0.1 127.0.1.1 ::1 "
  for address in $(getent ahosts "$1" | awk '{ print $1 }' | sort -u); do
    if [[ $mine == *" $address "* ]]; then
      return 0
    fi
  done
  return 1
}

# start_ticks <pid>: prints when a process was started, in ticks since the boot; fails when there is
# none, or it has ended. It distinguishes a process from a later one with the same number.
start_ticks() {
  local stat fields
  stat=$(cat "/proc/$1/stat" 2>/dev/null) || return 1
  # The second field, a name, may contain spaces and parentheses.
  read -ra fields <<<"${stat##*) }"
  # One that has ended stays where its parent never asks, as the first process of many containers.
  [ "${fields[0]}" != Z ] || return 1
  printf '%s\n' "${fields[19]}"
}

# read_addresses: sets $addresses, the addresses of the namenodes.
read_addresses() {
  addresses=$("$root/bin/crail" getconf crail.namenode.address)
}

# running <name>: prints the process id and the cluster's addresses of a server that was started
# with this configuration, if it still runs.
running() {
  local file=$pid_prefix$1.pid pid ticks started
  [ -e "$file" ] || return 1
  # Another user may have written anything there, such as the process of a third one.
  if [ -L "$file" ] || [ ! -O "$file" ]; then
    say "$file belongs to another user and does not count"
    return 1
  fi
  { read -r pid ticks && read -r started; } 2>/dev/null <"$file" || return 1
  [ -n "$ticks" ] && [ "$(start_ticks "$pid")" = "$ticks" ] || return 1
  printf '%s %s\n' "$pid" "$started"
}

# safe_directory <directory> <variable>: makes a directory, if it is not there, and fails unless only
# this user and root can rename what this user makes there. The variable names the directory.
safe_directory() {
  local directory=$1 cure="set $2 to a directory of this user" owner rights
  if [ ! -d "$directory" ] && ! mkdir -p "$directory" 2>/dev/null; then
    say "cannot make the directory $directory: $cure"
    return 1
  fi
  read -r owner rights < <(stat -L -c '%u %a' "$directory") || return 1
  if [ "$owner" != 0 ] && [ "$owner" != "$EUID" ]; then
    say "$directory belongs to user $owner: $cure"
    return 1
  fi
  if (((8#$rights & 8#022) != 0 && (8#$rights & 8#1000) == 0)); then
    say "other users may change what is in $directory: chmod go-w $directory, or $cure"
    return 1
  fi
  if [ ! -w "$directory" ]; then
    say "this user may not write to $directory: $cure"
    return 1
  fi
}

# own_file <file>: makes an empty file in a safe directory, if there is none, and fails unless it is
# this user's. A link would lead what a server writes to another file.
own_file() {
  if [ ! -e "$1" ] && [ ! -L "$1" ]; then
    (set -C && : >"$1")
  elif [ -L "$1" ] || [ ! -f "$1" ] || [ ! -O "$1" ] || [ "$(stat -c %h "$1")" != 1 ]; then
    say "$1 is a link or belongs to another user: remove it, or set CRAIL_LOG_DIR"
    return 1
  fi
}

# start_here <name> <command and arguments>: starts a server on this host, and waits until it
# serves. Needs $addresses.
start_here() {
  local name=$1 file=$pid_prefix$1.pid out log before pid started begun=$SECONDS said=$SECONDS last
  shift
  if started=$(running "$name"); then
    pid=${started%% *}
    started=${started#* }
    if [ "$started" != "$addresses" ]; then
      say "$name runs already, process $pid, but with crail.namenode.address $started"
      say "and not $addresses; stop-crail ends it"
      return 1
    fi
    say "$name runs already, process $pid"
    return 0
  fi
  safe_directory "$log_dir" CRAIL_LOG_DIR && safe_directory "$pid_dir" CRAIL_PID_DIR || return 1
  own_file "$log_prefix-$name.log" && own_file "$log_prefix-$name.out" || return 1
  [ ! -e "$file" ] || [ -O "$file" ] || return 1
  # Without a file of its own the server could not be stopped.
  { rm -f "$file" && (set -C && : >"$file"); } || return 1
  out=$log_prefix-$name.out
  log=$log_prefix-$name.log
  before=$(stat -c %s "$log")
  CRAIL_LOG_FILE=$log \
    setsid nohup "$root/bin/crail" "$@" >"$out" 2>&1 </dev/null &
  pid=$!
  printf '%s %s\n%s\n' "$pid" "$(start_ticks "$pid")" "$addresses" >"$file"
  while ((SECONDS - begun <= start_seconds)); do
    # A peer of a namenode with standbys may serve now, or later.
    if grep -Eq ' serves | takes part on ' "$out"; then
      say "$name: $(grep -E ' serves | takes part on ' "$out" | head -n 1) (process $pid)"
      return 0
    fi
    if ! start_ticks "$pid" >/dev/null; then
      rm -f "$file"
      say "$name did not start; its last words, from $out:"
      tail -n 10 "$out" >&2
      return 1
    fi
    # A namenode may have a long log to read.
    if ((SECONDS - said >= 5)); then
      said=$SECONDS
      # What an earlier start has said is of no interest.
      last=$(tail -c "+$((before + 1))" "$log" | tail -n 1)
      say "$name: not yet after $((SECONDS - begun)) s${last:+: $last}"
    fi
    sleep 0.1
  done
  say "$name has not begun to serve within $start_seconds s (CRAIL_START_SECONDS); process $pid goes on; see $log"
  return 1
}

# stop_seconds <name>: prints how long a server gets to end. A datanode that keeps its bytes in files
# writes them to the disk first; killed before, it has lost them after a restart of its host.
stop_seconds() {
  local usual=30
  if [[ $1 == datanode* ]] &&
    grep -Eqs '^[[:space:]]*crail\.storage\.keep[[:space:]=:]+true' "$CRAIL_CONF_DIR/crail-site.conf"; then
    usual=600
  fi
  printf '%s\n' "${CRAIL_STOP_SECONDS:-$usual}"
}

# stop_here <name>: ends a server on this host. It gets time to end by itself first.
stop_here() {
  local name=$1 file=$pid_prefix$1.pid pid tries seconds
  if ! pid=$(running "$name"); then
    say "$name does not run"
    [ ! -O "$file" ] || rm -f "$file"
    return 0
  fi
  pid=${pid%% *}
  seconds=$(stop_seconds "$name")
  kill "$pid" 2>/dev/null || true
  for ((tries = 1; tries <= 10 * seconds; tries++)); do
    if ! start_ticks "$pid" >/dev/null; then
      rm -f "$file"
      say "$name has ended"
      return 0
    fi
    ((tries % 100)) || say "$name: not yet after $((tries / 10)) s"
    sleep 0.1
  done
  kill -9 "$pid" 2>/dev/null || true
  rm -f "$file"
  say "$name did not end within $seconds s (CRAIL_STOP_SECONDS) and was killed"
}

# stop_all_here: ends what this host still has of the cluster, also what the configuration does not
# name any more.
stop_all_here() {
  local file name
  for file in "$pid_prefix"*.pid; do
    [ -O "$file" ] || continue
    name=${file#"$pid_prefix"}
    stop_here "${name%.pid}"
  done
}

# on_host <host> <function> <name> <arguments>: runs start_here or stop_here on a host.
on_host() {
  local host=$1 what=$2 command
  shift 2
  if is_local "$host"; then
    "$what" "$@"
    return
  fi
  command=start-crail
  [ "$what" = start_here ] || command=stop-crail
  # shellcheck disable=SC2029
  ssh -n -o BatchMode=yes -o ConnectTimeout=10 "$host" \
    "CRAIL_HOME=$(printf %q "$CRAIL_HOME") CRAIL_CONF_DIR=$(printf %q "$CRAIL_CONF_DIR")" \
    "$(printf '%q ' "$root/bin/$command" --here "$@")" || {
    say "$host: could not run $command for $1"
    return 1
  }
}

# namenode_lines: prints a line for each process of a namenode: its name, its host, and the arguments
# that say which one it is. Needs $addresses.
namenode_lines() {
  local index=0 number=0 namenodes namenode peers peer host
  IFS=, read -ra namenodes <<<"$addresses"
  for namenode in "${namenodes[@]}"; do
    namenode=${namenode// /}
    IFS='|' read -ra peers <<<"$namenode"
    number=0
    for peer in "${peers[@]}"; do
      peer=${peer#crail://}
      peer=${peer%%/*}
      host=${peer%:*}
      host=${host#[}
      host=${host%]}
      if [ "${#peers[@]}" = 1 ]; then
        printf 'namenode-%s %s -i %s\n' "$index" "$host" "$index"
      else
        printf 'namenode-%s-%s %s -i %s -a %s -p %s\n' "$index" "$number" "$host" "$index" "$host" \
          "${peer##*:}"
      fi
      number=$((number + 1))
    done
    [ "$number" = 0 ] || index=$((index + 1))
  done
}
