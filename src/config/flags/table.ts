import type { Flag } from './flag.ts';
import { nodeFlags } from './table-node.ts';
import { oldFlags } from './table-old.ts';
import { podFlags } from './table-pods.ts';

/** Every flag, grouped; the names are unique (table.test.ts). */
export const flagTable: readonly Flag[] = [...nodeFlags, ...podFlags, ...oldFlags];
