import { labelKeyFault, labelValueFault } from '../../api/names.ts';
import { formatQuantity, parseQuantity } from '../../api/quantity.ts';
import type { KubeletConfiguration } from '../schema/kubelet-configuration.ts';
import { entriesOf } from './collections.ts';
import { bad, type Kind, keep, type Parsed, value } from './kind.ts';
import { parseLevel } from './scalars.ts';

type Taints = KubeletConfiguration['registerWithTaints'];
type Taint = Taints[number];
type ReservedMemory = KubeletConfiguration['reservedMemory'];
type MemoryReservation = ReservedMemory[number];
type VModule = KubeletConfiguration['logging']['vmodule'];

const effects: readonly string[] = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];
const taintForm = `key=value:effect or key:effect, separated by commas, with an effect of ${effects.join(', ')}`;

/** `dedicated=db:NoSchedule,slow:PreferNoSchedule`; the last use of the flag counts. */
export const taints: Kind<Taints> = {
  label: 'taints',
  parse: (text) => {
    const found: Taint[] = [];
    for (const entry of text === '' ? [] : text.split(',')) {
      // The syntax that removes a taint from a node: the reference accepts it here too, without an effect.
      if (isRemoval(entry)) continue;
      const taint = parseTaint(entry);
      if (typeof taint === 'string') return bad(`${taintForm}; in ${JSON.stringify(entry)} ${taint}`);
      if (found.some((other) => other.key === taint.key && other.effect === taint.effect)) {
        return bad(`${taintForm}; ${taint.key}:${taint.effect} comes twice`);
      }
      found.push(taint);
    }
    return value(found);
  },
  format: (list) => list.map((taint) => `${taint.key}=${taint.value}:${taint.effect}`).join(','),
};

function isRemoval(text: string): boolean {
  const [key = '', effect = effects[0] ?? '', ...more] = text.replace(/-$/, '').split(':');
  return text.endsWith('-') && labelKeyFault(key) === undefined && effects.includes(effect) && more.length === 0;
}

function parseTaint(text: string): Taint | string {
  const match = /^([^:=]*)(?:=([^:=]*))?:([^:]*)$/.exec(text);
  if (match === null) return 'the form is not that';
  const [, key = '', taintValue = '', effect = ''] = match;
  if (!effects.includes(effect)) return `the effect ${JSON.stringify(effect)} is unknown`;
  const fault = labelKeyFault(key);
  if (fault !== undefined) return `the key ${fault}`;
  const valueFault = labelValueFault(taintValue);
  if (valueFault !== undefined) return `the value ${valueFault}`;
  return { key, value: taintValue, effect };
}

const reservationForm =
  'NUMA-node:type=quantity[,type=quantity…], with `;` between nodes, where type is memory or hugepages-SIZE';

/** `0:memory=1Gi,hugepages-2Mi=64Mi;1:memory=2Gi`; further uses add. Empty text changes nothing, as in the reference. */
export const reservedMemory: Kind<ReservedMemory> = {
  label: 'reservations',
  parse: (text, before) => {
    if (text === '') return keep;
    const found: MemoryReservation[] = [...(before ?? [])];
    for (const entry of text.split(';')) {
      const reservation = parseReservation(entry);
      if (reservation === undefined) return bad(`${reservationForm}; ${JSON.stringify(entry)} is not that`);
      found.push(reservation);
    }
    return value(found);
  },
  format: (list) =>
    list
      .map(({ numaNode, limits }) => {
        const parts = Object.entries(limits).map(([type, amount]) => `${type}=${amount}`);
        return `${numaNode}:${parts.sort().join(',')}`;
      })
      .join(';'),
};

function parseReservation(text: string): MemoryReservation | undefined {
  const match = /^([+-]?\d{1,9}):([^:]+)$/.exec(text);
  if (match === null) return undefined;
  const limits = new Map<string, string>();
  for (const entry of (match[2] ?? '').split(',')) {
    const [type = '', amount = '', ...more] = entry.split('=');
    const isMemory = type === 'memory' || type.startsWith('hugepages-');
    const quantity = parseQuantity(amount);
    if (!isMemory || more.length > 0 || !quantity.ok) return undefined;
    limits.set(type, formatQuantity(quantity.value));
  }
  return { numaNode: Number(match[1]), limits: Object.fromEntries(limits) };
}

/** `pod=4,stats/*=2` */
export const vmodule: Kind<VModule> = {
  label: 'pattern=N,…',
  parse: (text, before) => {
    const found = [...(before ?? [])];
    for (const entry of entriesOf(text)) {
      const item = parseVModuleItem(entry);
      if (item.is !== 'value') return bad(`pattern=N pairs separated by commas; ${JSON.stringify(entry)} is not one`);
      found.push(item.value);
    }
    return value(found);
  },
  format: (list) => list.map(({ filePattern, verbosity }) => `${filePattern}=${verbosity}`).join(','),
};

function parseVModuleItem(text: string): Parsed<VModule[number]> {
  const [filePattern = '', verbosity = '', ...more] = text.split('=');
  const parsed = parseLevel(verbosity);
  if (filePattern === '' || more.length > 0 || parsed.is !== 'value') return bad('pattern=N');
  return value({ filePattern, verbosity: parsed.value });
}
