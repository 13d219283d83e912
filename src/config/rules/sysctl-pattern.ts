const longestPattern = 253;
const segment = '[a-z0-9](?:[-_a-z0-9]*[a-z0-9])?';
const pattern = new RegExp(`^(?:${segment}[./])*(?:[a-z0-9][-_a-z0-9]*)?[a-z0-9*]$`);

const namespacedNames: ReadonlySet<string> = new Set([
  'kernel.sem',
  'kernel.shmall',
  'kernel.shmmax',
  'kernel.shmmni',
  'kernel.shm_rmid_forced',
  'kernel.msgmax',
  'kernel.msgmnb',
  'kernel.msgmni',
  // The patterns `kernel.shm*` and `kernel.msg*` without the star.
  'kernel.shm',
  'kernel.msg',
]);
const namespacedPrefixes = ['net.', 'fs.mqueue.'];

/** sysctl names have dots or slashes; the first one decides which of the two is the separator. */
export function normalizeSysctl(name: string): string {
  const first = /[./]/.exec(name)?.[0];
  return first === '/' ? name.replace(/[./]/g, (char) => (char === '.' ? '/' : '.')) : name;
}

/** What is wrong with an entry of `allowedUnsafeSysctls`: a sysctl, or a pattern that ends in `*`. */
export function sysctlPatternFault(text: string): string | undefined {
  if (text.length > longestPattern || !pattern.test(text)) {
    return `must be a sysctl such as net.core.somaxconn or a pattern such as net.ipv4.*, in lower case, at most ${longestPattern} characters`;
  }
  const fixed = normalizeSysctl(text).split('*', 1)[0] ?? '';
  const isNamespaced = namespacedNames.has(fixed) || namespacedPrefixes.some((prefix) => fixed.startsWith(prefix));
  return isNamespaced
    ? undefined
    : 'is not known to be namespaced by the kernel: setting it for a pod would change the node';
}
