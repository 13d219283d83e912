#!/bin/sh
# Makes the disk that guests boot from: make-base.sh SUITE MIRROR PACKAGE,PACKAGE,… FILES OUTPUT
# FILES is copied over the installed system. In the directory OUTPUT appear disk.img, vmlinuz and initrd.img.
# Runs as root, in mount and process namespaces of its own: whatever ends it, no mount and no process stays.
set -eu
suite=$1 mirror=$2 packages=$3 files=$4 output=$5
root=$output/root

debootstrap --variant=minbase --include="$packages" "$suite" "$root" "$mirror"
cp --recursive --preserve=mode --no-preserve=ownership "$files/." "$root"

# Only what finds the root disk: unpacking more takes seconds under emulation.
sed -i 's/^MODULES=.*/MODULES=list/' "$root/etc/initramfs-tools/initramfs.conf"
printf 'virtio_pci\nvirtio_blk\n' >>"$root/etc/initramfs-tools/modules"
chroot "$root" update-initramfs -u

# The console is a file that no one types into, and housekeeping would only slow tests down. Tests start the runtime themselves.
chroot "$root" systemctl --quiet mask getty@tty1.service serial-getty@ttyS0.service serial-getty@hvc0.service \
  apt-daily.timer apt-daily-upgrade.timer dpkg-db-backup.timer e2scrub_all.timer e2scrub_reap.service fstrim.timer \
  systemd-update-utmp-runlevel.service
chroot "$root" systemctl --quiet disable containerd.service
chroot "$root" systemctl --quiet set-default multi-user.target
mkdir -p "$root/files"
rm -rf "$root"/var/cache/apt/* "$root"/var/lib/apt/lists/*

mv "$root"/boot/vmlinuz-* "$output/vmlinuz"
mv "$root"/boot/initrd.img-* "$output/initrd.img"
# No journal: no one ever needs this disk back after a crash.
mkfs.ext4 -q -F -m 0 -O ^has_journal -L root -d "$root" "$output/disk.img" 8G
rm -rf "$root"
