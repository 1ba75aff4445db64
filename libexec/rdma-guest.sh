# SPDX-License-Identifier: Apache-2.0
# The part of bin/rdma-vm that runs as root where the RDMA devices are: 'rdma-guest.sh boot' inside
# the guest, network_up and network_down on a host with --native. Run or sourced by bash.

addresses=(10.9.0.1 10.9.0.2)
addresses6=(fd00:9::1 fd00:9::2)
macs=(02:00:0a:09:00:01 02:00:0a:09:00:02)
tables=(101 102)

# network_up [switched]: two soft-RoCE devices that stand for two hosts, at the ends of one veth
# pair, or with a switch between them. Soft-RoCE works only in the first network namespace. So both
# hosts' addresses belong to this one kernel. It would deliver packets between them locally, without
# the devices. So the table of local addresses answers only for packets that arrive, or that stay at
# one address.
network_up() {
  local i
  # A RoCE packet of 4096 bytes has some more bytes around it.
  if [ "${1:-}" = switched ]; then
    switch_up
  else
    ip link add rv0 mtu 4500 address "${macs[0]}" type veth peer name rv1 mtu 4500 address "${macs[1]}"
  fi
  for i in 0 1; do
    echo 1 >"/proc/sys/net/ipv4/conf/rv$i/accept_local"
    echo 0 >"/proc/sys/net/ipv4/conf/rv$i/rp_filter"
    echo 0 >"/proc/sys/net/ipv6/conf/rv$i/accept_dad"
    echo 1 >"/proc/sys/net/ipv6/conf/rv$i/keep_addr_on_down"
  done
  filter=$(</proc/sys/net/ipv4/conf/all/rp_filter)
  echo 0 >/proc/sys/net/ipv4/conf/all/rp_filter
  ip link set lo up
  for i in 0 1; do
    ip addr add "${addresses[i]}/24" dev "rv$i"
    ip addr add "${addresses6[i]}/64" dev "rv$i" nodad
    ip link set "rv$i" up
    rules_of "$i" "${addresses[i]}" "${addresses[1 - i]}" | ip -4 -batch -
    rules_of "$i" "${addresses6[i]}" "${addresses6[1 - i]}" | ip -6 -batch -
  done
  ip -4 rule add pref 20 lookup local
  ip -4 rule del pref 0
  ip -6 rule add pref 20 lookup local
  ip -6 rule del pref 0
  routes_of rv0
  routes_of rv1
  rdma link add rxe0 type rxe netdev rv0
  rdma link add rxe1 type rxe netdev rv1
}

# switch_up: makes a bridge, and a cable from it to each host. A link is lost when the switch's end
# of its cable goes down. The bridge makes short messages a fifth slower.
switch_up() {
  local i
  ip link add switch mtu 4500 type bridge stp_state 0
  for i in 0 1; do
    ip link add "rv$i" mtu 4500 address "${macs[i]}" type veth peer name "sw$i" mtu 4500
    ip link set "sw$i" master switch
  done
  for i in switch sw0 sw1; do
    echo 1 >"/proc/sys/net/ipv6/conf/$i/disable_ipv6"
    ip link set "$i" up
  done
}

# rules_of <number of the host> <its address> <the other host's address> The last rule is for the
# connection manager, which looks up the way back without a source interface.
rules_of() {
  cat <<END
rule add pref 10 iif rv$1 lookup local
rule add pref 11 from $2 to $2 lookup local
rule add pref 12 iif lo to $3 lookup ${tables[$1]}
rule add pref 13 from $2 to $3 lookup ${tables[$1]}
END
}

# routes_of <link>: the routes from this end to the other. The kernel removes them when the link
# goes down, except the second ones. Without the second ones the next table would lead to the other
# address locally, through that address's device.
routes_of() {
  local i=${1#rv} peer
  peer=$((1 - i))
  ip neigh replace "${addresses[peer]}" lladdr "${macs[peer]}" dev "$1" nud permanent
  ip neigh replace "${addresses6[peer]}" lladdr "${macs[peer]}" dev "$1" nud permanent
  ip -4 route replace "${addresses[peer]}/32" dev "$1" src "${addresses[i]}" table "${tables[i]}"
  ip -6 route replace "${addresses6[peer]}/128" dev "$1" src "${addresses6[i]}" table "${tables[i]}"
  ip -4 route replace unreachable "${addresses[peer]}/32" metric 4096 table "${tables[i]}"
  ip -6 route replace unreachable "${addresses6[peer]}/128" metric 4096 table "${tables[i]}"
}

# keep_routes: restores the routes of the links whenever they come up again.
keep_routes() {
  ip -o monitor link | sed -un 's/^[0-9]*: \(rv[01]\)@[^ ]* <.*[,<]LOWER_UP[,>].*/\1/p' \
    | while read -r link; do
      routes_of "$link" 2>/dev/null || true
    done
}

# network_free: whether no one uses these priorities of rules and these routing tables.
network_free() {
  local version table
  for version in -4 -6; do
    # Not with grep -q: ip would be stopped by the closed pipe, and under pipefail that is no match.
    [ -z "$(ip "$version" rule show 2>/dev/null | grep -E '^(10|11|12|13|20):')" ] || return 1
    for table in "${tables[@]}"; do
      [ -z "$(ip "$version" route show table "$table" 2>/dev/null)" ] || return 1
    done
  done
}

# network_down: restores the network, even after a network_up that failed in the middle.
network_down() {
  local version pref link
  set +e
  [ -z "${filter:-}" ] || echo "$filter" >/proc/sys/net/ipv4/conf/all/rp_filter
  for version in -4 -6; do
    ip "$version" rule add pref 0 lookup local 2>/dev/null
    for pref in 10 11 12 13 20; do
      while ip "$version" rule del pref "$pref" 2>/dev/null; do :; done
    done
  done
  # A test that was killed leaves its rule that cuts the cable. The kernel refuses to add such a
  # rule twice.
  for link in rv0 rv1; do
    ip -4 rule del pref 1 iif "$link" blackhole 2>/dev/null
  done
  # The devices and routes are removed with the link, except routes without a link.
  ip link del rv0 2>/dev/null
  for version in -4 -6; do
    for pref in "${tables[@]}"; do
      ip "$version" route flush table "$pref" 2>/dev/null
    done
  done
}

# nvmet_up: sets up the kernel's NVMe over Fabrics target at the second host, with two namespaces in
# memory.
nvmet_up() {
  local config=/sys/kernel/config subsystem port
  modprobe null_blk nr_devices=0
  modprobe -a nvmet nvmet-rdma nvmet-tcp nvme-rdma nvme-tcp
  subsystem=$config/nvmet/subsystems/nqn.2026-11.io.crail:memory
  mkdir "$subsystem"
  echo 1 >"$subsystem/attr_allow_any_host"
  namespace 1 512 4096
  namespace 2 4096 64
  for port in 4420/rdma 4421/tcp; do
    mkdir "$config/nvmet/ports/${port%/*}"
    cd "$config/nvmet/ports/${port%/*}"
    echo ipv4 >addr_adrfam
    echo "${addresses[1]}" >addr_traddr
    echo "${port%/*}" >addr_trsvcid
    echo "${port#*/}" >addr_trtype
    ln -s "$subsystem" subsystems/
  done
  cd /
}

# namespace <number> <bytes of a block> <MiB>: adds a namespace to the subsystem of nvmet_up.
namespace() {
  local disk=$config/nullb/crail$1
  mkdir "$disk"
  echo 1 >"$disk/memory_backed"
  echo "$2" >"$disk/blocksize"
  echo "$3" >"$disk/size"
  echo 1 >"$disk/power"
  mkdir "$subsystem/namespaces/$1"
  echo "/dev/crail$1" >"$subsystem/namespaces/$1/device_path"
  echo 1 >"$subsystem/namespaces/$1/enable"
}

# port <out|err|status>: prints the device whose output bin/rdma-vm gets: a port of virtio-serial, or a
# console of user-mode Linux.
port() {
  local candidate consoles=(out err status) i
  if $uml; then
    for i in 0 1 2; do
      if [ "${consoles[i]}" = "$1" ]; then
        # The bytes as they are.
        stty -F "/dev/tty$((i + 1))" raw
        echo "/dev/tty$((i + 1))"
      fi
    done
    return
  fi
  for candidate in /sys/class/virtio-ports/*; do
    if [ "$(cat "$candidate/name")" = "$1" ]; then
      echo "/dev/${candidate##*/}"
    fi
  done
}

# check_clock <seconds>: fails when the clock that this kernel has measured the frequency of does not
# agree with the host's, which QEMU's real-time clock shows.
check_clock() {
  local passed uptime
  passed=$(($(cat /sys/class/rtc/rtc0/since_epoch) - $1))
  read -r uptime _ </proc/uptime
  uptime=${uptime%.*}
  if ((uptime > 2 * passed + 5 || passed > 2 * uptime + 30)); then
    echo "rdma-vm: the guest counts $uptime s since its boot where $passed s have passed" >/dev/console
    return 1
  fi
}

# root_up <run>: goes on in this host's root file system, with memory above it, as the initramfs of QEMU's
# guests does. For user-mode Linux, whose root is that of the host, read-only. A run is a directory of
# bin/rdma-vm.
root_up() {
  local directory root=/tmp/root
  export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
  mount -t tmpfs -o size=75% tmpfs /tmp
  mkdir /tmp/upper /tmp/work "$root"
  mount -t overlay -o lowerdir=/,upperdir=/tmp/upper,workdir=/tmp/work overlay "$root"
  mount -t proc proc "$root/proc"
  mount -t sysfs sys "$root/sys"
  mount -t devtmpfs dev "$root/dev"
  mount -t tmpfs tmpfs "$root/run"
  mkdir "$root/run/rdma-vm"
  mount --bind "$1" "$root/run/rdma-vm"
  cd "$root"
  pivot_root . mnt
  umount -l /mnt
  exec bash /run/rdma-vm/rdma-guest.sh boot
}

# boot: does the work of an init. The files in /run/rdma-vm say what to run, and how.
boot() {
  local modules=() shares=() directory host nvmet switched started uml environment command status=0 i
  export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root
  . /run/rdma-vm/settings
  mkdir -p /dev/shm /dev/pts /dev/hugepages /lib/modules
  mount -t tmpfs tmpfs /dev/shm
  mount -t devpts devpts /dev/pts
  [ -e /dev/fd ] || ln -s /proc/self/fd /dev/fd
  mount -t configfs configfs /sys/kernel/config
  [ "$(cat /proc/sys/vm/nr_hugepages 2>/dev/null || echo 0)" = 0 ] \
    || mount -t hugetlbfs hugetlbfs /dev/hugepages
  for ((i = 0; i < ${#shares[@]}; i++)); do
    mkdir -p "${shares[i]}"
    if $uml; then
      mount -t hostfs -o "${shares[i]}" "share$i" "${shares[i]}"
    else
      mount -t 9p -o trans=virtio,version=9p2000.L,msize=512000,cache=mmap "share$i" "${shares[i]}"
    fi
  done
  ln -sfn "$machine/modules" "/lib/modules/$(uname -r)"
  $uml || check_clock "$started"
  hostname "$host"
  network_up "$(! $switched || echo switched)"
  keep_routes &
  [ ${#modules[@]} -eq 0 ] || modprobe -a "${modules[@]}"
  ! $nvmet || nvmet_up
  # There is no udev.
  chmod -f 666 /dev/infiniband/* || true
  ulimit -l unlimited
  ulimit -n 65536
  mapfile -t -d '' environment </run/rdma-vm/environment
  mapfile -t -d '' command </run/rdma-vm/command
  exec 3>"$(port status)"
  echo booted >&3
  (
    exec 3>&- </dev/null >"$(port out)" 2>"$(port err)"
    cd -- "$directory"
    exec env -i "${environment[@]}" "${command[@]}"
  ) || status=$?
  sync
  echo "$status" >&3
  ! $uml || busybox poweroff -f
}

case "${1:-}" in
  root)
    set -euo pipefail
    root_up "$2"
    ;;
  boot)
    set -euo pipefail
    boot
    ;;
esac
