/** Kernel settings that a node with pods relies on: memory may be overcommitted, and a kernel that fails restarts the machine. */
export interface KernelSetting {
  /** Below /proc/sys. */
  readonly name: string;
  readonly value: number;
}

export const KERNEL_SETTINGS: readonly KernelSetting[] = [
  { name: 'vm/overcommit_memory', value: 1 },
  { name: 'vm/panic_on_oom', value: 0 },
  { name: 'kernel/panic', value: 10 },
  { name: 'kernel/panic_on_oops', value: 1 },
  { name: 'kernel/keys/root_maxkeys', value: 1_000_000 },
  { name: 'kernel/keys/root_maxbytes', value: 25_000_000 },
];

export interface KernelSettingsPlan {
  readonly changes: readonly KernelSetting[];
  /** Why the kubelet must not start, where it may not change anything; undefined where it may. */
  readonly refusal: string | undefined;
}

/** `actual` is undefined for a setting that this kernel does not have: it can't be changed either. */
export function planKernelSettings(
  actual: (name: string) => number | undefined,
  { protect }: { readonly protect: boolean },
): KernelSettingsPlan {
  const wrong = KERNEL_SETTINGS.filter(({ name, value }) => {
    const found = actual(name);
    return found !== undefined && found !== value;
  });
  if (!protect) return { changes: wrong, refusal: undefined };
  const faults = wrong.map(
    ({ name, value }) => `invalid kernel flag: ${name}, expected value: ${value}, actual value: ${actual(name)}`,
  );
  return { changes: [], refusal: faults.length === 0 ? undefined : faults.join('; ') };
}
