const encoder = new TextEncoder();

/** At most so many bytes of UTF-8, never half a character. A text that was cut ends in `mark`, which counts. */
export function truncateUtf8(text: string, bytes: number, mark = ''): string {
  // A character has at most three bytes for each unit of its text.
  if (text.length * 3 <= bytes) return text;
  const room = new Uint8Array(bytes);
  if (encoder.encodeInto(text, room).read === text.length) return text;
  const { read } = encoder.encodeInto(text, room.subarray(0, bytes - encoder.encode(mark).length));
  return text.slice(0, read) + mark;
}
