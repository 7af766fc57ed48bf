#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# virtual_machine.sh FOLDER COMMANDS SECONDS [argument of qemu ...]
#
# Boots the kernel of Debian, which has all modules, on an emulated machine and runs the bash script COMMANDS in it. The
# machine has two NUMA nodes of 1 GiB with a processor each, and persistent memory on node 1, whose content is the file
# FOLDER/pmem.img on this machine, so it outlives the machine. It is /dev/pmem0 once nd_pmem is loaded, or has another
# number where arguments of qemu add some. The root of this machine is that of the emulated one, read only, below an
# overlay in memory. FOLDER/shared is the same on both, and may be written. There is no network, and nothing loads modules
# by itself. Processors are emulated (TCG): what runs is right, and slow, so no speed is measured here. Nothing on it is
# somebody else's, so its kernel does without what protects processes from each other, a sixth of its time.
#
# It needs qemu-system-x86, busybox-static, cpio and kmod, and 70 MB from Debian at its first call in FOLDER.
# Exit code: that of COMMANDS; 97 when the machine ended before COMMANDS did (a crash, a reset, the limit of SECONDS);
# 98 when something that is needed is missing, which the last line of stderr names.
set -eu
export PATH=$PATH:/usr/sbin:/sbin
folder=$(readlink -f "$1") commands=$(readlink -f "$2") seconds=$3
shift 3
mkdir -p "$folder/shared"
cd "$folder"

missing() { echo "$1" >&2; exit 98; }
for program in qemu-system-x86_64 busybox cpio depmod dpkg-deb; do
  command -v "$program" > /dev/null || missing "$program"
done

if [ ! -s start.gz ]; then
  package=$(apt-cache depends linux-image-amd64 2> /dev/null | awk '/Depends/ { print $2; exit }')
  [ -n "$package" ] || missing "a package index with linux-image-amd64"
  timeout -k 5 120 apt-get download -o APT::Sandbox::User=root "$package" > /dev/null 2>&1 || missing "a download of $package"
  dpkg-deb -x "$package"_*.deb kernel
  rm "$package"_*.deb
  version=${package#linux-image-}
  depmod -b kernel "$version"
  mkdir -p start/{bin,proc,sys,dev,modules}
  cp "$(command -v busybox)" start/bin/busybox
  for module in virtio_pci 9pnet_virtio 9p overlay; do
    modprobe -C /dev/null -d kernel -S "$version" --show-depends "$module" | awk '/^insmod/ { print $2 }'
  done | awk '!seen[$0]++' | while read -r file; do
    cp "$file" start/modules/
    basename "$file" >> start/modules/order
  done
  cat > start/init <<'INIT'
#!/bin/busybox sh
b=/bin/busybox
$b mount -t proc p /proc; $b mount -t sysfs s /sys; $b mount -t devtmpfs d /dev
for module in $($b cat /modules/order); do $b insmod /modules/$module; done
word() { $b sed "s/.* $1=\([^ ]*\).*/\1/" /proc/cmdline; }
commands=$(word commands) shared=$(word shared)
$b mkdir -p /lower /upper /root
$b mount -t 9p -o trans=virtio,version=9p2000.L,msize=262144,ro,cache=loose root /lower
$b mount -t tmpfs t /upper; $b mkdir /upper/upper /upper/work
$b mount -t overlay o -o lowerdir=/lower,upperdir=/upper/upper,workdir=/upper/work /root
$b mkdir -p /root$shared
$b mount -t 9p -o trans=virtio,version=9p2000.L,msize=262144,cache=none shared /root$shared
for name in proc sys dev; do $b mount --move /$name /root/$name; done
$b mount -t tmpfs t /root/run; $b hostname virtual
$b chroot /root /bin/bash -c 'export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root; mkdir -p /dev/shm /dev/pts /mnt; mount -t tmpfs t /dev/shm; ip link set lo up; bash "$0"; echo "ENDED WITH $?"' "$commands"
$b poweroff -f
INIT
  chmod +x start/init
  echo "$version" > version
  (cd start && find . | cpio -o -H newc 2> /dev/null | gzip -1) > start.gz.new
  mv start.gz.new start.gz
fi

[ -e pmem.img ] || truncate -s 512M pmem.img
version=$(cat version)
case "$commands" in "$folder"/shared/*) ;; *) missing "COMMANDS in $folder/shared";; esac
timeout --foreground -k 5 "$seconds" qemu-system-x86_64 -accel tcg,thread=multi -cpu max -m 2G,slots=2,maxmem=4G -smp 2,sockets=2 \
  -nodefaults -no-reboot -display none -serial stdio -net none \
  -kernel "kernel/boot/vmlinuz-$version" -initrd start.gz \
  -append "console=ttyS0 quiet panic=1 mitigations=off commands=$commands shared=$folder/shared end" \
  -fsdev local,id=r,path=/,security_model=none,readonly=on,multidevs=remap -device virtio-9p-pci,fsdev=r,mount_tag=root \
  -fsdev "local,id=s,path=$folder/shared,security_model=none" -device virtio-9p-pci,fsdev=s,mount_tag=shared \
  -machine pc,nvdimm=on -object "memory-backend-file,id=nv,share=on,mem-path=$folder/pmem.img,size=512M" \
  -device nvdimm,memdev=nv,node=1 \
  -object memory-backend-ram,id=m0,size=1G -object memory-backend-ram,id=m1,size=1G \
  -numa node,nodeid=0,cpus=0,memdev=m0 -numa node,nodeid=1,cpus=1,memdev=m1 "$@" < /dev/null 2>&1 |
  tee last.log || true
code=$(tr -d '\r' < last.log | sed -n 's/^ENDED WITH \([0-9]*\)$/\1/p' | tail -1)
exit "${code:-97}"
