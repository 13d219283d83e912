/** What the kernel announces of nftables (netlink messages of its own format): which rule, chain or table is gone. */

export interface NftablesDeletion {
  readonly table: string;
  /** Undefined: the whole table. */
  readonly chain: string | undefined;
}

const HEADER_BYTES = 16;
const NETFILTER_HEADER_BYTES = 4;
const ATTRIBUTE_HEADER_BYTES = 4;
const NFTABLES = 10;
const DELETED_TABLE = 2;
const DELETED_CHAIN = 5;
const DELETED_RULE = 8;
/** The number of the attribute that names the table, in each of the three. */
const TABLE_NAME = 1;
const CHAIN_NAME: Readonly<Record<number, number>> = { [DELETED_CHAIN]: 3, [DELETED_RULE]: 2 };
/** The two highest bits of an attribute's number are flags. */
const ATTRIBUTE_NUMBER = 0x3fff;

export function nftablesDeletions(bytes: Buffer): readonly NftablesDeletion[] {
  const found: NftablesDeletion[] = [];
  for (let at = 0; at + HEADER_BYTES <= bytes.length; ) {
    const length = bytes.readUInt32LE(at);
    if (length < HEADER_BYTES || at + length > bytes.length) break;
    const type = bytes.readUInt16LE(at + 4);
    const deleted = deletionIn(type, bytes.subarray(at + HEADER_BYTES + NETFILTER_HEADER_BYTES, at + length));
    if (deleted !== undefined) found.push(deleted);
    at += align(length);
  }
  return found;
}

function deletionIn(type: number, attributes: Buffer): NftablesDeletion | undefined {
  const message = type & 0xff;
  if (type >> 8 !== NFTABLES || ![DELETED_TABLE, DELETED_CHAIN, DELETED_RULE].includes(message)) return undefined;
  const names = namesIn(attributes);
  const chainName = CHAIN_NAME[message];
  return { table: names.get(TABLE_NAME) ?? '', chain: chainName === undefined ? undefined : names.get(chainName) };
}

/** Each attribute as a text that ends with a zero byte; those that are none have other numbers. */
function namesIn(attributes: Buffer): ReadonlyMap<number, string> {
  const names = new Map<number, string>();
  for (let at = 0; at + ATTRIBUTE_HEADER_BYTES <= attributes.length; ) {
    const length = attributes.readUInt16LE(at);
    if (length < ATTRIBUTE_HEADER_BYTES || at + length > attributes.length) break;
    const number = attributes.readUInt16LE(at + 2) & ATTRIBUTE_NUMBER;
    if (number <= 3) {
      const value = attributes.subarray(at + ATTRIBUTE_HEADER_BYTES, at + length);
      const end = value.indexOf(0);
      names.set(number, value.toString('latin1', 0, end < 0 ? value.length : end));
    }
    at += align(length);
  }
  return names;
}

const align = (length: number): number => Math.ceil(length / 4) * 4;
