const OFFSET_BASIS = 0x811c9dc5;
const PRIME = 0x01000193;

/** FNV-32a of the text's UTF-8 bytes. */
export function fnv32a(text: string): number {
  let hash = OFFSET_BASIS;
  for (const byte of new TextEncoder().encode(text)) hash = Math.imul(hash ^ byte, PRIME) >>> 0;
  return hash;
}
