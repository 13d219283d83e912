/** What the runtime part needs of other parts. */
import type { Parsed } from '../api/parsed.ts';
import type { ServiceView } from '../model/service.ts';
import type { ObjectData } from './spec/environment.ts';

/** What the API server has that pods refer to. A node without one has none of it. */
export interface ObjectsPort {
  /** Undefined: not known yet. A static pod does not wait for them. */
  readonly services: (wait: boolean, signal: AbortSignal) => Promise<readonly ServiceView[] | undefined>;
  readonly configMap: (namespace: string, name: string, signal: AbortSignal) => Promise<ObjectData>;
  readonly secret: (namespace: string, name: string, signal: AbortSignal) => Promise<ObjectData>;
  /** The handler of a RuntimeClass. */
  readonly runtimeHandler: (runtimeClass: string, signal: AbortSignal) => Promise<Parsed<string>>;
}
