/** The addresses whose connections count together: an IPv4 address, or the /64 that usually belongs to one IPv6 host. */
export function addressGroup(address: string): string {
  const [bare = ''] = address.split('%');
  // A socket for both versions shows an IPv4 address as `::ffff:192.0.2.1`.
  if (bare.includes('.')) return bare.slice(bare.lastIndexOf(':') + 1);
  const [head = '', tail] = bare.split('::');
  const fields = (text: string) => (text === '' ? [] : text.split(':'));
  const known = [...fields(head), ...fields(tail ?? '')];
  const zeros = Array.from({ length: tail === undefined ? 0 : Math.max(0, 8 - known.length) }, () => '0');
  return [...fields(head), ...zeros, ...fields(tail ?? '')].slice(0, 4).join(':');
}
