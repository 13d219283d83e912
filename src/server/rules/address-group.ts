/** Whose connections count together: an IPv4 address, or the /64 that one IPv6 host usually has to itself. */
export function addressGroup(address: string): string {
  const [bare = ''] = address.split('%');
  // `::ffff:192.0.2.1` is how a socket for both versions shows an IPv4 address.
  if (bare.includes('.')) return bare.slice(bare.lastIndexOf(':') + 1);
  const [head = '', tail] = bare.split('::');
  const words = (text: string) => (text === '' ? [] : text.split(':'));
  const known = [...words(head), ...words(tail ?? '')];
  const zeros = Array.from({ length: tail === undefined ? 0 : Math.max(0, 8 - known.length) }, () => '0');
  return [...words(head), ...zeros, ...words(tail ?? '')].slice(0, 4).join(':');
}
