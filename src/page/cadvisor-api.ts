/** The parts of cAdvisor's REST API that tools read: the machine, and containers with their statistics, in versions 1.3 and 2.1. */
import type { Exchange, Route } from '../server/routes.ts';

export interface CadvisorPages {
  readonly machine: (signal: AbortSignal) => Promise<object>;
  /** `subtree`: with all below it. Empty: there is no such cgroup. */
  readonly containers: (
    request: { readonly path: string; readonly isWhole: boolean },
    signal: AbortSignal,
  ) => Promise<readonly object[]>;
  /** The same by name, as the second version has it. */
  readonly containersByName: (
    request: { readonly path: string; readonly isWhole: boolean },
    signal: AbortSignal,
  ) => Promise<object>;
  readonly attributes: object;
}

type DataRoute = (name: string, pattern: string, find: (exchange: Exchange) => unknown) => Route;

export function cadvisorRoutes(pages: CadvisorPages, data: DataRoute): readonly Route[] {
  const v1 = (path: string, find: (exchange: Exchange) => unknown) => data('cadvisor', `/api/v1.3/${path}`, find);
  const v2 = (path: string, find: (exchange: Exchange) => unknown) => data('cadvisor', `/api/v2.1/${path}`, find);
  const pathOf = ({ parameters }: Exchange) => `/${(parameters['path'] ?? '').replace(/\/+$/, '')}`;
  const machine = ({ signal }: Exchange) => pages.machine(signal);
  const one = async (exchange: Exchange) =>
    (await pages.containers({ path: pathOf(exchange), isWhole: false }, exchange.signal))[0];
  const all = (exchange: Exchange) => pages.containers({ path: pathOf(exchange), isWhole: true }, exchange.signal);
  const byName = async (exchange: Exchange) => {
    const isWhole = exchange.query.get('recursive') === 'true';
    const found = await pages.containersByName({ path: pathOf(exchange), isWhole }, exchange.signal);
    return Object.keys(found).length === 0 ? undefined : found;
  };
  return [
    v1('machine', machine),
    v1('containers', one),
    v1('containers/{path:*}', one),
    v1('subcontainers', all),
    v1('subcontainers/{path:*}', all),
    v2('machine', machine),
    v2('attributes', () => pages.attributes),
    v2('version', () => 'kubelet-ts'),
    v2('stats', byName),
    v2('stats/{path:*}', byName),
    v2('spec', byName),
    v2('spec/{path:*}', byName),
  ];
}
